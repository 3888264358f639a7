"""Splitting over planted releases: two faults of one key that were fixed in different releases."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import difftest.triage.expectation as expecting
import difftest.triage.release_search as bisecting
import difftest.triage.transcribe as transcribing
from difftest import HuntOptions, ReleaseNotFound, Solver, Stage, hunt
from difftest.campaign import book
from difftest.triage import splitting
from difftest.triage.bisect import bisect
from difftest.triage.release_search import BisectReport, State
from difftest.triage.splitting import SplitReport, edges_of, split
from difftest.triage.triggers import Trigger, keep_trigger, read_triggers
from generator.strategy import GeneratedTest
from tests.difftest.hunts import summary_of
from tests.shell import shell_solver

RELEASES = [f"4.{number}.0" for number in range(5, 35)]
# Each fault has to do with a number and shows from one release on up to another; that of 6 was never fixed.
FAULTS = [(7, 7, 31), (8, 12, 31), (9, 10, 25), (6, 12, 99)]
# Release 4.20.0, which has all four.
SOLVER = """
case "$text" in *div*)
  for number in 6 7 8 9; do
    case "$text" in *" $number)"*)
      echo sat; echo '(error "line 4 column 10: an invalid model was generated")'; exit 1;;
    esac
  done;;
esac
echo sat
"""
Make = Callable[..., GeneratedTest]
Bisected = Callable[..., tuple[Path, BisectReport]]


def text(number: int, sort: str = "String") -> str:
    """A test of the fault that has to do with ``number``; the ``sort`` is what reduction takes away."""
    return (
        f"(declare-const x Int)\n(declare-const y {sort})\n(declare-const z {sort})\n"
        f"(assert (> (div x {number}) 1))\n(assert (distinct y z))\n(check-sat)\n"
    )


@pytest.fixture
def bisected(make_test: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bisected:
    """The one finding of a hunt through the tests given, bisected. What other releases do, is said here."""

    def tried(text: str, expected: object, solver: Solver, release: str) -> State:
        number = int(release.split(".")[1])
        wrong = "div" in text and any(f" {n})" in text and a <= number < b for n, a, b in FAULTS)
        return State.AFFECTED if wrong else State.FREE

    def missing(spec: str) -> Solver:  # pip would ask an index for it each time
        raise ReleaseNotFound("z3-solver", spec)

    def make(*texts: str) -> tuple[Path, BisectReport]:
        assert all(first <= 20 < fixed for _, first, fixed in FAULTS)
        made = shell_solver(tmp_path, "made", SOLVER)
        culprit = replace(made, spec="z3==4.20.0", name="z3-4.20.0", family="z3")
        monkeypatch.setattr(expecting, "find_solver", lambda spec: culprit)
        monkeypatch.setattr(transcribing, "find_solver", missing)
        monkeypatch.setattr(splitting, "_REDUCTION_SECONDS", 0.0)  # what quick reduction left will do
        monkeypatch.setattr(bisecting, "try_formula", tried)
        monkeypatch.setattr(splitting, "try_formula", tried)
        monkeypatch.setattr(bisecting, "_known_releases", lambda family: RELEASES)
        tests = [make_test(text, index) for index, text in enumerate(texts)]
        options = HuntOptions(tmp_path / "out", stages=(Stage(2.0, 1.0),))
        (found,) = summary_of(hunt(tests, [culprit], options)).findings
        assert found.key == "invalid-model|z3-4.20.0|Ints|div"
        return found.path, bisect(found.path)

    return make


def test_what_releases_tell_apart_becomes_a_finding_of_its_own(bisected: Bisected) -> None:
    whole = text(9, "(_ BitVec 8)")
    folder, report = bisected(text(7), text(7, "Real"), whole)
    assert (report.first_affected, report.first_fixed) == ("4.7.0", "4.31.0")
    assert [trigger.test.index for trigger in read_triggers(folder)] == [1, 2]
    done = split(folder, report)
    assert done.compared == 2
    (other,) = done.findings
    assert (other / "original.smt2").read_text() == whole
    assert "BitVec" not in (other / "reduced.smt2").read_text()
    data = json.loads((other / "finding.json").read_text())
    assert data["key"] == data["reduced"]["key"] == "invalid-model|z3-4.20.0|Ints|div|fixed in 4.25.0"
    reported = (other / "report.md").read_text()
    assert "- First affected: 4.10.0\n" in reported and "- Fixed in: 4.25.0\n" in reported
    # A second time nothing is run, and the finding is not made again.
    kept = (folder / "split.json").read_text()
    assert split(folder, report) == done
    assert split(folder, report, again=True) == done
    assert (folder / "split.json").read_text() == kept
    assert len(list(folder.parent.iterdir())) == 2


@pytest.mark.thorough
def test_the_first_affected_release_tells_too(bisected: Bisected) -> None:
    folder, report = bisected(text(7), text(8, "Real"))
    (other,) = split(folder, report).findings
    key = json.loads((other / "finding.json").read_text())["key"]
    assert key == "invalid-model|z3-4.20.0|Ints|div|since 4.12.0"


def test_the_search_starts_from_the_release_that_was_bisected_not_from_the_one_installed_since(
    bisected: Bisected, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, report = bisected(text(7), text(8, "Real"))
    monkeypatch.setattr(bisecting, "release_of", lambda solver: "4.34.0")  # free of both faults
    (other,) = split(folder, report).findings
    assert json.loads((other / "finding.json").read_text())["key"].endswith("|since 4.12.0")


@pytest.mark.thorough
def test_what_was_never_fixed_is_distinguished_from_what_was(bisected: Bisected) -> None:
    folder, report = bisected(text(7), text(6, "Real"), text(8, "(_ BitVec 8)"))
    others = split(folder, report).findings
    keys = [json.loads((other / "finding.json").read_text())["key"] for other in others]
    plain = "invalid-model|z3-4.20.0|Ints|div"
    assert keys == [f"{plain}|still in 4.34.0", f"{plain}|since 4.12.0"]


@pytest.mark.parametrize("place", ["reduce", "bisect"])
@pytest.mark.few(1)
def test_a_split_that_was_cut_short_resumes(
    bisected: Bisected, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    folder, report = bisected(text(7), text(9, "Real"))

    def cut(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(splitting, place, cut)
        split(folder, report)
    assert not (folder / "split.json").exists()
    # A relative path names the same folder.
    monkeypatch.chdir(folder)
    (other,) = split(Path(), report).findings
    assert other.parent == folder.parent
    assert json.loads((other / "bisect.json").read_text())["report"]["first_fixed"] == "4.25.0"
    assert not (other / "duplicates.txt").exists()
    split(folder, report, again=True)
    assert not (other / "duplicates.txt").exists()


def test_what_they_do_not_tell_apart_stays(bisected: Bisected) -> None:
    folder, report = bisected(text(7), text(7, "Real"), text(7, "(_ BitVec 8)"))
    assert split(folder, report) == SplitReport(2, ())
    assert list(folder.parent.iterdir()) == [folder]


def test_a_test_that_does_not_show_it_any_more_says_nothing(bisected: Bisected) -> None:
    folder, report = bisected(text(7), text(7, "Real"))
    keep_trigger(folder, Trigger(GeneratedTest(5, text(3), "by-hand"), text(3)))
    # Its whole text shows nothing, so that no finding can be made of it.
    keep_trigger(folder, Trigger(GeneratedTest(6, text(3), "by-hand"), text(9)))
    assert split(folder, report) == SplitReport(1, ())


def test_few_tests_are_kept_and_bad_lines_skipped(
    bisected: Bisected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(book, "MOST_KEPT", 2)
    folder, report = bisected(*(text(7, sort) for sort in ("String", "Real", "(_ BitVec 8)", "Float32")))
    kept = list(read_triggers(folder))
    assert [trigger.test.index for trigger in kept] == [1, 2]
    with (folder / "triggers.jsonl").open("a") as handle:
        handle.write('{"test": {"index": 1}, "reduced": ""}\n[]\n{"test": 3}\n\x00\n' + "[" * 100_000 + "\n")
        line = json.loads((folder / "triggers.jsonl").read_text().partition("\n")[0])
        handle.write(json.dumps(line | {"test": line["test"] | {"text": 5}}) + '\n{"test": {"ind')
    assert list(read_triggers(folder)) == kept
    # A line that was cut short does not spoil the next one.
    keep_trigger(folder, kept[0])
    assert list(read_triggers(folder)) == [*kept, kept[0]]
    assert not keep_trigger(folder, Trigger(GeneratedTest(1, "x" * 300_000, "by-hand"), ""))
    (folder / "triggers.jsonl").unlink()
    assert split(folder, report) == SplitReport(0, ())
    assert not (folder / "split.json").exists()


def test_the_edges_are_the_neighbours_of_what_is_affected() -> None:
    tried = [
        ("1", "free"),
        ("2", "free"),
        ("3", "skipped"),
        ("4", "affected"),
        ("5", "affected"),
        ("6", "free"),
    ]
    states = tuple((release, State(state)) for release, state in tried)
    report = BisectReport("z3", "4", "original.smt2", "4", False, "5", "6", states)
    free, affected = State.FREE, State.AFFECTED
    assert edges_of(report) == {"4": affected, "5": affected, "2": free, "6": free}
    newest = BisectReport("z3", "4", "original.smt2", "4", True, "5", None, states[3:5])
    assert edges_of(newest) == {"4": affected, "5": affected}
