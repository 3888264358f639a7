"""Boolector: its library, of any wheel, as a command-line solver."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from difftest import Limits, Outcome, Solver, find_solver
from difftest.models.cross_check import check_model
from solvers.boolector import driver
from solvers.running.runner import Runner
from solvers.running.script import Script
from tests.releases import find_or_skip

INCREMENTAL = b"""(set-logic QF_ABV)
(declare-const a (Array (_ BitVec 4) (_ BitVec 8)))
(push 1)
(assert (distinct a a))
(check-sat)
(pop 1)
(assert (= (select a #x1) #x07))
(check-sat)
"""
# The wheels before 2023 are for older versions of Python alone.
OLD = "3.2.2.20230110.4"


@pytest.fixture(params=["boolector", f"boolector=={OLD}"])
def boolector(request: pytest.FixtureRequest) -> Solver:
    return find_or_skip(request.param)


@pytest.mark.few(1)
def test_it_answers_on_both_paths_alike(boolector: Solver) -> None:
    script = Script(INCREMENTAL)
    with Runner() as runner:
        for solver in (boolector, boolector.with_options(["engine=fun", "no-var-subst"])):
            warm = runner.judge(solver, script, Limits())
            fresh, _ = runner.judge_file(solver, script, "f.smt2", Limits())
            assert warm.answers == fresh.answers == ("unsat", "sat")
    assert boolector.version().startswith("Boolector 3.2")
    assert boolector.commit() is not None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"(set-logic QF_LIA)", "unsupported logic 'QF_LIA'"),
        (b"(set-logic QF_BV)(assert (bvfoo))(check-sat)", "undefined symbol 'bvfoo'"),
        (b"", "empty file"),
        (b"(set-logic QF_BV)(check-sat)(check-sat-using smt)", "expected command at 'check-sat-using'"),
    ],
)
def test_what_it_does_not_take_is_refused_with_its_words(boolector: Solver, text: bytes, said: str) -> None:
    with Runner(warm=False) as runner:
        verdict = runner.judge(boolector, Script(text), Limits())
    assert (verdict.outcome, said in verdict.detail) == (Outcome.REFUSED, True), verdict


@pytest.mark.parametrize("option", ["no-such", "engine=smt", "rewrite-level=9", "rewrite-level=x"])
def test_options_that_it_does_not_have_are_reported(boolector: Solver, option: str) -> None:
    command = [*boolector.argv, f"--{option}", "-"]
    done = subprocess.run(command, input="(check-sat)", capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout.startswith('(error "no ')


def test_its_models_of_arrays_are_put_into_others(boolector: Solver) -> None:
    """It defines an array as a function of its index."""
    text = INCREMENTAL.replace(
        b"(assert (= (", b"(declare-fun f ((_ BitVec 4)) Bool)(assert (f #x2))(assert (= ("
    )
    judges = [find_solver("z3"), find_solver("cvc5"), boolector]
    with Runner() as runner:
        cross_check = check_model(runner, boolector, Script(text), 1, judges, Limits())
    assert set(cross_check.answers.values()) == {"sat"}, cross_check
    assert "(define-fun a () (Array (_ BitVec 4) (_ BitVec 8))" in cross_check.formula


def test_a_wheel_without_its_library_is_reported(tmp_path: Path) -> None:
    command = [sys.executable, "-I", driver.__file__, "--wheel", str(tmp_path), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (
        1,
        f'(error "Boolector cannot be loaded: there is no library of Boolector in {tmp_path}")\n',
    )
