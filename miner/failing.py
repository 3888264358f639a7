"""Decides which of the runs shown with a formula is the failing one, by what it printed.

In bug reports the first run is often the good one: other options, another version or another solver, which
answers correctly. A run fails if its output shows a crash, an invalid model or an error, or if its answer
contradicts the correct one. The correct answer is the expected one, else the opposite of the answer that the
issue calls wrong, else the one that other solvers give.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from miner.commandline import Invocation, base_name
from miner.expected import Expected, expectation_in, quoted
from miner.runs import Output
from miner.text_rules import rules_for
from miner.versions import family_of, ordered
from solvers.running.outcomes import opposite

# The symptoms that are a bug by themselves, and those that are one only where no other run has one of these.
_BUGS = ("wrong-answer", "invalid-model", "crash", "leak")
_WEAK = ("error", "timeout", "unknown")

_ERROR = re.compile(
    r"\(error\b|^\s*(?:\[error\]|error:|parse error)|\bsyntax error\b", re.IGNORECASE | re.MULTILINE
)
_TIMEOUT = re.compile(
    r"^\s*(?:timeout\b|Killed\b|.*\btimed out\b|.*interrupted by (?:timeout|SIG\w+))", re.MULTILINE
)
# Titles after which an old release that differs from the current build is right.
_REGRESSION = re.compile(
    r"\b(?:regress(?:ion|ed)|unsound(?:ness)?|soundness|incorrect|wrong)\b", re.IGNORECASE
)
# A crash that only the solver's own words tell.
_DIED = re.compile(r"\bsuffered a seg(?:fault|mentation)|^Offending address is", re.MULTILINE)
# A command line that ends by itself: without an output, its time was up.
_LIMITED = re.compile(r"(?:time\s+)?g?timeout\s")
# What a command such as time prints when a run ends, for all of its output
_CLOCK = re.compile(
    r"\s*(?:(?:real|user|sys)\s+\d[\dms.,]*\s*|[^\n]*\b(?:total|elapsed)\b[^\n]*\s*)+", re.IGNORECASE
)
# "real 1m2.5s", "44.8s user 0.3s system 99% cpu 45.2 total", "1:02.50 elapsed"
_ELAPSED = re.compile(
    r"^\s*real\s+(?:(?P<m>\d{1,5})m)?(?P<s>\d{1,6}(?:[.,]\d{1,6})?)s?"
    r"|\bcpu\s+(?:(?P<tm>\d{1,5}):)?(?P<ts>\d{1,6}(?:[.,]\d{1,6})?)\s+total"
    r"|(?P<em>\d{1,5}):(?P<es>\d{1,2}(?:[.,]\d{1,6})?)\s?elapsed",
    re.IGNORECASE | re.MULTILINE,
)
# How many times longer than all others a run takes that is the slow one.
_SLOW = 3
# "[engine] unsat for ...", "engine: sat on ...": a title that begins with the answer which it complains about
_TITLE_ANSWER = re.compile(
    r"(?:\[[^\]\n]{1,40}\]\s*|[^:\n]{1,60}:\s+)?[`'\"]?(unsat|sat)(?:isfiable)?\b[`'\"]?\s+"
    r"(?:answer\s+|result\s+)?(?:for|on|with|when|if|after|despite|though|although|in|under|from)\b",
    re.IGNORECASE,
)
# "the second answer should be sat"
_OF_THE_LAST = re.compile(r"\b(?:second|2nd|last|final|third)\b", re.IGNORECASE)
_OF_THE_SECOND = re.compile(r"\b(?:second|2nd)\b", re.IGNORECASE)
_DECIDED = ("sat", "unsat")
# The source of a guess that is good enough to choose the failing run, but not to be stored as correct.
_GUESS = "other runs"


@dataclass(frozen=True, slots=True)
class FormulaRun:
    """A run of a solver on a formula: its command line, its output, or both.

    ``symptom``: ``wrong-answer``, ``invalid-model``, ``crash``, ``leak``, ``error``, ``timeout``, ``unknown``
    or empty. ``failing``: whether the run shows the bug. ``later``: whether a reply to the report
    shows the run.
    """

    invocation: Invocation | None = None
    output: Output | None = None
    symptom: str = ""
    failing: bool = False
    later: bool = False

    @property
    def answers(self) -> tuple[str, ...]:
        """The printed answers to the checks, in order."""
        found = self.output.answers if self.output else ()
        return tuple(answer for answer in found if answer in (*_DECIDED, "unknown"))

    @property
    def solver(self) -> str:
        """The solver that the command line names, or the text above the output; empty if nothing does."""
        named = self.invocation or self.output
        return named.solver if named else ""


def judge(
    runs: Sequence[FormulaRun], expected: Expected | None, tracker: str, title: str
) -> tuple[tuple[FormulaRun, ...], Expected | None]:
    """Mark the failing runs of a formula, and complete or correct its expected answer.

    Only runs of the tracker's own solver can fail, unless there are none. Runs in replies count only if the
    report itself shows no bug: they often show that it is fixed, or look for its cause.
    """
    first = [run for run in runs if not run.later]
    if 0 < len(first) < len(runs):
        judged, answer = _judged(first, expected, tracker, title)
        if any(run.failing and run.symptom in _BUGS for run in judged):
            later = [run for run in runs if run.later]
            return (*judged, *later), answer or _repaired(judged, later)
    return _judged(runs, expected, tracker, title)


def _repaired(judged: Sequence[FormulaRun], later: Sequence[FormulaRun]) -> Expected | None:
    """The answer that a reply shows for the command line that crashes in the report."""
    broken = {
        (run.invocation.program, run.invocation.options) for run in judged if run.failing and run.invocation
    }
    answers = {
        run.answers
        for run in later
        if run.invocation and (run.invocation.program, run.invocation.options) in broken
        if not _symptom(run, ())
    }
    right = answers.pop() if len(answers) == 1 else ()
    return Expected(right[0], "", "reply") if len(right) == 1 else None


def _judged(
    runs: Sequence[FormulaRun], expected: Expected | None, tracker: str, title: str
) -> tuple[tuple[FormulaRun, ...], Expected | None]:
    """The runs and the expected answer, if all the runs count."""
    if not runs:
        return (), expected
    own = family_of(tracker)
    merged = _merged(runs, own)
    mine = [run for run in merged if own in ("", family_of(run.solver) or own)]
    mine = mine or merged
    # A banner, or a sentence like an output, is no run beside real ones.
    mine = [run for run in mine if run.invocation or run.answers or _symptom(run, ())] or mine
    others = [run for run in merged if run not in mine and (run.invocation or run.answers or own)]
    if expected is None or (expected.source != "set-info" and " " not in expected.answer):
        expected = _sequence(mine, others) or expected
    expected = _corrected(expected, mine, others) or _derived(mine, others, title)
    expected = _in_order(expected, mine)
    truth = expected.answer.split() if expected else []
    judged = [replace(run, symptom=_symptom(run, truth if run in mine else [])) for run in merged]
    symptoms = [new.symptom if run in mine else None for run, new in zip(merged, judged, strict=True)]
    fails = _failing(symptoms, judged)
    if not fails and expected is not None and expected.source.startswith("comment:") and len(mine) == 1:
        fails = {merged.index(mine[0])}  # the only answer, which a comment calls right
    fails = fails or _of_plain_name(mine, merged, tracker) or _slowest(mine, merged)
    if expected is not None and expected.source == _GUESS:
        expected = None
    return tuple(replace(run, failing=place in fails) for place, run in enumerate(judged)), expected


def if_called_wrong(failing: FormulaRun, title: str, body: str) -> Expected | None:
    """The opposite of the only answer of a failing run, if the report calls an answer wrong and not an
    optimum, an interpolant or a core.
    """
    if len(failing.answers) != 1 or failing.answers[0] not in _DECIDED:
        return None
    said = [
        (rule.id, match[0])
        for place, text in (("title", title), ("text", body[:4000]))
        for rule in rules_for("classes.toml", text, place)
        if rule.value == "soundness" and (match := rule.pattern.search(text))
    ]
    if not said or any(name == "wrong-optimum" for name, _ in said):
        return None
    return Expected(opposite(failing.answers[0]), quoted(said[0][1]), "called wrong")


def _merged(runs: Sequence[FormulaRun], own: str) -> list[FormulaRun]:
    """The runs; a command line and a single output that are shown apart are one run, unless the command line
    is of another solver than ``own``.
    """
    shown = {run.answers for run in runs if run.invocation is not None and len(run.answers) > 1}
    runs = [run for run in runs if run.invocation is not None or run.answers not in shown]
    commands = [run for run in runs if run.output is None]
    others = [run for run in runs if run.invocation is None and own != (family_of(run.solver) or own)]
    outputs = [run for run in runs if run.invocation is None and run not in others]
    silent = [run for run in outputs if not run.answers and not _symptom(run, ())]
    if commands and 0 < len(silent) < len(outputs):
        # A sentence or a banner that was taken for an output belongs to no command line.
        runs = [run for run in runs if run not in silent]
        outputs = [run for run in outputs if run not in silent]
    pairs = list(zip(commands, outputs, strict=False))
    is_shown = all(run.answers or _symptom(run, ()) for run in outputs)
    if is_shown and len(pairs) > 1 and len(runs) == 2 * len(pairs) + len(others):
        return [*(replace(one, output=other.output) for one, other in pairs), *others]
    if len(outputs) != 1 or not commands or len(commands) + len(others) + 1 != len(runs):
        return list(runs)
    if own and outputs[0].answers and own != (family_of(commands[0].solver) or own):
        return list(runs)
    return [replace(commands[0], output=outputs[0].output), *commands[1:], *others]


def _corrected(
    expected: Expected | None, mine: Sequence[FormulaRun], others: Sequence[FormulaRun]
) -> Expected | None:
    """The expected answer, or its opposite if only the tracker's solver gives it and all others disagree."""
    if expected is None or expected.answer not in _DECIDED or expected.source == "set-info":
        return expected
    ours, theirs = _first_answers(mine), _first_answers(others)
    if ours == {expected.answer} and theirs == {opposite(expected.answer)}:
        return Expected(opposite(expected.answer), expected.text, "other solvers")
    return expected


def _derived(mine: Sequence[FormulaRun], others: Sequence[FormulaRun], title: str) -> Expected | None:
    """The correct answer, if the title or a disagreement between runs implies it."""
    ours, theirs = _first_answers(mine), _first_answers(others)
    gave_up = any(_gave_up(run) for run in mine)
    broken = [run for run in mine if _symptom(run, ()) in ("crash", "error")]
    if len(theirs) == 1:
        answer = next(iter(theirs))
        agreeing = {run.solver for run in others if run.answers}
        if opposite(answer) in ours or (not ours and (len(agreeing) > 1 or gave_up or broken)):
            return Expected(answer, "", "other solvers")
    if len(ours) == 1 and theirs <= ours:
        if gave_up:
            return Expected(next(iter(ours)), "", "other runs of the solver")
        if answers := _where_broken(mine, broken, title):
            return Expected(" ".join(answers), "", "other runs of the solver")
    sequences = {run.answers for run in mine if len(run.answers) > 1}
    if len(sequences) == 2 and not theirs and len(set(map(len, sequences))) == 1:
        wrong, source = _odd_one(mine, title)
        if wrong in sequences and source == "title":
            right = next(iter(sequences - {wrong}))
            return Expected(" ".join(right), title[:200], source)
    named = expectation_in(title, "title") if ours else None
    if named is not None and opposite(named.answer) in ours:
        return named
    if len(ours) == 2 and not theirs:
        wrong, source = _odd_one(mine, title)
        if source == _GUESS and (wrong_first := _TITLE_ANSWER.match(title)):
            return Expected(opposite(wrong_first[1].lower()), title[:200], "title")
        return Expected(opposite(wrong[0]), title[:200], source) if wrong else None
    return None


def _where_broken(mine: Sequence[FormulaRun], broken: Sequence[FormulaRun], title: str) -> tuple[str, ...]:
    """The answers of another version or other options, where a run crashes or is refused without them."""
    found = {run.answers for run in mine if run.invocation and run.answers and run not in broken}
    if not broken or len(found) != 1:
        return ()
    answers = found.pop()
    is_cut = any(len(run.answers) < len(answers) for run in broken)
    is_cut = is_cut or any(run.invocation and run.invocation.version for run in mine if run not in broken)
    # Of several answers one may be wrong too.
    is_trusted = len(answers) == 1 or not _REGRESSION.search(title)
    return answers if is_cut and is_trusted and "unknown" not in answers else ()


def _gave_up(run: FormulaRun) -> bool:
    """Whether a run of the tracker's solver ended without an answer: by time, or as unknown."""
    return run.answers == ("unknown",) or _symptom(run, ()) == "timeout"


def _sequence(mine: Sequence[FormulaRun], others: Sequence[FormulaRun]) -> Expected | None:
    """The answers of other solvers to several checks, if they agree and a run of the tracker's has others."""
    sequences = {run.answers for run in others if run.answers}
    right = next(iter(sequences)) if len(sequences) == 1 else ()
    if len(right) > 1 and any(len(run.answers) == len(right) and run.answers != right for run in mine):
        return Expected(" ".join(right), "", "other solvers")
    return None


def _in_order(expected: Expected | None, mine: Sequence[FormulaRun]) -> Expected | None:
    """The expected answers to all checks, if one answer of a run contradicts the expected one, or if the text
    speaks of the last.
    """
    if expected is None or expected.answer not in _DECIDED or expected.source == "set-info":
        return expected
    sequences = {run.answers for run in mine if len(run.answers) > 1}
    if len(sequences) == 2 and len(set(map(len, sequences))) == 1:
        # Of two runs that differ in one answer, the one that has the expected answer there.
        pairs = list(zip(*sequences, strict=True))
        differ = [place for place, (one, other) in enumerate(pairs) if one != other]
        if len(differ) == 1 and expected.answer in pairs[differ[0]]:
            right = next(one for one in sequences if one[differ[0]] == expected.answer)
            return replace(expected, answer=" ".join(right))
    for run in mine:
        is_cut = len(run.answers) == 1 and _symptom(run, ()) in ("crash", "error", "timeout")
        if is_cut and _OF_THE_SECOND.search(expected.text):
            return replace(expected, answer=f"{run.answers[0]} {expected.answer}")
        wrong = [place for place, answer in enumerate(run.answers) if answer == opposite(expected.answer)]
        if len(run.answers) < 2 or "unknown" in run.answers or not wrong:
            continue
        if len(wrong) == 1 or (wrong[-1] == len(run.answers) - 1 and _OF_THE_LAST.search(expected.text)):
            answers = list(run.answers)
            answers[wrong[-1]] = expected.answer
            return replace(expected, answer=" ".join(answers))
    return expected


def _odd_one(mine: Sequence[FormulaRun], title: str) -> tuple[tuple[str, ...], str]:
    """The wrong ones of two sequences of answers of the same solver, and the source: the run with options
    from the title, else with the most options, else without a version in its name (a release beside a newer
    build).
    """

    def weight(run: FormulaRun) -> tuple[int, int, bool]:
        assert run.invocation is not None
        named = sum(_is_named(option, title) for option in run.invocation.options)
        return named, len(run.invocation.options), not run.invocation.version

    decided = [run for run in mine if run.invocation and run.answers and run.answers[0] in _DECIDED]
    if wrong := _newest(decided):
        return wrong, "versions"
    best = max((weight(run) for run in decided), default=None)
    answers = {run.answers for run in decided if weight(run) == best}
    has_release = any(run.invocation and run.invocation.version for run in decided)
    is_build = best is not None and best[2] and has_release and _REGRESSION.search(title) is not None
    named = best is not None and (best[0] > 0 or is_build)
    return (answers.pop() if len(answers) == 1 else ()), ("title" if named else _GUESS)


def _is_named(option: str, title: str) -> bool:
    """Whether a title names an option, or its value if that is a word."""
    name, _, value = option.partition("=")
    return name.strip("-") in title or (len(value) > 4 and value.isidentifier() and value in title)


def _newest(runs: Sequence[FormulaRun]) -> tuple[str, ...]:
    """The answers of the newest version, if each program has a version in its name, all have the same options
    and the answers change once, from older to newer.
    """
    options = {run.invocation.options for run in runs if run.invocation}
    versions = [run.invocation.version for run in runs if run.invocation and run.invocation.version]
    if len(options) != 1 or len(set(versions)) != len(runs):
        return ()
    ordered_runs = sorted(zip(map(ordered, versions), (run.answers for run in runs), strict=True))
    answers = [given for _, given in ordered_runs]
    changes = sum(before != after for before, after in pairwise(answers))
    return answers[-1] if changes == 1 else ()


def _slowest(mine: Sequence[FormulaRun], runs: Sequence[FormulaRun]) -> set[int]:
    """The position of the run that took much longer than all others, where each shows its time."""
    times = [(_seconds(run), place) for place, run in enumerate(runs) if run in mine and run.invocation]
    if len(times) < 2 or any(seconds is None for seconds, _ in times):
        return set()
    *_, (second, _), (longest, place) = sorted((seconds or 0.0, place) for seconds, place in times)
    return {place} if longest > _SLOW * second else set()


def _seconds(run: FormulaRun) -> float | None:
    """How long a run took, as its output says."""
    found = _ELAPSED.search(run.output.text[:20_000]) if run.output else None
    if found is None:
        return None
    minutes = found["m"] or found["tm"] or found["em"] or "0"
    seconds = found["s"] or found["ts"] or found["es"]
    return 60 * float(minutes) + float(seconds.replace(",", "."))


def _first_answers(runs: Sequence[FormulaRun]) -> set[str]:
    """The first answers of the runs, if they are decided."""
    return {run.answers[0] for run in runs if run.answers and run.answers[0] in _DECIDED}


def _symptom(run: FormulaRun, truth: Sequence[str]) -> str:
    text = run.output.text[:20_000] if run.output else ""
    for rule in rules_for("classes.toml", text, "output"):
        if rule.group == "class" and rule.pattern.search(text):
            return rule.value
    wrong = (answer == opposite(right) for answer, right in zip(run.answers, truth, strict=False))
    if any(wrong):
        return "wrong-answer"
    if _DIED.search(text):
        return "crash"
    is_empty = run.output is None or _CLOCK.fullmatch(text) is not None
    if is_empty and run.invocation is not None and _LIMITED.match(run.invocation.text):
        return "timeout"
    if _TIMEOUT.search(text):
        return "timeout"
    if _ERROR.search(text):
        return "error"
    return "unknown" if "unknown" in run.answers else ""


def _of_plain_name(mine: Sequence[FormulaRun], runs: Sequence[FormulaRun], tracker: str) -> set[int]:
    """The position of the run of the program that is named as the tracker is, beside other builds and older
    programs; empty if there are several command lines of it.
    """
    named = tracker.rpartition("/")[2].lower()
    plain = {
        (run.invocation.program, run.invocation.options): place
        for place, run in enumerate(runs)
        if run.invocation is not None and run in mine and base_name(run.invocation.program).lower() == named
    }
    return set(plain.values()) if len(plain) == 1 else set()


def _failing(symptoms: Sequence[str | None], runs: Sequence[FormulaRun]) -> set[int]:
    """The positions of the failing runs. ``symptoms``: None for runs that cannot fail."""
    found = {place for place, symptom in enumerate(symptoms) if symptom in _BUGS}
    if not found:
        found = {place for place, symptom in enumerate(symptoms) if symptom in _WEAK}
    # A single command line in a bug report shows the bug, whatever it printed.
    able = {place: runs[place].invocation for place, symptom in enumerate(symptoms) if symptom is not None}
    commands = {(one.program, one.options) for one in able.values() if one is not None}
    silent = all(place in able or not run.answers for place, run in enumerate(runs))
    if not found and not commands and len(able) == 1 and silent:
        return set(able)
    if found or len(commands) != 1 or None in able.values():
        return found
    return {max(able)}
