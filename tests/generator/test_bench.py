"""``scripts/bench_generation`` runs and says what it promises."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.scripts import run_script


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_script("bench_generation", *arguments)


@pytest.mark.thorough
def test_the_benchmark_measures_a_small_corpus(corpus_path: Path) -> None:
    done = run("--corpus", str(corpus_path), "--count", "60", "--sample", "6", "--runs", "1", "--json")
    assert done.returncode in (0, 1), done.stderr
    document = json.loads(done.stdout)
    assert document["count"] == 60
    assert document["accepted_by_z3"] == document["accepted_by_cvc5"] == document["accepted_by_both"] == 1
    assert document["refusals"] == []
    assert document["tests_per_second"] > 0
    assert 0 <= document["decided"] <= 1
    assert sum(document["assertions"].values()) == 60
    assert set(document["missed"]) <= {"tests_per_second", "distinct", "decided"}


def test_the_benchmark_wants_formulas(tmp_path: Path) -> None:
    done = run(str(tmp_path / "nothing"))
    assert done.returncode == 2
    assert "no such folder" in done.stderr
    assert done.stdout == ""
