"""The life of an instance: ``new`` to ``delete``, its logic, and assertion levels.

Sorts, terms and definitions outlive the level that they were made on.
"""

from __future__ import annotations

from typing import Annotated, Any, Self

from apifuzz.actions import MAY_CHANGE, Action, Made
from apifuzz.call import Count, Drawn, Name
from apifuzz.interface import Feature
from apifuzz.logics import draw_logic
from apifuzz.run import Run
from apifuzz.trace import TraceError

_DEEPEST = 8


class New(Action[None]):
    """``new``: make the solver instance, and its term manager or context where there is none."""

    changes = True
    likely = (lambda run: not run.exists,)

    def keep(self, run: Run, result: Any) -> None:
        run.exists = True
        run.options_changed()


class Delete(Action[None]):
    """``delete``: delete the instance, with every handle that the engine keeps."""

    changes = True

    def make(self, run: Run) -> Made:
        run.forget()
        return super().make(run)


class SetLogic(Action[None]):
    """``set-logic LOGIC``, before anything is made."""

    changes = True
    logic: Annotated[Name, Drawn(lambda run: draw_logic(run.scope, run.operators.function_sorts, run.random))]
    likely = (lambda run: not run.logic and run.is_empty,)

    def require(self, run: Run) -> None:
        if not self.is_possible(run):
            raise TraceError("the logic is set once, before anything is made")

    def keep(self, run: Run, result: Any) -> None:
        run.logic = self.logic
        run.options_changed()


class Reset(Action[None]):
    """``reset``: the instance is as new. Terms of the manager remain valid; where the solver does not allow
    that, the engine lacks the feature RESET.
    """

    changes = True
    feature = Feature.RESET


class ResetAssertions(Action[None]):
    """``reset-assertions``: no assertion and no level is left."""

    changes = True
    feature = Feature.RESET_ASSERTIONS
    likely = (MAY_CHANGE.holds,)


class Push(Action[None]):
    """``push N``: open levels."""

    changes = True
    feature = Feature.INCREMENTAL
    likely = (lambda run: len(run.stack.levels) <= _DEEPEST,)
    count: Annotated[Count, Drawn(lambda run: 1 if run.random.happens(0.7) else run.random.up_to(3))]


class Pop(Action[None]):
    """``pop N``: close levels, with the assertions on them."""

    changes = True
    feature = Feature.INCREMENTAL
    likely = (lambda run: len(run.stack.levels) > 1,)
    count: Count

    @classmethod
    def draw(cls, run: Run) -> Self:
        chance, depth = run.random, len(run.stack.levels) - 1
        return cls(1 if chance.happens(0.6) else chance.up_to(depth))

    def require(self, run: Run) -> None:
        super().require(run)
        if self.count >= len(run.stack.levels):
            raise TraceError(f"{self.count} levels to close, {len(run.stack.levels) - 1} are open")
