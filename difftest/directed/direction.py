"""Orders formulas by what a change can touch.

What a change names (``difftest.directed.names``) shares a weight of 1: a change that names everything says
little of each. The weight of a name is ``log(1 + W) * log((n + 1) / f)``, with ``W`` its shares of all
changes, and ``f`` of the ``n`` known formulas using it: the second factor is the inverse document frequency
of Spärck Jones ("A statistical interpretation of term specificity", 1972), since what every formula uses
orders nothing. The score of a formula is the sum over the names that it uses.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difftest.directed.changes import Changes, find_changes
from difftest.directed.names import Feature, Names

_SHOWN = 20
"""Names of a kind, and files, that a summary lists."""
KINDS = {"operator": "operators", "theory": "theories", "option": "options", "tactic": "tactics"}


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed between two folders of sources of one solver, and what the changes name."""

    changes: Changes
    names: Names
    named: tuple[frozenset[Feature], ...]

    @classmethod
    def of(cls, family: str, base: Path, new: Path) -> Difference:
        """The difference of two folders. Raises DifftestError where one cannot be read."""
        names = Names(family, new)
        changes = find_changes(base, new, names.sources.skip, names.sources.options)
        return cls(changes, names, tuple(map(names.of_change, changes.found)))

    @property
    def options(self) -> frozenset[str]:
        """The options that the changes name."""
        return frozenset(name for found in self.named for kind, name in found if kind == "option")


class Direction:
    """The order of known ``formulas`` (texts with options) by a difference of sources. ``order`` has their
    numbers, the highest score first and else as given; the first ``touched`` have a score above 0.
    """

    def __init__(self, difference: Difference, formulas: Iterable[tuple[str, Sequence[str]]]) -> None:
        self._difference = difference
        used = [difference.names.of_formula(text, options) for text, options in formulas]
        shares: dict[Feature, float] = {}
        for named in difference.named:
            for feature in named:
                shares[feature] = shares.get(feature, 0.0) + 1 / len(named)
        uses = Counter(feature for features in used for feature in features)
        self._weights = {
            feature: math.log1p(share) * math.log((len(used) + 1) / max(1, uses[feature]))
            for feature, share in shares.items()
        }
        self._shares = shares
        scores = [self._sum(features) for features in used]
        self.order = tuple(sorted(range(len(used)), key=lambda number: -scores[number]))
        self.touched = sum(score > 0 for score in scores)

    def _sum(self, features: Iterable[Feature]) -> float:
        # In a fixed order: sums of floats depend on it, and sets are in another order in every process.
        return sum(self._weights.get(feature, 0.0) for feature in sorted(features))

    def score(self, text: str) -> float:
        """The score of any formula; 0 if nothing that it uses is named."""
        return self._sum(self._difference.names.of_formula(text))

    @property
    def options(self) -> frozenset[str]:
        """The options that the changes name."""
        return self._difference.options

    def to_json(self) -> dict[str, Any]:
        """What changed, what it names, most first (at most 20 of a kind with their ``counts``), and how many
        formulas it can touch.
        """
        changes = self._difference.changes
        files = Counter(change.file for change in changes.found if change.function)
        by_share = sorted(self._shares, key=lambda feature: (-self._shares[feature], feature))
        listed = {plural: [n for k, n in by_share if k == kind] for kind, plural in KINDS.items()}
        return {
            "functions": changes.functions,
            "files": changes.files,
            "files_left_out": changes.left_out,
            "most_changed": dict(sorted(files.items(), key=lambda entry: (-entry[1], entry[0]))[:_SHOWN]),
            "counts": {plural: len(names) for plural, names in listed.items()},
            **{plural: names[:_SHOWN] for plural, names in listed.items()},
            "formulas_first": self.touched,
            "formulas": len(self.order),
        }

    def __str__(self) -> str:
        """One line for people."""
        found = self.to_json()
        files = _list([f"{file} {count}" for file, count in found["most_changed"].items()], found["files"])
        named = [
            f"{found['counts'][plural]} {plural} ({_list(found[plural], found['counts'][plural])})"
            for plural in KINDS.values()
            if found["counts"][plural]
        ]
        return (
            f"{found['functions']} functions changed in {found['files']} files ({files}); they name"
            f" {', '.join(named) or 'nothing that formulas use'}; {found['formulas_first']} of"
            f" {found['formulas']} known formulas come first"
        )


def _list(names: Sequence[str], count: int, most: int = 4) -> str:
    return ", ".join([*names[:most], *(["..."] if count > most else [])]) or "none"
