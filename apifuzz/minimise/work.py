"""The minimiser's loop: proposals are tried, several at once, and the first that shows the error is taken.

What comes out depends on the trace and on what shows, not on how many are tried at once: of those tried
together the first in the passes' order is taken, and nothing that was tried after it counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from apifuzz.minimise.facts import collected, measure
from apifuzz.minimise.passes import GRAINED, SINGLE, Pass, Proposal, drop_lines, renumbered
from apifuzz.trace import Trace, TraceError, print_trace

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
        position = 0
        while True:
            chosen = list(itertools.islice(self._worthwhile(step(self.trace, position, grain)), self.width))
            if not chosen:
                return
            won = self._first([trace for _, _, trace in chosen])
            if won is None:
                position = chosen[-1][1]
            else:
                position, _, self.trace = chosen[won]
                self.save(self.trace)

    def _worthwhile(self, proposals: Iterator[Proposal]) -> Iterator[Proposal]:
        """Those that are smaller and were not tried before."""
        size = measure(self.trace)
        for begin, end, trace in proposals:
            if measure(trace) < size and _text(trace) not in self._failed:
                yield begin, end, trace

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
    grain = max(1, count // 2)
    while grain > 1:
        yield grain
        grain //= 2
    yield 1
