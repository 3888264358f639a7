"""Terms that a rule may choose freely (4.2 of the source): one of the formula's own, else a literal.

Of the formula's own terms only small ones without binders count, so that mutants do not explode and no
variable is bound twice on one path; their variables must be in scope where the term will stand.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from generator.seeds.script import SeedScript
from generator.strategies.mutation.literals import has_literals, new_literal
from generator.strategies.weaken.patterns import NoTerm, is_ordinary
from smtlib import Kind, Sort, Term, TermTable, postorder
from smtlib.terms import free_in
from smtlib.values import literal_value

MOST_NODES = 12
"""Larger terms of the formula are not chosen."""

_LITERAL_SHARE = 0.1
_PLAIN = (Kind.LITERAL, Kind.VARIABLE, Kind.SYMBOL, Kind.OPERATOR)


@dataclass(frozen=True, slots=True)
class Facts:
    """Of a term: number of nodes (as a tree, capped), free variables, whether it may be put anywhere."""

    nodes: int
    free: frozenset[Term]
    is_plain: bool


class TermFacts:
    """Facts of terms, kept as long as the terms."""

    def __init__(self) -> None:
        self._known: dict[Term, Facts] = {}
        self._free: dict[Term, frozenset[Term]] = {}
        self._done: set[Term] = set()

    def of(self, root: Term) -> Facts:
        """The facts of ``root``; those of its subterms are found on the way."""
        known = self._known
        for term in postorder([root], self._done):
            below = [known[a] for a in term.args]
            nodes = min(1_000_000, 1 + sum([facts.nodes for facts in below]))
            plain = term.op.kind in _PLAIN and all(facts.is_plain for facts in below)
            free = self._free[term] = free_in(term, self._free)
            known[term] = Facts(nodes, free, plain)
        return known[root]


class RandomTerms:
    """Chooses terms for one seed. ``use`` says which terms the formula has now."""

    def __init__(self, script: SeedScript, table: TermTable) -> None:
        self.table = table
        self.facts = TermFacts()
        self._own: dict[Sort, list[Term]] = {}
        for declaration in script.declared:
            if not declaration.params:
                self._own.setdefault(declaration.result, []).append(table.symbol(declaration))
        for datatype in script.datatypes.values():
            for constructor in datatype.constructors:
                made = constructor.declaration
                if not made.params and not datatype.params:
                    self._own.setdefault(made.result, []).append(table.symbol(made))
        self._pools: list[Mapping[Sort, list[Term]]] = []

    def use(self, pools: Iterable[Mapping[Sort, list[Term]]]) -> None:
        """Terms of the formula by sort, one mapping for each assertion."""
        self._pools = [self._own, *pools]

    def pool(self, terms: Iterable[Term]) -> dict[Sort, list[Term]]:
        """Those of ``terms`` that may be chosen, by sort."""
        found: dict[Sort, list[Term]] = {}
        for term in terms:
            facts = self.facts.of(term)
            if facts.is_plain and facts.nodes <= MOST_NODES:
                found.setdefault(term.sort, []).append(term)
        return found

    def sorts(self) -> list[Sort]:
        """The sorts that terms of the formula have, in order."""
        return list(dict.fromkeys(s for pool in self._pools for s in pool if is_ordinary(s)))

    def term(self, sort: Sort, scope: frozenset[Term], chance: random.Random) -> Term:
        """A term of ``sort`` whose variables are in ``scope``. Raises :class:`NoTerm`."""
        known = [t for pool in self._pools for t in pool.get(sort, ())]
        if known and chance.random() >= _LITERAL_SHARE:
            for _ in range(6):
                term = known[int(chance.random() * len(known))]
                if self.facts.of(term).free <= scope:
                    return term
        try:
            return self.literal(sort, chance)
        except NoTerm:
            allowed = [t for t in known if self.facts.of(t).free <= scope]
            if not allowed:
                raise
            return chance.choice(allowed)

    def constant(self, sort: Sort, chance: random.Random) -> Term:
        """A literal of ``sort`` whose value is known, of the formula or not. Raises :class:`NoTerm`."""
        if chance.random() < 0.5:
            lists = [found for pool in self._pools if (found := pool.get(sort))]
            if lists:
                term = chance.choice(chance.choice(lists))
                if literal_value(term) is not None:
                    return term
        return self.literal(sort, chance)

    def literal(self, sort: Sort, chance: random.Random) -> Term:
        """A value of ``sort``. Raises :class:`NoTerm` where there is no way to write one."""
        if has_literals(sort, has_constant_arrays=False):
            made = new_literal(self.table, sort, (), chance)
            if made is not None:
                return made
        own = [t for t in self._own.get(sort, ()) if _is_constructor(t)]
        if own:
            return chance.choice(own)
        raise NoTerm


def _is_constructor(term: Term) -> bool:
    return term.op.declaration is not None and term.op.declaration.origin == "constructor"
