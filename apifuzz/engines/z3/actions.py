"""What the rows of ``actions.toml``, the actions that only z3 has, need beside z3's own calls."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from ctypes import c_uint
from itertools import combinations
from pathlib import Path
from typing import Any

import z3
from z3 import z3core

from apifuzz.actions import Second
from apifuzz.call import read_list
from apifuzz.chance import Chance
from apifuzz.engines.declared import Asking, declared
from apifuzz.engines.profile import profile
from apifuzz.engines.z3.engine import Z3Engine
from apifuzz.engines.z3.inspection import require_readable
from apifuzz.engines.z3.session import RESOURCE_LIMIT, misread, model_of
from apifuzz.engines.z3.solving import ANSWERS, is_value
from apifuzz.engines.z3.terms import parts
from apifuzz.engines.z3.words import words_in
from apifuzz.interface import Answer, ApiTerm, Misbehaviour, must
from apifuzz.run import Run
from apifuzz.trace import TraceError
from solvers.options import option_table

_LISTS = ("tactics", "solving_tactics", "probes", "predicates", "tactic_switches")
TACTICS, _SOLVERS, PROBES, PREDICATES, _SWITCHES = map(profile("z3").list_of, _LISTS)
SIMPLIFIERS = option_table("z3").simplifiers
OBJECTIVES = ("Int", "Real", "BitVec")
COMPARISONS = (operator.gt, operator.lt, operator.ge, operator.le, operator.eq)
MOST_CONSEQUENCES = 5
OWN_MARKS = ("!", "sk", "char.bit", "/0", "div0", "mod0", "rem0")
"""What is in names of Skolem constants and tracking literals; a character's bit; divisions by zero."""
BY_ZERO = frozenset(("/0", "div0", "mod0", "rem0"))
"""Functions of models for what the standard leaves open."""


class Z3Asking(Asking, Second):
    """A run of z3: the engine's session, its terms and its solver. The second instance is a plain solver in
    the same context.
    """

    def __init__(self, run: Run, core: Z3Engine) -> None:
        super().__init__(run, core)
        self.session, self.terms, self.solving = core.session, core.terms, core.solving
        self.word = words_in(core.session)

    @property
    def context(self) -> Any:
        """The run's context."""
        return self.session.context

    @property
    def current(self) -> Any:
        """The run's own solver."""
        return self.solving.solver

    def own(self, term: ApiTerm) -> Any:
        return self.terms.of(term)

    def plain(self, formulas: Sequence[Any] = ()) -> Any:
        """A plain solver with these formulas."""
        solver = z3.Solver(z3core.Z3_mk_simple_solver(self.session.ref), self.context)
        if formulas:
            solver.add(*formulas)
        return solver

    def answer(self, formulas: Sequence[Any]) -> Answer:
        return ANSWERS[self.plain(formulas).check().r]

    def must_agree(self, answer: Any, formulas: Sequence[Any], what: str) -> None:
        super().must_agree(answer if isinstance(answer, Answer) else ANSWERS[answer.r], formulas, what)

    def negated(self, formula: Any) -> Any:
        return z3.Not(formula)

    def shown(self, formula: Any) -> str:
        return " ".join(str(formula.sexpr()).split())[:300]

    def goal(self, formulas: Sequence[Any]) -> Any:
        """A goal of these z3 formulas."""
        goal = z3.Goal(models=True, unsat_cores=False, proofs=False, ctx=self.context)
        goal.add(*formulas)
        return goal

    def vector(self, terms: Sequence[Any]) -> Any:
        """A vector of these z3 terms."""
        vector = z3.AstVector(ctx=self.context)
        for term in terms:
            vector.push(term)
        return vector

    def constants(self, terms: Sequence[ApiTerm]) -> list[Any]:
        """The uninterpreted constants in these terms, in order of their occurrence."""
        return [part for part in parts(self.of(terms)) if is_variable(part)]

    def small_value(self, sort: Any) -> Any:
        """A small value of a sort that has numerals, or a truth value; None for other sorts."""
        number = self.below(4)
        if sort.kind() == z3.Z3_BOOL_SORT:
            return z3.BoolVal(number > 1, self.context)
        if sort.kind() in (z3.Z3_INT_SORT, z3.Z3_REAL_SORT, z3.Z3_BV_SORT):
            return self.session.wrap(z3core.Z3_mk_int(self.session.ref, number, sort.ast))
        return None

    def model_of(self, solver: Any) -> Any:
        """The model of a solver that answered sat."""
        return model_of(self.context, z3core.Z3_solver_get_model, solver.solver)

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
            said = f"the model of {what} makes a formula false\n{self.shown(false[0])}"
            raise Misbehaviour("model", said)

    def must_convert(self, goal: Any, inside: Sequence[Any], formulas: Sequence[Any]) -> None:
        """A model of a subgoal, which has the formulas ``inside``, must be one of the goal when converted."""
        solver = self.plain(inside)
        if solver.check() != z3.sat:
            return
        found = self.model_of(solver)
        # z3's solver leaves constants that a tactic made out of its models, though formulas are about them.
        names = {part.decl().name() for part in parts(inside) if is_variable(part)}
        if not any("!" in name and name not in str(found) for name in names):
            self.must_satisfy(goal.convert_model(found), formulas, "a subgoal, converted,")


def is_variable(term: Any) -> bool:
    """Whether the term is an uninterpreted constant."""
    return bool(z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


def evaluated(script: str) -> str:
    """What z3's command language prints in a context of its own."""
    context = z3.Context(rlimit=RESOURCE_LIMIT)
    return str(z3core.Z3_eval_smtlib2_string(context.ref(), script))


# Tactics as text

_DEPTH = 3
_MOST_PARTS = 20


def draw_tactic(chance: Chance, depth: int = 0) -> str:
    """A tactic, as a trace has it."""

    def inner() -> str:
        return draw_tactic(chance, depth + 1)

    share = chance.random() if depth < _DEPTH else 1.0
    if share < 0.35:
        return f"(then {inner()} {inner()})"
    if share < 0.45:
        return f"(or-else {inner()} {inner()})"
    if share < 0.5:
        return f"(repeat {chance.pick(TACTICS)})"
    if share < 0.55:
        return f"(if {chance.pick(PREDICATES)} {inner()} {inner()})"
    if share < 0.6:
        return f"(when {chance.pick(PREDICATES)} {inner()})"
    if share < 0.68:
        return f"(with {chance.pick(_SWITCHES)} {chance.pick(('true', 'false'))} simplify)"
    return chance.pick(_SOLVERS) if chance.happens(0.15) else chance.pick(TACTICS)


def read_tactic(context: Any, token: str, depth: int = 0) -> Any:
    """The tactic that ``token`` writes. Raises :class:`TraceError`."""

    def inner(part: str) -> Any:
        return read_tactic(context, part, depth + 1)

    if token in TACTICS or token in _SOLVERS:
        return z3.Tactic(token, context)
    match read_list(token) if token[0] == "(" and depth <= _MOST_PARTS else []:
        case ["with", switch, "true" | "false" as value, part] if switch.replace("_", "").isalpha():
            return z3.With(inner(part), **{switch: value == "true"})
        case ["if", probe, one, two] if probe in PREDICATES:
            return z3.Cond(z3.Probe(probe, context), inner(one), inner(two), context)
        case ["when", probe, part] if probe in PREDICATES:
            return z3.When(z3.Probe(probe, context), inner(part), context)
        case ["repeat", part]:
            return z3.Repeat(inner(part), 3, context)
        case ["then" | "or-else" as head, *inside] if len(inside) > 1:
            return (z3.Then if head == "then" else z3.OrElse)(*map(inner, inside), ctx=context)
    raise TraceError(f"no tactic {token[:60]}")


# Objects of z3


class AtMost(z3.UserPropagateBase):  # type: ignore[misc]
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
        return AtMost.__new__(AtMost)

    def _fix(self, literal: Any, value: Any) -> None:
        if not (z3.is_true(value) or z3.is_false(value)):
            self.strange = f"a propagator is called with a literal that is {value.sexpr()}"
        if z3.is_true(value):
            self.true.append(literal)
            if len(self.true) > self.bound:
                self.conflict(self.true)


def forget_propagators() -> None:
    """Let go of the propagators, which z3's module keeps for ever, and with them their contexts."""
    if z3.z3._prop_closures is not None:
        z3.z3._prop_closures.bases.clear()


def forget_listener() -> None:
    """Let go of the last listener to clauses, which z3's module keeps."""
    z3.z3._my_hacky_class = None


class Optimisation:
    """One optimisation problem."""

    def __init__(
        self, asking: Z3Asking, priority: str, hard: Sequence[Any], soft: Sequence[Any], goals: Sequence[Any]
    ) -> None:
        self.asking, self.context = asking, asking.context
        self.priority, self.hard, self.soft, self.goals = priority, hard, soft, goals
        self.optimize = z3.Optimize(ctx=self.context)
        self.optimize.set("rlimit", RESOURCE_LIMIT)
        self.optimize.set("priority", priority)
        if asking.happens(0.5):
            engines = ("maxres", "pd-maxres", "wmax", "rc2", "maxres-bin")
            self.optimize.set("maxsat_engine", asking.pick(engines))
        self.objectives: list[tuple[Any, Any, bool]] = []

    def solve(self) -> None:
        """State the problem, check it, and compare with a plain solver."""
        self._state()
        result = self.optimize.check()
        self.asking.must_agree(result, self.hard, "optimisation")
        if result == z3.unknown:
            self.optimize.reason_unknown()
            return
        if result == z3.sat:
            self._look_at_model()
            if self.priority == "lex":
                self._look_at_optimum()
            elif self.priority == "pareto":
                # A few more points of the front; each is a model.
                for _ in range(3):
                    if self.optimize.check() != z3.sat:
                        break
                    self._look_at_model()
        self._inspect()

    def _state(self) -> None:
        asking, optimize = self.asking, self.optimize
        for formula in self.hard:
            if asking.happens(0.2):
                name = asking.session.fresh_name("hard")
                optimize.assert_and_track(formula, z3.Bool(name, self.context))
            else:
                optimize.add(formula)
        if asking.happens(0.3):
            optimize.push()
            optimize.add(z3.BoolVal(False, self.context))
            optimize.pop()
        for formula in self.soft:
            weight = asking.pick(("1", "2", "0.5", "-1", "10"))
            optimize.add_soft(formula, weight, asking.pick(("", "g", "h")))
        for goal in self.goals:
            maximal = asking.happens(0.5)
            handle = optimize.maximize(goal) if maximal else optimize.minimize(goal)
            self.objectives.append((handle, goal, maximal))
        # Of variables only: a value for another term ends in a segmentation fault now and then (5.4).
        numbers = [g for g in self.goals if z3.is_int(g) and is_variable(g)]
        if asking.happens(0.2) and numbers:
            optimize.set_initial_value(numbers[0], 1)

    def _look_at_model(self) -> None:
        model = model_of(self.context, z3core.Z3_optimize_get_model, self.optimize.optimize)
        self.asking.must_satisfy(model, self.hard, "an optimum")

    def _look_at_optimum(self) -> None:
        """Nothing better than the first objective's optimum may be possible, where the value is a number.

        Soft constraints come before objectives, so this holds where there are none.
        """
        for handle, _, _ in self.objectives:
            self.optimize.lower(handle), self.optimize.upper(handle)
            self.optimize.lower_values(handle), self.optimize.upper_values(handle)
        if self.soft or not self.objectives:
            return
        handle, goal, maximal = self.objectives[0]
        value = handle.value()
        if not (z3.is_int_value(value) or z3.is_rational_value(value) or z3.is_bv_value(value)):
            return
        bound = goal.sort().cast(value) if not z3.is_bv(goal) else z3.BitVecVal(value.as_long(), goal.sort())
        if z3.is_bv(goal):
            better = z3.UGT(goal, bound) if maximal else z3.ULT(goal, bound)
        else:
            better = goal > bound if maximal else goal < bound
        self.asking.must_follow(self.hard, z3.Not(better), "an optimum")

    def _inspect(self) -> None:
        optimize, asking = self.optimize, self.asking
        optimize.assertions(), optimize.objectives(), optimize.statistics()
        if asking.happens(0.3):
            optimize.sexpr()
        if asking.happens(0.2):
            z3core.Z3_optimize_get_help(asking.session.ref, optimize.optimize)
        if asking.happens(0.1):
            optimize.translate(z3.Context()).assertions()


_WIDTH = 3
"""Bits of the relations' columns: the datalog engine lists them all."""
_ROUNDS = 1 << _WIDTH


class Horn:
    """Relations p and q over short bit-vectors, facts about p, and rules that add a constant or compare, so
    that what can be derived is computed here, too.
    """

    def __init__(self, asking: Z3Asking) -> None:
        self.asking, self.context = asking, asking.context
        below, pick, up_to = asking.below, asking.pick, asking.up_to
        self.facts = [below(_ROUNDS) for _ in range(up_to(2))]
        self.rules = [
            (pick(("pp", "pq", "qp", "qq")), below(_ROUNDS), below(_ROUNDS + 1)) for _ in range(up_to(6))
        ]
        self.target = below(_ROUNDS)

    @property
    def derivable(self) -> bool:
        """Whether q(target) follows: computed to the fixed point."""
        known = {("p", fact) for fact in self.facts}
        grown = True
        while grown:
            new = {
                (rule[1], (value + add) % _ROUNDS)
                for name, value in known
                for rule, add, limit in self.rules
                if rule[0] == name and value < limit
            }
            grown = not new <= known
            known |= new
        return ("q", self.target) in known

    def query(self, engine: str) -> None:
        """Ask one engine, and compare with what is derivable."""
        context, fresh_name = self.context, self.asking.session.fresh_name
        sort, bool_sort = z3.BitVecSort(_WIDTH, context), z3.BoolSort(context)
        relations = {name: z3.Function(fresh_name(name), sort, bool_sort) for name in "pq"}
        fixedpoint = z3.Fixedpoint(ctx=context)
        fixedpoint.set("engine", engine)
        fixedpoint.set("rlimit", RESOURCE_LIMIT)
        if engine == "spacer" and self.asking.happens(0.5):
            fixedpoint.set("spacer.random_seed", self.asking.below(100))
        fixedpoint.register_relation(*relations.values())
        x = z3.Const(fresh_name("x"), sort)
        fixedpoint.declare_var(x)
        for fact in self.facts:
            self._fact(fixedpoint, relations["p"], fact, sort)
        for rule, add, limit in self.rules:
            guard = z3.ULT(x, z3.BitVecVal(limit, sort)) if limit < _ROUNDS else z3.BoolVal(True, context)
            head = relations[rule[1]](x + z3.BitVecVal(add, sort))
            fixedpoint.rule(head, [relations[rule[0]](x), guard])
        goal = relations["q"](z3.BitVecVal(self.target, sort))
        result = ANSWERS[fixedpoint.query(goal).r]
        expected = Answer.SAT if self.derivable else Answer.UNSAT
        about = f"the engine {engine} answers {result}, derivation says {expected}"
        must("answer", result in (expected, Answer.UNKNOWN), about)
        self._inspect(fixedpoint, engine, result, relations["q"])

    def _fact(self, fixedpoint: Any, relation: Any, fact: int, sort: Any) -> None:
        if self.asking.happens(0.3):
            columns, ref = (c_uint * 1)(fact), self.asking.session.ref
            z3core.Z3_fixedpoint_add_fact(ref, fixedpoint.fixedpoint, relation.ast, 1, columns)
        else:
            fixedpoint.fact(relation(z3.BitVecVal(fact, sort)))

    def _inspect(self, fixedpoint: Any, engine: str, result: Answer, relation: Any) -> None:
        fixedpoint.get_rules(), fixedpoint.get_assertions(), fixedpoint.sexpr(), fixedpoint.statistics()
        if result is Answer.UNKNOWN:
            fixedpoint.reason_unknown()
            return
        if engine == "bmc":
            return
        answer = fixedpoint.get_answer()
        if engine == "datalog":
            must("term", z3.is_bool(answer), f"the answer of {engine} is no formula")
        if engine == "spacer":
            for level in range(min(fixedpoint.get_num_levels(relation), 3)):
                fixedpoint.get_cover_delta(level, relation)
            if result is Answer.SAT:
                fixedpoint.get_ground_sat_answer(), fixedpoint.get_rules_along_trace()


# Words of the rows, besides what is defined here.
__all__ = ["ACTIONS", "c_uint", "combinations", "is_value", "misread", "require_readable"]

ACTIONS = declared(Path(__file__).with_suffix(".toml"), "z3", Z3Asking, globals())
