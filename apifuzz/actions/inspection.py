"""Looking at sorts and terms, printing and reading them, and terms made of terms."""

from __future__ import annotations

from apifuzz import calls
from apifuzz.actions import Action
from apifuzz.actions.reading import read_closed, read_list, read_terms, require_count
from apifuzz.interface import Feature, TermKind
from apifuzz.run import Run
from apifuzz.sort_drawing import draw_made
from apifuzz.trace import TraceError

_MOST = 3


class InspectSort(Action):
    """``inspect-sort SORT``: what the solver says of it is what it was made of."""

    name = "inspect-sort"

    def is_possible(self, run: Run) -> bool:
        return bool(run.store.plain_sorts)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        sort = draw_made(run)
        return None if sort is None else (str(run.store.sorts[sort]),)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        run.engine.perform(calls.InspectSort(run.store.sort(args[0])))
        return ()


class InspectTerm(Action):
    """``inspect-term TERM``: children, operator, indices and value are what it was made of."""

    name = "inspect-term"

    def is_possible(self, run: Run) -> bool:
        return bool(run.store.closed_terms)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        term = run.store.pick_any(run.random)
        return None if term is None else (str(term),)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        (term,) = read_terms(run, args)
        run.engine.perform(calls.InspectTerm(term))
        return ()


class ReadBack(InspectTerm):
    """``read-back TERM``: a closed term, printed and read by the solver's own parser, is the same term."""

    name = "read-back"

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        (term,) = read_closed(run, args)
        run.engine.perform(calls.ReadBack(term))
        return ()


class Simplify(InspectTerm):
    """``simplify TERM``: an equivalent term of the same sort."""

    name = "simplify"

    def is_possible(self, run: Run) -> bool:
        return run.has(Feature.SIMPLIFY) and bool(run.store.closed_terms)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        term = run.store.pick_any(run.random)
        return None if term is None or term.sort.sort.is_function else (str(term),)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1)
        run.require(Feature.SIMPLIFY)
        (term,) = read_closed(run, args)
        if term.sort.sort.is_function:
            raise TraceError(f"{term} is a function")
        return (str(run.keep_term(term.sort, run.engine.perform(calls.Simplify(term)), TermKind.TERM)),)


class Substitute(Action):
    """``substitute TERM (CONSTANT ...) (TERM ...)``: all at once; everything is closed."""

    name = "substitute"

    def is_possible(self, run: Run) -> bool:
        return run.has(Feature.SUBSTITUTE) and bool(run.store.closed_terms)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        term = run.store.pick_any(run.random)
        sort = draw_made(run)
        pool = run.store.pools.get(sort) if sort is not None else None
        if term is None or pool is None or not pool.constants:
            return None
        replaced = []
        by = []
        for _ in range(1 + int(run.random.random() * _MOST)):
            constant = pool.constants[int(run.random.random() * len(pool.constants))]
            if constant not in replaced:
                replaced.append(constant)
                by.append(pool.closed[int(run.random.random() * len(pool.closed))])
        return str(term), f"({' '.join(map(str, replaced))})", f"({' '.join(map(str, by))})"

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 3, 3)
        run.require(Feature.SUBSTITUTE)
        (term,) = read_closed(run, args[:1])
        replaced = read_closed(run, read_list(args[1]))
        by = read_closed(run, read_list(args[2]))
        if not replaced or len(replaced) != len(by) or len(set(replaced)) != len(replaced):
            raise TraceError("as many terms as different constants are wanted")
        for old, new in zip(replaced, by, strict=True):
            if old.kind is not TermKind.CONSTANT:
                raise TraceError(f"{old} is no constant")
            if old.sort.sort is not new.sort.sort:
                raise TraceError(f"{new} has the sort {new.sort.sort}, {old.sort.sort} is wanted")
        handle = run.engine.perform(calls.Substitute(term, replaced, by))
        return (str(run.keep_term(term.sort, handle, TermKind.TERM)),)


ACTIONS = (InspectSort(), InspectTerm(), ReadBack(), Simplify(), Substitute())
