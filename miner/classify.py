"""Classifies issues: bug class, areas, severity, versions and commits, each with the words that say so.

The rules are data (``classes.toml``). For the bug class the words of an issue count beside the rules
(``learned.py``). The class of an issue that neither knows is ``none``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from operator import itemgetter

from corpus.records import Issue, Reasoned
from miner.crashes import Crash, crash_of
from miner.expected import quoted
from miner.extract import Extraction, Formula
from miner.failing import FormulaRun
from miner.learned import Weights, default_weights, features_of
from miner.markdown import unescaped
from miner.text_rules import Rule, rules_for
from miner.versions import (
    BAD,
    FIXED,
    FORMER,
    GOOD,
    Mention,
    commit_verdicts,
    family_of,
    ordered,
    own_mentions,
)
from solvers.registry import ANY_NAME

CLASSES = tuple("soundness invalid-model crash leak performance incompleteness regression none".split())
GROUPS = tuple("class area severity version commit last-good fixed-by introduced-by tool".split())
# Groups that are not read in comments.
_NOT_IN_COMMENTS = ("last-good", "tool")

# Characters read of each text and in total: what an issue is about is said at the start.
_BODY_READ = 12_000
_COMMENT_READ = 3_000
_ALL_READ = 40_000


@dataclass(frozen=True, slots=True)
class Classification:
    """What the rules found in an issue."""

    bug_class: Reasoned
    areas: tuple[Reasoned, ...] = ()
    severity: Reasoned | None = None
    version: Reasoned | None = None
    commit: Reasoned | None = None
    fixed_by: Reasoned | None = None
    introduced_by: Reasoned | None = None
    last_good: Reasoned | None = None
    fixed_in: Reasoned | None = None
    tools: tuple[str, ...] = ()
    crash: Crash | None = None

    @property
    def is_bug(self) -> bool:
        """Whether the class is not ``none``."""
        return self.bug_class.value != "none"


_NONE = Reasoned("none")
# Characters of a title whose class counts more than what the title names after it.
_FIRST_WORDS = 20
_BY_CLASS = {"soundness": "high", "invalid-model": "high", "crash": "medium"}


# How many matches of a rule count in one text, where it is more than the first.
_MOST_OF = {"version": 6, "commit": 6}
# The weight of an answer that is not the right one.
_WRONG_ANSWER = 19
# What the class that the rules found gets on top of what its words say (a logarithm), by the place of the
# match (empty: no rule matched). Titles and labels name what the issue is about. Of a few values tried, these
# gave the most right classes on held-out threads.
_TRUST = {"title": 2.0, "label": 2.0, "": 0.0}
_TRUST_ELSEWHERE = 1.0
# What a rule found, with the weight that it adds to its value.
_Hit = tuple[int, Reasoned]
# A text: the kind of its place, its place and the text.
_Text = tuple[str, str, str]


def classify(issue: Issue, extraction: Extraction, weights: Weights | None = None) -> Classification:
    """Classify an issue by its title, labels, prose, formulas and solver output.

    ``weights`` are those of words for bug classes, if not the ones of the package.
    """
    texts = list(_texts(issue, extraction))
    hits = _hits(texts, issue.tracker)
    failing = [run for formula in extraction.formulas if (run := formula.failing) is not None]
    bug_class = _bug_class(hits["class"], extraction, failing, texts, weights or default_weights())
    said = _versions_said(issue, extraction, bug_class.value)
    answering = _version_of_good_run(extraction, issue.tracker)
    affected = _affected(issue, extraction, hits, said, failing, answering)
    fixed_by = _numbered(_strongest(_fixes(hits["fixed-by"], extraction)))
    introduced_by = _strongest(hits["introduced-by"])
    others = [one.value for one in (fixed_by, introduced_by) if one is not None]
    commits = [hit for hit in hits["commit"] if not hit[1].value.startswith(tuple(others))]
    commits = [hit for hit in commits if not _in_comment(hit)] or commits
    spelled = _full_hashes(extraction)
    good, fixed = _separated(said, affected)
    last_good = _strongest(hits["last-good"]) or max(good, key=_order, default=None)
    last_good = last_good or _commit_before(extraction)
    if last_good is None and affected is not None and _CHANGED.search(extraction.prose["title"]):
        last_good = max(_before(said.neutral, affected), key=_order, default=None)
    last_good = last_good or answering
    return Classification(
        bug_class=bug_class,
        areas=tuple(_first_per_value(hits["area"])),
        severity=_severity(hits["severity"], bug_class),
        version=affected,
        commit=_in_full(_strongest(commits) or next(filter(None, map(_commit_of, failing)), None), spelled),
        fixed_by=_in_full(fixed_by, spelled),
        introduced_by=_in_full(introduced_by, spelled),
        last_good=_in_full(last_good, spelled),
        fixed_in=min(fixed, key=_order, default=None),
        tools=tuple(dict.fromkeys(" ".join(found.value.lower().split()) for _, found in hits["tool"])),
        crash=_crash(extraction, bug_class, failing),
    )


def _hits(texts: Iterable[_Text], tracker: str) -> dict[str, list[_Hit]]:
    """What the rules find in the texts of an issue, by group."""
    hits: dict[str, list[_Hit]] = {group: [] for group in GROUPS}
    for place, where, text in texts:
        for rule in rules_for("classes.toml", text, place):
            if place == "text" and where != "body" and rule.group in _NOT_IN_COMMENTS:
                continue
            matches = rule.pattern.finditer(text)
            own = (match for match in matches if not _is_aside(rule, match, place, where, tracker))
            found = [_hit(rule, match, place, where) for match in islice(own, _MOST_OF.get(rule.group, 1))]
            if found and rule.group == "commit":
                verdicts = commit_verdicts(text)
                is_gone = where.startswith("comment:") and _GONE.search(text)
                found = [] if is_gone else found
                found = [hit for hit in found if verdicts.get(hit[1].value, BAD) == BAD][:1]
            hits[rule.group] += found
    return hits


def _bug_class(
    hits: list[_Hit],
    extraction: Extraction,
    failing: Sequence[FormulaRun],
    texts: Iterable[_Text],
    weights: Weights,
) -> Reasoned:
    """The class of an issue, by the rules and by its words."""
    if _is_no_bug(extraction.prose):
        return _NONE
    by_rules = _class_by_rules(hits, extraction, failing)
    features = features_of(_words_of(texts))
    chances = weights.chances(features)
    if by_rules.value in chances:
        chances[by_rules.value] += _TRUST.get(by_rules.where, _TRUST_ELSEWHERE)
    best = max(chances, key=lambda value: chances[value], default=by_rules.value)
    if best == by_rules.value or by_rules.value not in chances:
        return by_rules
    words = weights.words_for(features, best, by_rules.value)
    return Reasoned(best, f"the words {words}", "title", "learned")


def _words_of(texts: Iterable[_Text]) -> list[tuple[str, str]]:
    """The texts whose words count for the class, each with its kind of place."""
    kinds = {"title": "title", "body": "body", "output": "output"}
    return [
        (kinds.get(where, "comment"), text)
        for place, where, text in texts
        if place not in ("label", "formula")
    ]


def words_of(issue: Issue, extraction: Extraction) -> list[tuple[str, str]]:
    """The texts of an issue whose words count for its class, each with its kind of place."""
    return _words_of(_texts(issue, extraction))


def _class_by_rules(hits: list[_Hit], extraction: Extraction, failing: Sequence[FormulaRun]) -> Reasoned:
    """The class of an issue, by what the rules found and what the failing runs show."""
    if any(run.symptom == "wrong-answer" for run in failing):
        hits = hits + [(_WRONG_ANSWER, shown) for run in failing[:1] if (shown := _class_of(run))]
    elif contradicted := next(filter(None, map(_contradicted, extraction.formulas)), None):
        hits = [*hits, (_WRONG_ANSWER, contradicted)]
    if any(hit[0] == _WRONG_ANSWER for hit in hits):  # the check of the model only confirms it
        hits = [hit for hit in hits if hit[1].rule != "invalid-model-printed"]
    if any(run.symptom == "unknown" for run in failing):  # an answer that should be given
        hits = [hit for hit in hits if hit[1].rule != "should-be-answered"]
    texts = (extraction.prose[name][:1000] for name in ("title", "body"))
    found = _heaviest(_without_asides(hits, *texts))
    if found.value in ("none", "regression"):
        found = next((shown for run in failing if (shown := _class_of(run))), found)
    return found


def _affected(
    issue: Issue,
    extraction: Extraction,
    hits: Mapping[str, list[_Hit]],
    said: _Said,
    failing: Sequence[FormulaRun],
    answering: Reasoned | None,
) -> Reasoned | None:
    """The version that shows the bug. ``answering``: that of a run beside the failing ones that answers."""
    without = {one.value for one in said.good + said.fixed}
    named = [hit for hit in hits["version"] if hit[1].value not in without]
    reported = [hit for hit in named if not _in_comment(hit)]
    report = extraction.prose["title"] + extraction.prose["body"]
    in_report = [hit for hit in said.bad if hit[1].value in report]
    # A predecessor of the tracker's solver has other numbers.
    in_report = [hit for hit in in_report if hit[1].value not in said.of_others]
    found = [_newest(in_report), reported]
    if all(map(_in_comment, hits["commit"])):  # else comments are about other versions
        found += [said.bad, named]
    affected = next(filter(None, map(_strongest, found)), None)
    # Of several failing runs another one may name its version.
    solver = failing[0].solver if failing and failing[0].invocation else None
    runs = (run for formula in extraction.formulas for run in formula.runs)
    alike = [run for run in runs if run.failing and run.solver == solver]
    affected = affected or next(filter(None, map(_version_of, [*failing, *alike])), None)
    affected = affected or _used(said.neutral, issue.tracker) or _in_scripts(extraction, issue.tracker)
    affected = affected or _only(said) or _answered(extraction, said)
    if affected and answering and affected.rule != "failing-run" and affected.value == answering.value:
        return None  # a run of it answers, beside the failing one
    if affected is not None and affected.value.count(".") == 1:  # a title may leave out the last digits
        full = affected.value + "."
        spelled = [hit[1] for hit in [*reported, *_newest(in_report)] if hit[1].value.startswith(full)]
        affected = next(iter(spelled), affected)
    return affected


def _fixes(hits: Iterable[_Hit], extraction: Extraction) -> list[_Hit]:
    """What fixes the issue. A commit alone is the fix, but not if the comment shows a run of it, or if the
    report names it.
    """
    report = extraction.prose["title"] + extraction.prose["body"]
    with_code = {one.where for one in extraction.blocks if one.block.is_code}
    return [
        hit
        for hit in hits
        if hit[1].rule != "fixed-by-alone" or not (hit[1].where in with_code or hit[1].value in report)
    ]


@dataclass(slots=True)
class _Said:
    """The versions of the tracker's solver, by what the texts say of them."""

    bad: list[_Hit] = field(default_factory=list)
    good: list[Reasoned] = field(default_factory=list)
    fixed: list[Reasoned] = field(default_factory=list)
    neutral: list[Reasoned] = field(default_factory=list)
    # Named in a comment, and no more.
    later: list[Reasoned] = field(default_factory=list)
    # Versions of a predecessor of the tracker's solver: their numbers do not compare.
    of_others: set[str] = field(default_factory=set)


_FULL_HASH = re.compile(r"/commit/([0-9a-f]{40})(?![0-9a-f])")


def _full_hashes(extraction: Extraction) -> frozenset[str]:
    """The hashes of commits whose addresses the texts give."""
    return frozenset(one for text in extraction.prose.values() for one in _FULL_HASH.findall(text))


def _in_full(found: Reasoned | None, spelled: Collection[str]) -> Reasoned | None:
    """A commit with its full hash, if a text gives the address of only one that starts so."""
    if found is None or not _HASH_START.fullmatch(found.value):
        return found
    full = [one for one in spelled if one.startswith(found.value)]
    return replace(found, value=full[0]) if len(full) == 1 else found


_HASH_START = re.compile(r"[0-9a-f]{7,39}")
# What a comment says of the version that it names.
_GONE = re.compile(
    r"\A\W*not\s+here\b|\bno\s+longer\s+(?:repro|an?\s+(?:issue|problem|bug)|happens|occurs|fails|crash|hangs|returns|gives)|\bnot\s+(?:\w+\s+)?repro"
    r"|\b(?:can't|cannot|doesn't|don't|couldn't|unable\s+to|able\s+to\s+not)\s+(?:\w+\s+)?repro"
    r"|\breturns\s+the\s+(?:expected|right|correct)\b|\bclos(?:e|ed|ing)\s+(?:this\s+)?as\s+(?:fixed|resolved)\b"
    r"|\b(?:both|all|they|it)\s+(?:\w+\s+){0,2}now\s+(?:\w+ly\s+)?(?:return|give|answer|report|say|work)",
    re.IGNORECASE,
)


_TRIED = re.compile(
    r"\b(?:current|latest|newest|master|main|nightly|re-?test\w*|tried|tested|checked|on|with|version)\b(?!.*\byou)",
    re.I,
)


def _paragraphs(extraction: Extraction) -> Mapping[str, str]:
    """The prose of each text, with an empty line between its paragraphs and the items of its lists."""
    found: dict[str, list[str]] = {}
    for one in extraction.blocks:
        if not one.block.is_code:
            found.setdefault(one.where, []).append(one.block.text)
    return {
        where: unescaped("\n\n".join(found[where]) if where in found else text)
        for where, text in extraction.prose.items()
    }


_PROVED = re.compile(r"\bprove[sdn]?\b|\bdischarge", re.IGNORECASE)
_OPPOSITE = {GOOD: BAD, BAD: GOOD}


def _versions_said(issue: Issue, extraction: Extraction, bug_class: str) -> _Said:
    own = family_of(issue.tracker)
    stated = [formula.expected for formula in extraction.formulas if formula.expected]
    right = {one.answer for one in stated}
    read = [
        (where, one)
        for where, text in _paragraphs(extraction).items()
        for one in own_mentions(text[: _BODY_READ if where == "body" else _COMMENT_READ], own)
    ]
    later = {one.answer for one in stated if one.source.startswith("comment:")}
    if later and all(one.answers == () or set(one.answers) <= later for _, one in read):
        right = set()  # a comment calls the reported answer right
    said = _Said()
    former: set[str] = set()
    gone = {where for where, text in extraction.prose.items() if _GONE.search(text[:_COMMENT_READ])}
    repository = issue.tracker.rpartition("/")[2].lower()
    for where, one in read:
        is_comment = where.startswith("comment:")
        verdict = one.verdict or ("" if is_comment else _by_answer(one, right, bug_class))
        if bug_class == "soundness" and verdict in _OPPOSITE and _PROVED.search(one.text):
            verdict = _OPPOSITE[verdict]  # what should not be proved
        found = Reasoned(one.version, one.text, where, "versions")
        if one.verdict == FORMER:
            former.add(one.version)
        if one.solver and not repository.startswith(one.solver):
            said.of_others.add(one.version)
        if is_comment and not verdict and where in gone and _TRIED.search(one.text):
            verdict = FIXED
        if verdict == BAD:
            said.bad.append(({"title": 3, "body": 2}.get(where, 1), found))
        elif verdict:
            is_fixed = verdict == FIXED or (is_comment and verdict == GOOD)
            (said.fixed if is_fixed else said.good).append(found)
        else:
            (said.later if is_comment else said.neutral).append(found)
    neutral = {one.value for one in said.neutral}
    bad = {hit[1].value for hit in said.bad}
    said.good = [one for one in said.good if one.where == "title" or one.value not in bad]
    said.fixed = [one for one in said.fixed if one.value not in neutral or _is_a_fix(one)]
    if not said.bad:
        # The version that the reporter uses: it works elsewhere, such as on another system.
        said.good = [one for one in said.good if one.value not in neutral or one.value in former]
    return said


def _commit_before(extraction: Extraction) -> Reasoned | None:
    """A commit that does not have the bug, as the report says."""
    for where in ("title", "body"):
        text = extraction.prose[where][:_BODY_READ]
        for commit, verdict in commit_verdicts(text).items():
            place = text.find(commit)
            words = " ".join(text[max(0, place - 100) : place + 60].split())
            if verdict in (FORMER, GOOD) and not _NEWER.search(text[max(0, place - 40) : place]):
                return Reasoned(commit, words, where, "versions")
    return None


# A title that says that a newer version is worse.
_CHANGED = re.compile(
    r"\b(?:regress|slow(?:er|down)|degrad|worse|longer|since|after|switch|upgrad|updat|broke|newer|latest)",
    re.IGNORECASE,
)


_NEWER = re.compile(
    r"\b(?:newer|newest|latest|current(?:ly)?|recent(?:ly)?|upgrad\w+|updat\w+)\b", re.IGNORECASE
)


def _separated(said: _Said, affected: Reasoned | None) -> tuple[list[Reasoned], list[Reasoned]]:
    """The versions without the bug that came before it, and those that came after it."""
    if affected is None:
        return said.good, said.fixed
    said_fixed = [one for one in said.fixed if one.value != affected.value or _is_a_fix(one)]
    later = [
        one
        for one in said.good
        if one.value not in said.of_others and _NEWER.search(one.reason or "") and _is_before(affected, one)
    ]
    earlier = _before(said_fixed, affected)
    good = [one for one in said.good if one not in later and one.value != affected.value] + earlier
    return good, [one for one in said_fixed if one not in earlier] + later


def _is_a_fix(found: Reasoned) -> bool:
    return "fix" in (found.reason or "").lower()


def _before(found: Sequence[Reasoned], affected: Reasoned) -> list[Reasoned]:
    """The versions of a list that are older than the affected one."""
    return [one for one in found if _is_before(one, affected)]


def _is_before(one: Reasoned, other: Reasoned) -> bool:
    """Whether a version is older than another one of the same series (the first number)."""
    first, second = _order(one), _order(other)
    return first[:1] == second[:1] and first < second


# "It is the 2.6.1 release."
_IT_IS = re.compile(
    r"(?:(?:it|this)\s+is|I\s+(?:use|have)|I\s+am\s+using)\s+(?:the\s+)?v?\d[\w.-]{1,40}\s+(?:release|version)\b"
    r"|.{0,80}\bv?\d[\w.-]{1,40}\s+release\b",
    re.IGNORECASE,
)
_USED = re.compile(r"\b(?:using|use|with|on|running|version|release|tried)\b", re.IGNORECASE)


def _used(neutral: Sequence[Reasoned], tracker: str) -> Reasoned | None:
    """The version that a report says it uses, and no more, if it also names the tracker's solver."""
    own = family_of(tracker)
    return next(
        (
            one
            for one in neutral
            if (own and own in (one.reason or "").lower() and _USED.search(one.reason or ""))
            or _IT_IS.match(one.reason or "")
        ),
        None,
    )


def _only(said: _Said) -> Reasoned | None:
    """The version that a report names, if it names only one. A number such as "1.5" may be something else."""
    found = {one.value: one for one in said.neutral if one.value not in said.of_others}
    one = next(iter(found.values()), None)
    is_clear = one is not None and (one.value.count(".") > 1 or _USED.search(one.reason or ""))
    if one is not None and _OF_NOTES.search(one.reason or ""):
        return None
    return one if len(found) == 1 and is_clear and not said.bad else None


_OF_NOTES = re.compile(r"\b(?:release\s+notes|changelog|docs?|documentation|manual|paper)\b", re.IGNORECASE)
_WHICH = re.compile(r"\b(?:version|release|build|commit)\b[^.\n]{0,80}\?", re.IGNORECASE)


def _answered(extraction: Extraction, said: _Said) -> Reasoned | None:
    """The version in the comment after one that asks for it."""
    named = {one.where: one for one in reversed(said.later)}
    comments = [where for where in extraction.prose if where.startswith("comment:")]
    for asked, answer in pairwise(comments):
        if answer in named and _WHICH.search(extraction.prose[asked][:_COMMENT_READ]):
            return named[answer]
    return None


def _in_scripts(extraction: Extraction, tracker: str) -> Reasoned | None:
    """The version that a comment in a script names with the tracker's solver."""
    own = family_of(tracker)
    for one in extraction.blocks[:20] if own else ():
        text = one.block.text[:3000] if one.block.is_code else ""
        if ";" not in text:
            continue
        notes = "\n\n".join(line.lstrip("; ") for line in text.split("\n") if line.startswith(";"))
        for said in own_mentions(notes, own):
            if said.solver and said.verdict in ("", BAD):
                return Reasoned(said.version, said.text, one.where, "versions")
    return None


def _in_comment(hit: _Hit) -> bool:
    return hit[1].where.startswith("comment:")


def _order(found: Reasoned) -> tuple[int, ...]:
    return ordered(found.value)


def _by_answer(said: Mention, right: Collection[str], bug_class: str) -> str:
    """What the answers of a version say of it, if one answer is right."""
    if said.answers == ("unknown",) and bug_class != "crash":
        return BAD
    if bug_class == "incompleteness" and said.answers and "unknown" not in said.answers:
        return GOOD
    if bug_class == "crash" and said.answers and not said.seconds:
        return GOOD
    if len(right) != 1 or len(said.answers) != 1:
        return ""
    return GOOD if said.answers[0] in right else BAD


def _crash(extraction: Extraction, bug_class: Reasoned, failing: Sequence[FormulaRun]) -> Crash | None:
    """Where the solver crashed: by the title of a crash, else by the failing runs, else by any output."""
    if bug_class.value == "leak":  # what allocated the memory is no place of a crash
        return crash_of(extraction.prose["title"])
    texts = [run.output.text for run in failing if run.output is not None and not run.later]
    if bug_class.value != "none" and not texts:  # a reply may show another crash than the report
        plain = [
            one.block.text for one in extraction.blocks[:20] if one.where == "body" and one.block.is_code
        ]
        texts += [text[:3000] for text in plain]
    texts += [run.output.text for run in failing if run.output is not None and run.later]
    if bug_class.value != "none":
        texts += _printed(extraction)
    found = [crash for text in dict.fromkeys(texts) if (crash := crash_of(text)) is not None]
    best = max(found, key=lambda crash: (bool(crash.file), bool(crash.function)), default=None)
    if best is None and bug_class.value == "crash":
        places = (crash_of(text[:_BODY_READ]) for text in extraction.prose.values())
        best = next((crash for crash in places if crash is not None and crash.file), None)
    named = crash_of(extraction.prose["title"]) if bug_class.value == "crash" else None
    if named is None or best is None or not named.file or named.file == best.file:
        return best or named
    return replace(named, message=best.message or named.message)


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


_FIXED_BEFORE = re.compile(r"\bfixed\b[^.\n]{0,40}(?:\d{1,2}\.[^\n]{0,20})?$", re.IGNORECASE)


def _is_after_another(found: re.Match[str], tracker: str) -> bool:
    """Whether the line before a match names another solver than the tracker's, and not that one."""
    own = family_of(tracker)
    start = found.string.rfind("\n", 0, found.start()) + 1
    before = found.string[max(start, found.start() - 120) : found.start()]
    named = {family_of(one) for one in _SOLVER.findall(before)}
    return bool(own and named) and own not in named


def _is_of_another(found: re.Match[str], tracker: str) -> bool:
    """Whether a match names another solver (its group ``who``) than the tracker's."""
    who = found.groupdict().get("who")
    own = family_of(tracker) if who else ""
    return bool(own) and family_of(str(who)) != own


_SOLVER = re.compile(rf"(?<![\w/.-])(?:{ANY_NAME})\d?\b", re.IGNORECASE)
_BY_SYMPTOM = {"wrong-answer": "soundness", "timeout": "performance", "unknown": "incompleteness"} | {
    name: name for name in ("invalid-model", "crash", "leak")
}


def _class_of(run: FormulaRun) -> Reasoned | None:
    """The class that a failing run shows."""
    value = _BY_SYMPTOM.get(run.symptom)
    return Reasoned(value, _printed_by(run), "output", "failing-run") if value else None


def _printed_by(run: FormulaRun) -> str:
    return quoted(run.output.text) if run.output else ""


def _contradicted(formula: Formula) -> Reasoned | None:
    """The class of a formula without a model for which a model is printed: it is the answer that is wrong."""
    run, expected = formula.failing, formula.expected
    if run is None or expected is None or run.symptom != "invalid-model":
        return None
    is_wrong = expected.answer == "unsat" and set(run.answers) == {"sat"}
    return Reasoned("soundness", _printed_by(run), "output", "failing-run") if is_wrong else None


_COMMIT_IN_NAME = re.compile(r"-g?(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)([0-9a-f]{7,40})\b")


def _commit_of(run: FormulaRun) -> Reasoned | None:
    """The commit in the program name of a failing run."""
    found = _COMMIT_IN_NAME.search(run.invocation.program) if run.invocation else None
    return Reasoned(found[1], found.string, "output", "failing-run") if found else None


def _version_of_good_run(extraction: Extraction, tracker: str) -> Reasoned | None:
    """The version of a run beside a failing one that answers, if it is of the tracker's own solver."""
    own = family_of(tracker)
    good: list[Reasoned] = []
    pairs = ((run, bad) for one in extraction.formulas if (bad := one.failing) for run in one.runs)
    for run, bad in pairs:
        invocation = run.invocation
        is_other = run.answers != bad.answers or bad.symptom not in ("", "wrong-answer")
        is_fine = not run.symptom or (run.symptom, bad.symptom) == ("unknown", "crash")
        is_good = not run.failing and is_fine and run.answers and is_other
        if is_good and invocation and invocation.version:
            if not own or family_of(invocation.solver) == own:
                good.append(Reasoned(invocation.version, invocation.text[:200], "output", "good-run"))
    return max(good, key=_order, default=None)


def _version_of(run: FormulaRun) -> Reasoned | None:
    """The version in the program name of a failing run."""
    invocation = run.invocation
    if invocation is None or not invocation.version:
        return None
    return Reasoned(invocation.version, invocation.program, "output", "failing-run")


def is_mined_by_default(issue: Issue, classification: Classification) -> bool:
    """Whether an issue is mined by default: a closed issue about a bug, not a pull request."""
    return issue.state == "closed" and not issue.is_pull_request and classification.is_bug


def _hit(rule: Rule, found: re.Match[str], place: str, where: str) -> _Hit:
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


def _texts(issue: Issue, extraction: Extraction) -> Iterable[_Text]:
    """The texts to classify, each as ``(kind of place, place, text)``."""
    yield "title", "title", extraction.prose["title"]
    if issue.labels:
        yield "label", "label", "\n".join(issue.labels)[:2000]
    left = _ALL_READ
    for where, _ in issue.texts():
        text = extraction.prose[where][: min(left, _BODY_READ if where == "body" else _COMMENT_READ)]
        text = unescaped(text)
        left -= len(text)
        if text:
            yield "text", where, text
    output = "\n".join(_printed(extraction))
    if output:
        yield "output", "output", output[:_BODY_READ]
    formulas = "\n".join(formula.original[:3000] for formula in extraction.formulas[:6])
    if formulas:
        yield "formula", "formula", formulas


def _printed(extraction: Extraction) -> Iterable[str]:
    """What solvers printed, and blocks of no known language without a formula: versions, traces, messages."""
    yield from (run.output.text[:3000] for run in extraction.runs[:20] if run.output)
    plain = [one.block.text for one in extraction.blocks if one.block.is_code and not one.written_in]
    yield from (text[:3000] for text in plain[:10])


_QUESTION = re.compile(
    r"\W*(?:\[?question\b|in\s+(?:which|what)\s+(?:cases?|situations?)\b|how\s+(?:do|does|can|could|to|should|would|is|are)\b|is\s+(?:it\s+possible|there|\w+\s+(?:deterministic|supported|possible|allowed))\b"
    r"|can\s+(?:i|we|you)\b|what\s+(?:is|are|does|do)\b|when\s+(?:do|does|will|is)\b|meaning\s+of\b|any\s+(?:way|plans?)\b)",
    re.IGNORECASE,
)
# A report that only asks.
_ASKS = re.compile(
    r"\b(?:do\s+i\s+understand|am\s+i\s+(?:right|doing)|should\s+i\s+(?:set|use)|how\s+(?:can|do|should)\s+i|my\s+understanding"
    r"|error\s+is\s+on\s+my\s+side|(?:I\s+have|this\s+is)\s+(?:just\s+|only\s+)?a\s+question)\b",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\W*(?:(?:feature|enhancement|feat)(?:\s+request)?\b(?!\s+\w+\s+crash)|(?:api\s+)?(?:request|proposal|suggestion|wish|rfc)\b"
    r"|(?:please\s+)?(?:implement|add|support|allow|expose|provide|return|enable|document|introduce|consider)\s+(?!(?:\w+\s+){1,3}(?:crash|fail|return|give)))",
    re.IGNORECASE,
)
_BUILD = re.compile(
    r"\bbuild\s+(?:system|script)|\b(?:build(?:ing)?|compil(?:e|es|ing|ation|er)|install(?:ing|ation)?|link(?:ing|er)|cmake|pip|import(?:ing)?|makefile|configure)\b"
    r"[^.\n]{0,50}\b(?:fail(?:s|ed|ure|ures|ing)?|errors?|cannot|can't|problems?|issues?|not\s+found|missing|broken?|breaks|warnings?)\b"
    r"|\b(?:cannot|can't|can\s+not|unable\s+to|fail(?:s|ed|ure)?\s+(?:to|when|in|of|while)|errors?\s+(?:when|while|during|in)|problems?\s+(?:when|while|with)|not)\s+"
    r"(?:\w+\s+){0,2}?(?:build(?:ing)?|compil(?:e|ing|ation)|install(?:ing|ation)?|link(?:ing)?|import(?:ing)?)\b",
    re.IGNORECASE,
)


def _without_asides(hits: Sequence[_Hit], title: str, body: str) -> Sequence[_Hit]:
    """The hits of classes; of one that asks, wishes or is about a build, not those in its texts."""
    if _WISH.match(title) or _QUESTION.match(title) or _BUILD.search(title):
        hits = [hit for hit in hits if hit[1].where == "output"]
    elif _ASKS.search(body) and all(hit[1].where == "body" or hit[1].rule == "both-answers" for hit in hits):
        hits = []
    # A comment tells the class of an issue only if the report does not.
    report = [hit for hit in hits if not _in_comment(hit)]
    if any(hit[1].value != "regression" and hit[1].rule != "different-answers" for hit in report):
        hits = report
    # Answers that only differ may differ by what another rule says: an unknown, a time limit.
    firm = [hit for hit in hits if hit[1].rule != "different-answers"]
    return firm if any(hit[1].value != "regression" for hit in firm) else hits


_NO_BUG = re.compile(
    r"\b(?:this|that|it|which)(?:(?:\s+\w+)?\s+is|'s)(?:\s+\w+)?\s+not\s+an?\s+(?:\w+\s+)?bug\b(?!\s+(?:in|of)\b)"
    r"|\b(?:don't|do\s+not)\s+(?:think|believe|see)\s+(?:that\s+)?(?:this|that|it|there)(?:\s+is|'s)\s+an?y?\s+(?:\w+\s+)?bug\b"
    r"|\b(?:intended|expected)\s+behaviou?r\b(?!\s*[:*])|\b(?:works|behaves)\s+as\s+(?:intended|designed)\b|\bby\s+design\b"
    r"|\b(?:this|that|it|which)(?:\s+is|'s)\s+(?:\w+ly\s+)?(?:expected|intended)\b(?!\s+(?:to|answer|result|output))"
    r"|\b(?:error|message|warning|behaviou?r|this|that|it)\s+is\s+(?:there\s+)?(?:on\s+purpose|intentional|deliberate)\b"
    r"|\byou\s+(?:forgot|have\s+to\s+call|need\s+to\s+call|must\s+call)\b|\bis\s+missing\.\s+please\b"
    r"|\b(?:user|usage)\s+(?:error|mistake)\b|\bmisuse\b|\bnothing\s+(?:is\s+wrong|(?:to\s+fix|to\s+be\s+fixed)\s+in)\b"
    r"|\bmy\s+(?:bad|mistake|fault|misunderstanding)\b|\b(?:mistake|error|misunderstanding)\s+(?:of\s+mine|on\s+my\s+(?:side|part|end))\b"
    r"|\bI\s+(?:had\s+)?(?:misread|misunderstood|misinterpreted)\b"
    r"|\b(?:mistake|bug|error|typo)\s+(?:is\s+|was\s+)?in\s+(?:my|your)\s+(?:own\s+)?(?:\w+\s+)?(?:formula|code|script|encoding|input|model|program|constraints?)\b"
    r"|\b(?:my|your)\s+(?:own\s+)?(?:formula|code|script|encoding|input|model|constraints?)\s+(?:is|was|were)\s+(?:the\s+(?:issue|problem)|wrong|incorrect|invalid|buggy)\b"
    r"|\bdivi(?:sion|ding)[- ]by[- ](?:zero|0)\b[^.\n]{0,60}"
    r"\b(?:uninterpreted|undefined|total|anything|any\s+value|free)\b"
    r"|\b(?:is|are)\s+(?:under-?|un)specified\b|\beither\s+answer\s+is\s+(?:allowed|correct|fine|right|possible)\b"
    r"|\b(?:answer|result|model|output|behaviou?r)\s+is\s+(?:indeed\s+|actually\s+|in\s+fact\s+)?correct\b(?!\s+(?:now|on|in|with|after|since|again|when|if))",
    re.IGNORECASE,
)
_IS_BUG = re.compile(
    r"(?<!nothing to )(?<!no )(?<!not )\bfix(?:e[sd])?\b(?!-?(?:point|ed-?point))|\b(?:reopen\w*|confirm\w*"
    r"|(?:real|genuine|indeed\s+an?|solver)\s+bug|(?:I|we)\s+can\s+(?:now\s+|also\s+|indeed\s+)?reproduce"
    r"|bug\s+in(?!\s+(?:my|your|our)\b))\b",
    re.IGNORECASE,
)


def _is_no_bug(prose: Mapping[str, str]) -> bool:
    """Whether a comment says that the report is about a mistake of the user or about intended behaviour."""
    comments = [text[:_COMMENT_READ] for where, text in prose.items() if where.startswith("comment:")]
    said = [match for text in comments for match in islice(_NO_BUG.finditer(text), 5)]
    is_said = any("?" not in match.string[match.end() : match.end() + 40].split("\n")[0] for match in said)
    return is_said and not any(_IS_BUG.search(text) for text in comments)


def _heaviest(hits: Sequence[_Hit]) -> Reasoned:
    if not hits:
        return _NONE
    weights: Counter[str] = Counter()
    for weight, found in hits:
        weights[found.value] += weight
    values = [value for value in weights if value != "regression"] or ["regression"]
    best = max(values, key=lambda value: (weights[value], -CLASSES.index(value)))
    return max((hit for hit in hits if hit[1].value == best), key=itemgetter(0))[1]


def _first_per_value(hits: Sequence[_Hit]) -> list[Reasoned]:
    found: dict[str, Reasoned] = {}
    for _, one in hits:
        found.setdefault(one.value, one)
    return list(found.values())


def _numbered(found: Reasoned | None) -> Reasoned | None:
    """A pull request that is named by its address gets its sign."""
    if found is not None and found.value.isdecimal() and len(found.value) < 7:
        return replace(found, value=f"#{found.value}")
    return found


def _strongest(hits: Sequence[_Hit]) -> Reasoned | None:
    return max((hit for hit in hits if hit[1].value), key=itemgetter(0), default=(0, None))[1]


def _newest(hits: Sequence[_Hit]) -> Sequence[_Hit]:
    """The hits, newest versions first."""
    return sorted(hits, key=lambda hit: _order(hit[1]), reverse=True)


def _severity(hits: Sequence[_Hit], bug_class: Reasoned) -> Reasoned | None:
    stated = _strongest(hits)
    if stated is not None or bug_class.value == "none":
        return stated
    # Not stated: derived from the class.
    return Reasoned(_BY_CLASS.get(bug_class.value, "low"), bug_class.reason, bug_class.where, bug_class.rule)
