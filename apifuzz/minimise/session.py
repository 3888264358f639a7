"""Minimising a trace: what shows the error is tried in processes, what is reached stands on disk."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from apifuzz.minimise.passes import (
    GRAINED,
    SINGLE,
    Pass,
    Proposal,
    collected,
    drop_lines,
    measure,
    renumbered,
)
from apifuzz.running.faults import LEAK, Fault
from apifuzz.running.runs import RUN_LIMITS, Runner, RunResult
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace, TraceError, load_trace, print_trace
from base.files import put_text
from difftest.errors import NotShown, writing
from solvers.running.process import Limits

Show = Callable[[Sequence[Trace]], int | None]
"""Tries traces (as many as are handed in at once) and gives the place of the first that shows the error."""


class OutOfTime(Exception):
    """The time that the minimiser was given is over."""


@dataclass
class Work:
    """One minimisation: the smallest trace so far, and how many traces were tried.

    ``show`` may raise :class:`OutOfTime`, which ends the work with what is reached; ``save`` is called with
    every smaller trace as it is found. ``width`` is how many traces are tried at once.
    """

    trace: Trace
    show: Show
    save: Callable[[Trace], None] = lambda trace: None
    width: int = 1
    checks: int = 0
    complete: bool = False
    _failed: set[str] = field(default_factory=lambda: {""})

    def run(self) -> Trace:
        """Minimise to a fixed point, or until the time is over; the smallest trace."""
        try:
            self._fixed_point()
            self._tidy()
            self.complete = True
        except OutOfTime:
            pass
        return self.trace

    def _fixed_point(self) -> None:
        while True:
            before = self.trace
            for step in self._grained():
                for grain in _grains(len(self.trace.lines)):
                    self._run_pass(step, grain)
            for step in SINGLE:
                self._run_pass(step, 1)
            if self.trace == before:
                return

    def _grained(self) -> Iterator[Pass]:
        yield from GRAINED
        if collected(self.trace) != self.trace:
            # Something matters that nothing needs: then dropping calls with all that they need is not enough.
            yield drop_lines

    def _run_pass(self, step: Pass, grain: int) -> None:
        proposals = self._worthwhile(step(self.trace, 0, grain))
        while chosen := list(itertools.islice(proposals, self.width)):
            won = self._first([trace for _, trace in chosen])
            if won is not None:
                position, self.trace = chosen[won]
                self.save(self.trace)
                proposals = self._worthwhile(step(self.trace, position, grain))

    def _worthwhile(self, proposals: Iterator[Proposal]) -> Iterator[Proposal]:
        """Those that are smaller and were not tried before."""
        size = measure(self.trace)
        for position, trace in proposals:
            if measure(trace) < size and _text(trace) not in self._failed:
                yield position, trace

    def _first(self, traces: Sequence[Trace]) -> int | None:
        won = self.show(traces)
        tried = len(traces) if won is None else won + 1
        self.checks += tried
        self._failed.update(map(_text, traces[: tried if won is None else won]))
        return won

    def _tidy(self) -> None:
        """Ids from 1 again, if that still shows it."""
        tidy = renumbered(self.trace)
        if tidy != self.trace and self.show([tidy]) == 0:
            self.trace = tidy
            self.save(tidy)


def _text(trace: Trace) -> str:
    """The trace's text, to know it again; all that cannot be written is the same."""
    try:
        return print_trace(trace)
    except TraceError:
        return ""


def _grains(count: int) -> Iterator[int]:
    """Half of ``count``, then half of that, down to 1."""
    return iter([count >> halved for halved in range(1, count.bit_length())] or [1])


_GOLDEN_FACTOR = 3.0
"""A trace that takes longer than this many times the original shows nothing."""
_SHORTEST = 0.5
_LONGEST = 60.0


@dataclass(frozen=True, slots=True)
class Minimised:
    """What came of it.

    ``checks`` counts the traces tried; ``complete``: it ended by itself, not for lack of time; ``confirmed``:
    a fresh process shows the error with the result.
    """

    original: Trace
    trace: Trace
    fault: Fault
    checks: int
    seconds: float
    complete: bool
    confirmed: bool

    @property
    def lines(self) -> tuple[int, int]:
        """Calls before and after."""
        return len(self.original.lines), len(self.trace.lines)

    @property
    def size(self) -> tuple[int, int]:
        """Bytes of text before and after."""
        return tuple(len(print_trace(t).encode()) for t in (self.original, self.trace))  # type: ignore[return-value]

    def to_json(self) -> dict[str, Any]:
        """The document that ``apifuzz minimise --json`` prints."""
        (lines_before, lines_after), (size_before, size_after) = self.lines, self.size
        return {
            "kind": self.fault.kind,
            "place": self.fault.place,
            "detail": self.fault.detail,
            "lines_before": lines_before,
            "lines_after": lines_after,
            "size_before": size_before,
            "size_after": size_after,
            "checks": self.checks,
            "seconds": round(self.seconds, 3),
            "complete": self.complete,
            "confirmed": self.confirmed,
        }


class Trial:
    """Tries traces against a fault, ``jobs`` at once; use :func:`trial`."""

    def __init__(self, runners: Sequence[Runner], fault: Fault, limits: Limits) -> None:
        self.fault = fault
        self.limits = limits
        self._runners = runners
        self._pool = ThreadPoolExecutor(len(runners))

    def show(self, traces: Sequence[Trace], fresh: bool = False) -> int | None:
        """The place of the first of ``traces`` (at most ``jobs``) that shows the fault."""
        tries = [
            self._pool.submit(self._shows, runner, trace, fresh)
            for runner, trace in zip(self._runners, traces, strict=False)
        ]
        shown = [tried.result() for tried in tries]
        return shown.index(True) if True in shown else None

    def _shows(self, runner: Runner, trace: Trace, fresh: bool) -> bool:
        return self.fault.is_same(look(runner, print_trace(trace), self.limits, self.fault.kind, fresh).fault)

    def close(self) -> None:
        """Wait for what is tried."""
        self._pool.shutdown()


def look(runner: Runner, text: str, limits: Limits, kind: str = "", fresh: bool = False) -> RunResult:
    """Repeat a trace as it takes to see a fault of ``kind``."""
    return (runner.repeat if kind == LEAK else runner.replay)(text, limits, fresh)


def held_to(golden: RunResult, limits: Limits) -> Limits:
    """The limits of what is tried after the golden run: a few times as long, at least half a second."""
    return structs.replace(limits, seconds=max(_SHORTEST, _GOLDEN_FACTOR * golden.seconds))


@contextlib.contextmanager
def trial(setup: Setup, trace: Trace, kind: str, jobs: int, limits: Limits) -> Iterator[Trial]:
    """A trial of what ``trace`` shows: the golden run is made, and sets the limit of all others.

    ``kind`` is that of the error that it should show; empty: any error. Raises NotShown.
    """
    text = print_trace(trace)
    with contextlib.ExitStack() as stack:
        runners = [stack.enter_context(Runner(setup)) for _ in range(jobs)]
        # The first one loads the library; its time is not the run's.
        golden = look(runners[0], text, structs.replace(limits, seconds=_LONGEST), kind)
        found = golden.fault
        if found is None or found.kind != (kind or found.kind):
            seen = found.detail if found else golden.detail or golden.outcome
            raise NotShown(f"the trace does not show the error when it is repeated: {seen}")
        if not found.is_same(look(runners[0], text, limits, kind, True).fault):
            raise NotShown("the trace shows an error in a forked process only, not in a fresh one")
        held = held_to(golden, limits)
        if kind == LEAK:
            held = structs.replace(held, seconds=held.seconds / 2)
        made = Trial(runners, found, held)
        stack.callback(made.close)
        yield made


def minimise(
    trace: Trace,
    setup: Setup,
    kind: str = "",
    *,
    jobs: int = 1,
    seconds: float = 300.0,
    limits: Limits = RUN_LIMITS,
    result: Path | None = None,
    on_step: Callable[[Trace, int], None] = lambda trace, checks: None,
) -> Minimised:
    """Make a trace as small as it gets while it shows its error, of this ``kind`` (empty: any).

    ``result`` is where the smallest trace so far stands, at any time whole; if it holds one already that
    shows the error, minimising resumes from it. ``on_step`` gets each smaller trace. Raises NotShown, and
    BadOutput where ``result`` cannot be written.
    """
    started = time.monotonic()
    with trial(setup, trace, kind, jobs, limits) as tried:

        def show(traces: Sequence[Trace]) -> int | None:
            if time.monotonic() - started > seconds:
                raise OutOfTime
            return tried.show(traces)

        def save(smaller: Trace) -> None:
            if result is not None:
                write_trace(result, smaller)
            on_step(smaller, work.checks)

        earlier = _earlier(result, trace)
        start = earlier if earlier is not None and tried.show([earlier], fresh=True) == 0 else trace
        work = Work(start, show, save, jobs)
        work.run()
        confirmed = tried.show([work.trace], fresh=True) == 0
        if not confirmed and work.trace != start:
            # Fresh processes do not show what forks show: each step is repeated in a fresh one.
            work = Work(start, lambda traces: _first_fresh(tried, show, traces), save, jobs, work.checks)
            work.run()
            confirmed = tried.show([work.trace], fresh=True) == 0
        if result is not None:
            write_trace(result, work.trace)
        spent = time.monotonic() - started
        return Minimised(trace, work.trace, tried.fault, work.checks, spent, work.complete, confirmed)


def _first_fresh(
    tried: Trial, show: Callable[[Sequence[Trace]], int | None], traces: Sequence[Trace]
) -> int | None:
    place = 0
    while place < len(traces) and (won := show(traces[place:])) is not None:
        place += won
        if tried.show([traces[place]], fresh=True) == 0:
            return place
        place += 1
    return None


def _earlier(result: Path | None, trace: Trace) -> Trace | None:
    """What an earlier minimisation reached, if it can be read and is smaller."""
    if result is None or not result.is_file():
        return None
    try:
        found = load_trace(result)
    except (OSError, TraceError):
        return None
    return found if measure(found) < measure(trace) else None


def write_trace(file: Path, trace: Trace) -> None:
    """Put a trace into a file, whole or not at all. Raises BadOutput."""
    with writing(file):
        put_text(file, print_trace(trace))
