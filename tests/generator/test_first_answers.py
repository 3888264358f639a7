"""The answers that a hunt finds before it begins."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from base.steps import nothing
from corpus.answers import LabelReport
from generator.build import find_first_answers


@pytest.mark.thorough
def test_answers_that_an_interrupted_hunt_did_not_find_are_found_by_the_next_one(
    corpus_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = tmp_path / "corpus.duckdb"
    shutil.copy(corpus_path, corpus)
    seen: list[tuple[int, int]] = []

    def find(most: int) -> LabelReport | None:
        monkeypatch.setattr("generator.build.FIRST_ANSWERS", most)
        return find_first_answers(["weaken"], corpus, 1, lambda done, total: seen.append((done, total)))

    assert find_first_answers(["skeletons"], corpus, 1, nothing) is None
    first = find(2)
    assert first is not None and (first.texts, first.asked) == (2, 2)
    assert seen[-1] == (2, 2)
    rest = find(6)
    assert rest is not None and (rest.texts, rest.asked) == (6, 4)
    assert find(6) is None
