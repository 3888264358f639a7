"""Counts of what runs did: per state, action, operator, sort, option and answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields


@dataclass(slots=True)
class Statistics:
    """Counts of one run, or of several added up."""

    states: Counter[str] = field(default_factory=Counter)
    """Steps taken in each state."""
    tried: Counter[str] = field(default_factory=Counter)
    """Calls per action, refused ones too."""
    refused: Counter[str] = field(default_factory=Counter)
    """Calls per action that the engine refused because the solver cannot do it."""
    idle: Counter[str] = field(default_factory=Counter)
    """How often each action found nothing to draw."""
    operators: Counter[str] = field(default_factory=Counter)
    """Terms made per operator, as ``theory name``."""
    sorts: Counter[str] = field(default_factory=Counter)
    """Sorts made, by the name of their head."""
    options: Counter[str] = field(default_factory=Counter)
    """Options set, by name."""
    fed: Counter[str] = field(default_factory=Counter)
    """Terms of a corpus that were made, and why others were not."""
    answers: Counter[str] = field(default_factory=Counter)
    """Answers of checks."""

    def add(self, other: Statistics) -> None:
        """Count what ``other`` counted, too."""
        for part in fields(self):
            getattr(self, part.name).update(getattr(other, part.name))
