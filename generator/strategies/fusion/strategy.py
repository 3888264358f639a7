"""The strategy ``fusion``: two formulas of one answer joined into a formula of that answer.

Source: Winterer, Zhang, Su, "Validating SMT Solvers via Semantic Fusion" (PLDI 2020), Section 3. A variable x
of the one formula and y of the other are tied to a new variable z = f(x, y); some occurrences of x become
g(y, z), some of y h(x, z), where g and h give x and y back. Satisfiable formulas are joined by
conjunction: models of both, with f's value for z, satisfy it. Unsatisfiable ones are joined by
disjunction, and the ties are asserted: under them each side means what it meant.

Two things the paper leaves to its seeds are checked here. What SMT-LIB leaves open (x/0, say) is one function
for both halves of a conjunction, so no two satisfiable seeds are joined that may want it differently. And all
names of the second formula, bound ones too, get an ending of their own: nothing clashes, no binder catches.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from corpus.answers import Answer
from generator.declaring import StrategyEntry, StrategyInputs
from generator.seeds.halves import Half, Place, half_of
from generator.seeds.pairs import PARTNERS, PairStrategy, conjunction
from generator.seeds.script import SeedScript
from generator.seeds.source import Seed, SeedSkipped, random_for
from generator.seeds.strategy import Mutant
from generator.settings import Setting
from generator.strategies.fusion.functions import (
    Fusion,
    FusionFunction,
    Template,
    choose_constants,
    functions_for,
    instantiate,
)
from generator.strategies.storm.openness import open_functions
from generator.text import comment
from smtlib import Declaration, Sort, postorder
from smtlib.reader import sexp_text
from smtlib.signature import Bindings

PER_PAIR = 10
"""Tests in a row that come from one pair of seeds."""

SETTINGS = (
    Setting("pairs", 2, "maximum number of fused pairs of variables", 1, 100),
    Setting("answer", "both", "the answer of the formulas that are joined", choices=("both", "sat", "unsat")),
)

_SHARES = (0.25, 0.5, 0.75, 1.0)
"""How many of a variable's occurrences are replaced; drawn per variable."""

_LEAST_SHARE = 25
"""Of a hundred visits, at least this many are of satisfiable seeds, and as many of unsatisfiable ones."""


@dataclass(frozen=True, slots=True)
class _Ways:
    """A fusion function with its constants, as text over the names of x, y and z: the sort of z, the
    replacement of each variable that has one, and the equations that tie x, y and z."""

    name: str
    sort: Sort
    inverses: Mapping[str, Template]
    equations: Sequence[tuple[str, Template]]

    @classmethod
    def of(cls, fusion: Fusion) -> _Ways:
        inverses = {v: Template(term) for v, term in fusion.inverses.items()}
        return cls(fusion.name, fusion.sort, inverses, [("z", Template(fusion.of)), *inverses.items()])


@dataclass(frozen=True, slots=True)
class _Tie:
    """One fused pair: the variables, and the names of x, y and z."""

    x: Declaration
    y: Declaration
    ways: _Ways
    names: Mapping[str, str]


class FusionStrategy(PairStrategy):
    """Fusion over seeds with known answers. ``counts`` has the pairs that could not be joined, by cause."""

    name = "fusion"

    def __init__(self, inputs: StrategyInputs) -> None:
        super().__init__(inputs, PER_PAIR)
        seeds = self.seeds
        self.pairs = int(inputs.values["pairs"])
        self._ways: dict[tuple[object, ...], _Ways] = {}
        self._accepted: dict[tuple[object, ...], bool] = {}
        answer_setting = inputs.values["answer"]
        known: tuple[Answer, ...] = ("sat", "unsat")
        allowed = [answer for answer in known if answer_setting in ("both", answer)]
        seeds.require_answers(self.name, allowed)
        self.answers = [answer for answer in allowed if seeds.count(answer)]
        self._orders: dict[Answer, list[int]] = {}
        for answer in self.answers:
            self._orders[answer] = list(range(seeds.count(answer)))
            random_for(self.seed, 0, f"fusion order {answer}").shuffle(self._orders[answer])
        self._unsat = self._share_of_unsat()

    def _share_of_unsat(self) -> int:
        """How many visits of a hundred are of unsatisfiable seeds: as the seeds are, within bounds."""
        if len(self.answers) == 1:
            return 100 if self.answers == ["unsat"] else 0
        sat, unsat = (self.seeds.count(answer) for answer in self.answers)
        return max(_LEAST_SHARE, min(100 - _LEAST_SHARE, 100 * unsat // (sat + unsat)))

    def draw(self, chance: random.Random) -> Seed:
        """A seed with a known answer, ``unsat`` as often as among the visits."""
        unsat = int(chance.random() * 100) < self._unsat
        return self.seeds.draw(chance, "unsat" if unsat else "sat")

    def mutants(self, seed: Seed, chance: random.Random) -> Iterator[Mutant]:
        """:data:`PER_PAIR` fusions of ``seed`` with one partner; none if no partner fits."""
        for _ in range(PARTNERS):
            if not self.is_usable(seed):
                return
            made = 0
            for mutant in self._fused(seed, self.seeds.draw(chance, seed.answer), chance):
                yield mutant
                made += 1
            if made:
                return

    def _visit(self, visit: int) -> Iterator[Mutant]:
        """The fusions of this visit's pair; of others where that gives too few."""
        chance = random_for(self.seed, visit, self.name)
        # How many visits before this one had this answer follows from its number.
        before, after = (number * self._unsat // 100 for number in (visit, visit + 1))
        answer: Answer = "unsat" if after > before else "sat"
        turn = before if answer == "unsat" else visit - before
        made = 0
        try:
            first, second = self._pair(answer, turn)
            if self.is_usable(first):
                for mutant in self._fused(first, second, chance):
                    yield mutant
                    made += 1
        except SeedSkipped as skip:
            self.counts[f"seed: {skip}"] += 1
        if made < PER_PAIR:
            further = self._of_any(chance, lambda chance: self.seeds.draw(chance, answer))
            yield from islice(further, PER_PAIR - made)

    def _pair(self, answer: Answer, turn: int) -> tuple[Seed, Seed]:
        """The pair of seeds whose turn it is: all of one answer have theirs before one comes again."""
        order = self._orders[answer]
        further, place = divmod(turn, len(order))
        partner = order[(place + order[further % len(order)]) % len(order)]
        return self.seeds.nth(order[place], answer), self.seeds.nth(partner, answer)

    def _fused(self, seed: Seed, partner: Seed, chance: random.Random) -> Iterator[Mutant]:
        """Fusions of a pair, each once; fewer where small formulas allow no more, none where they do not
        fit."""
        why = self.why_not(partner.script()) or _unfit(seed.script(), partner.script(), seed.answer == "sat")
        if not why:
            first = half_of(seed, "")
            second = half_of(partner, first.ending)
            if not self._fusible(first, second):
                why = "no variables that a function takes"
        if why:
            self.counts[f"pair: {why}"] += 1
            return
        seeds = (seed, partner)
        yield from self.different(partial(self._joined, first, second, seeds, chance))

    def _fusible(self, first: Half, second: Half) -> bool:
        xs = {d.result for d in first.occurrences}
        ys = {d.result for d in second.occurrences}
        return any(self._functions_for(x, y) for x in xs for y in ys)

    def _functions_for(self, x: Sort, y: Sort) -> Sequence[tuple[FusionFunction, Bindings]]:
        """The functions that take variables of these sorts and that the targets accept."""
        found = functions_for(x, y)
        return [pair for pair in found if self._is_accepted(*pair)] if self.seeds.targets else found

    def _is_accepted(self, function: FusionFunction, widths: Bindings) -> bool:
        key = (function.name, *widths.items())
        if key not in self._accepted:
            constants = {name: values[0] for name, values in function.constants.items()}
            fusion = instantiate(function, widths, constants)
            terms = postorder([fusion.of, *fusion.inverses.values()])
            self._accepted[key] = self.seeds.targets.accept_terms(terms, bound=False)
        return self._accepted[key]

    def _joined(self, first: Half, second: Half, seeds: tuple[Seed, Seed], chance: random.Random) -> Mutant:
        """One fusion of two halves, which are of these seeds."""
        ties = self._ties(first, second, chance)
        known = seeds[0].answer
        left = first.replaced(_replacements(first, ties, "x", chance))
        right = second.replaced(_replacements(second, ties, "y", chance))
        declared = "".join([f"(declare-fun {t.names['z']} () {t.ways.sort})\n" for t in ties])
        if known == "sat":
            asserted = "".join([f"(assert {a})\n" for a in (*left, *right)])
        else:
            asserted = f"(assert (or {conjunction(left)} {conjunction(right)}))\n"
            for tie in ties:
                for variable, template in tie.ways.equations:
                    asserted += f"(assert (= {tie.names[variable]} {template.text(tie.names)}))\n"
        notes = [
            f"{known}: {t.names['z']} is {t.ways.name} of {t.names['x']} and {t.names['y']}" for t in ties
        ]
        text = f"(set-logic ALL)\n{first.declared}{second.declared}{declared}{asserted}(check-sat)\n"
        return Mutant(partial(str, text), seeds, comment(notes), (known,))

    def _ties(self, first: Half, second: Half, chance: random.Random) -> list[_Tie]:
        """Pairs of variables with a function each, at least one."""
        xs, ys = list(first.occurrences), list(second.occurrences)
        chance.shuffle(xs)
        taken = set(first.names | second.names)
        ties: list[_Tie] = []
        count = 1 + int(chance.random() * self.pairs)
        for x in xs:
            if len(ties) == count:
                break
            chance.shuffle(ys)
            for y in ys:
                found = self._functions_for(x.result, y.result)
                if not found:
                    continue
                ways = self._find_ways(*found[int(chance.random() * len(found))], chance)
                z = _new_name(f"z{len(ties)}", taken)
                ties.append(_Tie(x, y, ways, {"x": first.shown[x], "y": second.shown[y], "z": z}))
                ys.remove(y)
                break
        return ties

    def _find_ways(self, function: FusionFunction, widths: Bindings, chance: random.Random) -> _Ways:
        constants = choose_constants(function, chance)
        key = (function.name, *widths.items(), *((n, sexp_text(v)) for n, v in constants.items()))
        found = self._ways.get(key)
        if found is None:
            found = self._ways[key] = _Ways.of(instantiate(function, widths, constants))
        return found


def _replacements(half: Half, ties: Sequence[_Tie], variable: str, chance: random.Random) -> dict[Place, str]:
    """What stands in some of the places of a half's tied variables."""
    new: dict[Place, str] = {}
    for tie in ties:
        template = tie.ways.inverses.get(variable)
        if template is None:
            continue
        places = half.occurrences[tie.x if variable == "x" else tie.y]
        share = _SHARES[int(chance.random() * len(_SHARES))]
        some = [place for place in places if chance.random() < share]
        some = some or [places[int(chance.random() * len(places))]]
        new.update(dict.fromkeys(some, template.text(tie.names)))
    return new


def _unfit(first: SeedScript, second: SeedScript, satisfiable: bool) -> str:
    if satisfiable and not open_functions(first).isdisjoint(open_functions(second)):
        return "both may want what the standard leaves open"
    return ""


def _new_name(base: str, taken: set[str]) -> str:
    name = base
    while name in taken or f"|{name}|" in taken:
        name += "_"
    taken.add(name)
    return name


ENTRY = StrategyEntry(
    "fusion",
    "two seeds with the same answer, joined by new variables that are functions of a variable of each",
    "seeds with known answers",
    "sat or unsat, the seeds' own",
    FusionStrategy,
    frozenset(("seeds", "answers")),
    SETTINGS,
)
