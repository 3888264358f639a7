"""Functions: declared, defined, and defined recursively."""

from __future__ import annotations

from apifuzz import calls
from apifuzz.actions import Action
from apifuzz.actions.reading import read_list, read_name, read_terms, read_variables, require_count
from apifuzz.datatypes import MOST_ARGUMENTS
from apifuzz.interface import ApiSort, ApiTerm, Feature, TermKind
from apifuzz.run import Run
from apifuzz.sort_drawing import allowed, draw_made
from apifuzz.store import seldom_used
from apifuzz.trace import TraceError, quote_name
from smtlib import BOOL, Sort, make_sort


def function_sort(run: Run, params: tuple[Sort, ...], result: Sort) -> ApiSort:
    """The sort of a function: the one that was made, or one that no call made."""
    sort = make_sort("->", (), (*params, result))
    return run.store.sorts.get(sort) or ApiSort(0, sort, None)


class MakeFunction(Action):
    """``make-function NAME (SORT ...) SORT``: a declared function of one argument or more."""

    name = "make-function"

    def is_possible(self, run: Run) -> bool:
        return run.draws_on(Feature.FUNCTIONS) and bool(run.store.plain_sorts)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        sorts = [draw_made(run) for _ in range(2 + int(run.random.random() * 2.5))]
        if any(sort is None or not allowed(run, "function", sort) for sort in sorts):
            return None
        ids = [str(run.store.sorts[sort]) for sort in sorts if sort is not None]
        return quote_name(run.fresh_name("f")), f"({' '.join(ids[:-1])})", ids[-1]

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 3, 3)
        name = read_name(args[0])
        params = [run.store.sort(token) for token in read_list(args[1])]
        result = run.store.sort(args[2])
        if not 1 <= len(params) <= MOST_ARGUMENTS:
            raise TraceError(f"a function has 1 to {MOST_ARGUMENTS} arguments, not {len(params)}")
        run.require(Feature.FUNCTIONS)
        run.store.take_name(name)
        handle = run.engine.perform(calls.MakeFunction(name, tuple(params), result))
        own = function_sort(run, tuple([p.sort for p in params]), result.sort)
        made = run.keep_term(own, handle, TermKind.FUNCTION)
        run.store.undefined.append(made)
        return (str(made),)


class DefineFunction(Action):
    """``define-function NAME (VARIABLE ...) SORT BODY``: the variables are bound by it."""

    name = "define-function"

    def is_possible(self, run: Run) -> bool:
        return run.has(Feature.DEFINITIONS) and bool(run.store.open_variables)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        body = draw_open_term(run)
        if body is None:
            return None
        variables = [v for v in run.store.open_variables if v in body.free]
        if not all(allowed(run, "function", s.sort.sort) for s in (body, *variables)):
            return None
        ids = " ".join(map(str, variables))
        return quote_name(run.fresh_name("f")), f"({ids})", str(body.sort), str(body)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 4, 4)
        run.require(Feature.DEFINITIONS)
        name = read_name(args[0])
        variables, result, body = read_definition(run, args[1:])
        run.store.take_name(name)
        handle = run.engine.perform(calls.DefineFunction(name, variables, result, body))
        run.store.bind(variables)
        own = function_sort(run, tuple([v.sort.sort for v in variables]), result.sort)
        return (str(run.keep_term(own, handle, TermKind.FUNCTION)),)


class DefineRecursive(Action):
    """``define-recursive FUNCTION (VARIABLE ...) SORT BODY``: gives a declared function its body."""

    name = "define-recursive"

    def is_possible(self, run: Run) -> bool:
        return (
            run.has(Feature.RECURSION)
            and run.draws_on(Feature.QUANTIFIERS)
            and (bool(run.store.undefined) or ACTIONS[0].is_possible(run))
        )

    def draw(self, run: Run) -> tuple[str, ...] | None:
        function = self._draw_function(run)
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
            name = quote_name(run.fresh_name("x"))
            (made,) = run.call("make-variable", (str(run.store.sorts[sort]), name))
            variables.append(run.store.term(made))
        body = self._draw_body(run, function, result, variables)
        if body is None:
            return None
        return str(function), f"({' '.join(map(str, variables))})", str(body.sort), str(body)

    @staticmethod
    def _draw_function(run: Run) -> ApiTerm | None:
        undefined = run.store.undefined
        if undefined:
            return undefined[int(run.random.random() * len(undefined))]
        args = ACTIONS[0].draw(run)
        return None if args is None else run.store.term(run.call("make-function", args)[0])

    @staticmethod
    def _draw_body(run: Run, function: ApiTerm, sort: Sort, variables: list[ApiTerm]) -> ApiTerm | None:
        """A term of these variables only; or ``(ite condition term (f ...))``."""
        bound = frozenset(variables)

        def fitting(wanted: Sort) -> ApiTerm | None:
            pool = run.store.pools.get(wanted)
            if pool is None:
                return None
            return seldom_used([t for t in pool.open if t.free <= bound] or pool.closed, run.random)

        base, condition = fitting(sort), fitting(BOOL)
        args = [fitting(s) for s in function.sort.sort.args[:-1]]
        fit = [arg for arg in args if arg is not None]
        # Applied to closed terms only, the function would be in use before it is defined.
        if base is None or condition is None or len(fit) < len(args) or not any(arg.free for arg in fit):
            return base
        result = str(base.sort)
        (step,) = run.call("make-term", (result, "apply", str(function), *map(str, fit)))
        (body,) = run.call("make-term", (result, "ite", str(condition), str(base), step))
        return run.store.term(body)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 4, 4)
        run.require(Feature.RECURSION)
        (function,) = read_terms(run, args[:1])
        if function not in run.store.undefined:
            raise TraceError(f"{function} is no declared function without a body")
        variables, result, body = read_definition(run, args[1:])
        if function.sort.sort.args != (*(v.sort.sort for v in variables), result.sort):
            raise TraceError(f"the function {function} has the sort {function.sort.sort}")
        run.engine.perform(calls.DefineRecursive(function, variables, result, body))
        run.store.undefined.remove(function)
        run.store.bind(variables)
        return ()


def draw_open_term(run: Run) -> ApiTerm | None:
    """A term with free variables, of any sort."""
    pools = [p.open for s in run.store.populated if (p := run.store.pools[s]).open]
    return seldom_used(pools[int(run.random.random() * len(pools))], run.random) if pools else None


def read_definition(run: Run, args: tuple[str, ...]) -> tuple[tuple[ApiTerm, ...], ApiSort, ApiTerm]:
    """Variables, result sort and body; the variables must be all that is free in the body."""
    variables = read_variables(run, args[0])
    result = run.store.sort(args[1])
    (body,) = read_terms(run, args[2:])
    if body.sort.sort is not result.sort:
        raise TraceError(f"{body} has the sort {body.sort.sort}, {result.sort} is wanted")
    if not body.free <= frozenset(variables):
        raise TraceError(f"{body} has free variables that are no parameters")
    return variables, result, body


ACTIONS = (MakeFunction(), DefineFunction(), DefineRecursive())
