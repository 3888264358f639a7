"""The default model: which calls follow which, and how often.

The states are in the order of a run: an instance is made, a logic and options are set, sorts and first terms
are made. Then terms, assertions, checks, questions about the answer, levels and resets follow by weight,
until the run has made its calls or the instance is deleted. Actions of one solver are added at their places
(:attr:`apifuzz.engine.Engine.plan`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable

from apifuzz.calls import ACTIONS
from apifuzz.engine import Engine
from apifuzz.interface import Answer
from apifuzz.machine import Machine
from apifuzz.run import Run
from smtlib import BOOL

_MOST_SORTING = 30
"""A run that was in the state ``sorts`` this often leaves it with what it has: Bool may be all there is."""


def _has_sorts(run: Run) -> bool:
    is_enough = len(run.store.plain_sorts) > 1 or run.statistics.states["sorts"] >= _MOST_SORTING
    return BOOL in run.store.sorts and is_enough


CONDITIONS: dict[str, Callable[[Run], bool]] = {
    "sorts": _has_sorts,
    "terms": lambda run: len(run.store.closed_terms) > 2,
    "assertions": lambda run: any(run.stack.levels),
    "may change": lambda run: run.may_change,
    "options left": lambda run: bool(run.required_options),
    "options set": lambda run: not run.required_options,
    "sat": lambda run: run.answer is Answer.SAT,
    "unsat": lambda run: run.answer is Answer.UNSAT,
    "unknown": lambda run: run.answer is Answer.UNKNOWN,
}
"""What a transition may depend on, by the name that is printed."""

STATES = {
    "new": "make an instance",
    "required": "set what every run sets",
    "logic": "set a logic, perhaps",
    "options": "set options",
    "sorts": "make sorts",
    "inputs": "make constants and values",
    "terms": "make terms",
    "assert": "assert formulas",
    "check": "check",
    "answer": "go where the answer leads",
    "sat": "ask for values and models",
    "unsat": "ask for cores and assumptions",
    "unknown": "nothing to ask",
    "levels": "open and close levels",
    "delete": "let go of the instance",
    "final": "the run is over",
}

# State, action (empty: none), weight, target (empty: the same state), condition.
TRANSITIONS: tuple[tuple[str, str, float, str, str], ...] = (
    ("new", "new", 1, "required", ""),
    ("required", "set-required-option", 1, "", "options left"),
    ("required", "", 1, "logic", "options set"),
    ("logic", "set-logic", 6, "options", ""),
    ("logic", "", 4, "options", ""),
    ("options", "set-option", 3, "", ""),
    ("options", "", 1, "sorts", ""),
    ("sorts", "make-sort", 10, "", ""),
    ("sorts", "declare-sort", 2, "", ""),
    ("sorts", "declare-datatypes", 2, "", ""),
    ("sorts", "inspect-sort", 0.3, "", ""),
    ("sorts", "", 3, "inputs", "sorts"),
    ("inputs", "make-constant", 10, "", ""),
    ("inputs", "make-value", 4, "", ""),
    ("inputs", "make-special-value", 3, "", ""),
    ("inputs", "make-function", 2, "", ""),
    ("inputs", "", 3, "terms", "terms"),
    ("terms", "make-term", 110, "", ""),
    ("terms", "make-constant", 5, "", ""),
    ("terms", "make-value", 3, "", ""),
    ("terms", "make-special-value", 4, "", ""),
    ("terms", "make-variable", 6, "", ""),
    ("terms", "make-binder", 8, "", ""),
    ("terms", "make-function", 1.5, "", ""),
    ("terms", "define-function", 2, "", ""),
    ("terms", "define-recursive", 3, "", ""),
    ("terms", "make-sort", 2, "", ""),
    ("terms", "declare-sort", 0.3, "", ""),
    ("terms", "declare-datatypes", 0.3, "", ""),
    ("terms", "feed-term", 4, "", ""),
    ("terms", "inspect-term", 4, "", ""),
    ("terms", "inspect-sort", 1, "", ""),
    ("terms", "read-back", 2, "", ""),
    ("terms", "simplify", 3, "", ""),
    ("terms", "substitute", 3, "", ""),
    ("terms", "", 16, "assert", "may change"),
    ("terms", "", 3, "check", "assertions"),
    ("terms", "", 3, "levels", ""),
    ("terms", "", 2, "sat", "sat"),
    ("terms", "", 1, "unsat", "unsat"),
    ("terms", "reset-assertions", 0.2, "", ""),
    ("terms", "reset", 0.1, "", ""),
    ("terms", "", 0.1, "delete", ""),
    ("assert", "assert", 4, "", ""),
    ("assert", "", 3, "terms", ""),
    ("assert", "", 3.5, "check", "assertions"),
    ("assert", "", 0.5, "levels", ""),
    ("check", "check-sat", 3, "answer", ""),
    ("check", "check-sat-assuming", 2, "answer", ""),
    ("check", "", 0.5, "terms", ""),
    ("answer", "", 1, "sat", "sat"),
    ("answer", "", 1, "unsat", "unsat"),
    ("answer", "", 1, "unknown", "unknown"),
    ("sat", "get-value", 4, "", ""),
    ("sat", "print-model", 1, "", ""),
    ("sat", "inspect-term", 0.3, "", ""),
    ("sat", "", 3, "terms", ""),
    ("sat", "", 0.5, "assert", "may change"),
    ("sat", "", 0.5, "check", ""),
    ("sat", "", 1, "levels", ""),
    ("sat", "reset-assertions", 0.1, "terms", ""),
    ("sat", "reset", 0.05, "terms", ""),
    ("sat", "", 0.05, "delete", ""),
    ("unsat", "unsat-core", 3, "", ""),
    ("unsat", "unsat-assumptions", 4, "", ""),
    ("unsat", "inspect-term", 0.3, "", ""),
    ("unsat", "pop", 4, "terms", ""),
    ("unsat", "", 1, "terms", ""),
    ("unsat", "", 0.5, "check", ""),
    ("unsat", "", 0.5, "levels", ""),
    ("unsat", "reset-assertions", 1.2, "terms", ""),
    ("unsat", "reset", 0.4, "terms", ""),
    ("unsat", "", 0.05, "delete", ""),
    ("unknown", "", 3, "terms", ""),
    ("unknown", "", 0.3, "check", ""),
    ("unknown", "", 1, "levels", ""),
    ("unknown", "reset-assertions", 0.2, "terms", ""),
    ("unknown", "reset", 0.1, "terms", ""),
    ("unknown", "", 0.05, "delete", ""),
    ("levels", "push", 5, "terms", ""),
    ("levels", "pop", 3, "terms", ""),
    ("levels", "", 0.5, "terms", ""),
    ("delete", "delete", 1, "new", ""),
    ("delete", "delete", 1, "final", ""),
)


def default_model(engine: Engine) -> Machine:
    """The default model with the solver's own actions in their places."""
    plan = importlib.import_module(engine.plan) if engine.plan else None
    extra = plan.ACTIONS if plan else ()
    model = Machine({**ACTIONS, **{a.name: a for a in extra}}, CONDITIONS, "new", "final")
    for name, about in STATES.items():
        model.add_state(name, about)
    for transition in TRANSITIONS:
        model.add(*transition)
    for action in extra:
        for state, weight in action.places:
            model.add(state, action.name, weight)
    return model
