"""Interpolants, abducts, quantifier elimination, simplification under assertions, and synthesis of functions;
what is found is checked.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import cvc5
from cvc5 import Kind

from apifuzz.actions import MAY_CHANGE, Made, draws_on, option
from apifuzz.call import CONSTANT, Drawn, Formula, SortArg, Value, rest
from apifuzz.engines.cvc5.actions.base import (
    INCREMENTAL,
    Cvc5Action,
    SecondSolver,
    handles,
    has_assertions,
    has_skolem,
    may_enumerate,
    should_enumerate,
)
from apifuzz.engines.cvc5.engine import Cvc5Engine
from apifuzz.engines.cvc5.session import CHECK_RESOURCES, Session
from apifuzz.engines.walking import walk
from apifuzz.interface import Answer, ApiTerm, Feature, TermKind, Unsupported, expect
from apifuzz.run import Run
from apifuzz.trace import TraceError
from smtlib import BOOL, INT, REAL


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
        run.stack.changed()
        found = getattr(solver, self.asked)(core.session.expand(goal.handle))
        if found.isNull():
            return None
        self.check(run, SecondSolver(core), found)
        made = [run.keep_term(goal.sort, found, TermKind.TERM)]
        if INCREMENTAL.holds(run) and core.session.random.happens(0.5):
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
        second.must_follow(handles(run.stack.terms), found, "interpolation")
        second.must_follow([found], self.goal.handle, f"the interpolant {found!s:.200}")


class GetAbduct(_Enumerated):
    """``cvc5:get-abduct FORMULA``: consistent with the assertions, and the formula follows from both."""

    needs = (option("produce-abducts=true"),)
    asked = "getAbduct"

    def check(self, run: Run, second: SecondSolver, found: Any) -> None:
        expect("sort", found.getSort().isBoolean(), True, "an abduct is a formula")
        given = handles(run.stack.terms)
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
        run.stack.changed()
        if core.session.random.happens(0.3):
            # A part of the elimination only: nothing is known of it but its sort.
            part = solver.getQuantifierEliminationDisjunct(quantified)
            expect("sort", part.getSort().isBoolean(), True, "a disjunct is a formula")
            return
        found = solver.getQuantifierElimination(quantified)
        expect("sort", found.getSort().isBoolean(), True, "an elimination is a formula")
        if not has_skolem(found):
            formulas = [*handles(run.stack.terms), quantified.xorTerm(found)]
            about = f"the assertions and the difference of {self.term} and {found!s:.200}"
            SecondSolver(core).must_not_be(Answer.SAT, "answer", formulas, about)


def _has_other_variables(formula: Any) -> bool:
    """Whether a variable of another sort than Bool, Int and Real occurs."""
    variables = (part.getSort() for part in walk([formula]) if part.getKind() is Kind.VARIABLE)
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
            formulas = [*handles(run.stack.terms), different]
            SecondSolver(core).must_not_be(Answer.SAT, "answer", formulas, about)


# Synthesis of a function for which a formula of the run holds, in a solver of its own; checked


_SORTS = frozenset(("Bool", "Int", "Real", "BitVec", "String"))


def _draw_constants(run: Run) -> tuple[ApiTerm, ...] | None:
    return tuple(run.store.constants(lambda sort: sort.name in _SORTS)[-3:]) or None


class Synthesize(Cvc5Action):
    """``cvc5:synthesize FORMULA CONSTANT...``: of these constants, the first is to be made of the others, for
    all their values.
    """

    places = (("terms", 0.15),)
    likely = (should_enumerate,)
    formula: Formula
    constants: Annotated[tuple[ApiTerm, ...], rest(CONSTANT), Drawn(_draw_constants)]

    def act(self, run: Run, core: Cvc5Engine) -> None:
        if len(set(self.constants)) < len(self.constants):
            raise TraceError("different constants expected")
        problem = _Problem(core.session, handles(self.constants))
        problem.solve(core, core.session.expand(self.formula.handle))


class _Problem:
    """One synthesis problem."""

    def __init__(self, session: Session, constants: list[Any]) -> None:
        self.session = session
        self.target, *self.others = constants
        self.solver = cvc5.Solver(session.manager)
        for name, value in (("sygus", "true"), ("incremental", "true"), ("rlimit-per", CHECK_RESOURCES)):
            self.solver.setOption(name, value)
        self.solver.setLogic(session.logic or "ALL")

    def solve(self, engine: Cvc5Engine, formula: Any) -> None:
        """Ask for one solution or two; what is a solution must make the formula true."""
        solver, manager = self.solver, self.session.manager
        universal = [solver.declareSygusVar(f"u{i}", other.getSort()) for i, other in enumerate(self.others)]
        params = [manager.mkVar(other.getSort(), f"p{i}") for i, other in enumerate(self.others)]
        function = self._function(params)
        applied = manager.mkTerm(Kind.APPLY_UF, function, *universal) if params else function
        constraint = formula.substitute([self.target, *self.others], [applied, *universal])
        solver.addSygusConstraint(constraint)
        expect("value", len(solver.getSygusConstraints()) > 0, True, "there is a constraint")
        if self.session.random.happens(0.3):
            assumption = manager.mkTrue()
            solver.addSygusAssume(assumption)
            expect("value", solver.getSygusAssumptions(), [assumption], "the assumptions")
        result = solver.checkSynth()
        for _ in range(2):
            expect("value", result.isNull(), False, "the result of a synthesis is null")
            yes = [result.hasSolution(), result.hasNoSolution(), result.isUnknown()]
            expect("value", sum(yes), 1, "what a synthesis ends with")
            if not result.hasSolution():
                return
            self._check(engine, function, constraint, universal)
            result = solver.checkSynthNext()

    def _function(self, params: list[Any]) -> Any:
        """The function to be found, sometimes within a grammar."""
        sort = self.target.getSort()
        if self.session.random.happens(0.6):
            return self.solver.synthFun("f", params, sort)
        start = self.session.manager.mkVar(sort, "start")
        grammar = self.solver.mkGrammar(params, [start])
        if any(param.getSort() == sort for param in params):
            grammar.addAnyVariable(start)
        if self.session.random.happens(0.5):
            grammar.addAnyConstant(start)
        rules = self.rules(sort, start)
        if len(rules) == 1:
            grammar.addRule(start, rules[0])
        else:
            grammar.addRules(start, rules)
        expect("value", grammar.isNull(), False, "a grammar is null")
        return self.solver.synthFun("f", params, sort, grammar)

    def rules(self, sort: Any, start: Any) -> list[Any]:
        """What a grammar makes terms of the sort with."""
        manager = self.session.manager
        if sort.isBoolean():
            return [manager.mkTrue(), start.notTerm(), start.andTerm(start)]
        if sort.isInteger():
            return [manager.mkInteger(1), manager.mkTerm(Kind.ADD, start, start)]
        if sort.isReal():
            return [manager.mkReal(1, 2), manager.mkTerm(Kind.SUB, start, start)]
        if sort.isBitVector():
            one = manager.mkBitVector(sort.getBitVectorSize(), 1)
            return [one, manager.mkTerm(Kind.BITVECTOR_ADD, start, start)]
        return [manager.mkString("a")]

    def _check(self, engine: Cvc5Engine, function: Any, constraint: Any, universal: list[Any]) -> None:
        solution = self.solver.getSynthSolution(function)
        expect("value", self.solver.getSynthSolutions([function]), [solution], "the solutions")
        constants = [self.session.manager.mkConst(u.getSort()) for u in universal]
        shown = constraint.substitute(function, solution).substitute(universal, constants)
        SecondSolver(engine).must_follow([], shown, f"the solution {solution!s:.200}")


class FindTerms(Cvc5Action):
    """``cvc5:find-terms SORT``: terms of a grammar, one after the other. The sort is infinite, for cvc5 would
    look for another term without end.
    """

    places = (("terms", 0.05),)
    sort: Annotated[
        SortArg,
        Drawn(lambda run: run.random.pick_if_any([s for s in map(run.store.sorts.get, (INT, REAL)) if s])),
    ]

    def act(self, run: Run, core: Cvc5Engine) -> None:
        if self.sort.sort not in (INT, REAL):
            raise TraceError(f"no grammar for {self.sort.sort}")
        manager, handle = core.session.manager, self.sort.handle
        problem = _Problem(core.session, [manager.mkConst(handle)])
        start = manager.mkVar(handle, "start")
        grammar = problem.solver.mkGrammar([], [start])
        grammar.addRules(start, problem.rules(handle, start))
        found = problem.solver.findSynth(cvc5.FindSynthTarget.ENUM, grammar)
        for _ in range(3):
            if found.isNull():
                break
            expect("sort", found.getSort(), handle, "the sort of an enumerated term")
            found = problem.solver.findSynthNext()
