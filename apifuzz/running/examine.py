"""From an error of a run to what is filed: seen again in a fresh process, quickly made small, given a key."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from apifuzz.minimise.session import OutOfTime, Work, held_to, look
from apifuzz.running.faults import Fault
from apifuzz.running.keys import key_of
from apifuzz.running.runs import Runner
from apifuzz.trace import Trace, TraceError, print_trace, read_trace
from difftest.triage.key import FoundKey
from solvers.running.process import Limits

QUICK_SECONDS = 15.0
"""How long a confirmed error's trace is minimised at once, for its key and its report."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A confirmed error: ``trace`` as drawn, ``minimised`` as far as there was time (``complete``: wholly).

    ``fault`` and ``printed`` are of the fresh process that made the calls of ``minimised``.
    """

    fault: Fault
    key: FoundKey
    trace: Trace
    minimised: Trace
    complete: bool
    printed: str


def examine(runner: Runner, text: str, fault: Fault, limits: Limits, seconds: float) -> Examined | None:
    """Look at the error of a trace again; None where a fresh process does not show it."""
    try:
        trace = read_trace(text)
    except TraceError:
        return None
    shown = look(runner, print_trace(trace), limits, fault.kind, fresh=True)
    if not fault.is_same(shown.fault):
        return None
    small, complete = _quickly(runner, trace, fault, limits, seconds)
    if small != trace:
        again = look(runner, print_trace(small), limits, fault.kind, fresh=True)
        if fault.is_same(again.fault):
            shown = again
        else:
            small, complete = trace, False
    key = key_of(fault, runner.setup.label, small, complete)
    if fault.signal and (function := runner.function_that_dies(print_trace(small), limits)):
        key = key.with_function(f"{fault.kind}|{runner.setup.label}|{fault.signal} in {function}")
    return Examined(shown.fault or fault, key, trace, small, complete, shown.printed)


def _quickly(
    runner: Runner, trace: Trace, fault: Fault, limits: Limits, seconds: float
) -> tuple[Trace, bool]:
    """Minimise in forks for a short time: the trace, and whether it came to its end."""
    started = time.monotonic()
    golden = look(runner, print_trace(trace), limits, fault.kind)
    if not fault.is_same(golden.fault):
        return trace, False
    each = held_to(golden, limits)

    def show(traces: Sequence[Trace]) -> int | None:
        if time.monotonic() - started > seconds or runner.closed:
            raise OutOfTime
        return 0 if fault.is_same(look(runner, print_trace(traces[0]), each, fault.kind).fault) else None

    work = Work(trace, show)
    return work.run(), work.complete
