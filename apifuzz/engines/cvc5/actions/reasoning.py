"""Interpolants, abducts, quantifier elimination, and simplification under assertions; each is checked."""

from __future__ import annotations

from typing import Any

from cvc5 import Kind

from apifuzz.actions.reading import read_closed, read_formulas, require_count
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
from apifuzz.interface import Answer, ApiTerm, Feature, Misbehaviour, TermKind, Unsupported, expect
from apifuzz.run import Run
from smtlib import BOOL


class _Enumerated(Cvc5Action):
    """A formula that cvc5 enumerates: asked for, then perhaps for another one."""

    def is_possible(self, run: Run) -> bool:
        return super().is_possible(run) and any(run.stack.levels) and run.may_change and should_enumerate(run)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        goal = draw_formula(run)
        return None if goal is None else (str(goal),)

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        (goal,) = read_formulas(run, args)
        if not may_enumerate(run):
            raise Unsupported("no enumeration over these sorts")
        run.changed()
        found = self.first(engine.session.solver, engine.session.expand(goal.handle))
        if found.isNull():
            return ()
        self.check(run, engine, goal, found)
        made = [str(run.keep_term(goal.sort, found, TermKind.TERM))]
        if is_incremental(run) and engine.session.chance(0.5):
            other = self.next(engine.session.solver)
            if not other.isNull():
                expect("value", other == found, False, f"the next one of {self.name} is the same")
                self.check(run, engine, goal, other)
                made.append(str(run.keep_term(goal.sort, other, TermKind.TERM)))
        return tuple(made)

    def first(self, solver: Any, goal: Any) -> Any:
        """The first one; the null term where there is none."""
        raise NotImplementedError

    def next(self, solver: Any) -> Any:
        """The next one."""
        raise NotImplementedError

    def check(self, run: Run, engine: Cvc5Engine, goal: ApiTerm, found: Any) -> None:
        """Raise :class:`Misbehaviour` where it is not what it should be."""
        raise NotImplementedError


class GetInterpolant(_Enumerated):
    """``cvc5:get-interpolant FORMULA``: it follows from the assertions, and the formula from it."""

    name = "cvc5:get-interpolant"
    needs = (("produce-interpolants", "true"),)

    def first(self, solver: Any, goal: Any) -> Any:
        return solver.getInterpolant(goal)

    def next(self, solver: Any) -> Any:
        return solver.getInterpolantNext()

    def check(self, run: Run, engine: Cvc5Engine, goal: ApiTerm, found: Any) -> None:
        expect("sort", found.getSort().isBoolean(), True, "an interpolant is a formula")
        told = f"the interpolant {found!s:.200}"
        given = handles(run.assertions)
        must_not_be(engine, Answer.SAT, "answer", [*given, found.notTerm()], f"assertions without {told}")
        must_not_be(engine, Answer.SAT, "answer", [found, goal.handle.notTerm()], f"{told} without the goal")


class GetAbduct(_Enumerated):
    """``cvc5:get-abduct FORMULA``: consistent with the assertions, and the formula follows from both."""

    name = "cvc5:get-abduct"
    needs = (("produce-abducts", "true"),)

    def first(self, solver: Any, goal: Any) -> Any:
        return solver.getAbduct(goal)

    def next(self, solver: Any) -> Any:
        return solver.getAbductNext()

    def check(self, run: Run, engine: Cvc5Engine, goal: ApiTerm, found: Any) -> None:
        expect("sort", found.getSort().isBoolean(), True, "an abduct is a formula")
        given = [*handles(run.assertions), found]
        told = f"the assertions and the abduct {found!s:.200}"
        # What is consistent by itself: of other assertions cvc5 gives what it could not refute.
        if second_answer(engine, given[:-1]) is Answer.SAT:
            must_not_be(engine, Answer.UNSAT, "answer", given, told)
        must_not_be(engine, Answer.SAT, "answer", [*given, goal.handle.notTerm()], f"{told} without the goal")


_QUANTIFIERS = (Kind.FORALL, Kind.EXISTS)


class EliminateQuantifiers(Cvc5Action):
    """``cvc5:eliminate-quantifiers FORMULA``: of a quantified formula over linear arithmetic, for of no other
    sorts can cvc5 eliminate variables; equivalent under the assertions.
    """

    name = "cvc5:eliminate-quantifiers"

    def is_possible(self, run: Run) -> bool:
        return run.draws_on(Feature.QUANTIFIERS) and BOOL in run.store.pools and run.may_change

    def draw(self, run: Run) -> tuple[str, ...] | None:
        if run.scope.theories - {"Core", "Ints", "Reals", "Reals_Ints"}:
            return None
        quantified = [
            t
            for t in run.store.pools[BOOL].closed
            if t.handle.getKind() in _QUANTIFIERS and not _has_other_variables(t.handle)
        ]
        if not quantified:
            return None
        return (str(quantified[int(run.random.random() * len(quantified))]),)

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        (term,) = read_formulas(run, args)
        solver = engine.session.solver
        quantified = engine.session.expand(term.handle)
        if _has_other_variables(quantified):
            raise Unsupported("variables of other sorts than numbers and Bool")
        run.changed()
        if engine.session.chance(0.3):
            # A part of the elimination only: nothing is known of it but its sort.
            part = solver.getQuantifierEliminationDisjunct(quantified)
            expect("sort", part.getSort().isBoolean(), True, "a disjunct is a formula")
            return ()
        found = solver.getQuantifierElimination(quantified)
        expect("sort", found.getSort().isBoolean(), True, "an elimination is a formula")
        if not has_skolem(found):
            formulas = [*handles(run.assertions), quantified.xorTerm(found)]
            told = f"the assertions and the difference of {term} and {found!s:.200}"
            must_not_be(engine, Answer.SAT, "answer", formulas, told)
        return ()


def _has_other_variables(formula: Any) -> bool:
    """Whether a variable of another sort than Bool, Int and Real occurs."""
    return some_part(formula, lambda part: part.getKind() is Kind.VARIABLE and not _is_plain(part.getSort()))


def _is_plain(sort: Any) -> bool:
    return bool(sort.isBoolean() or sort.isInteger() or sort.isReal())


class SimplifyUnderAssertions(Cvc5Action):
    """``cvc5:simplify TERM``: with what the assertions say of its symbols; equal under the assertions."""

    name = "cvc5:simplify"

    def is_possible(self, run: Run) -> bool:
        return bool(run.store.closed_terms) and run.may_change

    def draw(self, run: Run) -> tuple[str, ...] | None:
        term = run.store.pick_any(run.random)
        return None if term is None or term.sort.sort.is_function else (str(term),)

    def act(self, run: Run, engine: Cvc5Engine, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        (term,) = read_closed(run, args)
        handle = engine.session.expand(term.handle)
        found = engine.session.simplify(handle, True)
        if found.getSort() != term.sort.handle:
            raise Misbehaviour("sort", f"{term} simplified has the sort {found.getSort()}")
        if not has_skolem(found) and term.sort.sort.name != "RegLan":
            different = engine.session.manager.mkTerm(Kind.DISTINCT, handle, found)
            formulas = [*handles(run.assertions), different]
            told = f"the assertions and the difference of {term} and {found!s:.200}"
            must_not_be(engine, Answer.SAT, "answer", formulas, told)
        return ()


REASONING = (GetInterpolant(), GetAbduct(), EliminateQuantifiers(), SimplifyUnderAssertions())
