"""Life of an instance: made, set up by a logic and options, its levels opened and closed, reset, deleted."""

from __future__ import annotations

from typing import Annotated, Any, Self

from apifuzz.actions import MAY_CHANGE, Action, Made, Unwritten
from apifuzz.call import Count, Drawn, Name, Word
from apifuzz.chance import Chance
from apifuzz.interface import Feature, Option, OptionKind, Rejected, Unsupported
from apifuzz.run import Run
from apifuzz.scope import draw_logic
from apifuzz.trace import TraceError

MAX_LEVELS = 10_000
"""A trace that opens more is refused."""

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

    def require(self, run: Run) -> None:
        super().require(run)
        if len(run.stack.levels) + self.count > MAX_LEVELS:
            raise TraceError(f"more than {MAX_LEVELS} levels")


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


# Options: ``set-option`` with values of the kinds that the solver lists


_FAR = 1000
_SPAN = 50


class SetOption(Action[None]):
    """``set-option NAME VALUE``, each option once, before anything is made."""

    likely = (lambda run: run.settings.options and run.is_empty,)
    option: Name
    value: Word

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        for _ in range(4):
            option = run.random.pick_if_any(run.drawn_options)
            if option is not None and option.name not in run.options:
                return cls(option.name, draw_value(option, run.random))
        return None

    def make(self, run: Run) -> Made:
        name = self.option
        if not run.is_empty:
            raise TraceError("options are set before anything is made")
        if name in run.options:
            raise TraceError(f"the option {name} is set already")
        # Whether or not the solver accepts it, it is not drawn again: a refusal would be repeated.
        run.options[name] = self.value
        try:
            run.engine.perform(self)
        except Unsupported:
            run.options[name] = ""
            raise
        except Rejected as error:
            if not run.foreign:
                raise
            run.options[name] = ""
            raise Unsupported(f"another solver's option: {error}") from error
        run.statistics.options[name] += 1
        run.options_changed()
        return ()


class SetRequiredOption(Unwritten):
    """Draws ``set-option``: the next of the options that every run sets, and of those for features."""

    likely = (lambda run: bool(run.required_options) and run.is_empty,)

    @classmethod
    def draw(cls, run: Run) -> None:
        run.make(SetOption(*run.required_options[0]))


def draw_value(option: Option, chance: Chance) -> str:
    """A value of the option's kind, within its range."""
    if option.kind is OptionKind.BOOL:
        return chance.pick(("true", "false"))
    if option.choices:
        return chance.pick(option.choices)
    if option.kind is OptionKind.INT:
        return str(_integer(option, chance))
    if option.kind is OptionKind.FLOAT:
        low = option.low if option.low is not None else 0.0
        high = option.high if option.high is not None else max(1.0, low + 1.0)
        return f"{low + chance.random() * (min(high, low + _FAR) - low):.3f}"
    return option.default


def _integer(option: Option, chance: Chance) -> int:
    low = int(option.low) if option.low is not None else 0
    high = int(option.high) if option.high is not None else max(low, 0) + _FAR
    share = chance.random()
    if share < 0.2:
        return low
    if share < 0.25:
        return min(high, low + _FAR)
    return low + chance.below(min(high - low, _SPAN) + 1)
