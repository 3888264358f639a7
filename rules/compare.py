"""Two rule sets side by side: what both have, what is new, what is lost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rules.apriori import Rule


@dataclass(frozen=True, slots=True)
class Comparison:
    """``overlap`` pairs each rule of the old set with the new set's; the measures may differ."""

    overlap: tuple[tuple[Rule, Rule], ...]
    new: tuple[Rule, ...]
    lost: tuple[Rule, ...]

    @property
    def kept(self) -> float:
        """Share of the old rules that the new set has; 1 where there were none."""
        old = len(self.overlap) + len(self.lost)
        return len(self.overlap) / old if old else 1.0


def compare(old: Iterable[Rule], new: Iterable[Rule]) -> Comparison:
    """What became of the rules of ``old`` in ``new``. A rule is known by its two sides."""
    before = {rule.key: rule for rule in old}
    after = {rule.key: rule for rule in new}
    return Comparison(
        tuple((before[key], after[key]) for key in sorted(before.keys() & after.keys())),
        tuple(after[key] for key in sorted(after.keys() - before.keys())),
        tuple(before[key] for key in sorted(before.keys() - after.keys())),
    )
