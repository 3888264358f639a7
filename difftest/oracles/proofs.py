"""A step of the proof that a solver gives for ``unsat`` does not follow from its premises."""

from __future__ import annotations

from dataclasses import dataclass, field

from difftest.models.model_reader import NotCheckable
from difftest.oracles.base import Violation
from difftest.oracles.related import RelationProbe, oracle_of
from difftest.proofs.check import OUTCOMES, ProofCheck, StepChecker
from difftest.proofs.cpc import BadProof, Proof, read_proof
from difftest.proofs.objects import read_proof_object
from difftest.relations.base import Case, Relation
from smtlib.reader import read_sexps
from solvers.lookup import independent_of
from solvers.registry import PROFILES
from solvers.running.process import Limits
from solvers.solver import Solver

_STEP_SECONDS = 2.0
_MOST_SECONDS = 10.0


def gives_proofs(solver: Solver) -> bool:
    """Whether the solver prints proofs that can be checked."""
    return solver.kin in PROFILES and bool(PROFILES[solver.kin].proofs)


def proof_of(case: Case) -> Proof:
    """The proof that the solver prints for its answer. Raises NotCheckable or BadProof."""
    profile = PROFILES[case.solver.kin]
    settings = [f"(set-option {setting})" for setting in profile.proofs]
    text = case.ask(case.text(question="(check-sat)(get-proof)", before=settings))
    if profile.proof_form == "cpc":
        return read_proof(text)
    if any(command.name.startswith("define-") for command in case.state.commands):
        raise NotCheckable("definitions, which its proofs leave out")
    return read_proof_object(text, read_sexps("\n".join(line for line in case.head if "(declare-" in line)))


@dataclass
class ProofProbe(RelationProbe):
    """Checks the proofs of one test, with the ``others`` (if empty, the solvers at hand); ``checks`` has what
    came of each.
    """

    seconds_per_proof: float = _MOST_SECONDS
    others: tuple[Solver, ...] = ()
    checks: list[ProofCheck] = field(default_factory=list, init=False)

    def _claims(self, case: Case) -> None:
        """Ask for a proof, and other solvers about its steps."""
        if not case.is_plain:
            self.tried["more than declarations and assertions"] += 1
            return
        try:
            proof = proof_of(case)
        except (NotCheckable, BadProof, RecursionError) as problem:
            cause = problem.cause if isinstance(problem, NotCheckable) else "the proof cannot be read"
            self.tried[cause] += 1
            return
        others = self.others or tuple(independent_of(case.solver))
        limits = Limits(seconds=min(_STEP_SECONDS, self.limits.seconds))
        checker = StepChecker(case.solver, others, self.runner, limits, self.seconds_per_proof)
        check = checker.check(proof, case.asserted)
        self.checks.append(check)
        self.seconds += check.seconds
        names = {"wrong": "violated", "undecided": "not decided"}
        for outcome in OUTCOMES:
            if count := check.outcomes[outcome]:
                self.tried[names.get(outcome, outcome)] += count
        for fault in check.faults[:1]:
            answers = ", ".join(f"{name} says {answer}" for name, answer in fault.answers.items())
            said = f"Rule {fault.rule} in the proof of {case.solver.name}: {fault.line}"
            said += f"; asked about this step, {answers}" if answers else ""
            texts = (fault.script,) if fault.script else ()
            why = f"A step by rule {fault.rule} is wrong. {fault.why}."
            name = case.solver.name
            self.found.append(Violation("proofs", name, said, why, texts, case.check, fault.rule))


RELATION = Relation(
    "proofs",
    "a step of a proof does not follow",
    lambda case: iter(()),
    ("unsat",),
    fits=gives_proofs,
    finding_class="proof",
)
ORACLE = oracle_of(RELATION, ProofProbe)
