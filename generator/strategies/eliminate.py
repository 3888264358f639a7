"""The strategy ``eliminate``: a seed formula in which constants became variables of quantifiers.

Where a theory has quantifier elimination, a solver finds an equivalent formula without them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import partial

from generator.declaring import StrategyEntry
from generator.seeds.script import SeedScript
from generator.seeds.source import Seed
from generator.seeds.strategy import Mutant, SeedStrategy
from generator.settings import Setting
from smtlib import Declaration, Term, print_term
from smtlib.printer import sort_text
from smtlib.sorts import BOOL
from smtlib.terms import declarations_in

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
        made: set[str] = set()
        repeats = 0
        while script.bindable and repeats < _MOST_REPEATS:
            text = _text(script, script.bindable, chance)
            if text in made:
                repeats += 1
                continue
            repeats = 0
            made.add(text)
            yield Mutant(partial(str, text), (seed,), judged_by="elimination")


def _text(script: SeedScript, constants: Sequence[Declaration], chance: random.Random) -> str:
    count = chance.randint(1, min(_MOST_VARIABLES, len(constants)))
    bound = chance.sample(constants, count)
    inner = bound[1:] if count > 1 and chance.random() < _INNER_SHARE else []
    below: list[Term] = []
    beside: list[Term] = []
    for term in script.assertions:
        (below if set(bound) & set(declarations_in([term])) else beside).append(term)
    below = below or [_condition(script, chance)]
    quantifiers = ["exists", "forall"]
    chance.shuffle(quantifiers)
    formula = f"(and true {' '.join(map(print_term, below))})"
    if inner:
        formula = _quantified(quantifiers[1], inner, formula)
    formula = _quantified(quantifiers[0], [d for d in bound if d not in inner], formula)
    if chance.random() < _INNER_SHARE:
        formula = f"(= {print_term(_condition(script, chance, bound))} {formula})"
    assertions = [*map(print_term, beside), formula]
    lines = [
        f"(set-logic {script.logic})",
        *script.prelude_without(bound),
        *(f"(assert {text})" for text in assertions),
    ]
    return "\n".join([*lines, "(check-sat)"]) + "\n"


def _quantified(quantifier: str, variables: Sequence[Declaration], formula: str) -> str:
    bound = " ".join(f"({d.name} {sort_text(d.result)})" for d in variables)
    return f"({quantifier} ({bound}) {formula})"


def _condition(script: SeedScript, chance: random.Random, without: Sequence[Declaration] = ()) -> Term:
    """A formula of the seed in which these constants do not occur, or the constant true."""
    found = [
        term
        for term in script.closed
        if term.sort is BOOL and not (without and set(without) & set(declarations_in([term])))
    ]
    return chance.choice(found) if found else script.table.copy().operator("true", (), BOOL)


ENTRY = StrategyEntry(
    name="eliminate",
    about="seed formulas in which constants became variables of quantifiers",
    takes="seeds",
    knows="nothing",
    make=lambda inputs: Eliminate(inputs, int(inputs.values["tests"])),
    needs=frozenset(("seeds",)),
    settings=(Setting("tests", 5, "tests made from one seed formula", 1, 1000),),
)
