"""Instances of rewrite rules as terms over open symbols, for strategies that put them into formulas."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Generic, TypeVar

from generator.rewriting.draw import Drawing
from generator.rewriting.rules import Assignment, Parameter, Rule, Unknown, read_rules
from generator.rewriting.script import InstanceText
from smtlib import Sort, Term, check_script, read_script
from smtlib.reader import SExp
from smtlib.semantics import Value
from solvers.lookup import find_solver
from solvers.solver import families_with_rules

INSTANCES = 8
"""Instances of each rule for each width of bit-vectors."""
USUAL_WIDTH = 8
OPEN_SHARE = 0.7
"""Share of instances in which numbers and the elements of lists are open, too."""
_DRAWS = 20
"""Draws of values for an instance; the last is taken even where a premise does not hold."""
_KEPT = 20_000
"""Instances that are kept; corpora have hundreds of widths."""

_Made = TypeVar("_Made")


class OpenText(InstanceText):
    """The terms of a rule with names for what is open: with ``opens`` also the elements of lists, and the
    numbers of rules that are not about widths.
    """

    def __init__(self, rule: Rule, values: Assignment, opens: bool) -> None:
        self._opens = opens and not any(p.name.startswith("@n") for p in rule.parameters)
        self.declared: dict[str, str] = {}
        super().__init__(rule, values)

    def is_inline(self, parameter: Parameter) -> bool:
        if self._opens and parameter.sort == "Int":
            return parameter.is_list
        return super().is_inline(parameter)

    def sides(self, count: int) -> tuple[Term, ...] | None:
        """The first ``count`` sides of the conclusion, in one table; None if they are not well sorted, or a
        part has no SMT-LIB form.
        """
        for parameter in self._rule.parameters:
            if not self.is_inline(parameter):
                self.declared[parameter.name] = self.sort(parameter.sort)
        try:
            texts = [self.term(side) for side in self._rule.conclusion[1 : 1 + count]]
        except Unknown:
            return None
        lines = [f"(declare-const {name} {sort})" for name, sort in self.declared.items()]
        # Compared with itself, a side is an assertion whatever its sort.
        lines += [f"(assert (= {text} {text}))" for text in texts]
        checked = check_script(read_script("\n".join(lines)))
        return None if checked.errors else tuple(root.args[0] for root in checked.assertions)

    def _value(self, term: SExp) -> Value:
        """The value of a term over what is not open."""
        if any(name in self.declared or self._is_open_list(name) for name in names_of(term)):
            raise Unknown(str(term))
        return super()._value(term)

    def _is_open_list(self, name: str) -> bool:
        return self._opens and name in self._rule.lists and self._inline[name] != "RegLan"

    def _elements(self, name: str) -> list[str]:
        if not self._is_open_list(name):
            return super()._elements(name)
        names = [f"{name}!{number}" for number in range(len(self._values[name]))]
        self.declared |= dict.fromkeys(names, self._inline[name])
        return names


class Instances(Generic[_Made]):
    """What ``make`` makes of each rule for a width and a number, always the same; None for nothing."""

    def __init__(self, seed: int, make: Callable[[Rule, int, random.Random], _Made | None]) -> None:
        self._seed = seed
        self._make = make
        self._kept: dict[tuple[str, int, int], _Made | None] = {}

    def get(self, rule: Rule, width: int, number: int) -> _Made | None:
        """The instance with this number."""
        key = (rule.name, width, number)
        if key not in self._kept:
            if len(self._kept) >= _KEPT:
                self._kept.clear()
            chance = random.Random(f"{self._seed}/{rule.name}/{width}/{number}")
            self._kept[key] = self._make(rule, width, chance)
        return self._kept[key]


def names_of(term: SExp) -> Iterator[str]:
    """The names on whose values a term depends, not only on their widths."""
    if isinstance(term, str):
        yield term
    elif term[:1] != ["@bvsize"]:
        for part in term:
            yield from names_of(part)


def draw_values(rule: Rule, width: int, chance: random.Random) -> tuple[Assignment | None, bool]:
    """Values for which the premises hold, else values for which they nearly hold; and whether they hold."""
    values, most = None, -1
    for _ in range(_DRAWS):
        try:
            drawn = Drawing(chance, width).draw(rule)
            met = -1 if drawn is None else rule.judge(drawn).met
        except Unknown:
            return None, False
        if met > most:
            values, most = drawn, met
        if most > len(rule.premises):
            return values, True
    return values, False


def width_of(sort: Sort) -> int:
    """The width of a bit-vector sort, 0 for others."""
    return sort.indices[0] if sort.name == "BitVec" else 0


def width_of_some(sorts: frozenset[Sort], chance: random.Random) -> int:
    """One of the widths of these sorts, a usual one if they have none."""
    widths = sorted(filter(None, map(width_of, sorts)))
    return widths[int(chance.random() * len(widths))] if widths else USUAL_WIDTH


@lru_cache(maxsize=1)
def printed_rules() -> tuple[Rule, ...]:
    """The rules of the first solver that prints any."""
    family = families_with_rules()[0]
    return tuple(read_rules(find_solver(family).printed_rules()))
