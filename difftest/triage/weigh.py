"""The evidence on a confirmed candidate, as its class gathers it, and what follows of who is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from difftest.oracles.base import Candidate, Observation
from difftest.triage.classes import class_of
from difftest.triage.classes.base import Hearing
from difftest.triage.evidence import Evidence
from smtlib.mentions import theories_in
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.solver import Solver


def weigh(
    candidate: Candidate, seen: Observation, runner: Runner, limits: Limits, others: Sequence[Solver] = ()
) -> tuple[Candidate, Evidence]:
    """Gather the evidence on a confirmed ``candidate``; gives it with guilt, reason and key settled.

    ``seen`` holds the verdicts of fresh runs, ``others`` the campaign's other solvers. What is not about
    answers (crashes, slowdowns) comes back as it is.
    """
    found = Evidence()
    class_of(candidate.finding_class).weigh(Hearing(candidate, seen, runner, limits, others), found)
    if found.sentences:
        if versions := ", ".join(solver.name_and_release for solver in found.thirds):
            found.note(f"also asked: {versions}")
        candidate = _on_the_model(found) if found.confirmers else _settled(candidate, found)
    return candidate, found


def _settled(candidate: Candidate, found: Evidence) -> Candidate:
    """The candidate with guilt, reason and key by the evidence."""
    # The look at a cross_check names the model's owner before it is known to be wrong.
    culprit = found.culprit if candidate.oracle == "model-cross-check" else found.culprit or candidate.culprit
    reason = found.reason or candidate.reason
    # A formula that follows from another one means nothing without what its oracle said of that.
    stays = candidate.evidence if candidate.oracle == "implication" else ()
    evidence = tuple(dict.fromkeys((*stays, *found.sentences)))
    if culprit != candidate.culprit:
        candidate = candidate.blaming(culprit, reason)
    return replace(candidate, reason=reason, evidence=evidence)


def _on_the_model(found: Evidence) -> Candidate:
    """The wrong answer of the solver that refuted a right model."""
    assert found.culprit is not None, "who refutes a model that others confirm is wrong"
    solvers = (found.culprit, *(solver.name for solver in found.confirmers))
    key = f"soundness|{found.culprit}|{'+'.join(theories_in(found.formula))}"
    evidence = tuple(found.sentences)
    return Candidate("soundness", solvers, key, found.culprit, found.reason, 0, "soundness", evidence)
