"""Which solvers accept a text.

Where a solver's folder has tasks (:mod:`solvers.running.tasks`), its library reads and sort-checks the text
and solves next to nothing; else the solver is run on it for a moment. A crash or a hang on one text is that
text's outcome. What a solver only finds out later (a non-linear term in a linear logic, a theory that is not
complete) is not seen here.
"""

from __future__ import annotations

import importlib.metadata
import queue
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self, TypeAlias

from solvers.errors import SolverMissing
from solvers.lookup import find_solver
from solvers.registry import DISTRIBUTIONS, PROFILES
from solvers.running.outcomes import Outcome
from solvers.running.process import Limits
from solvers.running.runner import LOST, Runner
from solvers.running.screener import Screener
from solvers.running.script import Script
from solvers.running.tasks import NoAnswer, TaskProcess
from solvers.solver import Solver
from solvers.specs import is_asked

SECONDS = 5.0
"""For one text; most take a millisecond."""

RUN_SECONDS = 1.0
"""For one text, by solvers that have to be run on it."""

MEGABYTES = 3000
"""For the process that tries the texts."""

MAX_MESSAGE = 4000

_BATCH = 256
_SMALL_BATCH = 8
_WAITING = 2
"""Batches that wait for each process, so that a slow one delays only the order of results."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Whether a solver accepted a text. ``outcome``: accepted, refused, crash or timeout."""

    accepted: bool
    outcome: str
    message: str = ""

    @property
    def cause(self) -> str:
        """The message's shape, by which refusals are grouped; empty when accepted."""
        return cause_of(self.message) if not self.accepted else ""


def probe(texts: Iterable[str], solver: str | Solver, jobs: int = 1) -> Iterator[Acceptance]:
    """Ask ``solver`` about each text, in order, with ``jobs`` processes at once.

    ``texts`` is drawn on as needed. Raises SolverMissing when the solver is not installed.
    """
    with Prober(solver, jobs) as prober:
        yield from prober.probe(texts)


class Prober:
    """Processes of one solver, kept for several rounds of :meth:`probe`; use under ``with``."""

    def __init__(
        self,
        solver: str | Solver,
        jobs: int = 1,
        *,
        seconds: float = SECONDS,
        megabytes: int = MEGABYTES,
        solve: bool = False,
    ) -> None:
        """``solver`` is one that can be run, or a spec. ``solve``: the texts are solved, and outcomes are
        ``sat``, ``unsat`` and ``unknown`` as well; only solvers with tasks can be asked so.

        Raises what :func:`find_solver` does.
        """
        found = find_solver(solver) if isinstance(solver, str) else solver
        self.jobs = jobs
        self._batch = _BATCH if _tasks_of(found) is not None and not solve else _SMALL_BATCH
        self._askers = [asker_of(found, seconds, megabytes, solve) for _ in range(jobs)]
        self._idle: queue.SimpleQueue[Asker] = queue.SimpleQueue()
        for asker in self._askers:
            self._idle.put(asker)
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix=f"probe-{found.name}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        for asker in self._askers:
            asker.close()
        self._threads.shutdown(cancel_futures=True)

    def probe(self, texts: Iterable[str]) -> Iterator[Acceptance]:
        """What the solver says to each text, in order.

        Raises EnvironmentProblem where its library cannot be loaded, RunnerLost after :meth:`close`.
        """
        batches = iter(_batches(texts, self._batch))
        pending: deque[Future[list[Acceptance]]] = deque()
        for batch in islice(batches, _WAITING * self.jobs):
            pending.append(self._threads.submit(self._ask, batch))
        while pending:
            yield from pending.popleft().result()
            for batch in islice(batches, 1):
                pending.append(self._threads.submit(self._ask, batch))

    def _ask(self, texts: list[str]) -> list[Acceptance]:
        asker = self._idle.get()
        try:
            return asker.ask([text.encode("utf-8", "replace") for text in texts])
        finally:
            self._idle.put(asker)


def asker_of(
    solver: Solver, seconds: float = SECONDS, megabytes: int = MEGABYTES, solve: bool = False
) -> Asker:
    """A process that asks ``solver``: by its tasks where it has them. See :class:`Prober`."""
    if _tasks_of(solver) is not None:
        return _Library(solver, seconds, megabytes << 20, solve)
    return _Runs(solver, megabytes << 20)


class _Library:
    """Asks a library by the tasks in its solver's folder."""

    def __init__(self, solver: Solver, seconds: float, memory: int, solve: bool) -> None:
        prefix = PROFILES[solver.family].prefix
        options = [prefix + option for option in solver.spec_options if not is_asked(option)]
        arguments = ["answer" if solve else "accept", solver.loadable or "", *options]
        self._solve = solve
        self._process = TaskProcess(_tasks_of(solver) or "", arguments, seconds, memory)

    def ask(self, texts: Sequence[bytes]) -> list[Acceptance]:
        scripts = [Script(text) for text in texts]
        asked = [s.data if self._solve else s.without_solving() for s in scripts if not s.file_command]
        answers = iter(self._process.ask([text.decode() for text in asked]))
        return [
            _as_acceptance(("refused", f"{s.file_command} names a file") if s.file_command else next(answers))
            for s in scripts
        ]

    def close(self) -> None:
        self._process.close()


class _Runs:
    """Runs a solver on each text."""

    def __init__(self, solver: Solver, memory: int) -> None:
        self._solver = solver
        self._limits = Limits(RUN_SECONDS, memory)
        self._runner = Runner()
        self._screener = Screener(self._runner)

    def ask(self, texts: Sequence[bytes]) -> list[Acceptance]:
        return [self._ask(text) for text in texts]

    def _ask(self, text: bytes) -> Acceptance:
        verdict = self._screener.judge(self._solver, Script(text), self._limits)
        if verdict.outcome is Outcome.REFUSED and verdict.detail.startswith(LOST):
            return Acceptance(True, "crash", verdict.detail)
        if verdict.outcome is Outcome.REFUSED:
            return Acceptance(False, "refused", verdict.detail)
        ended = verdict.outcome in (Outcome.TIMEOUT, Outcome.MEMOUT, Outcome.CRASH)
        return Acceptance(True, str(verdict.outcome.value) if ended else "accepted")

    def close(self) -> None:
        self._runner.__exit__(None, None, None)


Asker: TypeAlias = _Library | _Runs
"""A process that asks one solver, for use by one thread."""


def _tasks_of(solver: Solver) -> str | None:
    """The module with a solver's tasks; None where it has none, or no library."""
    profile = PROFILES.get(solver.family)
    file = profile.file("tasks.py") if profile and solver.loadable else None
    return f"solvers.{file.parent.name}.tasks" if file else None


def _as_acceptance(answer: Any) -> Acceptance:
    if isinstance(answer, NoAnswer):
        return Acceptance(False, "refused" if answer.cause == "memory" else answer.cause, answer.detail)
    outcome, message = answer
    return Acceptance(outcome == "accepted", outcome, message[:MAX_MESSAGE])


def _batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    iterator = iter(texts)
    while batch := list(islice(iterator, size)):
        yield batch


def version_of(solver: str) -> str:
    """The version of a solver's installed package; SolverMissing without one."""
    try:
        return importlib.metadata.version(DISTRIBUTIONS[solver])
    except importlib.metadata.PackageNotFoundError as error:
        raise SolverMissing(f"{DISTRIBUTIONS[solver]} is not installed") from error


_PLACE = re.compile(r"(?:line \d+ column \d+|<?[\w./-]*>?:\d+\.\d+(?:-\d+(?:\.\d+)?)?): *")
_QUOTED = re.compile(r"'[^'\n]*'|`[^`'\n]*[`']|\"[^\"\n]*\"|\|[^|\n]*\|")
_FIRST_ERROR = re.compile(r'\(error "((?:[^"]|"")*)"\)')
_NAME_AFTER = re.compile(
    r"\b(constant|function|sort|symbol|bind|variable|type|logic|option|command|parameter|got|kind|operator|sorts|and"
    r"|identifier) (?!of\b|is\b|was\b|with\b|already\b|has\b|not\b|to\b|declaration|as\b|symbol\b|reference)"
    r"[^\s,:]+"
)
_BLANKS = re.compile(r"_(?:[ ,]+_)+")
_PARENTHESISED = re.compile(r"\([^()]*\)")
_NUMBER = re.compile(r"#[xb][0-9a-fA-F]+|\b\d+(?:\.\d+)?\b")


def cause_of(message: str) -> str:
    """The shape of a solver's first complaint: places, names, terms and numbers are left out."""
    found = _FIRST_ERROR.search(message)
    text = found[1].replace('""', '"') if found else message
    text = next((line for line in text.splitlines() if line.strip()), "")
    text = _PLACE.sub("", text)
    text = _QUOTED.sub("_", text)
    while (shorter := _PARENTHESISED.sub("_", text)) != text:
        text = shorter
    text = _NAME_AFTER.sub(r"\1 _", text)
    text = _NUMBER.sub("N", text)
    text = _BLANKS.sub("_", text)
    return " ".join(text.split())[:200]
