"""Implication (incompleteness, type 2, and soundness along a chain): the formula that a test was weakened or
strengthened from is decided, and the test, whose answer follows from it, is not, or the other way.

Needs a strategy that names the parent (``GeneratedTest.implied_by`` or ``implies``); the parent is run only
where the test's own answer may not fit.
"""

from __future__ import annotations

from dataclasses import replace

from difftest.oracles.base import Candidate, Observation, Oracle
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script


def probe(seen: Observation, runner: Runner, limits: Limits) -> tuple[Observation, float]:
    """Run the parent in each solver whose answer is not the one that could follow."""
    if seen.parent is None:
        return seen, 0.0
    script = Script.of(seen.parent)
    answers: dict[str, str] = {}
    spent = 0.0
    for solver in seen.counted:
        own = seen.verdicts[solver.name].answers
        if len(own) != 1 or own[0] in (None, seen.follows) or len(script.checks) != 1:
            continue
        verdict = runner.judge(solver, script, limits)
        spent += verdict.seconds
        if verdict.is_decided:
            answers[solver.name] = str(verdict.answers[0])
    return replace(seen, parents=answers), spent


def look(seen: Observation) -> list[Candidate]:
    """One candidate per solver whose answer does not fit what it says of the parent."""
    follows = seen.follows
    kind = "weakened" if follows == "sat" else "strengthened"
    found = []
    for solver in seen.counted:
        own = seen.verdicts[solver.name].answers
        if seen.parents.get(solver.name) != follows or len(own) != 1:
            continue
        if own[0] == "unknown" and solver.unknown_is_telling:
            finding_class = "incompleteness"
        elif own[0] in ("sat", "unsat") and own[0] != follows:
            finding_class = "soundness"
        else:
            continue
        reason = f"it says {follows} to the formula that this one was {kind} from, and {own[0]} to this one"
        candidate = seen.accuse(
            finding_class,
            solver.name,
            reason,
            0,
            oracle="implication",
            evidence=(reason,),
            where=f"implied|{seen.where}",
        )
        found.append(candidate)
    return found


ORACLE = Oracle(
    "implication",
    "the formula it was weakened or strengthened from is decided, this one is not",
    look,
    probe=probe,
    rank=6,
)
