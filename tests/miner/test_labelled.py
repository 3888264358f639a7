"""Extraction against the labelled set."""

from __future__ import annotations

import pytest

from tests.miner.labelled_set import CHECKED_FLAGS, FOLDER, load, load_threads, score, tokens

CASES = load()
THREADS = sorted(file.stem for file in FOLDER.glob("threads*.md"))
CLASSES = {
    "soundness", "invalid-model", "crash", "performance", "incompleteness", "regression", "leak", "none"
}  # fmt: skip
SAID = ("version", "commit", "good", "fixed", "fixed-by")


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


@pytest.mark.parametrize("name", THREADS)
@pytest.mark.few(13)
def test_labels_of_threads_are_well_formed(name: str) -> None:
    cases = load_threads(name)
    assert len({case.name for case in cases}) == len(cases)
    for case in cases:
        issue = case.issue()
        places = {"body": issue.body} | {f"comment:{one.id}": one.body for one in issue.comments}
        text = "\n".join([issue.title, *places.values()]).replace("\\", "")
        assert "{{" not in f"{text}{case.marks}{case.labels}", case.name
        assert case.marks.keys() <= {"class", "duplicate", "crash", "code", *SAID}, case.name
        assert case.marks.get("class", "none") in CLASSES, case.name
        for mark in SAID:
            assert case.marks.get(mark, "").lstrip("#") in text, (case.name, mark)
        for label in case.labels:
            assert label.where in places, case.name
            assert label.marks.keys() <= {"where", "failing", "expected", "actual"}, case.name
            for mark in ("expected", "actual"):
                answers = label.marks.get(mark, "sat").split()
                assert set(answers) <= {"sat", "unsat", "unknown"}, (case.name, mark)
