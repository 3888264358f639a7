"""What the actions of z3 share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import z3
from z3 import z3core

from apifuzz.actions import Made
from apifuzz.actions.own import Own
from apifuzz.call import AnyFormulas, Values
from apifuzz.engines.z3.engine import Z3Engine
from apifuzz.engines.z3.session import Session, model_of
from apifuzz.interface import Answer, ApiTerm, Misbehaviour, Unsupported
from apifuzz.run import Run
from smtlib import BOOL

ANSWERS = {z3.Z3_L_TRUE: Answer.SAT, z3.Z3_L_FALSE: Answer.UNSAT, z3.Z3_L_UNDEF: Answer.UNKNOWN}
_MOST_FORMULAS = 4


class Z3Action(Own):
    """An action that ``ask`` does."""

    solver = "z3"
    places: ClassVar[tuple[tuple[str, float], ...]] = (("terms", 0.8),)

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return BOOL in run.store.pools and super().is_possible(run)

    def act(self, run: Run, core: Z3Engine) -> Made | None:
        self.ask(Asking(run, core))
        return None

    def ask(self, asking: Asking) -> None:
        """Make the calls. z3's exceptions are translated outside."""
        raise NotImplementedError


class OfFormulas(Z3Action):
    """An action on some closed formulas."""

    least: ClassVar[int] = 1
    formulas: AnyFormulas

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        drawn = draw_formulas(run, cls.least)
        return None if drawn is None else cls(drawn)


class OfTerms(Z3Action):
    """An action on some closed terms: of sorts with the names ``sorts``, ``most`` at most."""

    sorts: ClassVar[tuple[str, ...]]
    most: ClassVar[int] = 3
    terms: Values

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        drawn = draw_terms(run, cls.sorts, cls.most)
        return cls(drawn) if drawn else None


class Asking:
    """A run seen by an action of z3: the engine's session, its terms and its solver."""

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
        """A plain solver's answer to these formulas."""
        return ANSWERS[self.solver(formulas).check().r]

    def must_agree(self, told: Answer, formulas: Sequence[Any], what: str) -> None:
        """Misbehaviour where ``what`` ended in another answer than a plain solver's to the same formulas."""
        if told is Answer.UNKNOWN:
            return
        plain = self.answer(formulas)
        if plain is not Answer.UNKNOWN and plain is not told:
            raise Misbehaviour("answer", f"{what} ends in {told}, a plain solver in {plain}")

    def must_follow(self, premises: Sequence[Any], conclusion: Any, what: str) -> None:
        """Misbehaviour where a plain solver has a model of the premises in which the conclusion is false."""
        if self.answer([*premises, z3.Not(conclusion)]) is Answer.SAT:
            raise Misbehaviour("answer", f"{what} gives what does not follow\n{shown(conclusion)}")

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
        """The model of a solver that said sat."""
        return model_of(self.session.context, z3core.Z3_solver_get_model, solver.solver)

    @property
    def assertions(self) -> list[Any]:
        """The run's assertions, as z3 terms."""
        return self.of(self.run.assertions)

    def constants(self, terms: Sequence[ApiTerm]) -> list[Any]:
        """The uninterpreted constants in these terms, in order of their occurrence."""
        found: dict[int, Any] = {}
        seen: set[int] = set()
        todo = self.of(terms)
        for term in todo:
            if term.get_id() in seen:
                continue
            seen.add(term.get_id())
            if z3.is_quantifier(term):
                todo.append(term.body())
            elif z3.is_app(term):
                if is_variable(term):
                    found.setdefault(term.get_id(), term)
                todo.extend(term.children())
        return list(found.values())


_UNREADABLE = (
    *("root-obj", "as-array", "!val!"),
    *("(declare-rec", "(define-funs-rec", "(declare-sort (", "(update-field "),
)
"""What z3 prints of values of models, of recursive functions, which the context has already, of sorts made by
a declared constructor, and of updates in the form for benchmarks, which leaves the field out.
"""


def require_readable(session: Session, text: str) -> None:
    """Unsupported for what z3 prints and its parser does not take."""
    if any(mark in text for mark in _UNREADABLE):
        raise Unsupported("a formula holds what z3's parser does not take")
    if session.prints_ambiguously:
        raise Unsupported("z3 prints constructors without the sort that its parser wants")


def is_variable(term: Any) -> bool:
    """Whether the term is an uninterpreted constant."""
    return bool(z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


def shown(term: Any) -> str:
    """The beginning of a term's text, on one line."""
    return " ".join(str(term.sexpr()).split())[:300]


def draw_formulas(run: Run, least: int) -> tuple[ApiTerm, ...] | None:
    """Some closed formulas."""
    drawn: list[ApiTerm] = []
    for _ in range(least + int(run.random.random() * _MOST_FORMULAS)):
        term = run.store.pick_closed(BOOL, run.random)
        if term is not None and term not in drawn:
            drawn.append(term)
    return tuple(drawn) if len(drawn) >= least else None


def draw_terms(run: Run, names: Sequence[str], most: int) -> tuple[ApiTerm, ...]:
    """Some closed terms of sorts with these names."""
    sorts = [s for s in run.store.populated if s.name in names]
    if not sorts:
        return ()
    drawn: list[ApiTerm] = []
    for _ in range(1 + int(run.random.random() * most)):
        term = run.store.pick_closed(sorts[int(run.random.random() * len(sorts))], run.random)
        if term is not None and term not in drawn:
            drawn.append(term)
    return tuple(drawn)
