"""Terms that a rule may choose freely (4.2 of the source): one of the formula's own, else a literal.

Of the formula's own terms only small ones without binders count, so that mutants do not explode and no
variable is bound twice on one path; their variables must be in scope where the term will stand.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from generator.seeds.source import SeedScript
from generator.strategies.weaken.patterns import NoTerm, is_ordinary
from smtlib import BOOL, STRING, Kind, Sort, SortError, Term, TermTable, postorder
from smtlib.application import Applications
from smtlib.sorts import REGLAN, bit_vector
from smtlib.terms import free_in
from smtlib.values import MODES, SPECIAL_FLOATS, bits_term, literal_value, number_term

MOST_NODES = 12
"""Larger terms of the formula are not chosen."""

_LITERAL_SHARE = 0.1
_DEPTH = 4
_NUMBERS = (0, 1, 2, 3, 5, 7, 10, -1, -2, -5, 255)
_STRINGS = (
    '""',
    '"a"',
    '"b"',
    '"0"',
    '"9"',
    '"ab"',
    '"A"',
    '"z"',
    '"aa"',
    '"10"',
    '"-1"',
    '"\\u{0}"',
    '"\\u{ff}"',
)
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

    def __init__(
        self, script: SeedScript, table: TermTable, applications: Applications, facts: TermFacts
    ) -> None:
        self.table = table
        self.applications = applications
        self.facts = facts
        self._own: dict[Sort, list[Term]] = {}
        for declaration in script.declarations:
            if not declaration.params and declaration.origin == "declare":
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
        lists = [found for pool in self._pools if (found := pool.get(sort))]
        total = sum(map(len, lists))
        if total and chance.random() >= _LITERAL_SHARE:
            for _ in range(6):
                place = int(chance.random() * total)
                for found in lists:
                    if place < len(found):
                        term = found[place]
                        if self.facts.of(term).free <= scope:
                            return term
                        break
                    place -= len(found)
        try:
            return self.literal(sort, chance)
        except NoTerm:
            allowed = [t for found in lists for t in found if self.facts.of(t).free <= scope]
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

    def literal(self, sort: Sort, chance: random.Random, depth: int = 0) -> Term:
        """A value of ``sort``. Raises :class:`NoTerm` where there is no way to write one.

        None of an array: cvc5 takes constant arrays with an option only.
        """
        name = sort.name
        if name in ("Int", "Real"):
            return number_term(self.table, Fraction(chance.choice(_NUMBERS)), sort)
        if name == "String":
            return self.table.literal(chance.choice(_STRINGS), sort)
        if name == "BitVec":
            width = sort.indices[0]
            some = (0, 1, -1, 1 << (width - 1), (1 << (width - 1)) - 1, chance.getrandbits(min(width, 64)))
            return bits_term(self.table, chance.choice(some), width)
        if sort is BOOL:
            return self._operator(chance.choice(("true", "false")))
        if sort is REGLAN:
            return self._regular_expression(chance)
        if name == "RoundingMode":
            return self._operator(chance.choice(MODES))
        if name == "FloatingPoint":
            return self._float(sort, chance)
        if name == "Seq" and depth < _DEPTH:
            return self._sequence(sort, chance, depth)
        own = [t for t in self._own.get(sort, ()) if _is_constructor(t)]
        if own:
            return chance.choice(own)
        raise NoTerm

    def _operator(
        self, name: str, *args: Term, indices: tuple[int, ...] = (), qualifier: Sort | None = None
    ) -> Term:
        try:
            return self.applications.operator(name, indices, qualifier, args)
        except SortError as error:
            raise NoTerm from error

    def _regular_expression(self, chance: random.Random) -> Term:
        if chance.random() < 0.3:
            return self._operator(chance.choice(("re.allchar", "re.all", "re.none")))
        return self._operator("str.to_re", self.table.literal(chance.choice(_STRINGS), STRING))

    def _float(self, sort: Sort, chance: random.Random) -> Term:
        exponent, significand = sort.indices
        if chance.random() < 0.5:
            return self._operator(chance.choice(SPECIAL_FLOATS), indices=(exponent, significand))
        parts = [self.literal(bit_vector(width), chance) for width in (1, exponent, significand - 1)]
        return self._operator("fp", *parts)

    def _sequence(self, sort: Sort, chance: random.Random, depth: int) -> Term:
        if chance.random() < 0.5:
            return self._operator("seq.empty", qualifier=sort)
        return self._operator("seq.unit", self.literal(sort.args[0], chance, depth + 1))


def _is_constructor(term: Term) -> bool:
    return term.op.declaration is not None and term.op.declaration.origin == "constructor"


__all__ = ["MOST_NODES", "Facts", "RandomTerms", "TermFacts"]
