"""What the rows of ``actions.toml``, the actions that only z3 has, need beside z3's own calls."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from ctypes import c_uint
from itertools import combinations
from pathlib import Path
from typing import Any

import z3

from apifuzz.actions import Second
from apifuzz.call import read_list
from apifuzz.chance import Chance
from apifuzz.engines.declared import Asking, declared
from apifuzz.engines.profile import profile
from apifuzz.engines.z3.engine import Z3Engine
from apifuzz.engines.z3.session import RESOURCE_LIMIT, misread, model_of, require_readable
from apifuzz.engines.z3.solving import ANSWERS, is_value
from apifuzz.engines.z3.terms import parts
from apifuzz.engines.z3.words import words_in
from apifuzz.interface import Answer, ApiTerm, Misbehaviour
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
        self._word = words_in(core.session)

    def word(self, name: str) -> Any:
        return self._word(name)

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
        solver = z3.SimpleSolver(self.context)
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


def is_variable(term: Any) -> bool:
    """Whether the term is an uninterpreted constant."""
    return bool(z3.is_const(term) and term.decl().kind() == z3.Z3_OP_UNINTERPRETED)


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


# Words of the rows, besides what is defined here.
__all__ = [
    "ACTIONS",
    "RESOURCE_LIMIT",
    "c_uint",
    "combinations",
    "is_value",
    "misread",
    "model_of",
    "require_readable",
]

ACTIONS = declared(Path(__file__).with_suffix(".toml"), "z3", Z3Asking, globals())
