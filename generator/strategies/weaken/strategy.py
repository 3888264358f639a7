"""The strategy ``weaken``: walks of weakenings from seeds that are sat, of strengthenings from unsat ones.

Source: Bringolf, "Fuzz-testing SMT Solvers with Formula Weakening and Strengthening" (2021). A formula's
answer is known beforehand along the whole walk, since each mutant follows from the one before it (or the
other way round). Every mutant names its parent, so that a solver that decides the parent and not the mutant
is noticed (incompleteness of type 2 in the source).
"""

from __future__ import annotations

import random
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from corpus.answers import Answer
from generator.declaring import StrategyEntry, StrategyInputs
from generator.seeds.source import Seed
from generator.seeds.strategy import Mutant, SeedStrategy
from generator.settings import Setting
from generator.strategies.weaken.parity import without_ambiguity
from generator.strategies.weaken.walk import KEEP, STRENGTHEN, WEAKEN, Applied, Walker
from generator.text import comment
from smtlib import Term

SETTINGS = (
    Setting("walk", 10, "steps of a walk before it starts at the seed again", 1, 10_000),
    Setting("iterations", 50, "mutants of a seed before the next one is drawn", 1, 100_000),
    Setting(
        "direction",
        "auto",
        "weaken sat seeds, strengthen unsat ones, do what the seed's answer allows, or keep all answers",
        choices=("auto", "weaken", "strengthen", "keep"),
    ),
    Setting(
        "unlabelled",
        "skip",
        "seeds whose answer is not known: skip them, or use them in chains without a known answer",
        choices=("skip", "chain"),
    ),
    Setting(
        "ambiguous",
        "keep",
        "Boolean =, distinct and xor in seeds: keep them, or rewrite them at random (answers are forgotten)",
        choices=("keep", "rewrite"),
    ),
)

_DIRECTIONS: dict[Answer, int] = {"sat": WEAKEN, "unsat": STRENGTHEN}
_ANSWERS: dict[int, Answer] = {WEAKEN: "sat", STRENGTHEN: "unsat"}
_FIXED = {"weaken": WEAKEN, "strengthen": STRENGTHEN, "keep": KEEP}
_VERBS = {WEAKEN: "weakened", KEEP: "rewritten", STRENGTHEN: "strengthened"}


class WeakenStrategy(SeedStrategy):
    """Weakens and strengthens seeds.

    ``applied`` counts the rules of the steps made so far; ``applicable`` holds, by the number of a step in
    its walk, the sum of how many rules could have been applied, and the number of such steps.
    """

    name = "weaken"

    def __init__(self, inputs: StrategyInputs) -> None:
        seeds, settings = inputs.seeds, inputs.values
        super().__init__(inputs, int(settings["iterations"]))
        self.walk = int(settings["walk"])
        self.direction = str(settings["direction"])
        self.rewrites = settings["ambiguous"] == "rewrite"
        self.uses_all = settings["unlabelled"] == "chain" or self.rewrites or self.direction == "keep"
        self.applied: Counter[str] = Counter()
        self.applicable: dict[int, list[int]] = {}
        self._answers = _seed_answers(self.direction)
        if not self.uses_all:
            seeds.require_answers(self.name, self._answers)
            known = seeds.count("sat") + seeds.count("unsat")
            self.counts["seeds without a known answer"] += seeds.count() - known

    def draw(self, chance: random.Random) -> Seed:
        """A seed with an answer that the direction wants; any seed where chains need no answer."""
        if self.uses_all:
            return self.seeds.draw(chance)
        counts = [self.seeds.count(answer) for answer in self._answers]
        return self.seeds.draw(chance, chance.choices(self._answers, counts)[0])

    def mutants(self, seed: Seed, chance: random.Random) -> Iterator[Mutant]:
        """``iterations`` mutants in walks of ``walk`` steps. A walk that gets stuck starts again."""
        walker = Walker(seed.script(), targets=seed.targets)
        try:
            yield from self._walks(seed, walker, chance)
        finally:
            # The caller stops before the last one.
            self.counts.update(walker.counts)

    def _walks(self, seed: Seed, walker: Walker, chance: random.Random) -> Iterator[Mutant]:
        made = stuck = 0
        while made < self.per_seed and not stuck:
            start = walker.script.assertions
            if self.rewrites:
                start = tuple(without_ambiguity(walker.table, t, chance.choice) for t in start)
            direction, answer = self._way(seed, chance)
            assertions: Sequence[Term] = start
            notes: list[str] = []
            stuck = 1
            for number in range(1, self.walk + 1):
                before = assertions
                step = walker.step(before, direction, chance)
                if step is None:
                    self.counts["stuck: no rule applies"] += 1
                    break
                assertions, applied = step
                self._count(number, applied)
                stuck = 0
                notes.append(applied.rule)
                yield self._mutant(seed, walker, before, assertions, direction, answer, notes)
                made += 1

    def _way(self, seed: Seed, chance: random.Random) -> tuple[int, Answer | None]:
        """The direction of a walk from ``seed``, and the answer that it keeps."""
        answer = None if self.rewrites else seed.answer
        direction = _FIXED.get(self.direction)
        if direction == KEEP:
            return direction, answer
        if direction is None:
            direction = _DIRECTIONS[answer] if answer else chance.choice((WEAKEN, STRENGTHEN))
        return direction, answer if answer == _ANSWERS[direction] else None

    def _count(self, number: int, applied: Applied) -> None:
        self.applied[applied.rule] += 1
        sums = self.applicable.setdefault(number, [0, 0])
        sums[0] += applied.applicable
        sums[1] += 1

    def _mutant(
        self,
        seed: Seed,
        walker: Walker,
        before: Sequence[Term],
        after: Sequence[Term],
        direction: int,
        answer: str | None,
        notes: list[str],
    ) -> Mutant:
        # Both hold of an equivalent formula, and a test can name one: the one that the answer needs.
        is_stronger = direction == STRENGTHEN or (direction == KEEP and answer == "unsat")
        parent = partial(walker.text, before)
        return Mutant(
            partial(walker.text, after),
            (seed,),
            comment((f"answer {answer or 'not known'}", *_lines(f"{_VERBS[direction]} by", notes))),
            (answer,),
            implied_by=None if is_stronger else parent,
            implies=parent if is_stronger else None,
        )


def _lines(head: str, rules: Sequence[str]) -> Iterator[str]:
    """The chain of rules as lines that a header does not cut."""
    for line in textwrap.wrap(", ".join(rules), 150, break_long_words=False, break_on_hyphens=False):
        yield f"{head} {line}"


def _seed_answers(direction: str) -> list[Answer]:
    """The answers that seeds may have."""
    fixed = _FIXED.get(direction)
    return [_ANSWERS[fixed]] if fixed else list(_DIRECTIONS)


ENTRY = StrategyEntry(
    "weaken",
    "walks of weakenings from sat seeds, of strengthenings from unsat ones, by proved rules",
    "seeds with known answers; with --set unlabelled=chain any seeds",
    "sat or unsat, the seed's own; each mutant's parent",
    WeakenStrategy,
    frozenset(("seeds", "answers by default")),
    SETTINGS,
)
