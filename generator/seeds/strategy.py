"""What all strategies that start from seeds share: which seed a test comes from, its header, its counts.

Tests are made in visits: visit ``v`` draws a seed and makes the tests ``v * per_seed`` and following of it,
so that a seed is read once for many tests, and a chain's links are tests that stand next to each other.
Everything in a visit follows from the strategy's seed, the seeds and ``v``. One test alone is
made by going through its visit, without printing what comes before.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from generator.declaring import StrategyInputs
from generator.errors import GenerationError
from generator.refusals import refused_seed
from generator.seeds.script import SeedScript
from generator.seeds.source import Seed, random_for
from generator.settings import Setting
from generator.strategy import GeneratedTest
from generator.text import seed_header

_FRUITLESS = 100
"""A visit gives up after this many seeds in a row that gave nothing."""


@dataclass(slots=True)
class Mutant:
    """A test before it is printed. ``text`` gives its commands (no header), before the next mutant is made.

    ``seeds`` are those it came from, the same tuple for all mutants of a visit; ``notes`` are comment lines
    for the header (:func:`generator.text.comment`), such as the chain of mutations so far. The other fields
    are those of :class:`GeneratedTest`; ``implied_by`` and ``implies`` give their text when called.
    """

    text: Callable[[], str]
    seeds: tuple[Seed, ...]
    notes: str = ""
    known: tuple[str | None, ...] = ()
    implied_by: Callable[[], str] | None = None
    implies: Callable[[], str] | None = None
    only: tuple[str, ...] = ()
    judged_by: str = ""


class _Head(NamedTuple):
    """The header of tests from these seeds, ``before`` and ``behind`` the test's number, and their issues."""

    seeds: tuple[Seed, ...]
    issues: tuple[str, ...]
    before: str
    behind: str


TESTS = Setting("tests", 5, "tests made from one seed formula", 1, 1000)
"""How many tests are made of a seed in a row, for strategies that leave it to the user."""


class SeedStrategy(ABC):
    """Base of the strategies that change seeds.

    ``counts`` are for people: attempts that failed, by cause; they grow as tests are made.
    """

    name: str

    def __init__(self, inputs: StrategyInputs, per_seed: int | None = None) -> None:
        """``per_seed``: how many tests are made of a seed in a row; by default the setting ``tests``."""
        self.seeds = inputs.seeds
        self.seed = inputs.settings.seed
        self.settings = dict(inputs.values)
        self.families = inputs.families
        self.per_seed = int(inputs.values["tests"]) if per_seed is None else per_seed
        self.counts: Counter[str] = Counter()
        self._head: _Head | None = None

    @property
    def fingerprint(self) -> str:
        """Names the seeds that the tests come from."""
        return self.seeds.fingerprint

    @abstractmethod
    def mutants(self, seed: Seed, chance: random.Random) -> Iterator[Mutant]:
        """Mutants of ``seed``; the caller may stop before the last.

        New terms are made in ``seed.script().table.copy()``; all choices come from ``chance``.
        """

    def draw(self, chance: random.Random) -> Seed:
        """The seed of a visit. Override to ask for a known answer."""
        return self.seeds.draw(chance)

    def why_not(self, script: SeedScript) -> str:
        """Why no tests are made from a seed: a solver may refuse them. Empty if they are."""
        return refused_seed(script, self.families)

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        """Yield the tests with ``start <= index < stop``, in order."""
        for visit in range(start // self.per_seed, -(-stop // self.per_seed)):
            first = visit * self.per_seed
            for place, mutant in enumerate(self._visit(visit), first):
                if place >= start:
                    yield self._test(place, mutant)
                if place + 1 == stop:
                    return

    def _visit(self, visit: int) -> Iterator[Mutant]:
        """Exactly ``per_seed`` mutants, of further seeds where one gives too few."""
        return islice(self._of_any(random_for(self.seed, visit, self.name)), self.per_seed)

    def _of_any(
        self, chance: random.Random, draw: Callable[[random.Random], Seed] | None = None
    ) -> Iterator[Mutant]:
        """Mutants of one seed after the other, without end; ``draw`` gives the seeds."""
        draw = draw or self.draw
        fruitless = 0
        while fruitless < _FRUITLESS:
            fruitless += 1
            seed = draw(chance)
            if why := self.why_not(seed.script()):
                self.counts[f"seed: {why}"] += 1
                continue
            for mutant in self.mutants(seed, chance):
                yield mutant
                fruitless = 0
        last = f" (the last: {why})" if why else ""
        raise GenerationError(
            f"{self.name} makes no test from {_FRUITLESS} seeds in a row from {self.seeds.name}{last}"
        )

    def _test(self, index: int, mutant: Mutant) -> GeneratedTest:
        head = self._head
        if head is None or head.seeds is not mutant.seeds:
            head = self._head = self._head_of(mutant.seeds)
        return GeneratedTest(
            index,
            f"{head.before}{index}{head.behind}{mutant.notes}{mutant.text()}",
            self.name,
            issues=head.issues,
            known=mutant.known,
            implied_by=mutant.implied_by() if mutant.implied_by else None,
            implies=mutant.implies() if mutant.implies else None,
            only=mutant.only,
            judged_by=mutant.judged_by,
        )

    def _head_of(self, seeds: tuple[Seed, ...]) -> _Head:
        issues = tuple(dict.fromkeys(i for seed in seeds for i in seed.issues))
        origins = [seed.origin for seed in seeds]
        parts = seed_header(self.fingerprint, self.seed, self.name, origins, issues, self.settings)
        return _Head(seeds, issues, *parts)
