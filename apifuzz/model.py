"""The model of runs: a weighted finite-state machine over actions, as data that is drawn from and printed.

A state has transitions, each with a weight, a target, and perhaps an action and a condition. Among those
whose condition holds and whose action is possible, one is drawn by weight. A table of the machine, or a
picture (Graphviz), shows all of it.

The states of the default model are in the order of a run: an instance is made, a logic and options are set,
sorts and first terms are made. Then terms, assertions, checks, questions about the answer, levels and resets
follow by weight, until the run has made its calls or the instance is deleted. Actions of one solver are added
at their places (:attr:`apifuzz.engine.Engine.plan`).
"""

from __future__ import annotations

import importlib
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
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

    def check(self) -> None:
        """Raise :class:`MachineError` where a transition leads nowhere or a state cannot be reached."""
        reached = {self.start}
        for name in (todo := [self.start]):
            for transition in self._state(name).transitions:
                if transition.weight > 0 and transition.target not in reached:
                    reached.add(transition.target)
                    todo.append(transition.target)
        for state in self.states:
            if state not in reached:
                raise MachineError(f"state {state} cannot be reached")

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

    # Printing

    def rows(self) -> Iterator[tuple[str, str, str, str, str]]:
        """State, action, share of the state's weight in percent, target and condition of what is on."""
        for state in self.states.values():
            total = _total(state)
            for t in _by_weight(state):
                yield state.name, t.action or "-", f"{100 * t.weight / total:.2f}", t.target, t.condition

    def table(self) -> str:
        """The machine as a table for people."""
        head = ("state", "action", "%", "to", "when")
        rows = [head, *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        lines = []
        last = ""
        for row in rows:
            shown = ("" if row[0] == last else row[0], *row[1:])
            last = row[0]
            cells = [
                c.rjust(w) if i == 2 else c.ljust(w)
                for i, (c, w) in enumerate(zip(shown, widths, strict=True))
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines) + "\n"

    def boxes(self) -> Iterator[tuple[str, list[str]]]:
        """The states of the picture, with the lines below their names: purpose, and actions."""
        for state in self.states.values():
            yield state.name, [state.about, *_lines(state, state.name)]

    def arrows(self) -> Iterator[tuple[str, str, list[str], float]]:
        """The arrows of the picture: source, target, labels, and their share in percent."""
        for state in self.states.values():
            total = _total(state)
            for target in dict.fromkeys(t.target for t in _by_weight(state) if t.target != state.name):
                weight = sum(t.weight for t in state.transitions if t.target == target)
                yield state.name, target, _lines(state, target), 100 * weight / total

    def dot(self) -> str:
        """The machine as text for Graphviz."""
        lines = [
            "digraph model {",
            '  graph [rankdir=TB, nodesep=0.5, ranksep=0.7, fontname="sans-serif"];',
            '  node [shape=box, style="rounded,filled", fillcolor="#f4f6fa", color="#55606e",',
            '    margin="0.15,0.08", fontname="sans-serif", fontsize=11];',
            '  edge [color="#6b7a90", fontcolor="#33404f", fontname="sans-serif", fontsize=9,',
            "    arrowsize=0.7];",
        ]
        for name, (about, *inner) in self.boxes():
            body = "".join(f'{escape(line)}<br align="left"/>' for line in inner)
            label = f"<b>{escape(name)}</b><br/><i>{escape(about)}</i><br/>{body}"
            lines.append(f'  "{name}" [label=<{label}>];')
        for source, target, labels, share in self.arrows():
            # Rare transitions are thin, and the layout may bend them.
            width, weight = 0.6 + share / 30, 1 + round(share / 10)
            label = "".join(f'&#160;{escape(line)}<br align="left"/>' for line in labels)
            look = f"penwidth={width:.2f}, weight={weight}"
            lines.append(f'  "{source}" -> "{target}" [label=<{label}>, {look}];')
        lines.append("}")
        return "\n".join(lines) + "\n"


def _total(state: State) -> float:
    return sum(t.weight for t in state.transitions)


def _by_weight(state: State) -> list[Transition]:
    return sorted((t for t in state.transitions if t.weight > 0), key=lambda t: -t.weight)


def _lines(state: State, target: str) -> list[str]:
    """What leads from the state to ``target``: the action, or the condition, with its share."""
    total = _total(state)
    lines = []
    for t in _by_weight(state):
        if t.target == target:
            words = (t.action, f"[{t.condition}]" if t.condition else "", _percent(t.weight / total))
            lines.append(" ".join(filter(None, words)))
    return lines


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.0095 else f"{100 * share:.1g}%"


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
