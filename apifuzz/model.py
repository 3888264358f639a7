"""The model of runs: a weighted finite-state machine over actions, as data that is drawn from.

A state has transitions, each with a weight, a target, and perhaps an action and a condition. Among those
whose condition holds and whose action is possible, one is drawn by weight.

The states of the default model are in the order of a run: an instance is made, a logic and options are set,
sorts and first terms are made. Then terms, assertions, checks, questions about the answer, levels and resets
follow by weight, until the run has made its calls or the instance is deleted. Actions of one solver are added
at their places (:attr:`apifuzz.engine.Engine.plan`).
"""

from __future__ import annotations

import importlib
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from apifuzz.actions import Action
from apifuzz.calls import ACTIONS
from apifuzz.engine import Engine
from apifuzz.interface import Answer
from apifuzz.run import Run
from smtlib import BOOL

_TRIES = 6


@dataclass(frozen=True, slots=True)
class Transition:
    """One way out of a state. With ``weight`` 0 it is off; without ``action`` it is a step without a call."""

    action: str
    weight: float
    target: str
    condition: str = ""


@dataclass(slots=True)
class State:
    """A state: its purpose, and the ways out of it."""

    name: str
    about: str
    transitions: list[Transition] = field(default_factory=list)
    # Running sums of the weights, made when they are first needed.
    sums: list[float] = field(default_factory=list)


class MachineError(Exception):
    """The machine names an unknown state, action or condition, or no transition is possible."""


class Machine:
    """States, actions and conditions by name; ``start`` is the first state, ``final`` the last."""

    def __init__(
        self,
        actions: Mapping[str, type[Action[Any]]],
        conditions: Mapping[str, Callable[[Run], bool]],
        start: str,
        final: str,
    ) -> None:
        self.actions = dict(actions)
        self.conditions = dict(conditions)
        self.states: dict[str, State] = {}
        self.start = start
        self.final = final

    # Building

    def add_state(self, name: str, about: str) -> None:
        """Add a state without transitions."""
        self.states[name] = State(name, about)

    def add(self, state: str, action: str, weight: float, target: str = "", condition: str = "") -> None:
        """Add a transition; without ``target`` it stays in ``state``. ``action`` may be empty."""
        if action and action not in self.actions:
            raise MachineError(f"unknown action {action}")
        if condition and condition not in self.conditions:
            raise MachineError(f"unknown condition {condition}")
        if weight < 0:
            raise MachineError(f"{state}: a weight below zero")
        self._state(state).transitions.append(Transition(action, weight, target or state, condition))
        self._state(state).sums.clear()

    def _state(self, name: str) -> State:
        try:
            return self.states[name]
        except KeyError:
            raise MachineError(f"unknown state {name}") from None

    # Running

    def draw(self, state: str, run: Run) -> Transition:
        """One of the possible transitions out of ``state``, by weight, from ``run.random``."""
        here = self.states[state]
        if not here.sums:
            here.sums = list(accumulate(t.weight for t in here.transitions))
        total = here.sums[-1] if here.sums else 0
        chance = run.random.random
        for _ in range(_TRIES):
            if total <= 0:
                break
            transition = here.transitions[bisect_right(here.sums, chance() * total)]
            if self.is_possible(transition, run):
                return transition
        return self._draw_among_possible(here, run)

    def _draw_among_possible(self, here: State, run: Run) -> Transition:
        possible = [t for t in here.transitions if t.weight > 0 and self.is_possible(t, run)]
        if not possible:
            raise MachineError(f"no way out of state {here.name}")
        sums = list(accumulate(t.weight for t in possible))
        return possible[bisect_right(sums, run.random.random() * sums[-1])]

    def is_possible(self, transition: Transition, run: Run) -> bool:
        """Whether the condition holds and the action is possible now."""
        if transition.condition and not self.conditions[transition.condition](run):
            return False
        return not transition.action or self.actions[transition.action].is_possible(run)


# The default model: which calls follow which, and how often


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
