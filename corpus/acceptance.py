"""Which solvers accept a text: read, sort-checked, nothing solved.

The solvers run in processes of their own (:mod:`solvers.running.tasks`); a crash or a hang on one text is
that text's outcome. What a solver only finds out when it solves (a non-linear term in a linear
logic, a theory that is not complete) is not seen here.
"""

from __future__ import annotations

import importlib.metadata
import queue
import re
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Any, Literal, Self

from solvers.errors import SolverMissing
from solvers.running.script import Script
from solvers.running.tasks import NoAnswer, TaskProcess
from solvers.specs import DISTRIBUTIONS, find_solver

Solver = Literal["z3", "cvc5"]

SECONDS = 5.0
"""For one text; most take a millisecond."""

MEGABYTES = 3000
"""For the process that tries the texts."""

MAX_MESSAGE = 4000

_BATCH = 128
_SOLVED_BATCH = 8
_WAITING = 4
"""So many batches wait for each process: one that takes long holds up the order, not the others."""


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


def probe(
    texts: Iterable[str],
    solver: Solver,
    jobs: int = 1,
    *,
    seconds: float = SECONDS,
    megabytes: int = MEGABYTES,
) -> Iterator[Acceptance]:
    """Ask ``solver`` about each text, in order, with ``jobs`` processes at once.

    ``texts`` is drawn on as needed. Raises SolverMissing when the solver is not installed.
    """
    with Prober(solver, jobs, seconds=seconds, megabytes=megabytes) as prober:
        yield from prober.probe(texts)


class Prober:
    """Processes of one solver, kept for several rounds of :meth:`probe`; use under ``with``."""

    def __init__(
        self,
        solver: Solver,
        jobs: int = 1,
        *,
        seconds: float = SECONDS,
        megabytes: int = MEGABYTES,
        solve: bool = False,
    ) -> None:
        """``solve``: the texts are solved, and outcomes are ``sat``, ``unsat`` and ``unknown`` as well.

        Raises SolverMissing when the solver is not installed.
        """
        self.jobs = jobs
        self._solve = solve
        self._idle: queue.SimpleQueue[TaskProcess] = queue.SimpleQueue()
        library = find_solver(solver).loadable or ""
        arguments = ["answer" if solve else "accept", library]
        self._processes = [
            TaskProcess(f"solvers.{solver}.tasks", arguments, seconds, megabytes << 20) for _ in range(jobs)
        ]
        for process in self._processes:
            self._idle.put(process)
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix=f"probe-{solver}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.close()
        self._threads.shutdown(cancel_futures=True)

    def probe(self, texts: Iterable[str]) -> Iterator[Acceptance]:
        """What the solver says to each text, in order.

        Raises EnvironmentProblem where its library cannot be loaded, RunnerLost after :meth:`close`.
        """
        batches = iter(_batches(texts, _SOLVED_BATCH if self._solve else _BATCH))
        pending: deque[Future[list[Acceptance]]] = deque()
        for batch in islice(batches, _WAITING * self.jobs):
            pending.append(self._threads.submit(self._ask, batch))
        while pending:
            yield from pending.popleft().result()
            for batch in islice(batches, 1):
                pending.append(self._threads.submit(self._ask, batch))

    def _ask(self, texts: list[str]) -> list[Acceptance]:
        data = [text.encode("utf-8", "replace") for text in texts]
        if not self._solve:
            data = [Script(text).without_solving() for text in data]
        process = self._idle.get()
        try:
            answers = process.ask([text.decode() for text in data])
        finally:
            self._idle.put(process)
        return [_as_acceptance(answer) for answer in answers]


def _as_acceptance(answer: Any) -> Acceptance:
    if isinstance(answer, NoAnswer):
        return Acceptance(False, "refused" if answer.cause == "memory" else answer.cause, answer.detail)
    outcome, message = answer
    return Acceptance(outcome == "accepted", outcome, message[:MAX_MESSAGE])


def _batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    iterator = iter(texts)
    while batch := list(islice(iterator, size)):
        yield batch


def version_of(solver: Solver) -> str:
    """The version of the solver's installed package."""
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
