"""Orders formulas by what a change can touch.

What a change names (``difftest.directed.names``) shares a weight of 1: a change that names everything says
little of each. The weight of a name is ``log(1 + W) * log((n + 1) / f)``, with ``W`` its shares of all
changes, and ``f`` of the ``n`` known formulas using it: the second factor is the inverse document frequency
of Spärck Jones ("A statistical interpretation of term specificity", 1972), since what every formula uses
orders nothing. The score of a formula is the sum over the names that it uses.

With a coverage map (``difftest.directed.coverage``), formulas that run changed functions come before all
others, whose order is that of the names. The weight of a function is the second factor, with the ``n``
formulas that the map has, ``f`` of which run it. The next formula is always the one that adds the most
weight for each second that it takes, of functions that no formula before it runs; when none adds any, all
functions count again. That is the additional greedy order of Rothermel, Untch, Chu and Harrold ("Prioritizing
test cases for regression testing", 2001), with costs as Elbaum, Malishevsky and Rothermel have them
("Incorporating varying test costs and fault severities into test case prioritization", 2001).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any

from base.text import counted
from difftest.directed.changes import Changes, find_changes
from difftest.directed.coverage import Function, Ran, formula_key, formulas_running
from difftest.directed.names import Feature, Names

_SHOWN = 20
"""Names of a kind, and files, that a summary lists."""
_BESIDE = 0.5
"""Seconds that a test takes beside those of its formula in the map."""
KINDS = {"operator": "operators", "theory": "theories", "option": "options", "tactic": "tactics"}


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed between two folders of sources of one solver, what the changes name, and, for each formula
    of a coverage map (by its key), the changed functions that it runs.
    """

    changes: Changes
    names: Names
    named: tuple[frozenset[Feature], ...]
    running: Mapping[str, Ran] | None = None

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


class Direction:
    """The order of known ``formulas`` (texts with options) by a difference of sources. ``order`` has their
    numbers; the first ``touched`` run a changed function, or use what the changes name.
    """

    def __init__(self, difference: Difference, formulas: Iterable[tuple[str, Sequence[str]]]) -> None:
        self._difference = difference
        self._running = difference.running or {}
        runs = Counter(function for ran in self._running.values() for function in ran.functions)
        self._functions = {
            function: math.log((len(self._running) + 1) / count) for function, count in runs.items()
        }
        used = []
        ran_by = []
        self._measured = 0
        for text, options in formulas:
            used.append(difference.names.of_formula(text, options))
            ran = self._running.get(formula_key(text, options)) if self._running else None
            self._measured += ran is not None
            ran_by.append(ran or _NOT_RUN)
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
        first = additional_order(ran_by, self._functions)
        rest = set(range(len(used))).difference(first)
        self.order = (*first, *sorted(rest, key=lambda number: (-by_names[number], number)))
        self.touched = len(first) + sum(by_names[number] > 0 for number in rest)
        self._run_first = len(first)

    def _sum(self, features: Iterable[Feature]) -> float:
        # In a fixed order: sums of floats depend on it, and sets are in another order in every process.
        return sum(self._weights.get(feature, 0.0) for feature in sorted(features))

    def score(self, text: str) -> float:
        """The score of any formula; 0 if it runs no changed function, and nothing that it uses is named."""
        ran = self._running.get(formula_key(text), _NOT_RUN) if self._running else _NOT_RUN
        runs = math.fsum(self._functions[function] for function in ran.functions)
        return runs + self._sum(self._difference.names.of_formula(text))

    @property
    def options(self) -> frozenset[str]:
        """The options that the changes name."""
        return frozenset(name for kind, name in self._shares if kind == "option")

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
            f"{counted(found['functions'], 'function')} changed in {counted(found['files'], 'file')}"
            f" ({files}){runs}; they name"
            f" {', '.join(named) or 'nothing that formulas use'}; {found['formulas_first']} of"
            f" {found['formulas']} known formulas come first"
        )


_NOT_RUN = Ran(frozenset(), 0.0)


def additional_order(runs: Sequence[Ran], weights: Mapping[Function, float]) -> list[int]:
    """The numbers of those of ``runs`` that run any function, in the order that this module describes; of
    equal ones the first comes first.

    What a formula adds only becomes less, so that of a heap only the best are computed again (Minoux,
    "Accelerated greedy algorithms for maximizing submodular set functions", 1978).
    """

    def added(number: int) -> float:
        """What a formula adds for each second, whatever the order of its functions."""
        new = math.fsum(weights[f] for f in runs[number].functions if f not in covered)
        return new / (_BESIDE + runs[number].seconds)

    order: list[int] = []
    covered: set[Function] = set()
    waiting = [number for number, ran in enumerate(runs) if ran.functions]
    while waiting:
        covered.clear()
        heap = [(-added(number), number) for number in waiting]
        heapify(heap)
        waiting = []
        while heap:
            number = heappop(heap)[1]
            entry = (-added(number), number)
            if not entry[0]:
                waiting.append(number)
            elif heap and entry > heap[0]:
                heappush(heap, entry)
            else:
                order.append(number)
                covered |= runs[number].functions
    return order


def _list(names: Sequence[str], count: int) -> str:
    """The first four names, and whether there are more."""
    return ", ".join([*names[:4], *(["..."] if count > 4 else [])]) or "none"
