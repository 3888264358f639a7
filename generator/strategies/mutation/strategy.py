"""What the strategies have in common that mutate a seed again and again: each test from the one before."""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Hashable, Iterator
from typing import Generic, Protocol, TypeVar

from generator.declaring import StrategyInputs
from generator.seeds.source import Seed
from generator.seeds.strategy import Mutant, SeedStrategy
from generator.settings import Setting
from generator.strategies.mutation.chain import Chain, MutationLog
from generator.strategies.mutation.operators import operators_for
from generator.strategies.mutation.places import Place
from smtlib import Term

NO_OPERATOR = "attempts that found no operator"
ATTEMPTS = "attempts"
MUTATIONS = "mutations"
REFUSED = "attempts that a target refuses"
WRONG_SIZE = "attempts that would have made an assertion too small or too large"

_REPEATS = 8
"""So often a link is mutated further where the chain had it before; a short formula has few operators."""

COMMON_SETTINGS = (
    Setting("chain", 30, "tests made from one seed, each mutated from the one before", 1, 10_000),
    Setting("mutations", 1, "mutations between two tests of a chain", 1, 1000),
    Setting(
        "operators", "", "file of operators to use instead of the theories', in the syntax of theory files"
    ),
)


class Link(Protocol):
    """The state between two mutations of a chain."""

    log: MutationLog

    def state(self) -> Hashable:
        """Differs where the test's commands do."""
        ...

    def text(self) -> str:
        """The test's commands as they stand."""
        ...


_Chain = TypeVar("_Chain", bound=Link)
_TermChain = TypeVar("_TermChain", bound=Chain)


class ChainStrategy(SeedStrategy, Generic[_Chain]):
    """Chains of mutations."""

    def __init__(self, inputs: StrategyInputs) -> None:
        values = inputs.values
        super().__init__(inputs, int(values["chain"]))
        self.operators = operators_for(inputs.settings.solvers, str(values.get("operators", "")))
        self._steps = int(values["mutations"])

    @abstractmethod
    def start(self, seed: Seed) -> _Chain:
        """The chain before its first mutation."""

    @abstractmethod
    def mutate(self, chain: _Chain, chance: random.Random) -> bool:
        """One mutation; whether it succeeded."""

    def known(self, chain: _Chain) -> tuple[str | None, ...]:
        """The answers of the test as it stands, as in :class:`Mutant`; nothing is known by default."""
        return ()

    def mutants(self, seed: Seed, chance: random.Random) -> Iterator[Mutant]:
        """The links of a chain, until a mutation fails or leads only to formulas that the chain had."""
        chain = self.start(seed)
        seeds = (seed,)
        seen = {chain.state()}
        repeats, steps = range(_REPEATS), range(self._steps)
        while True:
            for _ in repeats:
                for _ in steps:
                    if not self.mutate(chain, chance):
                        return
                state = chain.state()
                if state not in seen:
                    break
            else:
                return
            seen.add(state)
            # The caller reads its text before the chain continues: see SeedStrategy.generate.
            yield Mutant(chain.text, seeds, chain.log.text(), self.known(chain))


class TermStrategy(ChainStrategy[_TermChain]):
    """Chains of mutations that put one term in the place of another."""

    @abstractmethod
    def attempt(self, chain: _TermChain, chance: random.Random) -> bool:
        """One try to replace one term; whether it succeeded."""

    def mutate(self, chain: _TermChain, chance: random.Random) -> bool:
        """One mutation, tried as often as the formula has assertions; whether it succeeded."""
        for _ in range(20 + 2 * len(chain.assertions)):
            self.counts[ATTEMPTS] += 1
            if self.attempt(chain, chance):
                self.counts[MUTATIONS] += 1
                return True
        return False

    def fits(self, chain: _TermChain, number: int, place: Place, new: Term) -> bool:
        """Whether ``new``, of the sort of the place, changes assertion ``number``, leaves it about as large
        as it was, and is accepted."""
        if new is place.term:
            return False
        if not chain.keeps_its_size(number, place, new):
            self.counts[WRONG_SIZE] += 1
            return False
        if not chain.is_accepted(new):
            self.counts[REFUSED] += 1
            return False
        return True
