"""Fixed points: small Horn problems whose answer is known, by each engine."""

from __future__ import annotations

import ctypes
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.z3.actions.base import ANSWERS, Asking, Z3Action
from apifuzz.engines.z3.session import RESOURCE_LIMIT
from apifuzz.interface import Answer, must

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
        problem = _Problem(asking)
        for engine in ("datalog", "spacer", "bmc"):
            problem.query(engine)


class _Problem:
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
        if engine == "spacer" and session.chance(0.5):
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
        wanted = relations["q"](z3.BitVecVal(self.target, sort))
        result = ANSWERS[fixedpoint.query(wanted).r]
        expected = Answer.SAT if self.derivable else Answer.UNSAT
        about = f"the engine {engine} answers {result}, derivation says {expected}"
        must("answer", result in (expected, Answer.UNKNOWN), about)
        self._inspect(fixedpoint, engine, result, relations)

    def _fact(self, fixedpoint: Any, relation: Any, fact: int, sort: Any) -> None:
        if self.session.chance(0.3):
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
