"""A chain of mutations of one seed: the assertions as they stand, the terms at hand, what was done so far."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable

from generator.seeds.source import Seed
from generator.strategies.mutation.literals import has_literals
from generator.strategies.mutation.operators import Operators, SeedFunctions
from generator.strategies.mutation.places import Place, find_place
from generator.strategies.mutation.pool import GrowingPool, pool_of
from generator.strategies.mutation.printing import Fragments
from generator.targets import AcceptedTerms
from generator.text import comment_line
from smtlib import Declaration, Sort, Term

_NOTES = 20
"""A test's header lists the last mutations of its chain: all of the first 40, then the last 21 to 40."""

_PLAIN = 180
"""Longer lines may have to be cut."""

_SHOWN = 60
_DRAWS = 6

_SHRINKS, _GROWS, _ROOM = 2, 2, 40
"""An assertion keeps at least half of its terms and becomes at most twice as large, and 40 terms."""


class MutationLog:
    """What was done to a seed so far, for the header of a test: how many mutations, and the last ones."""

    __slots__ = ("_before", "_latest", "mutations")

    def __init__(self) -> None:
        self.mutations = 0
        self._before = ""
        self._latest = ""

    def add(self, what: str) -> None:
        """One more mutation."""
        if self.mutations % _NOTES == 0:
            self._before, self._latest = self._latest, ""
        self.mutations += 1
        line = f"; mutation {self.mutations} {what}\n"
        # Nearly all are plain, and this is done for every mutation.
        if len(line) > _PLAIN or not what.isprintable():
            line = comment_line(line[len("; ") : -1])
        self._latest += line

    def text(self) -> str:
        """Comment lines, one for each of the last mutations."""
        left_out = (self.mutations - 1) // _NOTES * _NOTES - _NOTES
        lines = self._before + self._latest
        return f"; {left_out} mutations before these\n{lines}" if left_out > 0 else lines


class Chain:
    """The state between two mutations of a chain."""

    def __init__(self, seed: Seed, operators: Operators) -> None:
        self.script = seed.script()
        self.answer: str | None = seed.answer
        """That of the seed."""
        self._accepted = AcceptedTerms(seed.targets, self.script)
        base = pool_of(self.script)
        # A copy of the shared table: terms made in it are numbered the same whenever the chain is made.
        self.table = base.table.copy()
        self.pool = GrowingPool(base)
        self.operators = operators
        self.functions = SeedFunctions(self.script)
        self.guarded = operators.guarded_theories(base.operators)
        self.assertions = list(self.script.assertions)
        self.sorts: frozenset[Sort] = frozenset(base.by_sort)
        self.declared: dict[Declaration, str] = {}
        """What was declared besides the seed's declarations, with its commands."""
        self.log = MutationLog()
        self._sizes = [self.pool.size(term) for term in self.assertions]
        self.fragments = Fragments(self.pool.size)

    def has_literals(self, sort: Sort) -> bool:
        """Whether the sort has literals that the solvers take."""
        return has_literals(sort, self.operators.knows("const"))

    def place(
        self,
        chance: random.Random,
        fits: Callable[[Term], bool] | None = None,
        size: Callable[[Term], int] | None = None,
    ) -> tuple[int, Place] | None:
        """An assertion's number and a place in it whose term can be replaced and ``fits``.

        ``size`` tells how many terms below a term, itself among them, can be drawn (default: all). None if a
        few draws find none.
        """
        number = int(chance.random() * len(self.assertions))
        root = self.assertions[number]
        for _ in range(_DRAWS):
            place = find_place(root, size or self.pool.size, chance)
            if place is not None and (fits is None or fits(place.term)):
                return number, place
        return None

    def keeps_its_size(self, number: int, place: Place, new: Term) -> bool:
        """Whether an assertion would stay about as large as it was in the seed.

        Without this a long chain ends in single atoms, or in terms that no solver finishes.
        """
        size = self.pool.size
        root = self.assertions[number]
        old = self._sizes[number]
        after = size(root) - size(place.term) + 1 + sum([size(a) for a in new.args])
        return after * _SHRINKS >= old and after <= _GROWS * old + _ROOM

    def is_accepted(self, new: Term) -> bool:
        """Whether the targets accept a new term over terms of the pool."""
        return self._accepted.accept(new)

    def replace(self, number: int, place: Place, new: Term, what: str, keep: bool = True) -> None:
        """Put ``new`` into a place of an assertion. ``what`` names the mutation.

        ``keep``: the new term may be an argument later; its own arguments are terms of the pool then.
        """
        if keep:
            self.pool.add(new)
        else:
            self.pool.measure(new)
        self.assertions[number] = place.replace(self.table, new, self.pool.measure)
        self.log.add(f"({what}) in assertion {number + 1}: {_short(place.term)} -> {_short(new)}")

    def state(self) -> Hashable:
        """Differs where the assertions do."""
        return tuple(self.assertions)

    def text(self) -> str:
        """The script as it stands."""
        return self.script.text(self.assertions, "".join(self.declared.values()), self.fragments.text)


def _short(term: Term) -> str:
    """How a term begins: its head and its arguments' heads."""
    if not term.args:
        text = term.op.text
    else:
        args = " ".join(a.op.text if not a.args else f"({a.op.text} ..)" for a in term.args[:6])
        text = f"({term.op.text} {args}{' ..' if len(term.args) > 6 else ''})"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
