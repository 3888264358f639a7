"""The machine: drawn by weight, narrowed by conditions, changed and printed."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from apifuzz.actions import Action
from apifuzz.machine import Machine, MachineError
from apifuzz.model import CONDITIONS, STATES, default_model
from apifuzz.wrappers.text import TextWrapper

ROOT = Path(__file__).resolve().parents[2]


class Named(Action):
    def __init__(self, name: str, possible: bool = True) -> None:
        self.name = name
        self.possible = possible

    def is_possible(self, run: Any) -> bool:
        return self.possible

    def draw(self, run: Any) -> tuple[str, ...] | None:
        return ()

    def perform(self, run: Any, args: tuple[str, ...]) -> tuple[str, ...]:
        return ()


def machine() -> Machine:
    made = Machine(
        {a.name: a for a in (Named("rare"), Named("often"), Named("never", possible=False))},
        {"ready": lambda run: run.ready},
        "start",
        "end",
    )
    made.add_state("start", "the first")
    made.add_state("end", "the last")
    made.add("start", "rare", 1)
    made.add("start", "often", 8)
    made.add("start", "never", 100)
    made.add("start", "", 1, "end", "ready")
    return made


def run(ready: bool = True) -> Any:
    return SimpleNamespace(random=random.Random(1), ready=ready)


def drawn(made: Machine, state: Any, count: int = 2000) -> Counter[str]:
    return Counter(made.draw("start", state).action for _ in range(count))


def test_transitions_are_drawn_by_weight() -> None:
    counts = drawn(machine(), run())
    assert set(counts) == {"rare", "often", ""}
    assert 1500 < counts["often"] < 1700 and 120 < counts["rare"] < 280


def test_a_condition_closes_a_way() -> None:
    assert "" not in drawn(machine(), run(ready=False))


def test_weights_are_changed_and_switched_off() -> None:
    made = machine()
    made.weigh("start", "rare", 8)
    assert 800 < drawn(made, run())["rare"] < 1100
    made.switch_off("often")
    assert "often" not in drawn(made, run())
    with pytest.raises(MachineError, match="no transition other out of start"):
        made.weigh("start", "other", 1)


def test_a_new_action_and_state_are_drawn() -> None:
    made = machine()
    made.add_action(Named("more"))
    made.add_state("aside", "a detour")
    made.add("start", "more", 1000, "aside")
    made.check()
    transition = made.draw("start", run())
    assert (transition.action, transition.target) == ("more", "aside")


def test_what_is_not_there_is_said() -> None:
    made = machine()
    with pytest.raises(MachineError, match="unknown action x"):
        made.add("start", "x", 1)
    with pytest.raises(MachineError, match="unknown condition x"):
        made.add("start", "rare", 1, "", "x")
    with pytest.raises(MachineError, match="unknown state x"):
        made.add("x", "rare", 1)
    made.add_state("island", "nobody comes here")
    with pytest.raises(MachineError, match="state island cannot be reached"):
        made.check()
    with pytest.raises(MachineError, match="no way out of state island"):
        made.draw("island", run())


def test_the_table_says_it_all() -> None:
    assert machine().table().splitlines() == [
        "state  action      %  to     when",
        "start  never   90.91  start",
        "       often    7.27  start",
        "       rare     0.91  start",
        "       -        0.91  end    ready",
    ]


def test_the_picture_has_states_and_edges() -> None:
    text = machine().dot()
    assert text.startswith("digraph model {") and text.endswith("}\n")
    assert '"start" [label="START\\nnever\\noften\\nrare"];' in text
    assert '"start" -> "end" [label="[ready]"];' in text


def test_the_default_model_is_whole() -> None:
    model = default_model(TextWrapper())
    model.check()
    assert set(model.states) == set(STATES)
    used = {t.condition for s in model.states.values() for t in s.transitions} - {""}
    assert used == set(CONDITIONS)
    actions = {t.action for s in model.states.values() for t in s.transitions} - {""}
    assert actions == set(model.actions)
    assert {state for state, s in model.states.items() if not s.transitions} == {"final"}


def test_the_page_shows_the_model_as_it_is() -> None:
    page = (ROOT / "docs" / "apifuzz.md").read_text("utf-8")
    assert default_model(TextWrapper()).table() in page


def test_the_model_has_the_actions_that_were_asked_for() -> None:
    wanted = """
        new delete set-logic set-option set-required-option make-sort declare-sort declare-datatypes
        make-value make-special-value make-constant make-variable make-term make-binder make-function
        define-function define-recursive inspect-sort inspect-term read-back simplify substitute
        assert check-sat check-sat-assuming unsat-assumptions unsat-core get-value print-model
        push pop reset reset-assertions feed-term
    """
    assert set(default_model(TextWrapper()).actions) == set(wanted.split())
