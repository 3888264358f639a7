"""The life of an instance: ``new``, ``delete``, ``reset``, and ``set-logic`` at its beginning."""

from __future__ import annotations

from apifuzz import calls
from apifuzz.actions import Action
from apifuzz.actions.reading import read_name, require_count
from apifuzz.interface import Feature
from apifuzz.logics import draw_logic
from apifuzz.run import Run
from apifuzz.trace import TraceError


class New(Action):
    """``new``: make an instance."""

    name = "new"

    def is_possible(self, run: Run) -> bool:
        return not run.exists

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return ()

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        run.engine.perform(calls.New())
        run.exists = True
        run.options_changed()
        return ()


class Delete(Action):
    """``delete``: let go of the instance and of all that was made with it."""

    name = "delete"

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return ()

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        run.forget()
        run.engine.perform(calls.Delete())
        return ()


class SetLogic(Action):
    """``set-logic LOGIC``, before anything is made."""

    name = "set-logic"

    def is_possible(self, run: Run) -> bool:
        return not run.logic and run.is_empty

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return (draw_logic(run.scope, run.operators.function_sorts, run.random),)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        logic = read_name(args[0])
        if not self.is_possible(run):
            raise TraceError("the logic is set once, before anything is made")
        run.engine.perform(calls.SetLogic(logic))
        run.logic = logic
        run.options_changed()
        return ()


class Reset(Action):
    """``reset``: no assertion and no level is left; sorts and terms live on."""

    name = "reset"

    def is_possible(self, run: Run) -> bool:
        return run.has(Feature.RESET)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return ()

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        run.require(Feature.RESET)
        run.engine.perform(calls.Reset())
        return ()


class ResetAssertions(Action):
    """``reset-assertions``: no assertion and no level is left."""

    name = "reset-assertions"

    def is_possible(self, run: Run) -> bool:
        return run.has(Feature.RESET_ASSERTIONS) and run.may_change

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return ()

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        run.require(Feature.RESET_ASSERTIONS)
        run.engine.perform(calls.ResetAssertions())
        return ()


ACTIONS = (New(), Delete(), SetLogic(), Reset(), ResetAssertions())
