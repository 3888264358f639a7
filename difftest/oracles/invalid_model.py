"""Invalid model: the solver's own check refutes the model behind its sat."""

from __future__ import annotations

from difftest.oracles.base import Candidate, Observation, Oracle
from solvers.running.outcomes import Outcome


def look(seen: Observation) -> list[Candidate]:
    """One candidate per solver that refutes its own model."""
    return [
        seen.accuse("invalid-model", solver.name, verdict.detail or "its own check refuted its model")
        for solver in seen.judged
        if (verdict := seen.verdicts[solver.name]).outcome is Outcome.INVALID_MODEL
    ]


ORACLE = Oracle("invalid-model", "a solver's own check refutes its model", look, rank=3)
