"""A formula and the one that it was weakened or strengthened from, reduced together.

A step along such a chain changes one assertion into one that follows from it, or that it follows from, and
leaves the others as they are. So what both formulas have can be left out of both, and the one still follows
from the other; what they differ in stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from generator.strategy import GeneratedTest
from solvers.running.script import Script

_DECIDED = re.compile(r"it says (sat|unsat) to the formula")


@dataclass(frozen=True, slots=True)
class Pair:
    """``text`` was made from ``parent``: where that is ``follows`` (sat or unsat), so is ``text``."""

    text: str
    parent: str
    follows: str

    def parent_of(self, reduced: str) -> str | None:
        """The parent without what ``reduced`` lacks of the text.

        None where ``reduced`` is not the text without commands that both have: then nothing is known of it.
        """
        text, parent, left = (Counter(_commands(t)) for t in (self.text, self.parent, reduced))
        left_out = text - left
        if left - text or left_out - parent:
            return None
        kept = []
        for command in _commands(self.parent):
            if left_out[command]:
                left_out[command] -= 1
            else:
                kept.append(command)
        return "\n".join(kept) + "\n"


def _commands(text: str) -> Sequence[str]:
    script = Script.of(text)
    return [*map(script.text_of, script.commands)]


def pair_of(test: GeneratedTest) -> Pair | None:
    """The test with the formula that it was weakened or strengthened from, if it has one."""
    if test.implied_by is not None:
        return Pair(test.text, test.implied_by, "sat")
    return Pair(test.text, test.implies, "unsat") if test.implies is not None else None


def follows_by(evidence: Iterable[object]) -> str | None:
    """What the evidence of the oracle ``implication`` says of the parent: sat or unsat."""
    for entry in evidence:
        text = entry.get("text") if isinstance(entry, dict) else entry
        found = _DECIDED.search(str(text))
        if found:
            return found[1]
    return None
