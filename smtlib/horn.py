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
    """Reads one clause."""

    def __init__(self, predicates: Collection[Declaration]) -> None:
        self._predicates = predicates
        self._body: list[tuple[Term, bool]] = []
        self._head: Term | None = None

    def clause(self, formula: Term) -> Clause:
        """The formula as a clause."""
        variables: list[Term] = []
        while formula.name == "forall" or formula.kind is Kind.ANNOTATION:
            variables += formula.variables
            formula = formula.args[0]
        self._conclude(formula)
        if len({variable.name for variable in variables}) < len(variables):
            raise NotHorn("a variable bound twice")
        return Clause(tuple(variables), tuple(self._body), self._head)

    def _conclude(self, term: Term) -> None:
        """``term`` stands where a conclusion does."""
        if term.name == "=>":
            for premise in term.args[:-1]:
                self._assume(premise)
            self._conclude(term.args[-1])
        elif term.name == "or":
            for part in term.args:
                self._conclude(part)
        elif term.name == "not":
            self._assume(term.args[0])
        elif term.op.declaration in self._predicates and term.kind is Kind.SYMBOL:
            if self._head is not None:
                raise NotHorn("two conclusions")
            self._head = term
        elif self._has_predicate(term):
            raise NotHorn("a predicate within a conclusion")
        elif term.name != "false":
            self._body.append((term, True))

    def _assume(self, term: Term) -> None:
        """``term`` stands where a premise does."""
        if term.name == "and":
            for part in term.args:
                self._assume(part)
            return
        if not self._is_positive(term):
            raise NotHorn("a predicate within a premise")
        self._body.append((term, False))

    def _is_positive(self, term: Term) -> bool:
        """Whether predicates stand only below conjunctions, disjunctions and existential quantifiers."""
        waiting = [term]
        while waiting:
            current = waiting.pop()
            if current.name in ("and", "or", "exists"):
                waiting += current.args
            elif any(map(self._has_predicate, current.args)):
                return False
        return True

    def _has_predicate(self, term: Term) -> bool:
        return any(inner.op.declaration in self._predicates for inner in postorder([term]))
