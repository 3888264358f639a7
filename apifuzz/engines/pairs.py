"""What a run has of two solvers in lockstep: pairs of their handles, and what these are for each of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apifuzz.interface import ApiSort, ApiTerm, DatatypeSpec, Field, FieldSort, MadeSort


class Pair:
    """A handle: the two solvers' own, and what wraps them for each side, made when first needed."""

    __slots__ = ("handles", "sides")

    def __init__(self, first: Any, second: Any) -> None:
        self.handles = (first, second)
        self.sides: list[Any] = [None, None]


def sort_on(sort: ApiSort, side: int) -> ApiSort:
    """What a sort of the run is for one of the solvers."""
    if sort.handle is None:
        return sort  # a function's sort that no call made
    pair: Pair = sort.handle
    if pair.sides[side] is None:
        pair.sides[side] = ApiSort(sort.id, sort.sort, pair.handles[side])
    made: ApiSort = pair.sides[side]
    return made


def sorts_on(sorts: Sequence[ApiSort], side: int) -> list[ApiSort]:
    """The same of several."""
    return [sort_on(sort, side) for sort in sorts]


def term_on(term: ApiTerm, side: int) -> ApiTerm:
    """What a term of the run is for one of the solvers."""
    pair: Pair = term.handle
    if pair.sides[side] is None:
        head, args = term.head, tuple(terms_on(term.args, side))
        made = ApiTerm(term.id, sort_on(term.sort, side), pair.handles[side], term.kind, head=head, args=args)
        pair.sides[side] = made
        # Free in a variable is itself.
        made.free = frozenset(terms_on(sorted(term.free, key=lambda variable: variable.id), side))
    known: ApiTerm = pair.sides[side]
    return known


def terms_on(terms: Sequence[ApiTerm], side: int) -> list[ApiTerm]:
    """The same of several."""
    return [term_on(term, side) for term in terms]


def datatype_on(spec: DatatypeSpec, side: int) -> DatatypeSpec:
    """What a datatype with sorts of the run is for one of the solvers."""
    constructors = tuple(
        (
            name,
            tuple(Field(f.name, _field_sort_on(f.sort, side)) for f in fields),
        )
        for name, fields in spec.constructors
    )
    return DatatypeSpec(spec.name, constructors, spec.parameters)


def _field_sort_on(sort: FieldSort, side: int) -> FieldSort:
    if isinstance(sort, MadeSort):
        return MadeSort(sort.name, tuple([_field_sort_on(arg, side) for arg in sort.args]))
    return sort if isinstance(sort, str) else sort_on(sort, side)
