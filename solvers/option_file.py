"""The ``options.toml`` of a solver: the effect of its options on answers, and those that a hunt tries.

It has a table per class: ``name = ["value", ...]``, or ``name = { values = [...], why = "..." }`` with a
reason; without ``values`` the entry covers all of them. Names may be patterns with ``*``. A hunt does not try
the options in the table ``other``. The most specific entry counts: a value before a name, a name before a
pattern.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import msgspec


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

    checked_against: str = ""
    options: tuple[KnownOption, ...] = ()
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


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    values: tuple[str, ...] = ()
    why: str = ""


_Entries = dict[str, tuple[str, ...] | _Entry]


class _Tactics(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    settings: tuple[str, ...] = ()
    first: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    simplifiers: tuple[str, ...] = ()
    left_out: dict[str, tuple[str, ...]] = msgspec.field(name="left-out", default_factory=dict)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    checked_against: str = ""
    seen: str = ""
    flags: bool = False
    threaded: tuple[str, ...] = ()
    sound: _Entries = {}
    weaker: _Entries = {}
    young: _Entries = {}
    experimental: _Entries = {}
    unsound: _Entries = {}
    changes_meaning: _Entries = msgspec.field(name="changes-meaning", default_factory=dict)
    other: dict[OptionClass, tuple[str, ...]] = {}
    tactics: _Tactics = _Tactics()


def read_options(data: dict[str, Any]) -> OptionTable:
    """The table that a file holds; msgspec.ValidationError names what is wrong in it."""
    file = msgspec.convert(data, _File)
    options = [
        KnownOption(name, entry.values, option_class, entry.why)
        if isinstance(entry, _Entry)
        else KnownOption(name, entry, option_class)
        for option_class in OptionClass
        for name, entry in getattr(file, option_class.name.lower()).items()
    ]
    for option_class, names in file.other.items():
        options += [KnownOption(name, (), option_class) for name in names]
    return OptionTable(
        checked_against=file.checked_against,
        options=tuple(options),
        tactic_settings=file.tactics.settings,
        first_tactics=file.tactics.first,
        last_tactics=file.tactics.last,
        flags=file.flags,
        threaded=frozenset(file.threaded),
        simplifiers=file.tactics.simplifiers,
        left_out={name: why for why, names in file.tactics.left_out.items() for name in names},
        seen=frozenset(file.seen.split()),
    )
