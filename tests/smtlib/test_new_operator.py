"""A theory file added to a copy of the package: everything that knows operators knows the new ones."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

THEORY = """
(theory Gadgets
 :about "Made up"
 :needs (Ints)
 :sorts ((Gadget 0))
 :funs (
  (gadget.on Gadget Bool :neutral)
  (gadget.mix Gadget Gadget Gadget :left-assoc :was (gadget.blend))
  (gadget.turn Gadget Int Gadget :open :weight 0.3)
  (gadget.shift Gadget Int Gadget)
  (gadget.set Gadget Int Gadget :values (1))
  (gadget.spin Gadget Gadget :hard)
  (gadget.paint Gadget Gadget :doubtful)
 ))
"""

FORMULA = """
(declare-const g Gadget)(declare-const i Int)
(assert (gadget.on (gadget.blend g (gadget.turn (gadget.spin (gadget.paint g)) i) (gadget.set g 3))))
(check-sat)
"""

SCRIPT = """
import json, sys
from pathlib import Path
from difftest.models import totalise
from difftest.triage.operators import essential_operators
from generator import StrategySettings, make_strategy, seeds_of_folder
from generator.seeds.script import read_seed
from generator.strategies.storm.openness import open_functions
from smtlib import check_script, default_theories, print_script, read_script
from smtlib.mentions import theories_in

folder = Path(sys.argv[1])
text = (folder / "seed.smt2").read_text()
checked = check_script(read_script(text))

def mutants(name, *given):
    strategy = make_strategy(name, None, StrategySettings(given=given), seeds_of_folder(folder))
    return [test.text for test in strategy.generate(0, 60)]

print(json.dumps({
    "errors": [str(error) for error in checked.errors],
    "printed": print_script(checked),
    "refused": [str(e) for e in check_script(read_script("(assert (gadget.on 1))")).errors],
    "theories": theories_in(text),
    "essential": essential_operators(text, lambda shorter: False, float("inf"))[0],
    "read differently": sorted(n for n in totalise.read_differently() if n.startswith("gadget")),
    "storm": sorted(open_functions(read_seed(text))),
    "weight": default_theories().functions["gadget.turn"][0].weight,
    "typefuzz": mutants("typefuzz", "chain=4"),
    "opfuzz": mutants("opfuzz", "chain=2"),
}))
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "smtlib", folder / "smtlib")
    (folder / "smtlib" / "theories" / "gadgets.smt2").write_text(THEORY)
    (folder / "seeds").mkdir()
    (folder / "seeds" / "seed.smt2").write_text(FORMULA)
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(folder / "seeds")],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"},
    )
    assert run.returncode == 0, run.stderr[-2000:]
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_a_new_operator_is_read_sort_checked_and_printed(seen: dict[str, Any]) -> None:
    assert seen["errors"] == []
    assert "(gadget.mix g (gadget.turn (gadget.spin (gadget.paint g)) i) (gadget.set g 3))" in seen["printed"]
    (refused,) = seen["refused"]
    assert "no rank of gadget.on" in refused
    assert seen["theories"] == ["Gadgets", "Ints"]
    assert seen["weight"] == 0.3


def test_a_new_operator_is_mutated(seen: dict[str, Any]) -> None:
    typefuzz, opfuzz = "\n".join(seen["typefuzz"]), "\n".join(seen["opfuzz"])
    assert "(gadget.shift" in typefuzz and "(gadget.mix" in typefuzz
    assert "(gadget.shift" in opfuzz
    assert "(gadget.paint" in opfuzz
    # The second argument of gadget.set is a value, whatever becomes of the rest.
    for text in (typefuzz, opfuzz):
        arguments = [part.split(")", 1)[0].split()[-1] for part in text.split("(gadget.set g ")[1:]]
        assert arguments and not any(argument == "i" for argument in arguments)


def test_a_new_operator_is_neutral_open_or_hard_as_declared(seen: dict[str, Any]) -> None:
    names = ["mix", "paint", "set", "spin", "turn"]
    assert seen["essential"] == [f"gadget.{name}" for name in names]
    assert seen["read differently"] == ["gadget.turn"]
    assert seen["storm"] == [f"gadget.{name}" for name in ("paint", "spin", "turn")]
