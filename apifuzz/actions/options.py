"""Options: ``set-option`` with values of the kinds that the solver says."""

from __future__ import annotations

import random
from typing import Self

from apifuzz.actions import Action, Made
from apifuzz.call import Name, Word
from apifuzz.interface import Option, OptionKind, Rejected, Unsupported
from apifuzz.run import Run
from apifuzz.trace import TraceError

_FAR = 1000
_SPAN = 50


class SetOption(Action[None]):
    """``set-option NAME VALUE``, each option once, before anything is made."""

    option: Name
    value: Word

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.settings.options and run.is_empty

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        options = run.drawn_options
        for _ in range(4):
            if not options:
                return None
            option = options[int(run.random.random() * len(options))]
            if option.name not in run.options:
                return cls(option.name, draw_value(option, run.random))
        return None

    def make(self, run: Run) -> Made:
        name = self.option
        if not run.is_empty:
            raise TraceError("options are set before anything is made")
        if name in run.options:
            raise TraceError(f"the option {name} is set already")
        # Asked or not, it is not drawn again: a refusal would be repeated.
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
            raise Unsupported(f"as another solver has it: {error}") from error
        run.statistics.options[name] += 1
        run.options_changed()
        return ()


class SetRequiredOption(Action[None]):
    """Draws ``set-option``: the next of the options that every run sets, and those that bring features."""

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return bool(run.required_options) and run.is_empty

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        run.make(SetOption(*run.required_options[0]))
        return None

    def require(self, run: Run) -> None:
        raise TraceError("written as set-option")


def draw_value(option: Option, chance: random.Random) -> str:
    """A value of the option's kind, within its range."""
    if option.kind is OptionKind.BOOL:
        return "true" if chance.random() < 0.5 else "false"
    if option.kind is OptionKind.MODE or option.choices:
        return (
            option.choices[int(chance.random() * len(option.choices))] if option.choices else option.default
        )
    if option.kind is OptionKind.INT:
        return str(_integer(option, chance))
    if option.kind is OptionKind.FLOAT:
        low = option.low if option.low is not None else 0.0
        high = option.high if option.high is not None else max(1.0, low + 1.0)
        return f"{low + chance.random() * (min(high, low + _FAR) - low):.3f}"
    return option.default


def _integer(option: Option, chance: random.Random) -> int:
    low = int(option.low) if option.low is not None else 0
    high = int(option.high) if option.high is not None else max(low, 0) + _FAR
    share = chance.random()
    if share < 0.2:
        return low
    if share < 0.25:
        return min(high, low + _FAR)
    return low + int(chance.random() * (min(high - low, _SPAN) + 1))


ACTIONS = (SetRequiredOption, SetOption)
