"""A chain of mutations of one seed: the assertions as they stand, the terms at hand, what was done so far."""

from __future__ import annotations

import random
from collections.abc import Callable

from generator.mutation.operators import Applier, Operators, SeedFunctions
from generator.mutation.places import Place, Places
from generator.mutation.pool import GrowingPool, pool_of
from generator.seeds import Seed
from smtlib import Sort, Term, print_term
from smtlib.sorts import subsorts

_NOTES = 12
"""So many mutations of a chain are told in a test's header, the last ones."""

_SHOWN = 60


class Chain:
    """The state between two mutations of a chain."""

    def __init__(self, seed: Seed, operators: Operators) -> None:
        self.script = seed.script()
        base = pool_of(self.script)
        # A copy of the shared table: terms made in it are numbered the same whenever the chain is made.
        self.table = base.table.copy()
        self.pool = GrowingPool(base)
        self.applier = Applier(operators, self.table)
        self.operators = operators
        self.functions = SeedFunctions(self.script)
        self.guarded = operators.guarded_theories(base.operators)
        self.assertions = list(self.script.assertions)
        self.sorts: frozenset[Sort] = frozenset(base.by_sort)
        self.mutations = 0
        self._places: dict[Term, Places] = {}
        self._texts: dict[Term, str] = dict(self.script.assertion_texts)
        self._notes: list[str] = []

    def has_literals(self, sort: Sort) -> bool:
        """Whether the solvers take literals of this sort: those of arrays are constant arrays."""
        return self.operators.knows("const") or all(s.name != "Array" for s in subsorts(sort))

    def is_suitable(self) -> bool:
        """Whether the solvers take all of the seed's sorts wherever they may come to stand."""
        if "cvc5" not in self.operators.families:
            return True
        return not any(
            inner.name == "Array" and inner.args[0].name == "Array"
            for sort in self.sorts
            for inner in subsorts(sort)
        )

    def place(self, chance: random.Random, wanted: Callable[[Term], bool] | None = None) -> tuple[int, Place]:
        """An assertion's number and a place in it. ``wanted`` narrows the terms; where none is found
        by a few draws, any place is given."""
        number = int(chance.random() * len(self.assertions))
        root = self.assertions[number]
        places = self._places.get(root)
        if places is None:
            places = self._places[root] = Places(root)
        terms = places.terms
        term = terms[int(chance.random() * len(terms))]
        if wanted is not None:
            for _ in range(4):
                if wanted(term):
                    break
                term = terms[int(chance.random() * len(terms))]
        return number, places.at(term, chance)

    def replace(self, number: int, place: Place, new: Term, what: str) -> None:
        """Put ``new`` into a place of an assertion. ``what`` names the mutation."""
        self.pool.add(new)
        self.assertions[number] = place.replace(self.table, new)
        self.mutations += 1
        change = f"{_short(place.term)} -> {_short(new)}"
        self._notes.append(f"mutation {self.mutations} ({what}) in assertion {number + 1}: {change}")
        if len(self._notes) > _NOTES:
            del self._notes[0]

    @property
    def notes(self) -> tuple[str, ...]:
        """The last mutations, a line each."""
        left_out = self.mutations - len(self._notes)
        before = (f"{left_out} mutations before these",) if left_out else ()
        return (*before, *self._notes)

    def snapshot(self) -> Callable[[], str]:
        """Gives the text of the script as it stands now, whatever comes later."""
        assertions = tuple(self.assertions)

        def text() -> str:
            texts = self._texts
            lines = []
            for term in assertions:
                known = texts.get(term)
                if known is None:
                    known = texts[term] = print_term(term)
                lines.append(f"(assert {known})\n")
            return f"{self.script.prelude_text}{''.join(lines)}(check-sat)\n"

        return text


def _short(term: Term) -> str:
    """How a term begins: its head and its arguments' heads."""
    if not term.args:
        text = term.op.text
    else:
        args = " ".join(a.op.text if not a.args else f"({a.op.text} ..)" for a in term.args[:6])
        text = f"({term.op.text} {args}{' ..' if len(term.args) > 6 else ''})"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
