"""bitwuzla (an extra): its wheel has no program, so a driver reads SMT-LIB through its Python interface."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from solvers import releases
from solvers.bitwuzla.tracker import FORM
from solvers.errors import SolverMissing
from solvers.profile import Located, Profile, ask_driver


def _locate(spec: str, release: str | None) -> Located:
    argv = (sys.executable, "-I", str(Path(__file__).resolve().with_name("driver.py")))
    if release is not None:
        folder = str(releases.fetch_release("bitwuzla", release))
        return Located((*argv, "--wheel", folder), folder)
    if importlib.util.find_spec("bitwuzla") is None:
        raise SolverMissing(
            "solver 'bitwuzla': the package bitwuzla is not installed beside exhume "
            "(pip install 'exhume[bitwuzla]')"
        )
    return Located(argv, "bitwuzla")


PROFILE = Profile(
    "bitwuzla",
    "bitwuzla",
    "bitwuzla",
    _locate,
    checks=("--produce-models", "--check-model"),
    models=("--produce-models",),
    theories=frozenset("Core FixedSizeBitVectors FloatingPoint ArraysEx UF Quantifiers".split()),
    extra="bitwuzla",
    ask=ask_driver,
    form=FORM,
    rank=3,
)
