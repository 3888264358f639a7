"""Orders formulas by what a change can touch.

What a change names (``difftest.directed.names``) shares a weight of 1: a change that names everything says
little of each. The weight of a name is ``log(1 + W) * log((n + 1) / f)``, with ``W`` its shares of all
changes, and ``f`` of the ``n`` known formulas using it: the second factor is the inverse document frequency
of Spärck Jones ("A statistical interpretation of term specificity", 1972), since what every formula uses
orders nothing. The score of a formula is the sum over the names that it uses.

With a coverage map (``difftest.directed.coverage``), formulas that run changed functions come before all
others. The weight of a function is the second factor, with the ``n`` formulas that the map has, ``f`` of
which run it. Among formulas that run the same, and those that the map does not have, names decide.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from difftest.directed.changes import Changes, find_changes
from difftest.directed.coverage import Function, formula_key, formulas_running
from difftest.directed.names import Feature, Names

_SHOWN = 20
"""Names of a kind, and files, that a summary lists."""
KINDS = {"operator": "operators", "theory": "theories", "option": "options", "tactic": "tactics"}


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed between two folders of sources of one solver, what the changes name, and, for each formula
    of a coverage map (by its key), the changed functions that it runs.
    """

    changes: Changes
    names: Names
    named: tuple[frozenset[Feature], ...]
    running: Mapping[str, frozenset[Function]] | None = None

    @classmethod
    def of(
        cls, family: str, base: Path, new: Path, coverage: Path | None = None, keep: bool = False
    ) -> Difference:
        """The difference of two folders, kept in the cache with ``keep``. Raises DifftestError where a folder
        or the map cannot be read.
        """
        names = Names(family, new)
        changes = find_changes(base, new, names.sources.skip, names.sources.options, keep)
        functions = {(change.file, change.function) for change in changes.found if change.function}
        running = formulas_running(coverage, functions) if coverage is not None else None
        return cls(changes, names, tuple(map(names.of_change, changes.found)), running)

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
        self._running = difference.running or {}
        runs = Counter(function for found in self._running.values() for function in found)
        self._functions = {
            function: math.log((len(self._running) + 1) / count) for function, count in runs.items()
        }
        used = []
        by_runs = []
        self._measured = 0
        for text, options in formulas:
            used.append(difference.names.of_formula(text, options))
            key = formula_key(text, options) if self._running else ""
            self._measured += key in self._running
            by_runs.append(self._sum_of_runs(key))
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
        by_names = [self._sum(features) for features in used]
        scores = list(zip(by_runs, by_names, strict=True))
        self.order = tuple(sorted(range(len(used)), key=lambda number: scores[number], reverse=True))
        self.touched = sum(max(score) > 0 for score in scores)
        self._run_first = sum(score > 0 for score in by_runs)

    def _sum(self, features: Iterable[Feature]) -> float:
        # In a fixed order: sums of floats depend on it, and sets are in another order in every process.
        return sum(self._weights.get(feature, 0.0) for feature in sorted(features))

    def _sum_of_runs(self, key: str) -> float:
        return sum(self._functions[function] for function in sorted(self._running.get(key, ())))

    def score(self, text: str) -> float:
        """The score of any formula; 0 if it runs no changed function, and nothing that it uses is named."""
        runs = self._sum_of_runs(formula_key(text)) if self._running else 0.0
        return runs + self._sum(self._difference.names.of_formula(text))

    @property
    def options(self) -> frozenset[str]:
        """The options that the changes name."""
        return self._difference.options

    def to_json(self) -> dict[str, Any]:
        """What changed, what it names, most first (at most 20 of a kind with their ``counts``), and how many
        formulas it can touch. ``coverage``: how many of the formulas the map has, how many of them run
        changed functions, and how many of those are run.
        """
        changes = self._difference.changes
        files = Counter(change.file for change in changes.found if change.function)
        by_share = sorted(self._shares, key=lambda feature: (-self._shares[feature], feature))
        listed = {plural: [n for k, n in by_share if k == kind] for kind, plural in KINDS.items()}
        coverage = {"measured": self._measured, "first": self._run_first, "functions": len(self._functions)}
        return {
            "functions": changes.functions,
            "files": changes.files,
            "files_left_out": changes.left_out,
            "most_changed": dict(sorted(files.items(), key=lambda entry: (-entry[1], entry[0]))[:_SHOWN]),
            "counts": {plural: len(names) for plural, names in listed.items()},
            **{plural: names[:_SHOWN] for plural, names in listed.items()},
            "coverage": coverage if self._difference.running is not None else None,
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
        runs = ""
        if measured := found["coverage"]:
            runs = (
                f"; {measured['functions']} of them are run by {measured['first']} of the"
                f" {measured['measured']} known formulas in the coverage map"
            )
        return (
            f"{found['functions']} functions changed in {found['files']} files ({files})"
            f"{runs}; they name"
            f" {', '.join(named) or 'nothing that formulas use'}; {found['formulas_first']} of"
            f" {found['formulas']} known formulas come first"
        )


def _list(names: Sequence[str], count: int, most: int = 4) -> str:
    return ", ".join([*names[:most], *(["..."] if count > most else [])]) or "none"
