"""``scripts/bench_weakening`` runs and says what it promises."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.generator.strategies.weaken.test_walk import SEEDS

BENCH = Path(__file__).resolve().parents[4] / "scripts" / "bench_weakening"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(BENCH), *arguments], capture_output=True, text=True)


def test_the_benchmark_measures_a_folder(tmp_path: Path) -> None:
    for number, text in enumerate(SEEDS):
        (tmp_path / f"{number}.smt2").write_text(text)
    done = run(str(tmp_path), "--count", "100", "--walk", "5", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(done.stdout)
    assert figures["seeds"] == len(SEEDS) and figures["missed"] == []
    assert abs(sum(figures["share"].values()) - 1) < 0.01 and max(figures["share"].values()) <= 0.1
    assert set(figures["applicable"]) == {"1", "2", "3", "4", "5"}
    assert figures["accepted"]["z3"]["share"] == figures["accepted"]["cvc5"]["share"] == 1
    assert len(figures["unused"]) + len(figures["share"]) == figures["rules"]


def test_the_benchmark_wants_formulas(tmp_path: Path) -> None:
    done = run(str(tmp_path))
    assert done.returncode == 2 and "no seeds" in done.stderr
