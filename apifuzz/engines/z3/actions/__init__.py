"""Actions that only z3 has: their names begin with ``z3:``."""

from __future__ import annotations

from apifuzz.actions import Action
from apifuzz.engines.z3.actions import contexts, fixedpoints, goals, optimising, questions, solvers

ACTIONS: tuple[Action, ...] = (
    *goals.ACTIONS,
    *questions.ACTIONS,
    *optimising.ACTIONS,
    *fixedpoints.ACTIONS,
    *contexts.ACTIONS,
    *solvers.ACTIONS,
)

_WEIGHTS = {
    "z3:tactic": 2.5,
    "z3:optimise": 1.5,
    "z3:simplifiers": 1.5,
    "z3:print": 1.0,
    "z3:containers": 0.5,
    "z3:fixed-point": 0.3,
    "z3:translate": 0.5,
    "z3:script": 0.3,
    "z3:probe": 0.5,
}
"""Among what is done with terms. Making a context takes as long as twenty other calls."""

_AFTER = {"z3:state": ("sat", "unsat", "unknown"), "z3:congruence": ("sat",), "z3:proof": ("unsat",)}
"""What is asked about an answer."""

PLACES = tuple(
    (state, action.name, 1.0 if action.name in _AFTER else _WEIGHTS.get(action.name, 0.8))
    for action in ACTIONS
    for state in _AFTER.get(action.name, ("terms",))
)
"""State, action, weight."""
