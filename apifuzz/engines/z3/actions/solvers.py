"""Solvers of other makes on the same formulas: with simplifiers, a propagator of ours, an eye on clauses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import z3
from z3 import z3core

from apifuzz.call import AnyFormulas, some
from apifuzz.engines.z3.actions.base import ANSWERS, MOST_FORMULAS, Asking, OfFormulas
from apifuzz.interface import must

_SIMPLIFIERS = (
    *("simplify", "propagate-values", "solve-eqs", "elim-unconstrained"),
    *("bv-slice", "propagate-bv-bounds", "max-bv-sharing", "blast-term-ite", "cofactor-term-ite"),
    *("card2bv", "propagate-ineqs", "qe-light", "reduce-args", "der", "distribute-forall", "demodulator"),
    *("dom-simplify", "injectivity", "factor", "elim-term-ite", "push-app-ite", "bit2int"),
    *("pull-nested-quantifiers", "refine-injectivity", "cheap-fourier-motzkin"),
    *("ff-simplify", "bv-divrem-bounds", "lambda-macros", "leibniz-instantiation", "recfun-finder"),
)
"""Simplifiers that keep satisfiability.

Left out: ``randomizer``, for z3's own tests; what ends nearly every run in a segmentation fault (5.4):
``euf-completion`` after ``pop``, ``bvarray2uf`` on applications without arguments, ``bv1-blast`` on what its
tactic would not take; and those that make answers or models wrong after a check: ``bit-blast``,
``elim-predicates``, ``fold-unfold``.
"""

_MOST_WATCHED = 6


class Simplifiers(OfFormulas):
    """``z3:simplifiers FORMULA...``: a solver behind simplifiers, incrementally, answers as one without."""

    places = (("terms", 1.5),)

    def ask(self, asking: Asking) -> None:
        session = asking.session
        formulas = asking.of(self.formulas)
        chain = None
        for _ in range(session.random.up_to(3)):
            simplifier = z3.Simplifier(session.one_of(_SIMPLIFIERS), session.context)
            if session.chance(0.3):
                z3core.Z3_simplifier_get_help(session.ref, simplifier.simplifier)
                simplifier.param_descrs()
            if chain is None:
                chain = simplifier
                continue
            both = z3core.Z3_simplifier_and_then(session.ref, chain.simplifier, simplifier.simplifier)
            chain = z3.Simplifier(both, session.context)
        assert chain is not None, "one simplifier at least"
        solver = chain.add(asking.solver())
        middle = len(formulas) // 2
        solver.add(*formulas[:middle])
        if session.chance(0.5):
            asking.must_agree(ANSWERS[solver.check().r], formulas[:middle], "simplifiers")
        solver.push()
        solver.add(*formulas[middle:])
        result = solver.check()
        asking.must_agree(ANSWERS[result.r], formulas, "simplifiers")
        if result == z3.sat:
            asking.must_satisfy(asking.model_of(solver), formulas, "a solver with simplifiers")
        solver.pop()
        asking.must_agree(ANSWERS[solver.check().r], formulas[:middle], "simplifiers, after pop,")


class _AtMost(z3.UserPropagateBase):  # type: ignore[misc]
    """Watches literals, and lets at most ``bound`` of them be true."""

    def __init__(self, solver: Any, literals: Sequence[Any], bound: int) -> None:
        super().__init__(solver)
        self.bound = bound
        self.true: list[Any] = []
        self.levels: list[int] = []
        self.finals = 0
        self.strange = ""
        self.add_fixed(self._fix)
        self.add_final(self._finish)
        for literal in literals:
            self.add(literal)

    def push(self) -> None:
        self.levels.append(len(self.true))

    def pop(self, num_scopes: int) -> None:
        for _ in range(num_scopes):
            if not self.levels:
                self.strange = "a propagator is to pop more levels than it was to push"
                return
            del self.true[self.levels.pop() :]

    def fresh(self, new_ctx: Any) -> Any:
        return _AtMost.__new__(_AtMost)

    def _fix(self, literal: Any, value: Any) -> None:
        if not (z3.is_true(value) or z3.is_false(value)):
            self.strange = f"a propagator is told that a literal is {value.sexpr()}"
        if z3.is_true(value):
            self.true.append(literal)
            if len(self.true) > self.bound:
                self.conflict(self.true)

    def _finish(self) -> None:
        self.finals += 1


class Propagator(OfFormulas):
    """``z3:propagator FORMULA...``: a propagator for a cardinality constraint answers as that does."""

    formulas: Annotated[AnyFormulas, some(MOST_FORMULAS, least=2)]

    def ask(self, asking: Asking) -> None:
        session = asking.session
        formulas = asking.of(self.formulas)
        literals = [z3.Bool(session.fresh_name("watch"), session.context) for _ in formulas[:_MOST_WATCHED]]
        bound = session.random.below(len(literals) + 1)
        # Each literal says that its formula holds; one of them has to.
        named = [literal == formula for literal, formula in zip(literals, formulas, strict=False)]
        named.append(z3.Or(*literals))
        solver = asking.solver()
        propagator = _AtMost(solver, literals, bound)
        solver.add(*named)
        try:
            result = solver.check()
        finally:
            _forget_propagators()
        must("term", not propagator.strange, propagator.strange)
        limited = z3.PbLe([(literal, 1) for literal in literals], bound)
        asking.must_agree(ANSWERS[result.r], [*named, limited], "a propagator")


def _forget_propagators() -> None:
    """z3's module keeps every propagator for ever, and with it the context."""
    known = z3.z3._prop_closures
    if known is not None:
        known.bases.clear()


class Clauses(OfFormulas):
    """``z3:clauses FORMULA...``: clauses that the solver tells of while it searches are clauses."""

    def ask(self, asking: Asking) -> None:
        formulas = asking.of(self.formulas)
        solver = asking.solver()
        seen: list[bool] = []

        def watch(proof: Any, dependencies: Sequence[int], clause: Any) -> None:
            seen.append(all(z3.is_bool(literal) for literal in clause))

        watcher = z3.OnClause(solver, watch)
        solver.add(*formulas)
        result = solver.check()
        del watcher
        z3.z3._my_hacky_class = None
        must("term", all(seen), "a clause that the solver tells of holds something that is no literal")
        asking.must_agree(ANSWERS[result.r], formulas, "a watched solver")
