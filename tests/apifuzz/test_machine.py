"""The machine: drawn by weight, narrowed by conditions, and printed."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from apifuzz.chance import Chance
from apifuzz.engines import ENGINES, MODULES, make_engine
from apifuzz.engines.text import TextEngine
from apifuzz.model import CONDITIONS, STATES, Machine, MachineError, default_model
from exhume.pages.model import arrows, boxes, dot, table

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"


class Named:
    """An action as a machine sees it."""

    def __init__(self, name: str, possible: bool = True) -> None:
        self.name = name
        self.possible = possible

    def is_possible(self, run: Any) -> bool:
        return self.possible


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
    return SimpleNamespace(random=Chance(1), ready=ready)


def drawn(made: Machine, state: Any, count: int = 2000) -> Counter[str]:
    return Counter(made.draw("start", state).action for _ in range(count))


def test_transitions_are_drawn_by_weight() -> None:
    counts = drawn(machine(), run())
    assert set(counts) == {"rare", "often", ""}
    assert 1500 < counts["often"] < 1700 and 120 < counts["rare"] < 280


def test_a_condition_closes_a_way() -> None:
    assert "" not in drawn(machine(), run(ready=False))


def test_a_new_state_is_drawn() -> None:
    made = machine()
    made.add_state("aside", "a detour")
    made.add("start", "rare", 1000, "aside")
    transition = made.draw("start", run())
    assert (transition.action, transition.target) == ("rare", "aside")


def test_what_is_not_there_is_said() -> None:
    made = machine()
    with pytest.raises(MachineError, match="unknown action x"):
        made.add("start", "x", 1)
    with pytest.raises(MachineError, match="unknown condition x"):
        made.add("start", "rare", 1, "", "x")
    with pytest.raises(MachineError, match="unknown state x"):
        made.add("x", "rare", 1)
    made.add_state("island", "nobody comes here")
    with pytest.raises(MachineError, match="no way out of state island"):
        made.draw("island", run())


def test_the_table_says_it_all() -> None:
    assert table(machine()).splitlines() == [
        "state  action      %  to     when",
        "start  never   90.91  start",
        "       often    7.27  start",
        "       rare     0.91  start",
        "       -        0.91  end    ready",
    ]


def test_the_picture_has_states_and_arrows_with_their_shares() -> None:
    made = machine()
    assert next(boxes(made)) == ("start", ["the first", "never 91%", "often 7%", "rare 0.9%"])
    assert list(arrows(made)) == [("start", "end", ["[ready] 0.9%"], pytest.approx(100 / 110))]
    text = dot(made)
    assert text.startswith("digraph model {") and text.endswith("}\n")
    assert '"start" [label=<<b>start</b><br/><i>the first</i><br/>never 91%<br align="left"/>' in text
    assert '"start" -> "end" [label=<&#160;[ready] 0.9%<br align="left"/>>' in text


@pytest.mark.skipif(shutil.which("dot") is None, reason="no Graphviz on this machine")
@pytest.mark.parametrize("solver", ENGINES)
def test_graphviz_takes_the_picture_of_every_solver(solver: str) -> None:
    if solver in MODULES:
        pytest.importorskip(solver, reason=f"{solver} is not installed")
    text = dot(default_model(make_engine(solver)))
    done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_default_model_is_whole() -> None:
    model = default_model(TextEngine())
    reached = [model.start]
    for name in reached:
        targets = {t.target for t in model.states[name].transitions if t.weight > 0}
        reached += sorted(targets - set(reached))
    assert set(reached) == set(model.states) == set(STATES)
    used = {t.condition for s in model.states.values() for t in s.transitions} - {""}
    assert used == set(CONDITIONS)
    actions = {t.action for s in model.states.values() for t in s.transitions} - {""}
    assert actions == set(model.actions)
    assert {state for state, s in model.states.items() if not s.transitions} == {"final"}


def test_the_page_lists_the_kinds_of_wrong_results() -> None:
    page = (ROOT / "docs" / "apifuzz.md").read_text("utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| a result is wrong |"))
    known = tomllib.loads((ROOT / "apifuzz" / "running" / "classes.toml").read_text("utf-8"))
    others = {"crash", "rejected", "leak", "internal"}
    assert set(re.findall("`([a-z]+)`", row)) - {"fault"} == set(known) - others


def test_the_picture_is_of_the_model_as_it_is() -> None:
    """Of ``docs/apifuzz-model.svg``: every box and arrow, with all that stands in it or beside it."""
    model = default_model(TextEngine())
    nodes = {name: [name, *lines] for name, lines in boxes(model)}
    edges = {f"{source}->{target}": lines for source, target, lines, _ in arrows(model)}
    drawn: dict[str, dict[str, list[str]]] = {"node": {}, "edge": {}}
    for group in ElementTree.parse(ROOT / "docs" / "apifuzz-model.svg").iter(f"{SVG}g"):
        if group.get("class") in drawn:
            title = group.findtext(f"{SVG}title")
            assert title is not None
            texts = [(text.text or "").strip("\u00a0 ") for text in group.iter(f"{SVG}text")]
            drawn[group.attrib["class"]][title] = texts
    assert drawn == {"node": nodes, "edge": edges}, "regenerate it, as docs/apifuzz.md says"


def test_the_model_has_the_actions_that_were_requested() -> None:
    expected = """
        new delete set-logic set-option set-required-option make-sort declare-sort declare-datatypes
        make-value make-special-value make-constant make-variable make-term make-binder make-function
        define-function define-recursive inspect-sort inspect-term read-back simplify substitute
        assert check-sat check-sat-assuming unsat-assumptions unsat-core get-value print-model
        push pop reset reset-assertions feed-term
    """
    assert set(default_model(TextEngine()).actions) == set(expected.split())
