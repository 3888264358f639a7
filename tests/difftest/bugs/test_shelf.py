"""Releases that cannot be had: each one line, and the rest runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from difftest.bugs.shelf import Shelf, run_text
from solvers import releases
from solvers.errors import EnvironmentProblem, ReleaseNotFound, UnknownSolver
from solvers.running.runner import Runner
from solvers.solver import Solver
from tests.difftest.bugs.planted import TEXT, trigger

Fake = Callable[..., Solver]


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (EnvironmentProblem("pip could not fetch z3-solver==4.1 (no network?)"), "no network"),
        (ReleaseNotFound("z3-solver", "4.1"), "has no z3-solver==4.1"),
        (UnknownSolver("z3==4.1[a=1]", "it does not accept these options"), "option not accepted"),
    ],
)
def test_a_release_that_cannot_be_had_is_a_problem_in_one_line(problem: Exception, said: str) -> None:
    def find(spec: str) -> Solver:
        raise problem

    shelf = Shelf(find=find)
    with Runner(warm=False) as runner:
        assert shelf.run(trigger(), "4.1", runner, 1.0) is None
    (line,) = shelf.problems.values()
    assert said in line and "\n" not in line


def test_releases_begin_with_the_oldest_that_runs_here(fake: Fake) -> None:
    asked = []

    def find(spec: str) -> Solver:
        asked.append(spec)
        if spec == "z3==4.1":
            raise ReleaseNotFound("z3-solver", "4.1")
        return fake("")

    shelf = Shelf(lambda family: ["4.1", "4.2", "4.3"], find)
    assert shelf.releases("z3") == shelf.releases("z3") == ["4.2", "4.3"]
    assert asked == ["z3==4.1", "z3==4.2"]


def test_a_wheel_without_a_program_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path))
    (tmp_path / "wheels" / "z3-solver-4.8.5").mkdir(parents=True)
    assert releases.is_fetched("z3-solver", "4.8.5")
    shelf = Shelf()
    assert shelf.solver("z3==4.8.5") is None
    assert "does not contain the program z3" in shelf.problems["z3==4.8.5"]


def test_a_formula_that_never_ends_is_out_of_time(fake: Fake) -> None:
    with Runner(warm=False) as runner:
        seen = run_text(fake("time.sleep(60)"), TEXT, "4.1", runner, 0.2)
    assert seen.outcome == "timeout"


def test_a_formula_that_writes_files_is_not_run(fake: Fake, tmp_path: Path) -> None:
    target = tmp_path / "big"
    text = f'(set-option :regular-output-channel "{target}")\n{TEXT}'
    with Runner(warm=False) as runner:
        seen = run_text(fake(f"open({str(target)!r}, 'w')"), text, "4.1", runner, 5.0)
    assert (seen.outcome, target.exists()) == ("refused", False)
