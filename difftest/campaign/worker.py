"""What a worker does with a task: it runs a test, confirms a candidate, or reduces a finding.

``perform`` is a plain function of a task and a runner, wherever it runs.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import msgspec

from base.errors import ExhumeError, described
from base.files import NO_SPACE
from difftest.campaign.modes import Options, for_test
from difftest.campaign.tasks import (
    Confirmation,
    ConfirmTask,
    Done,
    Failure,
    Reduced,
    ReduceTask,
    RunResult,
    RunTask,
    Task,
    TestName,
)
from difftest.campaign.turns import RELATION
from difftest.oracles import PLAIN, hunting_oracles, look
from difftest.oracles.base import Candidate, Observation, observe_test
from difftest.triage.confirm import Confirmer
from difftest.triage.examine import examine
from difftest.triage.expectation import hurried
from difftest.triage.key import FoundKey, needs_reduction
from difftest.triage.keying import key_of
from difftest.triage.ledger import Entry
from difftest.triage.newness import (
    ONLY_BASE,
    ONLY_BASE_TESTS,
    name_of,
    only_new,
    refused_alone,
    stands,
    why_not_new,
)
from difftest.triage.reduce import reduce
from difftest.triage.settle import Settled, settle
from difftest.triage.stacks import key_by_function
from generator.strategy import GeneratedTest
from smtlib.mentions import theories_in
from solvers.errors import RunnerLost
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.runner import Runner
from solvers.running.screener import Screener
from solvers.running.script import Script
from solvers.solver import Solver

# How often a confirmation is tried if its supervisor is killed.
_TRIES = 3
Make = Callable[[TestName], GeneratedTest | None]


class Performer(Protocol):
    """Runs tests that are not formulas, for one worker; used from one thread, but for ``close``."""

    def run(self, task: RunTask) -> RunResult:
        """Run a test."""
        ...

    def confirm(self, task: ConfirmTask) -> Confirmation:
        """See in fresh processes whether a candidate shows again."""
        ...

    def close(self) -> None:
        """End the runs in progress, and their processes."""
        ...


@runtime_checkable
class OwnTests(Protocol):
    """A strategy whose tests are not formulas that solvers are given: it says how they are run."""

    name: str

    @property
    def labels(self) -> Sequence[str]:
        """What counts call the solvers that its tests run."""
        ...

    @property
    def known(self) -> Sequence[Entry]:
        """Errors that are no findings."""
        ...

    def performer(self) -> Performer:
        """What runs its tests in one worker."""
        ...


class Worker:
    """Performs tasks one after the other. ``own`` are the strategies, by name, that run their tests
    themselves; ``make`` makes tests for tasks that do not bring them. ``shares``: tests share processes, so
    that what one shows may depend on those before it.
    """

    def __init__(
        self,
        solvers: Sequence[Solver],
        runner: Runner,
        own: Mapping[str, OwnTests],
        make: Make | None = None,
        shares: bool = True,
    ) -> None:
        self.runner = runner
        self._screener = Screener(runner) if shares else runner
        self._solvers = solvers
        self._own = own
        self._make = make
        self._performers: dict[str, Performer] = {}

    def perform(self, task: Task) -> Done | Failure:
        """Run a test, confirm a candidate, or reduce a finding, whichever ``task`` is."""
        if isinstance(task, ReduceTask):
            return _reduce(task, self.runner)
        if (strategy := self._own.get(task.name.strategy)) is None:
            return perform(task, self._solvers, self.runner, self._make, self._screener)
        performer = self._performers.get(strategy.name)
        if performer is None:
            performer = self._performers[strategy.name] = strategy.performer()
        return performer.confirm(task) if isinstance(task, ConfirmTask) else performer.run(task)

    def close(self) -> None:
        """End what runs; may be called from another thread."""
        self.runner.close()
        for performer in list(self._performers.values()):
            performer.close()


def _reduce(task: ReduceTask, runner: Runner) -> Reduced:
    started = time.monotonic()
    try:
        reduce(task.folder, seconds=task.limits.seconds, ddsmt=False, within=runner)
    except ExhumeError:
        pass  # it does not show it again, or its solver or folder is gone: then it stays as it is
    except OSError as problem:
        if problem.errno in NO_SPACE:
            raise
    return Reduced(task, time.monotonic() - started)


def perform(
    task: RunTask | ConfirmTask,
    solvers: Sequence[Solver],
    runner: Runner,
    make: Make | None = None,
    screener: Runner | None = None,
) -> RunResult | Confirmation | Failure:
    """Do one task; ``make`` is for those that do not bring their test.

    The ``screener`` (default: ``runner``) runs tests and what they are reduced to; ``runner`` confirms.
    """
    if isinstance(task, ConfirmTask):
        return _confirm(task, _solvers_for(task.test, task.options, solvers), runner, screener or runner)
    try:
        test = task.test or (make(task.name) if make else None)
    except OSError:
        raise  # the machine is at fault
    except Exception as error:  # noqa: BLE001 (handed over, as the hunt can do without this strategy)
        return Failure(task, error, described(error), in_making=True)
    if test is None:
        return RunResult(task, {}, 0.0, is_missing=True)
    if task.needs is not None:
        task = task.with_needed_turn(task.needs, test)
    return _run(task, test, _solvers_for(test, task.options, solvers), screener or runner)


def _solvers_for(test: GeneratedTest, options: Options, solvers: Sequence[Solver]) -> Sequence[Solver]:
    """The solvers that the test is for, with the options for it."""
    chosen = for_test(solvers, options, test.options)
    return [solver for solver in chosen if not test.only or solver.kin in test.only]


def _run(task: RunTask, test: GeneratedTest, solvers: Sequence[Solver], runner: Runner) -> RunResult:
    script = Script.of(test.text)
    verdicts: dict[str, Verdict] = {}
    spent = 0.0
    for solver in solvers:
        earlier = task.verdicts.get(solver.name)
        if earlier is not None and earlier.outcome is not Outcome.TIMEOUT:
            verdicts[solver.name] = earlier
            continue
        verdict = runner.judge(solver, script, task.limits)
        verdicts[solver.name] = verdict
        spent += verdict.seconds
    names = hunting_oracles(task.oracles, solvers, task.turn)
    candidates, seen, extra = examine(observe_test(test, solvers, verdicts), names, runner, task.limits)
    bases = [solver for solver in solvers if solver.is_base]
    found, old = only_new(
        candidates,
        solvers,
        lambda: all(stands(base, script, verdicts[base.name], runner, task.limits) for base in bases),
    )
    kept = test if found else task.test
    results = tuple(
        (cross_check.owner, judge, what)
        for cross_check in seen.cross_checks
        for judge, what in cross_check.results()
    )
    theories = theories_in(test.text)
    counts = {
        **{RELATION + name: tried for name, tried in seen.tried.items() if tried},
        **old,
        **({ONLY_BASE_TESTS: {name_of(test): 1}} if ONLY_BASE in old else {}),
        **refused_alone(test, solvers, verdicts, runner, task.limits),
    }
    result = RunResult(task, verdicts, spent + extra, tuple(found), theories, kept, results, counts)
    took = seen.probed.get(task.turn, 0.0)
    own = {solver.name: solver.base_name for solver in solvers if solver.mode}
    others = tuple(_others(seen, test))
    return msgspec.structs.replace(result, turn_seconds=took, others=others, bases=own)


def _others(seen: Observation, test: GeneratedTest) -> Iterator[tuple[Candidate, GeneratedTest]]:
    """What a solver did wrong, by itself, on scripts that a relation made from the test."""
    for name, text, verdict in seen.failed:
        other = msgspec.structs.replace(test, text=text, known=(), implied_by=None, implies=None)
        for candidate in look(observe_test(other, [seen.solver(name)], {name: verdict}), PLAIN):
            yield candidate, other


def _confirm(task: ConfirmTask, solvers: Sequence[Solver], runner: Runner, screener: Runner) -> Confirmation:
    """Confirm, and find the key; again where the process that runs the solvers was killed meanwhile."""
    settled, spent, key = None, 0.0, None
    for _ in range(_TRIES):
        with contextlib.suppress(RunnerLost):
            settled, spent = settle(task.candidate, task.test, solvers, task.limits, runner)
            break
    if settled is None:
        return Confirmation(task, None, spent)
    if old := why_not_new(settled, solvers, runner):
        return Confirmation(task, settled.shown, spent, candidate=settled.candidate, not_new=old)
    if task.reduction > 0 and needs_reduction(settled.candidate):
        key, took = _key(task, settled, runner, screener)
        spent += took
    test = settled.test if settled.test is not task.test else None
    return Confirmation(task, settled.shown, spent, key, settled.candidate, test)


def _key(task: ConfirmTask, settled: Settled, runner: Runner, screener: Runner) -> tuple[FoundKey, float]:
    """The key of what was settled, and the seconds of solvers that it took."""
    candidate, text = settled.candidate, settled.test.text
    expected, seconds = settled.expectation, task.reduction
    if task.checks:
        expected, seconds = replace(expected, seconds=task.limits.seconds), math.inf
    else:
        expected = hurried(expected)
    with Confirmer(expected, within=screener) as confirmer:
        if not runner.warm:
            confirmer.start_from(text)
        key = key_of(candidate, text, confirmer, seconds, task.checks)
    began = time.monotonic()
    # What is left may kill only the library in which it was reduced.
    found = (key_by_function(candidate, expected, shown, runner) for shown in dict.fromkeys((key.text, text)))
    if by_function := next(filter(None, found), None):
        key = key.with_function(by_function)
    return key, confirmer.seconds + time.monotonic() - began
