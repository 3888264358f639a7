"""The first time limit: it follows what decided tests take, and does not shrink away from slow machines."""

from __future__ import annotations

import random

import pytest

from difftest.campaign.pace import Pace


def settle(pace: Pace, slowness: float, tests: int = 3000) -> float:
    """Where it settles when only what is decided within the limit is seen."""
    chance = random.Random(3)
    limits = []
    for _ in range(tests):
        took = slowness * chance.choice((0.01, 0.012, 0.015, 0.03, 0.1, 0.25, 5.0))
        if took <= pace.limit:
            pace.decided(took)
        limits.append(pace.limit)
    return sum(limits[-500:]) / 500


@pytest.mark.parametrize(
    ("slowness", "least", "most"),
    [(0.2, 0.049, 0.051), (1, 0.049, 0.06), (3, 0.06, 0.1), (6, 0.099, 0.101), (60, 0.099, 0.101)],
)
def test_it_settles_where_most_is_decided(slowness: float, least: float, most: float) -> None:
    assert least <= settle(Pace(0.1), slowness) <= most


def test_it_stays_where_it_is_until_there_is_something_to_go_by_and_comes_back() -> None:
    pace = Pace(0.2)
    for _ in range(19):
        pace.decided(0.001)
    assert pace.limit == 0.2
    pace.decided(0.001)
    assert pace.limit == 0.05
    for _ in range(300):
        pace.decided(0.045)
    assert pace.limit == pytest.approx(0.09)
    for _ in range(300):
        pace.decided(0.19)
    assert pace.limit == 0.2
