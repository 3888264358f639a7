"""Options of the solvers known by name: what their files say of them (``solvers.option_file``), and what
solvers say of themselves.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from solvers.asking import AskedOption
from solvers.errors import EnvironmentProblem
from solvers.option_file import OptionClass, OptionTable, split_option
from solvers.registry import PROFILES, kin_of

_EMPTY = OptionTable()


def option_table(family: str) -> OptionTable:
    """The option table of a solver; empty for a solver without a file."""
    return PROFILES[family].option_table if family in PROFILES else _EMPTY


def has_young_option(name: str) -> bool:
    """Whether one of the options in a solver's name is young.

    >>> has_young_option("z3-5.4.1[smt.relevancy=0,sat.smt=true]"), has_young_option("z3[smt.relevancy=0]")
    (True, False)
    """
    bare, _, options = name.removesuffix("]").partition("[")
    table = option_table(kin_of(bare) or "")
    return any(table.class_of(option) is OptionClass.YOUNG for option in options.split(","))


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
