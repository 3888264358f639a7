"""From a candidate that fresh runs show again to one with its evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from difftest.oracles import ORACLES, PLAIN, is_same, look, probe
from difftest.oracles.base import Candidate, Observation
from difftest.triage.classes import class_of
from difftest.triage.classes.base import Hearing
from difftest.triage.evidence import PARENT, WITH_MODEL, Evidence
from smtlib.labels import theories_in
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.specs import Solver


def weigh(
    candidate: Candidate, seen: Observation, runner: Runner, limits: Limits, others: Sequence[Solver] = ()
) -> tuple[Candidate, Evidence]:
    """Gather the evidence on a confirmed ``candidate``; gives it with guilt, reason and key settled.

    ``seen`` holds the verdicts of fresh runs, ``others`` the campaign's other solvers. What is not about
    answers (crashes, slowdowns) comes back as it is.
    """
    found = Evidence()
    class_of(candidate.finding_class).weigh(Hearing(candidate, seen, runner, limits, others), found)
    if not found.sentences:
        return candidate, found
    # The look at a crossing names the model's owner before it is known to be wrong.
    guilty = found.guilty if candidate.oracle == "model-cross-check" else found.guilty or candidate.guilty
    reason = found.reason or candidate.reason
    if found.confirmers:
        return _on_the_model(candidate, found), found
    # A formula that follows from another one means nothing without what its oracle said of that.
    stays = candidate.evidence if candidate.oracle == "implication" else ()
    evidence = tuple(dict.fromkeys((*stays, *found.sentences)))
    settled = replace(candidate, guilty=guilty, reason=reason, evidence=evidence)
    if guilty != candidate.guilty:
        parts = candidate.key.split("|")
        settled = replace(settled, key="|".join([parts[0], settled.label, *parts[2:]]))
    return settled, found


def _on_the_model(candidate: Candidate, found: Evidence) -> Candidate:
    """The wrong answer of the solver that refuted a right model."""
    assert found.guilty is not None, "who refutes a model that others confirm is wrong"
    solvers = (found.guilty, *(solver.name for solver in found.confirmers))
    key = f"soundness|{found.guilty}|{'+'.join(theories_in(found.formula))}"
    evidence = tuple(found.sentences)
    return Candidate("soundness", solvers, key, found.guilty, found.reason, 0, "soundness", evidence)


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a candidate: with its evidence, or None if it does not show; ``files`` to keep with it,
    and the ``seconds`` spent in solvers.

    Where the candidate is about ``text`` instead of the test (a right model that a solver refuted, put in),
    it takes the ``solvers`` to show it.
    """

    candidate: Candidate | None
    seconds: float
    files: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    solvers: tuple[Solver, ...] = ()


def confirm_and_weigh(
    candidate: Candidate,
    seen: Observation,
    others: Sequence[Solver],
    limits: Limits,
    within: Runner | None = None,
) -> Settled:
    """Whether the verdicts of fresh runs in ``seen`` show ``candidate`` again, and who is wrong.

    All further runs are made in fresh processes, too; closing the runner ``within`` cuts them short.
    """
    oracle = ORACLES[candidate.oracle or "soundness"]
    names = [name for name in ORACLES if name in (*PLAIN, oracle.name)]
    with Runner(warm=False, within=within) as runner:
        seen, spent = probe(seen, names, runner, limits)
        if not is_same(candidate, look(seen, names)):
            return Settled(None, spent)
        if oracle.measure is not None and not oracle.measure(candidate, seen, runner, limits):
            return Settled(None, spent)
        settled, found = weigh(candidate, seen, runner, limits, others)
    spent += found.seconds
    if found.dismissed:
        return Settled(None, spent)
    if found.confirmers:
        judge = seen.solver(settled.guilty or "")
        return Settled(settled, spent, {PARENT: seen.text}, found.formula, (judge, *found.confirmers))
    files = {}
    if found.formula:
        files[WITH_MODEL] = found.formula
    if oracle.name == "implication" and seen.parent is not None:
        files[PARENT] = seen.parent
    return Settled(settled, spent, files)
