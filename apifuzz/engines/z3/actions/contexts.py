"""Solvers and terms elsewhere: in another context, in containers, as a script; solvers with simplifiers, our
own propagator, or a clause listener.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import z3
from z3 import z3core

from apifuzz.call import AnyFormulas, Values, draw_term, some, terms_of
from apifuzz.engines.profile import profile
from apifuzz.engines.z3.actions.base import MOST_FORMULAS, Asking, OfFormulas, Z3Action, shown
from apifuzz.engines.z3.inspection import require_readable
from apifuzz.engines.z3.session import RESOURCE_LIMIT, misread
from apifuzz.engines.z3.solving import ANSWERS, is_value
from apifuzz.interface import Answer, Misbehaviour, Unsupported, must


class Translate(OfFormulas):
    """``z3:translate FORMULA...``: what goes to another context and back is what it was."""

    places = (("terms", 0.5),)

    def ask(self, asking: Asking) -> None:
        session = asking.session
        formulas = asking.of(self.formulas)
        other = z3.Context(rlimit=RESOURCE_LIMIT)
        for formula in formulas:
            back = formula.translate(other).translate(session.context)
            if not back.eq(formula):
                about = f"{shown(formula)} comes back from another context as {shown(back)}"
                raise Misbehaviour("term", about)
        choice = session.random.pick(("solver", "goal", "vector"))
        if choice == "solver":
            self._solver(asking, formulas, other)
            return
        held = asking.goal(formulas) if choice == "goal" else asking.vector(formulas)
        size, moved = len(held), len(held.translate(other))
        must("term", moved == size, f"a {choice} of {size} formulas has {moved} in another context")

    @staticmethod
    def _solver(asking: Asking, formulas: Sequence[Any], other: Any) -> None:
        solver = asking.solver(formulas[:1])
        if asking.session.random.happens(0.5):
            solver.check()
        if asking.session.random.happens(0.3):
            solver.push()
        solver.add(*formulas[1:])
        moved = solver.translate(other)
        asking.must_agree(ANSWERS[moved.check().r], formulas, "a solver in another context")


class Containers(Z3Action):
    """``z3:containers TERM...``: vectors and maps of terms hold what was put into them."""

    places = (("terms", 0.5),)
    terms: Annotated[Values, some(5, of=draw_term)]

    def ask(self, asking: Asking) -> None:
        self._vector(asking, asking.of(self.terms))
        self._map(asking, asking.of(self.terms))

    @staticmethod
    def _vector(asking: Asking, terms: Sequence[Any]) -> None:
        vector, size = asking.vector(terms), len(terms)
        if asking.session.random.happens(0.5):
            vector[0] = terms[-1]
            terms = [terms[-1], *terms[1:]]
        holds = all(vector[i].eq(terms[i]) for i in range(size)) and all(t in vector for t in terms)
        must("term", holds, "a vector does not hold what was put into it")
        vector.sexpr()
        vector.resize(size // 2)
        found = len(vector)
        must("term", found == size // 2, f"a vector made {size // 2} long has {found} terms")

    @staticmethod
    def _map(asking: Asking, terms: Sequence[Any]) -> None:
        session = asking.session
        known = z3.AstMap(ctx=session.context)
        for key, value in zip(terms, reversed(terms), strict=True):
            known[key] = value
        expected = {k.get_id(): v for k, v in zip(terms, reversed(terms), strict=True)}
        holds = len(known) == len(expected) and all(known[t].eq(expected[t.get_id()]) for t in terms)
        must("term", holds, "a map does not hold what was put into it")
        must("term", len(known.keys()) == len(expected), "a map has another number of keys than entries")
        z3core.Z3_ast_map_to_string(session.ref, known.map)
        known.erase(terms[0])
        must("term", terms[0] not in known, "a map holds what was erased from it")
        known.reset()


class Script(OfFormulas):
    """``z3:script FORMULA...``: z3's command language in another context answers as the solver does."""

    places = (("terms", 0.3),)

    def ask(self, asking: Asking) -> None:
        session = asking.session
        formulas = asking.of(self.formulas)
        text = asking.solver(formulas).sexpr()
        require_readable(session, text)
        other = z3.Context(rlimit=RESOURCE_LIMIT)
        try:
            script = f"(set-option :rlimit {RESOURCE_LIMIT}){text}(check-sat)"
            printed = z3core.Z3_eval_smtlib2_string(other.ref(), script)
        except z3.Z3Exception as error:
            # What the script prints is the message as soon as one of its commands ends in an error.
            raise misread(error, text) from error
        answers = {"sat": Answer.SAT, "unsat": Answer.UNSAT}
        last = printed.split()[-1] if printed.split() else ""
        asking.must_agree(answers.get(last, Answer.UNKNOWN), formulas, "a script")


class Model(Z3Action):
    """``z3:model TERM...``: a model made by hand evaluates terms as substitution does."""

    terms: Annotated[Values, terms_of("Bool", "Int", "BitVec", "Real")]

    def ask(self, asking: Asking) -> None:
        session = asking.session
        model = z3.ModelRef(z3core.Z3_mk_model(session.ref), session.context)
        values = []
        for constant in asking.constants(self.terms):
            value = _small_value(session, constant.sort())
            if value is not None:
                z3core.Z3_add_const_interp(session.ref, model.model, constant.decl().ast, value.as_ast())
                values.append((constant, value))
        for term in asking.of(self.terms):
            found = model.eval(term)
            if z3.is_const(term) and any(c.eq(term) and not v.eq(found) for c, v in values):
                about = f"{term.sexpr()} is {found.sexpr()}, not what the model was given"
                raise Misbehaviour("value", about)
            # What is left open, a division by zero say, the model may fill in as it likes.
            plain = z3.simplify(z3.substitute(term, *values)) if values else found
            if is_value(plain) and is_value(found) and not plain.eq(found):
                about = f"{shown(term)} is {found.sexpr()}"
                raise Misbehaviour("value", f"{about}, by substitution {plain.sexpr()}")


def _small_value(session: Any, sort: Any) -> Any:
    """A small value of a sort that has numerals, or a truth value; None for other sorts."""
    number = session.random.below(4)
    if sort.kind() == z3.Z3_BOOL_SORT:
        return z3.BoolVal(number > 1, session.context)
    if sort.kind() in (z3.Z3_INT_SORT, z3.Z3_REAL_SORT, z3.Z3_BV_SORT):
        return session.wrap(z3core.Z3_mk_int(session.ref, number, sort.ast))
    return None


_BY_ZERO = frozenset(("/0", "div0", "mod0", "rem0"))
"""Functions of models for what the standard leaves open."""


class Eliminate(OfFormulas):
    """``z3:eliminate FORMULA...``: constants projected out of a formula, in a model of it."""

    def ask(self, asking: Asking) -> None:
        session = asking.session
        formula = z3.And(*asking.of(self.formulas))
        numbers = (z3.Z3_INT_SORT, z3.Z3_REAL_SORT, z3.Z3_BOOL_SORT)
        constants = [c for c in asking.constants(self.formulas) if c.sort().kind() in numbers][:2]
        solver = asking.solver([formula])
        if not constants or solver.check() != z3.sat:
            return
        model = asking.model_of(solver)
        if not z3.is_true(model.eval(formula, model_completion=True)):
            return
        if any(d.name() in _BY_ZERO for d in model.decls()):
            raise Unsupported("projections take no account of what a model says of divisions by zero")
        projected = self._project(asking, model, constants, formula)
        if z3.is_false(model.eval(projected, model_completion=True)):
            raise Misbehaviour("model", f"a projection is false in its own model\n{shown(formula)}")
        vector = asking.vector(constants)
        session.wrap(z3core.Z3_qe_lite(session.ref, vector.vector, formula.as_ast()))
        extrapolated = session.wrap(z3core.Z3_model_extrapolate(session.ref, model.model, formula.as_ast()))
        is_false = z3.is_false(model.eval(extrapolated, model_completion=True))
        must("model", not is_false, "what a model was extrapolated to is false in it")

    @staticmethod
    def _project(asking: Asking, model: Any, constants: Sequence[Any], formula: Any) -> Any:
        session = asking.session
        if session.random.happens(0.5):
            return model.project(constants, formula)
        known = z3.AstMap(ctx=session.context)
        given = (len(constants), session.array_of(constants), formula.as_ast(), known.map)
        return session.wrap(z3core.Z3_qe_model_project_with_witness(session.ref, model.model, *given))


# Other solver objects on the same formulas: with simplifiers, our own propagator, or a clause listener


_MOST_WATCHED = 6


class Simplifiers(OfFormulas):
    """``z3:simplifiers FORMULA...``: a solver behind simplifiers, incrementally, answers as one without."""

    places = (("terms", 1.5),)

    def ask(self, asking: Asking) -> None:
        session = asking.session
        formulas = asking.of(self.formulas)
        chain = None
        for _ in range(session.random.up_to(3)):
            simplifier = z3.Simplifier(
                session.random.pick(profile("z3").list_of("simplifiers")), session.context
            )
            if session.random.happens(0.3):
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
        if session.random.happens(0.5):
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
        self.strange = ""
        self.add_fixed(self._fix)
        self.add_final(lambda: None)
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
            self.strange = f"a propagator is called with a literal that is {value.sexpr()}"
        if z3.is_true(value):
            self.true.append(literal)
            if len(self.true) > self.bound:
                self.conflict(self.true)


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
            # z3's module keeps every propagator for ever, and with it the context.
            if z3.z3._prop_closures is not None:
                z3.z3._prop_closures.bases.clear()
        must("term", not propagator.strange, propagator.strange)
        limited = z3.PbLe([(literal, 1) for literal in literals], bound)
        asking.must_agree(ANSWERS[result.r], [*named, limited], "a propagator")


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
