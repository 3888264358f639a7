"""The strategy ``theorems``: what past bugs prove, put into formulas whose answer is known.

The negation of an unsatisfiable formula is a theorem, and any terms may stand for its constants. Let C be
such an instance of an unsatisfiable formula, over terms that another formula has at some place. Then a term f
of that place equals ``(ite C g f)``, and a truth value f equals ``(or f C)``, ``(and f (not C))`` and the
like. The formula keeps its answer, and a solver has to refute C to give it. In some chains, an assertion A
becomes ``(ite A C D)`` first, with a second contradiction D: then the formula is unsatisfiable.

Mutations follow each other as in Park, Winterer, Zhang, Su (OOPSLA 2021); what may stand where is their
Definition 2.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from generator.declaring import StrategyEntry, StrategyInputs
from generator.errors import GenerationError
from generator.refusals import is_taken_everywhere
from generator.seeds.script import SeedScript
from generator.seeds.source import Seed, SeedSkipped
from generator.settings import Setting
from generator.strategies.mutation.places import Place
from generator.strategies.transplant import GRAFT_SETTINGS, Graft, GraftStrategy, TransplantChain
from smtlib import BOOL, Declaration, Term, TermTable, postorder

NO_CONTRADICTION = "attempts that found no contradiction for a formula"
NO_TERM = "attempts at a term of whose sort the formula has no other"

_DRAWS = 20
"""Draws of an unsatisfiable seed until one has constants of sorts that the formula has."""

_MOST_TERMS = 60
"""Seeds with more distinct terms are not put into others: solvers rarely decide the result."""

_Equal = Callable[[TermTable, Term, Term, Term], Term]
"""Makes a term that equals the first, of a contradiction and another term of the first one's sort."""


def _chosen(table: TermTable, term: Term, false: Term, other: Term) -> Term:
    return _choice(table, false, other, term)


def _choice(table: TermTable, condition: Term, one: Term, other: Term) -> Term:
    return table.operator("ite", (condition, one, other), one.sort)


def _joined(connective: str, is_true: bool = False, is_first: bool = False) -> _Equal:
    """A truth value and a contradiction, or its negation, which may come first."""

    def join(table: TermTable, term: Term, false: Term, other: Term) -> Term:
        known = table.operator("not", (false,), BOOL) if is_true else false
        return table.operator(connective, (known, term) if is_first else (term, known), BOOL)

    return join


_EQUAL: Sequence[_Equal] = (_chosen,)
_EQUAL_FORMULAS: Sequence[_Equal] = (
    _chosen,
    _joined("or"),
    _joined("or", is_first=True),
    _joined("and", is_true=True),
    _joined("and", is_true=True, is_first=True),
    _joined("=>", is_true=True, is_first=True),
    _joined("=", is_true=True),
    _joined("xor"),
)


class TheoremChain(TransplantChain):
    """A chain, and whether its first mutation makes the formula unsatisfiable (None: not drawn yet)."""

    contradicts: bool | None = None


class Theorems(GraftStrategy):
    """Chains of contradictions put where they change nothing."""

    name = "theorems"

    def __init__(self, inputs: StrategyInputs) -> None:
        super().__init__(inputs)
        self._unsat = float(inputs.values["unsat"])
        self._grafts: dict[str, Graft | None] = {}
        self.seeds.require_answers(self.name, ["unsat"])
        if not any(map(self._graft, self._unsat_seeds())):
            raise GenerationError(
                f"theorems: no unsatisfiable seed of {self.seeds.name} can stand in a formula"
            )

    def _unsat_seeds(self) -> Iterator[Seed]:
        """The unsatisfiable seeds that can be used."""
        for number in range(self.seeds.count("unsat")):
            with suppress(SeedSkipped):
                seed = self.seeds.nth(number, "unsat")
                seed.script()
                yield seed

    def start(self, seed: Seed) -> TheoremChain:
        """The seed's assertions and the terms in them."""
        return TheoremChain(seed, self.operators)

    def known(self, chain: TransplantChain) -> tuple[str | None, ...]:
        """The answer of the seed, or unsat."""
        return (chain.answer,)

    def attempt(self, chain: TransplantChain, chance: random.Random) -> bool:
        """One try to put contradictions into the place of a term."""
        assert isinstance(chain, TheoremChain)
        if chain.contradicts is None:
            chain.contradicts = chain.answer is None or chance.random() < self._unsat
        if chain.contradicts and not chain.log.mutations:
            return self._contradict(chain, chance)
        found = chain.place(chance)
        if found is None:
            return False
        number, place = found
        term = place.term
        # Above an earlier change, a term of an assertion is none of the pool.
        chain.pool.note(term)
        if not is_taken_everywhere("ite", term.sort):
            return False
        other = chain.other(term.sort, place, {}, chance)
        ways = _EQUAL_FORMULAS if term.sort is BOOL else _EQUAL
        equal = ways[int(chance.random() * len(ways))]
        if other is None and equal is _chosen:
            self.counts[NO_TERM] += 1
            return False
        new: list[Declaration] = []
        instance = self._instance(chain, place, chance, new)
        if instance is None:
            return False
        made, origin = instance
        whole = equal(chain.table, term, made[-1], other or term)
        made += postorder([whole], {term, other or term, *made})
        return self.put(chain, number, place, made, new, origin)

    def _contradict(self, chain: TransplantChain, chance: random.Random) -> bool:
        """One try to put two contradictions into the place of an assertion, which chooses one."""
        number = int(chance.random() * len(chain.assertions))
        place = Place(chain.assertions[number], (), {})
        new: list[Declaration] = []
        first = self._instance(chain, place, chance, new)
        second = self._instance(chain, place, chance, new)
        if first is None or second is None:
            return False
        (made, origin), (others, other_origin) = first, second
        whole = _choice(chain.table, place.term, made[-1], others[-1])
        if not self.put(chain, number, place, [*made, *others, whole], new, f"{origin} or {other_origin}"):
            return False
        chain.answer = "unsat"
        return True

    def _instance(
        self, chain: TransplantChain, place: Place, chance: random.Random, new: list[Declaration]
    ) -> tuple[list[Term], str] | None:
        """The terms of a contradiction for a place, the whole one last, and what it is: rather of a seed over
        sorts that the formula has. None if a few draws find none.
        """
        usable = None
        for _ in range(_DRAWS):
            graft = self._graft(self.seeds.draw(chance, "unsat"))
            if graft is not None and self.suits(chain, graft):
                usable = graft
                if all(slot.result in chain.sorts for slot in graft.slots):
                    break
        if usable is None:
            self.counts[NO_CONTRADICTION] += 1
            return None
        return self.instance(chain, place, usable, chance, new), usable.origin

    def _graft(self, seed: Seed) -> Graft | None:
        """An unsatisfiable seed as a term; None where it cannot stand just anywhere."""
        if seed.origin not in self._grafts:
            root = self._contradiction(seed.script())
            graft = Graft.of_term(f"theorem of {seed.origin}", root, binds=True) if root else None
            # One of literals alone would say nothing about the formula.
            is_usable = graft and any(not slot.params for slot in graft.slots) and self.is_known(graft)
            self._grafts[seed.origin] = graft if is_usable else None
        return self._grafts[seed.origin]

    def _contradiction(self, script: SeedScript) -> Term | None:
        """The formula as one term; None if it is large, or has sorts or symbols that are more than names."""
        if len(script.terms) > _MOST_TERMS or script.definitions or script.datatypes:
            return None
        if any(command.sort is not None for command in script.prelude) or self.why_not(script):
            return None
        first, *others = script.assertions
        return script.table.copy().operator("and", script.assertions, BOOL) if others else first


ENTRY = StrategyEntry(
    "theorems",
    "unsatisfiable formulas of past bugs put into formulas, over their terms, without a change of meaning",
    "seeds with answers",
    "the answer of its seed, or unsat",
    Theorems,
    frozenset(("seeds", "answers")),
    (
        *GRAFT_SETTINGS,
        Setting("unsat", 0.4, "share of seeds that become unsatisfiable", 0, 1),
    ),
)
