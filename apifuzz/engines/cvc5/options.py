"""Options: asked of cvc5, without those that are dangerous or change what a formula means."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import cvc5

from apifuzz.engines.profile import profile
from apifuzz.interface import Option, OptionKind, Unsupported
from solvers.options import option_table

# The categories of options whose bugs cvc5's maintainers take reports about.
_USUAL = frozenset((cvc5.OptionCategory.COMMON, cvc5.OptionCategory.REGULAR))

_LARGEST = 1000
"""Integers without a range of their own are drawn up to twice the default, at least 2 and at most this."""


@lru_cache(maxsize=1)
def describe_options() -> tuple[Option, ...]:
    """The options that may be drawn, by name; none for experts."""
    solver = cvc5.Solver(cvc5.TermManager())
    _defaults()
    found = []
    for name in sorted(solver.getOptionNames()):
        info = solver.getOptionInfo(name)
        is_drawn = info["category"] in _USUAL and name not in profile("cvc5").dangerous
        # An alias is named, but has its option's name inside.
        if not is_drawn or info["name"] != name:
            continue
        option = _option(name, info)
        if option is not None:
            found.append(option)
    return tuple(found)


def _option(name: str, info: dict[str, Any]) -> Option | None:
    kind, default = info["type"], info.get("default")
    if kind is bool or kind == "mode":
        values = ("false", "true") if kind is bool else info["modes"]
        choices = tuple(value for value in values if is_harmless(name, value))
        if len(choices) < 2:
            return None
        if kind is bool:
            return Option(name, OptionKind.BOOL, str(default).lower())
        return Option(name, OptionKind.MODE, str(default), choices=choices)
    # Text is names of files, output channels, languages.
    if kind not in (int, float) or not is_harmless(name, str(default)):
        return None
    low, high = _range(name, info["minimum"], info["maximum"], int(info["default"]) if kind is int else 1)
    return Option(name, OptionKind.INT if kind is int else OptionKind.FLOAT, str(default), low, high)


def _range(name: str, low: float | None, high: float | None, default: int) -> tuple[float, float]:
    if name in profile("cvc5").ranges:
        return profile("cvc5").ranges[name]
    widest = min(_LARGEST, max(2, 2 * default))
    return (
        min(default, 0) if low is None else low,
        widest if high is None else min(high, max(widest, low or 0)),
    )


def is_harmless(name: str, value: str) -> bool:
    """Whether a value may be drawn: it is not dangerous, keeps answers right and formulas' meaning."""
    if value in profile("cvc5").dangerous_values.get(name, ()):
        return False
    return option_table("cvc5").is_reportable(f"{name}={value}")


def check_conflicts(options: dict[str, str], logic: str, name: str, value: str) -> None:
    """Raise :class:`Unsupported` where cvc5 does not take the setting together with what was set before, or
    under the logic.
    """
    settings = options | {"logic": logic or "ALL", name: value}
    for conflict in profile("cvc5").conflicts:
        if (
            name in (conflict.option, conflict.other)
            and _holds(settings, conflict.option, conflict.value)
            and _holds(settings, conflict.other, conflict.other_value)
        ):
            pair = f"{conflict.option}={settings[conflict.option]}"
            raise Unsupported(f"{pair} with {conflict.other}={conflict.other_value}: {conflict.why}")


@lru_cache(maxsize=1)
def _defaults() -> dict[str, str]:
    """The default values of the options that conflicts are about."""
    solver = cvc5.Solver(cvc5.TermManager())
    names = {name for conflict in profile("cvc5").conflicts for name in (conflict.option, conflict.other)}
    found = {}
    for name in sorted(names - {"logic"}):
        default = solver.getOptionInfo(name).get("default", "")
        found[name] = str(default).lower() if isinstance(default, bool) else str(default)
    return found


def _holds(options: dict[str, str], name: str, value: str) -> bool:
    now = options.get(name)
    if value == "*":
        return now is not None and now != _defaults()[name]
    matches = fnmatchcase(_defaults()[name] if now is None else now, value.removeprefix("!"))
    return matches is not value.startswith("!")
