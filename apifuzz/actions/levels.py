"""Assertion levels: ``push`` and ``pop``. Sorts, terms and definitions outlive the level they come from."""

from __future__ import annotations

from apifuzz import calls
from apifuzz.actions import Action
from apifuzz.actions.reading import read_count, require_count
from apifuzz.interface import Feature
from apifuzz.run import Run
from apifuzz.trace import TraceError

_MOST = 3
_DEEPEST = 8


class Push(Action):
    """``push N``: open levels."""

    name = "push"

    def is_possible(self, run: Run) -> bool:
        return run.has(Feature.INCREMENTAL) and len(run.stack.levels) <= _DEEPEST

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return (str(1 if run.random.random() < 0.7 else 1 + int(run.random.random() * _MOST)),)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        count = read_count(args[0])
        run.require(Feature.INCREMENTAL)
        run.engine.perform(calls.Push(count))
        return ()


class Pop(Action):
    """``pop N``: close levels, with the assertions on them."""

    name = "pop"

    def is_possible(self, run: Run) -> bool:
        return run.has(Feature.INCREMENTAL) and len(run.stack.levels) > 1

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return (
            str(
                1 if run.random.random() < 0.6 else 1 + int(run.random.random() * (len(run.stack.levels) - 1))
            ),
        )

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        count = read_count(args[0])
        run.require(Feature.INCREMENTAL)
        if count >= len(run.stack.levels):
            raise TraceError(f"{count} levels are to be closed, {len(run.stack.levels) - 1} are open")
        run.engine.perform(calls.Pop(count))
        return ()


ACTIONS = (Push(), Pop())
