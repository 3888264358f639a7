"""Assertions on levels of push and pop, with several ``check-sat``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from generator.settings import Setting

CHECK = "(check-sat)\n"

INCREMENTAL = Setting("incremental", 0.0, "share of tests with push, pop and several check-sat", 0, 1)


def is_incremental(share: float, chance: Callable[[], float]) -> bool:
    """Whether a test is among this share of the tests; for all or none, nothing is drawn."""
    return share >= 1 or (share > 0 and chance() < share)


def on_levels(assertions: Sequence[str], chance: Callable[[], float]) -> list[str]:
    """Commands that assert all ``assertions`` (lines with commands) on levels that come and go, with a
    ``check-sat`` after each few of them, and one more after a last ``pop``.
    """
    lines: list[str] = []
    depth = position = 0
    while position < len(assertions):
        if depth and chance() < 0.4:
            count = 1 + int(chance() * depth)
            lines.append(f"(pop {count})\n")
            depth -= count
        if chance() < 0.7:
            lines.append("(push 1)\n")
            depth += 1
        # As many questions as assertions would make slow tests of large ones.
        count = 1 + int(chance() * max(2, len(assertions) // 6))
        lines += assertions[position : position + count]
        position += count
        lines.append(CHECK)
    if depth:
        # What an outer level says after an inner one is gone.
        lines += [f"(pop {1 + int(chance() * depth)})\n", CHECK]
    return lines
