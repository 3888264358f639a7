"""The strategy ``storm``: satisfiable formulas from the Boolean subterms of a seed.

Source: Mansur et al., "Detecting Critical Bugs in SMT Solvers Using Blackbox Mutational Fuzzing" (ESEC/FSE
2020), Algorithm 1. The paper makes all NM instances of a seed in a row. Here seeds take turns of
:data:`TURN` tests, so that a short batch is of many seeds; after NM of a seed's instances, over all its turns
with one model, its construction pool is made again.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

from generator.declaring import StrategyEntry, StrategyInputs
from generator.errors import GenerationError
from generator.levels import INCREMENTAL, is_incremental
from generator.refusals import refused
from generator.seeds.source import Seed, SeedSkipped, random_for
from generator.seeds.strategy import Mutant, SeedStrategy
from generator.settings import Setting
from generator.strategies.storm.pools import Bounds, Formula, Fragments, construct, fragment
from generator.strategies.storm.solving import SolvingProcess
from generator.strategies.storm.valuation import VARIANTS, NoValuation, value_terms
from generator.text import comment
from smtlib import postorder

TURN = 25
"""Tests in a row that come from one seed. Valuing a seed costs as much as making about a hundred tests."""

SETTINGS = (
    Setting("amax", 64, "Amax: maximum number of assertions in a test", 1, 10_000),
    Setting("dmax", 64, "Dmax: maximum depth of connectives in an assertion", 1, 10_000),
    Setting("nc", 0, "NC: size of the construction pool; 0: 200 to 1500 by the seed's size", 0, 100_000),
    Setting("nm", 0, "NM: tests per construction pool; 0: 300 to 1000 by the seed's size", 0, 100_000),
    INCREMENTAL,
)

_KEPT = 64


@dataclass(frozen=True, slots=True)
class _Pool:
    """What the tests of one seed by one model are drawn from, apart from the construction pools."""

    seeds: tuple[Seed]
    fragments: Fragments
    variant: int


class StormStrategy(SeedStrategy):
    """STORM over a sequence of seeds.

    ``counts`` has the Boolean subterms left out of the seeds used so far, and the seeds that gave nothing, by
    cause.
    """

    name = "storm"

    def __init__(self, inputs: StrategyInputs) -> None:
        super().__init__(inputs, TURN)
        self.incremental = float(inputs.values["incremental"])
        self.bounds = Bounds(*(int(inputs.values[name]) for name in ("amax", "dmax", "nc", "nm")))
        self._order = list(range(len(self.seeds)))
        random_for(self.seed, 0, "storm order").shuffle(self._order)
        self._process = SolvingProcess()
        self._pools: OrderedDict[tuple[int, int], _Pool | None] = OrderedDict()
        self._constructed: OrderedDict[tuple[int, int, int], list[Formula]] = OrderedDict()

    def mutants(self, seed: Seed, chance: random.Random) -> Iterator[Mutant]:
        """Instances of ``seed`` without end, from one construction pool after the other."""
        pool = self._value(seed, chance.randrange(VARIANTS), chance)
        while pool is not None:
            constructed = construct(pool.fragments.initial, self.bounds, chance.random)
            for _ in range(self.bounds.instances(len(pool.fragments.initial))):
                yield self._mutant(pool, constructed, chance, "")

    def _visit(self, visit: int) -> Iterator[Mutant]:
        """The turn of one seed; of the next where that gives nothing."""
        for further in range(len(self._order)):
            round_, number = divmod(visit + further, len(self._order))
            place = self._order[number]
            pool = self._pool(place, round_ % VARIANTS)
            if pool is not None:
                # Turns of seeds that gave nothing fall to this one: drawn by the visit, they differ.
                for turn in range(TURN):
                    nth = round_ // VARIANTS * TURN + turn
                    epoch, within = divmod(nth, self.bounds.instances(len(pool.fragments.initial)))
                    chance = random_for(self.seed, visit * TURN + turn, self.name)
                    constructed = self._construction(place, epoch, pool)
                    yield self._mutant(pool, constructed, chance, f"instance {within} of pool {epoch}, ")
                return
        raise GenerationError(f"storm finds no Boolean subterm with a value in {self.seeds.name}")

    def _mutant(self, pool: _Pool, constructed: list[Formula], chance: random.Random, place: str) -> Mutant:
        fragments = pool.fragments
        incremental = is_incremental(self.incremental, chance.random)
        text, checks = fragments.instance(constructed, self.bounds.amax, incremental, chance.random)
        note = (
            f"{place}model {pool.variant} of {fragments.how}; pools of {len(fragments.initial)} and "
            f"{len(constructed)} formulas"
        )
        return Mutant(lambda: text, pool.seeds, comment((note,)), ("sat",) * checks)

    def _pool(self, place: int, variant: int) -> _Pool | None:
        """The initial pool of a seed by one of its models; None where there is none."""
        key = (place, variant)
        if key in self._pools:
            self._pools.move_to_end(key)
            return self._pools[key]
        try:
            pool = self._value(self.seeds[place], variant, random_for(self.seed, place, "storm pool"))
        except SeedSkipped as skip:
            self.counts[f"seed: {skip}"] += 1
            pool = None
        self._pools[key] = pool
        usable = [k for k, known in self._pools.items() if known is not None]
        if len(usable) > _KEPT:
            # What is known to give nothing stays known: it is small, and asking again is slow.
            del self._pools[usable[0]]
        return pool

    def _value(self, seed: Seed, variant: int, chance: random.Random) -> _Pool | None:
        try:
            script = seed.script()
            if why := refused(script.prelude, postorder(script.bodies), self.families):
                raise SeedSkipped(why)
            valuation = value_terms(script, self._process, variant)
        except (SeedSkipped, NoValuation) as skip:
            self.counts[f"seed: {skip}"] += 1
            return None
        fragments = fragment(script, valuation, self.bounds.dmax, chance, self.families)
        self.counts.update({f"left out: {cause}": n for cause, n in fragments.left_out.items()})
        if not fragments.initial:
            self.counts["seed: no Boolean subterm with a value"] += 1
            return None
        return _Pool((seed,), fragments, variant)

    def _construction(self, place: int, epoch: int, pool: _Pool) -> list[Formula]:
        """A construction pool over the initial pool; its values are those of the pool's model."""
        key = (place, pool.variant, epoch)
        found = self._constructed.get(key)
        if found is None:
            chance = random_for(self.seed, place, f"storm construction {pool.variant} {epoch}").random
            found = self._constructed[key] = construct(pool.fragments.initial, self.bounds, chance)
            if len(self._constructed) > _KEPT:
                self._constructed.popitem(last=False)
        return found


ENTRY = StrategyEntry(
    "storm",
    "the Boolean subterms of a seed, conjoined and negated as one model values them",
    "seeds",
    "sat",
    StormStrategy,
    frozenset(("seeds",)),
    SETTINGS,
)
