"""Assertions, checks, and what can be asked after one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

from apifuzz.actions import MAY_CHANGE, Action, Made, Need
from apifuzz.call import Call, ClosedTerms, Formula, Formulas, Kind, Term, draw_formula, draw_term, some
from apifuzz.interface import Answer, ApiTerm, Feature, must, must_be_given
from apifuzz.run import Run
from smtlib import BOOL

_MOST_ASSUMPTIONS = 5
_MOST_VALUES = 4
_TRIES = 3


def draw_open_question(run: Run) -> ApiTerm | None:
    """A closed formula whose truth rarely follows from its values alone."""
    term = None
    for _ in range(_TRIES):
        term = draw_formula(run)
        if term is None or not run.store.is_ground(term):
            break
    return term


class Assert(Action[Any]):
    """``assert FORMULA``; returns the mark by which the engine recognises the assertion."""

    method = "assert_formula"
    changes = True
    needs = (MAY_CHANGE,)
    likely = (lambda run: BOOL in run.store.pools,)
    term: Formula

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        # What was made last is what the run is about; a constant alone says little.
        made = run.store.pools[BOOL].closed[-8:]
        latest = [t for t in made if t.args and not t.uses and not run.store.is_ground(t)]
        if latest and run.random.happens(0.7):
            return cls(run.random.pick(latest))
        term = draw_open_question(run)
        return None if term is None else cls(term)

    def keep(self, run: Run, result: Any) -> None:
        self.term.uses += 1


class CheckSat(Action[Answer]):
    """``check-sat``"""

    needs = (MAY_CHANGE,)

    def make(self, run: Run) -> Made:
        self.require(run)
        run.stack.changed()
        run.checks += 1
        answer = run.engine.perform(self)
        run.answers.append(str(answer))
        run.statistics.answers[str(answer)] += 1
        # Where calls are only printed, an answer is drawn, so that what can be asked after it occurs, too.
        if not run.engine.answers:
            run.stack.answer = run.engine.random.choice(tuple(Answer))
        return ()


class CheckSatAssuming(CheckSat):
    """``check-sat-assuming FORMULA...``"""

    method = "check_sat"
    feature = Feature.ASSUMPTIONS
    assumptions: Annotated[Formulas, some(_MOST_ASSUMPTIONS, of=draw_open_question)]


def check(assumptions: Sequence[ApiTerm] | None) -> Action[Answer]:
    """The check under these assumptions; None: without."""
    return CheckSat() if assumptions is None else CheckSatAssuming(tuple(assumptions))


class UnsatAssumptions(Action[list[ApiTerm]]):
    """``unsat-assumptions``: those that failed, among those that were assumed."""

    feature = Feature.UNSAT_ASSUMPTIONS
    after = (Answer.UNSAT,)
    needs = (Need(lambda run: run.stack.assumptions is not None, "the last check assumed nothing"),)

    def keep(self, run: Run, result: list[ApiTerm]) -> None:
        must_be_given("assumptions", result, run.stack.assumptions or ())


class UnsatCore(Action[list[ApiTerm]]):
    """``unsat-core``: assertions (of those given) that are unsatisfiable together (with the assumptions)."""

    feature = Feature.UNSAT_CORES
    after = (Answer.UNSAT,)

    def keep(self, run: Run, result: list[ApiTerm]) -> None:
        must_be_given("core", result, (*run.stack.terms, *(run.stack.assumptions or ())))


class GetValue(Action[list[Any]]):
    """``get-value TERM...``: the handles of the values of closed terms."""

    feature = Feature.MODELS
    after = (Answer.SAT,)
    terms: Annotated[ClosedTerms, some(_MOST_VALUES, of=draw_term)]

    def keep(self, run: Run, result: list[Any]) -> None:
        whole = len(result) == len(self.terms)
        must("value", whole, f"{len(result)} values of {len(self.terms)} terms")


class Equate(Call[Any]):
    """The handle of a formula: a term has the value that ``get-value`` returned."""

    term: Term
    value: Annotated[Any, Kind(lambda store, token: token)]


class PrintModel(Action[str]):
    """``print-model``: the model as text."""

    feature = Feature.MODELS
    after = (Answer.SAT,)
