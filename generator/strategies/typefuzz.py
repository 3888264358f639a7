"""The strategy ``typefuzz``: generative type-aware mutation.

Source: Park, Winterer, Zhang, Su, "Generative Type-Aware Mutation for Testing SMT Solvers" (OOPSLA 2021),
Algorithms 1 and 2: a random subterm of the formula is replaced by a new term of its sort, made of a
random operator of that result sort and of random terms of the formula that fit the operator's parameters and
whose variables are bound there; the mutant is the next formula of the chain.

Beyond the paper: all theories, indexed operators, functions and datatypes of the seed; n-ary operators with
more than two arguments; and constants, which the paper leaves alone: new literals near those
present, and boundary values of their sort, take the place of literals and serve as arguments.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from generator.declaring import StrategyEntry, StrategyInputs
from generator.refusals import constant_arguments
from generator.seeds.source import Seed
from generator.settings import Setting
from generator.strategies.mutation.chain import Chain
from generator.strategies.mutation.literals import is_literal, new_literal, one_of
from generator.strategies.mutation.operators import EXPONENTS, Shape, apply_shape
from generator.strategies.mutation.places import Place
from generator.strategies.mutation.strategy import COMMON_SETTINGS, NO_OPERATOR, TermStrategy
from smtlib import Sort, Term

NO_ARGUMENT = "attempts that found no argument"

_MORE_ARGUMENTS = 0.15
"""Share of n-ary operators that get one argument more than two, and of those one more again."""


class TypeFuzz(TermStrategy[Chain]):
    """Chains of generative type-aware mutations."""

    name = "typefuzz"

    def __init__(self, inputs: StrategyInputs) -> None:
        super().__init__(inputs)
        self._literal_share = float(inputs.values["literals"])

    def start(self, seed: Seed) -> Chain:
        """The seed's assertions and the terms in them."""
        return Chain(seed, self.operators)

    def attempt(self, chain: Chain, chance: random.Random) -> bool:
        """One try at a mutation of Algorithm 2, or of a literal."""
        if chance.random() < self._literal_share:
            found = chain.place(chance, is_literal)
            if found is None:
                return False
            number, place = found
            literal = self._literal(chain, place.term.sort, chance)
            if literal is not None and literal is not place.term and chain.is_accepted(literal):
                chain.replace(number, place, literal, "literal")
                return True
            return False
        found = chain.place(chance)
        if found is None:
            return False
        number, place = found
        new = self._new_term(chain, place, chance)
        if new is None or not self.fits(chain, number, place, new):
            return False
        chain.replace(number, place, new, "term")
        return True

    @staticmethod
    def _literal(chain: Chain, sort: Sort, chance: random.Random) -> Term | None:
        known = chain.pool.literals(sort)
        return new_literal(chain.table, sort, known, chance) if chain.has_literals(sort) else None

    def _new_term(self, chain: Chain, place: Place, chance: random.Random) -> Term | None:
        sort = place.term.sort
        theories = chain.operators.shapes(sort, chain.sorts, chain.guarded)
        own = chain.functions.shapes(sort, chain.sorts)
        count = len(theories) + len(own)
        if not count:
            self.counts[NO_OPERATOR] += 1
            return None
        choice = int(chance.random() * count)
        group = theories[choice] if choice < len(theories) else own[choice - len(theories)]
        shape = one_of(group, chance)
        args = self._arguments(chain, shape, place, chance)
        made = None if args is None else apply_shape(chain.table, shape, args, sort, chance)
        if made is None:
            self.counts[NO_ARGUMENT] += 1
        return made

    def _arguments(
        self, chain: Chain, shape: Shape, place: Place, chance: random.Random
    ) -> tuple[Term, ...] | None:
        args: list[Term] = []
        wants_value = constant_arguments(shape.name) if shape.signature else ()
        for position, sort in enumerate(self._argument_sorts(shape, chance)):
            if shape.name == "^" and position == 1 and shape.signature:
                args.append(chain.table.literal(one_of(EXPONENTS, chance), sort))
                continue
            if position in wants_value or chance.random() < self._literal_share:
                literal = self._literal(chain, sort, chance)
                if literal is not None:
                    args.append(literal)
                    continue
            arg = chain.pool.pick_argument(sort, place, chance)
            if arg is None:
                return None
            args.append(arg)
        return tuple(args)

    @staticmethod
    def _argument_sorts(shape: Shape, chance: random.Random) -> Sequence[Sort]:
        sorts = shape.sorts
        signature = shape.signature
        if signature is None or not signature.associativity or len(set(sorts)) > 1:
            return sorts
        more = 0
        while more < 3 and chance.random() < _MORE_ARGUMENTS:
            more += 1
        return (*sorts, *sorts[:1] * more)


ENTRY = StrategyEntry(
    "typefuzz",
    "generative type-aware mutation: subterms replaced by operators over existing terms, in chains",
    "seeds",
    "nothing",
    TypeFuzz,
    frozenset(("seeds",)),
    (
        *COMMON_SETTINGS,
        Setting("literals", 0.15, "share of mutations that change a literal, and of new literals", 0, 1),
    ),
)
