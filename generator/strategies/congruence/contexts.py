"""Terms with holes: operators drawn from the sort of a place down to the sort of a value."""

from __future__ import annotations

import random
from collections.abc import Callable

from generator.refusals import constant_arguments
from generator.strategies.mutation.chain import Chain
from generator.strategies.mutation.literals import new_literal, one_of
from generator.strategies.mutation.operators import EXPONENTS, Shape, apply_shape
from generator.strategies.mutation.places import Place
from smtlib import BOOL, INT, Declaration, Sort, Term
from smtlib.sorts import REGLAN, array, make_sort, subsorts

_STOP_SHARE = 0.5
"""Share of holes put where one fits, although a larger term could be made."""
_SECOND_SHARE = 0.3
"""Share of the other arguments of a hole's sort that are the second hole."""
_LITERAL_SHARE = 0.3
_FUNCTION_SHARE = 0.1
"""Share of steps that are a new function of the script."""
_LARGEST = 30
"""Terms of the formula that are written with more terms are not put beside a hole."""
_DRAWS = 12

_LEFT_OUT = frozenset(("array-ext", "default"))
"""Functions of z3 for its own use, which need not have the same value for equal arguments."""

CONTAINERS = ("Seq", "Set", "Bag")
"""Sorts of one argument that values of any sort may be in."""


def universe(place: Sort, hole: Sort, accepts: Callable[[Sort], bool]) -> frozenset[Sort]:
    """The sorts that terms on the way from a place to a hole may have; ``accepts``: which of them the solvers
    take.
    """
    sorts = {BOOL, INT, *subsorts(hole), array(INT, hole), array(hole, BOOL)}
    sorts |= {make_sort(name, (), (hole,)) for name in CONTAINERS}
    return frozenset(sort for sort in sorts if accepts(sort)) | {place, hole}


class Contexts:
    """Draws terms of any sort of ``sorts`` with the terms ``holes``, both of one sort, in them."""

    def __init__(
        self,
        chain: Chain,
        sorts: frozenset[Sort],
        holes: tuple[Term, Term],
        new: Callable[[tuple[Sort, ...], Sort], Declaration],
    ) -> None:
        """``new`` declares a function of a rank."""
        self._chain = chain
        self._sorts = sorts
        self._holes = holes
        self._hole = holes[0].sort
        self._new = new
        self._away: dict[Sort, int] = {self._hole: 0}
        self._ways = {sort: self._shapes(sort) for sort in sorted(sorts, key=str)}
        self._measure()

    def _shapes(self, sort: Sort) -> list[list[Shape]]:
        chain = self._chain
        theories = chain.operators.shapes(sort, self._sorts, chain.guarded)
        kept = [group for group in theories if group[0].name not in _LEFT_OUT]
        return kept + chain.functions.shapes(sort, self._sorts)

    def _measure(self) -> None:
        """How many operators it takes at least from each sort to the hole's."""
        steps = 0
        while True:
            near = {sort for sort, away in self._away.items() if away <= steps}
            found = {
                sort
                for sort, groups in self._ways.items()
                if sort not in self._away
                and any(near.intersection(shape.sorts) for group in groups for shape in group)
            }
            if not found:
                return
            steps += 1
            self._away.update(dict.fromkeys(sorted(found, key=str), steps))

    def grow(self, sort: Sort, depth: int, chance: random.Random) -> Term | None:
        """A term of this sort with a hole, at most ``depth`` operators below; None if the draws find none."""
        if sort is self._hole and (depth == 0 or chance.random() < _STOP_SHARE):
            return self._holes[0]
        if depth == 0:
            return None
        if chance.random() < _FUNCTION_SHARE and self._hole is not REGLAN and sort is not REGLAN:
            return self._chain.table.symbol(self._new((self._hole,), sort), (self._holes[0],))
        groups = self._ways.get(sort) or ()
        for _ in range(_DRAWS if groups else 0):
            shape = one_of(one_of(groups, chance), chance)
            positions = [
                number
                for number, part in enumerate(shape.sorts)
                if self._away.get(part, depth) < depth and not self._is_constant(shape, number)
            ]
            if positions and (made := self._apply(shape, one_of(positions, chance), sort, depth, chance)):
                return made
        return None

    def _apply(
        self, shape: Shape, position: int, sort: Sort, depth: int, chance: random.Random
    ) -> Term | None:
        args: list[Term] = []
        for number, part in enumerate(shape.sorts):
            if number == position:
                arg = self.grow(part, depth - 1, chance)
            elif shape.name == "^" and number == 1:
                arg = self._chain.table.literal(one_of(EXPONENTS, chance), part)
            else:
                arg = self._beside(part, self._is_constant(shape, number), chance)
            if arg is None:
                return None
            args.append(arg)
        return apply_shape(self._chain.table, shape, tuple(args), sort, chance)

    @staticmethod
    def _is_constant(shape: Shape, position: int) -> bool:
        return shape.signature is not None and position in constant_arguments(shape.name)

    def _beside(self, sort: Sort, is_constant: bool, chance: random.Random) -> Term | None:
        """What stands beside a hole: the other hole, a literal, a term of the formula or a new constant."""
        chain = self._chain
        if sort is self._hole and not is_constant and chance.random() < _SECOND_SHARE:
            return self._holes[1]
        has_literals = chain.has_literals(sort)
        if is_constant or (has_literals and (sort is REGLAN or chance.random() < _LITERAL_SHARE)):
            return new_literal(chain.table, sort, chain.pool.literals(sort), chance) if has_literals else None
        anywhere = Place(self._holes[0], (), {})
        term = chain.pool.pick_argument(sort, anywhere, chance)
        if term is not None and chain.pool.size(term) <= _LARGEST and chance.random() < 0.7:
            return term
        return None if sort is REGLAN else chain.table.symbol(self._new((), sort))
