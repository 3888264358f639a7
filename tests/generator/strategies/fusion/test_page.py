"""The example on the page about fusion is what comes out."""

from __future__ import annotations

import re
from pathlib import Path

from generator import StrategySettings, make_strategy, seeds_of_folder
from generator.strategies.fusion.functions import fusion_functions, read_functions
from generator.strategies.fusion.strategy import SETTINGS
from tests.generator.small import known_answers

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "fusion.md").read_text("utf-8")
BLOCKS = re.findall(r"^```smt2\n(.*?)^```", PAGE, re.M | re.S)


def test_the_example_is_what_the_strategy_makes(tmp_path: Path) -> None:
    *texts, shown = BLOCKS[:3]
    for name, text in zip(("one", "two"), texts, strict=True):
        (tmp_path / f"{name}.smt2").write_text(text, "utf-8")
    seeds = seeds_of_folder(tmp_path, known_answers(dict.fromkeys(texts, "sat")))
    strategy = make_strategy("fusion", None, StrategySettings(), seeds)
    assert next(strategy.generate(13, 14)).text.endswith(shown)


def test_the_functions_shown_are_in_the_file() -> None:
    shown = read_functions(BLOCKS[3], "page")
    assert len(shown) == 2 and all(function in fusion_functions() for function in shown)
    assert f"There are {len(fusion_functions())}:" in PAGE


def test_the_table_of_settings_is_right() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `?(\w+)`? \|", PAGE, re.M)
    assert rows == [(s.name, str(s.default)) for s in SETTINGS]
