"""Allocates time to arms by Thompson sampling over past rewards.

An arm (a strategy, or one class of a strategy's tests) is rewarded with findings with a new key per second
of its time, which goes into making tests, running them and confirming what they show. A missing answer and a
slowdown count for less than a wrong answer (``FindingClass.reward``). An arm's rate has a Gamma posterior
(counts in time are Poisson), whose prior is the mean over all arms, worth half a finding. Its share of the
time is how often a draw from its posterior is the highest. The draws are those of a posterior
that knows ``sharpness`` times as much: a hunt of minutes with ten arms is over before the posteriors are
narrow, and causes are found once, so to know the best arm exactly is worth less than to use a good one early.
Replays of recorded campaigns chose the constants (``scripts/bench_bandit``, docs/results/history.md).

``even`` of the time is split evenly, so that every arm is still tried. Old rewards count less, so that an arm
whose bugs are all found gets less time: by half for each ``share`` of the time so far, which is at least
``least`` and at most ``half_life``. Without that, sharp draws keep to an arm that has no more.

Where findings are too few to go by (``Cautious``), decided tests count, too: they are frequent and show early
whether the tests of an arm are useful. A draw then scores an arm by

    found weight * found rate / mean found rate + (1 - found weight) * decided rate / mean decided rate

Source of the method: Thompson (1933); Chapelle and Li, "An Empirical Evaluation of Thompson Sampling" (2011),
whose posterior reshaping, with alpha = 1 / ``sharpness``, is this.
The same payments in the same order give the same shares.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

_DRAWS = 64
# Shares are drawn again when the arms' time has grown by this share, or by these seconds if that is more.
_RENEWED = 0.01
_RENEWED_SECONDS = 5.0

# Where it is read from a file, it is no NaN.
_Amount = Annotated[float, Meta(ge=0, lt=1e300)]


@dataclass(slots=True)
class Payments:
    """What an arm paid, with the discount of what is old: findings, decided tests, seconds."""

    found: _Amount = 0.0
    decided: _Amount = 0.0
    seconds: _Amount = 0.0


class Bandit:
    """Shares of the time for ``arms``. ``paid`` may hold what they paid before."""

    found_weight = 1.0
    sharpness = 8.0
    even = 0.25
    half_life = 4 * 3600.0
    least = 30.0
    share = 0.5
    prior = 0.5

    def __init__(self, arms: Sequence[str], seed: int, paid: Mapping[str, Payments] | None = None) -> None:
        self.paid = {arm: (paid or {}).get(arm) or Payments() for arm in arms}
        self._chance = random.Random(seed)
        self._shares: dict[str, float] = {}
        self._since = 0.0

    def pay(self, arm: str, seconds: float, decided: int = 0, found: float = 0.0) -> None:
        """An arm's test took ``seconds``, and this came of it."""
        if seconds > 0:
            total = sum(paid.seconds for paid in self.paid.values())
            # A half-life of ``share`` times the time t so far keeps t / (1 + ln 2 / share) of it, in the long
            # run. That sum is stored, and t is not.
            half_life = min(self.half_life, max(self.least, (self.share + math.log(2)) * total))
            fading = 0.5 ** (seconds / half_life)
            for old in self.paid.values():
                old.found *= fading
                old.decided *= fading
                old.seconds *= fading
        payments = self.paid.get(arm)
        if payments is None:  # dropped, and this was still running
            return
        payments.found += found
        payments.decided += decided
        payments.seconds += seconds
        self._since += seconds
        if found:
            self._shares = {}

    def drop(self, arm: str) -> None:
        """An arm has no more tests."""
        self.paid.pop(arm, None)
        self._shares = {}

    def shares(self) -> dict[str, float]:
        """The share of the time per arm; they add up to 1."""
        total = sum(payments.seconds for payments in self.paid.values())
        if not self._shares or self._since >= max(_RENEWED_SECONDS, _RENEWED * total):
            self._since = 0.0
            self._shares = self._draw()
        return self._shares

    def _draw(self) -> dict[str, float]:
        if not self.paid:
            return {}
        seconds = sum(p.seconds for p in self.paid.values())
        if len(self.paid) == 1 or seconds <= 0:
            return dict.fromkeys(self.paid, 1 / len(self.paid))
        found = (sum(p.found for p in self.paid.values()) + 0.5) / seconds
        decided = (sum(p.decided for p in self.paid.values()) + 1) / seconds
        wins = dict.fromkeys(self.paid, 0)
        for _ in range(_DRAWS):
            best, best_score = "", -1.0
            for arm, paid in self.paid.items():
                score = self._score(paid, found, decided)
                if score > best_score:
                    best, best_score = arm, score
            wins[best] += 1
        even = self.even / len(self.paid)
        return {arm: even + (1 - self.even) * count / _DRAWS for arm, count in wins.items()}

    def _score(self, paid: Payments, found: float, decided: float) -> float:
        """One draw of what an arm pays per second, where all arms together have these two rates."""
        draw, sharp = self._chance.gammavariate, self.sharpness
        of_found = draw(sharp * (self.prior + paid.found), 1 / sharp / (self.prior + found * paid.seconds))
        if self.found_weight == 1:
            return of_found
        of_decided = draw(1 + paid.decided, 1 / (1 + decided * paid.seconds))
        return self.found_weight * of_found + (1 - self.found_weight) * of_decided


class Cautious(Bandit):
    """For the classes of one strategy, and for oracles that take turns: findings are few for each of them."""

    found_weight = 0.8
    sharpness = 1.0
    least = Bandit.half_life
