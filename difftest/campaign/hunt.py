"""The hunt: runs tests, confirms candidates, and reports events.

One thread (the caller's, inside the generator) holds all state and makes all decisions; workers only run
tasks and return results. A test first gets a short time limit. Some of the tests that exceed it are run again
later with longer limits (``difftest.campaign.stages``), so that hard tests are neither lost nor slow down the
rest.

With the state of a campaign (``difftest.campaign.state``) the hunt commits about once a second, and before it
reports a new finding. A hunt that was killed resumes from its last commit: unfinished tests run again, and
findings that they had already shown are recognised.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from base.errors import ExhumeError, described
from base.files import name_full_folder
from base.text import counted
from difftest.campaign.book import Book
from difftest.campaign.events import (
    INTERNAL_ERRORS,
    Event,
    FindingConfirmed,
    HuntFinished,
    HuntSummary,
    Progress,
    TestDone,
    WorkerNotice,
)
from difftest.campaign.executor import Executor, LocalExecutor
from difftest.campaign.in_order import InOrder
from difftest.campaign.merging import finish_merges
from difftest.campaign.modes import DEFAULT_SHARE, ModeKind, Modes
from difftest.campaign.refusals import find_refusals
from difftest.campaign.schedule import ListedTests, Schedule, handed_out
from difftest.campaign.stages import DEFAULT_STAGES, Stage, Stages
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import Again
from difftest.campaign.tally import Tally
from difftest.campaign.tasks import (
    Confirmation,
    ConfirmTask,
    Done,
    Failure,
    Reduced,
    ReduceTask,
    Result,
    RunResult,
    RunTask,
    Task,
    TestName,
)
from difftest.campaign.turns import Turns
from difftest.errors import DifftestError, InternalErrors
from difftest.oracles import oracles_in_turn
from difftest.triage.keying import QUICK_CHECKS, QUICK_SECONDS
from difftest.triage.ledger import Ledger
from difftest.triage.merges import Merge
from difftest.triage.store import prepare_output
from generator.strategy import GeneratedTest
from solvers.running.outcomes import Outcome
from solvers.solver import Solver

# One set-aside test is tried again after this many new ones.
_FRESH_PER_RETRY = 8
_MAX_SET_ASIDE = 1_000
# The state is committed this often, or less often where commits take more than a fiftieth of the time.
_COMMIT_SECONDS = 1.0
_COMMIT_SHARE = 50
# This many bugs in exhume end the hunt: what it does then is of little use.
_MOST_BUGS = 20
# Memory is looked at this often.
_MEASURE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class HuntOptions:
    """How to hunt: at most ``tests`` tests (None: all there are) or ``seconds`` of wall time, ``jobs`` at
    once.

    ``seed`` names the run in findings and chooses which tests are set aside. ``warm=False`` starts a process
    per test and solver. ``reduction`` is how many seconds a confirmed test may be reduced to find out which
    finding it belongs to (0: not at all). ``oracles`` say what counts as wrong, as
    ``difftest.oracles.select`` gives them (none: the solvers' defaults). ``mode_share`` of the tests run one
    of the solvers under options of the kinds ``modes``, those of the names ``modes_first`` before others.
    ``paced``: the first stage's time may be shorter, following what decided tests took
    (``difftest.campaign.pace``); which tests there are does not depend on it. ``in_turn``: oracles that take
    turns do so, if none are named. ``by_work``: what there is to find does not depend on time. Results are
    taken in the order of the tests, shares of the time become shares of the tests, and quick reductions
    have a number of checks. That needs solvers whose work is limited, and stages that are long enough.
    ``ledger`` lists what is counted and not reported.
    """

    out: Path
    jobs: int = 1
    seed: int = 0
    tests: int | None = None
    seconds: float | None = None
    stages: tuple[Stage, ...] = DEFAULT_STAGES
    warm: bool = True
    reduction: float = QUICK_SECONDS
    progress_seconds: float = 0.5
    oracles: tuple[str, ...] = ()
    modes: ModeKind = ModeKind.DEFAULT
    mode_share: float = DEFAULT_SHARE
    modes_first: frozenset[str] = frozenset()
    paced: bool = False
    in_turn: bool = False
    by_work: bool = False
    ledger: Ledger | None = None


def hunt(
    tests: Iterable[GeneratedTest] | Schedule,
    solvers: Sequence[Solver],
    options: HuntOptions,
    stop: threading.Event | None = None,
    state: CampaignState | None = None,
    executor: Executor | None = None,
) -> Iterator[Event]:
    """Run ``solvers`` against each other on ``tests``, lazily; the last event is HuntFinished.

    Set ``stop`` (or interrupt the generator with Ctrl-C) to end it: what runs is finished and confirmed, and
    the summary is given; a Ctrl-C after that drops what runs. Raises BadOutput before anything is run, and
    EnvironmentProblem if a solver's library cannot be loaded. When something ends the hunt on its way (the
    disk is full, the workers are gone), the summary comes first and then the error is raised.

    ``state`` is where a campaign is kept, with a ``Schedule`` made from the same; ``executor`` runs the tests
    elsewhere than in threads of this process. Both stay open.

    A bug in exhume costs the task that shows it, with a notice; InternalErrors then comes after the summary,
    or after many of them the last one itself.
    """
    folder = prepare_output(options.out)
    if state is not None:
        finish_merges(state, folder)
    if not isinstance(tests, Schedule):
        tests = Schedule([ListedTests(tests)], options.seed, bandit=False, limit=options.tests)
    with contextlib.ExitStack() as stack:
        if executor is None:
            shares = not options.by_work
            executor = LocalExecutor(solvers, options.jobs, options.warm, tests.own, shares)
            stack.enter_context(executor)
        made = _Hunt(tests, solvers, options, folder, executor, stop or threading.Event(), state)
        yield from made.run()


def _turns(options: HuntOptions, solvers: Sequence[Solver]) -> Turns:
    if not options.in_turn:
        return Turns((), options.seed)
    # To check a proof takes seconds of several solvers, not a number of steps.
    names = (*options.oracles, "-proofs") if options.by_work else options.oracles
    by_kind = {
        kind: oracles_in_turn(names, [solver for solver in solvers if solver.kin == kind])
        for kind in {solver.kin for solver in solvers}
    }
    return Turns(oracles_in_turn(names, solvers), options.seed, by_kind)


def _nothing(task: ConfirmTask | ReduceTask) -> Confirmation | Reduced:
    """The result of a task that shows nothing."""
    return Confirmation(task, None, 0.0) if isinstance(task, ConfirmTask) else Reduced(task, 0.0)


def _confirm_with(turn: str) -> str:
    """Why a test is run again, as it is stored: without the oracle whose turn it was it may show nothing."""
    return f"confirm {turn}".rstrip()


def _in_words(problem: Exception) -> str:
    has_message = isinstance(problem, OSError | ExhumeError)
    return str(problem) if has_message else f"{type(problem).__name__}: {problem}"


class _Hunt:
    """The state of one hunt."""

    def __init__(
        self,
        schedule: Schedule,
        solvers: Sequence[Solver],
        options: HuntOptions,
        folder: Path,
        executor: Executor,
        stop: threading.Event,
        state: CampaignState | None,
    ) -> None:
        self.schedule = schedule
        self.has_tests = True
        self.options = options
        self.modes = Modes(
            *(solvers, options.modes, options.seed, options.mode_share, options.modes_first, options.by_work)
        )
        self.executor = InOrder(executor) if options.by_work else executor
        self.stop = stop
        self.state = state
        self.started = time.monotonic()
        loaded = state.loaded if state else None
        own = schedule.own.values()
        listed = options.ledger.entries if options.ledger else []
        names = [*(solver.name for solver in solvers), *(label for made in own for label in made.labels)]
        self.tally = Tally(list(dict.fromkeys(names)), loaded)
        self.earlier_solver_seconds = self.tally.solver_seconds
        self.book = Book(
            *(folder, solvers, options.seed, self.tally, options.reduction, self._worker_seconds),
            lambda name, reward: self.schedule.paid(name, 0.0, 0, 0, 1, reward=reward),
            *(loaded, Ledger([*listed, *(entry for made in own for entry in made.known)])),
        )
        self.stages = Stages(*(options.stages, options.seed, solvers, options.oracles, options.paced))
        self.turns = _turns(options, solvers)
        self.set_aside: deque[RunTask] = deque()
        # What runs: tests that were not counted yet, and those that were.
        self.fresh_running: set[TestName] = set()
        self.again_running: dict[TestName, RunTask] = {}
        self.fresh = 0
        self.interrupted = False
        self.problem: Exception | None = None
        self.bugs: list[Exception] = []
        self.committed = self.measured = self.started
        self.commit_seconds = 0.0
        for again in loaded.again if loaded else ():
            self._restore(again)

    def _restore(self, again: Again) -> None:
        name = TestName(again.strategy, again.test_class, again.index)
        stage = min(again.stage, self.stages.last)
        counted = {solver: Outcome(outcome) for solver, outcome in again.outcomes.items()}
        reason, _, turn = again.reason.partition(" ")
        confirms = reason == "confirm"
        turn = turn if turn in self.turns.names else ""  # the oracles may be others now
        limits = self.stages.limits(stage)
        self.set_aside.append(RunTask(name, stage, limits, counted=counted, confirms=confirms, turn=turn))

    def run(self) -> Iterator[Event]:
        """Feed, collect, and sum up."""
        try:
            self._commit()
            for name, refused in self.modes.refused.items():
                yield WorkerNotice(f"skipped: {counted(len(refused), 'setting')} that {name} does not know")
            yield from self._work()
            self.tally.measure()
            self._commit("interrupted" if self._is_interrupted() else "finished")
        except KeyboardInterrupt:
            self.interrupted = True
        except Exception as problem:
            # An error before the first test has nothing to sum up.
            if not self.tally.tests:
                raise
            self.problem = problem
            # What was being taken or stored then is not stored: as after a kill, it is done again.
            with contextlib.suppress(OSError, DifftestError):
                if self.state is not None:
                    self.state.end(_in_words(problem))
        yield HuntFinished(self.summary())
        if self.problem:
            raise self.problem
        if self.bugs:
            raise InternalErrors(
                f"{counted(len(self.bugs), 'task')} {'was' if len(self.bugs) == 1 else 'were'} left out"
                " because of bugs in exhume (the first:"
                f" {type(self.bugs[0]).__name__}); please report the tracebacks above"
            )

    def _work(self) -> Iterator[Event]:
        shown = self.started
        while True:
            try:
                self._feed()
                for note in self.schedule.take_notes():
                    yield WorkerNotice(note)
                if self.executor.pending <= 0:
                    break
                result = self.executor.next_result(self.options.progress_seconds)
            except KeyboardInterrupt:
                if self._is_interrupted():
                    break
                self.interrupted = True
                self.stop.set()
                continue
            if result is not None:
                yield from self._take(result)
            now = time.monotonic()
            if now - self.committed >= max(_COMMIT_SECONDS, _COMMIT_SHARE * self.commit_seconds):
                self._commit()
            if now - shown >= self.options.progress_seconds:
                shown = now
                yield self._progress()

    def _is_interrupted(self) -> bool:
        return self.interrupted or self.stop.is_set()

    def _worker_seconds(self) -> float:
        """How much time the workers had in this run; without end where time does not count."""
        passed = math.inf if self.options.by_work else time.monotonic() - self.started
        return max(1, self.executor.jobs) * passed

    def _solver_seconds(self) -> float:
        """What solvers took in this run: what is compared with it begins with each run, too."""
        return self.tally.solver_seconds - self.earlier_solver_seconds

    def summary(self) -> HuntSummary:
        """What has come of it so far."""
        return HuntSummary(**self._totals())

    def _totals(self) -> dict[str, Any]:
        """The fields of a summary."""
        same = ("tests", "decided", "solver_seconds", "outcomes", "duplicates", "unconfirmed", "cross_checks")
        return {
            **{name: getattr(self.tally, name) for name in (*same, "statistics")},
            "seconds": self.tally.earlier_seconds + time.monotonic() - self.started,
            "findings": tuple(self.book.records.values()),
            "interrupted": self._is_interrupted(),
            "problem": _in_words(self.problem) if self.problem else None,
            "refusals": tuple(find_refusals(self.tally.outcomes, self.tally.refusals)),
            "arms": tuple(self.schedule.arms()),
        }

    def _progress(self) -> Progress:
        now = time.monotonic()
        if now - self.measured >= _MEASURE_SECONDS or not self.tally.memory:
            self.measured = now
            self.tally.measure()
        return Progress(
            **self._totals(),
            now=now - self.started,
            new_in_hour=self.tally.found_in_hour(),
            waiting=len(self.set_aside),
            confirming=self.book.confirming,
            jobs=self.executor.jobs,
            memory=self.tally.memory,
        )

    def _commit(self, ending: str | None = None) -> None:
        """Store what happened since the last commit, if there is where to."""
        self.committed = time.monotonic()
        if self.state is None:
            return
        self.state.commit(
            self.tally.take(),
            self.committed - self.started,
            self.schedule.arms(),
            handed_out((*self.fresh_running, *self.schedule.reopened())),
            self._again(),
            ending,
        )
        self.commit_seconds = time.monotonic() - self.committed

    def _again(self) -> Iterator[Again]:
        """The tests that are to be run again though they are counted."""
        for name, turn in self.book.pending().items():
            reason = _confirm_with(turn)
            yield Again(name.strategy, name.test_class, name.index, self.stages.last, {}, reason)
        for task in (*self.set_aside, *self.again_running.values()):
            counted = {solver: outcome.value for solver, outcome in task.counted.items()}
            reason = _confirm_with(task.turn) if task.confirms else "later"
            yield Again(
                task.name.strategy, task.name.test_class, task.name.index, task.stage, counted, reason
            )

    def _feed(self) -> None:
        while self.executor.pending < max(1, self.executor.room):
            task = self._next_task()
            if task is None:
                return
            if not isinstance(task, ReduceTask):
                name = task.name
                options = self.modes.choose(name.strategy, name.test_class, name.index)
                task = replace(task, oracles=self.options.oracles, options=options)
                if isinstance(task, ConfirmTask) and self.options.by_work:
                    task = replace(task, checks=QUICK_CHECKS)
                if isinstance(task, RunTask) and not task.confirms:
                    task = self._with_turn(task)
            self.executor.submit(task)

    def _with_turn(self, task: RunTask) -> RunTask:
        number = self._number_of(task.name) if self.options.by_work else None
        needs, drawn = self.turns.needs(number), self.turns.draw(self._solver_seconds(), number)
        task = replace(task, turn=drawn, has_needed_turn=False)
        if task.test is None:
            return replace(task, needs=needs)
        return task.with_needed_turn(needs, task.test)

    def _number_of(self, name: TestName) -> int:
        """A number that looks drawn and is the same for a test however many run at once."""
        return zlib.crc32(f"{self.options.seed} {name.strategy} {name.index}".encode())

    def _next_task(self) -> Task | None:
        confirm = self.book.next_task(self.stages.confirming)
        if confirm is not None:
            return confirm
        if self._is_over():
            return None
        if self._reduces and (reduction := self.book.next_reduction()) is not None:
            return reduction
        retries = not self.has_tests or self.fresh % (_FRESH_PER_RETRY + 1) == _FRESH_PER_RETRY
        if retries and (again := self._next_set_aside()) is not None:
            self.fresh += 1
            return again
        began = time.monotonic()
        taken = self.schedule.next(made=not self.executor.makes_tests) if self.has_tests else None
        if taken is None:
            self.has_tests = False
            return self._next_set_aside()
        self.fresh += 1
        name, test = taken
        making = time.monotonic() - began
        self.schedule.paid(name, 0.0, 0, 0, 0, making)
        self.tally.charge(name.strategy, "making", making)
        self.fresh_running.add(name)
        stage = min(1, self.stages.last) if name.strategy in self.schedule.first else 0
        return RunTask(name, stage, self.stages.limits(stage), test)

    @property
    def _reduces(self) -> bool:
        """Whether findings may be reduced while the hunt runs: that takes seconds, not a number of checks."""
        return self.executor.has_folder and not self.options.by_work

    def _next_set_aside(self) -> Task | None:
        while self.set_aside:
            task = self.set_aside.popleft()
            test = task.test
            if test is None and not self.executor.makes_tests:
                test = self.schedule.make_again(task.name)
                if test is None:
                    continue
            self.again_running[task.name] = task
            return replace(task, test=test)
        return None

    def _is_over(self) -> bool:
        end = self.options.seconds
        return self.stop.is_set() or (end is not None and time.monotonic() - self.started >= end)

    def _take(self, result: Result) -> Iterator[Event]:
        if isinstance(result, WorkerNotice):
            yield result
            return
        if isinstance(result, Failure):
            if result.in_making and isinstance(result.task, RunTask):
                self._give_back(result.task)
                self.schedule.failed(result.task.name, result.error, result.text)
                return
            if isinstance(result.error, OSError | ExhumeError):
                raise result.error
            yield self._note_bug(result.error, result.text)
            if isinstance(result.task, RunTask):
                self._done(result.task)
                self._end_if_many()
                return
            result = _nothing(result.task)
        self.tally.spend(result.solver_seconds)
        # A result is processed in full before its first event is yielded, because the consumer may stop at
        # any event. Findings written before a disk was full are reported, too: their folders are complete.
        events: list[Event] = []
        problem: Exception | None = None
        try:
            for event in self._events_of(result):
                events.append(event)  # noqa: PERF402 - what came before an error stays
            if any(isinstance(event, FindingConfirmed) and not event.record.known for event in events):
                if isinstance(result, Confirmation):
                    self.turns.found(result.task.candidate.oracle)
                self._commit()
            if self.state is not None and (merges := [event for event in events if isinstance(event, Merge)]):
                self._commit()
                for found in merges:
                    self.state.merge(found.kept, found.gone.id, found.gone.key)
        except (OSError, ExhumeError) as error:
            if isinstance(error, OSError):
                name_full_folder(error, self.book.folder)
            problem = error
        except Exception as error:  # noqa: BLE001 (like one in a worker, it costs what it came with)
            events.append(self._note_bug(error, described(error)))
        yield from events
        if problem is not None:
            raise problem
        self._end_if_many()

    def _note_bug(self, error: Exception, text: str) -> Event:
        """A bug in exhume keeps us from doing a task: that must not end a hunt of days, nor be silent."""
        self.bugs.append(error)
        self.tally.add(INTERNAL_ERRORS, {type(error).__name__: 1})
        return WorkerNotice(f"a task of this hunt is left out: {text}")

    def _end_if_many(self) -> None:
        if len(self.bugs) >= _MOST_BUGS:
            # What they kept from being done is not to be done again.
            self._commit()
            raise self.bugs[-1]

    def _events_of(self, result: Done) -> Iterator[Event]:
        if isinstance(result, Confirmation):
            # To confirm is a part of what a finding costs, and of what a candidate costs that is none.
            name = result.task.name
            self.schedule.paid(name, result.solver_seconds, 0, 0, 0)
            self.tally.charge(name.strategy, "confirming", result.solver_seconds)
            return self.book.take_confirmation(result)
        return self.book.take_reduction(result) if isinstance(result, Reduced) else self._take_run(result)

    def _done(self, task: RunTask) -> None:
        self.fresh_running.discard(task.name)
        self.again_running.pop(task.name, None)

    def _give_back(self, task: RunTask) -> None:
        """There is no such test: another one takes its place."""
        if task.name in self.fresh_running:
            self.schedule.give_back()
            self.has_tests = True
        self._done(task)

    def _take_run(self, result: RunResult) -> Iterator[Event]:
        task = result.task
        self.turns.pay(task.turn, result.turn_seconds, result.judged, task.has_needed_turn)
        if result.is_missing:
            self._give_back(task)
            self.schedule.exhausted(task.name)
            return
        self._done(task)
        # A test may be for none of the solvers.
        decided = bool(result.verdicts) and all(verdict.is_decided for verdict in result.verdicts.values())
        if decided:
            self.stages.decided(result)
        if not task.confirms:
            later = self.stages.later(result, self._solver_seconds())
            if later is not None and len(self.set_aside) < _MAX_SET_ASIDE:
                self.set_aside.append(later)
            first = not task.counted
            self.schedule.paid(task.name, result.solver_seconds, int(first), int(decided), 0)
            self.tally.charge(task.name.strategy, "running", result.solver_seconds)
        # What a stage shows is followed up at once; the counts below are of the last one only.
        if result.test is not None:
            for candidate in result.candidates:
                yield from self.book.take(task.name, candidate, result.test, task.stage, task.turn)
        for candidate, test in result.others:
            yield from self.book.take(task.name, candidate, test, task.stage, task.turn)
        if not task.confirms:
            self.tally.count(result, decided)
            yield TestDone(task.name.index, result.verdicts, decided, task.stage, task.name.strategy)
