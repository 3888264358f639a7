"""Oracles: what counts as wrong. One file each; ``select`` takes names, ``look`` applies those selected to
what solvers did with one test, and ``difftest.triage.examine`` also makes the runs that they need.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from base.modules import declared_in
from base.nearest import did_you_mean, nearest
from difftest.errors import DifftestError
from difftest.oracles.base import Candidate, Observation, Oracle
from difftest.oracles.related import oracle_of
from difftest.relations import find_relations
from difftest.relations.base import CONTRADICTION
from solvers.solver import Solver


def find_oracles() -> dict[str, Oracle]:
    """Every module of this folder that has an ``ORACLE``, by name, the gravest first; and the relations."""
    found = [*declared_in(__name__, "ORACLE"), *map(oracle_of, find_relations())]
    return {oracle.name: oracle for oracle in sorted(found, key=lambda oracle: oracle.rank)}


ORACLES: dict[str, Oracle] = find_oracles()
"""All oracles by name, the gravest first."""

PLAIN = ("crash", "soundness", "invalid-model")
"""Those that need nothing but the verdicts on the test itself."""

# Before the name of an oracle that is switched off.
_OFF = "-"


class UnknownOracle(DifftestError):
    """A name that is no oracle's."""


def select(names: Sequence[str]) -> tuple[str, ...]:
    """``names`` (each may hold several, separated by commas) as oracles: those that are on, or, each with a
    ``-`` before it, those that are off among the defaults. UnknownOracle if one is none, or for a mixture.
    """
    chosen = [part.strip() for name in names for part in name.split(",") if part.strip()]
    for name in chosen:
        bare = name.removeprefix(_OFF)
        if bare not in ORACLES:
            hint = did_you_mean(nearest(bare, ORACLES, most=2, least=0.65))
            raise UnknownOracle(f"oracle {bare!r}: not known{hint or '.'} There are {', '.join(ORACLES)}.")
    if not chosen:
        raise UnknownOracle(f"no oracle is named. There are {', '.join(ORACLES)}.")
    if len({name.startswith(_OFF) for name in chosen}) > 1:
        raise UnknownOracle(
            f"oracles {','.join(chosen)}: name those that are on, or with '-' those that are off, not both."
        )
    return tuple(name for oracle in ORACLES for name in (oracle, _OFF + oracle) if name in chosen)


def default_oracles(solvers: Sequence[Solver]) -> tuple[str, ...]:
    """The oracles that are on for these solvers when none are named: for every formula of a replay."""
    usable = (oracle for oracle in ORACLES.values() if oracle.is_default(solvers))
    return tuple(oracle.name for oracle in usable if not oracle.in_turn or oracle.in_replays)


def oracles_on(names: Sequence[str], solvers: Sequence[Solver]) -> tuple[str, ...]:
    """What ``names``, as ``select`` gives them, mean for these solvers: those named, or the defaults without
    those named with a ``-``.
    """
    return _oracles_on(tuple(names), tuple(solvers))


# A hunt asks for each test, nearly always for the same few solvers.
@lru_cache
def _oracles_on(names: tuple[str, ...], solvers: tuple[Solver, ...]) -> tuple[str, ...]:
    chosen = names if _are_on(names) else default_oracles(solvers)
    return tuple(name for name in chosen if _OFF + name not in names)


def oracles_in_turn(names: Sequence[str], solvers: Sequence[Solver]) -> tuple[str, ...]:
    """The oracles of which a hunt draws one for a test; none where others are named."""
    usable = (oracle for oracle in ORACLES.values() if oracle.in_turn and oracle.is_default(solvers))
    return tuple(o.name for o in usable if _OFF + o.name not in names and not _are_on(names))


def _are_on(names: Sequence[str]) -> bool:
    return bool(names) and not names[0].startswith(_OFF)


def hunting_oracles(names: Sequence[str], solvers: Sequence[Solver], turn: str = "") -> tuple[str, ...]:
    """The oracles that ``names`` mean for one test of a hunt; ``turn`` is the one drawn of those in turn."""
    chosen = oracles_on(names, solvers)
    always = (name for name in chosen if name in names or not ORACLES[name].in_turn)
    return (*always, *filter(None, [turn]))


def promises(seen: Observation, names: Sequence[str], seconds: float) -> bool:
    """Whether one of these oracles may see something when solvers that ran out of time get ``seconds``."""
    hooks = (ORACLES[name].promises for name in names)
    return any(promise(seen, seconds) for promise in hooks if promise is not None)


def look(seen: Observation, names: Sequence[str]) -> list[Candidate]:
    """All that is wrong in the eyes of these oracles."""
    found = [candidate for name in names for candidate in ORACLES[name].look(seen)]
    # A wrong sat whose model the solver itself refutes is one fault, and so is a wrong answer that
    # contradicts another one of the same solver: the graver name stays.
    blamed = {c.culprit for c in found if c.finding_class == "soundness"}
    refuted = blamed | {c.culprit for c in found if c.finding_class == "invalid-model"}
    milder = {"invalid-model": blamed, CONTRADICTION: refuted}
    return [c for c in found if c.culprit not in milder.get(c.finding_class, ())]
