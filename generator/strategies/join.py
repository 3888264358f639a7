"""The strategy ``join``: two formulas of past bugs in one, over the same variables.

A bug often takes two features at once, and triggers of different bugs have one each. The names of the second
formula get an ending of their own. Then some of its constants become constants of the first of the same sort,
so that both say something about them, and a connective joins the two.

The answer is known where it follows. An instance of an unsatisfiable formula is unsatisfiable, and so is its
conjunction with another one. The first formula stays as it is, so a model of it satisfies a disjunction if
the second formula has no recursive definitions.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from generator.declaring import StrategyEntry
from generator.questions import is_of_theories
from generator.seeds.halves import Half, Place, half_of
from generator.seeds.pairs import PARTNERS, PairStrategy, conjunction
from generator.seeds.source import Seed
from generator.seeds.strategy import Mutant
from generator.settings import Setting
from generator.text import comment
from smtlib import Declaration, Sort
from smtlib.sorts import BOOL, subsorts

SETTINGS = (Setting("tests", 5, "tests made from one pair", 1, 100),)

_WAYS = {"and": 6, "or": 2, "=": 1, "distinct": 1}
"""How often each connective joins."""

_SHARES = (0.4, 0.7, 1.0)
"""How many of the constants that could become others do; drawn per test."""

_NOTES = 20

_Shared = Mapping[Declaration, Sequence[str]]
"""Constants of the second formula, and the names of those of the first that they could become."""


class Join(PairStrategy):
    """Joins of two seeds."""

    name = "join"

    def mutants(self, seed: Seed, chance: random.Random) -> Iterator[Mutant]:
        """Joins of ``seed`` with one partner; none if no partner fits."""
        if not self.is_usable(seed):
            return
        first = half_of(seed, "")
        for _ in range(PARTNERS):
            partner = self.seeds.draw(chance)
            why = "the same formula" if partner.text == seed.text else self.why_not(partner.script())
            if not why:
                second = half_of(partner, first.ending)
                if shared := _shared(first, second):
                    yield from self.different(partial(_joined, first, second, shared, chance))
                    return
                why = "no constants of one sort"
            self.counts[f"pair: {why}"] += 1


def _shared(first: Half, second: Half) -> _Shared:
    """The constants that both could share; none if all are truth values, which say little about theories."""
    names: dict[Sort, list[str]] = defaultdict(list)
    for constant in _shareable(first):
        names[constant.result].append(first.shown[constant])
    # An instance of the second formula has each of them replaced everywhere.
    free = (constant for constant in _shareable(second) if constant not in second.fixed)
    found = {c: names[c.result] for c in free if c.result in names}
    return found if any(constant.result is not BOOL for constant in found) else {}


def _shareable(half: Half) -> Iterator[Declaration]:
    """The constants whose sort is the same one in all formulas."""
    for constant in half.occurrences:
        # A formula may declare lists of its own.
        own = any(sort.name in half.sort_names for sort in subsorts(constant.result))
        if not own and is_of_theories(constant.result):
            yield constant


def _joined(first: Half, second: Half, shared: _Shared, chance: random.Random) -> Mutant:
    """One join of two halves."""
    share = chance.choice(_SHARES)
    chosen = [constant for constant in shared if chance.random() < share]
    if all(constant.result is BOOL for constant in chosen):
        chosen.append(chance.choice([constant for constant in shared if constant.result is not BOOL]))
    replaced: dict[Place, str] = {}
    notes = []
    for constant in chosen:
        name = chance.choice(shared[constant])
        replaced |= dict.fromkeys(second.occurrences[constant], name)
        notes.append(f"{second.shown[constant]} is {name}")
    left, right = first.replaced({}), second.replaced(replaced)
    (way,) = chance.choices([*_WAYS], [*_WAYS.values()])
    asserted = [*left, *right] if way == "and" else [f"({way} {conjunction(left)} {conjunction(right)})"]
    lines = "".join([f"(assert {formula})\n" for formula in asserted])
    text = f"(set-logic ALL)\n{first.declared}{second.declared}{lines}(check-sat)\n"
    seeds = (first.seed, second.seed)
    known = _answer(way, first.seed, second.seed)
    return Mutant(partial(str, text), seeds, comment([f"joined by {way}", *notes[:_NOTES]]), (known,))


def _answer(way: str, first: Seed, second: Seed) -> str | None:
    """The answer to a join, where it follows from those of the seeds."""
    if way == "and" and "unsat" in (first.answer, second.answer):
        return "unsat"
    # Recursive definitions hold in both parts of a disjunction.
    is_sat = way == "or" and first.answer == "sat" and not second.script().is_recursive
    return "sat" if is_sat else None


ENTRY = StrategyEntry(
    "join",
    "two seeds joined by a connective, with some constants of one replaced by those of the other",
    "seeds",
    "sat or unsat, where it follows from the seeds' own",
    Join,
    frozenset(("seeds",)),
    SETTINGS,
)
