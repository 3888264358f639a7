"""Releases and bugs made up for tests, without a solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from difftest.bugs.records import BUGS, Benchmark, Bug, Seen, Trigger, make_id, write_records
from difftest.bugs.shelf import Shelf
from solvers.running.runner import Runner

RELEASES = [f"4.{number}" for number in range(20)]
RAN = ("4.8.5", "4.8.6", "4.8.7", "4.8.10")
TEXT = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n"

Did = Callable[[int, int], tuple[str, str | None] | None]


class Planted(Shelf):
    """Release ``4.n`` does what ``did`` says of ``n`` and of the number of runs before: an outcome and an
    answer (of a crash: its place), or None where it cannot be had. ``others`` answer what ``say`` says.
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
        place = None
        if outcome == "crash":
            place, answer = answer or "a.cpp:12", None
        took = 9.0 if outcome == "timeout" else 0.01
        return Seen(release=release, outcome=outcome, answers=(answer,), location=place, seconds=took)

    def others(self, family: str) -> list[Any]:
        return []


def trigger(**given: Any) -> Trigger:
    """A trigger of z3."""
    return Trigger(**{"solver": "z3", "text": TEXT, "sources": ("z3#1/a.smt2",), **given})


def planted_bug(number: int = 1, **given: Any) -> Bug:
    """A bug of z3 4.8.6 as a build writes it; ``given`` has other fields of the record."""
    text = f"(declare-const x Int)\n(assert (> x {number}))\n(check-sat)\n"
    own = trigger(**{"text": text, "bytes": len(text), "theories": ("Ints",), "operators": (">",)})
    fields = {name: getattr(own, name) for name in own.__struct_fields__}
    seen = ("crash", "crash", "ok", "ok")
    strip = tuple(
        Seen(release=release, outcome=outcome, answers=("sat" if outcome == "ok" else None,), location=place)
        for release, outcome in zip(RAN, seen, strict=True)
        for place in ("smt/a.cpp:12" if outcome == "crash" else None,)
    )
    fields |= {
        "id": make_id(own, given.get("finding_class", "crash")),
        "finding_class": "crash",
        "last_bad": "4.8.6",
        "strip": strip,
    }
    return Bug(**{**fields, "first_good": "4.8.7", "bug_key": "crash|z3|smt/a.cpp:12", **given})


def planted_benchmark(folder: Path, *bugs: Bug) -> Benchmark:
    """A benchmark of these bugs in a folder."""
    folder.mkdir(exist_ok=True)
    write_records(folder / BUGS, bugs)
    return Benchmark(folder)
