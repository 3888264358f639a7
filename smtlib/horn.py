"""Horn clauses: formulas that say what follows for the predicates of a script."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from smtlib.terms import Declaration, Kind, Term, postorder


class NotHorn(Exception):
    """A formula is no Horn clause in a form that is read here."""


@dataclass(frozen=True, slots=True)
class Clause:
    """For all ``variables``: if all of ``body`` hold, so does ``head``, the application of a predicate (None:
    false). Each term in ``body`` comes with whether it is negated; a negated one has no predicate.
    """

    variables: tuple[Term, ...]
    body: tuple[tuple[Term, bool], ...]
    head: Term | None


def read_clauses(formulas: Iterable[Term], predicates: Collection[Declaration]) -> list[Clause]:
    """The formulas as Horn clauses over ``predicates``. Raises NotHorn."""
    return [_Reader(predicates).clause(formula) for formula in formulas]


class _Reader:
    """Reads one clause, each of its terms once."""

    def __init__(self, predicates: Collection[Declaration]) -> None:
        self._predicates = predicates
        self._body: dict[tuple[Term, bool], None] = {}
        self._head: Term | None = None
        self._with_predicate: set[Term] = set()
        self._positive: set[Term] = set()

    def clause(self, formula: Term) -> Clause:
        """The formula as a clause."""
        variables: list[Term] = []
        while formula.name == "forall" or formula.kind is Kind.ANNOTATION:
            variables += formula.variables
            formula = formula.args[0]
        for term in postorder([formula]):
            if term.op.declaration in self._predicates or not self._with_predicate.isdisjoint(term.args):
                self._with_predicate.add(term)
        # Terms, and whether each stands where a premise does.
        waiting = [(formula, False)]
        seen = set()
        while waiting:
            place = waiting.pop()
            if place not in seen:
                seen.add(place)
                waiting += reversed(self._assume(place[0]) if place[1] else self._conclude(place[0]))
        if len({variable.name for variable in variables}) < len(variables):
            raise NotHorn("a variable bound twice")
        return Clause(tuple(variables), tuple(self._body), self._head)

    def _conclude(self, term: Term) -> list[tuple[Term, bool]]:
        """Read ``term`` where a conclusion stands; its parts that are to be read."""
        if term.name == "=>":
            return [*((premise, True) for premise in term.args[:-1]), (term.args[-1], False)]
        if term.name == "or":
            return [(part, False) for part in term.args]
        if term.name == "not":
            return [(term.args[0], True)]
        if term.op.declaration in self._predicates and term.kind is Kind.SYMBOL:
            if self._head is not None:
                raise NotHorn("two conclusions")
            self._head = term
        elif term in self._with_predicate:
            raise NotHorn("a predicate within a conclusion")
        elif term.name != "false":
            self._body[term, True] = None
        return []

    def _assume(self, term: Term) -> list[tuple[Term, bool]]:
        """Read ``term`` where a premise stands; its parts that are to be read."""
        if term.name == "and":
            return [(part, True) for part in term.args]
        self._require_positive(term)
        self._body[term, False] = None
        return []

    def _require_positive(self, term: Term) -> None:
        """Predicates stand only below conjunctions, disjunctions and existential quantifiers."""
        waiting = [term]
        while waiting:
            current = waiting.pop()
            if current in self._positive:
                continue
            self._positive.add(current)
            if current.name in ("and", "or", "exists"):
                waiting += current.args
            elif not self._with_predicate.isdisjoint(current.args):
                raise NotHorn("a predicate within a premise")
