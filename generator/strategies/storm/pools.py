"""The pools of formulas that STORM draws from, and the instances made of them.

Source: Mansur et al., "Detecting Critical Bugs in SMT Solvers Using Blackbox Mutational Fuzzing" (ESEC/FSE
2020), Algorithm 1. The initial pool holds the seed's Boolean subterms with their values, the
construction pool conjunctions and negations of what is in either; an instance asserts formulas drawn
from both, the false ones negated, so one interpretation satisfies all of it.

A formula is text with its value, depth and the declarations that it needs: joining is all that making
an instance takes.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from generator.levels import CHECK, on_levels
from generator.refusals import refused_term
from generator.scopes import Prelude
from generator.seeds.script import SeedScript
from generator.strategies.storm.valuation import Valuation
from smtlib import BOOL, Kind, Term, postorder, print_term
from solvers.registry import REFERENCES

INITIAL_SHARE = 0.3
"""How often a formula is drawn from the initial pool (Section 4)."""

NC_RANGE = (200, 1500)
NM_RANGE = (300, 1000)
"""Sizes of the construction pool, and instances made with one (Section 5.4)."""

_LARGE_POOL = 100
"""An initial pool of this size gets the upper ends of the ranges; the paper does not say how it is
measured."""

MAX_POOL = 1000
"""Of a seed with more Boolean subterms, this many are drawn."""

MAX_TEXT = 5_000
"""Subterms that print longer, in characters, are left out."""

MAX_TERMS = 1_500
"""So are those with more distinct terms."""

_TOO_LARGE = "too large"

MAX_CONSTRUCTED = 20_000
"""No constructed formula is longer."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A member of a pool. ``depth`` counts connectives over the deepest atom, which has 1; ``needs`` is a
    set of declarations (see :class:`Prelude`)."""

    text: str
    value: bool
    depth: int
    needs: int

    @property
    def assertion(self) -> str:
        """The command that asserts what is true: the formula, or its negation."""
        return f"(assert {self.text})\n" if self.value else f"(assert (not {self.text}))\n"


@dataclass(frozen=True, slots=True)
class Bounds:
    """``amax``: most assertions of an instance. ``dmax``: greatest depth of a formula. ``nc``: size of the
    construction pool, ``nm``: instances per construction pool; 0 goes by the initial pool's size."""

    amax: int = 64
    dmax: int = 64
    nc: int = 0
    nm: int = 0

    def constructed(self, initial: int) -> int:
        """NC for an initial pool of this size."""
        return self.nc or _within(NC_RANGE, initial)

    def instances(self, initial: int) -> int:
        """NM for an initial pool of this size."""
        return self.nm or _within(NM_RANGE, initial)


def _within(ends: tuple[int, int], initial: int) -> int:
    low, high = ends
    return low + (high - low) * min(initial, _LARGE_POOL) // _LARGE_POOL


@dataclass(frozen=True, slots=True)
class Fragments:
    """A seed's initial pool, and the Boolean subterms left out of it by cause."""

    prelude: Prelude
    initial: tuple[Formula, ...]
    how: str
    left_out: Counter[str]

    def instance(
        self, constructed: Sequence[Formula], amax: int, incremental: bool, chance: Callable[[], float]
    ) -> tuple[str, int]:
        """An instance as a script, and how many ``check-sat`` it has, all ``sat``."""
        drawn = [draw(self.initial, constructed, chance) for _ in range(1 + int(chance() * amax))]
        needs = 0
        for formula in drawn:
            needs |= formula.needs
        lines = [formula.assertion for formula in drawn]
        lines = on_levels(lines, chance) if incremental else [*lines, CHECK]
        return f"(set-logic ALL)\n{self.prelude.text(needs)}{''.join(lines)}", lines.count(CHECK)


def fragment(
    script: SeedScript,
    valuation: Valuation,
    dmax: int,
    chance: random.Random,
    families: Collection[str] = REFERENCES,
) -> Fragments:
    """The initial pool: the valued subterms of at most this depth that these solvers take."""
    prelude = Prelude(script)
    left_out = Counter(valuation.left_out)
    depths = _depths(script.assertions)
    found = [t for t in valuation.values if t.args or t.op.kind is not Kind.OPERATOR]
    found = [t for t in found if t.op.kind is not Kind.ANNOTATION]
    fitting = [t for t in found if depths[t] <= dmax]
    left_out["deeper than Dmax"] += len(found) - len(fitting)
    if len(fitting) > MAX_POOL:
        left_out["more than the pool holds"] += len(fitting) - MAX_POOL
        places = sorted(chance.sample(range(len(fitting)), MAX_POOL))
        fitting = [fitting[i] for i in places]
    needs = prelude.needs(fitting)
    initial = []
    for term in fitting:
        fault = _fault(term, families)
        text = "" if fault else print_term(term)
        if fault or len(text) > MAX_TEXT:
            left_out[fault or _TOO_LARGE] += 1
        else:
            initial.append(Formula(text, valuation.values[term], depths[term], needs[term]))
    return Fragments(prelude, tuple(initial), valuation.how, +left_out)


def _depths(roots: Sequence[Term]) -> dict[Term, int]:
    """How deep Boolean terms stand in each other; binders and matches are atoms."""

    def args(term: Term) -> Sequence[Term]:
        return () if term.op.kind in (Kind.BINDER, Kind.MATCH) else term.args

    found: dict[Term, int] = {}
    for term in postorder(roots, below=args):
        leaf = not term.args and term.op.kind is Kind.OPERATOR
        counts = term.sort is BOOL and term.op.kind is not Kind.ANNOTATION and not leaf
        found[term] = max([found[a] for a in args(term)], default=0) + counts
    return found


def _fault(root: Term, families: Collection[str]) -> str:
    """Why a subterm is left out: its size, or a solver that may refuse it."""
    seen = {root}
    stack = [root]
    while stack:
        term = stack.pop()
        fault = refused_term(term, families)
        if fault:
            return fault
        for arg in term.args:
            if arg not in seen:
                if len(seen) >= MAX_TERMS:
                    return _TOO_LARGE
                seen.add(arg)
                stack.append(arg)
    return ""


def construct(initial: Sequence[Formula], bounds: Bounds, chance: Callable[[], float]) -> list[Formula]:
    """The construction pool: NC conjunctions and negations, fewer where the bounds allow no more."""
    count = bounds.constructed(len(initial))
    pool: list[Formula] = []
    for _ in range(10 * count):
        if len(pool) >= count:
            break
        first = draw(initial, pool, chance)
        if chance() < 0.5:
            second = draw(initial, pool, chance)
            made = Formula(
                f"(and {first.text} {second.text})",
                first.value and second.value,
                1 + max(first.depth, second.depth),
                first.needs | second.needs,
            )
        else:
            made = Formula(f"(not {first.text})", not first.value, 1 + first.depth, first.needs)
        if made.depth <= bounds.dmax and len(made.text) <= MAX_CONSTRUCTED:
            pool.append(made)
    return pool


def draw(initial: Sequence[Formula], constructed: Sequence[Formula], chance: Callable[[], float]) -> Formula:
    """A formula of either pool (RandFormula)."""
    pool = initial if not constructed or chance() < INITIAL_SHARE else constructed
    return pool[int(chance() * len(pool))]
