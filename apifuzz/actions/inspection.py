"""Looking at sorts and terms, printing and reading them, and terms made of terms."""

from __future__ import annotations

from typing import Any, Self

from apifuzz.actions import Action, Made
from apifuzz.call import Closed, ClosedList, ConstantList, SortArg, Term, Value
from apifuzz.interface import ApiTerm, Feature, TermKind
from apifuzz.run import Run
from apifuzz.sort_drawing import draw_made
from apifuzz.trace import TraceError

_MOST = 3


class InspectSort(Action[None]):
    """``inspect-sort SORT``: what the solver says of it is what it was made of (:class:`Misbehaviour`)."""

    sort: SortArg

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return bool(run.store.plain_sorts)

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        sort = draw_made(run)
        return None if sort is None else cls(run.store.sorts[sort])


class InspectTerm(Action[None]):
    """``inspect-term TERM``: children, operator, indices, value and hash are those of what it was made of."""

    term: Term

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return bool(run.store.closed_terms)

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        term = run.store.pick_any(run.random)
        return None if term is None else cls(term)


class ReadBack(InspectTerm):
    """``read-back TERM``: a closed term, printed and read by the solver's own parser, is the same term."""

    term: Closed


class Simplify(Action[Any]):
    """``simplify TERM``: an equivalent term of the same sort; gives a handle."""

    feature = Feature.SIMPLIFY
    term: Value

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.has(Feature.SIMPLIFY) and bool(run.store.closed_terms)

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        term = run.store.pick_any(run.random)
        return None if term is None or term.sort.sort.is_function else cls(term)

    def make(self, run: Run) -> Made:
        self.require(run)
        return (run.keep_term(self.term.sort, run.engine.perform(self), TermKind.TERM),)


class Substitute(Action[Any]):
    """``substitute TERM (CONSTANT ...) (TERM ...)``: all at once; everything is closed; gives a handle."""

    feature = Feature.SUBSTITUTE
    term: Closed
    replaced: ConstantList
    by: ClosedList

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.has(Feature.SUBSTITUTE) and bool(run.store.closed_terms)

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        term = run.store.pick_any(run.random)
        sort = draw_made(run)
        pool = run.store.pools.get(sort) if sort is not None else None
        if term is None or pool is None or not pool.constants:
            return None
        by: dict[ApiTerm, ApiTerm] = {}
        for _ in range(1 + int(run.random.random() * _MOST)):
            constant = pool.constants[int(run.random.random() * len(pool.constants))]
            if constant not in by:
                by[constant] = pool.closed[int(run.random.random() * len(pool.closed))]
        return cls(term, tuple(by), tuple(by.values()))

    def make(self, run: Run) -> Made:
        self.require(run)
        replaced, by = self.replaced, self.by
        if not replaced or len(replaced) != len(by) or len(set(replaced)) != len(replaced):
            raise TraceError("as many terms as different constants expected")
        for old, new in zip(replaced, by, strict=True):
            if old.sort.sort is not new.sort.sort:
                raise TraceError(f"{new} has the sort {new.sort.sort}, expected {old.sort.sort}")
        return (run.keep_term(self.term.sort, run.engine.perform(self), TermKind.TERM),)


ACTIONS = (InspectSort, InspectTerm, ReadBack, Simplify, Substitute)
