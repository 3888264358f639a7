"""The life of an instance: ``new``, ``delete``, ``reset``, and ``set-logic`` at its beginning."""

from __future__ import annotations

from typing import Self

from apifuzz.actions import Action, Made
from apifuzz.call import Name
from apifuzz.interface import Feature
from apifuzz.logics import draw_logic
from apifuzz.run import Run
from apifuzz.trace import TraceError


class New(Action[None]):
    """``new``: make the solver instance (and its term manager or context, where there is none)."""

    changes = True

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return not run.exists

    def make(self, run: Run) -> Made:
        run.engine.perform(self)
        run.exists = True
        run.options_changed()
        return ()


class Delete(Action[None]):
    """``delete``: let go of the instance and of every handle the engine keeps."""

    changes = True

    def make(self, run: Run) -> Made:
        run.forget()
        run.engine.perform(self)
        return ()


class SetLogic(Action[None]):
    """``set-logic LOGIC``, before anything is made."""

    changes = True
    logic: Name

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return not run.logic and run.is_empty

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        return cls(draw_logic(run.scope, run.operators.function_sorts, run.random))

    def make(self, run: Run) -> Made:
        if not self.is_possible(run):
            raise TraceError("the logic is set once, before anything is made")
        run.engine.perform(self)
        run.logic = self.logic
        run.options_changed()
        return ()


class Reset(Action[None]):
    """``reset``: the instance is as new; terms of the manager live on where the solver allows it (else the
    engine says so by lacking the feature RESET).
    """

    changes = True
    feature = Feature.RESET


class ResetAssertions(Action[None]):
    """``reset-assertions``: no assertion and no level is left."""

    changes = True
    feature = Feature.RESET_ASSERTIONS

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.has(Feature.RESET_ASSERTIONS) and run.may_change


ACTIONS = (New, Delete, SetLogic, Reset, ResetAssertions)
