"""What is new in a solver that is compared with a base (``Solver.is_base``): what the base does not show.

On a test that both ran, the base's own candidates tell. What is confirmed is then given to the base in a
fresh process, as bisection gives it to other releases: this alone decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from difftest.oracles.base import Candidate
from difftest.triage.kinds import State
from difftest.triage.release_search import try_other
from difftest.triage.settle import Settled
from generator.strategy import GeneratedTest
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

NOT_NEW = "not new"
"""The kind of counts of what the base shows, too, by class."""
ONLY_BASE = "only in the base"
"""The kind of counts of what the base alone shows, by class: it is fixed in the other."""
ONLY_BASE_TESTS = "tests that the base alone shows"
"""The kind of counts of the tests of ``ONLY_BASE``, by their names."""
REFUSED_FILES = "files that the base alone takes"
REFUSED_TESTS = "tests that the base alone takes"
"""The kinds of counts of what the base takes and the other refuses: files and other tests, by name."""
_TAKEN = (Outcome.OK, Outcome.UNKNOWN, Outcome.INVALID_MODEL)
# A base that has not shown it by then does not show it.
_SECONDS = 5.0


def only_new(
    found: Iterable[Candidate], solvers: Sequence[Solver], stands: Callable[[], bool] = lambda: True
) -> tuple[list[Candidate], Mapping[str, Counter[str]]]:
    """The candidates of one test that may be new, and the counts of the others, by kind and class. Without a
    base, all of them are. ``stands`` says whether the base's run ends in a fresh process as it did; it is
    asked where that matters.
    """
    candidates = list(found)
    bases = {solver.name for solver in solvers if solver.is_base}
    if not bases:
        return candidates, {}
    marks = {_mark(candidate) for candidate in candidates if candidate.culprit in bases}
    counts = {NOT_NEW: Counter[str](), ONLY_BASE: Counter[str]()}
    new, matched = [], set()
    for candidate in (one for one in candidates if one.culprit not in bases):
        if candidate.culprit is not None and _mark(candidate) in marks and stands():
            counts[NOT_NEW][candidate.finding_class] += 1
            matched.add(_mark(candidate))
        else:
            new.append(candidate)
    counts[ONLY_BASE].update(finding_class for finding_class, *_ in marks - matched)
    return new, {kind: count for kind, count in counts.items() if count}


def refused_alone(
    test: GeneratedTest,
    solvers: Sequence[Solver],
    verdicts: Mapping[str, Verdict],
    runner: Runner,
    limits: Limits,
) -> Mapping[str, Counter[str]]:
    """The count of a test that the base takes and the other refuses, in a fresh process, too; else none."""
    bases = [solver for solver in solvers if solver.is_base]
    if not bases or any(verdicts[base.name].outcome not in _TAKEN for base in bases):
        return {}
    refusing = [s for s in solvers if not s.is_base and verdicts[s.name].outcome is Outcome.REFUSED]
    script = Script.of(test.text)
    with Runner(warm=False, within=runner) as fresh:
        # What cannot be spelled for a release is not its refusal.
        again = [fresh.judge(solver, script, limits) for solver in refusing if solver.can_read(script)]
    if all(verdict.outcome is not Outcome.REFUSED for verdict in again):
        return {}
    return {REFUSED_FILES if test.origin else REFUSED_TESTS: Counter([name_of(test)])}


def name_of(test: GeneratedTest) -> str:
    """What people call a test: its file, the issue that it is from, or its number."""
    of_issue = f"{test.issues[0]} (test {test.index} of {test.strategy})" if test.issues else ""
    return (test.origin and test.listed) or of_issue or f"test {test.index} of {test.strategy}"


def _mark(candidate: Candidate) -> tuple[str, ...]:
    """What two candidates of different solvers have in common if they are the same fault."""
    finding_class, _, *where = candidate.key.split("|")
    return finding_class, *where


def stands(base: Solver, script: Script, verdict: Verdict, runner: Runner, limits: Limits) -> bool:
    """Whether a fresh process of the base ends as its forked one did: some faults are in one of them only."""
    if not runner.warm or base.loadable is None:
        return True
    with Runner(warm=False, within=runner) as fresh:
        again = fresh.judge(base, script, limits)
    return (again.outcome, again.location) == (verdict.outcome, verdict.location)


def why_not_new(settled: Settled, solvers: Sequence[Solver], runner: Runner) -> str:
    """The kind of count of what was confirmed, if it is not new; empty if it is.

    ``solvers`` are those of the test, with its options.
    """
    bases = [solver for solver in solvers if solver.is_base]
    involved = [solver for solver in settled.shown.solvers if solver.is_base]
    if settled.candidate.culprit in {solver.name for solver in involved}:
        return ONLY_BASE
    expected = settled.expectation
    shown = not involved and any(
        try_other(settled.test.text, expected, expected.accused, base, _SECONDS, runner) is State.AFFECTED
        for base in bases
    )
    return NOT_NEW if shown else ""
