"""The demo does the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from difftest import EnvironmentProblem, find_solver
from exhume.commands import demo
from tests.releases import no_release
from tests.shapes import shapes
from tests.sizes import size
from tests.test_docs import ALL, matches

TESTS = size(24, 60)


@pytest.mark.slow
def test_the_demo_does_it_all(exhume: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "TESTS", TESTS)
    ended = exhume("demo", "--out", tmp_path / "demo")
    assert ended.code == 0, ended.err
    for step in ("1. mine", "2. learn", "3. generate", "4. hunt"):
        assert step in ended.out
    assert f"{TESTS} tests" in ended.out
    assert len(list((tmp_path / "demo" / "tests").glob("*.smt2"))) == TESTS
    try:
        find_solver("z3==4.8.5")
    except EnvironmentProblem as problem:
        no_release(problem)
    (shown,) = (example.output for example in ALL if example.line == "exhume demo")
    assert matches(shapes(shown), shapes((ended.out + ended.err).splitlines()))
    # What is mined and learned does not depend on the number of tests.
    assert shown[0].startswith("1. mine") and shown[:3] == (ended.out + ended.err).splitlines()[:3]
    findings = list((tmp_path / "demo" / "hunt" / "findings").iterdir())
    assert findings
    stored = exhume(
        "query", "select path from finding", "--corpus", tmp_path / "demo" / "corpus.duckdb", "--json"
    )
    assert {Path(row["path"]).name for row in stored.json} == {folder.name for folder in findings}


def test_a_folder_that_cannot_be_made_is_one_line(exhume: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ended = exhume("demo", "--out", tmp_path / "file" / "demo")
    assert (ended.code, "cannot write" in ended.said) == (2, True)
