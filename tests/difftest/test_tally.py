"""Counts of a hunt."""

from __future__ import annotations

from difftest.campaign.tally import Tally
from difftest.triage.newness import NOT_NEW, REFUSED_FILES, REFUSED_TESTS


def test_a_run_of_days_does_not_name_every_test() -> None:
    tally = Tally(["z3"])
    for number in range(2000):
        for kind in (REFUSED_TESTS, REFUSED_FILES, NOT_NEW):
            tally.add(kind, {str(number): 1})
    assert [len(tally.statistics[kind]) for kind in (REFUSED_TESTS, REFUSED_FILES, NOT_NEW)] == [
        1000,
        2000,
        2000,
    ]
    assert len(tally.take().counted) == 5000
