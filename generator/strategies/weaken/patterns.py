"""Patterns: how a rule's two sides are matched against terms and built from what was matched.

A pattern is a term with variables. A *run* variable stands for any number of neighbouring arguments, as in
``(and xs x ys)``. A rule may have sort parameters and index variables (the ``n`` of ``(_ BitVec n)``);
what they stand for is in :attr:`Match.sorts`.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from generator.seeds.script import UNBINDABLE
from smtlib import INT, STRING, Kind, Sort, SortError, Term
from smtlib.application import Applications
from smtlib.reader import SExp
from smtlib.signature import Bindings, SortPattern, evaluate_index, match_index
from smtlib.values import bits_term, literal_value

_MANY_SPLITS = 64


@dataclass(frozen=True, slots=True)
class Variable:
    """Stands for a term of a sort; for a literal where ``constant``."""

    name: str
    sort: SortPattern
    constant: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """Stands for any number of neighbouring arguments of a sort."""

    name: str
    sort: SortPattern


@dataclass(frozen=True, slots=True)
class Number:
    """A numeral, or a string literal."""

    text: str
    value: Fraction | str


@dataclass(frozen=True, slots=True)
class Bits:
    """A bit-vector literal: index expressions of its value (taken modulo) and its width."""

    value: SExp
    width: SExp


@dataclass(frozen=True, slots=True)
class Bound:
    """A variable that a :class:`Binding` of the same pattern binds."""

    name: str


@dataclass(frozen=True, slots=True)
class Binding:
    """A quantifier; it can be built, with new names, but not matched."""

    binder: str
    variables: tuple[tuple[str, SortPattern], ...]
    body: Pattern


@dataclass(frozen=True, slots=True)
class Application:
    """A theory's function applied; ``indices`` are numerals, index variables or index expressions."""

    name: str
    indices: tuple[SExp, ...]
    qualifier: SortPattern | None
    args: tuple[Pattern, ...]
    has_runs: bool


Pattern: TypeAlias = Variable | Run | Number | Bits | Bound | Binding | Application


class NoTerm(Exception):
    """There is no term to put in a free variable's place, or no fitting literal."""


_UNCOMPARABLE = UNBINDABLE | {"Unicode"}

Domains: TypeAlias = Mapping[str, frozenset[str]]
"""What a sort parameter may stand for, by the names of sorts; none given: any ordinary sort."""


def is_ordinary(sort: Sort) -> bool:
    """Whether terms of ``sort`` can be compared, quantified and chosen between by both solvers."""
    return sort.name not in _UNCOMPARABLE and all(map(is_ordinary, sort.args))


@dataclass(slots=True)
class Match:
    """What a pattern's variables stand for.

    Where runs can be cut in several ways, ``chance`` picks one, else the first that fits is taken.
    """

    terms: dict[str, Term] = field(default_factory=dict)
    runs: dict[str, tuple[Term, ...]] = field(default_factory=dict)
    sorts: Bindings = field(default_factory=dict)
    domains: Domains = field(default_factory=dict)
    chance: random.Random | None = None

    def copy(self) -> Match:
        """One that can be changed on its own."""
        return Match(dict(self.terms), dict(self.runs), dict(self.sorts), self.domains, self.chance)

    def fits(self, pattern: SortPattern, sort: Sort) -> bool:
        """Whether ``sort`` is an instance of ``pattern``; binds its parameters."""
        if pattern.is_parameter:
            allowed = self.domains.get(pattern.name)
            if not (is_ordinary(sort) if allowed is None else sort.name in allowed):
                return False
        return pattern.match(sort, self.sorts)


def match(pattern: Pattern, term: Term, into: Match) -> bool:
    """Whether ``term`` is an instance of ``pattern``; binds its variables in ``into``.

    After a failure what ``into`` holds remains.
    """
    if isinstance(pattern, Variable):
        return _match_variable(pattern, term, into)
    if isinstance(pattern, Application):
        return _match_application(pattern, term, into)
    if term.op.kind is not Kind.LITERAL:
        return False
    if isinstance(pattern, Number):
        return literal_value(term) == pattern.value and term.sort.name in ("Int", "Real", "String")
    if isinstance(pattern, Bits) and term.sort.name == "BitVec":
        width = term.sort.indices[0]
        if not match_index(pattern.width, width, into.sorts):
            return False
        return literal_value(term) == evaluate_index(pattern.value, into.sorts) % (1 << width)
    return False


def _match_variable(pattern: Variable, term: Term, into: Match) -> bool:
    known = into.terms.get(pattern.name)
    if known is not None:
        return known is term
    if not into.fits(pattern.sort, term.sort) or (pattern.constant and literal_value(term) is None):
        return False
    into.terms[pattern.name] = term
    return True


def _match_application(pattern: Application, term: Term, into: Match) -> bool:
    op = term.op
    if op.name != pattern.name or op.kind is not Kind.OPERATOR or len(op.indices) != len(pattern.indices):
        return False
    for expected, index in zip(pattern.indices, op.indices, strict=True):
        if not match_index(expected, index, into.sorts):
            return False
    if pattern.qualifier is not None and not into.fits(pattern.qualifier, term.sort):
        return False
    if not pattern.has_runs:
        return len(term.args) == len(pattern.args) and _match_split(pattern, term, (), into)
    runs = sum(isinstance(p, Run) for p in pattern.args)
    free = len(term.args) - (len(pattern.args) - runs)
    if free < 0:
        return False
    cuts = _splits(free, runs) if into.chance is None else _drawn_splits(free, runs, into.chance)
    for lengths in cuts:
        trial = into.copy()
        if _match_split(pattern, term, lengths, trial):
            into.terms, into.runs, into.sorts = trial.terms, trial.runs, trial.sorts
            return True
    return False


def _match_split(pattern: Application, term: Term, lengths: tuple[int, ...], into: Match) -> bool:
    """Whether the arguments fit where the runs have these ``lengths``."""
    position = run = 0
    for expected in pattern.args:
        if not isinstance(expected, Run):
            if not match(expected, term.args[position], into):
                return False
            position += 1
            continue
        taken = term.args[position : position + lengths[run]]
        if into.runs.setdefault(expected.name, taken) != taken:
            return False
        if not all(into.fits(expected.sort, a.sort) for a in taken):
            return False
        position += lengths[run]
        run += 1
    return True


def _splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write ``total`` as a sum of ``parts`` numbers, at most some."""
    if parts == 1:
        yield (total,)
        return
    made = 0
    for first in range(total + 1):
        for rest in _splits(total - first, parts - 1):
            yield (first, *rest)
            made += 1
            if made == _MANY_SPLITS:
                return


def _drawn_splits(total: int, parts: int, chance: random.Random) -> Iterator[tuple[int, ...]]:
    """A few drawn ways, then all in order."""
    if parts > 1:
        for _ in range(4):
            bounds = sorted(chance.randint(0, total) for _ in range(parts - 1))
            edges = [0, *bounds, total]
            yield tuple([b - a for a, b in itertools.pairwise(edges)])
    yield from _splits(total, parts)


# Building


class Builder:
    """Builds terms of patterns. ``fresh`` names a new bound variable."""

    def __init__(self, applications: Applications, fresh: Callable[[Sort], Term]) -> None:
        self.applications = applications
        self.table = applications.table
        self.fresh = fresh

    def build(self, pattern: Pattern, found: Match, bound: Mapping[str, Term] | None = None) -> Term:
        """The instance of ``pattern`` under ``found``, in which all its variables are bound.

        Raises :class:`SortError` where it has no sort, KeyError where something is unbound.
        """
        if isinstance(pattern, Variable):
            return found.terms[pattern.name]
        if isinstance(pattern, Bound):
            return (bound or {})[pattern.name]
        if isinstance(pattern, Number):
            return self.table.literal(pattern.text, STRING if isinstance(pattern.value, str) else INT)
        if isinstance(pattern, Bits):
            width = evaluate_index(pattern.width, found.sorts)
            return bits_term(self.table, evaluate_index(pattern.value, found.sorts), width)
        if isinstance(pattern, Binding):
            return self._binding(pattern, found, bound or {})
        if isinstance(pattern, Run):
            raise SortError(f"{pattern.name} stands where one term is expected")
        args: list[Term] = []
        for arg in pattern.args:
            if isinstance(arg, Run):
                args.extend(found.runs[arg.name])
            else:
                args.append(self.build(arg, found, bound))
        # SMT-LIB wants two formulas in a conjunction or disjunction.
        if len(args) == 1 and pattern.name in self.applications.environment.theories.marked(":identity"):
            return args[0]
        indices = tuple([evaluate_index(i, found.sorts) for i in pattern.indices])
        qualifier = pattern.qualifier.instantiate(found.sorts) if pattern.qualifier else None
        return self.applications.operator(pattern.name, indices, qualifier, tuple(args))

    def _binding(self, pattern: Binding, found: Match, bound: Mapping[str, Term]) -> Term:
        variables = {name: self.fresh(sort.instantiate(found.sorts)) for name, sort in pattern.variables}
        body = self.build(pattern.body, found, {**bound, **variables})
        op = self.table.op(Kind.BINDER, pattern.binder)
        return self.table.make(op, (body,), body.sort, tuple(variables.values()))


def variables_of(pattern: Pattern) -> Iterator[Variable | Run]:
    """The variables and runs of a pattern, in order, repeated ones repeated."""
    if isinstance(pattern, Variable | Run):
        yield pattern
    elif isinstance(pattern, Binding):
        yield from variables_of(pattern.body)
    elif isinstance(pattern, Application):
        for arg in pattern.args:
            yield from variables_of(arg)
