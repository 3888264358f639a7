"""Runs formulas on a build with ``--coverage`` and stores what each runs in a coverage map.

Solvers run in parallel; counts are read and stored by one thread. A run writes its counts when its program
ends by itself, so the solver gets a limit of its own on the time of each question, where its profile names
one (``time_limit``), and is ended only later. A run that is ended from outside leaves no counts; in a crash
they are written if exhume has built the program (``solvers.builds``).
"""

from __future__ import annotations

import hashlib
import shutil
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from base.errors import ExhumeError
from difftest.directed.coverage import CoverageMap, formula_key
from difftest.directed.gcov import (
    NOTES,
    RECORDED,
    BadCounts,
    LineOf,
    ObjectFile,
    counts_in,
    read_counts,
)
from difftest.errors import writing
from solvers.errors import EnvironmentProblem
from solvers.registry import PROFILES
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.pool import RunnerPool
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

_MOST_FUNCTIONS, _MOST_OBJECTS = 1 << 17, 1 << 14
_TRIVIAL = "(check-sat)\n"
# A run may have several questions, and reading and writing the counts takes time, too.
_QUESTIONS = 3
_BEYOND = 10.0

Formula = tuple[str, tuple[str, ...]]
"""A text, and the options that it is run with."""


@dataclass(slots=True)
class Progress:
    """Formulas measured by this command, and those that the map had."""

    done: int = 0
    known: int = 0


class Counts:
    """Reads the counts that runs of one build leave. Its object files are read once."""

    def __init__(self, line_of: LineOf) -> None:
        self._line_of = line_of
        self._objects: dict[str, ObjectFile] = {}
        # Much of what a program does is the same in each run: in most object files, and in most functions.
        self._functions: dict[tuple[str, int, bytes], tuple[int, ...]] = {}
        self._ran: dict[tuple[str, bytes], frozenset[int]] = {}

    def read(self, folder: Path) -> set[int] | None:
        """The numbers of the lines that a run executed, by the counts in its folder; None if there are none.
        Raises BadCounts if they, or the files of the build, cannot be read.
        """
        found: set[int] | None = None
        for name, data in counts_in(folder):
            key = (name, hashlib.blake2b(data, digest_size=16).digest())
            ran = self._ran.get(key)
            if ran is None:
                if len(self._ran) >= _MOST_OBJECTS:
                    self._ran.clear()
                ran = self._ran[key] = frozenset(self._lines(name, data))
            found = found or set()
            found |= ran
        return found

    def _lines(self, name: str, data: bytes) -> Iterator[int]:
        """The lines of an object file that a run executed."""
        stamp, counts = read_counts(Path("/", name), data)
        own = self._object(name)
        if own.stamp != stamp:
            raise BadCounts(f"{own.file}: the program was built from other object files; build it again")
        for ident, counters in counts.items():
            key = (name, ident, counters)
            if key not in self._functions:
                if len(self._functions) >= _MOST_FUNCTIONS:
                    self._functions.clear()
                self._functions[key] = own.ran(ident, counters)
            yield from self._functions[key]

    def _object(self, name: str) -> ObjectFile:
        if name not in self._objects:
            file = Path("/", name).with_suffix(NOTES)
            if not file.is_file():
                raise BadCounts(f"{file} is missing: the folder of the build's object files is needed")
            self._objects[name] = ObjectFile(file, self._line_of)
        return self._objects[name]


def measure(
    store: CoverageMap,
    solver: Solver,
    formulas: Iterable[Formula],
    seconds: float,
    jobs: int = 1,
    stop: threading.Event | None = None,
) -> Iterator[Progress]:
    """Run the formulas that the map does not have, ``jobs`` at a time; yield after each, known or not.

    ``seconds`` is the limit of each question. Ends early, with what is done, when ``stop`` is set. Raises
    EnvironmentProblem if the solver writes no counts, BadCounts if they cannot be read.
    """
    stop = stop or threading.Event()
    progress = Progress()
    counts = Counts(store.line)
    scratch = _scratch(store.path)
    try:
        with Runner(warm=False) as runner:
            _run(runner, solver, (_TRIVIAL, ()), seconds, scratch / "first")
        if counts.read(scratch / "first") is None:
            raise EnvironmentProblem(
                f"solver {solver.spec!r} writes no counts: build it with: exhume solvers build ... --coverage"
            )
        for result in _measured(store, solver, formulas, seconds, jobs, stop, scratch):
            if result is None:
                progress.known += 1
            else:
                key, verdict, folder = result
                store.put(key, str(verdict.outcome), seconds, verdict.seconds, counts.read(folder))
                shutil.rmtree(folder, ignore_errors=True)
                progress.done += 1
            yield progress
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


_Measured = tuple[str, Verdict, Path]


def _measured(
    store: CoverageMap,
    solver: Solver,
    formulas: Iterable[Formula],
    seconds: float,
    jobs: int,
    stop: threading.Event,
    scratch: Path,
) -> Iterator[_Measured | None]:
    """The runs of the formulas, in whatever order they end; None for one that the map has."""

    def items() -> Iterator[tuple[str, Formula, Path] | None]:
        started: set[str] = set()
        for number, formula in enumerate(formulas):
            if stop.is_set():
                return
            key = formula_key(*formula)
            is_known = key in started or store.has(key, seconds)
            started.add(key)
            yield None if is_known else (key, formula, scratch / str(number))

    def work(runner: Runner, item: tuple[str, Formula, Path] | None) -> _Measured | None:
        if item is None:
            return None
        key, formula, folder = item
        return key, _run(runner, solver, formula, seconds, folder), folder

    with RunnerPool(jobs, "exhume-coverage") as pool:
        for future in pool.as_done(work, items()):
            yield future.result()


def _run(runner: Runner, solver: Solver, formula: Formula, seconds: float, folder: Path) -> Verdict:
    """Run a formula, with its options if the solver takes them; its counts are in ``folder`` then."""
    text, options = formula
    script = Script.of(text)
    limits = Limits(seconds=_QUESTIONS * seconds + _BEYOND)
    own = solver.with_time_limit(seconds)
    choices = [own]
    if options and solver.family in PROFILES:
        with suppress(ExhumeError):
            choices.insert(0, own.with_options(options))
    for chosen in choices:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        # GCC's counts are written below this folder, whatever the folder of the object files.
        own_folder = folder.resolve()
        environment = (
            f"EXHUME_COUNTS={own_folder / RECORDED}",
            f"GCOV_PREFIX={own_folder}",
            "GCOV_PREFIX_STRIP=0",
        )
        argv = (shutil.which("env") or "env", *environment, *chosen.argv)
        verdict = runner.judge(replace(chosen, argv=argv), script, limits)
        if verdict.outcome is not Outcome.REFUSED:
            break
    return verdict


def _scratch(path: Path) -> Path:
    """An empty folder beside a map for the counts of runs; that of a killed command is the same one."""
    folder = path.with_name(f".{path.name}.runs")
    with writing(path.parent):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    return folder
