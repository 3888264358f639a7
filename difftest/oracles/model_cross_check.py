"""Model cross-check: another solver refutes the model of a solver that said sat.

Costs two more runs per solver that said sat (one to print the model, one to check it): on every test, a hunt
is half as slow again (measured), so it takes turns with the relations there. A probe only looks at models
where nothing else is wrong, and has each checked by one solver of another kind.
"""

from __future__ import annotations

from dataclasses import replace

from difftest.models.cross_check import CrossCheck, check_model
from difftest.oracles.base import Candidate, Observation, Oracle, decided
from solvers.running.outcomes import Outcome
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver


def probe(seen: Observation, runner: Runner, limits: Limits) -> tuple[Observation, float]:
    """Put each model into one other solver: at the first check-sat that all who decided it call sat."""
    script = Script.of(seen.text)
    check = _agreed(seen, len(script.checks))
    if check is None or script.file_command:
        return seen, 0.0
    cross_checks: list[CrossCheck] = []
    for owner in seen.counted:
        verdict = seen.verdicts[owner.name]
        judge = _judge(owner, seen)
        if judge is None or decided(verdict.answers, check) != "sat":
            continue
        if verdict.outcome in (Outcome.OK, Outcome.UNKNOWN):
            cross_checks.append(check_model(runner, owner, script, check, [judge], limits))
    spent = sum(cross_check.seconds for cross_check in cross_checks)
    return replace(seen, cross_checks=(*seen.cross_checks, *cross_checks)), spent


def _agreed(seen: Observation, checks: int) -> int | None:
    """The first check-sat that some solver calls sat and none unsat."""
    for check in range(checks):
        said = {decided(seen.verdicts[solver.name].answers, check) for solver in seen.counted}
        if "unsat" not in said and "sat" in said:
            return check
    return None


def _judge(owner: Solver, seen: Observation) -> Solver | None:
    """A solver that did not refuse the test if there is one, of another kind if there is one, else another
    release or mode; None if it is alone.
    """

    def rank(solver: Solver) -> tuple[bool, bool]:
        return seen.verdicts[solver.name].outcome is Outcome.REFUSED, solver.kin == owner.kin

    return min((solver for solver in seen.trusted if solver is not owner), key=rank, default=None)


def look(seen: Observation) -> list[Candidate]:
    """One candidate per model that another solver refutes."""
    found = []
    for cross_check in seen.cross_checks:
        owner, check = cross_check.owner, cross_check.check
        if (judge := next((name for name in cross_check.refuted_by if name != owner), None)) is not None:
            reason = f"{judge} says unsat to the formula with its model inserted"
            evidence = (f"{owner}: {reason}",)
            found.append(
                seen.accuse(
                    "invalid-model",
                    owner,
                    reason,
                    check,
                    judge,
                    oracle="model-cross-check",
                    evidence=evidence,
                )
            )
    return found


ORACLE = Oracle(
    "model-cross-check",
    "another solver refutes a model",
    look,
    lambda solvers: len(solvers) > 1,
    probe,
    has_own_runs=True,
    in_turn=True,
    in_replays=True,
    rank=4,
)
