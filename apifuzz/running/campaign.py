"""A campaign: runs drawn one after the other, their errors confirmed, told apart and filed.

A run is named by the campaign's seed and its number, so any of them can be made again. Counts and what is
done stand in a file of the campaign's folder: the same campaign goes on where it was, also after a kill.
"""

from __future__ import annotations

import contextlib
import functools
import os
import queue
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from apifuzz.running import tally as counts
from apifuzz.running.examine import QUICK_SECONDS, Examined, examine
from apifuzz.running.faults import Fault
from apifuzz.running.findings import Description, Seen, file_finding
from apifuzz.running.folder import CallsFolder
from apifuzz.running.keys import needs_operators, shipped, stem_of
from apifuzz.running.runs import RUN_LIMITS, Drawing, Runner, RunResult, run_seed
from apifuzz.running.setup import Setup
from apifuzz.running.tally import Tally, called
from apifuzz.trace import Trace
from base.documents import to_document
from base.files import name_full_folder
from base.version import VERSION
from difftest.campaign.state import lock_campaign
from difftest.errors import DifftestError
from difftest.triage.key import fold
from difftest.triage.known import KnownErrors, export
from difftest.triage.store import FindingRecord, note_duplicate, prepare_output, read_findings
from solvers.running.process import Limits

KNOWN = "known.json"
"""The errors found, as a list for ``--known``."""

# Errors that begin alike (same kind, place, message) may have different causes: so many are looked at.
_LOOKS = 3
# Of errors that begin alike and did not show again, so many are looked at.
_MISSES = 5
_SAVE_SECONDS = 2.0
_PROGRESS_SECONDS = 0.25
_WAIT = 0.2
_LAST_WAIT = 1.0
_MOST_UNCONFIRMED = 20
_MOST_DUPLICATES = 1000


@dataclass(frozen=True, slots=True)
class Options:
    """How to run a campaign: ``runs`` of the whole campaign or ``seconds`` of this part of it (None: no end).

    ``leaks``: every so many runs one is repeated to see whether it leaks (0: none). ``quick`` is how many
    seconds a confirmed error is minimised at once. ``describe`` makes further texts of a finding from its
    minimised trace, by file name.
    """

    out: Path
    seed: int = 1
    runs: int | None = None
    seconds: float | None = None
    jobs: int = 1
    limits: Limits = RUN_LIMITS
    leaks: int = 50
    quick: float = QUICK_SECONDS
    known: tuple[Path, ...] = ()
    corpus: Path | None = None
    describe: Callable[[Runner, Trace, Fault], Description] = lambda runner, trace, fault: Description()


@dataclass(frozen=True, slots=True)
class Summary:
    """What a campaign came to, or where it stands: counts of all of it; ``here`` are those of this part."""

    tally: Tally
    findings: tuple[FindingRecord, ...]
    seconds: float
    here: int = 0
    interrupted: bool = False
    finished: bool = False

    @property
    def new(self) -> int:
        """How many findings earlier parts had not found."""
        return sum(not finding.known for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The document that ``apifuzz --json`` prints."""
        tally, seconds = self.tally, max(self.tally.seconds, 1e-9)
        return {
            "runs": tally.runs,
            "calls": tally.calls,
            "seconds": round(tally.seconds, 3),
            "runs_per_second": round(tally.runs / seconds, 2),
            "calls_per_second": round(tally.calls / seconds, 1),
            "outcomes": dict(sorted(tally.outcomes.items())),
            "answers": dict(sorted(tally.statistics["answers"].items())),
            "errors": dict(sorted(tally.errors.items())),
            "duplicates": tally.duplicates,
            "known": tally.known,
            "unconfirmed": tally.unconfirmed,
            "findings": [{**f.to_json(), "detail": detail_of(f)[:300]} for f in self.findings],
            "statistics": to_document(tally.statistics),
        }


@dataclass(frozen=True, slots=True)
class _Task:
    """A run to be drawn, or with ``result`` its error to be looked at."""

    number: int
    result: RunResult | None = None


@dataclass(frozen=True, slots=True)
class _Done:
    """What came of a task; ``error`` is one of ours or of the machine."""

    task: _Task
    result: RunResult | None = None
    examined: Examined | None = None
    description: Description | None = None
    error: Exception | None = None


def campaign(
    setup: Setup, drawing: Drawing, options: Options, stop: threading.Event | None = None
) -> Iterator[Summary | FindingRecord]:
    """Run the campaign, or go on with it: findings as they are filed, where it stands from time to time, and
    at last the summary (``finished``).

    Set ``stop`` to end it: what runs is finished. Raises BadOutput (InUse, SettingsDiffer, NoCampaign) before
    anything is run, EnvironmentProblem where the solver cannot be loaded, DifftestError for a list of known
    errors that cannot be read.
    """
    known = shipped(setup.label, setup.cross_check)
    known.notes.update(KnownErrors.read(options.known).notes)
    folder = prepare_output(options.out)
    lock = lock_campaign(options.out)
    try:
        with _Workers(setup, options) as workers:
            made = _Campaign(setup, drawing, options, folder, known, workers, stop or threading.Event())
            yield from made.run()
    except OSError as error:
        name_full_folder(error, options.out)
        raise
    finally:
        os.close(lock)


class _Workers:
    """Threads with a runner each."""

    def __init__(self, setup: Setup, options: Options) -> None:
        self._options = options
        self.runners = [Runner(setup, options.corpus) for _ in range(options.jobs)]
        self.tasks: queue.SimpleQueue[tuple[_Task, Drawing] | None] = queue.SimpleQueue()
        self.results: queue.SimpleQueue[_Done] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._work, args=(runner,), name=f"apifuzz-{number}", daemon=True)
            for number, runner in enumerate(self.runners)
        ]

    def __enter__(self) -> _Workers:
        return self

    def start(self) -> None:
        """Begin to work."""
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self.tasks.get_nowait()
        for _thread in self._threads:
            self.tasks.put(None)
        for runner in self.runners:
            runner.close()
        # What is asked about an error (other solvers, older releases) has runners of its own: when all is to
        # stop at once, it is left behind, and ends with this process.
        end = time.monotonic() + _LAST_WAIT
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, end - time.monotonic()))
        for runner in self.runners:
            runner.__exit__(None, None, None)

    def _work(self, runner: Runner) -> None:
        while (asked := self.tasks.get()) is not None:
            task, drawing = asked
            try:
                self.results.put(self._perform(runner, task, drawing))
            except Exception as error:  # noqa: BLE001 (handed over to the thread that waits for results)
                if isinstance(error, OSError):
                    name_full_folder(error, tempfile.gettempdir())  # workers write nowhere else
                self.results.put(_Done(task, error=error))

    def _perform(self, runner: Runner, task: _Task, drawing: Drawing) -> _Done:
        options = self._options
        if task.result is not None:
            examined = examine(runner, task.result, options.limits, options.quick)
            description = Description()
            if examined:
                description = options.describe(runner, examined.minimised, examined.fault)
            return _Done(task, task.result, examined, description)
        result = runner.generate(drawing, run_seed(options.seed, task.number), options.limits)
        if not result.statistics:
            tried = called(result.trace)
            result = replace(result, calls=tried.total(), statistics={"tried": dict(tried)})
        if result.outcome == "done" and options.leaks and task.number % options.leaks == options.leaks - 1:
            repeated = runner.repeat(result.trace, options.limits)
            if repeated.fault is not None:
                result = replace(result, outcome="fault", fault=repeated.fault)
        return _Done(task, result)


class _Campaign:
    """The state of one campaign while it runs."""

    def __init__(
        self,
        setup: Setup,
        drawing: Drawing,
        options: Options,
        folder: Path,
        known: KnownErrors,
        workers: _Workers,
        stop: threading.Event,
    ) -> None:
        self.setup, self.drawing, self.options = setup, drawing, options
        self.folder, self.known, self.workers, self.stop = folder, known, workers, stop
        self.version = workers.runners[0].version()
        self.settings = {
            "setup": asdict(setup),
            "drawing": asdict(drawing),
            "seed": options.seed,
            "corpus": str(options.corpus.absolute()) if options.corpus else None,
            "leaks": options.leaks,
            "limits": asdict(options.limits),
            "version": self.version,
            "exhume": VERSION,
        }
        self.tally = counts.load(options.out, self.settings)
        self.findings = {finding.key: finding for finding in read_findings(folder)}
        self.waiting: deque[_Task] = deque()
        self.next = 0
        self.here = 0
        self.earlier = self.tally.seconds
        self.started = self.saved = time.monotonic()

    def run(self) -> Iterator[Summary | FindingRecord]:
        """The loop: hand out, take in, tell."""
        self.workers.start()
        out = 0
        told = 0.0
        try:
            while True:
                while out <= self.options.jobs and (task := self._next_task()) is not None:
                    self.workers.tasks.put((task, self.drawing))
                    out += 1
                if out == 0:
                    break
                with contextlib.suppress(queue.Empty):
                    done = self.workers.results.get(timeout=_WAIT)
                    out -= 1
                    if (found := self._take(done)) is not None:
                        yield found
                now = time.monotonic()
                self.tally.seconds = self.earlier + now - self.started
                if now - told >= _PROGRESS_SECONDS:
                    told = now
                    yield self._summary()
                if now - self.saved >= _SAVE_SECONDS:
                    self._save()
        finally:
            self._save()
        yield self._summary(finished=True)

    def _next_task(self) -> _Task | None:
        """Errors are looked at first; then the next run that is not done, unless it is time to end."""
        if self.waiting:
            return self.waiting.popleft()
        over = self.options.seconds is not None and time.monotonic() - self.started >= self.options.seconds
        if self.stop.is_set() or over:
            return None
        while self.tally.is_done(self.next):
            self.next += 1
        if self.options.runs is not None and self.next >= self.options.runs:
            return None
        self.next += 1
        return _Task(self.next - 1)

    def _take(self, done: _Done) -> FindingRecord | None:
        if done.error is not None:
            raise done.error
        assert done.result is not None
        number, fault = done.task.number, done.result.fault
        if done.task.result is None and fault is not None and self._is_worth_a_look(fault):
            # Counted when it was looked at, so that a kill before that loses nothing.
            self.tally.looks[stem_of(fault, self.setup.label)] += 1
            self.waiting.append(_Task(number, done.result))
            return None
        self.tally.count(number, done.result)
        self.here += 1
        if fault is None:
            return None
        if done.task.result is not None:
            return self._looked_at(done, fault)
        self._alike(number, stem_of(fault, self.setup.label))
        return None

    def _is_worth_a_look(self, fault: Fault) -> bool:
        """Whether not enough errors that begin alike were looked at, and none is known to come to nothing."""
        stem = stem_of(fault, self.setup.label)
        if self.known.match(stem) is not None or self.tally.missed[stem] >= _MISSES:
            return False
        return self.tally.looks[stem] < (_LOOKS if needs_operators(fault) else 1)

    def _alike(self, number: int, stem: str) -> None:
        """An error that is not looked at: it counts as what was found of those that begin alike."""
        if (key := self.tally.first_key.get(stem)) is not None:
            self._again(key, number)
        elif self.known.match(stem) is not None:
            self._again(stem, number)
        else:
            self.tally.unconfirmed += 1

    def _looked_at(self, done: _Done, fault: Fault) -> FindingRecord | None:
        stem, number = stem_of(fault, self.setup.label), done.task.number
        assert done.result is not None
        if done.examined is None:
            self.tally.unconfirmed += 1
            self.tally.missed[stem] += 1
            # It says nothing of the next one that begins alike.
            self.tally.looks[stem] -= 1
            self._keep_unconfirmed(number, done.result, fault)
            return None
        key = fold(done.examined.key, self.findings)
        self.tally.first_key.setdefault(stem, key)
        if key in self.findings or self.known.match(key) is not None:
            self._again(key, number)
            return None
        return self._file(key, done, done.examined)

    def _again(self, key: str, number: int) -> None:
        if (known := self.known.match(key)) is not None:
            self.tally.known += 1
            self.tally.seen[known] += 1
            return
        self.tally.duplicates += 1
        self.tally.seen[key] += 1
        if key in self.findings:
            if self.tally.seen[key] <= _MOST_DUPLICATES:
                note_duplicate(self.findings[key], number)

    def _file(self, key: str, done: _Done, examined: Examined) -> FindingRecord:
        number = done.task.number
        origin = {"seed": self.options.seed, "run": number, "run_seed": run_seed(self.options.seed, number)}
        seen = Seen(
            examined.fault,
            key,
            examined.trace,
            examined.minimised,
            examined.complete,
            self.setup,
            self.version,
            {**origin, "drawing": asdict(self.drawing)},
            examined.printed,
            done.description or Description(),
        )
        finding = file_finding(self.folder, seen)
        self.findings[key] = finding
        self.tally.seen[key] += 1
        self._save()
        return finding

    def _keep_unconfirmed(self, number: int, result: RunResult, fault: Fault) -> None:
        """The traces of the first errors that no fresh process shows, for whoever wonders."""
        folder = self.options.out / "unconfirmed"
        folder.mkdir(exist_ok=True)
        if self.tally.unconfirmed <= _MOST_UNCONFIRMED:
            head = f"; {fault.kind}: {' '.join(fault.detail.split())[:300]}\n"
            text = head.encode("ascii", "replace").decode() + result.trace
            (folder / f"run-{number}.trace").write_text(text, "utf-8", "backslashreplace")

    def _summary(self, finished: bool = False) -> Summary:
        interrupted = finished and self.stop.is_set()
        seconds = time.monotonic() - self.started
        found = tuple(self.findings.values())
        return Summary(self.tally, found, seconds, self.here, interrupted, finished)

    def _save(self) -> None:
        self.saved = time.monotonic()
        self.tally.seconds = self.earlier + self.saved - self.started
        counts.save(self.options.out, self.settings, self.tally)
        errors = [(key, detail_of(finding)[:200]) for key, finding in self.findings.items()]
        export(self.options.out / KNOWN, errors)


@functools.cache
def _detail_of(path: Path) -> str:
    try:
        return cast(CallsFolder, CallsFolder.read(path)).detail.partition("\n")[0]
    except DifftestError:
        return ""


def detail_of(finding: FindingRecord) -> str:
    """The first line of a finding's message."""
    return _detail_of(finding.path)
