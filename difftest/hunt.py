"""The hunt: tests go to the solvers, what looks wrong is confirmed, and events tell of it.

One thread (the caller's, inside the generator) holds all state and decides; workers only run what they are
given and hand back what came of it. A test first gets a short limit; of those that run out of it, a share
chosen by seed and index is set aside and tried again with longer ones, so that hard tests neither starve the
rest nor go unseen.
"""

from __future__ import annotations

import hashlib
import itertools
import shutil
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from difftest.events import (
    CandidateDropped,
    DuplicateSeen,
    Event,
    FindingConfirmed,
    HuntFinished,
    HuntSummary,
    Progress,
    TestDone,
)
from difftest.executor import Confirmation, ConfirmTask, Failure, LocalExecutor, RunResult, RunTask
from difftest.findings import Candidate, find_candidates
from difftest.fingerprint import QUICK_SECONDS, fold, needs_reduction
from difftest.folders import (
    FindingRecord,
    note_duplicate,
    prepare_output,
    read_findings,
    working_folder,
    write_finding,
)
from difftest.outcomes import Outcome
from difftest.process import Limits
from difftest.solvers import Solver
from generator.strategy import GeneratedTest

# One set-aside test is tried again after so many new ones.
_FRESH_PER_RETRY = 8
_MAX_SET_ASIDE = 1_000
_MAX_WAITING = 20
_CONFIRM_SECONDS = 10.0
# So many tests with the same key before reduction are reduced: they may have different causes.
_LOOKS = 3
# Reducing others than the first one of a key may take so much of the workers' time.
_LOOK_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Stage:
    """A time limit per solver and test, and the ``share`` of the tests undecided before that get it."""

    seconds: float
    share: float


# Nine in ten of the tests that are decided at all are decided within 50 ms (measured on generated tests), so
# the first limit is short; the others keep the hard tests in the hunt for about a quarter of its time.
DEFAULT_STAGES = (Stage(0.1, 1.0), Stage(1.0, 0.06), Stage(10.0, 0.08))


@dataclass(frozen=True, slots=True)
class HuntOptions:
    """How to hunt: at most ``tests`` tests (None: all there are) or ``seconds`` of wall time, ``jobs`` at
    once.

    ``seed`` names the run in findings and chooses which tests are set aside. ``limits.seconds`` is not used:
    ``stages`` hold the times. ``warm=False`` starts a process per test and solver. ``reduction`` is how many
    seconds a confirmed test may be reduced to find out which finding it belongs to (0: not at all).
    """

    out: Path
    jobs: int = 1
    seed: int = 0
    tests: int | None = None
    seconds: float | None = None
    stages: tuple[Stage, ...] = DEFAULT_STAGES
    limits: Limits = field(default_factory=Limits)
    warm: bool = True
    reduction: float = QUICK_SECONDS
    progress_seconds: float = 0.5


def hunt(
    tests: Iterable[GeneratedTest],
    solvers: Sequence[Solver],
    options: HuntOptions,
    stop: threading.Event | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Event]:
    """Run ``solvers`` against each other on ``tests``, lazily; the last event is HuntFinished.

    Set ``stop`` (or interrupt the generator with Ctrl-C) to end it: what runs is finished and confirmed, and
    the summary is given; a second Ctrl-C drops what runs. Raises BadOutput before anything is run, and
    EnvironmentProblem if a solver's library cannot be loaded.
    """
    folder = prepare_output(options.out)
    with LocalExecutor(solvers, options.jobs, options.warm) as executor:
        yield from _Hunt(tests, solvers, options, folder, executor, stop or threading.Event(), clock).run()


class _Hunt:
    """The state of one hunt."""

    def __init__(
        self,
        tests: Iterable[GeneratedTest],
        solvers: Sequence[Solver],
        options: HuntOptions,
        folder: Path,
        executor: LocalExecutor,
        stop: threading.Event,
        clock: Callable[[], float],
    ) -> None:
        self.source: Iterator[GeneratedTest] | None = itertools.islice(tests, options.tests)
        self.solvers = solvers
        self.options = options
        self.folder = folder
        self.executor = executor
        self.stop = stop
        self.clock = clock
        self.started = clock()
        self.known = {record.key: record for record in read_findings(folder)}
        self.records: dict[str, FindingRecord] = {}
        self.set_aside: deque[RunTask] = deque()
        self.to_confirm: deque[tuple[Candidate, GeneratedTest]] = deque()
        self.waiting: dict[str, deque[tuple[Candidate, GeneratedTest]]] = {}
        # What reduction made of the keys that tests show at first, and how many of each were reduced.
        self.folded: dict[str, str] = {}
        self.looks: Counter[str] = Counter()
        self.confirm_seconds = 0.0
        self.numbers = itertools.count()
        self.fresh = 0
        self.running = 0
        self.tests = self.decided = self.duplicates = self.unconfirmed = 0
        self.solver_seconds = 0.0
        self.outcomes: dict[str, Counter[Outcome]] = {solver.name: Counter() for solver in solvers}
        self.interrupted = False

    def run(self) -> Iterator[Event]:
        """Feed, collect, and sum up."""
        shown = self.started
        while True:
            try:
                self._feed()
                if not self.running:
                    break
                result = self.executor.next_result(self.options.progress_seconds)
            except KeyboardInterrupt:
                if self.interrupted:
                    break
                self.interrupted = True
                self.stop.set()
                continue
            if result is not None:
                self.running -= 1
                yield from self._take(result)
            if self.clock() - shown >= self.options.progress_seconds:
                shown = self.clock()
                yield Progress(self.tests, self.decided, len(self.records), shown - self.started)
        yield HuntFinished(self.summary())

    def summary(self) -> HuntSummary:
        """What has come of it so far."""
        return HuntSummary(
            self.tests,
            self.decided,
            self.clock() - self.started,
            self.solver_seconds,
            self.outcomes,
            tuple(self.records.values()),
            self.duplicates,
            self.unconfirmed,
            self.interrupted or self.stop.is_set(),
        )

    def _feed(self) -> None:
        # One task more than there are workers, so that none waits for this thread.
        while self.running <= self.executor.jobs:
            task = self._next_task()
            if task is None:
                return
            self.executor.submit(task)
            self.running += 1

    def _next_task(self) -> RunTask | ConfirmTask | None:
        if self.to_confirm:
            candidate, test = self.to_confirm.popleft()
            work = working_folder(self.folder, next(self.numbers))
            longest = max(stage.seconds for stage in self.options.stages)
            limits = replace(self.options.limits, seconds=max(_CONFIRM_SECONDS, 2 * longest))
            return ConfirmTask(test, candidate, work, limits, self.options.reduction)
        if self._is_over():
            self.source = None
            self.set_aside.clear()
            return None
        if self.set_aside and (
            self.source is None or self.fresh % (_FRESH_PER_RETRY + 1) == _FRESH_PER_RETRY
        ):
            self.fresh += 1
            return self.set_aside.popleft()
        test_or_none = next(self.source, None) if self.source else None
        if test_or_none is None:
            self.source = None
            return self.set_aside.popleft() if self.set_aside else None
        self.fresh += 1
        return RunTask(test_or_none, 0, self._limits(0))

    def _is_over(self) -> bool:
        if self.stop.is_set():
            return True
        return self.options.seconds is not None and self.clock() - self.started >= self.options.seconds

    def _limits(self, stage: int) -> Limits:
        return replace(self.options.limits, seconds=self.options.stages[stage].seconds)

    def _take(self, result: RunResult | Confirmation | Failure) -> Iterator[Event]:
        if isinstance(result, Failure):
            raise result.error
        self.solver_seconds += result.solver_seconds
        if isinstance(result, Confirmation):
            yield from self._take_confirmation(result)
        else:
            yield from self._take_run(result)

    def _take_run(self, result: RunResult) -> Iterator[Event]:
        later = self._later(result)
        if later is not None and len(self.set_aside) < _MAX_SET_ASIDE:
            self.set_aside.append(later)
        # What a stage shows is followed up at once; the counts below are of the last one only.
        test = result.task.test
        for candidate in find_candidates(test.text, self.solvers, result.verdicts, test.known):
            yield from self._take_candidate(candidate, test)
        if result.task.stage == 0:
            yield from self._count(result, 1)
        else:
            yield from self._recount(result)

    def _count(self, result: RunResult, step: int) -> Iterator[Event]:
        self.tests += step
        decided = all(verdict.is_decided for verdict in result.verdicts.values())
        self.decided += step * decided
        for name, verdict in result.verdicts.items():
            self.outcomes[name][verdict.outcome] += step
        yield TestDone(result.task.test.index, result.verdicts, decided, result.task.stage)

    def _recount(self, result: RunResult) -> Iterator[Event]:
        """Replace what an earlier stage counted by what this one found."""
        for name, verdict in result.task.verdicts.items():
            self.outcomes[name][verdict.outcome] -= 1
        self.tests -= 1
        yield from self._count(result, 1)

    def _later(self, result: RunResult) -> RunTask | None:
        """The same test with the next limit, if more time may decide it and its lot is drawn."""
        stage = result.task.stage + 1
        verdicts = result.verdicts.values()
        useful = all(v.is_decided or v.outcome is Outcome.TIMEOUT for v in verdicts)
        late = any(v.outcome is Outcome.TIMEOUT for v in verdicts)
        if not (useful and late) or stage >= len(self.options.stages):
            return None
        if _lot(self.options.seed, result.task.test.index, stage) >= self.options.stages[stage].share:
            return None
        return RunTask(result.task.test, stage, self._limits(stage), dict(result.verdicts))

    def _take_candidate(self, candidate: Candidate, test: GeneratedTest) -> Iterator[Event]:
        key = self.folded.get(candidate.key, candidate.key)
        record = self.records.get(key)
        if record is None and key in self.known:
            yield FindingConfirmed(self._recognise(key), test.index)
        elif record is not None and not self._is_worth_a_look(candidate):
            yield self._duplicate(record, test)
        elif candidate.key in self.waiting:
            # Its first trigger is being confirmed; this one steps in if that fails.
            if len(self.waiting[candidate.key]) < _MAX_WAITING:
                self.waiting[candidate.key].append((candidate, test))
        else:
            self.waiting[candidate.key] = deque()
            self.to_confirm.append((candidate, test))

    def _is_worth_a_look(self, candidate: Candidate) -> bool:
        """Whether reduction may tell that it has another cause than the finding of the same first key."""
        if self.options.reduction <= 0 or not needs_reduction(candidate):
            return False
        allowed = _LOOK_SHARE * self.options.jobs * (self.clock() - self.started)
        return self.looks[candidate.key] < _LOOKS and self.confirm_seconds <= allowed

    def _recognise(self, key: str) -> FindingRecord:
        """The finding of an earlier hunt, now seen in this one, too."""
        record = self.records[key] = self.known[key]
        return record

    def _take_confirmation(self, result: Confirmation) -> Iterator[Event]:
        candidate, test = result.task.candidate, result.task.test
        self.confirm_seconds += result.solver_seconds
        waiting = self.waiting.pop(candidate.key, deque())
        if result.evidence is None:
            shutil.rmtree(result.task.work, ignore_errors=True)
            self.unconfirmed += 1
            yield CandidateDropped(candidate, test.index)
            if waiting:
                self.to_confirm.append(waiting.popleft())
                self.waiting[candidate.key] = waiting
            return
        self.looks[candidate.key] += 1
        first_key = candidate.key
        if result.fingerprint is not None:
            candidate = replace(candidate, key=fold(result.fingerprint, [*self.records, *self.known]))
            self.folded.setdefault(first_key, candidate.key)
        record = self.records.get(candidate.key)
        if record is not None:
            shutil.rmtree(result.task.work, ignore_errors=True)
            yield self._duplicate(record, test)
        elif candidate.key in self.known:
            shutil.rmtree(result.task.work, ignore_errors=True)
            yield FindingConfirmed(self._recognise(candidate.key), test.index)
        else:
            record = write_finding(
                result.task.work, self.folder, candidate, test, result.evidence, self.options.seed
            )
            self.records[candidate.key] = record
            yield FindingConfirmed(record, test.index)
        if waiting and self._is_worth_a_look(waiting[0][0]):
            self.to_confirm.append(waiting.popleft())
            self.waiting[first_key] = waiting
            return
        record = self.records[candidate.key]
        for _, other in waiting:
            yield self._duplicate(record, other)

    def _duplicate(self, record: FindingRecord, test: GeneratedTest) -> Event:
        self.duplicates += 1
        note_duplicate(record, test.index)
        return DuplicateSeen(record, test.index)


def _lot(seed: int, index: int, stage: int) -> float:
    """A number in [0, 1) that depends on nothing but its arguments."""
    digest = hashlib.sha256(f"{seed}/{index}/{stage}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
