"""Functions defined, and defined recursively."""

from __future__ import annotations

from typing import Any, Self

from apifuzz.actions import Action, Made, draws_on, has_open
from apifuzz.actions.leaves import MakeFunction, MakeVariable, function_sort
from apifuzz.actions.terms import MakeTerm
from apifuzz.call import Name, SortArg, Term, Variables
from apifuzz.interface import APPLY, ApiSort, ApiTerm, Feature, Head, HeadKind, TermKind
from apifuzz.run import Run
from apifuzz.sort_drawing import allowed
from apifuzz.store import rarely_used
from apifuzz.trace import TraceError
from smtlib import BOOL, Sort


class DefineFunction(Action[Any]):
    """``define-function NAME (VARIABLE ...) SORT BODY``: the variables are bound by it."""

    feature = Feature.DEFINITIONS
    likely = (has_open,)
    symbol: Name
    variables: Variables
    result: SortArg
    body: Term

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        body = run.store.pick_open(run.store.populated, run.random)
        if body is None:
            return None
        variables = tuple([v for v in run.store.open_variables if v in body.free])
        if not all(allowed(run, "function", s.sort.sort) for s in (body, *variables)):
            return None
        return cls(run.fresh_name("f"), variables, body.sort, body)

    def require(self, run: Run) -> None:
        super().require(run)
        _require_definition(self.variables, self.result, self.body)
        run.store.take_name(self.symbol)

    def keep(self, run: Run, result: Any) -> Made:
        run.store.bind(self.variables)
        own = function_sort(run, tuple([v.sort.sort for v in self.variables]), self.result.sort)
        return (run.keep_term(own, result, TermKind.FUNCTION),)


class DefineRecursive(Action[None]):
    """``define-recursive FUNCTION (VARIABLE ...) SORT BODY``: gives a declared function its body."""

    feature = Feature.RECURSION
    likely = (
        draws_on(Feature.QUANTIFIERS),
        lambda run: bool(run.store.undefined) or MakeFunction.is_possible(run),
    )
    function: Term
    variables: Variables
    result: SortArg
    body: Term

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        function = _draw_function(run)
        if function is None:
            return None
        *params, result = function.sort.sort.args
        variables: list[ApiTerm] = []
        for sort in params:
            fitting = [v for v in run.store.open_variables if v.sort.sort is sort and v not in variables]
            if fitting:
                variables.append(fitting[0])
                continue
            if not allowed(run, "quantifier", sort):
                return None
            variables.append(run.make_term(MakeVariable(run.store.sorts[sort], run.fresh_name("x"))))
        body = _draw_body(run, function, result, variables)
        return None if body is None else cls(function, tuple(variables), body.sort, body)

    def require(self, run: Run) -> None:
        super().require(run)
        if self.function not in run.store.undefined:
            raise TraceError(f"{self.function} is not a declared function without a body")
        _require_definition(self.variables, self.result, self.body)
        if self.function.sort.sort.args != (*(v.sort.sort for v in self.variables), self.result.sort):
            raise TraceError(f"the function {self.function} has the sort {self.function.sort.sort}")

    def keep(self, run: Run, result: Any) -> None:
        run.store.undefined.remove(self.function)
        run.store.bind(self.variables)


def _draw_function(run: Run) -> ApiTerm | None:
    if run.store.undefined:
        return run.random.pick(run.store.undefined)
    call = MakeFunction.draw(run)
    return None if call is None else run.make_term(call)


def _draw_body(run: Run, function: ApiTerm, sort: Sort, variables: list[ApiTerm]) -> ApiTerm | None:
    """A term of these variables only; or ``(ite condition term (f ...))``."""
    bound = frozenset(variables)

    def fitting(of: Sort) -> ApiTerm | None:
        pool = run.store.pools.get(of)
        if pool is None:
            return None
        return rarely_used([t for t in pool.open if t.free <= bound] or pool.closed, run.random)

    base, condition = fitting(sort), fitting(BOOL)
    args = [fitting(s) for s in function.sort.sort.args[:-1]]
    fit = tuple([arg for arg in args if arg is not None])
    # Applied to closed terms only, the function would be in use before it is defined.
    if base is None or condition is None or len(fit) < len(args) or not any(arg.free for arg in fit):
        return base
    step = run.make_term(MakeTerm(base.sort, APPLY, (function, *fit)))
    return run.make_term(MakeTerm(base.sort, Head(HeadKind.OPERATOR, "ite"), (condition, base, step)))


def _require_definition(variables: tuple[ApiTerm, ...], result: ApiSort, body: ApiTerm) -> None:
    """Raise unless the body is of the result's sort, and the variables are all that is free in it."""
    if body.sort.sort is not result.sort:
        raise TraceError(f"{body} has the sort {body.sort.sort}, expected {result.sort}")
    if not body.free <= frozenset(variables):
        raise TraceError(f"{body} has free variables that are not parameters")
