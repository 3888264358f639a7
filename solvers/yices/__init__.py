"""yices: reads the options from its help."""

from __future__ import annotations

import re
from collections.abc import Sequence

from solvers.asking import AskedOption, ask


def parse_help(printed: str) -> dict[str, AskedOption]:
    """The options in the output of ``yices-smt2 --help``; those shown with a value are of kind text."""
    found = {}
    for name, value in re.findall(r"^\s+--([\w-]+)(=<[^>]*>)?", printed, re.M):
        found[name] = AskedOption(name, "text" if value else "bool")
    return found


def ask_options(argv: Sequence[str]) -> dict[str, AskedOption]:
    """The options, by name, that the yices of ``argv`` lists with ``--help``."""
    return parse_help(ask(argv, "--help"))
