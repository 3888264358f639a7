"""The example on the page about STORM is what comes out."""

from __future__ import annotations

import re
from pathlib import Path

from generator import StrategySettings, make_strategy, seeds_of_folder
from generator.strategies.storm.strategy import SETTINGS

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "storm.md").read_text("utf-8")


def test_the_example_is_what_the_strategy_makes(tmp_path: Path) -> None:
    seed, shown = re.findall(r"^```smt2\n(.*?)^```", PAGE, re.M | re.S)
    (tmp_path / "one.smt2").write_text(seed, "utf-8")
    given = StrategySettings(given=("amax=5", "dmax=4"))
    strategy = make_strategy("storm", None, given, seeds_of_folder(tmp_path))
    assert next(strategy.generate(2, 3)).text.endswith(shown)


def test_the_table_of_settings_is_right() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", PAGE, re.M)
    assert rows == [(s.name, str(s.default).removesuffix(".0")) for s in SETTINGS]
