"""The strategy ``eliminate``: a seed formula in which constants became variables of quantifiers.

Where a theory has quantifier elimination, a solver finds an equivalent formula without them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial

from generator.declaring import StrategyEntry
from generator.seeds.script import SeedScript
from generator.seeds.source import Seed
from generator.seeds.strategy import TESTS, Mutant, SeedStrategy
from smtlib import Term, print_term
from smtlib.printer import quantified
from smtlib.sorts import BOOL

_MOST_VARIABLES = 3
_INNER_SHARE = 0.3
# A seed formula with one constant gives only a few tests.
_MOST_REPEATS = 20


class Eliminate(SeedStrategy):
    """Seed formulas with more quantifiers."""

    name = "eliminate"

    def mutants(self, seed: Seed, chance: random.Random) -> Iterator[Mutant]:
        """The seed formula with other variables each time, until nothing new comes."""
        script = seed.script()
        if not script.bindable:
            return
        maker = _Maker(script)
        made: set[str] = set()
        repeats = 0
        while repeats < _MOST_REPEATS:
            text = maker.text(chance)
            if text in made:
                repeats += 1
                continue
            repeats = 0
            made.add(text)
            yield Mutant(partial(str, text), (seed,), judged_by="elimination")


class _Maker:
    """Makes tests from one seed formula. A set of its constants is bits of a number."""

    def __init__(self, script: SeedScript) -> None:
        self._script = script
        self._bits = {constant: 1 << number for number, constant in enumerate(script.bindable)}
        self._used: dict[Term, int] = {}
        for term in script.terms:
            used = self._bits.get(term.op.declaration, 0) if term.op.declaration is not None else 0
            for arg in term.args:
                used |= self._used[arg]
            self._used[term] = used
        self._conditions = [term for term in script.closed if term.sort is BOOL]

    def text(self, chance: random.Random) -> str:
        """A script in which some constants are variables."""
        script = self._script
        count = chance.randint(1, min(_MOST_VARIABLES, len(script.bindable)))
        bound = chance.sample(script.bindable, count)
        inner = bound[1:] if count > 1 and chance.random() < _INNER_SHARE else []
        mask = sum(self._bits[constant] for constant in bound)
        below = [term for term in script.assertions if self._used[term] & mask]
        beside = [term for term in script.assertions if not self._used[term] & mask]
        below = below or [self._condition(0, chance)]
        quantifiers = ["exists", "forall"]
        chance.shuffle(quantifiers)
        formula = f"(and true {' '.join(map(print_term, below))})"
        formula = quantified(quantifiers[1], ((d.name, d.result) for d in inner), formula)
        outer = ((d.name, d.result) for d in bound if d not in inner)
        formula = quantified(quantifiers[0], outer, formula)
        if chance.random() < _INNER_SHARE:
            formula = f"(= {print_term(self._condition(mask, chance))} {formula})"
        assertions = [*map(print_term, beside), formula]
        lines = [
            f"(set-logic {script.logic})",
            *script.prelude_without(bound),
            *(f"(assert {text})" for text in assertions),
        ]
        return "\n".join([*lines, "(check-sat)"]) + "\n"

    def _condition(self, without: int, chance: random.Random) -> Term:
        """A formula of the seed in which these constants do not occur, or the constant true."""
        found = [term for term in self._conditions if not self._used[term] & without]
        return chance.choice(found) if found else self._script.table.copy().operator("true", (), BOOL)


ENTRY = StrategyEntry(
    name="eliminate",
    about="seed formulas in which constants became variables of quantifiers",
    takes="seeds",
    knows="nothing",
    make=Eliminate,
    needs=frozenset(("seeds",)),
    settings=(TESTS,),
)
