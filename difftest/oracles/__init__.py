"""Oracles: what counts as wrong. One file each, listed here; ``select`` takes names, ``probe`` and ``look``
apply those selected to what solvers did with one test.
"""

from __future__ import annotations

import difflib
import zlib
from collections.abc import Sequence

from difftest.errors import DifftestError
from difftest.oracles import (
    crash,
    implication,
    incompleteness,
    invalid_model,
    model_cross_check,
    slowdown,
    soundness,
)
from difftest.oracles.base import (
    Candidate,
    FindingClass,
    Observation,
    Oracle,
    finding_id,
    is_same,
    observe_test,
    theories,
)
from difftest.running.process import Limits
from difftest.running.runner import Runner
from difftest.solvers import Solver

ORACLES: dict[str, Oracle] = {
    module.ORACLE.name: module.ORACLE
    for module in (
        crash,
        soundness,
        invalid_model,
        model_cross_check,
        incompleteness,
        implication,
        slowdown,
    )
}
"""All oracles by name, the gravest first."""

PLAIN = ("crash", "soundness", "invalid-model")
"""Those that need nothing but the verdicts on the test itself."""


_CROSSED_ONE_IN = 4


class UnknownOracle(DifftestError):
    """A name that is no oracle's."""


def select(names: Sequence[str]) -> tuple[str, ...]:
    """``names`` (each may hold several, separated by commas) as names of oracles; UnknownOracle if one is
    not.
    """
    chosen = [part.strip() for name in names for part in name.split(",") if part.strip()]
    for name in chosen:
        if name not in ORACLES:
            near = difflib.get_close_matches(name, ORACLES, n=2, cutoff=0.65)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise UnknownOracle(f"oracle {name!r}: not known. There are {', '.join(ORACLES)}.{hint}")
    if not chosen:
        raise UnknownOracle(f"no oracle is named. There are {', '.join(ORACLES)}.")
    return tuple(name for name in ORACLES if name in chosen)


def default_oracles(solvers: Sequence[Solver]) -> tuple[str, ...]:
    """The oracles that are on for these solvers when none are named."""
    return tuple(name for name, oracle in ORACLES.items() if oracle.is_default(solvers))


def hunting_oracles(names: Sequence[str], solvers: Sequence[Solver], text: str) -> tuple[str, ...]:
    """The oracles for one test of a hunt: those named, or the defaults.

    By default models are crossed on one test in four, drawn by the text: on all of them a hunt is half as
    slow again (measured), on these it is an eighth.
    """
    if names:
        return tuple(names)
    chosen = default_oracles(solvers)
    if zlib.crc32(text.encode("utf-8", "surrogateescape")) % _CROSSED_ONE_IN == 0:
        return chosen
    return tuple(name for name in chosen if name != model_cross_check.ORACLE.name)


def probe(
    seen: Observation, names: Sequence[str], runner: Runner, limits: Limits
) -> tuple[Observation, float]:
    """Make the runs that these oracles need beyond the test's own; with the seconds spent in solvers."""
    spent = 0.0
    for name in names:
        prober = ORACLES[name].probe
        if prober is not None:
            seen, seconds = prober(seen, runner, limits)
            spent += seconds
    return seen, spent


def look(seen: Observation, names: Sequence[str]) -> list[Candidate]:
    """All that is wrong in the eyes of these oracles."""
    found = [candidate for name in names for candidate in ORACLES[name].look(seen)]
    # A wrong sat whose model the solver itself refutes is one fault: the graver name stays.
    blamed = {c.guilty for c in found if c.finding_class is FindingClass.SOUNDNESS}
    return [c for c in found if c.finding_class is not FindingClass.INVALID_MODEL or c.guilty not in blamed]


__all__ = [
    "ORACLES",
    "PLAIN",
    "Candidate",
    "FindingClass",
    "Observation",
    "Oracle",
    "UnknownOracle",
    "default_oracles",
    "finding_id",
    "hunting_oracles",
    "is_same",
    "look",
    "observe_test",
    "probe",
    "select",
    "theories",
]
