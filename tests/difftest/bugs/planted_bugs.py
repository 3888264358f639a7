"""Bugs made up for tests: records as a build writes them, without a solver."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from difftest.bugs.records import BUGS, Benchmark, Bug, Seen, make_id, write_records
from tests.difftest.bugs.planted import trigger

RAN = ("4.8.5", "4.8.6", "4.8.7", "4.8.10")


def planted_bug(number: int = 1, **given: Any) -> Bug:
    """A bug of z3 4.8.6; ``given`` has other fields of the record."""
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
