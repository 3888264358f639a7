"""Fixed points and optimisation: small Horn problems whose answer is known; constraints and objectives, of
which nothing may be better than the optimum.
"""

from __future__ import annotations

import ctypes
from typing import Annotated, Any, Self

import z3
from z3 import z3core

from apifuzz.call import FormulaList, ValueList, one_of, some, terms_of
from apifuzz.engines.z3.actions.base import MOST_FORMULAS, Asking, Z3Action, is_variable
from apifuzz.engines.z3.session import RESOURCE_LIMIT, model_of
from apifuzz.engines.z3.solving import ANSWERS
from apifuzz.interface import Answer, Unsupported, must
from apifuzz.run import Run

_SORTS = ("Int", "Real", "BitVec")
_ENGINES = ("maxres", "pd-maxres", "wmax", "rc2", "maxres-bin")
_MOST_FRONTS = 3


class Optimise(Z3Action):
    """``z3:optimise PRIORITY (FORMULA ...) (FORMULA ...) (TERM ...)``: hard, soft, objectives."""

    places = (("terms", 1.5),)
    priority: Annotated[str, one_of("lex", "pareto", "box")]
    hard: Annotated[FormulaList, some(MOST_FORMULAS)]
    soft: Annotated[FormulaList, some(MOST_FORMULAS, least=0)]
    goals: Annotated[ValueList, terms_of(*_SORTS, most=3, least=0)]

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        drawn = super().draw(run)
        return drawn if drawn is not None and (drawn.soft or drawn.goals) else None

    def ask(self, asking: Asking) -> None:
        if any(goal.sort.sort.name not in _SORTS for goal in self.goals):
            raise Unsupported("no such objective")
        _Problem(asking, self).solve()


class _Problem:
    """One optimisation problem."""

    def __init__(self, asking: Asking, stated: Optimise) -> None:
        self.asking = asking
        self.session = asking.session
        self.hard, self.soft = asking.of(stated.hard), asking.of(stated.soft)
        self.goals = asking.of(stated.goals)
        self.priority = stated.priority
        self.optimize = z3.Optimize(ctx=self.session.context)
        self.optimize.set("rlimit", RESOURCE_LIMIT)
        self.optimize.set("priority", self.priority)
        if self.session.random.happens(0.5):
            self.optimize.set("maxsat_engine", self.session.random.pick(_ENGINES))
        self.objectives: list[tuple[Any, Any, bool]] = []

    def solve(self) -> None:
        """State the problem, check it, and compare with a plain solver."""
        self._state()
        result = self.optimize.check()
        self.asking.must_agree(ANSWERS[result.r], self.hard, "optimisation")
        if result == z3.unknown:
            self.optimize.reason_unknown()
            return
        if result == z3.sat:
            self._look_at_model()
            if self.priority == "lex":
                self._look_at_optimum()
            elif self.priority == "pareto":
                # A few more points of the front; each is a model.
                for _ in range(_MOST_FRONTS):
                    if self.optimize.check() != z3.sat:
                        break
                    self._look_at_model()
        self._inspect()

    def _state(self) -> None:
        session, optimize = self.session, self.optimize
        for formula in self.hard:
            if session.random.happens(0.2):
                optimize.assert_and_track(formula, z3.Bool(session.fresh_name("hard"), session.context))
            else:
                optimize.add(formula)
        if session.random.happens(0.3):
            optimize.push()
            optimize.add(z3.BoolVal(False, session.context))
            optimize.pop()
        for formula in self.soft:
            weight = session.random.pick(("1", "2", "0.5", "-1", "10"))
            optimize.add_soft(formula, weight, session.random.pick(("", "g", "h")))
        for goal in self.goals:
            maximal = session.random.happens(0.5)
            handle = optimize.maximize(goal) if maximal else optimize.minimize(goal)
            self.objectives.append((handle, goal, maximal))
        # Of variables only: a value for another term ends in a segmentation fault now and then (5.4).
        numbers = [g for g in self.goals if z3.is_int(g) and is_variable(g)]
        if session.random.happens(0.2) and numbers:
            optimize.set_initial_value(numbers[0], 1)

    def _look_at_model(self) -> None:
        model = model_of(self.session.context, z3core.Z3_optimize_get_model, self.optimize.optimize)
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
        optimize, session = self.optimize, self.session
        optimize.assertions(), optimize.objectives(), optimize.statistics()
        if session.random.happens(0.3):
            optimize.sexpr()
        if session.random.happens(0.2):
            z3core.Z3_optimize_get_help(session.ref, optimize.optimize)
        if session.random.happens(0.1):
            other = z3.Context()
            optimize.translate(other).assertions()


# Fixed points


_WIDTH = 3
"""Bits of the relations' columns: the datalog engine lists them all."""

_MOST_RULES = 6
_ROUNDS = 1 << _WIDTH


class FixedPoint(Z3Action):
    """``z3:fixed-point``: a Horn problem of its own, in the run's context.

    Its relations are over short bit-vectors, so that what can be derived is computed here, too.
    """

    places = (("terms", 0.3),)

    def ask(self, asking: Asking) -> None:
        problem = _Horn(asking)
        for engine in ("datalog", "spacer", "bmc"):
            problem.query(engine)


class _Horn:
    """Relations p and q over bit-vectors, facts about p, and rules that add a constant or compare."""

    def __init__(self, asking: Asking) -> None:
        self.session = session = asking.session
        chance = session.random
        self.facts = [chance.below(_ROUNDS) for _ in range(chance.up_to(2))]
        self.rules = [
            (chance.pick(("pp", "pq", "qp", "qq")), chance.below(_ROUNDS), chance.below(_ROUNDS + 1))
            for _ in range(chance.up_to(_MOST_RULES))
        ]
        self.target = chance.below(_ROUNDS)

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
        session = self.session
        context = session.context
        sort = z3.BitVecSort(_WIDTH, context)
        bool_sort = z3.BoolSort(context)
        relations = {name: z3.Function(session.fresh_name(name), sort, bool_sort) for name in "pq"}
        fixedpoint = z3.Fixedpoint(ctx=context)
        fixedpoint.set("engine", engine)
        fixedpoint.set("rlimit", RESOURCE_LIMIT)
        if engine == "spacer" and session.random.happens(0.5):
            fixedpoint.set("spacer.random_seed", session.random.below(100))
        fixedpoint.register_relation(*relations.values())
        x = z3.Const(session.fresh_name("x"), sort)
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
        self._inspect(fixedpoint, engine, result, relations)

    def _fact(self, fixedpoint: Any, relation: Any, fact: int, sort: Any) -> None:
        if self.session.random.happens(0.3):
            columns = (ctypes.c_uint * 1)(fact)
            z3core.Z3_fixedpoint_add_fact(self.session.ref, fixedpoint.fixedpoint, relation.ast, 1, columns)
        else:
            fixedpoint.fact(relation(z3.BitVecVal(fact, sort)))

    def _inspect(self, fixedpoint: Any, engine: str, result: Answer, relations: dict[str, Any]) -> None:
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
            levels = fixedpoint.get_num_levels(relations["q"])
            for level in range(min(levels, 3)):
                fixedpoint.get_cover_delta(level, relations["q"])
            if result is Answer.SAT:
                fixedpoint.get_ground_sat_answer(), fixedpoint.get_rules_along_trace()
