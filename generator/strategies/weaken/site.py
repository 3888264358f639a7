"""Where a rule is applied: what surrounds the position, and the means to make terms there."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from generator.strategies.weaken.parity import steps
from generator.strategies.weaken.patterns import Builder
from generator.strategies.weaken.randomterms import RandomTerms
from smtlib import Declaration, Kind, Term, TermTable, postorder


@dataclass(slots=True)
class Site:
    """A position's surroundings. ``scope`` are the variables bound around it.

    ``functions`` are those of the script that take arguments; ``effect`` is what the change may do there.
    """

    builder: Builder
    terms: RandomTerms
    functions: tuple[Declaration, ...]
    chance: random.Random
    scope: frozenset[Term]
    effect: int = 0

    @property
    def table(self) -> TermTable:
        """Where terms are made."""
        return self.builder.table

    def operator(self, name: str, *args: Term) -> Term:
        """A theory's function applied. Raises :class:`SortError`."""
        return self.builder.applications.operator(name, (), None, args)

    def binder(self, name: str, variables: tuple[Term, ...], body: Term) -> Term:
        """``(forall (variables) body)`` or ``exists``; the body alone where there are no variables."""
        if not variables:
            return body
        return self.table.make(self.table.op(Kind.BINDER, name), (body,), body.sort, variables)


def open_terms(root: Term) -> Iterator[Term]:
    """Every term below ``root`` that stands where something may be changed, arguments before users."""
    return postorder([root], below=lambda term: [term.args[i] for i, _ in steps(term)])


def replaced(table: TermTable, root: Term, old: Term, new: Term) -> Term:
    """``root`` with ``new`` for ``old`` wherever something may be changed."""
    made: dict[Term, Term] = {}
    for term in open_terms(root):
        if term is old:
            made[term] = new
            continue
        args = list(term.args)
        for i, _ in steps(term):
            args[i] = made[args[i]]
        made[term] = table.rebuild(term, tuple(args))
    return made[root]
