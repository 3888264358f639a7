"""The terms of a seed, by sort: arguments for new terms, each with the variables that it needs bound.

Source: Park, Winterer, Zhang, Su, "Generative Type-Aware Mutation for Testing SMT Solvers" (OOPSLA 2021),
Definition 2: a term may replace another where its free variables are bound. Besides, none of the
variables that it binds itself may be in scope there: one variable bound twice on a way could catch what
``let`` shares.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from generator.refusals import is_value
from generator.seeds.script import SeedScript, once_per_seed
from generator.strategies.mutation.places import Place
from smtlib import Kind, Sort, Term, postorder
from smtlib.terms import free_in

_TRIES = 12

_SMALLER_SHARE = 0.5
"""Share of arguments that are the smaller of two drawn: solvers rarely decide chains of whole formulas
nested in each other."""

_LARGEST = 1_000_000
_NOTHING: frozenset[Term] = frozenset()
_NO_NAMES: frozenset[str] = frozenset()


class Pool:
    """Terms that can be arguments: those of a seed and its constants, in a ``table`` of the pool's own.

    ``operators`` are the names of the theory operators in the seed.
    """

    def __init__(self, script: SeedScript) -> None:
        self.by_sort: dict[Sort, list[Term]] = {}
        self.operators: set[str] = set()
        self._free: dict[Term, frozenset[Term]] = {}
        self._bound: dict[Term, frozenset[str]] = {}
        self._size: dict[Term, int] = {}
        self.literals: dict[Sort, list[Term]] = {}
        self.table = script.table.copy()
        declared = [d for d in script.declarations if not d.params and d.origin in ("declare", "define")]
        constants = [self.table.symbol(d) for d in declared]
        for term in dict.fromkeys((*script.terms, *constants)):
            self._note(term)
            if term.op.kind is Kind.OPERATOR:
                self.operators.add(term.op.name)

    def _note(self, term: Term) -> None:
        self._free[term] = free_in(term, self._free)
        self._bound[term] = _names_bound(term, self._bound.__getitem__)
        self._size[term] = min(_LARGEST, 1 + sum([self._size[a] for a in term.args]))
        if is_value(term) or term.op.name == "fp":
            self.literals.setdefault(term.sort, []).append(term)
        if term.op.kind is not Kind.ANNOTATION and not term.sort.is_function:
            self.by_sort.setdefault(term.sort, []).append(term)


@once_per_seed
def pool_of(script: SeedScript) -> Pool:
    """The pool of a seed's terms. Shared: not to be changed."""
    return Pool(script)


class GrowingPool:
    """A seed's pool, and the terms that a chain of mutations makes. ``size`` stops counting at a million."""

    __slots__ = ("_bound", "_free", "_new", "_size", "base")

    def __init__(self, base: Pool) -> None:
        self.base = base
        self._new: dict[Sort, list[Term]] = {}
        self._free: dict[Term, frozenset[Term]] = {}
        self._bound: dict[Term, frozenset[str]] = {}
        self._size: dict[Term, int] = {}

    def add(self, term: Term) -> None:
        """Take in a new term, whose arguments are in the pool or have no variables."""
        if term in self._free or term in self.base._free:
            return
        self._note(term)
        self.measure(term)
        self._new.setdefault(term.sort, []).append(term)

    def note(self, root: Term) -> None:
        """Take in the variables of a term of an assertion, without making it an argument."""
        for term in postorder([root], below=lambda term: [a for a in term.args if not self._is_noted(a)]):
            if not self._is_noted(term):
                self._note(term)

    def _is_noted(self, term: Term) -> bool:
        return term in self.base._free or term in self._free

    def _note(self, term: Term) -> None:
        self._free[term] = free_in(term, {arg: self.free(arg) for arg in term.args})
        self._bound[term] = _names_bound(term, self.bound)

    def free(self, term: Term) -> frozenset[Term]:
        """The free variables of a term of the pool."""
        found = self.base._free.get(term)
        return self._free.get(term, _NOTHING) if found is None else found

    def bound(self, term: Term) -> frozenset[str]:
        """The names that a term of the pool binds."""
        found = self.base._bound.get(term)
        return self._bound.get(term, _NO_NAMES) if found is None else found

    def measure(self, term: Term) -> None:
        """Take in the size of a new term whose arguments' sizes are known, without making it an argument."""
        self._size[term] = min(_LARGEST, 1 + sum([self.size(a) for a in term.args]))

    def size(self, term: Term) -> int:
        """How many terms a term of the pool is written with, shared ones counted as often as they stand."""
        found = self.base._size.get(term)
        return self._size.get(term, 1) if found is None else found

    def literals(self, sort: Sort) -> Sequence[Term]:
        """The seed's literals of this sort."""
        return self.base.literals.get(sort, ())

    def fits(self, term: Term, place: Place) -> bool:
        """Whether ``term`` is locally compatible with a place."""
        scope = place.scope
        for variable in self.free(term):
            if scope.get(variable.op.name) is not variable:
                return False
        return not scope or self.bound(term).isdisjoint(scope)

    def pick(self, sort: Sort, place: Place, chance: random.Random) -> Term | None:
        """A term of this sort that may stand in the place, another than stands there."""
        # The seed's, and those that came later.
        old, new = self.base.by_sort.get(sort, ()), self._new.get(sort, ())
        count = len(old) + len(new)
        for _ in range(_TRIES if count else 0):
            number = int(chance.random() * count)
            term = old[number] if number < len(old) else new[number - len(old)]
            if term is not place.term and self.fits(term, place):
                return term
        return None

    def pick_argument(self, sort: Sort, place: Place, chance: random.Random) -> Term | None:
        """The same for an argument of what will stand in the place: small terms more often."""
        term = self.pick(sort, place, chance)
        if term is not None and chance.random() < _SMALLER_SHARE:
            other = self.pick(sort, place, chance)
            if other is not None and self.size(other) < self.size(term):
                return other
        return term


def _names_bound(term: Term, below: Callable[[Term], frozenset[str]]) -> frozenset[str]:
    """The names that a term binds, where ``below`` gives those of its arguments."""
    names = frozenset([v.op.name for v in term.bound]) if term.args else _NO_NAMES
    for arg in term.args:
        inside = below(arg)
        if inside and not inside <= names:
            names = names | inside
    return names
