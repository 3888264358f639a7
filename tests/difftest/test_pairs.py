"""A finding that takes two formulas, one made from the other: both are reduced alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from difftest import HuntOptions, HuntSummary, Solver, Stage, hunt
from difftest.errors import DifftestError
from difftest.reduction.pairs import Pair, follows_by
from difftest.triage.confirm import Confirmer
from difftest.triage.evidence import PARENT
from difftest.triage.expectation import expectation_of_finding
from difftest.triage.folder import REDUCED
from difftest.triage.reduce import REDUCED_PARENT, reduce
from generator.strategy import GeneratedTest
from tests.difftest.hunts import summary_of

HEAD = "(set-logic ALL)\n(declare-fun x () Int)\n(declare-fun y () Int)\n(declare-fun z () Int)\n"
REST = "(assert (> y 1))\n(assert (distinct z y 7))\n(check-sat)\n"
TEXT = f"; a test\n{HEAD}(assert (>= x 5))\n{REST}"
ABOVE = f"{HEAD}(assert (= x 5))\n{REST}"
PAIR = Pair(TEXT, ABOVE, "sat")


def test_what_both_have_is_left_out_of_both() -> None:
    left = TEXT.replace("(assert (> y 1))\n", "").replace("(declare-fun y () Int)\n", "")
    expected = ABOVE.replace("(assert (> y 1))\n", "").replace("(declare-fun y () Int)\n", "")
    assert PAIR.parent_of(TEXT) == ABOVE
    assert PAIR.parent_of(left) == expected
    twice = Pair("(assert p)(assert p)(assert q)", "(assert p)(assert p)(assert r)", "unsat")
    assert twice.parent_of("(assert p)(assert q)") == "(assert p)\n(assert r)\n"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("(>= x 5)", "(>= x 6)"),
        TEXT.replace("(assert (>= x 5))\n", ""),
        TEXT.replace("(> y 1)", "(> y 2)"),
        TEXT + "(assert true)",
        "",
    ],
)
def test_of_other_texts_nothing_is_known(text: str) -> None:
    assert PAIR.parent_of(text) is None


def test_the_evidence_says_what_follows() -> None:
    said = "it says unsat to the formula that this one was strengthened from, and unknown to this one"
    assert follows_by([said]) == follows_by([{"text": "other"}, {"text": said}]) == "unsat"
    assert follows_by([]) is None


def hunted(tests: Sequence[GeneratedTest], solver: Solver, out: Path) -> HuntSummary:
    # Quick reductions start a process for each trial, which takes long on a busy machine.
    options = HuntOptions(out, stages=(Stage(5.0, 1.0),), oracles=("implication",), reduction=20.0)
    return summary_of(hunt(tests, [solver], options))


@pytest.fixture
def finding(fake: Callable[..., Solver], tmp_path: Path) -> Path:
    """A finding of a solver that decides the parent only, and only where y is declared without need."""
    solver = fake("say('unknown' if '(>= x' in text and '(> y 1)' in text else 'sat')")
    test = GeneratedTest(0, TEXT, "weaken", implied_by=ABOVE)
    (record,) = hunted([test], solver, tmp_path / "hunt").findings
    return record.path


def test_a_wrong_answer_to_what_follows_can_be_looked_at_again(
    fake: Callable[..., Solver], tmp_path: Path
) -> None:
    """Other evidence does not take the place of what it follows from."""
    solver = fake("say('unsat' if '(>= x' in text else 'sat')")
    test = GeneratedTest(0, TEXT, "weaken", known=("sat",), implied_by=ABOVE)
    (record,) = hunted([test], solver, tmp_path / "hunt").findings
    assert record.finding_class == "soundness"
    expected = expectation_of_finding(record.path)
    assert expected.pair is not None
    assert (expected.pair.parent, expected.pair.follows) == (ABOVE, "sat")


def test_what_a_hunt_makes_of_the_theories_around_a_fault_is_one_finding(
    fake: Callable[..., Solver], tmp_path: Path
) -> None:
    solver = fake("say('unknown' if '(>= x' in text else 'sat')")
    others = ("(assert (bvult #b0 #b1))", '(assert (str.< "a" "b"))', "(assert (< 1.5 2.5))")
    tests = [
        GeneratedTest(
            n, TEXT.replace(REST, other + REST), "weaken", implied_by=ABOVE.replace(REST, other + REST)
        )
        for n, other in enumerate(others)
    ]
    summary = hunted(tests, solver, tmp_path / "hunt")
    assert [record.key for record in summary.findings] == ["incompleteness|fake|implied|Ints"]
    assert summary.duplicates == 2


def test_a_pair_is_reduced_and_reported(finding: Path) -> None:
    report = reduce(finding, seconds=30)
    assert report.confirmed and not report.with_ddsmt
    needed = "(declare-fun x () Int) (declare-fun y () Int) (assert (>= x 5)) (assert (> y 1)) (check-sat)"
    assert report.text.split() == needed.split()
    assert (finding / REDUCED).read_text() == report.text
    assert (finding / REDUCED_PARENT).read_text().split() == needed.replace(">= x", "= x").split()
    assert "The formula that it was made from, reduced with it:\n" in (finding / "report.md").read_text()


def test_an_expectation_holds_both_formulas(finding: Path) -> None:
    expected = expectation_of_finding(finding)
    assert expected.pair is not None
    with Confirmer(expected) as confirmer:
        assert confirmer(TEXT) and confirmer.fresh(TEXT)
        assert not confirmer(ABOVE)
        assert not confirmer(TEXT.replace("(assert (> y 1))\n", ""))


def test_without_its_parent_a_finding_means_nothing(finding: Path) -> None:
    (finding / PARENT).unlink()
    with pytest.raises(DifftestError, match="follows from"):
        expectation_of_finding(finding)
