"""Classifies each solver's options by their effect on answers, and selects those a hunt tries.

The data is one ``options.toml`` per solver, with a table per class: ``name = ["value", ...]``, or ``name = {
values = [...], why = "..." }`` with a reason; without ``values`` the entry covers all of them. Names may be
patterns with ``*``. A hunt does not try the options in the table ``other``. The most specific entry counts: a
value before a name, a name before a pattern.
"""

from __future__ import annotations

import fnmatch
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from solvers.asking import AskedOption
from solvers.errors import EnvironmentProblem
from solvers.profile import read_toml
from solvers.registry import PROFILES, kin_of


class OptionClass(StrEnum):
    """The effect of an option on answers.

    ``sound``: answers are right. ``weaker``: answers are right, but some become unknown. ``young``: a new
    engine, whose authors fix wrong answers when they are reported; these count, and are listed apart, but
    they prove nothing about another solver. Under the other classes a wrong answer does not count as a
    bug: the solver's authors call ``experimental`` options unfinished, ``unsound`` options are known to
    give wrong answers, and ``changes-meaning`` options change the formula.
    """

    SOUND = "sound"
    WEAKER = "weaker"
    YOUNG = "young"
    EXPERIMENTAL = "experimental"
    UNSOUND = "unsound"
    CHANGES_MEANING = "changes-meaning"

    @property
    def is_trusted(self) -> bool:
        """Whether sat and unsat answers are right unless the solver has a bug."""
        return self in (OptionClass.SOUND, OptionClass.WEAKER)

    @property
    def counts(self) -> bool:
        """Whether a wrong answer is a finding."""
        return self.is_trusted or self is OptionClass.YOUNG

    @property
    def is_reportable(self) -> bool:
        """Whether a wrong answer is worth reporting: the option is not known to cause it."""
        return self not in (OptionClass.UNSOUND, OptionClass.CHANGES_MEANING)


# Those that a hunt tries; under experimental ones only crashes and invalid models count.
_TRIED = (OptionClass.SOUND, OptionClass.WEAKER, OptionClass.YOUNG, OptionClass.EXPERIMENTAL)
# The prefix of a flag's name, by value.
_FLAGS = {"true": "", "false": "no-"}
_WORST_FIRST = tuple(reversed(OptionClass))


@dataclass(frozen=True, slots=True)
class KnownOption:
    """One entry of a file. Without ``values`` it covers any value; ``why`` is its reason or source."""

    name: str
    values: tuple[str, ...]
    option_class: OptionClass
    why: str = ""

    def fits(self, name: str, value: str) -> bool:
        """Whether the entry covers this setting."""
        return fnmatch.fnmatchcase(name, self.name) and (not self.values or value in self.values)

    @property
    def precision(self) -> tuple[bool, bool, int]:
        """Orders the entries that fit a setting, most specific last, then most cautious last."""
        return bool(self.values), "*" not in self.name, -_WORST_FIRST.index(self.option_class)


@dataclass(frozen=True, slots=True)
class OptionTable:
    """The contents of one solver's file.

    ``checked_against`` is the release it was written for. With ``flags`` an option is switched on by its
    name and off by ``no-`` and its name. Those in ``threaded`` make runs differ in time. The settings in
    ``tactic_settings`` take a sequence of tactics. ``simplifiers`` keep satisfiability. ``left_out``: why
    a tactic or a simplifier is not used. ``seen``: the options that only a pattern covers, of the release
    that the file was checked against.
    """

    family: str
    checked_against: str
    options: tuple[KnownOption, ...]
    tactic_settings: tuple[str, ...] = ()
    first_tactics: tuple[str, ...] = ()
    last_tactics: tuple[str, ...] = ()
    flags: bool = False
    threaded: frozenset[str] = frozenset()
    simplifiers: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    seen: frozenset[str] = frozenset()

    def mentions(self, name: str) -> bool:
        """Whether somebody has looked at the option: an entry has its name, or it is one of ``seen``."""
        return name in self.seen or any(known.name == name for known in self.options)

    def find(self, option: str) -> KnownOption | None:
        """The entry for ``name=value`` (as written in a spec), or None."""
        name, value = split_option(option)
        fitting = [known for known in self.options if known.fits(name, value)]
        return max(fitting, key=lambda known: known.precision, default=None)

    def class_of(self, option: str) -> OptionClass | None:
        """The class of ``name=value``; None if the file has no entry for it."""
        known = self.find(option)
        return known.option_class if known else None

    def is_reportable(self, option: str) -> bool:
        """Whether wrong answers under ``name=value`` are worth reporting, as far as the file knows."""
        known = self.class_of(option)
        return known is None or known.is_reportable

    def tried(self) -> list[str]:
        """Every setting that a hunt tries, as written in a spec, in the order of the file."""
        return [
            _FLAGS[value] + known.name if self.flags and value in _FLAGS else f"{known.name}={value}"
            for known in self.options
            if known.option_class in _TRIED
            for value in known.values
        ]


def split_option(option: str) -> tuple[str, str]:
    """Name and value of an option in a spec: ``a=b``; ``a`` means ``a=true``, ``no-a`` means ``a=false``."""
    name, equals, value = option.partition("=")
    if equals:
        return name, value
    return (name[3:], "false") if name.startswith("no-") else (name, "true")


@functools.cache
def option_table(family: str) -> OptionTable:
    """The option table of a solver; empty for a solver without a file."""
    file = PROFILES[family].file("options.toml") if family in PROFILES else None
    if file is None:
        return OptionTable(family, "", ())
    data = read_toml(file)
    options = [
        _known(name, entry, option_class)
        for option_class in OptionClass
        for name, entry in data.get(option_class, {}).items()
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
        frozenset(data.get("threaded", ())),
        tuple(tactics.get("simplifiers", ())),
        {name: why for why, names in tactics.get("left-out", {}).items() for name in names},
        frozenset(data.get("seen", "").split()),
    )


def has_young_option(name: str) -> bool:
    """Whether one of the options in a solver's name is young.

    >>> has_young_option("z3-5.4.1[smt.relevancy=0,sat.smt=true]"), has_young_option("z3[smt.relevancy=0]")
    (True, False)
    """
    bare, _, options = name.removesuffix("]").partition("[")
    table = option_table(kin_of(bare) or "")
    return any(table.class_of(option) is OptionClass.YOUNG for option in options.split(","))


def _known(name: str, entry: Sequence[str] | dict[str, Any], option_class: OptionClass) -> KnownOption:
    if isinstance(entry, dict):
        return KnownOption(name, tuple(entry.get("values", ())), option_class, entry.get("why", ""))
    return KnownOption(name, tuple(entry), option_class)


@functools.cache
def asked_options(family: str, argv: tuple[str, ...]) -> Mapping[str, AskedOption]:
    """A solver's own description of its options, requested once; EnvironmentProblem if that fails."""
    return PROFILES[family].ask_options(argv)


def takes(family: str, argv: tuple[str, ...], option: str) -> bool:
    """Whether a solver has an option; one that cannot be asked has none."""
    try:
        return why_refused(option, asked_options(family, argv)) is None
    except EnvironmentProblem:
        return False


def why_refused(setting: str, asked: Mapping[str, AskedOption]) -> str | None:
    """Why a solver with the options ``asked`` does not accept ``setting``; None if it does."""
    name, value = split_option(setting)
    option = asked.get(name)
    if option is None:
        return "no such option"
    return None if option.takes(value) else f"does not accept {value!r}"
