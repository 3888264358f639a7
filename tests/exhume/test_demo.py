"""The demo does the main job, and in the time that is promised."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from difftest import EnvironmentProblem, find_solver
from tests.releases import no_release

SECONDS = 180


@pytest.mark.slow
def test_the_demo_does_it_all_in_three_minutes(exhume: Any, tmp_path: Path) -> None:
    started = time.monotonic()
    ended = exhume("demo", "--out", tmp_path / "demo")
    assert ended.code == 0, ended.err
    assert time.monotonic() - started < SECONDS
    for step in ("1. mine", "2. learn", "3. generate", "4. hunt"):
        assert step in ended.out
    assert "300 tests" in ended.out
    assert len(list((tmp_path / "demo" / "tests").glob("*.smt2"))) == 300
    try:
        find_solver("z3==4.8.5")
    except EnvironmentProblem as problem:
        no_release(problem)
    findings = list((tmp_path / "demo" / "hunt" / "findings").iterdir())
    assert findings
    stored = exhume(
        "query", "select path from finding", "--corpus", tmp_path / "demo" / "corpus.duckdb", "--json"
    )
    assert {Path(row["path"]).name for row in stored.json} == {folder.name for folder in findings}
