"""Finds the answer that an issue says is correct: in the script, near its output, or in the prose."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from operator import itemgetter

from miner.drafts import Draft
from miner.runs import Run, Section
from miner.text_rules import rules_for
from miner.versions import BAD, Mention, ordered, own_mentions
from solvers.registry import ANY_NAME, kin_of
from solvers.running.outcomes import opposite


@dataclass(frozen=True, slots=True)
class Expected:
    """The answer that an issue says is correct, or one per check-sat (``unsat sat``).

    ``text``: the words that say so. ``source``: their place.
    """

    answer: str
    text: str
    source: str


# Before an answer that no run gave.
_HYPOTHETICAL = re.compile(r"\b(?:if|whether|unless|should|would|must|expect\w*)\b[^.\n:,]{0,60}$", re.I)
# A core that is satisfiable says nothing of the answer to the script.
_OF_A_CORE = re.compile(r"\bcores?\b", re.I)
# Groups of rules that say nothing of the right answer where they stand in the report itself.
_NOT_OF_REPORTS = ("printed", "judged", "misjudged", "later", "without", "whole")
# "If the negation holds, the", before "formula is unsat"
_CONDITION = re.compile(r"\b(?:if|when|suppose|assum\w+)\b[^.\n]*$", re.I)
# "it claims that the", before "formula is unsat"
_CLAIMED = re.compile(
    r"\b(?:of|(?:claim|say|report|return|think|answer|believe|conclude|mean|if|whether)\w*(?:\s+that)?)"
    r"\s+(?:(?:an?|the|this|my|that|following)\s+){0,2}$",
    re.I,
)
_CORRECTLY = re.compile(r"\bcorrectly\b", re.I)
# "Z3 (https://host/commit) says"
_LINK = re.compile(r"\s?\(https?://[^\s()]{1,300}\)")
# After an answer that is not to the formula as it stands.
_CHANGED = re.compile(r"[`'\"*).]{0,3}\s+(?:after|when|if|once|for\s+each)\b", re.I)
_ON_CONDITION = re.compile(r"[`'\"*)]{0,3}\s+(?:after|when|if|once)\b", re.I)
# "the second answer is wrong, it", before "has to be unsat"
_CHECK_BEFORE = re.compile(r"(?:\b(?:second|last|final|third)\b|\b2nd\b)[^.\n]{0,60}$", re.I)
# "`sat` as the second answer", after an answer
_CHECK_AFTER = re.compile(
    r"[`'\"*]{0,3}\s+(?:as|for|in|from|at|to)\s+(?:the|its|my)\s+(?:second|last|final|third|2nd)\b", re.I
)
# "If I comment out the first assertion, z3 returns", before an answer
_OF_A_CHANGE = re.compile(
    r"\b(?:if|when|after|by|once)\s+(?:(?:(?:I|we|you|one)\s+)?(?:(?:un)?comment|remov|replac|chang|drop|delet|swap"
    r"|modif|feed|renam|substitut)\w*\b"
    r"|(?:the|an?|this|that|one|any|either)\s[^.\n]{0,60}?\b(?:is|are)\s+(?:(?:un)?comment|remov|replac|chang|drop"
    r"|delet|swap|activat|enabl|insert)\w*\b)[^.\n]*$",
    re.I,
)
_TABLE = re.compile(
    r"^[ \t]*\|(?P<head>[^\n]{1,300})\|[ \t]*\n[ \t]*\|[-:| \t]{3,300}\n[ \t]*\|(?P<row>[^\n]{1,500})\|", re.M
)
_NAMED_CELL = re.compile(rf"[ \t*`]*({ANY_NAME})\d?\b", re.I)
_ANSWER_CELL = re.compile(r"[ \t*`]*(unsat|sat|unknown)\b", re.I)
# "`unsat,sat`", "`unsat` twice", after the first answer
_FOLLOWING = re.compile(
    r"(?:(?:,\s?|\s|\s?/\s?)(?:unsat|sat|unknown)\b){1,8}(?=[`\"'])"
    r"|`,?\s+(?:(?:and|then|followed\s+by|and\s+then)\s+)`(?:unsat|sat|unknown)`"
    r"|[`'\"*]{0,3}\s+(?P<twice>twice|two\s+times|both\s+times|in\s+both\s+cases|for\s+both)\b",
    re.I,
)
_ASKED = re.compile(r"[^.!?\n]{0,80}\?")
_QUOTED = re.compile(r"^[ \t]*>[^\n]*", re.MULTILINE)
_STATUS = re.compile(r":status\s+(sat|unsat)\b")


def expectation_in(text: str, source: str, own_solver: str = "") -> Expected | None:
    """The answer that a text says is correct."""
    for rule in rules_for("expected.toml", text):
        if rule.group in _NOT_OF_REPORTS or (rule.group == "credited" and not own_solver):
            continue
        for found in rule.pattern.finditer(text):
            if rule.id == "formula-is" and _is_reported(text, found):
                continue
            answer = rule.value or _answer(found)
            if rule.group == "credited":
                who = found["who"].lower().rstrip("2")
                if not _is_own(who, own_solver, (text,)):
                    return Expected(answer, quoted(found[0]), f"{source}, {who}")
                continue
            if rule.value == "sat" and _NEVER.search(text[max(0, found.start() - 100) : found.start()]):
                continue
            if rule.id == "should" and _ON_CONDITION.match(text, found.end()):
                continue
            if rule.id not in ("expected", "should") or "incorrect" not in found[0].lower():
                answer = opposite(answer) if rule.group == "unexpected" else answer
                after = _CHECK_AFTER.match(text, found.end())
                words = _which_check(text, found) + found[0] + (after[0] if after else "")
                return Expected(answer, quoted(words), source)
            break
    for name, answer, quote, _ in _columns(text) if own_solver and "|" in text else ():
        if not _is_own(name, own_solver, (text,)) and answer != "unknown":
            return Expected(answer, quote, f"{source}, {name}")
    return None


def _which_check(text: str, found: re.Match[str]) -> str:
    """The words of the same sentence before a statement, if they say that it is about the last check."""
    before = _CHECK_BEFORE.search(text[max(0, found.start() - 80) : found.start()])
    return before[0] if before else ""


def _is_reported(text: str, found: re.Match[str]) -> bool:
    """Whether words only ask for an answer, or say that somebody gave it."""
    before = text[max(0, found.start() - 120) : found.start()]
    if _CLAIMED.search(before) or _CONDITION.search(before):
        return True
    return _ASKED.match(text, found.end()) is not None


def _answer(found: re.Match[str]) -> str:
    """The answer that a rule found, in the first of the groups that a pattern may have for it."""
    name = _group(found)
    answer = _spelled(found[name])
    return answer + _more(answer, found.string, found.end(name))


def _group(found: re.Match[str]) -> str:
    """The group of a match that has the answer."""
    groups = found.groupdict()
    return next(name for name in "abcdef" if groups.get(name))


def _more(answer: str, text: str, end: int) -> str:
    """The answers to further checks that follow ``answer``, which ends at ``end``, each after a space."""
    found = _FOLLOWING.match(text, end)
    if found is None:
        return ""
    if found["twice"]:
        return f" {answer}"
    return " " + " ".join(re.findall(r"\bunsat|\bsat|\bunknown", found[0].lower()))


def answer_in(
    texts: Iterable[str], own_solver: str, right: Expected | None, versions: Sequence[Mention] = ()
) -> Expected | None:
    """The answer that texts say the tracker's own solver gave: a wrong one if there is one.

    ``versions``: those with answers that the texts name.
    """
    if not own_solver:
        return None
    texts = list(texts)
    said = [one for one in _own_credits(texts, own_solver) if not _CORRECTLY.search(one[1].text)]
    answers = [one for _, one in sorted(said, key=itemgetter(0))]
    answers += [
        Expected(one.answers[0], one.text, "text")
        for one in versions
        if len(one.answers) == 1 and one.verdict in ("", BAD) and not _OF_A_CORE.search(one.text)
        if right is None or one.answers[0] != right.answer
    ]
    wrong = [one for one in answers if right and opposite(right.answer) in one.answer.split()]
    wrong.sort(key=lambda one: " " not in one.answer)  # the answers to all checks first
    wrong = wrong or [one for one in answers if right is not None and one.answer == "unknown"]
    return next(iter(wrong or answers), None)


def _own_credits(texts: Sequence[str], own_solver: str) -> Iterator[tuple[bool, Expected]]:
    """The answers that the tracker's own solver gave, as texts say, each with whether the input changed."""
    for text in texts:
        for name, answer, quote, is_changed in _credits(text, own_solver):
            if _is_own(name, own_solver, texts):
                yield is_changed, Expected(answer, quote, "text")


def _is_own(name: str, own_solver: str, texts: Iterable[str]) -> bool:
    """Whether a name in texts is of a tracker's own solver. Texts that name a variant of a program, as its
    tracker does, mean another program with the plain name.
    """
    if not own_solver.startswith(name) and kin_of(name) != kin_of(own_solver):
        return False
    if own_solver == name or not own_solver.startswith(name):
        return True
    whole = re.compile(rf"(?<![\w/]){re.escape(own_solver)}(?![\w/])", re.I)
    return not any(whole.search(text) for text in texts)


# Asked several times about a text.
@lru_cache(maxsize=64)
def _credits(text: str, own_solver: str) -> Sequence[tuple[str, str, str, bool]]:
    """The answers that a text says were given: solver, answer, words, and whether to a changed input."""
    said: list[tuple[str, str, str, bool]] = []
    for rule in rules_for("expected.toml", text):
        if rule.group not in ("credited", "printed"):
            continue
        for found in rule.pattern.finditer(text):
            start = found.start() if rule.value else found.start(_group(found))
            if _OF_A_CORE.search(text, max(0, found.start() - 40), start):
                continue
            if _OF_A_CHANGE.search(text[max(0, found.start() - 200) : start]):
                continue
            if not _HYPOTHETICAL.search(text[max(0, start - 100) : start]):
                who = (found.groupdict().get("who") or own_solver).lower()
                is_changed = _CHANGED.match(text, found.end()) is not None
                said.append((who, rule.value or _answer(found), quoted(found[0]), is_changed))
    return (*said, *_columns(text)) if "|" in text else tuple(said)


def _columns(text: str) -> Iterator[tuple[str, str, str, bool]]:
    """The answers in the first row of a table whose columns are of solvers."""
    for table in islice(_TABLE.finditer(text), 20):
        names = [_NAMED_CELL.match(cell) for cell in table["head"].split("|")]
        for name, cell in zip(names, table["row"].split("|"), strict=False):
            if name is not None and (answer := _ANSWER_CELL.match(cell)):
                yield name[1].lower(), answer[1].lower(), quoted(cell), False


def _spelled(answer: str) -> str:
    """An answer in lower case, and without the common mistakes in "unknown"."""
    answer = answer.lower()
    return "unknown" if answer.startswith("unk") else answer


def quoted(text: str) -> str:
    """The words of a text in one line, as a reason for a value."""
    return " ".join(text.split())[:200]


def expectations(
    tracker: str,
    prose: Mapping[str, str],
    kept: Sequence[tuple[Section, Draft]],
    attached: Sequence[Sequence[Run]],
) -> list[tuple[Expected | None, Expected | None]]:
    """For each formula the expected answer, and the one that the solver gave as the prose says."""
    named = re.match(ANY_NAME, tracker.lower().rpartition("/")[2])
    own = named[0] if named else ""
    kin = kin_of(own) or own
    near = _prose_near(kept)
    in_body = sum(1 for section, _ in kept if section.where == "body")
    result: list[tuple[Expected | None, Expected | None]] = []
    for (section, draft), runs, texts in zip(kept, attached, near, strict=True):
        found = _stated_inside(draft)
        for run in runs:
            if found is None and run.output is not None:
                found = _in_output(run)
        # What the issue says is about an attached formula only if there is no other.
        is_alone = len(kept) == 1 and prose.keys().isdisjoint({section.where})
        about = [text[:4000] for text in ([prose["body"]] if is_alone else texts)]
        about = [_LINK.sub("", text) if "(http" in text else text for text in about]
        for text in about:
            found = found or expectation_in(text, "text", own)
        if is_alone or (section.where == "body" and in_body == 1):
            found = found or expectation_in(prose["title"][:500], "title", own)
            about.append(prose["title"][:500])
            if found is None or found.source != "set-info":
                found = _said_later(prose, about, own, [section for section, _ in kept]) or found
        versions = [one for text in about for one in own_mentions(text, kin)]
        found = found or _by_versions(versions, _first_answers(runs))
        comments = [piece.text.lstrip("; ") for piece in draft.pieces if not piece.word]
        if found is None and section.where == "body" and in_body == 1:
            found = _in_whole(prose["body"][:4000])
        said = answer_in([*about, *comments[:20]], own, found, versions)
        if found is None:
            given = {one.answer for _, one in _own_credits(about, own)} if own else set()
            shown = [run.output.text[:2000] for run in runs if run.output is not None]
            found = _without(about, _first_answers(runs) | given, shown) or _of_another_run(runs)
            said = answer_in([*about, *comments[:20]], own, found, versions) if found else said
        result.append((found, said))
    return result


def _first_answers(runs: Sequence[Run]) -> set[str]:
    return {run.output.answers[0] for run in runs if run.output is not None and run.output.answers}


def _in_whole(text: str) -> Expected | None:
    """The answer that the paragraphs of a report give together."""
    for rule in rules_for("expected.toml", text):
        if rule.group == "whole" and (found := rule.pattern.search(text)):
            return Expected(_answer(found), quoted(found[0]), "text")
    return None


def _without(about: Sequence[str], given: set[str], shown: Sequence[str]) -> Expected | None:
    """The answer without an option or a tactic, or the one that the text says the formula has, if the solver
    gave another one or broke. ``shown``: what runs printed.
    """
    breaks = any(_BREAKS.search(text) for text in (*about, *shown))
    for text in about:
        for rule in rules_for("expected.toml", text):
            for found in rule.pattern.finditer(text) if rule.group == "without" else ():
                answer = rule.value or _answer(found)
                before = text[max(0, found.start() - 200) : found.start()]
                if rule.id == "once-changed" and given != {"unknown"}:
                    continue
                if rule.id == "with-option" and opposite(answer) in given:
                    continue
                # A witness may be "with x = 1".
                condition = _ON_OPTION if rule.value else _WITH
                is_other = rule.id not in ("without-option", "with-option") and condition.search(before)
                if is_other or _OF_A_CHANGE.search(before) or (rule.value and _NEVER.search(before)):
                    continue
                if rule.id == "it-is-so" and _is_reported(text, found):
                    continue
                if given - {answer} or breaks:
                    return Expected(answer, quoted(found[0]), "text")
    return None


def _of_another_run(runs: Sequence[Run]) -> Expected | None:
    """The answer of a run, where another one beside it broke before its first answer."""
    shown = [(run.where, run.output) for run in runs if run.output is not None and run.invocation is not None]
    broken = [(where, one) for where, one in shown if not one.answers and _BREAKS.search(one.text[:4000])]
    places = {where for where, _ in broken}
    given = {one.answers[0] for where, one in shown if one.answers and where in places}
    if len(given) != 1 or not given <= {"sat", "unsat"}:
        return None
    return Expected(given.pop(), quoted(broken[0][1].text[:200]), "another run")


# "no assignment can", before "satisfy both"
_NEVER = re.compile(r"\b(?:no|not|never|none|neither|cannot|\w+n't)\b[^.,;\n]{0,40}$", re.I)
# "With smt.arith.solver=2", before "it is sat"
_WITH = re.compile(r"\b(?:with|using|under|if|when|whether)\b[^.\n]*$", re.I)
# As above, but not before "= 1", as in "x = 2 with y = 1"
_ON_OPTION = re.compile(
    r"\b(?:if|when|whether)\b[^.\n]*$|\b(?:with|using|under)\s+(?![`(]?\w{1,20}\s*(?:$|=\s*-?\d))[^.\n]*$",
    re.I,
)


def _said_later(
    prose: Mapping[str, str], about: Sequence[str], own: str, sections: Sequence[Section]
) -> Expected | None:
    """The answer that the last comment to say so calls right. A comment with a formula is about that one."""
    taken = {section.where for section in sections}
    later = [place for place in prose if place.startswith("comment:") and place not in taken]
    for where in reversed(later):
        text = _QUOTED.sub("", prose[where][:4000])
        for rule in rules_for("expected.toml", text, "comment"):
            for found in rule.pattern.finditer(text):
                if _HYPOTHETICAL.search(text[max(0, found.start() - 100) : found.start()]):
                    continue
                if rule.id == "formula-is" and _is_reported(text, found):
                    continue
                if rule.group in ("judged", "misjudged"):
                    who = found["who"] or found.groupdict().get("x") or ""
                    answer = _given_by(who.lower(), about, own)
                    answer = opposite(answer) if rule.group == "misjudged" else answer
                else:
                    answer = _answer(found)
                    answer = opposite(answer) if rule.group == "unexpected" else answer
                if answer:
                    return Expected(answer, quoted(found[0]), where)
    return None


def _given_by(who: str, about: Iterable[str], own: str) -> str:
    """The answer that texts say a solver gave, or an empty string."""
    for text in about:
        said = {kin_of(name) or name: answer for name, answer, _, _ in _credits(text, own)}
        if (kin := kin_of(who) or who) in said:
            return said[kin]
    return ""


_BREAKS = re.compile(
    r"\b(?:crash|exception|seg(?:mentation)?[- ]?fault|core\s+dumped|fatal\s+failure|panic"
    r"|runs?\s+forever|out\s+of\s+memory|all\s+(?:the|my)\s+memory|interrupted|slow\w*|diverge|stuck|abort|assertion\s+(?:violation|fail)|hang|times?\s+out|timeout"
    r"|(?:does\s+not|doesn't|never)\s+(?:terminate|return|finish)|(?:parse|syntax)\s+error|reject|refuse)",
    re.IGNORECASE,
)


def _by_versions(versions: Sequence[Mention], given: Collection[str]) -> Expected | None:
    """The right answer if versions differ: the one of a version without the bug, else of the older one.

    ``given``: what the runs answered that are shown.
    """
    decided = [one for one in versions if len(one.answers) == 1 and one.answers[0] in ("sat", "unsat")]
    without = [one for one in decided if one.verdict not in ("", BAD)]
    differ = len({one.answers[0] for one in decided}) > 1
    if not differ and not (
        without and any(one.verdict == BAD or one.answers == ("unknown",) for one in versions)
    ):
        # An older version answers where a newer one breaks.
        broken = [one for one in versions if one.verdict == BAD and _BREAKS.search(one.text)]
        newest = max((ordered(one.version) for one in broken), default=())
        if not broken and any(one.answers == ("unknown",) for one in versions):
            # An older version answers where a newer one gives up.
            unknown = [one for one in versions if one.answers == ("unknown",)]
            newest = max(ordered(one.version) for one in unknown)
        elif not broken and given:
            # The text says what an older version answers, and a run shows what the newer one does.
            newest = max((ordered(one.version) for one in versions), default=())
            decided = [one for one in decided if {opposite(one.answers[0])} == set(given)]
        decided = [one for one in decided if one.verdict != BAD and ordered(one.version) < newest]
        if not decided:
            return None
    best = (without or sorted(decided, key=lambda one: ordered(one.version)))[0]
    return Expected(best.answers[0], best.text, "versions")


def _stated_inside(draft: Draft) -> Expected | None:
    for piece in draft.pieces:
        if piece.word == "set-info" and (found := _STATUS.search(piece.text)):
            return Expected(found[1], piece.text, "set-info")
    for piece in draft.pieces:
        if ";" in piece.text and (not piece.word or len(piece.text) < 10_000):
            for comment in re.findall(r";+([^\n]*)", piece.text):
                if expected := expectation_in(comment, "comment"):
                    return expected
    return None


def _in_output(run: Run) -> Expected | None:
    output = run.output
    assert output is not None
    if run.is_expectation:
        answer = " ".join(answer for answer in output.answers if answer in ("sat", "unsat", "unknown"))
        return Expected(answer, output.text[:200], "output block") if answer else None
    if len(output.text) < 5000 and any(part in output.text for part in ("xpect", "hould", "rong")):
        return expectation_in(output.text, "output")
    return None


def _prose_near(kept: Sequence[tuple[Section, Draft]]) -> list[list[str]]:
    """The prose about each formula: the texts after it, then those that introduce it."""
    near: list[list[str]] = [[] for _ in kept]
    sections: dict[str, tuple[Section, list[int]]] = {}
    for number, (section, _) in enumerate(kept):
        sections.setdefault(section.where, (section, []))[1].append(number)
    for section, numbers in sections.values():
        leads: list[list[str]] = [[] for _ in numbers]
        firsts = [min(piece.block for piece in kept[number][1].pieces) for number in numbers]
        for index, text in _prose(section):
            # The positions of the formulas after and before this text.
            after = bisect_left(firsts, index + 1)
            above = after - 1
            if above < 0:
                leads[after].append(text)
            elif text.rstrip().endswith(":") and after < len(numbers) and firsts[above] != index:
                # The last sentence introduces the next formula.
                earlier, end, last = text.rpartition(". ")
                leads[after].append(last)
                near[numbers[above]].append(earlier + end)
            else:
                near[numbers[above]].append(text)
        for place, number in enumerate(numbers):
            near[number] += reversed(leads[place])
    return near


def _prose(section: Section) -> Iterable[tuple[int, str]]:
    """The texts of a section with their positions; one below a heading starts with it."""
    heading = ""
    for index, (block, segments) in enumerate(zip(section.blocks, section.segments, strict=True)):
        above, heading = heading, ""
        if block.is_code:
            text = "\n".join(segment.text for segment in segments if segment.kind == "prose")
            if text:
                yield index, text
            if above and block.kind == "span":
                yield index, f"{above}\n{block.text[:200]}"
        elif block.kind == "heading" and index + 1 < len(section.blocks):
            heading = block.text[:300]
            yield index, heading
        elif block.kind != "html":
            text = block.text if len(block.text) < 20_000 else block.text[:20_000]
            yield index, f"{above}\n{text}" if above else text
