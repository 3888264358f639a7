"""Invalid model: the model behind a sat is refuted, by the solver's own check or by another solver."""

from __future__ import annotations

from difftest.models.cross_check import CrossCheck, answer_to
from difftest.triage.classes.base import Expectation, FindingClass, Hearing
from difftest.triage.evidence import Evidence, on_the_model, third_solvers, those
from difftest.triage.folder import FindingFolder
from solvers.report_form import Kind
from solvers.running.outcomes import Verdict
from solvers.solver import Solver

# Other solvers that are run on a right model for a report about a solver that refutes it.
_MOST_CONFIRMERS = 2
_CROSSED = "model-cross-check"


class InvalidModel(FindingClass):
    """A sat with a wrong model."""

    name = "invalid-model"
    rank = 20
    colour = 2
    reported_as = Kind.MODEL

    def is_shown_by(self, expected: Expectation, solver: Solver, verdict: Verdict) -> bool:
        """Whether the accused refutes its model."""
        return solver.name != expected.culprit or str(verdict.outcome) == self.name

    def weigh(self, hearing: Hearing, found: Evidence) -> None:
        """Of a model that another solver refuted: what its owner and third solvers say to it."""
        owner = hearing.candidate.culprit or hearing.candidate.solvers[0]
        refuted = [c for c in hearing.seen.cross_checks if c.owner == owner and c.refuted_by]
        if hearing.candidate.oracle == _CROSSED and refuted:
            _ask_about(refuted[0], hearing, found)

    def expected(self, found: FindingFolder, name: str) -> str:
        """A right model, which is what a correct solver prints."""
        if found.data.get("oracle") == _CROSSED:
            return f"A model that satisfies the assertions. {found.reason}".rstrip()
        return "A model that satisfies the assertions. The solver's own check refutes its model."


CLASS = InvalidModel()


def _ask_about(cross_check: CrossCheck, hearing: Hearing, found: Evidence) -> None:
    """What the owner of a refuted model and third solvers say to the formula with that inserted."""
    seen, owner, judge = hearing.seen, cross_check.owner, cross_check.refuted_by[0]
    found.formula = cross_check.formula
    found.note(f"{judge} says unsat to the formula with the model of {owner} inserted")
    said: dict[str, str] = {}
    found.thirds = tuple(third_solvers(seen, (owner, judge), hearing.others))
    asked = (seen.solver(owner), *found.thirds)
    for solver in asked:
        answer, seconds = answer_to(hearing.runner, solver, cross_check.formula, hearing.limits)
        found.seconds += seconds
        if answer in ("sat", "unsat"):
            said[solver.name] = answer
            who = f"{owner} itself" if solver.name == owner else solver.name
            found.note(f"{who} says {answer} to that")
    _decide(found, seen.solver(owner), seen.solver(judge), asked, said)


def _decide(
    found: Evidence, owner: Solver, judge: Solver, asked: tuple[Solver, ...], said: dict[str, str]
) -> None:
    """Who is wrong about a model of ``owner`` that ``judge`` refutes, by what was ``said`` to it."""
    confirm, refute = on_the_model(owner, [judge], asked[1:], said)
    if said.get(owner.name) == "unsat":
        found.blame(owner.name, "it says unsat to the formula with its own model inserted")
    elif refute and not confirm:
        found.blame(owner.name, f"{judge.name} and {' and '.join(refute)} refute its model")
    elif confirm and not refute:
        # The model is right, and who refutes it is wrong: on another formula than the test.
        sure = [s for s in asked if said.get(s.name) == "sat" and s.name in (owner.name, *confirm)]
        found.confirmers = tuple(sure[:_MOST_CONFIRMERS])
        agree = those([solver.name for solver in sure], "say")
        found.blame(
            judge.name,
            f"it says unsat to a formula with the model of {owner.name} inserted, and {agree} sat",
        )
    else:
        found.reason = f"{judge.name} refutes the model of {owner.name}; which of them is wrong is not known"
