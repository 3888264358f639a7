"""Guesses the ranks of functions by trying them on constants of many sorts."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from solvers.discovery.scripts import Listing

SORTS = (
    "Bool",
    "Int",
    "Real",
    "(_ BitVec 8)",
    "(_ BitVec 1)",
    "String",
    "RegLan",
    "Unicode",
    "(Array Int Int)",
    "(Array Int Bool)",
    "(Seq Int)",
    "(Set Int)",
    "(FiniteSet Int)",
    "(Bag Int)",
    "(Set (Tuple Int Int))",
    "(Bag (Tuple Int Int))",
    "(Tuple Int Int)",
    "(Nullable Int)",
    "(List Int)",
    "(_ FloatingPoint 8 24)",
    "RoundingMode",
    "(_ FiniteField 17)",
    "(-> Int Int)",
    "(-> Int Bool)",
)
"""The sorts that are tried. A solver without one of them refuses the constant, and all terms with it."""

DECLARATIONS = tuple(f"(declare-const |a {sort}| {sort})" for sort in SORTS)

# Indices and numbers of arguments, in the order in which they are tried until the solver accepts some.
_SHAPES = (((), (0, 1, 2)), ((1,), (0, 1, 2)), ((2, 1), (1,)), ((8, 24), (1, 2)), ((), (3,)))


@dataclass(frozen=True, slots=True)
class Application:
    """A function applied to constants of :data:`SORTS`; ``sorts`` are theirs, ``head`` the function."""

    head: str
    sorts: tuple[str, ...]

    @property
    def term(self) -> str:
        """The term as text."""
        return f"({self.head} {' '.join(f'|a {sort}|' for sort in self.sorts)})" if self.sorts else self.head

    def rank(self, result: str) -> str:
        """The rank as a line of a theory file would give it."""
        return f"({' '.join((self.head, *self.sorts, result))})"


def applications(head: str, counts: Iterable[int], sorts: Sequence[str] = SORTS) -> Iterator[Application]:
    """``head`` applied to each choice of arguments of at most two sorts, by their number."""
    for count in counts:
        for chosen in itertools.product(sorts, repeat=count):
            if len(set(chosen)) <= 2:
                yield Application(head, chosen)


def ranks_of(listing: Listing, names: Iterable[str]) -> dict[str, list[tuple[Application, str]]]:
    """For each function, applications that the solver accepts, with their sorts."""
    declared = listing.sorts_of(DECLARATIONS, [f"|a {sort}|" for sort in SORTS])
    sorts = [sort for sort, accepted in zip(SORTS, declared, strict=True) if accepted]
    found: dict[str, list[tuple[Application, str]]] = defaultdict(list)
    left = list(names)
    for indices, counts in _SHAPES:
        heads = {f"(_ {name} {' '.join(map(str, indices))})" if indices else name: name for name in left}
        tried = [one for head in heads for one in applications(head, counts, sorts)]
        accepted = listing.sorts_of(DECLARATIONS, [one.term for one in tried])
        for one, sort in zip(tried, accepted, strict=True):
            if sort:
                found[heads[one.head]].append((one, sort))
        left = [name for name in left if name not in found]
    return dict(found)
