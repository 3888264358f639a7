"""Places in a formula: one occurrence of a term, the variables in scope there, and what replaces it.

Terms are shared, so a term may stand in many places. A place is found by going down from the assertion,
each step to an argument by the number of terms below it, so that every occurrence is as likely as any
other; replacing rebuilds what lies on that way and nothing else. Both cost the depth, not the size.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from generator.refusals import constant_arguments
from smtlib import Kind, Term, TermTable

Edge = tuple[Term, int]
"""A term and the number of one of its arguments."""


@dataclass(frozen=True, slots=True)
class Place:
    """An occurrence of ``term``: the edges above it, outermost first, and the variables bound around it,
    by name."""

    term: Term
    edges: tuple[Edge, ...]
    scope: dict[str, Term]

    def replace(self, table: TermTable, new: Term, made: Callable[[Term], None]) -> Term:
        """The assertion with ``new``, of the same sort, in this place; ``made`` gets each term above it."""
        for parent, position in reversed(self.edges):
            args = parent.args
            new = table.rebuild(parent, (*args[:position], new, *args[position + 1 :]))
            made(new)
        return new


def find_place(root: Term, size: Callable[[Term], int], chance: random.Random) -> Place | None:
    """A random occurrence below ``root``; None where the one drawn must stay as it is.

    ``size`` tells with how many terms a term is written. Patterns, and what solvers want a
    value for, stay.
    """
    edges: list[Edge] = []
    scope: dict[str, Term] = {}
    term = root
    left = int(chance.random() * size(root))
    while left > 0 and term.args:
        left -= 1
        position = 0
        for position, arg in enumerate(term.args):  # noqa: B007 - the last one, where sizes were cut off
            below = size(arg)
            if left < below:
                break
            left -= below
        if not _is_open(term, position):
            return None
        edges.append((term, position))
        scope.update((v.op.name, v) for v in term.bound_at(position))
        term = term.args[position]
    if term.op.kind is Kind.ANNOTATION or term.sort.is_function:
        return None
    return Place(term, tuple(edges), scope)


def _is_open(term: Term, position: int) -> bool:
    """Whether an argument may be replaced."""
    kind = term.op.kind
    if kind is Kind.ANNOTATION:
        return position == 0
    return kind is not Kind.OPERATOR or position not in constant_arguments(term.op.name)
