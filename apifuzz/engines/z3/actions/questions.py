"""What only z3's solver can be asked: cubes, consequences, state, proofs, printed form."""

from __future__ import annotations

import ctypes
from itertools import combinations
from typing import Annotated, Any

import z3
from z3 import z3core

from apifuzz.actions import Need, option
from apifuzz.call import AnyFormulas, Values, some, terms_of
from apifuzz.engines.z3.actions.base import MOST_FORMULAS, Asking, OfFormulas, Z3Action
from apifuzz.engines.z3.inspection import require_readable
from apifuzz.engines.z3.session import misread
from apifuzz.engines.z3.solving import ANSWERS
from apifuzz.interface import Answer, Misbehaviour, Unsupported, must
from apifuzz.run import Run

_MOST_CUBES = 20
_MOST_CONSEQUENCES = 5
_INSPECTED = 10


class Cube(OfFormulas):
    """``z3:cube FORMULA...``: all cubes of a solver with these formulas cover every model."""

    def ask(self, asking: Asking) -> None:
        formulas = asking.of(self.formulas)
        solver = asking.solver(formulas)
        atoms = [c for c in asking.constants(self.formulas) if z3.is_bool(c)]
        cubes: list[list[Any]] = []
        for cube in solver.cube(atoms if atoms and asking.session.random.happens(0.5) else None):
            cubes.append(list(cube))
            if len(cubes) == _MOST_CUBES:
                return
        solver.cube_vars()
        false = z3.BoolVal(False, asking.session.context)
        outside = [z3.Not(z3.And(*cube)) if cube else false for cube in cubes]
        covered = asking.answer([*formulas, *outside]) is not Answer.SAT
        must("answer", covered, f"{len(cubes)} cubes leave a model out")


class Consequences(OfFormulas):
    """``z3:consequences FORMULA...``: what z3 says follows from some formulas and assumptions follows."""

    formulas: Annotated[AnyFormulas, some(MOST_FORMULAS, least=2)]

    def ask(self, asking: Asking) -> None:
        session = asking.session
        formulas = asking.of(self.formulas)
        variables = [c for c in asking.constants(self.formulas) if z3.is_bool(c) or z3.is_bv(c)]
        solver = asking.solver(formulas[1:])
        assumptions = [c for c in variables if z3.is_bool(c) and session.random.happens(0.3)]
        if not variables:
            return
        result, found = solver.consequences(assumptions, variables)
        if result == z3.sat:
            for consequence in found[:_MOST_CONSEQUENCES]:
                asking.must_follow(formulas[1:], consequence, "consequences")
        elif result == z3.unsat:
            refuted = asking.answer([*formulas[1:], *assumptions]) is not Answer.SAT
            must("answer", refuted, "consequences end in unsat, a plain solver in sat")


class Equalities(Z3Action):
    """``z3:equalities TERM...``: terms that z3 holds to be equal by some formulas are."""

    terms: Annotated[Values, terms_of("Bool", "Int", "Real", "BitVec", most=6)]

    def ask(self, asking: Asking) -> None:
        terms = asking.of(self.terms)
        session = asking.session
        premises = asking.assertions[:_INSPECTED]
        solver = asking.solver(premises)
        classes = (ctypes.c_uint * len(terms))()
        answer = z3core.Z3_get_implied_equalities(
            session.ref, solver.solver, len(terms), session.array_of(terms), classes
        )
        asking.must_agree(ANSWERS[answer], premises, "asking for implied equalities")
        if answer == z3.Z3_L_FALSE:
            # Then z3 leaves the classes as they are.
            return
        for (one, left), (other, right) in combinations(zip(terms, classes, strict=True), 2):
            if left == right and one.sort().eq(other.sort()):
                equation = session.wrap(z3core.Z3_mk_eq(session.ref, other.as_ast(), one.as_ast()))
                asking.must_follow(premises, equation, "an implied equality")


class State(Z3Action):
    """``z3:state``: the run's solver is asked about its state, after any answer."""

    places = (("sat", 1.0), ("unsat", 1.0), ("unknown", 1.0))
    likely = (lambda run: bool(run.stack.terms) and run.stack.answer is not None,)

    def ask(self, asking: Asking) -> None:
        _statistics(asking.solving.solver)
        _assertions(asking)
        _units(asking)
        if asking.run.stack.answer is Answer.UNKNOWN:
            asking.solving.solver.reason_unknown()


def _statistics(solver: Any) -> None:
    statistics = solver.statistics()
    for number, key in enumerate(statistics.keys()):
        must("term", statistics[number][0] == key, f"the statistic {key} has another name by number")
        statistics.get_key_value(key)
    str(statistics)


def _assertions(asking: Asking) -> None:
    """What the solver says it asserts are formulas."""
    solver, session = asking.solving.solver, asking.session
    found = solver.assertions()
    are_formulas = all(z3.is_bool(formula) for formula in found)
    must("term", are_formulas, "the solver tells of an assertion that is no formula")
    if session.random.happens(0.3):
        z3core.Z3_solver_get_help(session.ref, solver.solver)
    if session.random.happens(0.5):
        z3core.Z3_ast_vector_to_string(session.ref, found.vector)


def _units(asking: Asking) -> None:
    """Units must follow from the assertions; what else the solver keeps must be formulas.

    Those of solvers made of tactics need not follow: z3 tells there what the tactics chose, too.
    """
    solver, session = asking.solving.solver, asking.session
    units = list(solver.units())
    plain = asking.solving.kind == "simple" and not asking.solving.logic
    if plain and asking.solving.tracking == "plain" and asking.run.stack.assumptions is None:
        for unit in units[:_MOST_CONSEQUENCES]:
            if not any(mark in unit.sexpr() for mark in _OWN):
                asking.must_follow(asking.assertions, unit, "a unit")
    for formula in (*solver.non_units(), *solver.trail()):
        if not z3.is_bool(formula):
            raise Misbehaviour("term", f"{formula.sexpr()} in the solver's state is no formula")
    if session.random.happens(0.3) and asking.solving.kind == "simple":
        solver.trail_levels()


_OWN = ("!", "sk", "char.bit", "/0", "div0", "mod0", "rem0")
"""What is in names of Skolem constants and tracking literals; a character's bit; divisions by zero."""


class Proof(Z3Action):
    """``z3:proof``: the proof of an unsat answer, walked through."""

    places = (("unsat", 1.0),)
    needs = (option("proof=true"),)
    likely = (lambda run: run.stack.answer is Answer.UNSAT,)

    def ask(self, asking: Asking) -> None:
        try:
            proof = asking.solving.solver.proof()
        except z3.Z3Exception as error:
            raise Unsupported("this kind of solver has no proof") from error
        conclusion = proof.children()[-1] if proof.num_args() else proof
        if not z3.is_false(conclusion):
            raise Misbehaviour("term", f"a proof concludes {conclusion.sexpr()[:300]}, not false")


class Print(OfFormulas):
    """``z3:print FORMULA...``: a solver printed and read again, in each form, answers the same."""

    places = (("terms", 1.0),)

    def ask(self, asking: Asking) -> None:
        session = asking.session
        formulas = asking.of(self.formulas)
        solver = asking.solver(formulas)
        text = solver.to_smt2() if session.random.happens(0.5) else solver.sexpr()
        require_readable(session, text)
        again = asking.solver()
        try:
            if session.random.happens(0.5):
                again.from_string(text)
            else:
                again.add(*z3.ParserContext(session.context).from_string(text))
        except z3.Z3Exception as error:
            raise misread(error, text) from error
        first, second = solver.check(), again.check()
        differ = {first.r, second.r} == {z3.Z3_L_TRUE, z3.Z3_L_FALSE}
        must("print", not differ, f"a solver is {first}, printed and read again {second}")


def _is_simple(run: Run) -> bool:
    return bool(run.engine.core.solving.kind == "simple")  # type: ignore[attr-defined]


class Congruence(Z3Action):
    """``z3:congruence TERM...``: what a simple solver holds to be equal now, and why."""

    places = (("sat", 1.0),)
    after = (Answer.SAT,)
    needs = (Need(_is_simple, "a simple solver tells what is congruent"),)
    terms: Annotated[Values, terms_of("Int", "Real", "BitVec", "Bool")]

    def ask(self, asking: Asking) -> None:
        solver = asking.solving.solver
        for term in asking.of(self.terms):
            root = solver.congruence_root(term)
            if not root.sort().eq(term.sort()):
                raise Misbehaviour("term", f"the root of {term.sexpr()[:200]} has another sort")
            solver.congruence_next(term)
            solver.congruence_explain(term, root)


class InitialValue(OfFormulas):
    """``z3:initial-value FORMULA...``: values to begin the search with change no answer."""

    def ask(self, asking: Asking) -> None:
        formulas = asking.of(self.formulas)
        solver = asking.solver()
        for constant in asking.constants(self.formulas):
            sort = constant.sort()
            if sort.kind() in (z3.Z3_BOOL_SORT, z3.Z3_INT_SORT, z3.Z3_BV_SORT, z3.Z3_REAL_SORT):
                is_bool = sort.kind() == z3.Z3_BOOL_SORT
                solver.set_initial_value(constant, sort.cast(True) if is_bool else sort.cast(1))
        solver.add(*formulas)
        result = solver.check()
        asking.must_agree(ANSWERS[result.r], formulas, "a search from given values")
