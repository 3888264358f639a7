"""The texts of an issue, and what the rules of ``classes.toml`` find in them.

A match counts only if it is about the tracker's solver and is no command that somebody typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from operator import itemgetter

from corpus.records import Issue, Reasoned
from miner.expected import quoted
from miner.extract import Extraction
from miner.markdown import unescaped
from miner.text_rules import Rule, rules_for
from miner.versions import BAD, commit_verdicts, family_of
from solvers.registry import ANY_NAME

GROUPS = tuple("class area severity version commit last-good fixed-by introduced-by tool".split())
"""What a rule of ``classes.toml`` may find."""
# Groups that are not read in comments.
_NOT_IN_COMMENTS = ("last-good", "tool")
# Characters read of each text and in total: what an issue is about is said at the start.
BODY_READ = 12_000
COMMENT_READ = 3_000
_ALL_READ = 40_000
# Characters of a title whose class counts more than what the title names after it.
_FIRST_WORDS = 20
# How many matches of a rule count in one text, where it is more than the first.
_MOST_OF = {"version": 6, "commit": 6}
# What a rule found, with the weight that it adds to its value.
Hit = tuple[int, Reasoned]
# A text: the kind of its place, its place and the text.
Text = tuple[str, str, str]


def texts_of(issue: Issue, extraction: Extraction) -> Iterable[Text]:
    """The texts to classify, each as ``(kind of place, place, text)``."""
    yield "title", "title", extraction.prose["title"]
    if issue.labels:
        yield "label", "label", "\n".join(issue.labels)[:2000]
    left = _ALL_READ
    for where, _ in issue.texts():
        text = extraction.prose[where][: min(left, BODY_READ if where == "body" else COMMENT_READ)]
        text = unescaped(text)
        left -= len(text)
        if text:
            yield "text", where, text
    output = "\n".join(printed(extraction))
    if output:
        yield "output", "output", output[:BODY_READ]
    formulas = "\n".join(formula.original[:3000] for formula in extraction.formulas[:6])
    if formulas:
        yield "formula", "formula", formulas


def printed(extraction: Extraction) -> Iterable[str]:
    """What solvers printed, and blocks of no known language without a formula: versions, traces, messages."""
    yield from (run.output.text[:3000] for run in extraction.runs[:20] if run.output)
    plain = [one.block.text for one in extraction.blocks if one.block.is_code and not one.written_in]
    yield from (text[:3000] for text in plain[:10])


def find_hits(texts: Iterable[Text], tracker: str) -> dict[str, list[Hit]]:
    """What the rules find in the texts of an issue, by group."""
    hits: dict[str, list[Hit]] = {group: [] for group in GROUPS}
    for place, where, text in texts:
        for rule in rules_for("classes.toml", text, place):
            if place == "text" and where != "body" and rule.group in _NOT_IN_COMMENTS:
                continue
            matches = rule.pattern.finditer(text)
            own = (match for match in matches if not _is_aside(rule, match, place, where, tracker))
            found = [_hit(rule, match, place, where) for match in islice(own, _MOST_OF.get(rule.group, 1))]
            if found and rule.group == "commit":
                verdicts = commit_verdicts(text)
                is_gone = where.startswith("comment:") and says_gone(text)
                found = [] if is_gone else found
                found = [hit for hit in found if verdicts.get(hit[1].value, BAD) == BAD][:1]
            hits[rule.group] += found
    return hits


def _hit(rule: Rule, found: re.Match[str], place: str, where: str) -> Hit:
    value = rule.value
    if not value:
        groups = found.groupdict()
        value = next((groups[name] for name in "vwxyu" if groups.get(name)), "").rstrip(".")
    weight = rule.weight * (3 if place in ("title", "label") else 1)
    if place == "title" and rule.group == "class" and found.start() < _FIRST_WORDS + _lead(found.string):
        weight += 4
    return weight, Reasoned(value, quoted(found[0]), where, rule.id)


def _lead(title: str) -> int:
    """The length of the options in parentheses that a title starts with."""
    return title.find(")") + 1 if title.startswith("(") else 0


# What programs have versions besides solvers.
_NUMBER_OF = re.compile(
    r"\b(?:ocaml\w*|opam|node(?:\.?js)?|npm|rust\w*|cargo|go|ghc|cabal|stack|java|jdk|jvm|jre|scala|dotnet|\.net|c#|gcc|g\+\+|clang|llvm|msvc"
    r"|cmake|meson|ninja|swig|boost|gmp|glibc|library|compiler|kernel|system|dafny|boogie|viper|why3|isabelle|coq|lean|docker|conda|pip|tool)"
    r"[\s:`*(-]{1,3}$",
    re.IGNORECASE,
)
# A message of a build.
_OF_A_TOOL = re.compile(
    r"\b(?:cmake|meson|bazel|gcc|clang|python|cython|ninja|java|ocaml)\b.{0,80}\byou\s+are\s+running\b", re.I
)
# A command that was typed, in a block of output.
_TYPED = re.compile(r"\s*(?:\[\d+\]\s*)?[$%>#]\s*\S")
_FIXED_BEFORE = re.compile(r"\bfixed\b[^.\n]{0,40}(?:\d{1,2}\.[^\n]{0,20})?$", re.IGNORECASE)


def _is_aside(rule: Rule, found: re.Match[str], place: str, where: str, tracker: str) -> bool:
    """Whether a match does not say what its rule says: it is about another program, or a typed command."""
    if _is_of_another(found, tracker):
        return True
    if rule.group in ("version", "commit") and place == "output" and _is_after_another(found, tracker):
        return True
    if rule.group == "version" and place == "output":
        line = found.string[found.string.rfind("\n", 0, found.start()) + 1 : found.start() + 1]
        if "==" in found[0]:  # "pip install z3-solver==4.8.7"
            return False
        return (_TYPED.match(line) or _OF_A_TOOL.search(line)) is not None
    if rule.id == "version-field":
        return _NUMBER_OF.search(found.string[max(0, found.start() - 20) : found.start()]) is not None
    if rule.id in ("fixed-by-alone", "fixed-by-change", "fixed-by-change-commit"):
        return where == "body"
    if rule.group == "commit" and where.startswith("comment:"):
        before = found.string[max(0, found.start() - 80) : found.start()]
        if _FIXED_BEFORE.search(before):
            return True
    return rule.id == "commit-address" and where.startswith("comment:")


def _is_of_another(found: re.Match[str], tracker: str) -> bool:
    """Whether a match names another solver (its group ``who``) than the tracker's."""
    who = found.groupdict().get("who")
    own = family_of(tracker) if who else ""
    return bool(own) and family_of(str(who)) != own


_SOLVER = re.compile(rf"(?<![\w/.-])(?:{ANY_NAME})\d?\b", re.IGNORECASE)


def _is_after_another(found: re.Match[str], tracker: str) -> bool:
    """Whether the line before a match names another solver than the tracker's, and not that one."""
    own = family_of(tracker)
    start = found.string.rfind("\n", 0, found.start()) + 1
    before = found.string[max(start, found.start() - 120) : found.start()]
    named = {family_of(one) for one in _SOLVER.findall(before)}
    return bool(own and named) and own not in named


_GONE = re.compile(
    r"\A\W*not\s+here\b|\bno\s+longer\s+(?:repro|an?\s+(?:issue|problem|bug)|happens|occurs|fails|crash|hangs|returns|gives)|\bnot\s+(?:\w+\s+)?repro"
    r"|\b(?:can't|cannot|doesn't|don't|couldn't|unable\s+to|able\s+to\s+not)\s+(?:\w+\s+)?repro"
    r"|\breturns\s+the\s+(?:expected|right|correct)\b|\bclos(?:e|ed|ing)\s+(?:this\s+)?as\s+(?:fixed|resolved)\b"
    r"|\b(?:both|all|they|it)\s+(?:\w+\s+){0,2}now\s+(?:\w+ly\s+)?(?:return|give|answer|report|say|work)",
    re.IGNORECASE,
)


def says_gone(text: str) -> bool:
    """Whether a comment says that the version it names does not show the bug."""
    return _GONE.search(text) is not None


def in_comment(hit: Hit) -> bool:
    """Whether a rule matched in a comment."""
    return hit[1].where.startswith("comment:")


def strongest(hits: Sequence[Hit]) -> Reasoned | None:
    """The value with the greatest weight, the first of equal ones; None if no hit has a value."""
    return max((hit for hit in hits if hit[1].value), key=itemgetter(0), default=(0, None))[1]
