"""bitwuzla's options: asked of the library, and set in one of the ways that it has."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import bitwuzla

from apifuzz.chance import Chance
from apifuzz.engines.bitwuzla.session import QUESTIONS, WAYS
from apifuzz.engines.profile import profile
from apifuzz.engines.rows import Words, make_by
from apifuzz.interface import Option, OptionKind, Rejected, Unsupported, must

_HIGHEST = 1 << 16
"""Above this, numbers make no difference for the formulas of a run; bitwuzla's bounds are mostly 2^64 - 1."""

_KINDS = {"NUMERIC": "INT", "STRING": "TEXT"}
"""Kinds of options that bitwuzla calls by other names."""


@lru_cache(maxsize=1)
def describe_options() -> tuple[Option, ...]:
    """The options that may be drawn, as the library describes them."""
    described = [_describe(option) for option in bitwuzla.Option]
    return tuple(o for o in described if o.name not in profile("bitwuzla").dangerous)


def _describe(option: Any) -> Option:
    asked = bitwuzla.OptionInfo(bitwuzla.Options(), option)
    kind, default = OptionKind[_KINDS.get(asked.kind().name, asked.kind().name)], asked.dflt()
    if kind is OptionKind.INT:
        high = min(asked.max(), max(_HIGHEST, default))
        return Option(asked.lng(), kind, str(default), low=asked.min(), high=high)
    shown = str(default).lower() if kind is OptionKind.BOOL else str(default)
    return Option(asked.lng(), kind, shown, choices=tuple(asked.modes()) if kind is OptionKind.MODE else ())


class Settings:
    """The options of one solver instance; ``given`` are those that were set, as text, in order."""

    def __init__(self, random: Chance) -> None:
        self.random = random
        self.options = bitwuzla.Options()
        self.given: dict[str, str] = {}

    def is_on(self, name: str) -> bool:
        """Whether a Boolean option is on."""
        return bool(self.options.get(self.options.option(name)))

    def set(self, name: str, text: str) -> None:
        """Set an option, and ask what it is set to."""
        if not self.options.is_valid(name):
            raise Unsupported(f"option {name}")
        option = self.options.option(name)
        value = self._value(option, text)
        self._set(option, value, text)
        found = self.options.get(option)
        must("value", found == value, f"option {name} set to {text} is {found}")
        self.given[name] = text

    def _value(self, option: Any, text: str) -> bool | int | str:
        if self.options.is_bool(option):
            if text not in ("true", "false"):
                raise Rejected(f"{text} is neither true nor false")
            return text == "true"
        if self.options.is_numeric(option):
            if not text.isdecimal() or len(text) > 20:
                raise Rejected(f"{text} is not a number")
            return int(text)
        return text

    def _set(self, option: Any, value: bool | int | str, text: str) -> None:
        options = self.options
        known = {"options": options, "option": option, "value": value, "text": text}
        known |= {"long": options.lng(option), "is_bool": isinstance(value, bool)}
        # Not Options.shrt, which in bitwuzla 0.9 crashes on options that have no short name.
        known["short"] = bitwuzla.OptionInfo(options, option).shrt()
        make_by(WAYS.find("set"), Words(known), self.random, "no way to set it")

    def inspect(self) -> None:
        """Ask every option all it can be asked, and compare the two ways to ask."""
        for option in bitwuzla.Option:
            asked = bitwuzla.OptionInfo(self.options, option)
            kind, name = asked.kind().name, asked.lng()
            known = {"options": self.options, "option": option, "asked": asked, "kind": kind, "name": name}
            QUESTIONS.ask("value", f"option {name}", Words(known), "option", kind)
