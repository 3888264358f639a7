"""Bisection over planted releases: few are tried, edges are found, what cannot run is skipped."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import difftest.triage.release_search as bisecting
from difftest import DifftestError, EnvironmentProblem, Solver
from difftest.triage.bisect import bisect
from difftest.triage.classes.base import Expectation
from difftest.triage.expectation import NotShown
from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import rewrite_report
from difftest.triage.release_search import State, list_releases
from generator.strategy import GeneratedTest
from solvers.lookup import find_solver
from tests.difftest.hunts import found_by

TEXT = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n"
RELEASES = [f"4.{number}.0" for number in range(40)]
Fake = Callable[..., Solver]
Make = Callable[..., GeneratedTest]


@pytest.fixture
def planted(
    fake: Fake, make_test: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Path, list[str]]]:
    """A finding of z3==4.20.0, and releases of which those from ``first`` to before ``fixed`` crash."""

    def make(
        first: int, fixed: int, skipped: tuple[int, ...] = (), build: str = ""
    ) -> tuple[Path, list[str]]:
        bad = "say('ASSERTION VIOLATION', 'File: a.cpp', 'Line: 12', 'x'); sys.exit(114)"
        crash = replace(fake(bad, "bad"), spec=f"z3==4.20.0{build}", name=f"z3-4.20.0{build}", family="z3")
        good = replace(fake("say('sat')", "good"), family="z3")
        folder = found_by(tmp_path / "out", make_test(TEXT), crash)
        tried: list[str] = []

        def find(family: str, release: str) -> Solver | None:
            tried.append(release)
            number = RELEASES.index(release)
            if number in skipped:
                return None
            return crash if first <= number < fixed else good

        monkeypatch.setattr(bisecting, "find_release", find)
        monkeypatch.setattr(bisecting, "_known_releases", lambda family: RELEASES)
        monkeypatch.setattr("difftest.triage.expectation.find_solver", lambda spec: crash)
        return folder, tried

    return make


Planted = Callable[..., tuple[Path, list[str]]]


def test_both_edges_are_found_with_few_tries_and_kept(planted: Planted) -> None:
    folder, tried = planted(7, 31)
    report = bisect(folder)
    assert (report.first_affected, report.first_fixed) == ("4.7.0", "4.31.0")
    assert (report.last_affected, report.since_the_oldest) == ("4.30.0", False)
    assert len(tried) == len(set(tried)) <= 14
    assert [release for release, _ in report.tried] == sorted(tried, key=RELEASES.index)
    reported = (folder / "report.md").read_text()
    assert "- First affected: 4.7.0\n- Last good: 4.6.0\n- Fixed in: 4.31.0\n" in reported
    count = len(tried)
    assert bisect(folder) == report
    assert len(tried) == count
    assert bisect(folder, again=True) == report
    assert len(tried) == 2 * count


def test_the_oldest_and_the_newest_may_be_affected(planted: Planted) -> None:
    folder, _ = planted(0, 40)
    report = bisect(folder)
    assert (report.first_affected, report.since_the_oldest, report.first_fixed) == ("4.0.0", True, None)


def test_releases_that_cannot_run_are_skipped(planted: Planted) -> None:
    folder, _ = planted(7, 31, skipped=(0, 1, 6, 8, 10, 29, 30, 39))
    report = bisect(folder)
    assert (report.first_affected, report.last_affected, report.first_fixed) == ("4.7.0", "4.28.0", "4.31.0")
    assert dict(report.tried)["4.0.0"] is State.SKIPPED


def test_a_release_that_does_not_show_it_is_reported(planted: Planted) -> None:
    folder, _ = planted(25, 31)
    with pytest.raises(NotShown, match=r"4\.20\.0 does not show"):
        bisect(folder)


def test_a_finding_in_a_build_is_bisected_by_the_wheels(planted: Planted) -> None:
    folder, _ = planted(7, 31, build="+asserts")
    assert bisect(folder).first_affected == "4.7.0"


def test_what_only_a_build_shows_is_not_bisected(planted: Planted) -> None:
    folder, tried = planted(25, 31, build="+asserts")
    with pytest.raises(NotShown, match=r"4\.20\.0 does not show .*, only the build 4\.20\.0\+asserts"):
        bisect(folder)
    assert tried == ["4.20.0"]


def test_a_search_that_broke_off_resumes(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, tried = planted(7, 31)
    find = bisecting.find_release

    def fails(family: str, release: str) -> Solver | None:
        if len(tried) == 5:
            raise EnvironmentProblem("no network")
        return find(family, release)

    monkeypatch.setattr(bisecting, "find_release", fails)
    with pytest.raises(EnvironmentProblem):
        bisect(folder)
    monkeypatch.setattr(bisecting, "find_release", find)
    assert bisect(folder).first_fixed == "4.31.0"
    assert len(tried) == len(set(tried))


def test_a_run_that_does_not_show_it_spoils_nothing(
    planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, _ = planted(7, 31)

    def shows_nothing(*_: object) -> State:
        return State.FREE

    with monkeypatch.context() as flaky:
        flaky.setattr(bisecting, "try_other", shows_nothing)
        with pytest.raises(NotShown):
            bisect(folder)
    report = bisect(folder)
    assert report.first_affected == "4.7.0"
    with monkeypatch.context() as flaky:
        flaky.setattr(bisecting, "try_other", shows_nothing)
        with pytest.raises(NotShown):
            bisect(folder, again=True)
    assert FindingFolder.read(folder).bisection == report.to_json()


@pytest.mark.parametrize(
    ("place", "value"),
    [("states", 5), ("report", None), ("report", {"first_affected": "4.7.0", "tried": [{"release": 1}]})],
)
@pytest.mark.few(1)
def test_a_damaged_result_is_searched_again(planted: Planted, place: str, value: object) -> None:
    folder, _ = planted(7, 31)
    report = bisect(folder)
    file = folder / "bisect.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {place: value}))
    rewrite_report(folder)
    assert bisect(folder) == report
    assert FindingFolder.read(folder).bisection == report.to_json()


@pytest.mark.thorough
def test_another_formula_is_searched_again(planted: Planted) -> None:
    folder, tried = planted(7, 31)
    bisect(folder)
    count = len(tried)
    (folder / "original.smt2").write_text("(check-sat)")
    bisect(folder)
    assert len(tried) > count


def test_a_command_line_has_no_releases(fake: Fake, make_test: Make, tmp_path: Path) -> None:
    folder = found_by(tmp_path, make_test(TEXT), fake("os.abort()"))
    with pytest.raises(DifftestError, match="no releases"):
        bisect(folder)


def test_the_list_is_pips_oldest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    said = "z3-solver (2.0)\nAvailable versions: 2.0, 1.10, 1.9.post1\n  INSTALLED: 2.0\n"

    asked = []

    def answer(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 0, said, "WARNING: experimental")

    monkeypatch.setattr(bisecting.subprocess, "run", answer)
    for family in ("z3", "boolector"):
        assert list_releases(family) == ["1.9.post1", "1.10", "2.0"]
    # A wheel of Boolector for another Python will do, and pip would not list these.
    assert ["--only-binary=:all:" in command for command in asked] == [True, False]


def test_no_network_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "ERROR: no route")

    monkeypatch.setattr(bisecting.subprocess, "run", fails)
    with pytest.raises(EnvironmentProblem, match="no route"):
        list_releases("z3")


def test_a_release_too_old_to_read_formulas_is_none() -> None:
    assert bisecting.find_release("cvc5", "1.0.0") is None
    assert find_solver("z3").version() != "unknown"


@pytest.mark.parametrize(("took", "limit"), [(0.01, 5.0), (0.1, 10.0), (1.0, 20.0)])
def test_a_release_gets_a_hundred_times_what_the_test_took_within_bounds(
    took: float, limit: float, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []

    def try_other(text: str, expected: Expectation, solver: Solver, other: Solver, seconds: float) -> State:
        given.append(seconds)
        return State.FREE

    solver = fake("os.abort()")
    monkeypatch.setattr(bisecting, "find_release", lambda family, release: solver)
    monkeypatch.setattr(bisecting, "try_other", try_other)
    expected = Expectation("crash", (solver,), took=took)
    assert bisecting.try_formula("(check-sat)", expected, solver, "4.8.5") is State.FREE
    assert given == [pytest.approx(limit)]


def test_a_formula_may_come_through_a_pipe() -> None:
    reads, writes = os.pipe()
    os.write(writes, TEXT.encode())
    os.close(writes)
    with pytest.raises(NotShown, match=rf"^/dev/fd/{reads}: nothing is wrong .* \(z3: sat\)"):
        bisect(Path(f"/dev/fd/{reads}"), [find_solver("z3")])
    os.close(reads)
