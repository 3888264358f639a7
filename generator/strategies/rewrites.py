"""The strategy ``rewrites``: terms that look like the left side of a solver's rewrite rules.

A rewriter changes a term only where one of its rules matches, and few terms drawn at random match any. cvc5
prints the rules that its proofs rely on (Nötzli et al., FMCAD 2022). An instance of a rule is drawn as the
audit of these rules draws it: widths, indices, and most numbers and lists have values with which the premises
hold. Its left side takes the place of a term of its sort in a formula; what the rule leaves open is filled
with terms of the formula. The result is the next formula of the chain, as in Park, Winterer, Zhang, Su
(OOPSLA 2021).
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from hashlib import sha256

from generator.declaring import StrategyEntry, StrategyInputs
from generator.rewriting.instances import (
    INSTANCES,
    OPEN_SHARE,
    USUAL_WIDTH,
    Instances,
    OpenText,
    draw_values,
    printed_rules,
    width_of,
    width_of_some,
)
from generator.rewriting.rules import Rule
from generator.strategies.mutation.places import Place
from generator.strategies.transplant import GRAFT_SETTINGS, Graft, GraftStrategy, TransplantChain
from smtlib import Declaration, Term

NO_RULE = "attempts with no rule that fits"

Fitting = tuple[Graft, Mapping[Declaration, Term]]
"""A left side, and what is known of its slots."""


class RuleStrategy(GraftStrategy):
    """Base of the strategies that put left sides of rules into formulas."""

    draws = 6
    """Draws of a rule until one fits and has an instance over sorts that the formula has."""

    def __init__(self, inputs: StrategyInputs, rules: Sequence[Rule] | None = None) -> None:
        """``rules`` are those that a solver prints if none are given."""
        super().__init__(inputs)
        self.rules = printed_rules() if rules is None else rules
        self._digest = sha256("".join(map(repr, self.rules)).encode()).hexdigest()

    @abstractmethod
    def rules_for(self, term: Term, chance: random.Random) -> Sequence[Rule] | None:
        """Rules that may fit in the place of a term, if there are any."""

    @abstractmethod
    def fitting(self, rule: Rule, width: int, number: int, term: Term) -> Fitting | None:
        """An instance of a rule, if it fits in the place of a term."""

    @property
    def fingerprint(self) -> str:
        """Names the seeds and the rules that the tests come from."""
        return f"{self.seeds.fingerprint[:8]}{self._digest[:8]}"

    def draw_place(self, chain: TransplantChain, chance: random.Random) -> tuple[int, Place] | None:
        """An assertion's number and a place in it."""
        return chain.place(chance)

    def attempt(self, chain: TransplantChain, chance: random.Random) -> bool:
        """One try to put the left side of a rule into the place of a term."""
        found = self.draw_place(chain, chance)
        if found is None:
            return False
        number, place = found
        fitting = self.draw_fitting(chain, place, chance)
        if fitting is None:
            self.counts[NO_RULE] += 1
            return False
        left, known = fitting
        new: list[Declaration] = []
        made = self.instance(chain, place, left, chance, new, known)
        return self.put(chain, number, place, made, new, left.origin)

    def draw_fitting(self, chain: TransplantChain, place: Place, chance: random.Random) -> Fitting | None:
        """The left side of a rule that fits a place, rather one over sorts that the formula has."""
        term = place.term
        rules = self.rules_for(term, chance)
        if not rules:
            return None
        width = width_of(term.sort) or width_of_some(chain.sorts, chance)
        usable = None
        for _ in range(self.draws):
            rule = rules[int(chance.random() * len(rules))]
            found = self.fitting(rule, width, int(chance.random() * INSTANCES), term)
            if found is None or not self.suits(chain, found[0]):
                continue
            usable = found
            left, known = found
            if all(slot in known or slot.result in chain.sorts for slot in left.slots):
                break
        return usable


class Rewrites(RuleStrategy):
    """Chains of instances of rules."""

    name = "rewrites"

    @cached_property
    def _instances(self) -> Instances[Graft]:
        return Instances(self.seed, self._instance)

    @cached_property
    def _by_sort(self) -> Mapping[str, Sequence[Rule]]:
        """The rules by the sort of their left sides."""
        found: dict[str, list[Rule]] = defaultdict(list)
        for rule in self.rules:
            if (graft := self._instances.get(rule, USUAL_WIDTH, 0)) is not None:
                found[graft.root.sort.name].append(rule)
        return found

    def rules_for(self, term: Term, chance: random.Random) -> Sequence[Rule] | None:
        """Those of the sort of the term."""
        return self._by_sort.get(term.sort.name)

    def fitting(self, rule: Rule, width: int, number: int, term: Term) -> Fitting | None:
        """A left side of the sort of the term."""
        graft = self._instances.get(rule, width, number)
        return None if graft is None or graft.root.sort is not term.sort else (graft, {})

    def _instance(self, rule: Rule, width: int, chance: random.Random) -> Graft | None:
        """The left side of an instance; None if there is none that the targets know."""
        values, _ = draw_values(rule, width, chance)
        if values is None:
            return None
        sides = OpenText(rule, values, chance.random() < OPEN_SHARE).sides(1)
        graft = sides and Graft.of_term(f"left side of {rule.name}", sides[0])
        return graft if graft and self.is_known(graft) else None


ENTRY = StrategyEntry(
    "rewrites",
    "terms of a formula replaced by left sides of a solver's rewrite rules over other terms of it",
    "seeds",
    "nothing",
    Rewrites,
    frozenset(("seeds",)),
    GRAFT_SETTINGS,
)
