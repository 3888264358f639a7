"""Which solvers accept a text: read, sort-checked, nothing solved.

The solvers run in processes of their own (:mod:`corpus._probe`); a crash or a hang on one text is
that text's outcome. What a solver only finds out when it solves (a non-linear term in a linear
logic, a theory that is not complete) is not seen here.
"""

from __future__ import annotations

import importlib.metadata
import json
import queue
import re
import struct
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from base.errors import ExhumeError, Exit

Solver = Literal["z3", "cvc5"]

SECONDS = 5.0
"""For one text; most take a millisecond."""

MEGABYTES = 3000
"""Of address space, for the process that tries the texts."""

_BATCH = 128
_SOLVED_BATCH = 8
_WAITING = 4
"""So many batches wait for each process: one that takes long holds up the order, not the others."""
_WORKER = Path(__file__).with_name("_probe.py")
_WHEELS = {"z3": "z3-solver", "cvc5": "cvc5"}


class SolverMissing(ExhumeError):
    """The solver's Python package cannot be imported or its worker died."""

    exit_code = Exit.ENVIRONMENT


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

    ``texts`` is drawn on as needed. Raises :class:`SolverMissing` when the solver is not installed.
    """
    with Prober(solver, jobs, seconds=seconds, megabytes=megabytes) as prober:
        yield from prober.probe(texts)


class Prober:
    """Worker processes of one solver, kept warm for several rounds of :meth:`probe`."""

    def __init__(
        self,
        solver: Solver,
        jobs: int = 1,
        *,
        seconds: float = SECONDS,
        megabytes: int = MEGABYTES,
        solve: bool = False,
    ) -> None:
        """``solve``: the texts are solved, and outcomes are ``sat``, ``unsat`` and ``unknown`` as well."""
        self.solver = solver
        self.jobs = jobs
        self._batch = _SOLVED_BATCH if solve else _BATCH
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        task = f"{solver}-answer" if solve else solver
        self._workers = [_Worker(task, seconds, megabytes) for _ in range(jobs)]
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(jobs, thread_name_prefix=f"probe-{solver}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes."""
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(cancel_futures=True)

    def probe(self, texts: Iterable[str]) -> Iterator[Acceptance]:
        """What the solver says to each text, in order."""
        batches = iter(_batches(texts, self._batch))
        pending: deque[Future[list[Acceptance]]] = deque()
        for batch in islice(batches, _WAITING * self.jobs):
            pending.append(self._threads.submit(self._ask, batch))
        while pending:
            yield from pending.popleft().result()
            for batch in islice(batches, 1):
                pending.append(self._threads.submit(self._ask, batch))

    def _ask(self, texts: list[str]) -> list[Acceptance]:
        worker = self._idle.get()
        try:
            return worker.ask(texts)
        finally:
            self._idle.put(worker)


class _Worker:
    def __init__(self, task: str, seconds: float, megabytes: int) -> None:
        self.task = task
        # What a text might still write by a relative name lands in a folder that goes away.
        self._folder = tempfile.TemporaryDirectory(prefix="exhume-probe-")
        # -P: the folder of the script, full of our modules' names, stays off the import path.
        command = [sys.executable, "-P", str(_WORKER), task, str(seconds), str(megabytes)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._folder.name,
        )

    def ask(self, texts: list[str]) -> list[Acceptance]:
        assert self._process.stdin and self._process.stdout
        request = json.dumps([t.encode("utf-8", "replace").decode() for t in texts]).encode()
        try:
            self._process.stdin.write(struct.pack("<I", len(request)) + request)
            self._process.stdin.flush()
            size = self._process.stdout.read(4)
            reply = self._process.stdout.read(struct.unpack("<I", size)[0]) if len(size) == 4 else b""
            results = json.loads(reply)
        except (OSError, ValueError) as error:
            raise self._death() from error
        return [Acceptance(outcome == "accepted", outcome, message) for outcome, message in results]

    def _death(self) -> SolverMissing:
        assert self._process.stderr
        self._process.kill()
        said = self._process.stderr.read().decode("utf-8", "replace").strip()
        return SolverMissing(said.splitlines()[-1] if said else f"the worker process of {self.task} died")

    def close(self) -> None:
        """End the process; what it was doing is lost."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # unsent bytes of a worker that died
                    continue
        self._folder.cleanup()


def _batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    iterator = iter(texts)
    while batch := list(islice(iterator, size)):
        yield batch


def version_of(solver: Solver) -> str:
    """The version of the solver's installed package."""
    try:
        return importlib.metadata.version(_WHEELS[solver])
    except importlib.metadata.PackageNotFoundError as error:
        raise SolverMissing(f"{_WHEELS[solver]} is not installed") from error


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
