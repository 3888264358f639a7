"""Oracles that take turns: which one, if any, looks at a test of a hunt.

Each of them makes runs of its own, so all of them together get a share of the solvers' time. A bandit divides
it among them by what they find and how many of their claims are decided. Where time does not count, a number
of each test says whether one of them looks at it, and which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from difftest.campaign.bandit import Cautious
from generator.strategy import GeneratedTest

SHARE = 0.1
"""Of all time that solvers take. In a hunt on z3 4.8.5 and CVC4 1.8, 15 % of it gave 6 of 88 findings."""
_EACH = round(1 / SHARE)
RELATION = "relation "
"""Begins the kind of the counts of a relation's claims."""


class Needs(Struct, frozen=True):
    """Which oracle looks at a test that needs one, whatever the time: the one that the test names, if it is
    among ``names``, or, if only one kind of solver runs on it, the one whose turn it is ``by_kind``.
    """

    names: tuple[str, ...]
    by_kind: Mapping[str, str]

    def choose(self, test: GeneratedTest) -> str:
        """The oracle for this test; empty if it needs none."""
        if test.judged_by in self.names:
            return test.judged_by
        return self.by_kind.get(test.only[0], "") if len(test.only) == 1 else ""


class Turns:
    """The turns of the oracles ``names``; ``by_kind`` has those that fit each kind of solver."""

    def __init__(
        self, names: Sequence[str], seed: int, by_kind: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self.names = tuple(names)
        self._by_kind = by_kind or {}
        self._bandit = Cautious(names, seed)
        self._owed = dict.fromkeys(names, 0.0)
        self._spent = 0.0

    def needs(self, number: int | None = None) -> Needs:
        """Which oracle looks at tests that need one, now; with a ``number``, as that of a test says."""
        by_kind = {kind: self._next(names, number) for kind, names in self._by_kind.items()}
        return Needs(self.names, by_kind)

    def draw(self, seconds: float, number: int | None = None) -> str:
        """The oracle whose turn it is, where solvers took ``seconds`` in all; empty if there is no time for
        one. With the ``number`` of a test, it depends on that alone.
        """
        has_time = self._spent <= SHARE * seconds if number is None else number % _EACH == 0
        return self._next(self.names, number) if has_time else ""

    def _next(self, names: Sequence[str], number: int | None) -> str:
        if number is not None and names:
            return names[number // _EACH % len(names)]
        return max(names, key=lambda name: self._owed.get(name, 0.0), default="")

    def pay(self, name: str, seconds: float, judged: int, is_needed: bool = False) -> None:
        """What a turn took on a test, and how many claims of the oracle were judged. Where the test needs it,
        that does not count as a part of the share.
        """
        if name not in self._owed:
            return
        # A turn that came to nothing counts as well, so that another one is next.
        charged = max(seconds, 0.001)
        if not is_needed:
            self._spent += seconds
        self._bandit.pay(name, charged, judged)
        for other, share in self._bandit.shares().items():
            self._owed[other] += share * charged
        self._owed[name] -= charged

    def found(self, name: str) -> None:
        """An oracle has a finding of its own."""
        self._bandit.pay(name, 0.0, 0, 1)
