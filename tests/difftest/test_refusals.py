from __future__ import annotations

import pytest

from difftest.campaign.refusals import MESSAGE_LENGTH, Refusal, find_refusals, first_words
from solvers.running.outcomes import Outcome

REFUSED, OK, TIMEOUT, CRASH = Outcome.REFUSED, Outcome.OK, Outcome.TIMEOUT, Outcome.CRASH


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        ({REFUSED: 300}, "s refused all 300 tests: no"),
        ({REFUSED: 1}, "s refused the only test: no"),
        ({REFUSED: 290, TIMEOUT: 6, CRASH: 4}, "s refused 290 of 300 tests and accepted none: no"),
    ],
)
def test_a_solver_that_accepts_no_test_is_named(counts: dict[Outcome, int], line: str) -> None:
    [found] = find_refusals({"s": counts, "other": {OK: 300}}, {"s": "no"})
    assert str(found) == line


@pytest.mark.parametrize(
    "counts",
    [
        {},
        {REFUSED: 299, OK: 1},
        {REFUSED: 299, Outcome.UNKNOWN: 1},
        {REFUSED: 299, Outcome.INVALID_MODEL: 1},
        {REFUSED: 10, TIMEOUT: 290},
        {TIMEOUT: 300},
    ],
)
def test_a_solver_that_accepts_a_test_or_only_runs_out_of_time_is_not(counts: dict[Outcome, int]) -> None:
    assert find_refusals({"s": counts}, {}) == []


def test_a_solver_that_says_nothing_is_named_too() -> None:
    assert str(Refusal("s", 2, 2, "")) == "s refused all 2 tests: no message"


def test_first_words_are_one_line_that_is_not_long() -> None:
    assert first_words("\n\n  (error x)  \nmore") == "(error x)"
    assert first_words("") == ""
    assert len(first_words("x" * 1000)) == MESSAGE_LENGTH
