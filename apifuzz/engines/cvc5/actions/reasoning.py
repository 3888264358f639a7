"""Interpolants, abducts, quantifier elimination, and simplification under assertions; each is checked."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from cvc5 import Kind

from apifuzz.actions import Made
from apifuzz.call import Formula, Value
from apifuzz.engines.cvc5.actions.base import (
    Cvc5Action,
    draw_formula,
    handles,
    has_skolem,
    is_incremental,
    may_enumerate,
    must_not_be,
    second_answer,
    should_enumerate,
    some_part,
)
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.interface import Answer, Feature, Misbehaviour, TermKind, Unsupported, expect
from apifuzz.run import Run
from smtlib import BOOL


class _Enumerated(Cvc5Action):
    """A formula that cvc5 enumerates: asked for by ``asked``, then perhaps for another one."""

    places = (("assert", 0.5),)
    asked: ClassVar[str]
    goal: Formula

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return super().is_possible(run) and any(run.stack.levels) and run.may_change and should_enumerate(run)

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        goal = draw_formula(run)
        return None if goal is None else cls(goal)

    def act(self, run: Run, core: Cvc5Engine) -> Made | None:
        goal, solver = self.goal, core.session.solver
        if not may_enumerate(run):
            raise Unsupported("no enumeration over these sorts")
        run.changed()
        found = getattr(solver, self.asked)(core.session.expand(goal.handle))
        if found.isNull():
            return None
        self.check(run, core, found)
        made = [run.keep_term(goal.sort, found, TermKind.TERM)]
        if is_incremental(run) and core.session.chance(0.5):
            other = getattr(solver, f"{self.asked}Next")()
            if not other.isNull():
                expect("value", other == found, False, f"the next one of {self.name} is the same")
                self.check(run, core, other)
                made.append(run.keep_term(goal.sort, other, TermKind.TERM))
        return tuple(made)

    def check(self, run: Run, core: Cvc5Engine, found: Any) -> None:
        """Raise :class:`Misbehaviour` where it is not what it should be."""
        raise NotImplementedError


class GetInterpolant(_Enumerated):
    """``cvc5:get-interpolant FORMULA``: it follows from the assertions, and the formula from it."""

    needs = ("produce-interpolants=true",)
    asked = "getInterpolant"

    def check(self, run: Run, core: Cvc5Engine, found: Any) -> None:
        expect("sort", found.getSort().isBoolean(), True, "an interpolant is a formula")
        about = f"the interpolant {found!s:.200}"
        given = [*handles(run.assertions), found.notTerm()]
        must_not_be(core, Answer.SAT, "answer", given, f"assertions without {about}")
        must_not_be(
            core, Answer.SAT, "answer", [found, self.goal.handle.notTerm()], f"{about} without the goal"
        )


class GetAbduct(_Enumerated):
    """``cvc5:get-abduct FORMULA``: consistent with the assertions, and the formula follows from both."""

    needs = ("produce-abducts=true",)
    asked = "getAbduct"

    def check(self, run: Run, core: Cvc5Engine, found: Any) -> None:
        expect("sort", found.getSort().isBoolean(), True, "an abduct is a formula")
        given = [*handles(run.assertions), found]
        about = f"the assertions and the abduct {found!s:.200}"
        # What is consistent by itself: of other assertions cvc5 gives what it could not refute.
        if second_answer(core, given[:-1]) is Answer.SAT:
            must_not_be(core, Answer.UNSAT, "answer", given, about)
        contradicted = [*given, self.goal.handle.notTerm()]
        must_not_be(core, Answer.SAT, "answer", contradicted, f"{about} without the goal")


_QUANTIFIERS = (Kind.FORALL, Kind.EXISTS)


class EliminateQuantifiers(Cvc5Action):
    """``cvc5:eliminate-quantifiers FORMULA``: of a quantified formula over linear arithmetic, for of no other
    sorts can cvc5 eliminate variables; equivalent under the assertions.
    """

    places = (("assert", 0.5),)
    term: Formula

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.draws_on(Feature.QUANTIFIERS) and BOOL in run.store.pools and run.may_change

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        if run.scope.theories - {"Core", "Ints", "Reals", "Reals_Ints"}:
            return None
        quantified = [
            t
            for t in run.store.pools[BOOL].closed
            if t.handle.getKind() in _QUANTIFIERS and not _has_other_variables(t.handle)
        ]
        return cls(quantified[int(run.random.random() * len(quantified))]) if quantified else None

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
            must_not_be(core, Answer.SAT, "answer", formulas, about)


def _has_other_variables(formula: Any) -> bool:
    """Whether a variable of another sort than Bool, Int and Real occurs."""
    return some_part(formula, lambda part: part.getKind() is Kind.VARIABLE and not _is_plain(part.getSort()))


def _is_plain(sort: Any) -> bool:
    return bool(sort.isBoolean() or sort.isInteger() or sort.isReal())


class Simplify(Cvc5Action):
    """``cvc5:simplify TERM``: with what the assertions say of its symbols; equal under the assertions."""

    term: Value

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return bool(run.store.closed_terms) and run.may_change

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        term = run.store.pick_any(run.random)
        return None if term is None or term.sort.sort.is_function else cls(term)

    def act(self, run: Run, core: Cvc5Engine) -> None:
        term, session = self.term, core.session
        handle = session.expand(term.handle)
        found = session.simplify(handle, True)
        if found.getSort() != term.sort.handle:
            raise Misbehaviour("sort", f"{term} simplified has the sort {found.getSort()}")
        if not has_skolem(found) and term.sort.sort.name != "RegLan":
            different = session.manager.mkTerm(Kind.DISTINCT, handle, found)
            about = f"the assertions and the difference of {term} and {found!s:.200}"
            must_not_be(core, Answer.SAT, "answer", [*handles(run.assertions), different], about)
