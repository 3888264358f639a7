"""Crash: a signal, a failed assertion, an internal error, a sanitizer's report."""

from __future__ import annotations

from difftest.oracles.base import Candidate, Observation, Oracle
from solvers.running.outcomes import Outcome


def look(seen: Observation) -> list[Candidate]:
    """One candidate per solver that crashed, whatever its options."""
    found = []
    for solver in seen.judged:
        verdict = seen.verdicts[solver.name]
        if verdict.outcome is Outcome.CRASH:
            # Without a location all deaths by one signal look the same; the theories tell some of them apart.
            place = verdict.location or f"{verdict.shape}|{seen.where}"
            # A crash at one place is one crash, whatever options a test added.
            name = solver.base_name if verdict.location else solver.name
            key = f"crash|{name}|{place}"
            found.append(Candidate("crash", (solver.name,), key, solver.name, verdict.detail, None, "crash"))
    return found


ORACLE = Oracle("crash", "signals, failed assertions, internal errors, sanitizers", look, rank=1)
