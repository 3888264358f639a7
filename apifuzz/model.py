"""The default model: which calls follow which, and how often.

The states are in the order of a run: an instance is made, a logic and options are set, sorts and first terms
are made. Then terms, assertions, checks, questions about the answer, levels and resets follow by weight,
until the run has made its calls or the instance is deleted. Actions of one solver are added at their places
(:attr:`apifuzz.engine.Engine.plan`).
"""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable
from pathlib import Path

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
    "sat": lambda run: run.stack.answer is Answer.SAT,
    "unsat": lambda run: run.stack.answer is Answer.UNSAT,
    "unknown": lambda run: run.stack.answer is Answer.UNKNOWN,
}
"""What a transition may depend on, by the name that is printed."""

STATES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""What each state is about, and the transitions out of it, in the order of a run."""


def default_model(engine: Engine) -> Machine:
    """The default model with the solver's own actions in their places."""
    plan = importlib.import_module(engine.plan) if engine.plan else None
    extra = plan.ACTIONS if plan else ()
    model = Machine({**ACTIONS, **{a.name: a for a in extra}}, CONDITIONS, "new", "final")
    for name, state in STATES.items():
        model.add_state(name, state["about"])
        for transition in state["transitions"]:
            model.add(name, **{"action": ""} | transition)
    for action in extra:
        for state, weight in action.places:
            model.add(state, action.name, weight)
    return model
