"""The question that the last check of a trace asks."""

from __future__ import annotations

from dataclasses import replace

from apifuzz.minimise.passes import level_count
from apifuzz.trace import Line, Trace

QUESTIONS = frozenset(
    "inspect-sort inspect-term read-back get-value print-model unsat-core unsat-assumptions".split()
)
"""Calls that change no state, so that later checks are the same without them."""


def at_once(trace: Trace) -> Trace:
    """The question of the last check without what led there: what is asserted then, and assumed, is asserted
    at once and checked.
    """
    kept: list[Line] = []
    levels: list[list[Line]] = [[]]
    asked: list[Line] = []
    for line in trace.lines:
        match line.action:
            case "push" | "pop":
                count = level_count(line)
                levels = (
                    levels + [[] for _ in range(count)] if line.action == "push" else levels[: -count or None]
                )
            case "reset" | "reset-assertions":
                levels = [[]]
            case "new" | "delete":
                levels = [[]]
                kept.append(line)
            case "assert":
                levels[-1].append(line)
            case "check-sat" | "check-sat-assuming":
                asked = [held for level in levels for held in level]
                asked += [Line(line.seed, "assert", (term,)) for term in line.args]
                asked.append(Line(line.seed, "check-sat"))
            case action if action not in QUESTIONS:
                kept.append(line)
    return replace(trace, lines=(*kept, *asked))
