"""Releases that are functions: what each does with a text, and how often it was run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from difftest.bugs.records import Seen, Trigger
from difftest.bugs.shelf import Shelf
from solvers.running.runner import Runner

RELEASES = [f"4.{number}" for number in range(20)]
TEXT = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n"

Did = Callable[[int, int], tuple[str, str | None] | None]


class Planted(Shelf):
    """Release ``4.n`` does what ``did`` says of ``n`` and of the number of runs before: an outcome and an
    answer, or None where it cannot be had. ``others`` answer what ``say`` says.
    """

    def __init__(self, did: Did) -> None:
        super().__init__()
        self.did = did
        self.ran: Counter[str] = Counter()

    def releases(self, family: str) -> list[str]:
        return RELEASES

    def run(self, trigger: Trigger, release: str, runner: Runner, seconds: float) -> Seen | None:
        done = self.did(RELEASES.index(release), self.ran[release])
        self.ran[release] += 1
        if done is None:
            self.problems[trigger.spec(release)] = "not there"
            return None
        outcome, answer = done
        place = "a.cpp:12" if outcome == "crash" else None
        took = 9.0 if outcome == "timeout" else 0.01
        return Seen(release=release, outcome=outcome, answers=(answer,), location=place, seconds=took)

    def others(self, family: str) -> list[Any]:
        return []


def trigger(**given: Any) -> Trigger:
    """A trigger of z3."""
    return Trigger(**{"solver": "z3", "text": TEXT, "sources": ("z3#1/a.smt2",), **given})
