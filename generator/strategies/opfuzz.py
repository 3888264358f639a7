"""The strategy ``opfuzz``: type-aware operator mutation.

Source: Winterer, Zhang, Su, "On the Unusual Effectiveness of Type-Aware Operator Mutations for Testing SMT
Solvers" (OOPSLA 2020), which Park et al. (OOPSLA 2021, Section 3.2) show to be a special case of generative
type-aware mutation: an operator is replaced by another that takes the same arguments and gives
the same sort. Quantifiers are swapped; functions of the seed count as operators.
"""

from __future__ import annotations

import random

from generator.declaring import StrategyEntry
from generator.seeds.source import Seed
from generator.strategies.mutation.heads import HeadChain, find_sites
from generator.strategies.mutation.strategy import (
    ATTEMPTS,
    COMMON_SETTINGS,
    MUTATIONS,
    NO_OPERATOR,
    ChainStrategy,
)

_DRAWS = 20
"""Draws among all sites, before one is drawn among those where another head fits."""


class OpFuzz(ChainStrategy[HeadChain]):
    """Chains of type-aware operator mutations."""

    name = "opfuzz"

    def start(self, seed: Seed) -> HeadChain:
        """The seed's text, with the heads in it that can be exchanged."""
        return HeadChain(seed.script(), find_sites(seed.script(), self.operators), seed.targets)

    def mutate(self, chain: HeadChain, chance: random.Random) -> bool:
        """Change one operator, every occurrence as likely as any other."""
        sites = len(chain.sites)
        random = chance.random
        counts = self.counts
        attempts = 0
        # A formula may have many operators and few that another can stand for.
        while attempts < _DRAWS and sites:
            attempts += 1
            if chain.change(int(random() * sites), chance):
                break
        else:
            for number in chain.some_changeable(chance, _DRAWS):
                attempts += 1
                if chain.change(number, chance):
                    break
            else:
                counts[ATTEMPTS] += attempts
                counts[NO_OPERATOR] += attempts
                return False
        counts[ATTEMPTS] += attempts
        counts[MUTATIONS] += 1
        if attempts > 1:
            counts[NO_OPERATOR] += attempts - 1
        return True


ENTRY = StrategyEntry(
    "opfuzz",
    "type-aware operator mutation: an operator replaced by another of the same rank, in chains",
    "seeds",
    "nothing",
    OpFuzz,
    frozenset(("seeds",)),
    COMMON_SETTINGS,
)
