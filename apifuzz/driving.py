"""Driving a run: calls are drawn from the model, or the calls of a trace are made again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apifuzz.actions import Action
from apifuzz.calls import Delete
from apifuzz.engine import Engine
from apifuzz.interface import LimitReached, Misbehaviour, Rejected, Unsupported
from apifuzz.model import Machine, default_model
from apifuzz.run import Ending, Run, Settings
from apifuzz.trace import Trace, TraceError, print_header

_STEPS_PER_CALL = 50
"""A run that takes more steps of the machine per call than this has nothing left to do."""

_SHORTEST = 0.4
"""Runs that do not end by themselves make at least this share of the longest run's calls."""


def new_run(engine: Engine, settings: Settings, seed: int, write: Callable[[str], None] | None = None) -> Run:
    """A run with all actions that the engine's solver has."""
    return Run(engine, settings, seed, write, default_model(engine).actions)


def generate(engine: Engine, settings: Settings, seed: int, write: Callable[[str], None]) -> Ending:
    """Draw and make the calls of one run. ``write`` gets the trace, every line before its call is made."""
    model = default_model(engine)
    run = Run(engine, settings, seed, write, model.actions)
    run.prepare()
    for line in print_header(engine.name, seed, run.scope.settings()):
        write(line + "\n")
    return _ended(run, lambda: _draw_calls(run, model))


def _draw_calls(run: Run, model: Machine) -> None:
    state = model.start
    most = 1 + int(run.settings.calls * (_SHORTEST + run.random.random() * (1 - _SHORTEST)))
    steps = 0
    while state != model.final and run.calls < most and steps < _STEPS_PER_CALL * most:
        steps += 1
        transition = model.draw(state, run)
        run.statistics.states[state] += 1
        if not transition.action or _draw_call(run, model.actions[transition.action]):
            state = transition.target
    if run.exists:
        run.make(Delete())


def _draw_call(run: Run, action: type[Action[Any]]) -> bool:
    """Draw arguments and make the call; whether it was made."""
    try:
        call = action.draw(run)
        if call is None:
            run.statistics.idle[action.name] += 1
            return False
        run.make(call)
    except Unsupported:
        return False
    return True


def replay(engine: Engine, trace: Trace, write: Callable[[str], None] | None = None) -> Ending:
    """Make the calls of a trace again, on the same solver or on another.

    Calls that the engine cannot make are left out, with everything that needs what they would have returned;
    the ending lists them. Raises :class:`TraceError`, with the line, where no run can have written the trace.
    """
    run = new_run(engine, Settings(), trace.seed, write)
    run.replaying = True
    run.foreign = trace.solver != engine.name
    if write is not None:
        for text in print_header(trace.solver, trace.seed, trace.settings):
            write(text + "\n")
    return _ended(run, lambda: _repeat_calls(run, trace))


def _repeat_calls(run: Run, trace: Trace) -> None:
    for line in trace.lines:
        try:
            run.repeat(line)
        except Unsupported:
            run.store.lose(line.returns)
        except TraceError as error:
            raise TraceError(f"{line.action}: {error.reason}", line.number) from None


def _ended(run: Run, drive: Callable[[], None]) -> Ending:
    try:
        drive()
    except Rejected as error:
        return run.ending("rejected", str(error))
    except Misbehaviour as error:
        return run.ending("misbehaviour", str(error), error.kind)
    except LimitReached as limit:
        return run.ending("done", str(limit))
    return run.ending("done")
