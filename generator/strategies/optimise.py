"""The strategy ``optimise``: a seed formula with terms of it to be optimised and soft assertions.

Objectives of the seed formula itself are kept most of the time.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import partial

from generator.declaring import StrategyEntry
from generator.seeds.script import SeedScript
from generator.seeds.source import Seed
from generator.seeds.strategy import TESTS, Mutant, SeedStrategy
from smtlib import Term, print_command, print_term
from smtlib.shapes import COMMANDS
from smtlib.sorts import BOOL, INT, REAL

ONLY = COMMANDS["maximize"].only
"""The solvers that optimise."""

_SUMS = {"Int": "+", "Real": "+", "BitVec": "bvadd"}
# The last one rarely: a front may be endless.
_PRIORITIES = ("lex", "lex", "lex", "lex", "lex", "box", "box", "box", "box", "pareto")
_SOFT_SHARE = 0.2
_BOUNDED_SHARE = 0.6
_KEPT_SHARE = 0.7
_WEIGHTS = ("1", "2", "3", "7", "0.5")


class Optimise(SeedStrategy):
    """Seed formulas with objectives."""

    name = "optimise"

    def mutants(self, seed: Seed, chance: random.Random) -> Iterator[Mutant]:
        """The seed formula with other objectives each time."""
        script = seed.script()
        terms = [term for term in script.closed if term.sort.name in _SUMS]
        conditions = [term for term in script.closed if term.sort is BOOL]
        # z3 says that it does not support optimisation with quantifiers.
        while (terms or conditions) and not script.is_quantified:
            text = _text(script, terms, conditions, chance)
            yield Mutant(partial(str, text), (seed,), only=ONLY, judged_by="optimum")


def _text(
    script: SeedScript, terms: Sequence[Term], conditions: Sequence[Term], chance: random.Random
) -> str:
    soft = [term for term in script.assertions if chance.random() < _SOFT_SHARE]
    goals = [print_command(command) for command in script.objectives if chance.random() < _KEPT_SHARE]
    goals += [_soft(print_term(term), chance) for term in soft]
    goals += [_soft_condition(conditions, chance) for _ in range(chance.randrange(3)) if conditions]
    goals += [_goal(terms, conditions, chance) for _ in range(chance.randrange(1, 3)) if terms]
    goals = goals or [_goal(terms, conditions, chance) if terms else _soft_condition(conditions, chance)]
    chance.shuffle(goals)
    bounds = _bounds(script) if chance.random() < _BOUNDED_SHARE else []
    left_out = set(soft)
    whole = script.text([term for term in script.assertions if term not in left_out])
    lines = [
        f"(set-option :opt.priority {chance.choice(_PRIORITIES)})",
        whole.removesuffix("\n(check-sat)\n"),
        *bounds,
        *goals,
        "(check-sat)",
    ]
    return "\n".join(lines) + "\n"


def _bounds(script: SeedScript) -> list[str]:
    """Limits of the numbers, so that most optima are finite."""
    numbers = [d for d in script.constants if d.result in (INT, REAL)]
    return [
        f"(assert (<= {low} {d.name} {high}))"
        for d in numbers
        for low, high in [("(- 20)", "20") if d.result is INT else ("(- 20.0)", "20.0")]
    ]


def _soft_condition(conditions: Sequence[Term], chance: random.Random) -> str:
    text = print_term(chance.choice(conditions))
    return _soft(f"(not {text})" if chance.random() < 0.5 else text, chance)


def _soft(text: str, chance: random.Random) -> str:
    weight = f" :weight {chance.choice(_WEIGHTS)}" if chance.random() < 0.6 else ""
    group = f" :id {chance.choice('ab')}" if chance.random() < 0.3 else ""
    return f"(assert-soft {text}{weight}{group})"


def _goal(terms: Sequence[Term], conditions: Sequence[Term], chance: random.Random) -> str:
    first = chance.choice(terms)
    text = print_term(first)
    if chance.random() < 0.4:
        second = print_term(chance.choice([term for term in terms if term.sort is first.sort]))
        if conditions and chance.random() < 0.5:
            text = f"(ite {print_term(chance.choice(conditions))} {text} {second})"
        else:
            text = f"({_SUMS[first.sort.name]} {text} {second})"
    return f"({chance.choice(('maximize', 'minimize'))} {text})"


ENTRY = StrategyEntry(
    name="optimise",
    about="seed formulas with objectives and soft assertions",
    takes="seeds",
    knows="nothing",
    make=Optimise,
    needs=frozenset(("seeds",)),
    only=ONLY,
    settings=(TESTS,),
)
