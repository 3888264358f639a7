"""Assertions, checks, and what can be asked after one."""

from __future__ import annotations

from apifuzz import calls
from apifuzz.actions import Action
from apifuzz.actions.reading import read_closed, read_formulas, require_count
from apifuzz.interface import Answer, ApiTerm, Feature, Misbehaviour, Unsupported
from apifuzz.run import Run
from smtlib import BOOL

_MOST_ASSUMPTIONS = 5
_MOST_VALUES = 4
_TRIES = 3


class Assert(Action):
    """``assert FORMULA``"""

    name = "assert"

    def is_possible(self, run: Run) -> bool:
        return BOOL in run.store.pools and run.may_change

    def draw(self, run: Run) -> tuple[str, ...] | None:
        pool = run.store.pools[BOOL]
        if not pool.closed:
            return None
        # What was made last is what the run is about; a constant alone says little.
        latest = [t for t in pool.closed[-8:] if t.args and not t.uses and not run.store.is_ground(t)]
        if latest and run.random.random() < 0.7:
            return (str(latest[int(run.random.random() * len(latest))]),)
        term = _draw_formula(run)
        return None if term is None else (str(term),)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        (term,) = read_formulas(run, args)
        _require_change(run)
        run.engine.perform(calls.Assert(term))
        term.uses += 1
        return ()


def _draw_formula(run: Run) -> ApiTerm | None:
    """A closed formula, mostly one that is not true or false by its values alone."""
    term = None
    for _ in range(_TRIES):
        term = run.store.pick_closed(BOOL, run.random)
        if term is None or not run.store.is_ground(term):
            break
    return term


class CheckSat(Action):
    """``check-sat``"""

    name = "check-sat"

    def is_possible(self, run: Run) -> bool:
        return run.may_change

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return ()

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        _check(run, None)
        return ()


class CheckSatAssuming(Action):
    """``check-sat-assuming FORMULA...``"""

    name = "check-sat-assuming"

    def is_possible(self, run: Run) -> bool:
        return run.has(Feature.ASSUMPTIONS) and BOOL in run.store.pools and run.may_change

    def draw(self, run: Run) -> tuple[str, ...] | None:
        drawn: list[ApiTerm] = []
        for _ in range(1 + int(run.random.random() * _MOST_ASSUMPTIONS)):
            term = _draw_formula(run)
            if term is not None and term not in drawn:
                drawn.append(term)
        return tuple(map(str, drawn)) or None

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1)
        run.require(Feature.ASSUMPTIONS)
        _check(run, read_formulas(run, args))
        return ()


def _require_change(run: Run) -> None:
    if not run.may_change:
        raise Unsupported("a second check, without incremental solving")


def _check(run: Run, assumptions: tuple[ApiTerm, ...] | None) -> None:
    _require_change(run)
    run.changed()
    run.checks += 1
    answer = run.engine.perform(calls.CheckSat(assumptions))
    run.answers.append(str(answer))
    run.statistics.answers[str(answer)] += 1
    # Where calls are only printed, one is drawn: what can be asked after it has to come, too.
    if not run.engine.answers:
        run.stack.answer = run.engine.random.choice(tuple(Answer))


class UnsatAssumptions(Action):
    """``unsat-assumptions``: those that failed are among those that were assumed."""

    name = "unsat-assumptions"

    def is_possible(self, run: Run) -> bool:
        return (
            run.answer is Answer.UNSAT and run.assumptions is not None and run.has(Feature.UNSAT_ASSUMPTIONS)
        )

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return ()

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        run.require(Feature.UNSAT_ASSUMPTIONS)
        run.require_answer(Answer.UNSAT)
        if run.assumptions is None:
            raise Unsupported("the last check assumed nothing")
        for term in run.engine.perform(calls.UnsatAssumptions()):
            if term not in run.assumptions:
                raise Misbehaviour("assumptions", f"{term} was not assumed")
        return ()


class UnsatCore(Action):
    """``unsat-core``: a part of what was asserted and assumed."""

    name = "unsat-core"

    def is_possible(self, run: Run) -> bool:
        return run.answer is Answer.UNSAT and run.has(Feature.UNSAT_CORES)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return ()

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        run.require(Feature.UNSAT_CORES)
        run.require_answer(Answer.UNSAT)
        known = {*run.assertions, *(run.assumptions or ())}
        for term in run.engine.perform(calls.UnsatCore()):
            if term not in known:
                raise Misbehaviour("core", f"{term} was neither asserted nor assumed")
        return ()


class GetValue(Action):
    """``get-value TERM...``"""

    name = "get-value"

    def is_possible(self, run: Run) -> bool:
        return run.answer is Answer.SAT and run.has(Feature.MODELS) and bool(run.store.closed_terms)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        drawn: list[ApiTerm] = []
        for _ in range(1 + int(run.random.random() * _MOST_VALUES)):
            term = run.store.pick_any(run.random)
            if term is not None:
                drawn.append(term)
        return tuple(map(str, drawn)) or None

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1)
        run.require(Feature.MODELS)
        run.require_answer(Answer.SAT)
        terms = read_closed(run, args)
        values = run.engine.perform(calls.GetValue(terms))
        if len(values) != len(terms):
            raise Misbehaviour("value", f"{len(values)} values of {len(terms)} terms")
        return ()


class PrintModel(Action):
    """``print-model``"""

    name = "print-model"

    def is_possible(self, run: Run) -> bool:
        return run.answer is Answer.SAT and run.has(Feature.MODELS)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        return ()

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 0, 0)
        run.require(Feature.MODELS)
        run.require_answer(Answer.SAT)
        run.engine.perform(calls.PrintModel())
        return ()


ACTIONS = (
    Assert(),
    CheckSat(),
    CheckSatAssuming(),
    UnsatAssumptions(),
    UnsatCore(),
    GetValue(),
    PrintModel(),
)
