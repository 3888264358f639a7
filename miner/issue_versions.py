"""The versions that an issue is about: which one shows the bug, which does not yet, and which no longer."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from corpus.records import Issue, Reasoned
from miner.commits import in_full
from miner.extract import Extraction
from miner.failing import FormulaRun
from miner.hits import BODY_READ, COMMENT_READ, Hit, in_comment, says_gone, strongest
from miner.markdown import unescaped
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


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions that an issue is about, each if it is known. The last good one may be a commit."""

    affected: Reasoned | None
    last_good: Reasoned | None
    fixed_in: Reasoned | None


@dataclass(slots=True)
class _Said:
    """The versions of the tracker's solver, by what the texts say of them."""

    bad: list[Hit] = field(default_factory=list)
    good: list[Reasoned] = field(default_factory=list)
    fixed: list[Reasoned] = field(default_factory=list)
    neutral: list[Reasoned] = field(default_factory=list)
    # Named in a comment, and no more.
    later: list[Reasoned] = field(default_factory=list)
    # Versions of a predecessor of the tracker's solver: their numbers do not compare.
    of_others: set[str] = field(default_factory=set)


# A title that says that a newer version is worse.
_CHANGED = re.compile(
    r"\b(?:regress|slow(?:er|down)|degrad|worse|longer|since|after|switch|upgrad|updat|broke|newer|latest)",
    re.IGNORECASE,
)


def versions_of(
    issue: Issue,
    extraction: Extraction,
    hits: Mapping[str, list[Hit]],
    failing: Sequence[FormulaRun],
    bug_class: str,
) -> Versions:
    """The versions of an issue, by what the rules found, what the prose says and what the runs show."""
    said = _versions_said(issue, extraction, bug_class)
    answering = _version_of_good_run(extraction, issue.tracker)
    affected = _affected(issue, extraction, hits, said, failing, answering)
    good, fixed = _separated(said, affected)
    last_good = strongest(hits["last-good"]) or max(good, key=_order, default=None)
    last_good = last_good or _commit_before(extraction)
    if last_good is None and affected is not None and _CHANGED.search(extraction.prose["title"]):
        last_good = max(_before(said.neutral, affected), key=_order, default=None)
    return Versions(
        affected,
        last_good=in_full(last_good or answering, extraction),
        fixed_in=min(fixed, key=_order, default=None),
    )


_TRIED = re.compile(
    r"\b(?:current|latest|newest|master|main|nightly|re-?test\w*|tried|tested|checked|on|with|version)\b(?!.*\byou)",
    re.I,
)
_PROVED = re.compile(r"\bprove[sdn]?\b|\bdischarge", re.IGNORECASE)
_OPPOSITE = {GOOD: BAD, BAD: GOOD}


def _versions_said(issue: Issue, extraction: Extraction, bug_class: str) -> _Said:
    """What the prose says of each version that it names, by verbs and by the answers that it gives."""
    own = family_of(issue.tracker)
    stated = [formula.expected for formula in extraction.formulas if formula.expected]
    right = {one.answer for one in stated}
    read = [
        (where, one)
        for where, text in _paragraphs(extraction).items()
        for one in own_mentions(text[: BODY_READ if where == "body" else COMMENT_READ], own)
    ]
    later = {one.answer for one in stated if one.source.startswith("comment:")}
    if later and all(one.answers == () or set(one.answers) <= later for _, one in read):
        right = set()  # a comment calls the reported answer right
    said = _Said()
    former: set[str] = set()
    gone = {where for where, text in extraction.prose.items() if says_gone(text[:COMMENT_READ])}
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


def _affected(
    issue: Issue,
    extraction: Extraction,
    hits: Mapping[str, list[Hit]],
    said: _Said,
    failing: Sequence[FormulaRun],
    answering: Reasoned | None,
) -> Reasoned | None:
    """The version that shows the bug. ``answering``: that of a run beside the failing ones that answers."""
    without = {one.value for one in said.good + said.fixed}
    named = [hit for hit in hits["version"] if hit[1].value not in without]
    reported = [hit for hit in named if not in_comment(hit)]
    report = extraction.prose["title"] + extraction.prose["body"]
    in_report = [hit for hit in said.bad if hit[1].value in report]
    # A predecessor of the tracker's solver has other numbers.
    in_report = [hit for hit in in_report if hit[1].value not in said.of_others]
    found = [_newest(in_report), reported]
    if all(map(in_comment, hits["commit"])):  # else comments are about other versions
        found += [said.bad, named]
    affected = next(filter(None, map(strongest, found)), None)
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


_OF_NOTES = re.compile(r"\b(?:release\s+notes|changelog|docs?|documentation|manual|paper)\b", re.IGNORECASE)


def _only(said: _Said) -> Reasoned | None:
    """The version that a report names, if it names only one. A number such as "1.5" may be something else."""
    found = {one.value: one for one in said.neutral if one.value not in said.of_others}
    one = next(iter(found.values()), None)
    is_clear = one is not None and (one.value.count(".") > 1 or _USED.search(one.reason or ""))
    if one is not None and _OF_NOTES.search(one.reason or ""):
        return None
    return one if len(found) == 1 and is_clear and not said.bad else None


_WHICH = re.compile(r"\b(?:version|release|build|commit)\b[^.\n]{0,80}\?", re.IGNORECASE)


def _answered(extraction: Extraction, said: _Said) -> Reasoned | None:
    """The version in the comment after one that asks for it."""
    named = {one.where: one for one in reversed(said.later)}
    comments = [where for where in extraction.prose if where.startswith("comment:")]
    for asked, answer in pairwise(comments):
        if answer in named and _WHICH.search(extraction.prose[asked][:COMMENT_READ]):
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


def _newest(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The hits, newest versions first."""
    return sorted(hits, key=lambda hit: _order(hit[1]), reverse=True)


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


def _commit_before(extraction: Extraction) -> Reasoned | None:
    """A commit that does not have the bug, as the report says."""
    for where in ("title", "body"):
        text = extraction.prose[where][:BODY_READ]
        for commit, verdict in commit_verdicts(text).items():
            place = text.find(commit)
            words = " ".join(text[max(0, place - 100) : place + 60].split())
            if verdict in (FORMER, GOOD) and not _NEWER.search(text[max(0, place - 40) : place]):
                return Reasoned(commit, words, where, "versions")
    return None


def _is_a_fix(found: Reasoned) -> bool:
    return "fix" in (found.reason or "").lower()


def _before(found: Sequence[Reasoned], affected: Reasoned) -> list[Reasoned]:
    """The versions of a list that are older than the affected one."""
    return [one for one in found if _is_before(one, affected)]


def _is_before(one: Reasoned, other: Reasoned) -> bool:
    """Whether a version is older than another one of the same series (the first number)."""
    first, second = _order(one), _order(other)
    return first[:1] == second[:1] and first < second


def _order(found: Reasoned) -> tuple[int, ...]:
    return ordered(found.value)
