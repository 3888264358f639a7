"""Tactics and probes applied to goals: what is left must be as satisfiable as what was there."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Annotated, Any

import z3
from z3 import z3core

from apifuzz.call import Drawn, Formulas, Text, read_list, some
from apifuzz.chance import Chance
from apifuzz.engines.profile import profile
from apifuzz.engines.z3.actions.base import MOST_FORMULAS, Asking, OfFormulas, Z3Action, is_variable
from apifuzz.engines.z3.terms import parts
from apifuzz.interface import Answer, Misbehaviour, must
from apifuzz.trace import TraceError

_WORDS = ("tactics", "solving_tactics", "probes", "predicates", "tactic_switches")
_TACTICS, _SOLVERS, _PROBES, _PREDICATES, _SWITCHES = map(profile("z3").list_of, _WORDS)
_DEPTH = 3
_MOST_PARTS = 20


class Tactic(Z3Action):
    """``z3:tactic TACTIC FORMULA...``: TACTIC is a name, ``(then T T)``, ``(or-else T T)``, ``(repeat T)``,
    ``(if PROBE T T)``, ``(when PROBE T)`` or ``(with NAME VALUE T)``.
    """

    places = (("terms", 2.5),)
    tactic: Annotated[Text, Drawn(lambda run: _draw_tactic(run.random, 0))]
    formulas: Annotated[Formulas, some(MOST_FORMULAS)]

    def ask(self, asking: Asking) -> None:
        tactic = _read_tactic(asking, self.tactic, 0)
        _apply(asking, tactic, asking.of(self.formulas))


class Probe(OfFormulas):
    """``z3:probe FORMULA...``: probes and their combinations, which are numbers that fit together."""

    places = (("terms", 0.5),)

    def ask(self, asking: Asking) -> None:
        session = asking.session
        goal = asking.goal(asking.of(self.formulas))
        name = session.random.pick(_PROBES)
        probe = z3.Probe(name, session.context)
        value = probe(goal)
        other = z3.Probe(session.random.pick(_PREDICATES), session.context)
        other(goal)
        limit = float(session.random.below(20))
        for compare in (operator.gt, operator.lt, operator.ge, operator.le, operator.eq):
            same = (compare(probe, limit)(goal) != 0.0) is compare(value, limit)
            must("term", same, f"the probe {name} is {value}, compared with {limit} it is another")
        more, unequal = probe > limit, probe != limit
        both = z3.Probe(z3core.Z3_probe_and(session.ref, more.probe, other.probe), session.context)
        either = z3.Probe(z3core.Z3_probe_or(session.ref, more.probe, unequal.probe), session.context)
        fits = (both(goal) == 0.0 or value > limit) and (either(goal) != 0.0) is (value != limit)
        must("term", fits, f"the probe {name} is {value}, combined with another it is not")


# Goals


def _apply(asking: Asking, tactic: Any, formulas: Sequence[Any]) -> None:
    """Apply the tactic and compare what comes of it with the goal."""
    goal = asking.goal(formulas)
    try:
        result = tactic.apply(goal)
    except z3.Z3Exception:
        # A tactic may fail on any goal: it is not meant for all.
        return
    subgoals = [result[i] for i in range(len(result))]
    for subgoal in subgoals:
        subgoal.size(), subgoal.depth(), subgoal.inconsistent(), subgoal.sexpr()
        z3core.Z3_goal_num_exprs(asking.session.ref, subgoal.goal)
        z3core.Z3_goal_is_decided_sat(asking.session.ref, subgoal.goal)
        z3core.Z3_goal_is_decided_unsat(asking.session.ref, subgoal.goal)
    if any(s.prec() != z3.Z3_GOAL_PRECISE for s in subgoals):
        return
    whole = asking.answer(formulas)
    answers = [asking.answer(_formulas(subgoal)) for subgoal in subgoals]
    if Answer.SAT in answers:
        if whole is Answer.UNSAT:
            raise Misbehaviour("answer", "a subgoal is sat, its goal is unsat")
        _convert(asking, subgoals[answers.index(Answer.SAT)], formulas)
    elif whole is Answer.SAT and all(a is Answer.UNSAT for a in answers):
        raise Misbehaviour("answer", "every subgoal is unsat, the goal is sat")


def _formulas(goal: Any) -> list[Any]:
    return [goal.get(i) for i in range(goal.size())]


def _convert(asking: Asking, goal: Any, formulas: Sequence[Any]) -> None:
    """A subgoal's model, converted, must be one of the goal."""
    solver = asking.solver(_formulas(goal))
    if solver.check() != z3.sat:
        return
    found = asking.model_of(solver)
    # z3's solver leaves constants that a tactic made out of its models, though formulas are about them.
    names = {part.decl().name() for part in parts(_formulas(goal)) if is_variable(part)}
    if any("!" in name and name not in str(found) for name in names):
        return
    asking.must_satisfy(goal.convert_model(found), formulas, "a subgoal, converted,")


# Tactics as text


def _draw_tactic(chance: Chance, depth: int) -> str:
    def inner() -> str:
        return _draw_tactic(chance, depth + 1)

    share = chance.random() if depth < _DEPTH else 1.0
    if share < 0.35:
        return f"(then {inner()} {inner()})"
    if share < 0.45:
        return f"(or-else {inner()} {inner()})"
    if share < 0.5:
        return f"(repeat {chance.pick(_TACTICS)})"
    if share < 0.55:
        return f"(if {chance.pick(_PREDICATES)} {inner()} {inner()})"
    if share < 0.6:
        return f"(when {chance.pick(_PREDICATES)} {inner()})"
    if share < 0.68:
        return f"(with {chance.pick(_SWITCHES)} {chance.pick(('true', 'false'))} simplify)"
    return chance.pick(_SOLVERS) if chance.happens(0.15) else chance.pick(_TACTICS)


def _read_tactic(asking: Asking, token: str, depth: int) -> Any:
    """The tactic that ``token`` writes. Raises :class:`TraceError`."""
    context = asking.session.context

    def inner(part: str) -> Any:
        return _read_tactic(asking, part, depth + 1)

    if token in _TACTICS or token in _SOLVERS:
        return z3.Tactic(token, context)
    match read_list(token) if token[0] == "(" and depth <= _MOST_PARTS else []:
        case ["with", switch, "true" | "false" as value, part] if switch.replace("_", "").isalpha():
            return z3.With(inner(part), **{switch: value == "true"})
        case ["if", probe, one, two] if probe in _PREDICATES:
            return z3.Cond(z3.Probe(probe, context), inner(one), inner(two), context)
        case ["when", probe, part] if probe in _PREDICATES:
            return z3.When(z3.Probe(probe, context), inner(part), context)
        case ["repeat", part]:
            return z3.Repeat(inner(part), 3, context)
        case ["then" | "or-else" as head, *parts] if len(parts) > 1:
            return (z3.Then if head == "then" else z3.OrElse)(*map(inner, parts), ctx=context)
    raise TraceError(f"no tactic {token[:60]}")
