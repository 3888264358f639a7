"""Incompleteness, type 1: an older release answered, and the newer one says unknown."""

from __future__ import annotations

import re
from collections.abc import Iterable

from difftest.oracles.base import Candidate, Observation, Oracle, decided
from difftest.oracles.releases import older_pairs
from solvers.running.outcomes import Outcome
from solvers.solver import Solver

# An unknown that the formula's own limits bring about says nothing.
LIMITED = re.compile(
    r"\(\s*set-option\s+:(?:\S*(?:timeout|limit|max_memory|max_steps|max_conflicts)\S*|rlimit)"
)


def look(seen: Observation) -> list[Candidate]:
    """For each solver the first check-sat that an older release decided and it does not, with the nearest
    such release.
    """
    found: dict[str, Candidate] = {}
    for newer, older in _pairs(seen):
        verdict, before = seen.verdicts[newer.name], seen.verdicts[older.name]
        if verdict.outcome is not Outcome.UNKNOWN or not newer.unknown_is_telling or newer.name in found:
            continue
        for check, answer in enumerate(verdict.answers):
            was = decided(before.answers, check)
            if answer != "unknown" or was is None or _is_contradicted(seen, check, was):
                continue
            reason = f"{older.name} said {was}, it says unknown"
            found[newer.name] = seen.accuse(
                "incompleteness", newer.name, reason, check, older.name, evidence=(reason,)
            )
            break
    return list(found.values())


def promises(seen: Observation, seconds: float) -> bool:
    """Whether one of two releases ran out of time, the newer one where the older one answered, or the older
    one where the newer one does not know.
    """
    for newer, older in _pairs(seen):
        now, before = seen.verdicts[newer.name], seen.verdicts[older.name]
        if now.outcome is Outcome.TIMEOUT and before.is_decided:
            return True
        if now.outcome is Outcome.UNKNOWN and newer.unknown_is_telling and before.outcome is Outcome.TIMEOUT:
            return True
    return False


def _pairs(seen: Observation) -> Iterable[tuple[Solver, Solver]]:
    return older_pairs(seen.trusted) if not LIMITED.search(seen.text) else ()


def _is_contradicted(seen: Observation, check: int, answer: str) -> bool:
    """Whether the older release's answer was wrong, so that not to give it is no loss."""
    others = [decided(seen.verdicts[solver.name].answers, check) for solver in seen.trusted]
    return any(other not in (None, answer) for other in [*others, decided(seen.known, check)])


ORACLE = Oracle(
    "incompleteness",
    "an older release decided it, the newer one says unknown",
    look,
    lambda solvers: any(older_pairs(solvers)),
    promises=promises,
    has_own_runs=True,
    rank=5,
)
