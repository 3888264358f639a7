"""Compares two rule sets: common, new and lost rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rules.apriori import Rule


@dataclass(frozen=True, slots=True)
class Comparison:
    """``overlap``: pairs of the old and new version of a rule, whose measures may differ."""

    overlap: tuple[tuple[Rule, Rule], ...]
    new: tuple[Rule, ...]
    lost: tuple[Rule, ...]

    @property
    def kept(self) -> float:
        """The share of the old rules that are in the new set; 1 if there were none."""
        old = len(self.overlap) + len(self.lost)
        return len(self.overlap) / old if old else 1.0


def compare(old: Iterable[Rule], new: Iterable[Rule]) -> Comparison:
    """Compare the rules of ``old`` and ``new``. Rules are identified by their two sides."""
    before = {rule.key: rule for rule in old}
    after = {rule.key: rule for rule in new}
    return Comparison(
        tuple((before[key], after[key]) for key in sorted(before.keys() & after.keys())),
        tuple(after[key] for key in sorted(after.keys() - before.keys())),
        tuple(before[key] for key in sorted(before.keys() - after.keys())),
    )
