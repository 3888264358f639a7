"""Trusted answers: both references agree, under limits that count the same everywhere; stored once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from corpus.acceptance import Prober, version_of
from corpus.answers import (
    REFERENCES,
    AnswerStore,
    CachedAnswers,
    CorpusAnswers,
    find_answers,
    labels_of,
)
from corpus.store import Corpus

SAT = "(set-logic ALL)\n(declare-fun x () Int)\n(assert (> x 5))\n(check-sat)\n"
UNSAT = "(set-logic ALL)\n(declare-fun x () Int)\n(assert (and (> x 5) (< x 5)))\n(check-sat)\n"
HARD = (
    "(set-logic ALL)\n(declare-fun x () Int)\n(declare-fun y () Int)\n(declare-fun z () Int)\n"
    "(assert (= (+ (* x x x) (* y y y) (* z z z)) 114))\n(check-sat)\n"
)


class Memory:
    """A store of nothing but a dictionary."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], dict[str, str]] = {}

    def outcomes(self, solver: str, version: str) -> Mapping[str, str]:
        return self.kept.get((solver, version), {})

    def store(self, solver: str, version: str, outcomes: Mapping[str, str]) -> None:
        self.kept.setdefault((solver, version), {}).update(outcomes)


@pytest.fixture(params=["corpus", "cache"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> AnswerStore:
    if request.param == "corpus":
        corpus = Corpus.open(tmp_path / "corpus.duckdb", write=True)
        request.addfinalizer(corpus.close)
        return CorpusAnswers(corpus)
    return CachedAnswers(tmp_path / "folder" / "answers.jsonl")


@pytest.mark.few(1)
def test_answers_on_which_both_agree_are_trusted_and_kept(store: AnswerStore) -> None:
    report = find_answers(store, [("a", SAT), ("b", UNSAT), ("c", "(assert"), ("d", HARD)])
    assert (report.texts, report.asked, report.sat, report.unsat, report.contradictions) == (4, 4, 1, 1, ())
    assert labels_of(store) == ({"a": "sat", "b": "unsat"}, {"d"})
    first, last = (store.outcomes(solver, version_of(solver)) for solver in REFERENCES)
    assert first == {"a": "sat", "b": "unsat", "c": "refused", "d": "unknown"}
    # It is not asked what the other did not decide.
    assert last == {"a": "sat", "b": "unsat"}
    again = find_answers(store, [("a", SAT), ("b", UNSAT), ("e", UNSAT)])
    assert (again.asked, again.sat, again.unsat) == (1, 1, 2)


def test_what_was_answered_is_stored_as_it_goes_and_progress_counts_texts() -> None:
    store = Memory()
    texts = [(f"{n}", (SAT, UNSAT, "(assert")[n % 3] + f"; {n}") for n in range(90)]
    seen: list[tuple[int, int]] = []

    class Enough(Exception):
        pass

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        if done >= 50:
            raise Enough

    with pytest.raises(Enough):
        find_answers(store, texts, 2, stop, 90)
    assert seen[0][0] < seen[-1][0] < 90
    kept = {solver: len(store.outcomes(solver, version_of(solver))) for solver in REFERENCES}
    assert kept == {"cvc5": 90, "z3": 25}
    seen.clear()
    report = find_answers(store, texts, 2, lambda done, total: seen.append((done, total)), 90)
    assert seen[-1] == (90, 90)
    assert (report.asked, report.sat, report.unsat) == (35, 30, 30)


def test_contradictions_are_reported_and_not_trusted() -> None:
    store = Memory()
    store.store("z3", version_of("z3"), {"a": "sat", "b": "unknown"})
    store.store("cvc5", version_of("cvc5"), {"a": "unsat", "b": "sat"})
    report = find_answers(store, [("a", SAT), ("b", SAT)])
    assert (report.asked, report.contradictions) == (0, ("a",))
    # The second solver does not decide b.
    assert labels_of(store) == ({}, {"b"})


def test_answers_of_other_versions_do_not_count() -> None:
    store = Memory()
    store.store("z3", "4.0", {"a": "sat"})
    store.store("cvc5", "1.0", {"a": "sat", "b": "timeout"})
    assert labels_of(store) == ({}, frozenset())


@pytest.mark.thorough
def test_limits_end_what_is_hard_the_same_each_time() -> None:
    for solver in REFERENCES:
        with Prober(solver, solve=True, seconds=60) as prober:
            outcomes = [a.outcome for a in prober.probe([HARD, SAT, HARD])]
        assert outcomes == ["unknown", "sat", "unknown"]


def test_a_cache_with_broken_lines_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    good = json.dumps(["z3", "1", "a", "sat"])
    path.write_text(f'{good}\n["z3", "1"]\n7\n{{}}\n["z3", "1", "b", "s')
    cache = CachedAnswers(path)
    cache.store("z3", "1", {"c": "unsat"})
    assert cache.outcomes("z3", "1") == {"a": "sat", "c": "unsat"}
    assert CachedAnswers(tmp_path / "none").outcomes("z3", "1") == {}
