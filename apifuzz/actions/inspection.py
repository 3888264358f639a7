"""Looking at sorts and terms, printing and reading them, and terms made of terms."""

from __future__ import annotations

from typing import Any, Self

from apifuzz.actions import Action, Made
from apifuzz.call import Closed, ClosedList, ConstantList, SortArg, Term, Value
from apifuzz.interface import ApiTerm, Feature, TermKind
from apifuzz.run import Run
from apifuzz.trace import TraceError

_MOST = 3


class InspectSort(Action[None]):
    """``inspect-sort SORT``: what the solver reports about it matches what it was made of."""

    sort: SortArg


class InspectTerm(Action[None]):
    """``inspect-term TERM``: children, operator, indices, value and hash match what it was made of."""

    term: Term


class ReadBack(Action[None]):
    """``read-back TERM``: a closed term, printed and read by the solver's own parser, is the same term."""

    term: Closed


class Simplify(Action[Any]):
    """``simplify TERM``: an equivalent term of the same sort."""

    feature = Feature.SIMPLIFY
    term: Value

    def keep(self, run: Run, result: Any) -> Made:
        return (run.keep_term(self.term.sort, result, TermKind.TERM),)


class Substitute(Action[Any]):
    """``substitute TERM (CONSTANT ...) (TERM ...)``: all at once; everything is closed."""

    feature = Feature.SUBSTITUTE
    term: Closed
    replaced: ConstantList
    by: ClosedList

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        chance = run.random
        term, sort = run.store.pick_any(chance), chance.pick_if_any(run.store.populated)
        pool = run.store.pools[sort] if sort is not None else None
        if term is None or pool is None or not pool.constants:
            return None
        by: dict[ApiTerm, ApiTerm] = {}
        for _ in range(chance.up_to(_MOST)):
            by[chance.pick(pool.constants)] = chance.pick(pool.closed)
        return cls(term, tuple(by), tuple(by.values()))

    def require(self, run: Run) -> None:
        super().require(run)
        replaced, by = self.replaced, self.by
        if not replaced or len(replaced) != len(by) or len(set(replaced)) != len(replaced):
            raise TraceError("as many terms as different constants expected")
        for old, new in zip(replaced, by, strict=True):
            if old.sort.sort is not new.sort.sort:
                raise TraceError(f"{new} has the sort {new.sort.sort}, expected {old.sort.sort}")

    def keep(self, run: Run, result: Any) -> Made:
        return (run.keep_term(self.term.sort, result, TermKind.TERM),)
