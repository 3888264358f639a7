"""What the actions of z3 share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

import z3
from z3 import z3core

from apifuzz.actions import Own, Second
from apifuzz.call import AnyFormulas, some
from apifuzz.engines.z3.engine import Z3Engine
from apifuzz.engines.z3.session import model_of
from apifuzz.engines.z3.solving import ANSWERS
from apifuzz.engines.z3.terms import parts
from apifuzz.interface import Answer, ApiTerm, Misbehaviour
from apifuzz.run import Run

MOST_FORMULAS = 4


class Z3Action(Own):
    """An action that ``ask`` performs."""

    solver = "z3"
    places: ClassVar[tuple[tuple[str, float], ...]] = (("terms", 0.8),)

    def act(self, run: Run, core: Z3Engine) -> None:
        self.ask(Asking(run, core))

    def ask(self, asking: Asking) -> None:
        """Make the calls. The caller translates z3's exceptions."""
        raise NotImplementedError


class OfFormulas(Z3Action):
    """An action on some closed formulas."""

    formulas: Annotated[AnyFormulas, some(MOST_FORMULAS)]


class Asking(Second):
    """A run seen by an action of z3: the engine's session, its terms and its solver.

    The second instance is a plain solver in the same context.
    """

    def __init__(self, run: Run, engine: Z3Engine) -> None:
        self.run = run
        self.session, self.terms, self.solving = engine.session, engine.terms, engine.solving

    def of(self, terms: Sequence[ApiTerm]) -> list[Any]:
        """The z3 terms of terms."""
        return [self.terms.of(t) for t in terms]

    def solver(self, formulas: Sequence[Any] = ()) -> Any:
        """A plain solver with these formulas."""
        solver = z3.Solver(z3core.Z3_mk_simple_solver(self.session.ref), self.session.context)
        if formulas:
            solver.add(*formulas)
        return solver

    def answer(self, formulas: Sequence[Any]) -> Answer:
        return ANSWERS[self.solver(formulas).check().r]

    def goal(self, formulas: Sequence[Any]) -> Any:
        """A goal of these z3 formulas."""
        goal = z3.Goal(models=True, unsat_cores=False, proofs=False, ctx=self.session.context)
        goal.add(*formulas)
        return goal

    def vector(self, terms: Sequence[Any]) -> Any:
        """A vector of these z3 terms."""
        vector = z3.AstVector(ctx=self.session.context)
        for term in terms:
            vector.push(term)
        return vector

    def negated(self, formula: Any) -> Any:
        return z3.Not(formula)

    def shown(self, formula: Any) -> str:
        return shown(formula)

    def must_satisfy(self, model: Any, formulas: Sequence[Any], what: str) -> None:
        """Misbehaviour where a formula is false in the model, and with the model's values for its constants.

        What a model leaves open, a division by zero say, it may fill in one way and the solver another.
        """
        false = [f for f in formulas if z3.is_false(model.eval(f, model_completion=True))]
        if not false:
            return
        values = [
            self.terms.equation(d(), model[d])
            for d in model.decls()
            if d.arity() == 0 and z3.is_expr(model[d])
        ]
        if self.answer([*false, *values]) is Answer.UNSAT:
            raise Misbehaviour("model", f"the model of {what} makes a formula false\n{shown(false[0])}")

    def model_of(self, solver: Any) -> Any:
        """The model of a solver that answered sat."""
        return model_of(self.session.context, z3core.Z3_solver_get_model, solver.solver)

    @property
    def assertions(self) -> list[Any]:
        """The run's assertions, as z3 terms."""
        return self.of(self.run.stack.terms)

    def constants(self, terms: Sequence[ApiTerm]) -> list[Any]:
        """The uninterpreted constants in these terms, in order of their occurrence."""
        return [part for part in parts(self.of(terms)) if is_variable(part)]


def is_variable(term: Any) -> bool:
    """Whether the term is an uninterpreted constant."""
    return bool(z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


def shown(term: Any) -> str:
    """The beginning of a term's text, on one line."""
    return " ".join(str(term.sexpr()).split())[:300]
