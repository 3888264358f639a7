"""Extraction against the labelled set."""

from __future__ import annotations

from tests.miner.labelled_set import CHECKED_FLAGS, load, score, tokens

CASES = load()


def test_the_set_is_large_and_varied() -> None:
    assert len(CASES) >= 120
    assert len({case.name for case in CASES}) == len(CASES)
    texts = {tokens(label.text) for case in CASES for label in case.labels}
    assert len(texts) >= 80
    flags = {
        flag for case in CASES for label in case.labels for flag in label.marks.get("flags", "").split(",")
    }
    assert flags - {""} <= CHECKED_FLAGS


def test_formulas_are_found_and_nothing_else() -> None:
    formulas = score(CASES).formulas
    assert formulas.precision >= 0.97, formulas.mistakes
    assert formulas.recall >= 0.97, formulas.mistakes


def test_what_was_said_of_a_formula_is_found() -> None:
    facts = score(CASES).facts
    assert facts.precision >= 0.97, facts.mistakes
    assert facts.recall >= 0.97, facts.mistakes
