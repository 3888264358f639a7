"""The strategy ``expand``: terms replaced by larger equal ones, by rewrite rules from right to left.

Where ``rewrites`` puts the left side of a rule in the place of any term, here the right side has to match the
term: the formula keeps its meaning, and a solver has to rewrite it back. The rules are those that cvc5's
proofs rely on (Nötzli et al., FMCAD 2022). The answer of a test is that of its seed. A rule is used where its
premises hold whatever terms stand in it. What only the left side has is filled with terms of the formula.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from generator.declaring import StrategyEntry
from generator.rewriting.instances import (
    INSTANCES,
    OPEN_SHARE,
    USUAL_WIDTH,
    Instances,
    OpenText,
    draw_values,
    names_of,
)
from generator.rewriting.rules import Rule
from generator.strategies.mutation.places import Place
from generator.strategies.rewrites import Fitting, RuleStrategy
from generator.strategies.transplant import GRAFT_SETTINGS, Graft, TransplantChain
from smtlib import Declaration, Term

_ANY_SHARE = 0.2
"""Share of attempts that use a rule whose right side matches every term of a sort."""
_INNER_SHARE = 0.7
"""Share of attempts at terms that have arguments."""


class _Sides(NamedTuple):
    """The sides of an instance, over the same slots."""

    left: Graft
    right: Term


class _Index(NamedTuple):
    """Rules by the sort of a right side that is a slot, and by the head of any other right side."""

    any: dict[str, list[Rule]]
    by_head: dict[str, list[Rule]]


class Expand(RuleStrategy):
    """Chains of rules from right to left."""

    name = "expand"
    # Few right sides match.
    draws = 20

    @cached_property
    def instances(self) -> Instances[_Sides]:
        """What the rules say of terms."""
        return Instances(self.seed, self._instance)

    @cached_property
    def _index(self) -> _Index:
        """Made for the first test: it takes a second."""
        index = _Index(defaultdict(list), defaultdict(list))
        for rule in self.rules:
            made = [self.instances.get(rule, USUAL_WIDTH, number) for number in range(INSTANCES)]
            rights = [sides.right for sides in made if sides is not None]
            for name in sorted({right.sort.name for right in rights if right.op.declaration}):
                index.any[name].append(rule)
            for name in sorted({right.op.name for right in rights if not right.op.declaration}):
                index.by_head[name].append(rule)
        return index

    def known(self, chain: TransplantChain) -> tuple[str | None, ...]:
        """The answer of the seed."""
        return (chain.answer,)

    def draw_place(self, chain: TransplantChain, chance: random.Random) -> tuple[int, Place] | None:
        """Half of a formula's terms are constants, which few rules match: rather one with arguments."""
        return chain.place(chance, _has_arguments if chance.random() < _INNER_SHARE else None)

    def rules_for(self, term: Term, chance: random.Random) -> Sequence[Rule] | None:
        """Those with its head on the right side, or those that match every term of its sort."""
        for_head = self._index.by_head.get(term.op.name)
        is_any = chance.random() < _ANY_SHARE or not (term.args or for_head)
        return self._index.any.get(term.sort.name) if is_any else for_head

    def fitting(self, rule: Rule, width: int, number: int, term: Term) -> Fitting | None:
        """A left side whose right side matches the term, with what its slots hold then."""
        sides = self.instances.get(rule, width, number)
        known: dict[Declaration, Term] = {}
        return (sides.left, known) if sides is not None and _matches(sides.right, term, known) else None

    def _instance(self, rule: Rule, width: int, chance: random.Random) -> _Sides | None:
        """The sides of an instance that holds for all terms; None if there is none that the targets know."""
        values, is_met = draw_values(rule, width, chance)
        if values is None or not is_met:
            return None
        needed = {name for premise in rule.premises for name in names_of(premise)}
        text = OpenText(rule, values, not needed and chance.random() < OPEN_SHARE)
        if any(parameter.name in needed and not text.is_inline(parameter) for parameter in rule.parameters):
            return None
        sides = text.sides(2)
        if sides is None or sides[0].sort is not sides[1].sort:
            return None
        left = Graft.of_term(f"by {rule.name}", sides[0])
        is_plain = not sides[1].args or Graft.of_term("", sides[1]) is not None
        return _Sides(left, sides[1]) if left and is_plain and self.is_known(left) else None


def _has_arguments(term: Term) -> bool:
    return bool(term.args)


def _matches(pattern: Term, term: Term, known: dict[Declaration, Term]) -> bool:
    """Whether ``term`` is ``pattern`` with terms in its slots, which ``known`` has then."""
    if pattern.sort is not term.sort:
        return False
    op, head = pattern.op, term.op
    if op.declaration is not None:
        return known.setdefault(op.declaration, term) is term
    return (
        (op.kind, op.name, op.indices, len(pattern.args))
        == (head.kind, head.name, head.indices, len(term.args))
        and head.declaration is None
        and all(_matches(*pair, known) for pair in zip(pattern.args, term.args, strict=True))
    )


ENTRY = StrategyEntry(
    "expand",
    "terms of a formula replaced by larger equal ones, by a solver's rewrite rules from right to left",
    "seeds",
    "the answer of its seed, where that is known",
    Expand,
    frozenset(("seeds",)),
    GRAFT_SETTINGS,
)
