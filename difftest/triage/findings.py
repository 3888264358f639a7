"""From the verdicts on one test to findings: what is wrong, with which solver, and under which key it is
counted.

What a test shows at first is a candidate; it is a finding once it was seen again in fresh processes. What
counts as wrong stands in ``difftest.oracles``; here are the names that the rest of the package uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from difftest.oracles import PLAIN, look
from difftest.oracles.base import (
    Candidate,
    FindingClass,
    Observation,
    finding_id,
    is_same,
)
from difftest.running.outcomes import Verdict
from difftest.solvers import Solver


def find_candidates(
    text: str,
    solvers: Sequence[Solver],
    verdicts: Mapping[str, Verdict],
    known: Sequence[str | None] = (),
) -> list[Candidate]:
    """What is wrong with one test's ``verdicts`` (by solver name) by the oracles that need nothing more,
    given the answers ``known`` beforehand.
    """
    return look(Observation(text, solvers, verdicts, known), PLAIN)


__all__ = [
    "Candidate",
    "FindingClass",
    "find_candidates",
    "finding_id",
    "is_same",
]
