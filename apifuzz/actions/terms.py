"""Terms made of others: applications and binders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from apifuzz.actions import Action, Made, has_open
from apifuzz.actions.leaves import ensure_term
from apifuzz.actions.sorts import ensure_sort
from apifuzz.actions.term_drawing import Application, draw_application
from apifuzz.call import HeadArg, SortArg, Term, Terms, Text, Variables
from apifuzz.heads import APPLY
from apifuzz.interface import ApiTerm, Head, HeadKind, TermKind, Unsupported
from apifuzz.operators import is_known
from apifuzz.run import Run
from apifuzz.store import rarely_used
from apifuzz.trace import TraceError
from smtlib import BOOL, Sort, default_theories, make_sort

_TRIES = 5
_MEMBER_SHARE = 0.3
_APPLY_SHARE = 0.1


class MakeTerm(Action[Any]):
    """``make-term SORT HEAD TERM...``: an operator, a function or a member of a datatype, applied."""

    sort: SortArg
    head: HeadArg
    args: Terms

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        if run.store.functions and run.random.happens(_APPLY_SHARE):
            found = _draw_apply(run)
        elif run.store.datatypes and run.random.happens(_MEMBER_SHARE):
            found = _draw_member(run)
        else:
            tries = (draw_application(run) for _ in range(_TRIES))
            found = next((one for one in tries if one is not None), None)
        return None if found is None else cls(*found)

    def make(self, run: Run) -> Made:
        sort, head, args = self.sort, self.head, self.args
        call = self
        if head.kind is HeadKind.OPERATOR:
            counted = _require_operator(run, head, sort.sort, args)
        elif head.kind is HeadKind.APPLY:
            counted = _require_apply(sort.sort, args)
        else:
            head, counted = _require_member(run, head, sort.sort, args)
            call = replace(self, head=head)
        handle = run.engine.perform(call)
        free = free_in(args)
        if head.kind is HeadKind.APPLY and not free and args[0] in run.store.undefined:
            run.store.undefined.remove(args[0])
        made = run.keep_term(sort, handle, TermKind.TERM, head, args, free)
        run.statistics.operators[counted] += 1
        return (made,)


def free_in(terms: tuple[ApiTerm, ...]) -> frozenset[ApiTerm]:
    """The variables that are free in any of ``terms``."""
    free: frozenset[ApiTerm] = frozenset()
    for term in terms:
        if term.free:
            free = free | term.free if free else term.free
    return free


def _sorts(terms: tuple[ApiTerm, ...]) -> tuple[Sort, ...]:
    return tuple([t.sort.sort for t in terms])


def _shown(terms: tuple[ApiTerm, ...]) -> str:
    return " ".join(str(t.sort.sort) for t in terms[:6])[:200] or "no arguments"


def _require_operator(run: Run, head: Head, result: Sort, terms: tuple[ApiTerm, ...]) -> str:
    """Raise unless the operator takes the terms and gives ``result``; how it is counted."""
    sorts = _sorts(terms)
    found = default_theories().find(head.name, head.indices, sorts, result if head.qualified else None)
    if found is None or found[0] is not result:
        if head.name not in default_theories().functions:
            raise TraceError(f"unknown operator {head.name[:60]}")
        raise TraceError(f"{head.name[:60]} does not take {_shown(terms)} to {result}")
    signature = found[1]
    if run.replaying:
        known = (
            signature.theory in run.capabilities.theories and signature.name not in run.capabilities.without
        )
        if not known or not is_known(signature.only, run.engine.families):
            raise Unsupported(f"without {head.name}")
        if not run.engine.takes(signature, sorts, result):
            raise Unsupported(f"without {head.name} at {_shown(terms)}")
    return f"{signature.theory} {signature.name}"


def _require_apply(result: Sort, terms: tuple[ApiTerm, ...]) -> str:
    if not terms or not terms[0].sort.sort.is_function:
        raise TraceError("apply takes a function as its first argument")
    if (*_sorts(terms[1:]), result) != terms[0].sort.sort.args:
        raise TraceError(f"a function {terms[0].sort.sort} is not applied to {_shown(terms[1:])}")
    return "Functions apply"


def _require_member(run: Run, head: Head, result: Sort, terms: tuple[ApiTerm, ...]) -> tuple[Head, str]:
    """The head with its datatype, and how it is counted; raises where the sorts do not fit."""
    datatype = result if head.kind is HeadKind.CONSTRUCTOR else terms[0].sort.sort if terms else None
    members = run.store.datatypes.members(datatype) if datatype is not None else ()
    sorts = _sorts(terms)
    for constructor in members:
        if head.kind in (HeadKind.CONSTRUCTOR, HeadKind.TESTER):
            fits = constructor.name == head.name and (
                sorts == constructor.sorts
                if head.kind is HeadKind.CONSTRUCTOR
                else (len(terms), result) == (1, BOOL)
            )
        else:
            field = dict(constructor.fields).get(head.name)
            takes = (datatype,) if head.kind is HeadKind.SELECTOR else (datatype, field)
            gives = field if head.kind is HeadKind.SELECTOR else datatype
            fits = field is not None and sorts == takes and result is gives
        if fits:
            return replace(head, datatype=datatype), f"Datatypes {head.kind.value}"
    raise TraceError(f"({head.kind.value} {head.name[:60]}) does not take {_shown(terms)} to {result}")


# Drawing applications of functions and members


def _draw_apply(run: Run) -> Application | None:
    function = rarely_used(run.store.functions, run.random)
    if function is None:
        return None
    terms = _draw_terms(run, function.sort.sort.args[:-1])
    if terms is None:
        return None
    return Application(ensure_sort(run, function.sort.sort.args[-1]), APPLY, (function, *terms))


def _draw_terms(run: Run, sorts: tuple[Sort, ...]) -> tuple[ApiTerm, ...] | None:
    terms = []
    for sort in sorts:
        found = run.store.pick(sort, run.random)
        if found is None:
            if run.random.happens(0.5):
                return None
            found = ensure_term(run, sort)
        terms.append(found)
    return tuple(terms)


def _draw_member(run: Run) -> Application | None:
    """A constructor, selector, tester or updater of a datatype that was made."""
    store, chance = run.store, run.random
    sort = chance.pick_if_any([s for s in store.plain_sorts if store.datatypes.members(s)])
    if sort is None:
        return None
    constructor = chance.pick(store.datatypes.members(sort))
    own = ensure_sort(run, sort)
    share = chance.random()
    if share < 0.4 or sort not in store.pools:
        terms = _draw_terms(run, constructor.sorts)
        head = Head(HeadKind.CONSTRUCTOR, constructor.name)
        return None if terms is None else Application(own, head, terms)
    term = store.pick(sort, chance)
    if term is None:
        return None
    if share < 0.6 or not constructor.fields:
        return Application(ensure_sort(run, BOOL), Head(HeadKind.TESTER, constructor.name), (term,))
    name, field = chance.pick(constructor.fields)
    if share < 0.85:
        return Application(ensure_sort(run, field), Head(HeadKind.SELECTOR, name), (term,))
    new = _draw_terms(run, (field,))
    return None if new is None else Application(own, Head(HeadKind.UPDATER, name), (term, *new))


class MakeBinder(Action[Any]):
    """``make-binder SORT BINDER (VARIABLE ...) BODY``: quantifiers, and the other binders of the solver
    (``lambda``, ``set.comprehension``).

    SORT is the result's: Bool; of ``lambda`` a function's; of ``set.comprehension`` a set's.
    """

    likely = (has_open,)
    sort: SortArg
    binder: Text
    variables: Variables
    body: Term

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        store, chance = run.store, run.random
        binder = chance.pick(run.capabilities.binders)
        body = store.pick_open(store.populated if binder == "lambda" else [BOOL], chance)
        if body is None:
            return None
        variables = [v for v in store.open_variables if v in body.free]
        if len(variables) > 1 and chance.happens(0.3):
            variables.remove(chance.pick(variables))
        bound = tuple(variables[:1] if binder == "set.comprehension" else variables)
        return cls(ensure_sort(run, _binder_sort(binder, bound, body)), binder, bound, body)

    def require(self, run: Run) -> None:
        if self.binder not in run.capabilities.binders:
            raise Unsupported(f"without {self.binder[:60]}")
        if self.sort.sort is not _binder_sort(self.binder, self.variables, self.body):
            raise TraceError(
                f"{self.binder} over a body of sort {self.body.sort.sort} has not the sort {self.sort.sort}"
            )

    def keep(self, run: Run, result: Any) -> Made:
        free = self.body.free - frozenset(self.variables)
        run.store.bind(self.variables)
        made = run.keep_term(self.sort, result, TermKind.TERM, None, (), free)
        run.statistics.operators[f"Binders {self.binder}"] += 1
        return (made,)


def _binder_sort(binder: str, variables: tuple[ApiTerm, ...], body: ApiTerm) -> Sort:
    sorts = _sorts(variables)
    if binder == "lambda":
        return make_sort("->", (), (*sorts, body.sort.sort))
    if body.sort.sort is not BOOL:
        raise TraceError(f"the body of {binder[:60]} has the sort {body.sort.sort}, expected Bool")
    if binder == "set.comprehension":
        return make_sort("Set", (), sorts[:1])
    return BOOL
