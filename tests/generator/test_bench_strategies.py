"""``scripts/bench_strategies`` runs, measures what it promises, and says what it missed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.scripts import load_script, run_script


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_script("bench_strategies", *arguments)


@pytest.fixture(scope="module")
def bench() -> Any:
    return load_script("bench_strategies")


@pytest.mark.thorough
def test_a_small_corpus_is_measured(corpus_path: Path, tmp_path: Path) -> None:
    corpus = shutil.copy(corpus_path, tmp_path / "corpus.duckdb")
    arguments = ("--seeds", "5", "--count", "40", "--accept", "10", "--seconds", "0", "--no-peer", "--json")
    done = run("--corpus", str(corpus), "--strategies", "opfuzz", *arguments)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["seeds"] == 5
    assert document["missed"] == []
    (found,) = document["strategies"].values()
    assert found["mutants"] == 40
    assert found["per_cpu_second"] > 0
    assert found["counts"]["mutations"] >= 40
    assert [found["solvers"][s]["accepted"] for s in ("z3", "cvc5")] == [1, 1]


def test_targets_that_are_missed_are_reported(bench: Any) -> None:
    solvers = {"z3": {"accepted": 1.0}, "cvc5": {"accepted": 0.99}}
    peer = {
        "distinct, 30 a seed": {"ours_times": 9.9},
        "made, 30 a seed": {"ours_times": 1},
        "end to end, per_second": {"ours_times": 3.0},
    }
    results = {"strategies": {"typefuzz": {"solvers": solvers, "peer": peer}}}
    assert bench.missed(results) == [
        "typefuzz: cvc5 accepts 99.00% < 99.5%",
        "typefuzz: 9.9 times yinyang (distinct, 30 a seed) < 10",
    ]


def test_without_formulas_there_is_nothing_to_measure(tmp_path: Path) -> None:
    done = run(str(tmp_path / "missing"))
    assert done.returncode == 2
    assert "no formulas" in done.stderr
