"""Reduction of a text: the smallest one that still shows something, whatever that is.

Our own passes come first (they are typed and their checks are forked solvers, so they make ddSMT's work
cheap), then ddSMT with the same check, then our passes again. Tests of the strategy ``storm`` go through its
own minimisation before all that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from difftest.reduction._passes import Passes
from difftest.reduction.ddsmt import reduce_with_ddsmt
from generator import GenerationError
from generator.strategies.storm.minimising import minimise
from smtlib.checker import read_well_sorted
from smtlib.commands import print_script
from solvers.running.script import Script

# The share of the time that our passes may take before ddSMT gets its turn.
_OWN_SHARE = 0.5
# The share of the time that STORM's minimisation may take, for tests of that strategy.
_STORM_SHARE = 0.25
# The share of what is left then that ddSMT gets; the rest is for our passes on its result.
_DDSMT_SHARE = 0.9


@dataclass(frozen=True, slots=True)
class Step:
    """One stage: ``tool`` is ``storm``, ``passes`` or ``ddsmt``, ``size`` the bytes that it ended with."""

    tool: str
    size: int
    checks: int
    seconds: float
    finished: bool

    def to_json(self) -> dict[str, Any]:
        """The object in a report's list."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is tried: STORM's minimisation, our ``passes``, and ddSMT, which gets ``per_check`` seconds for a
    check (None: it is not used).
    """

    seconds: float
    storm: bool = False
    passes: bool = True
    per_check: float | None = None


def reduce_text(
    text: str,
    shows: Callable[[str], bool],
    plan: Plan,
    earlier: str = "",
    save: Callable[[str], None] = lambda text: None,
    on_step: Callable[[Step], None] = lambda step: None,
) -> tuple[str, tuple[Step, ...]]:
    """The smallest text found for which ``shows`` holds, as it does for ``text``, and the steps taken.

    ``earlier`` is what an earlier reduction came to; it is the start if it still shows it. ``save`` is
    given each smaller text.
    """
    work = _Reducer(text, shows, plan, save, on_step)
    if earlier.strip() and _ink(earlier) < _ink(text):
        work.check(earlier)
    if plan.storm and plan.passes:
        work.storm()
    if plan.passes:
        work.own_passes(1.0 if plan.per_check is None else _OWN_SHARE)
    if plan.per_check is not None:
        work.ddsmt(plan.per_check)
        if plan.passes:
            work.own_passes(1.0)
    work.tidy()
    return work.text, tuple(work.steps)


class _Reducer:
    """The smallest text so far, saved whenever it gets smaller."""

    def __init__(
        self,
        text: str,
        shows: Callable[[str], bool],
        plan: Plan,
        save: Callable[[str], None],
        on_step: Callable[[Step], None],
    ) -> None:
        self.text = text
        self.steps: list[Step] = []
        self._shows = shows
        self._save = save
        self._deadline = time.monotonic() + plan.seconds
        self._on_step = on_step
        self._well_sorted = read_well_sorted(text) is not None

    def own_passes(self, share: float) -> None:
        """Our passes for at most this share of the time that is left."""
        started = time.monotonic()
        passes = Passes(self.text, self.check, started + share * max(0.0, self._deadline - started))
        finished = passes.run()
        self._take(Step("passes", 0, passes.checks, time.monotonic() - started, finished), passes.text)

    def storm(self) -> None:
        """STORM's own minimisation: what it makes is right by construction, whatever is reduced after it."""
        started = time.monotonic()
        over = started + _STORM_SHARE * max(0.0, self._deadline - started)
        try:
            found = minimise(self.text, self.check, lambda: time.monotonic() > over)
        except GenerationError:
            return  # what cannot be valued is left to the others
        step = Step("storm", 0, found.checks, time.monotonic() - started, found.finished)
        self._take(step, found.text)

    def ddsmt(self, per_check: float) -> None:
        """ddSMT for the time that is left."""
        started = time.monotonic()
        left = _DDSMT_SHARE * max(0.0, self._deadline - started)
        text, checks, finished = reduce_with_ddsmt(self.text, self._check_sorts_too, left, per_check)
        self._take(Step("ddsmt", 0, checks, time.monotonic() - started, finished), text)

    def tidy(self) -> None:
        """A command per line, in the standard's own spelling where that still shows it."""
        for text in _laid_out(self.text):
            if text == self.text:
                return
            if self._shows(text):
                self.text = text
                return

    def check(self, text: str) -> bool:
        """Whether a text shows it; the smallest one that does is kept."""
        if not self._shows(text):
            return False
        if _ink(text) < _ink(self.text):
            self.text = text
            self._save(text)
        return True

    def _check_sorts_too(self, text: str) -> bool:
        """The same for ddSMT, which knows little of sorts: no ill-sorted script comes out of a sound one."""
        return (not self._well_sorted or read_well_sorted(text) is not None) and self.check(text)

    def _take(self, step: Step, text: str) -> None:
        if _ink(text) <= _ink(self.text):
            self.text = text
        step = replace(step, size=len(self.text.encode("utf-8", "surrogateescape")))
        self.steps.append(step)
        self._on_step(step)


def _laid_out(text: str) -> Iterator[str]:
    """The script with a command per line: as our printer writes it, else as it is."""
    if (checked := read_well_sorted(text)) is not None:
        yield print_script(checked)
    raw = Script.of(text)
    lines = [raw.data[command.start : command.end] for command in raw.commands]
    yield Script(b"\n".join(lines) + b"\n").text


def _ink(text: str) -> int:
    """The size without white space, so that a line per command costs nothing."""
    return sum(map(len, text.split()))
