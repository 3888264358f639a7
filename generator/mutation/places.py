"""Places in a formula: one occurrence of a term, the variables in scope there, and what replaces it.

Terms are shared, so a term may stand in many places. A place is found by going up from the term
to the assertion by random edges; replacing rebuilds what lies on that way and nothing else.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from smtlib import Kind, Term, TermTable, postorder

Edge = tuple[Term, int]
"""A term and the number of one of its arguments."""

CONSTANT_ARGUMENTS = {"const": (0,), "re.range": (0, 1), "^": (1,)}
"""Arguments for which cvc5 wants a value: what stands there is left as it is, or is a literal."""


@dataclass(frozen=True, slots=True)
class Place:
    """An occurrence of ``term``: the edges above it, innermost first, and the variables bound around it,
    by name."""

    term: Term
    edges: tuple[Edge, ...]
    scope: dict[str, Term]

    def replace(self, table: TermTable, new: Term) -> Term:
        """The assertion with ``new``, of the same sort, in this place."""
        for parent, position in self.edges:
            args = parent.args
            new = table.rebuild(parent, (*args[:position], new, *args[position + 1 :]))
        return new


class Places:
    """The places of one assertion whose term can be replaced by another."""

    __slots__ = ("_parents", "terms")

    def __init__(self, root: Term) -> None:
        self._parents: dict[Term, list[Edge]] = {}
        reached: list[Term] = []
        parents = self._parents
        for term in reversed(list(postorder([root]))):
            # Users come before their arguments here, so a term only in patterns has no edge yet.
            if term is not root and term not in parents:
                continue
            if term.op.kind is not Kind.ANNOTATION:
                reached.append(term)
            for position in self._open_arguments(term):
                parents.setdefault(term.args[position], []).append((term, position))
        self.terms: Sequence[Term] = [t for t in reached if not t.sort.is_function]

    @staticmethod
    def _open_arguments(term: Term) -> Sequence[int]:
        """The arguments that may be replaced: no patterns, nothing that solvers want a value for."""
        kind = term.op.kind
        if kind is Kind.ANNOTATION:
            return (0,)
        if kind is Kind.OPERATOR and term.op.name in CONSTANT_ARGUMENTS:
            kept = CONSTANT_ARGUMENTS[term.op.name]
            return [i for i in range(len(term.args)) if i not in kept]
        return range(len(term.args))

    def at(self, term: Term, chance: random.Random) -> Place:
        """An occurrence of ``term``, one of :attr:`terms`."""
        edges: list[Edge] = []
        current = term
        while above := self._parents.get(current):
            edge = above[int(chance.random() * len(above))] if len(above) > 1 else above[0]
            edges.append(edge)
            current = edge[0]
        scope: dict[str, Term] = {}
        for parent, position in reversed(edges):
            if parent.variables:
                scope.update((v.op.name, v) for v in parent.variables)
            elif parent.patterns and position:
                scope.update((v.op.name, v) for v in parent.patterns[position - 1][1])
        return Place(term, tuple(edges), scope)
