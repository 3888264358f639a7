"""z3's options: the parameters of its solver and of its contexts, as z3 describes them.

Left out are those that make runs differ from machine to machine (time, memory, threads), that write files or
standard output. z3's table of options (``solvers/z3/options.toml``) says which change what an answer means.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.profile import profile
from apifuzz.interface import Option, OptionKind, Unsupported
from solvers.options import option_table

_MODULES = ("", "smt.", "rewriter.", "solver.")
"""Whose parameters the solver takes without the module's name, as z3 spells it elsewhere."""

CONTEXT_OPTIONS = ("proof", "type_check", "well_sorted_check")
"""Parameters of contexts, to be set before the context is made."""

_DESCRIPTION = re.compile(r"^(\S+) \((bool|unsigned int|double|symbol|string)\) (.*)$")
_DEFAULT = re.compile(r"\(default: ?([^)]*)\)\s*$")
_NUMBERED = re.compile(r"(?<![\w.])(\d)\s*-\s")
_QUOTED = re.compile(r"'([\w-]+)'")
_KINDS = {
    "bool": OptionKind.BOOL,
    "unsigned int": OptionKind.INT,
    "double": OptionKind.FLOAT,
    "symbol": OptionKind.MODE,
}


@lru_cache(maxsize=1)
def solver_options() -> tuple[Option, ...]:
    """What may be drawn: asked of z3 once."""
    context = z3.Context()
    solver = z3.Solver(ctx=context)
    found = [_option(line) for line in z3core.Z3_solver_get_help(context.ref(), solver.solver).splitlines()]
    known = parameter_names(context)
    return (
        Option("produce-models", OptionKind.BOOL, "true"),
        Option("produce-unsat-cores", OptionKind.BOOL, "false"),
        *(Option(name, OptionKind.BOOL, "false") for name in CONTEXT_OPTIONS if name in known),
        *(o for o in found if o is not None and o.name not in CONTEXT_OPTIONS),
    )


def parameter_names(owner: Any) -> frozenset[str]:
    """The parameters that a solver or a context has."""
    described = owner.param_descrs()
    return frozenset(described.get_name(i) for i in range(described.size()))


def _option(line: str) -> Option | None:
    """The option that a line of z3's help describes; None where it is not to be drawn."""
    match = _DESCRIPTION.match(line)
    if match is None or match[1] in profile("z3").dangerous or match[2] not in _KINDS:
        return None
    name, kind, about = match[1], _KINDS[match[2]], match[3]
    described = _DEFAULT.search(about)
    default = described[1].strip() if described else "false" if kind is OptionKind.BOOL else ""
    if not _is_harmless(name, default):
        return None
    if kind is OptionKind.FLOAT:
        return Option(name, kind, default, profile("z3").ranges.get(name, (0.0, 0.0))[0])
    highest = max(map(int, _NUMBERED.findall(about)), default=0)
    values = {
        OptionKind.BOOL: ("false", "true"),
        OptionKind.INT: tuple(map(str, range(highest + 1))),
        OptionKind.MODE: tuple(dict.fromkeys(_QUOTED.findall(about))),
    }[kind]
    choices = tuple(value for value in values if _is_harmless(name, value))
    if kind is OptionKind.INT and choices == values:
        return Option(name, kind, default, 0.0, float(highest or 2**32 - 1))
    if len(choices) < 2:
        return None
    if kind is OptionKind.BOOL:
        return Option(name, kind, default)
    return Option(name, OptionKind.MODE, default, choices=choices)


def _is_harmless(name: str, value: str) -> bool:
    """Whether answers stand, and formulas mean what they say, under the setting."""
    return all(option_table("z3").is_reportable(f"{module}{name}={value}") for module in _MODULES)


def read_option(name: str, value: str) -> bool | int | float | str:
    """The value as z3 takes it in Python. Raises :class:`Unsupported` if it does not fit the option."""
    option = next((o for o in solver_options() if o.name == name), None)
    if option is None:
        if name == "rlimit" and value.isdecimal():
            return int(value)
        raise Unsupported(f"no option {name}, or one that runs must not set")
    try:
        if option.kind is OptionKind.BOOL:
            return {"true": True, "false": False}[value]
        if option.kind is OptionKind.INT or (option.choices and option.choices[0].isdecimal()):
            if not 0 <= int(value) < 2**32:
                raise ValueError(value)
            return int(value)
        return float(value) if option.kind is OptionKind.FLOAT else value
    except (KeyError, ValueError) as error:
        raise Unsupported(f"{value} is not a value of {name}") from error
