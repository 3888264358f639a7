"""Reduction of STORM's tests: its own minimisation comes first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from difftest import Solver, find_solver
from difftest.triage.reduce import _made_by_storm, reduce

HEADER = "; exhume 0.1.0 seeds 0123456789abcdef seed 1 index 3 strategy storm\n; settings amax=64\n"
TEXT = """(set-logic ALL)
(declare-fun x () Int)
(declare-fun y () Int)
(assert (and (> x 2) (and (> y 3) (and (< (* x y) 40) (= x 5)))))
(assert (> y 4))
(assert (not (and (< x 3) (> y 2))))
(check-sat)
"""
# Wrong about products under a conjunction; what it is shown otherwise it does not answer.
WRONG = "say('unsat' if '(and' in text and '(* ' in text else 'unknown')"


def test_a_test_is_known_by_its_header(tmp_path: Path) -> None:
    assert _made_by_storm(tmp_path / "a.smt2", HEADER + TEXT)
    assert not _made_by_storm(tmp_path / "a.smt2", HEADER.replace("storm", "fusion") + TEXT)
    assert not _made_by_storm(tmp_path / "a.smt2", TEXT)


def test_a_findings_strategy_is_read_from_its_folder(tmp_path: Path) -> None:
    finding = {"id": "1", "class": "soundness", "solvers": [], "solver": "z3", "key": "k"}
    finding["test"] = {"strategy": "storm"}
    (tmp_path / "finding.json").write_text(json.dumps(finding), "utf-8")
    assert _made_by_storm(tmp_path, "")


@pytest.mark.parametrize("header", [pytest.param(HEADER, marks=pytest.mark.thorough), ""])
@pytest.mark.thorough
def test_storms_minimisation_is_the_first_step(
    header: str, tmp_path: Path, fake: Callable[..., Solver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "test.smt2"
    file.write_text(header + TEXT, "utf-8")
    report = reduce(file, [find_solver("z3"), fake(WRONG)], seconds=20, ddsmt=False)
    tools = [step.tool for step in report.steps]
    assert tools == (["storm", "passes"] if header else ["passes"])
    assert "(* " in report.text and report.size_after < report.size_before / 2
    assert report.confirmed
