"""Fingerprints: one key per cause, the same for every test that triggers it.

A crash that names its place needs nothing else. For the rest a key is class, guilty solver and theories; but
a generated test mixes theories that have nothing to do with the fault, so the theories are those that are
left after a quick reduction by our own passes. A reduction that was cut short leaves too many: then the
finding folds into the known one that shares the most of them and has no other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from difftest._reducer_passes import Passes
from difftest.findings import Candidate, FindingClass, theories

QUICK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A key, and the formula it was read off; ``complete`` if nothing more could be taken away in time."""

    key: str
    text: str
    complete: bool


def needs_reduction(candidate: Candidate) -> bool:
    """Whether the candidate's key holds theories, and so depends on what else is in the formula."""
    # A slow test is not reduced quickly, and a reduced one is no longer implied by its parent.
    return candidate.oracle not in ("slowdown", "implication") and _stem(candidate.key) is not None


def fingerprint(
    candidate: Candidate, text: str, check: Callable[[str], bool], seconds: float = QUICK_SECONDS
) -> Fingerprint:
    """The key of ``candidate`` by what is left of ``text``, reduced for ``seconds`` at most."""
    stem = _stem(candidate.key)
    if stem is None:
        return Fingerprint(candidate.key, text, True)
    passes = Passes(text, check, time.monotonic() + seconds, names=False)
    complete = passes.run(max_rounds=3)
    left = "+".join(theories(passes.text))
    return Fingerprint(f"{stem}|{left}", passes.text, complete)


def fold(found: Fingerprint, known: Iterable[str]) -> str:
    """The key to count ``found`` under, given the keys that are ``known``."""
    known = list(known)
    if found.complete or found.key in known:
        return found.key
    stem, _, mine = found.key.rpartition("|")
    mixed = set(mine.split("+"))
    near = [
        key
        for key in known
        if key.rpartition("|")[0] == stem and set(key.rpartition("|")[2].split("+")) < mixed
    ]
    return max(near, key=lambda key: (key.count("+"), key), default=found.key)


def _stem(key: str) -> str | None:
    """A key without its theories, or None if it has none."""
    parts = key.split("|")
    if parts[0] == FindingClass.CRASH and len(parts) < 4:
        return None
    return "|".join(parts[:-1]) if len(parts) > 2 else None
