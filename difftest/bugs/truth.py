"""Which answer is right, where releases of a solver disagree.

It is known if two solver families give it and none contradicts; the newest release that decides counts for
its own family. Without two, a ``sat`` that none of them contradicts is right if another family confirms its
model (a witness).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from difftest.bugs.records import Seen, Trigger
from difftest.bugs.shelf import Shelf, run_text
from difftest.models.cross_check import ambiguous_operators, check_model, with_constant_arrays
from difftest.oracles.base import decided
from difftest.triage.evidence import those
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver


@dataclass(frozen=True, slots=True)
class Truth:
    """The right ``answer`` to a check-sat, or None; and a sentence for each piece of evidence."""

    answer: str | None
    evidence: tuple[str, ...] = ()


def find_truth(
    trigger: Trigger, seen: Sequence[Seen], check: int, shelf: Shelf, runner: Runner, seconds: float
) -> Truth:
    """The right answer to a check-sat number ``check``; ``seen`` are runs in the order of releases."""
    script = Script.of(trigger.text)
    if unclear := ambiguous_operators(script, check):
        return Truth(None, (f"solvers read {', '.join(unclear)} differently",))
    others = shelf.others(trigger.solver)
    said: dict[str, str] = {}
    for solver in others:
        able = with_constant_arrays(solver, trigger.text)
        if answer := decided(run_text(able, trigger.text, "", runner, seconds).answers, check):
            said[solver.name] = answer
    sentences = [f"{name} says {answer}" for name, answer in said.items()]
    newest = next((one for one in reversed(seen) if decided(one.answers, check)), None)
    if newest is not None:
        answer = str(decided(newest.answers, check))
        said[f"{trigger.solver} {newest.release}"] = answer
        sentences.append(f"{trigger.solver} {newest.release}, the newest release that decides, says {answer}")
    answers = set(said.values())
    if len(answers) == 1 and len(said) > 1:
        return Truth(answers.pop(), tuple(sentences))
    owner = _owner(trigger, seen, check, said, others, shelf)
    if owner is None or "unsat" in answers:
        return Truth(None, tuple(sentences))
    judges = [solver for solver in others if solver.kin != owner.kin]
    checked = check_model(runner, owner, script, check, judges, Limits(seconds=seconds))
    confirmed = [name for name, word in checked.answers.items() if word == "sat"]
    if confirmed and not checked.refuted_by:
        return Truth("sat", (*sentences, f"{those(confirmed, 'confirm')} the model of {owner.name}"))
    return Truth(None, tuple(sentences))


def _owner(
    trigger: Trigger,
    seen: Sequence[Seen],
    check: int,
    said: dict[str, str],
    others: Sequence[Solver],
    shelf: Shelf,
) -> Solver | None:
    """A solver that says sat, whose model may be a witness: another family's, else the newest release's."""
    for solver in others:
        if said.get(solver.name) == "sat":
            return solver
    release = next((one.release for one in reversed(seen) if decided(one.answers, check) == "sat"), None)
    return None if release is None else shelf.solver(trigger.spec(release))
