"""Soundness: two solvers disagree on a check-sat, or one contradicts an answer known by construction."""

from __future__ import annotations

from collections.abc import Mapping

from difftest.oracles.base import Candidate, Observation, Oracle, decided
from solvers.running.outcomes import Outcome

# How the reason ends where a solver stands alone against two others.
OUTVOTED_BY = "say otherwise"


def look(seen: Observation) -> list[Candidate]:
    """The first check-sat with contradicting answers; what comes after it has mostly the same cause."""
    answers = {solver.name: seen.verdicts[solver.name].answers for solver in seen.counted}
    found: list[Candidate] = []
    for check in range(max(map(len, answers.values()), default=0)):
        said = {name: answer for name, given in answers.items() if (answer := decided(given, check))}
        truth = decided(seen.known, check)
        if truth is not None:
            liars = [name for name, answer in said.items() if answer != truth]
            found = [_contradicted(seen, name, said[name], truth, check) for name in liars]
        elif len(set(said.values())) > 1:
            found = [_disagreement(said, seen, check)]
        if found:
            break
    return found


def _contradicted(seen: Observation, name: str, said: str, truth: str, check: int) -> Candidate:
    reason = f"it says {said}, and {truth} is known by construction"
    return seen.accuse("soundness", name, reason, check, evidence=(reason,))


def _disagreement(said: Mapping[str, str], seen: Observation, check: int) -> Candidate:
    culprit, reason = _suspect(said, seen)
    solvers = tuple(said)
    key = f"soundness|{culprit or '+'.join(solvers)}|{seen.where}"
    return Candidate("soundness", solvers, key, culprit, reason, check, "soundness")


def _suspect(said: Mapping[str, str], seen: Observation) -> tuple[str | None, str]:
    """Who is wrong, as far as the runs tell: a refuted model, else the one that stands alone against two."""
    refuted = [
        name
        for name, answer in said.items()
        if answer == "sat" and seen.verdicts[name].outcome is Outcome.INVALID_MODEL
    ]
    if refuted:
        return refuted[0], "its own check refutes the model behind its sat"
    alone = outvoted(said, {solver.name: solver.kin for solver in seen.solvers})
    return alone or (None, "two solvers disagree; which one is wrong is not known")


def outvoted(said: Mapping[str, str], kins: Mapping[str, str]) -> tuple[str, str] | None:
    """The solver whose answer stands alone against those of two others, with the reason why it is wrong.

    Releases and builds of one solver share its faults: solvers of one kin (``kins``, by name) count as one.
    """
    sides = [[name for name, answer in said.items() if answer == side] for side in ("sat", "unsat")]
    few, many = sorted(sides, key=len)
    if len(few) == 1 and len({kins[name] for name in many}) > 1:
        return few[0], f"{' and '.join(many)} {OUTVOTED_BY}"
    return None


ORACLE = Oracle(
    "soundness",
    "solvers disagree, or an answer known by construction is contradicted",
    look,
    rank=2,
)
