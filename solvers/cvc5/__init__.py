"""cvc5: its wheel has no program, so a driver reads SMT-LIB through its Python interface."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

from solvers import releases
from solvers.cvc5.tracker import FORM
from solvers.errors import EnvironmentProblem, SolverMissing
from solvers.profile import Located, Profile, ask_driver

# The first release whose Python interface reads SMT-LIB.
_WITH_PARSER = (1, 2, 0)


def _locate(spec: str, release: str | None) -> Located:
    argv = [sys.executable, "-I", str(Path(__file__).resolve().with_name("driver.py"))]
    if release is None:
        if importlib.util.find_spec("cvc5") is None:
            raise SolverMissing("solver 'cvc5': the package cvc5 is not installed beside exhume")
        return Located(tuple(argv), "cvc5")
    numbers = tuple(int(part) for part in re.findall(r"\d+", release)[:3])
    if numbers < _WITH_PARSER:
        raise EnvironmentProblem(
            f"solver {spec!r}: its Python interface reads no SMT-LIB (1.2.0 is the first to); "
            f"give the program instead: cvc5-{release}=/path/to/cvc5"
        )
    folder = str(releases.fetch_release("cvc5", release))
    return Located((*argv, "--wheel", folder), folder)


PROFILE = Profile(
    "cvc5",
    "cvc5",
    "cvc5",
    _locate,
    checks=("--check-models",),
    incremental=("--incremental",),
    models=("--produce-models",),
    theories=frozenset(
        "Core Ints Reals Reals_Ints FixedSizeBitVectors FloatingPoint UnicodeStrings ArraysEx UF Sequences "
        "Sets Bags Tuples Transcendental SeparationLogic FiniteFields Datatypes Quantifiers".split()
    ),
    ask=ask_driver,
    form=FORM,
    rank=2,
)
