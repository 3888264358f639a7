"""The strategy ``congruence``: one value in two forms at the same place of a term.

Let C be a term of a seed formula with a hole in it, and a and b two terms for the same value, such as
``(store (store k 0 1) 2 3)`` and ``(store (store k 2 3) 0 1)``. Functions give equal results for equal
arguments, so that C[a] and C[b] differ is unsatisfiable, and that they are equal is valid, whatever the
functions in C mean: the answer is known without a second solver or a label. A solver that says otherwise
takes two forms of a value for different values.

Between the term of the seed formula and the value stand more operators, so that values of nested sorts get
anywhere. A share of the tests compares two values that are different. Equality is asserted of the terms, of
constants that equal the values, below a quantifier, or by Horn clauses.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from generator.declaring import StrategyEntry, StrategyInputs
from generator.refusals import refused_seed, refused_sort
from generator.scopes import free_prefix, names_of
from generator.seeds.script import SeedScript
from generator.seeds.source import Seed
from generator.seeds.strategy import Mutant, SeedStrategy
from generator.settings import Setting
from generator.strategies.congruence.contexts import CONTAINERS, Contexts, universe
from generator.strategies.congruence.questions import Comparison, ComparisonScript
from generator.strategies.congruence.values import Pen, Values, is_plain
from generator.strategies.mutation.chain import Chain
from generator.strategies.mutation.literals import one_of
from generator.strategies.mutation.operators import Operators, operators_for
from generator.strategies.mutation.places import Place
from generator.targets import Targets, targets_for
from generator.text import comment
from smtlib import BOOL, Declaration, Sort, Term, postorder, print_term
from smtlib.scanner import QUERY
from smtlib.shapes import COMMANDS
from smtlib.sorts import INT, REGLAN, STRING, array, bit_vector, floating_point, make_sort, subsorts
from smtlib.terms import substitute
from solvers.specs import specs_by_kin

NO_TEST = "attempts without a test"

_ALONE_SHARE = 0.6
"""Share of tests for one of several solvers alone, with what only this one knows."""
_NESTED_SHARE = 0.6
"""Share of values of a sort that is made from one of the seed formula or a simple one."""
_OWN_SHARE = 0.6
"""Share of values over a sort of the seed formula."""
_SEED_SHARE = 0.7
"""Share of contexts that end in a term of the seed formula."""
_MOST_DEPTH = 3
_DRAWS = 30
_FORMS = 8
"""Draws of a second form until it is another than the first."""
_LARGEST = 200
"""Assertions that are written with more terms are no contexts."""

_SIMPLE = (BOOL, INT, STRING, bit_vector(2), bit_vector(8), floating_point(5, 11), floating_point(8, 24))

_HAVE_HORN = frozenset(COMMANDS[QUERY].only)
"""The solvers that know rules have a tactic for Horn clauses."""

_SIGNS = {"Seq": "seq.unit", "Set": "set.singleton", "Bag": "bag", "FiniteSet": "set.range"}
"""An operator by which one sees whether solvers have a sort."""


@dataclass(frozen=True)
class _Side:
    """Solvers that a test is for: all (``only`` is empty), or one kind alone."""

    only: tuple[str, ...]
    operators: Operators
    targets: Targets

    @classmethod
    def of(cls, only: tuple[str, ...], specs: Sequence[str]) -> _Side:
        """The solvers of these specs."""
        return cls(only, operators_for(tuple(specs)), targets_for(tuple(specs)))

    def accepts(self, sort: Sort) -> bool:
        """Whether they have all that a sort is made of."""
        known = all(
            part.name not in _SIGNS or self.operators.knows(_SIGNS[part.name]) for part in subsorts(sort)
        )
        return known and all(map(is_plain, sort.args)) and not refused_sort(sort, self.operators.families)


class CongruenceStrategy(SeedStrategy):
    """Tests that two forms of a value make no difference."""

    name = "congruence"

    def __init__(self, inputs: StrategyInputs) -> None:
        super().__init__(inputs)
        specs = inputs.settings.solvers
        self._different = float(inputs.values["different"])
        self._all = _Side.of((), specs)
        kinds = specs_by_kin(specs)
        self._alone = [_Side.of((kin,), own) for kin, own in kinds.items()] if len(kinds) > 1 else []

    def why_not(self, script: SeedScript) -> str:
        """Nothing by itself: some of the tests are for solvers that refuse none of it."""
        return ""

    def mutants(self, seed: Seed, chance: random.Random) -> Iterator[Mutant]:
        """Other values and contexts each time."""
        makers = {
            side.only: _Maker(seed, side, chance)
            for side in (self._all, *self._alone)
            if not refused_seed(seed.script(), side.operators.families)
        }
        failures = 0
        while makers and failures < _DRAWS:
            alone = self._alone if chance.random() < _ALONE_SHARE else []
            side = one_of(alone, chance) if alone else self._all
            maker = makers.get(side.only)
            made = maker.make(chance.random() < self._different) if maker else None
            if made is None:
                failures += 1
                self.counts[NO_TEST] += 1
                continue
            failures = 0
            text, note, answer = made
            yield Mutant(partial(str, text), (seed,), comment([note]), (answer,), only=side.only)


class _Maker:
    """Makes tests from a seed for some solvers."""

    def __init__(self, seed: Seed, side: _Side, chance: random.Random) -> None:
        self._side = side
        self._chance = chance
        self._chain = Chain(seed, side.operators)
        self._script = seed.script()
        self._known = set(self._script.terms)
        self._pen = Pen(self._chain.table, side.operators, chance)
        self._prefix = free_prefix("new", names_of(self._script))
        self._declared: list[Declaration] = []
        own = sorted(filter(side.accepts, self._chain.sorts), key=str)
        self._sorts = own or [BOOL]
        self._simple = [sort for sort in _SIMPLE if side.accepts(sort)]
        self._values = Values(
            self._pen, self._script.datatypes, self._chain.pool.literals, partial(self._declare, ())
        )

    def make(self, is_different: bool) -> tuple[str, str, str] | None:
        """The commands of a test, a note for its header and its answer; None if the draws do not fit."""
        self._declared.clear()
        comparison = self._different() if is_different else self._same()
        if comparison is None:
            return None
        terms = list(postorder(comparison.sides, set(self._known)))
        targets = self._side.targets
        can_bind = targets.accept_terms(terms, bound=True)
        is_bound = self._script.is_quantified or any(term.variables for term in terms)
        if not can_bind and (is_bound or not targets.accept_terms(terms, bound=False)):
            return None
        script = ComparisonScript(self._script, self._declared, self._prefix, comparison)
        has_horn = can_bind and self._side.operators.families <= _HAVE_HORN
        text, answer = script.draw(can_bind, has_horn, self._chance)
        return text, f"forms {' and '.join(map(print_term, comparison.forms))}", answer

    def _different(self) -> Comparison | None:
        """Two values that differ."""
        sort = self._draw_sort()
        one, other = self._values.draw(sort), self._values.draw(sort)
        if one is None or other is None or not one.differs(other):
            return None
        hole = self._hole(1, sort)
        return Comparison(self._chain.table, hole, hole, (one.form(self._pen), other.form(self._pen)), False)

    def _same(self) -> Comparison | None:
        """A term with a place for two forms of a value, the seed formula's or one that is drawn."""
        chance = self._chance
        sort = self._draw_sort()
        forms = self._two_forms(sort)
        if forms is None:
            return None
        holes = self._hole(1, sort), self._hole(2, sort)
        place = self._draw_place() if chance.random() < _SEED_SHARE else None
        top = one_of((BOOL, INT, sort), chance) if place is None else place.term.sort
        contexts = Contexts(self._chain, universe(top, sort, self._side.accepts), holes, self._declare)
        context = contexts.grow(top, chance.randint(1, _MOST_DEPTH), chance)
        if context is not None and place is not None:
            context = place.replace(self._chain.table, context, lambda term: None)
        if context is None or context.sort is REGLAN:
            return None
        # The other hole has the same form on both sides, or one on each.
        other = one_of((holes[0], forms[0]), chance)
        context = substitute(self._chain.table, context, {holes[1]: other})
        return Comparison(self._chain.table, context, holes[0], forms, True)

    def _two_forms(self, sort: Sort) -> tuple[Term, Term] | None:
        """Different terms for one value; None if a few draws find none."""
        value = self._values.draw(sort)
        first = value.form(self._pen) if value is not None else None
        for _ in range(_FORMS):
            if value is not None and first is not None and (second := value.form(self._pen)) is not first:
                return first, second
        return None

    def _draw_place(self) -> Place | None:
        """A place in an assertion, or in a term of one that has no free variables."""
        found = self._chain.place(self._chance)
        if found is None or self._chain.pool.size(self._chain.assertions[found[0]]) > _LARGEST:
            return None
        place = found[1]
        binders = [n for n, (term, position) in enumerate(place.edges) if term.bound_at(position)]
        last = binders[0] if binders else len(place.edges)
        return Place(place.term, place.edges[self._chance.randint(0, last) :], place.scope)

    def _draw_sort(self) -> Sort:
        """The sort of a value: rather one that has values of another sort in it."""
        chance = self._chance
        sort = one_of(self._sorts if chance.random() < _OWN_SHARE else self._simple, chance)
        while chance.random() < _NESTED_SHARE:
            other = one_of(self._simple, chance)
            nested = [make_sort(name, (), (sort,)) for name in CONTAINERS]
            nested += [array(sort, other), array(other, sort)]
            nested += [make_sort("FiniteSet", (), (INT,))] if sort is INT else []
            nested = [made for made in nested if self._side.accepts(made)]
            if not nested or sort.depth > _MOST_DEPTH:
                break
            sort = one_of(nested, chance)
        return sort

    def _hole(self, number: int, sort: Sort) -> Term:
        return self._chain.table.variable(f"{self._prefix}?{number}", sort)

    def _declare(self, params: tuple[Sort, ...], result: Sort) -> Declaration:
        self._declared.append(Declaration(f"{self._prefix}{len(self._declared)}", params, result))
        return self._declared[-1]


ENTRY = StrategyEntry(
    "congruence",
    "two forms of one value at the same place of a term, whose results cannot differ",
    "seeds",
    "the answer",
    CongruenceStrategy,
    frozenset(("seeds",)),
    (
        Setting("tests", 8, "tests made from one seed formula", 1, 1000),
        Setting("different", 0.15, "share of tests of two values that differ", 0, 1),
    ),
)
