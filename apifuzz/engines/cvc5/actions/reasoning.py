"""Interpolants, abducts, quantifier elimination, and simplification under assertions; each is checked."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from cvc5 import Kind

from apifuzz.actions import MAY_CHANGE, Made, draws_on, option
from apifuzz.call import Formula, Value
from apifuzz.engines.cvc5.actions.base import (
    INCREMENTAL,
    Cvc5Action,
    SecondSolver,
    handles,
    has_assertions,
    has_skolem,
    may_enumerate,
    parts,
    should_enumerate,
)
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.interface import Answer, Feature, TermKind, Unsupported, expect
from apifuzz.run import Run
from smtlib import BOOL


class _Enumerated(Cvc5Action):
    """A formula that cvc5 enumerates with the method ``asked``, and then perhaps another one."""

    places = (("assert", 0.5),)
    asked: ClassVar[str]
    likely = (has_assertions, MAY_CHANGE.holds, should_enumerate)
    goal: Formula

    def act(self, run: Run, core: Cvc5Engine) -> Made | None:
        goal, solver = self.goal, core.session.solver
        if not may_enumerate(run):
            raise Unsupported("no enumeration over these sorts")
        run.changed()
        found = getattr(solver, self.asked)(core.session.expand(goal.handle))
        if found.isNull():
            return None
        self.check(run, SecondSolver(core), found)
        made = [run.keep_term(goal.sort, found, TermKind.TERM)]
        if INCREMENTAL.holds(run) and core.session.chance(0.5):
            other = getattr(solver, f"{self.asked}Next")()
            if not other.isNull():
                expect("value", other == found, False, f"the next one of {self.name} is the same")
                self.check(run, SecondSolver(core), other)
                made.append(run.keep_term(goal.sort, other, TermKind.TERM))
        return tuple(made)

    def check(self, run: Run, second: SecondSolver, found: Any) -> None:
        """What must hold of it, asked of a second solver."""
        raise NotImplementedError


class GetInterpolant(_Enumerated):
    """``cvc5:get-interpolant FORMULA``: it follows from the assertions, and the formula from it."""

    needs = (option("produce-interpolants=true"),)
    asked = "getInterpolant"

    def check(self, run: Run, second: SecondSolver, found: Any) -> None:
        expect("sort", found.getSort().isBoolean(), True, "an interpolant is a formula")
        second.must_follow(handles(run.assertions), found, "interpolation")
        second.must_follow([found], self.goal.handle, f"the interpolant {found!s:.200}")


class GetAbduct(_Enumerated):
    """``cvc5:get-abduct FORMULA``: consistent with the assertions, and the formula follows from both."""

    needs = (option("produce-abducts=true"),)
    asked = "getAbduct"

    def check(self, run: Run, second: SecondSolver, found: Any) -> None:
        expect("sort", found.getSort().isBoolean(), True, "an abduct is a formula")
        given = handles(run.assertions)
        # What is consistent by itself: of other assertions cvc5 gives what it could not refute.
        if second.answer(given) is Answer.SAT:
            about = f"the assertions and the abduct {found!s:.200}"
            second.must_not_be(Answer.UNSAT, "answer", [*given, found], about)
        second.must_follow([*given, found], self.goal.handle, f"the abduct {found!s:.200}")


_QUANTIFIERS = (Kind.FORALL, Kind.EXISTS)


class EliminateQuantifiers(Cvc5Action):
    """``cvc5:eliminate-quantifiers FORMULA``: an equivalent one under the assertions.

    The formula is quantified, over linear arithmetic: cvc5 can eliminate variables of no other sorts.
    """

    places = (("assert", 0.5),)
    likely = (draws_on(Feature.QUANTIFIERS), MAY_CHANGE.holds)
    term: Formula

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        if BOOL not in run.store.pools or run.scope.theories - {"Core", "Ints", "Reals", "Reals_Ints"}:
            return None
        quantified = [
            t
            for t in run.store.pools[BOOL].closed
            if t.handle.getKind() in _QUANTIFIERS and not _has_other_variables(t.handle)
        ]
        return cls(run.random.pick(quantified)) if quantified else None

    def act(self, run: Run, core: Cvc5Engine) -> None:
        solver = core.session.solver
        quantified = core.session.expand(self.term.handle)
        if _has_other_variables(quantified):
            raise Unsupported("variables of other sorts than numbers and Bool")
        run.changed()
        if core.session.chance(0.3):
            # A part of the elimination only: nothing is known of it but its sort.
            part = solver.getQuantifierEliminationDisjunct(quantified)
            expect("sort", part.getSort().isBoolean(), True, "a disjunct is a formula")
            return
        found = solver.getQuantifierElimination(quantified)
        expect("sort", found.getSort().isBoolean(), True, "an elimination is a formula")
        if not has_skolem(found):
            formulas = [*handles(run.assertions), quantified.xorTerm(found)]
            about = f"the assertions and the difference of {self.term} and {found!s:.200}"
            SecondSolver(core).must_not_be(Answer.SAT, "answer", formulas, about)


def _has_other_variables(formula: Any) -> bool:
    """Whether a variable of another sort than Bool, Int and Real occurs."""
    variables = (part.getSort() for part in parts(formula) if part.getKind() is Kind.VARIABLE)
    return any(not (sort.isBoolean() or sort.isInteger() or sort.isReal()) for sort in variables)


class Simplify(Cvc5Action):
    """``cvc5:simplify TERM``: with what the assertions say of its symbols; equal under the assertions."""

    likely = (MAY_CHANGE.holds,)
    term: Value

    def act(self, run: Run, core: Cvc5Engine) -> None:
        term, session = self.term, core.session
        handle = session.expand(term.handle)
        found = session.simplify(handle, True)
        expect("sort", found.getSort(), term.sort.handle, f"the sort of {term}, simplified")
        if not has_skolem(found) and term.sort.sort.name != "RegLan":
            different = session.manager.mkTerm(Kind.DISTINCT, handle, found)
            about = f"the assertions and the difference of {term} and {found!s:.200}"
            formulas = [*handles(run.assertions), different]
            SecondSolver(core).must_not_be(Answer.SAT, "answer", formulas, about)
