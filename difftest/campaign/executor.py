"""Where tasks are run: an executor takes tasks and gives results back in the order in which they come in.

Tasks and results are plain data, and ``perform`` is a plain function of a task and a runner, so that workers
on another machine stand behind the same few methods (``Executor``). They are structs of msgspec: several are
made for each test, and a frozen dataclass takes ten times as long to make.
"""

from __future__ import annotations

import contextlib
import math
import queue
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Protocol, Self, runtime_checkable

import msgspec
from msgspec import Struct

from base.errors import ExhumeError, described
from base.files import NO_SPACE, name_full_folder
from difftest.campaign.events import WorkerNotice
from difftest.campaign.modes import Options, for_test
from difftest.campaign.turns import RELATION, Needs
from difftest.oracles import PLAIN, hunting_oracles, look
from difftest.oracles.base import Candidate, Observation, observe_test
from difftest.triage.confirm import Confirmer
from difftest.triage.examine import examine
from difftest.triage.expectation import hurried
from difftest.triage.filing import Filing
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
from difftest.triage.settle import settle
from difftest.triage.store import Shown
from generator.strategy import GeneratedTest
from smtlib.mentions import theories_in
from solvers.errors import RunnerLost
from solvers.running import orphans as _orphans
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.screener import Screener
from solvers.running.script import Script
from solvers.solver import Solver

# A confirmation whose supervisor was killed is tried so often.
_TRIES = 3
_LAST_WAIT = 1.0


class TestName(Struct, frozen=True):
    """What names a test within a campaign: with the campaign's seed it can be made again anywhere.

    ``test_class`` is the part of the strategy that it was chosen for (empty where there are no parts).
    """

    # Not a test class, whatever its name makes pytest think.
    __test__: ClassVar[bool] = False

    strategy: str
    test_class: str
    index: int


Make = Callable[[TestName], GeneratedTest | None]


class RunTask(Struct, frozen=True):
    """Run all solvers on a test; those with a verdict other than timeout from an earlier stage keep it.

    ``test`` is None where the worker makes the test itself. ``counted`` is what was counted for the test
    before, per solver. ``confirms`` says that nothing is counted: only what it shows matters. ``oracles`` say
    what counts as wrong; none: the solvers' defaults; ``turn`` is one more, drawn for this test, or the one
    that the test needs (``has_needed_turn``). Where the worker makes the test, it finds that out with
    ``needs``. ``options`` are what the test adds to those of the solvers.
    """

    name: TestName
    stage: int
    limits: Limits
    test: GeneratedTest | None = None
    verdicts: Mapping[str, Verdict] = msgspec.field(default_factory=dict)
    counted: Mapping[str, Outcome] = msgspec.field(default_factory=dict)
    confirms: bool = False
    oracles: tuple[str, ...] = ()
    options: Options = ()
    turn: str = ""
    has_needed_turn: bool = False
    needs: Needs | None = None

    def with_needed_turn(self, needs: Needs, test: GeneratedTest) -> RunTask:
        """The task with the turn that its test needs, if it needs one."""
        turn = needs.choose(test)
        return msgspec.structs.replace(self, turn=turn, has_needed_turn=True) if turn else self


class RunResult(Struct, frozen=True):
    """The verdicts of all solvers, in the solvers' order, and the seconds spent in them by this task.

    ``candidates`` is what looks wrong, ``theories`` those that the test shows. ``cross_checks`` are the
    results of models that another solver checked: (owner, judge, result). ``test`` is None where nothing
    looks wrong and the task did not bring it along. ``counts`` are further ones, by kind and name.
    ``is_final``: a longer limit would not show more. ``others`` is what looks wrong on scripts that were made
    from the test. ``turn_seconds`` is what the task's turn took. ``bases`` are the names, without the options
    that the test added, of the solvers that it added some to. ``is_missing``: there is no such test.
    """

    task: RunTask
    verdicts: Mapping[str, Verdict]
    solver_seconds: float
    candidates: tuple[Candidate, ...] = ()
    theories: tuple[str, ...] = ()
    test: GeneratedTest | None = None
    cross_checks: tuple[tuple[str, str, str], ...] = ()
    counts: Mapping[str, Mapping[str, int]] = msgspec.field(default_factory=dict)
    is_final: bool = False
    turn_seconds: float = 0.0
    others: tuple[tuple[Candidate, GeneratedTest], ...] = ()
    bases: Mapping[str, str] = msgspec.field(default_factory=dict)
    is_missing: bool = False

    @property
    def judged(self) -> int:
        """How many claims of the oracle whose turn it was could be judged, right or wrong."""
        tried = self.counts.get(RELATION + self.task.turn, {})
        models = sum(what in ("confirmed", "refuted") for _, _, what in self.cross_checks)
        return models + sum(tried.get(word, 0) for word in ("held", "violated"))


class ConfirmTask(Struct, frozen=True):
    """See in fresh processes whether a candidate shows again.

    ``reduction`` is how many seconds its test may be reduced for a key that other tests share; with
    ``checks`` it ends after this number of checks instead, and no run has a time of its own. ``oracles``
    and ``options`` as for a run.
    """

    name: TestName
    test: GeneratedTest
    candidate: Candidate
    limits: Limits
    reduction: float = 0.0
    checks: int = 0
    oracles: tuple[str, ...] = ()
    options: Options = ()


class Confirmation(Struct, frozen=True):
    """The evidence for a candidate, or None if it did not show again; and its key after a quick reduction.

    ``candidate`` is the task's with what the evidence says of who is wrong; ``test`` the one that it is
    about, where that is not the task's. ``filing`` stands in the evidence's place where the finding is not
    about a formula. ``not_new``: the base shows it, too, or it alone; the kind of the count.
    """

    task: ConfirmTask
    evidence: Shown | None
    solver_seconds: float
    key: FoundKey | None = None
    candidate: Candidate | None = None
    test: GeneratedTest | None = None
    filing: Filing | None = None
    not_new: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether it showed again."""
        return self.evidence is not None or self.filing is not None


class ReduceTask(Struct, frozen=True):
    """Reduce the formula of the finding in ``folder``, for the key that it has then; the whole reduction has
    the seconds of ``limits``.
    """

    name: TestName
    folder: Path
    limits: Limits


class Reduced(Struct, frozen=True):
    """A finding was reduced, as far as it goes: what came of it stands in its folder."""

    task: ReduceTask
    solver_seconds: float


class Failure(Struct, frozen=True):
    """A bug in exhume or an error of the machine in a worker, which kept it from doing the task.

    ``text`` describes it: its traceback does not travel. ``in_making``: the strategy could not make the test.
    """

    task: RunTask | ConfirmTask | ReduceTask
    error: Exception
    text: str
    in_making: bool = False


Task = RunTask | ConfirmTask | ReduceTask
Done = RunResult | Confirmation | Reduced
Result = Done | Failure | WorkerNotice


class Executor(Protocol):
    """What runs tasks. Each task that is submitted gives one result."""

    @property
    def jobs(self) -> int:
        """How many tasks run at once, now."""
        ...

    @property
    def room(self) -> int:
        """How many tasks it takes, with those that run, so that no worker waits; may change."""
        ...

    @property
    def pending(self) -> int:
        """How many tasks have a result that is still to be collected; a result that Ctrl-C lost does not
        count."""
        ...

    @property
    def makes_tests(self) -> bool:
        """Whether workers make the tests themselves, from their names."""
        ...

    @property
    def has_folder(self) -> bool:
        """Whether workers can write in the campaign's folder."""
        ...

    def submit(self, task: Task) -> None:
        """Hand in a task; it is done when a worker is free."""
        ...

    def next_result(self, seconds: float) -> Result | None:
        """The next result, or None if there is none within ``seconds``."""
        ...


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
        expected, seconds = settled.expectation, task.reduction
        if task.checks:
            expected, seconds = replace(expected, seconds=task.limits.seconds), math.inf
        else:
            expected = hurried(expected)
        with Confirmer(expected, within=screener) as confirmer:
            if not runner.warm:
                confirmer.start_from(settled.test.text)
            key = key_of(settled.candidate, settled.test.text, confirmer, seconds, task.checks)
            spent += confirmer.seconds
    test = settled.test if settled.test is not task.test else None
    return Confirmation(task, settled.shown, spent, key, settled.candidate, test)


class LocalExecutor:
    """Worker threads of this process, each with solver processes of its own; use under ``with``."""

    makes_tests = False
    has_folder = True

    def __init__(
        self,
        solvers: Sequence[Solver],
        jobs: int = 1,
        warm: bool = True,
        own: Mapping[str, OwnTests] | None = None,
        shares: bool = True,
    ) -> None:
        self.jobs = jobs
        # What is asked about an error (older releases, say) may take long and has processes of its own: when
        # all is to stop at once, it is left behind, and ends with this process.
        self._patience = _LAST_WAIT if own else None
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Result] = queue.SimpleQueue()
        # Tasks that were handed in, and those whose result is in the queue or was collected.
        self._submitted = self._done = 0
        self._count = threading.Lock()
        self._workers = [Worker(solvers, Runner(warm), own or {}, shares=shares) for _ in range(jobs)]
        self._threads = [
            threading.Thread(target=self._work, args=(worker,), name=f"exhume-worker-{number}", daemon=True)
            for number, worker in enumerate(self._workers)
        ]

    @property
    def room(self) -> int:
        """One task more than there are workers, so that none waits for the thread that hands them out."""
        return self.jobs + 1

    @property
    def pending(self) -> int:
        """How many tasks have a result that is still to be collected."""
        with self._count:
            return self._submitted - self._done + self._results.qsize()

    def __enter__(self) -> Self:
        # What a hunt left that was killed with its supervisors.
        _orphans.kill_orphans()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # This is quick, so Ctrl-C only restarts it: no process of the pool may be left behind.
        try:
            self._end()
        except KeyboardInterrupt:
            self._end()

    def submit(self, task: Task) -> None:
        """Hand in a task; it is done when a worker is free."""
        self._tasks.put(task)
        # Ctrl-C may come in between: a task too few ends a hunt early, one too many would never end it.
        self._submitted += 1

    def next_result(self, seconds: float) -> Result | None:
        """The next result, or None if there is none within ``seconds``."""
        try:
            return self._results.get(timeout=seconds)
        except queue.Empty:
            return None

    def _end(self) -> None:
        """Drop what is not done, end what runs, and wait for the workers."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._tasks.get_nowait()
        for _ in self._threads:
            self._tasks.put(None)
        for worker in self._workers:
            worker.close()
        for thread in self._threads:
            thread.join(self._patience)

    def _work(self, worker: Worker) -> None:
        with worker.runner:
            while (task := self._tasks.get()) is not None:
                result: Result
                try:
                    result = worker.perform(task)
                except Exception as error:  # noqa: BLE001 (handed over to the thread that waits for results)
                    if isinstance(error, OSError):
                        name_full_folder(error, tempfile.gettempdir())  # workers write nowhere else
                    result = Failure(task, error, described(error))
                with self._count:
                    self._results.put(result)
                    self._done += 1
