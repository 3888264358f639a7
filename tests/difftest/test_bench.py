"""The benchmark script runs, on a folder of its own, and reports what it promises."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from corpus.store import Corpus
from generator import SkeletonStrategy, load_library
from tests.scripts import run_script

SCRIPT = Path(__file__).parents[2] / "scripts" / "bench_hunt"
TEXT = "(set-logic QF_LIA)(declare-const x Int)(assert (> x {}))(check-sat)"


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_script("bench_hunt", *arguments)


def test_every_way_runs_every_test(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.smt2").write_text(TEXT.format(number))
    got = bench("--tests", str(tmp_path), "--json")
    assert got.returncode == 0, got.stderr
    results = json.loads(got.stdout)
    assert {way: row["tests"] for way, row in results.items()} == {"shared": 3, "fork": 3, "plain": 3}
    for row in results.values():
        for counts in row["outcomes"].values():  # on a busy machine a start alone can outlast the first limit
            assert counts["ok"] + counts["timeout"] == 3, counts
    assert results["shared"]["decided"] >= 1
    assert all(0 <= row["outside"] <= 1 for row in results.values())


@pytest.mark.thorough
def test_warm_and_fresh_runs_of_generated_tests_say_the_same(starter: Path, tmp_path: Path) -> None:
    with Corpus.open(starter) as corpus:
        library = load_library(corpus, ("z3", "cvc5"))
    tests = tmp_path / "tests"
    tests.mkdir()
    for number, test in enumerate(SkeletonStrategy(library, 1).generate(0, 24)):
        (tests / f"{number}.smt2").write_text(test.text)
    script = SCRIPT.with_name("bench_warm")
    command = [sys.executable, str(script), "--tests", str(tests), "--limit", "0.5", "--json"]
    got = subprocess.run(command, capture_output=True, text=True, check=False)
    report = json.loads(got.stdout)
    assert (got.returncode, report["differences"]) == (0, [])
    assert report["tests"] == 24
    # What a limit ends says nothing.
    assert report["same"] >= 24
    assert report["under options"] >= 3


def test_a_folder_that_is_not_there_is_reported(tmp_path: Path) -> None:
    got = bench("--tests", str(tmp_path / "none"))
    assert got.returncode == 2
    assert "no such folder" in got.stderr


@pytest.mark.thorough
def test_the_driver_and_its_recorder_are_measured_without_workers() -> None:
    options = ("--tests", 900, "--workers", 2, "--bandit", "--record", "--new", 200, "--json")
    got = run_script("bench_scale", *options)
    assert got.returncode == 0, got.stderr
    figures = json.loads(got.stdout)
    # Two strategies share the tests, and the 8th, 208th ... of each show something new.
    assert (figures["tests"], figures["findings"]) in {(900, 5), (900, 6)}
    assert figures["tests_per_processor_second"] > 0
    assert figures["state_bytes"] < 1 << 20
    assert (figures["not_stored"], figures["recorder_ms_per_finding"] > 0) == (0, True)


def test_a_corpus_that_is_not_there_is_reported(tmp_path: Path) -> None:
    got = run_script("bench_scale", "--corpus", tmp_path / "none")
    assert got.returncode == 2
    assert "no such corpus or folder" in got.stderr
