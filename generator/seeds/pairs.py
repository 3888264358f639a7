"""What the strategies share that join two seeds: which seeds can be joined, and different joins of a pair."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from generator.refusals import refused_seed
from generator.scopes import names_of
from generator.seeds.halves import half_of
from generator.seeds.script import SeedScript, once_per_seed
from generator.seeds.source import Seed
from generator.seeds.strategy import Mutant, SeedStrategy

MAX_TERMS = 10_000
"""Formulas with more distinct terms are not joined: each test would take a tenth of a second to print, and
solvers rarely decide it."""

PARTNERS = 20
"""Partners that are tried for a seed."""

_LET_NAME = re.compile(r"\|?\$+[0-9]+\|?")
"""What the printer calls shared terms. A constant of the other half with such a name would be one of them."""

_TRIES = 3
"""At most this many joins are made per test of a pair, since some come out the same."""


class PairStrategy(SeedStrategy):
    """Base of the strategies that join two seeds. ``counts`` has what could not be joined, by cause."""

    def why_not(self, script: SeedScript) -> str:
        """Why a seed is not joined, whatever its partner."""
        return _unusable(script, self.families)

    def is_usable(self, seed: Seed) -> bool:
        """Whether a seed can be joined and has variables. Counts the cause if not."""
        unusable = self.why_not(seed.script())
        if not unusable and not half_of(seed, "").occurrences:
            unusable = "no variables"
        if unusable:
            self.counts[f"seed: {unusable}"] += 1
        return not unusable

    def different(self, join: Callable[[], Mutant]) -> Iterator[Mutant]:
        """Different joins of a pair, ``per_seed`` of them; fewer where small formulas allow no more."""
        seen: set[str] = set()
        for _ in range(_TRIES * self.per_seed):
            mutant = join()
            text = mutant.text()
            if text not in seen:
                seen.add(text)
                yield mutant
            if len(seen) == self.per_seed:
                return


def conjunction(texts: Sequence[str]) -> str:
    """The conjunction of formulas as text."""
    return texts[0] if len(texts) == 1 else f"(and {' '.join(texts)})"


@once_per_seed
def _unusable(script: SeedScript, families: frozenset[str]) -> str:
    if script.logic != "ALL":
        return "higher order"
    if any(map(_LET_NAME.fullmatch, names_of(script))):
        return "a name like those of let"
    if len(script.terms) > MAX_TERMS:
        return "too large to join"
    return refused_seed(script, families)
