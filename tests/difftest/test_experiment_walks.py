"""The experiment about walks counts what the strategy does, and puts the paper's numbers beside."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

from base.errors import ExhumeError
from corpus.acceptance import version_of
from corpus.answers import REFERENCES, CachedAnswers
from generator import StrategySettings
from generator.build import Sources, build_strategy
from generator.strategies.weaken.ruleset import default_rules
from generator.strategies.weaken.strategy import WeakenStrategy
from tests.difftest.test_experiments import run, script
from tests.generator.strategies.weaken.test_strategy import STRING_UNSAT, UNSAT
from tests.generator.strategies.weaken.test_walk import SEEDS

SMALL = ("--walk", "5", "--iterations", "12", "--sample", "4")


@pytest.fixture
def seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of seeds whose answers are in the cache, as "exhume label" stores them."""
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "seeds"
    folder.mkdir()
    answers = dict.fromkeys(SEEDS, "sat") | dict.fromkeys((UNSAT, STRING_UNSAT), "unsat")
    for number, text in enumerate(answers):
        (folder / f"{number}.smt2").write_text(text)
    for solver in REFERENCES:
        outcomes = {sha256(text.encode()).hexdigest(): answer for text, answer in answers.items()}
        CachedAnswers().store(solver, version_of(solver), outcomes)
    return folder


def printed(capsys: pytest.CaptureFixture[str], *options: object) -> str:
    """What the command prints."""
    with patch.object(sys, "argv", ["walks", *map(str, options)]):
        assert script("walks").main() == 0
    return capsys.readouterr().out


def test_what_the_strategy_counts_and_applies_is_a_row(
    seeds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--out", tmp_path / "out", "--seeds", seeds, *SMALL, "--repeats", 2, "--json")
    rows: list[dict[str, Any]] = json.loads(printed(capsys, *options))
    assert [row["unit"] for row in rows] == ["weaken/1", "strengthen/1", "weaken/2", "strengthen/2"]
    for row in rows:
        given = (f"direction={row['direction']}", "walk=5", "iterations=12")
        settings = StrategySettings(seed=row["seed"], given=given)
        strategy = build_strategy("weaken", Sources(seeds=str(seeds)), settings)
        assert isinstance(strategy, WeakenStrategy)
        tests = list(strategy.generate(0, 48))
        # The header of a test has the rules of its walk, the newest last.
        rules = [re.findall(r"ed by .*?([\w-]+)\n[^;]", test.text)[0] for test in tests]
        assert row["applied"] == dict(Counter(rules))
        assert row["used"] == [len({*rules[first : first + 12]}) for first in range(0, 48, 12)]
        for step, (total, _) in strategy.applicable.items():
            assert sum(row["applicable"][step - 1 :: 5]) * 4 == pytest.approx(total)
        assert (row["tests"], row["seeds"], row["stuck"]) == (48, 4, 0)
        assert row["different"] == len({test.text.partition("\n(")[2] for test in tests})


@pytest.mark.thorough
def test_it_continues_and_writes_a_page(
    seeds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    options = ("--out", out, "--seeds", seeds, *SMALL, "--direction", "keep")
    printed(capsys, *options, "--repeats", 1)
    before = (out / "units" / "keep" / "1" / "row.json").stat().st_mtime_ns
    text = printed(capsys, *options, "--repeats", 2)
    assert (out / "units" / "keep" / "1" / "row.json").stat().st_mtime_ns == before
    assert "| keep | 2 | 8 | 96 | " in text
    assert "| the paper | 1 | 6,043 | 1,331,576 | 99.6 | about 13 | " in text
    assert "| DROPCONJ | drop-conjunct, add-conjunct | 6.6 | " in text
    kept = duckdb.execute(
        "select repeat, tests from read_parquet(?) order by all", [str(out / "rows.parquet")]
    )
    assert kept.fetchall() == [(1, 48), (2, 48)]
    page = (out / "index.html").read_text("utf-8")
    assert page.count("<svg") == 2
    assert "http" not in page.partition("</style>")[2]

    # Other settings, and other seeds, are another experiment.
    for seed, changed in ((UNSAT, ("--walk", "6")), ("(assert true)(check-sat)", ())):
        (seeds / "new.smt2").write_text(seed)
        with pytest.raises(ExhumeError, match="name a new folder"):
            printed(capsys, *options, *changed)


def test_what_is_stopped_is_no_row(seeds: Path) -> None:
    walks, stop = script("walks"), threading.Event()
    stop.set()
    experiment = walks.Experiment(Sources(seeds=str(seeds)), 4, 5, 12, stop)
    with pytest.raises(walks.Stopped):
        experiment.measure("weaken", 1, seeds)


def test_seeds_without_answers_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    (tmp_path / "a.smt2").write_text(UNSAT)
    got = run("walks", "--out", tmp_path / "out", "--seeds", tmp_path)
    assert got.returncode == 2
    (line,) = got.stderr.splitlines()
    assert line.startswith("walks: ") and "exhume label" in line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "one of the arguments --corpus --seeds is required"),
        (("--corpus", "x", "--seeds", "y"), "not allowed with"),
        (("--seeds", "x", "--direction", "up"), "invalid choice: 'up'"),
        (("--seeds", "x", "--sample", "0"), "draw at least one seed"),
    ],
)
def test_wrong_options_are_one_line(
    options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with (
        patch.object(sys, "argv", ["walks", "--out", "out", *options]),
        pytest.raises(SystemExit) as ended,
    ):
        script("walks").main()
    assert ended.value.code == 2
    assert message in capsys.readouterr().err.splitlines()[-1]


def row(direction: str, applicable: list[float], **applied: int) -> dict[str, Any]:
    """A row of two seeds, whose walks have two steps."""
    counts = {"tests": 8, "different": 7, "stuck": 0, "rules": 345, "seeds": 2, "walk": 2, "iterations": 4}
    rules = {name.replace("_", "-"): number for name, number in applied.items()}
    return {"direction": direction, **counts, "applicable": applicable, "applied": rules, "used": [2, 3]}


ROWS = [
    row("weaken", [10, 20, 12, 22], drop_conjunct=6, congruence=2),
    row("weaken", [20, 30, 22, 32], drop_conjunct=8),
    row("strengthen", [40, 50, 40, 50], add_conjunct=4, shift_larger=4),
]


def test_means_are_those_of_all_seeds_and_shares_those_of_all_steps() -> None:
    applicable, applied, papers = script("walks").tables_of(ROWS)
    assert [list(line) for line in applicable.rows[:-1]] == [
        ["weaken", "2", "4", "16", "87.5", "16.0", "26.0", "21.0", "2.5", "2"],
        ["strengthen", "1", "2", "8", "87.5", "40.0", "50.0", "45.0", "2.5", "2"],
        ["all together", "3", "6", "24", "87.5", "24.0", "34.0", "29.0", "2.5", "4"],
    ]
    assert all(len(line) == len(applicable.head) for line in applicable.rows)
    assert [list(line) for line in applied.rows] == [
        ["drop-conjunct", "Core", "87.5", "0.0", "58.3"],
        ["add-conjunct", "Core", "0.0", "50.0", "16.7"],
        ["shift-larger", "Arithmetic", "0.0", "50.0", "16.7"],
        ["congruence", "Quantifiers", "12.5", "0.0", "8.3"],
    ]
    assert "4 of 345 rules were applied; 4 have more than 5 % each" in applied.note
    ours = {line[0]: list(line[2:]) for line in papers.rows}
    assert ours["DROPCONJ"] == ["6.6", "87.5", "50.0", "75.0"]
    assert ours["NUMRELSHIFTSKEWED"] == ["5.7", "0.0", "50.0", "16.7"]


def test_each_of_the_papers_rules_has_rules_here() -> None:
    walks = script("walks")
    *_, papers = walks.tables_of(ROWS[:1])
    names = {rule.name for rule in default_rules().rules}
    assert all({*line[1].split(", ")} <= names for line in papers.rows)
    assert len(papers.head) == len(papers.rows[0])


def test_the_figures_have_every_iteration_and_rule() -> None:
    applicable, applied = script("walks").plots_of(ROWS)
    assert list(applicable.head) == ["iteration", "weaken", "strengthen"]
    assert [list(line) for line in applicable.rows][:2] == [["1", "15.0", "40.0"], ["2", "25.0", "50.0"]]
    assert list(applied.head) == ["rule", "weaken", "strengthen"]
    assert list(map(list, applied.rows))[:2] == [
        ["drop-conjunct, 58.3 %", "14", "0"],
        ["add-conjunct, 16.7 %", "0", "4"],
    ]
