"""What each solver's options do to its answers, and which of them a hunt tries: one data file per solver.

A file holds a table per class, of names and values (``name = ["value", ...]``; where it matters with a
reason, ``name = { values = [...], why = "..." }``, and without values for all of them). Names may be patterns
with ``*``. The table ``other`` holds what a hunt does not try. What the same file says more precisely counts:
a value before a name, a name before a pattern.
"""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from solvers.asking import AskedOption
from solvers.profile import read_toml
from solvers.registry import PROFILES


class OptionClass(StrEnum):
    """What an option does to the answers.

    ``sound``: they stand. ``weaker``: they stand, but there are fewer of them. Under the others no answer
    is held against a solver: ``experimental`` options are said to be unfinished by the solver's own authors,
    ``unsound`` ones are known to give wrong answers, ``changes-meaning`` ones make it another formula.
    """

    SOUND = "sound"
    WEAKER = "weaker"
    EXPERIMENTAL = "experimental"
    UNSOUND = "unsound"
    CHANGES_MEANING = "changes-meaning"

    @property
    def is_trusted(self) -> bool:
        """Whether sat and unsat are what they say."""
        return self in (OptionClass.SOUND, OptionClass.WEAKER)

    @property
    def is_reportable(self) -> bool:
        """Whether a wrong answer is worth telling: it is none that the option is known to give."""
        return self not in (OptionClass.UNSOUND, OptionClass.CHANGES_MEANING)


# Those that a hunt tries; under experimental ones only crashes and invalid models count.
_TRIED = (OptionClass.SOUND, OptionClass.WEAKER, OptionClass.EXPERIMENTAL)
# How an option that is a flag is written, before its name.
_FLAGS = {"true": "", "false": "no-"}
_WORST_FIRST = tuple(reversed(OptionClass))


@dataclass(frozen=True, slots=True)
class KnownOption:
    """One line of a file: no ``values`` where it is about any value; ``why`` is its reason or source."""

    name: str
    values: tuple[str, ...]
    option_class: OptionClass
    why: str = ""

    def fits(self, name: str, value: str) -> bool:
        """Whether it is about this setting."""
        return fnmatch.fnmatchcase(name, self.name) and (not self.values or value in self.values)

    @property
    def precision(self) -> tuple[bool, bool, int]:
        """How precisely it says what it says; of two patterns the more cautious one counts."""
        return bool(self.values), "*" not in self.name, -_WORST_FIRST.index(self.option_class)


@dataclass(frozen=True, slots=True)
class OptionTable:
    """What one solver's file says. ``checked_against`` is the release it was written for; with ``flags`` an
    option is switched on by its name alone, and off by ``no-`` before it. Rows of tactics are values of
    ``tactic_settings``.
    """

    family: str
    checked_against: str
    options: tuple[KnownOption, ...]
    tactic_settings: tuple[str, ...] = ()
    first_tactics: tuple[str, ...] = ()
    last_tactics: tuple[str, ...] = ()
    flags: bool = False

    def find(self, option: str) -> KnownOption | None:
        """What is said of ``name=value`` (as a spec has it), or None."""
        name, value = split_option(option)
        fitting = [known for known in self.options if known.fits(name, value)]
        return max(fitting, key=lambda known: known.precision, default=None)

    def class_of(self, option: str) -> OptionClass | None:
        """The class of ``name=value``; None for what the file does not know."""
        known = self.find(option)
        return known.option_class if known else None

    def is_reportable(self, option: str) -> bool:
        """Whether wrong answers under ``name=value`` are worth telling, as far as the file knows."""
        known = self.class_of(option)
        return known is None or known.is_reportable

    def tried(self) -> list[str]:
        """Every setting that a hunt tries, as a spec has it, in the order of the file."""
        return [
            _FLAGS[value] + known.name if self.flags and value in _FLAGS else f"{known.name}={value}"
            for known in self.options
            if known.option_class in _TRIED
            for value in known.values
        ]


def split_option(option: str) -> tuple[str, str]:
    """Name and value of an option as a spec has it: ``a=b``; ``a`` is ``a=true``, ``no-a`` is ``a=false``."""
    name, equals, value = option.partition("=")
    if equals:
        return name, value
    return (name[3:], "false") if name.startswith("no-") else (name, "true")


@functools.cache
def option_table(family: str) -> OptionTable:
    """The table of a solver; an empty one for a solver without a file."""
    file = PROFILES[family].file("options.toml") if family in PROFILES else None
    if file is None:
        return OptionTable(family, "", ())
    data = read_toml(file)
    options = [
        _known(name, said, option_class)
        for option_class in OptionClass
        for name, said in data.get(option_class, {}).items()
    ]
    for option_class, names in data.get("other", {}).items():
        options += [KnownOption(name, (), OptionClass(option_class)) for name in names]
    tactics = data.get("tactics", {})
    return OptionTable(
        family,
        data["checked_against"],
        tuple(options),
        tuple(tactics.get("settings", ())),
        tuple(tactics.get("first", ())),
        tuple(tactics.get("last", ())),
        data.get("flags", False),
    )


def _known(name: str, said: Sequence[str] | dict[str, Any], option_class: OptionClass) -> KnownOption:
    if isinstance(said, dict):
        return KnownOption(name, tuple(said.get("values", ())), option_class, said.get("why", ""))
    return KnownOption(name, tuple(said), option_class)


def worst_class(family: str, options: Iterable[str]) -> OptionClass | None:
    """The class that decides for several options together: the worst; None if one is not known."""
    table = option_table(family)
    found = [table.class_of(option) for option in options]
    if None in found:
        return None
    return next((option_class for option_class in _WORST_FIRST if option_class in found), OptionClass.SOUND)


@functools.cache
def asked_options(family: str, argv: tuple[str, ...]) -> Mapping[str, AskedOption]:
    """What a solver tells of its options, asked once; EnvironmentProblem if it does not."""
    return PROFILES[family].ask_options(argv)


def why_refused(setting: str, asked: Mapping[str, AskedOption]) -> str | None:
    """Why a solver that told of the options ``asked`` does not take ``setting``; None if it does."""
    name, value = split_option(setting)
    option = asked.get(name)
    if option is None:
        return "no such option"
    return None if option.takes(value) else f"takes no {value!r}"
