"""Assertions, checks, and what can be asked after one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

from apifuzz.actions import Action, Made
from apifuzz.call import Call, ClosedTerms, Formula, Formulas, Kind, Term
from apifuzz.interface import Answer, ApiTerm, Feature, Misbehaviour, Unsupported
from apifuzz.run import Run
from smtlib import BOOL

_MOST_ASSUMPTIONS = 5
_MOST_VALUES = 4
_TRIES = 3


class Assert(Action[Any]):
    """``assert FORMULA``; gives the mark by which the engine knows the assertion again."""

    method = "assert_formula"
    changes = True
    term: Formula

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return BOOL in run.store.pools and run.may_change

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        pool = run.store.pools[BOOL]
        if not pool.closed:
            return None
        # What was made last is what the run is about; a constant alone says little.
        latest = [t for t in pool.closed[-8:] if t.args and not t.uses and not run.store.is_ground(t)]
        if latest and run.random.random() < 0.7:
            return cls(latest[int(run.random.random() * len(latest))])
        term = _draw_formula(run)
        return None if term is None else cls(term)

    def make(self, run: Run) -> Made:
        run.require_change()
        run.engine.perform(self)
        self.term.uses += 1
        return ()


def _draw_formula(run: Run) -> ApiTerm | None:
    """A closed formula, mostly one that is not true or false by its values alone."""
    term = None
    for _ in range(_TRIES):
        term = run.store.pick_closed(BOOL, run.random)
        if term is None or not run.store.is_ground(term):
            break
    return term


class _Check(Action[Answer]):
    """A check; gives the answer."""

    def make(self, run: Run) -> Made:
        self.require(run)
        run.require_change()
        run.changed()
        run.checks += 1
        answer = run.engine.perform(self)
        run.answers.append(str(answer))
        run.statistics.answers[str(answer)] += 1
        # Where calls are only printed, one is drawn: what can be asked after it has to come, too.
        if not run.engine.answers:
            run.stack.answer = run.engine.random.choice(tuple(Answer))
        return ()


class CheckSat(_Check):
    """``check-sat``"""

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.may_change


class CheckSatAssuming(_Check):
    """``check-sat-assuming FORMULA...``"""

    method = "check_sat"
    feature = Feature.ASSUMPTIONS
    assumptions: Formulas

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.has(Feature.ASSUMPTIONS) and BOOL in run.store.pools and run.may_change

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        drawn: list[ApiTerm] = []
        for _ in range(1 + int(run.random.random() * _MOST_ASSUMPTIONS)):
            term = _draw_formula(run)
            if term is not None and term not in drawn:
                drawn.append(term)
        return cls(tuple(drawn)) if drawn else None


def check(assumptions: Sequence[ApiTerm] | None) -> Action[Answer]:
    """The check under these assumptions; None: without."""
    return CheckSat() if assumptions is None else CheckSatAssuming(tuple(assumptions))


class UnsatAssumptions(Action[list[ApiTerm]]):
    """``unsat-assumptions``: those that failed, among those that were assumed."""

    feature = Feature.UNSAT_ASSUMPTIONS
    after = (Answer.UNSAT,)

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return super().is_possible(run) and run.assumptions is not None

    def make(self, run: Run) -> Made:
        self.require(run)
        if run.assumptions is None:
            raise Unsupported("the last check assumed nothing")
        for term in run.engine.perform(self):
            if term not in run.assumptions:
                raise Misbehaviour("assumptions", f"{term} was not assumed")
        return ()


class UnsatCore(Action[list[ApiTerm]]):
    """``unsat-core``: assertions (of those given) that are unsatisfiable together (with the assumptions)."""

    feature = Feature.UNSAT_CORES
    after = (Answer.UNSAT,)

    def make(self, run: Run) -> Made:
        self.require(run)
        known = {*run.assertions, *(run.assumptions or ())}
        for term in run.engine.perform(self):
            if term not in known:
                raise Misbehaviour("core", f"{term} was neither asserted nor assumed")
        return ()


class GetValue(Action[list[Any]]):
    """``get-value TERM...``: the handles of the values of closed terms."""

    feature = Feature.MODELS
    after = (Answer.SAT,)
    terms: ClosedTerms

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return super().is_possible(run) and bool(run.store.closed_terms)

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        count = 1 + int(run.random.random() * _MOST_VALUES)
        drawn = [run.store.pick_any(run.random) for _ in range(count)]
        found = tuple([term for term in drawn if term is not None])
        return cls(found) if found else None

    def make(self, run: Run) -> Made:
        self.require(run)
        values = run.engine.perform(self)
        if len(values) != len(self.terms):
            raise Misbehaviour("value", f"{len(values)} values of {len(self.terms)} terms")
        return ()


class Equate(Call[Any]):
    """The handle of a formula that says that a term has the value that ``get-value`` gave."""

    term: Term
    value: Annotated[Any, Kind(lambda store, token: token)]


class PrintModel(Action[str]):
    """``print-model``: the model as text."""

    feature = Feature.MODELS
    after = (Answer.SAT,)


ACTIONS = (Assert, CheckSat, CheckSatAssuming, UnsatAssumptions, UnsatCore, GetValue, PrintModel)
