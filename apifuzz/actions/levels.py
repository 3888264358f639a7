"""Assertion levels: ``push`` and ``pop``. Sorts, terms and definitions outlive the level they come from."""

from __future__ import annotations

from typing import Self

from apifuzz.actions import Action
from apifuzz.call import Count
from apifuzz.interface import Feature
from apifuzz.run import Run
from apifuzz.trace import TraceError

_MOST = 3
_DEEPEST = 8


class Push(Action[None]):
    """``push N``: open levels."""

    changes = True
    feature = Feature.INCREMENTAL
    count: Count

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.has(Feature.INCREMENTAL) and len(run.stack.levels) <= _DEEPEST

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        return cls(1 if run.random.random() < 0.7 else 1 + int(run.random.random() * _MOST))


class Pop(Action[None]):
    """``pop N``: close levels, with the assertions on them."""

    changes = True
    feature = Feature.INCREMENTAL
    count: Count

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.has(Feature.INCREMENTAL) and len(run.stack.levels) > 1

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        chance, depth = run.random.random, len(run.stack.levels) - 1
        return cls(1 if chance() < 0.6 else 1 + int(chance() * depth))

    def require(self, run: Run) -> None:
        super().require(run)
        if self.count >= len(run.stack.levels):
            raise TraceError(f"{self.count} levels to close, {len(run.stack.levels) - 1} are open")


ACTIONS = (Push, Pop)
