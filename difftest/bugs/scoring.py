"""Scores a fuzzer: which known bugs of a release its tests show, and when.

The fuzzer is a command that writes ``.smt2`` files into a folder. It runs for a fixed time; the files are
looked at afterwards, in the order of their times. For a test that shows something wrong on the release, the
first good release is searched; it belongs to the bugs of the same class, with the same first good release and
a key that may have the same cause (``have_one_cause``).
"""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from base.files import put_json
from base.steps import Steps, Tick, nothing, unseen
from difftest.bugs.describing import by_age
from difftest.bugs.pairing import Case, Stopped
from difftest.bugs.records import Bug, Trigger
from difftest.bugs.shelf import RUN_SECONDS, Shelf
from difftest.bugs.symptoms import Symptom, have_one_cause
from difftest.claims import claimed
from difftest.errors import BadOutput, DifftestError, writing
from difftest.found_files import why_not
from difftest.triage.key import Key
from difftest.triage.kinds import State
from solvers.running.process import Limits, Run, Supervisor
from solvers.running.runner import Runner

TESTS = "tests"
SCORE = "score.json"
# In the folder of a run: how the fuzzer ended, and when it wrote each test.
_RUN = "fuzzer.json"
# Beside the tests while it runs: what it prints as errors. Of these, the last line is read, from the end.
_LOG = "errors.txt"
_TAIL = 4096
_STOPPED = "interrupted"
_SECONDS_PER_LOOK = 0.5
_MEMORY = 8 << 30


@dataclass(frozen=True, slots=True)
class FuzzerLimits:
    """What a fuzzer may use: ``seconds``, and ``files`` and ``bytes`` in its folder before it is stopped."""

    seconds: float
    files: int = 100_000
    bytes: int = 4 << 30


@dataclass(slots=True)
class FuzzerRun:
    """One run of a fuzzer: its tests with the seconds after which each was written, oldest first; why it
    ended; and how many of its files are no formulas, by reason.
    """

    tests: list[tuple[Path, float]] = field(default_factory=list)
    seconds: float = 0.0
    ended: str = ""
    skipped: Counter[str] = field(default_factory=Counter)

    def write(self, file: Path) -> None:
        """Keep the run in its folder, beside the tests."""
        home = file.parent.absolute()
        tests = [(str(test.relative_to(home)), when) for test, when in self.tests]
        skipped = dict(self.skipped)
        put_json(file, {"tests": tests, "seconds": self.seconds, "ended": self.ended, "skipped": skipped})

    @classmethod
    def read(cls, file: Path) -> FuzzerRun:
        """A run that was written."""
        kept = json.loads(file.read_text("utf-8"))
        tests = [(file.parent.absolute() / test, when) for test, when in kept["tests"]]
        return cls(tests, kept["seconds"], kept["ended"], Counter(kept["skipped"]))


def run_fuzzer(
    command: Sequence[str],
    folder: Path,
    limits: FuzzerLimits,
    stop: threading.Event | None = None,
    tick: Tick = nothing,
) -> FuzzerRun:
    """Run a fuzzer in a new folder; ``{}`` in its command stands for the folder of its tests.

    The fuzzer and all that it started are ended after its time, or when it has written too much; ``tick``
    gets the seconds until then. BadOutput if the folder exists or cannot be written, DifftestError if the
    command does not start.
    """
    stop = stop or threading.Event()
    tests = folder.absolute() / TESTS
    try:
        tests.mkdir(parents=True)
    except FileExistsError:
        raise BadOutput(f"{tests} exists already: name a new folder") from None
    except OSError as problem:
        raise BadOutput(f"cannot write to {folder}: {problem.strerror or problem}") from problem
    log = tests.with_name(_LOG)
    argv = [part.replace("{}", str(tests)) for part in command]
    if "/" in argv[0]:  # a program, named from the user's folder
        argv[0] = str(Path(argv[0]).absolute())
    started, begun = time.time(), time.monotonic()
    found = FuzzerRun()
    with Supervisor() as supervisor:
        ended: list[str] = []

        def execute() -> None:
            done = supervisor.execute(argv, Limits(limits.seconds, _MEMORY), cwd=tests, log=log)
            ended.append(_how_it_ended(done, log, argv[0]))

        worker = threading.Thread(target=execute, daemon=True)
        worker.start()
        while worker.is_alive() and not found.ended:
            worker.join(_SECONDS_PER_LOOK)
            tick(int(time.monotonic() - begun), int(limits.seconds))
            found.ended = _STOPPED if stop.is_set() else _too_much(tests, limits, log)
        supervisor.close()
        worker.join()
    log.unlink(missing_ok=True)
    found.seconds = min(limits.seconds, time.monotonic() - begun)
    found.ended = found.ended or (ended[0] if ended else "lost")
    if found.ended.startswith("cannot be started"):
        raise DifftestError(f"{argv[0]}: {found.ended}")
    _collect(tests, started, limits, found)
    return found


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The entries below a folder, without following links; those that vanish are left out."""
    waiting = [str(folder)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        yield entry
        except OSError:
            continue


def _how_it_ended(done: Run, log: Path, program: str) -> str:
    """Why a fuzzer ended, with the last line of its errors."""
    last = ""
    with suppress(OSError), log.open("rb") as errors:
        errors.seek(max(0, log.stat().st_size - _TAIL))
        last = errors.read().decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
    last = last.removeprefix(f"exhume: cannot start {program}: ")
    if done.code in (126, 127) and done.seconds < 1:
        return f"cannot be started: {last}"
    status = f"signal {done.signal}" if done.signal else f"exit status {done.code}"
    how = status if done.ended == "exit" else f"stopped by its {done.ended} limit"
    return f"{how}{last and f': {last}'}"


def _too_much(folder: Path, limits: FuzzerLimits, log: Path) -> str:
    """Which limit the files in a folder, and the log beside it, exceed; empty if none."""
    size = log.stat().st_size if log.exists() else 0
    if size > limits.bytes:
        return f"it wrote more than {limits.bytes >> 20} MB"
    for number, entry in enumerate(_files(folder), 1):
        try:
            size += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
        if number > limits.files:
            return f"it wrote more than {limits.files} files"
        if size > limits.bytes:
            return f"it wrote more than {limits.bytes >> 20} MB"
    return ""


def _collect(folder: Path, started: float, limits: FuzzerLimits, found: FuzzerRun) -> None:
    for number, entry in enumerate(_files(folder)):
        if number >= limits.files:
            found.skipped["more files than the limit"] += 1
            break
        if not entry.name.endswith(".smt2"):
            found.skipped["not .smt2"] += 1
        elif reason := why_not(entry.path, os.lstat):
            found.skipped[reason] += 1
        else:
            when = entry.stat(follow_symlinks=False).st_mtime - started
            found.tests.append((Path(entry.path), min(max(0.0, when), found.seconds)))
    found.tests.sort(key=lambda test: (test[1], str(test[0])))


@dataclass(frozen=True, slots=True)
class Hit:
    """A test that shows something wrong: its class, first good release and key; the known bugs that it
    belongs to; and after how many seconds the release had run it.
    """

    test: str
    seconds: float
    finding_class: str
    first_good: str
    key: str
    bugs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Judge:
    """Tells which known ``bugs`` of a ``release`` of ``family`` tests show."""

    family: str
    release: str
    bugs: Sequence[Bug]
    shelf: Shelf
    seconds: float = RUN_SECONDS

    def hits(self, run: FuzzerRun, budget: float, stop: threading.Event) -> Iterator[Hit | None]:
        """What each test of a run shows, in the order of their times; None where it shows nothing.

        The clock is that of one process which runs the release on each test as soon as the test is written
        and the one before is done; it ends at ``budget`` seconds. What other releases take does not count.
        """
        clock = 0.0
        with Runner(warm=False) as runner:
            for file, written in run.tests:
                if stop.is_set():
                    return
                text = file.read_bytes().decode("utf-8", "replace")
                trigger = Trigger(solver=self.family, text=text, sources=(file.name,))
                case = Case(trigger, self.shelf, runner, self.seconds, since=self.release, stop=stop)
                try:
                    own = case.look(self.release)
                    clock = max(clock, written) + (own.seconds if own is not None else 0.0)
                    if clock > budget:
                        return
                    bugs = [bug for bug in case.examine() if isinstance(bug, Bug)]
                except Stopped:
                    return
                yield self._hit(file, clock, bugs[0]) if bugs else None

    def _hit(self, file: Path, when: float, found: Bug) -> Hit:
        key = Key.read(found.bug_key)
        same = [
            bug.id
            for bug in self.bugs
            if (bug.finding_class, bug.first_good) == (found.finding_class, found.first_good)
            and have_one_cause(key, Key.read(bug.bug_key))
        ]
        return Hit(file.name, when, found.finding_class, found.first_good, found.bug_key, tuple(same))


def known_in(bugs: Iterable[Bug], family: str, release: str) -> list[Bug]:
    """The bugs that a release has as far as runs show it: it is older than the first good release, and it or
    an older one shows the bug. Flaky bugs, and those that need options, do not count. The releases that ran
    need not run here.
    """
    here, _ = by_age(release)
    found = []
    for bug in bugs:
        if bug.solver == family and not bug.flaky and not bug.options:
            symptom = Symptom.of(bug)
            bad = [by_age(seen.release)[0] for seen in bug.strip if symptom.state(seen) is State.AFFECTED]
            if any(one <= here for one in bad) and here < by_age(bug.first_good)[0]:
                found.append(bug)
    return found


def score(
    command: Sequence[str],
    judge: Judge,
    folder: Path,
    limits: FuzzerLimits,
    repeats: int = 1,
    stop: threading.Event | None = None,
    steps: Steps = unseen,
) -> Iterator[dict[str, Any]]:
    """Run a fuzzer ``repeats`` times and yield the document of ``score.json`` after each; ``{seed}`` in the
    command stands for the number of the run, from 1. Runs that the folder has are not repeated.

    Ends early, with what is done, when ``stop`` is set. DifftestError if the command does not start or a run
    leaves no test: that is a wrong command, not a score of zero. What that run wrote is deleted.
    """
    stop = stop or threading.Event()
    document: dict[str, Any] = {
        **{"schema": 1, "against": f"{judge.family}=={judge.release}", "seconds": limits.seconds},
        **{"limit": judge.seconds, "most_files": limits.files, "command": list(command)},
        **{"bugs": sorted(bug.id for bug in judge.bugs), "runs": []},
    }
    with claimed(folder, "score"):
        runs = _runs_before(folder, document)
        if len(runs) >= repeats:
            yield {**document, "runs": runs}
        for number in range(len(runs) + 1, repeats + 1):
            argv = [part.replace("{seed}", str(number)) for part in command]
            with steps(f"run {number} of {repeats}: seconds of fuzzing") as tick:
                try:
                    run = _fuzz(argv, folder / f"run-{number}", limits, stop, tick)
                except DifftestError:
                    _discard(folder, number)
                    raise
            found = []
            with steps(f"run {number} of {repeats}: tests run on releases") as tick:
                for hit in judge.hits(run, limits.seconds, stop):
                    found.append(hit)
                    tick(len(found), len(run.tests))
            if stop.is_set():
                return
            runs = [*runs, _scored(run, found)]
            document = {**document, "runs": runs}
            put_json(folder / SCORE, document)
            yield document


def _runs_before(folder: Path, document: dict[str, Any]) -> list[dict[str, Any]]:
    """The finished runs of a score in its folder. Marks a new folder as that of the score, so that runs
    without an end there may be deleted.
    """
    file = folder / SCORE
    try:
        before = json.loads(file.read_text("utf-8"))
        if {**before, "runs": []} == document:
            return list(before["runs"])
    except FileNotFoundError:
        if not (folder / "run-1").exists():
            with writing(folder):
                put_json(file, document)
            return []
    except (OSError, ValueError, TypeError):
        pass
    raise BadOutput(
        f"{folder} has runs of another command, or with other bugs or limits: name a new folder, or repeat"
        " that command to resume it"
    )


def _fuzz(
    argv: Sequence[str], folder: Path, limits: FuzzerLimits, stop: threading.Event, tick: Tick
) -> FuzzerRun:
    """The run of a fuzzer that the folder has, or else a new one."""
    kept = folder / _RUN
    if kept.exists():
        return FuzzerRun.read(kept)
    shutil.rmtree(folder, ignore_errors=True)  # a run that was stopped
    run = run_fuzzer(argv, folder, limits, stop, tick)
    if run.ended == _STOPPED:
        return run
    if not run.tests:
        skipped = "".join(f", {reason} {count}" for reason, count in sorted(run.skipped.items()))
        raise DifftestError(
            f"the fuzzer wrote no .smt2 file with text (it ended: {run.ended}{skipped}): it works in"
            f" {folder / TESTS}, so paths in its command must be absolute, and what it prints is not read"
        )
    run.write(kept)
    return run


def _discard(folder: Path, number: int) -> None:
    """Delete a run that failed; with the first one, nothing is left that was not there before."""
    shutil.rmtree(folder / f"run-{number}", ignore_errors=True)
    if number == 1:
        with suppress(OSError):  # a folder with other files
            (folder / SCORE).unlink()
            folder.rmdir()


def _scored(run: FuzzerRun, found: Sequence[Hit | None]) -> dict[str, Any]:
    hits = [hit for hit in found if hit is not None]
    first: dict[str, float] = {}
    for hit in hits:
        for bug in hit.bugs:
            first.setdefault(bug, round(hit.seconds, 1))
    return {
        **{"ended": run.ended, "tests": len(run.tests), "run_tests": len(found)},
        **{"skipped": dict(run.skipped), "found": dict(sorted(first.items()))},
        "hits": [asdict(hit) for hit in hits],
    }


def read_score(folder: Path) -> dict[str, Any]:
    """The document of a scored fuzzer; DifftestError if the folder holds none."""
    try:
        document = json.loads((folder / SCORE).read_text("utf-8"))
        if document["schema"] == 1 and document["runs"] and document["seconds"] > 0:
            return dict(document)
    except OSError:
        raise DifftestError(f"{folder} holds no {SCORE}: make it with exhume bugs score") from None
    except (ValueError, KeyError, TypeError):
        pass
    raise DifftestError(f"{folder / SCORE} is damaged: make it again with exhume bugs score")
