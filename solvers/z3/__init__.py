"""z3: reads its descriptions of parameters and tactics."""

from __future__ import annotations

import re
from collections.abc import Sequence

from solvers.asking import AskedOption, ask, ask_by_script

_MODULE = re.compile(r"\[module\] ([\w.]+)")
_PARAMETER = re.compile(r"    ([\w.]+) \((bool|unsigned int|double|symbol|string)\)(.*)")
_DEFAULT = re.compile(r"\(default: ([^()]*)\)\s*$")
_KINDS = {"bool": "bool", "unsigned int": "int", "double": "float", "symbol": "text", "string": "text"}


def parse_parameters(described: str) -> dict[str, AskedOption]:
    """The parameters in the output of ``z3 -pd``; it has no fixed form for the values of a symbol."""
    found: dict[str, AskedOption] = {}
    module = ""
    for line in described.splitlines():
        if heading := _MODULE.match(line):
            module = heading[1] + "."
        elif parameter := _PARAMETER.match(line):
            default = _DEFAULT.search(parameter[3])
            name = module + parameter[1]
            found[name] = AskedOption(name, _KINDS[parameter[2]], (), default[1] if default else "")
    return found


def ask_options(argv: Sequence[str]) -> dict[str, AskedOption]:
    """The parameters, by name, that the z3 of ``argv`` lists with ``-pd``."""
    return parse_parameters(ask(argv, "-pd"))


def ask_tactics(argv: Sequence[str]) -> frozenset[str]:
    """The names of its tactics, without those of probes."""
    # Not -tactics, which releases before 4.12 do not have.
    described = ask_by_script(argv, "(help-tactic)\n").partition("builtin probes")[0]
    return frozenset(re.findall(r"^- ([\w-]+)", described, re.M))
