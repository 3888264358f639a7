"""Terms: values, constants, variables, applications and binders."""

from __future__ import annotations

from apifuzz import calls
from apifuzz.actions import Action
from apifuzz.actions.reading import read_name, read_terms, read_variables, require_count
from apifuzz.heads import member_text, of_datatype, read_head
from apifuzz.interface import ApiTerm, Feature, Head, HeadKind, TermKind, Unsupported
from apifuzz.operators import is_known
from apifuzz.run import Run
from apifuzz.sort_drawing import allowed, draw_made, ensure_sort, ensure_term
from apifuzz.store import seldom_used
from apifuzz.term_drawing import draw_application
from apifuzz.trace import TraceError, quote_name
from apifuzz.values import check_value, has_values, random_value, special_value
from smtlib import BOOL, Sort, default_theories, make_sort

_TRIES = 5
_MOST_VARIABLES = 3
_MEMBER_SHARE = 0.3
_APPLY_SHARE = 0.1


class MakeValue(Action):
    """``make-value SORT VALUE``: mostly a small one."""

    name = "make-value"
    _draw = staticmethod(random_value)

    def is_possible(self, run: Run) -> bool:
        return bool(run.store.plain_sorts)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        for _ in range(_TRIES):
            sort = draw_made(run)
            if sort is not None and has_values(sort):
                return str(run.store.sorts[sort]), self._draw(sort, run.random)
        return None

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 2, 2)
        sort = run.store.sort(args[0])
        check_value(sort.sort, args[1])
        return (str(run.keep_term(sort, run.engine.perform(calls.MakeValue(sort, args[1])), TermKind.VALUE)),)


class MakeSpecialValue(MakeValue):
    """``make-special-value SORT VALUE``: one at the boundaries of the sort."""

    name = "make-special-value"
    _draw = staticmethod(special_value)


class MakeConstant(Action):
    """``make-constant SORT NAME``: a free constant."""

    name = "make-constant"

    def is_possible(self, run: Run) -> bool:
        return bool(run.store.plain_sorts)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        sort = draw_made(run)
        if sort is None or not allowed(run, "constant", sort):
            return None
        return str(run.store.sorts[sort]), quote_name(run.fresh_name("c"))

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 2, 2)
        sort = run.store.sort(args[0])
        name = read_name(args[1])
        run.store.take_name(name)
        return (
            str(run.keep_term(sort, run.engine.perform(calls.MakeConstant(sort, name)), TermKind.CONSTANT)),
        )


class MakeVariable(Action):
    """``make-variable SORT NAME``: a variable that a binder or a definition is to bind."""

    name = "make-variable"

    def is_possible(self, run: Run) -> bool:
        return run.draws_on(Feature.QUANTIFIERS) and len(run.store.open_variables) < _MOST_VARIABLES

    def draw(self, run: Run) -> tuple[str, ...] | None:
        sort = draw_made(run)
        if sort is None or not allowed(run, "quantifier", sort):
            return None
        return str(run.store.sorts[sort]), quote_name(run.fresh_name("x"))

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 2, 2)
        sort = run.store.sort(args[0])
        name = read_name(args[1])
        run.store.take_name(name)
        return (
            str(run.keep_term(sort, run.engine.perform(calls.MakeVariable(sort, name)), TermKind.VARIABLE)),
        )


class MakeTerm(Action):
    """``make-term SORT HEAD TERM...``: an operator, a function or a member of a datatype, applied."""

    name = "make-term"

    def is_possible(self, run: Run) -> bool:
        return bool(run.store.populated)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        if run.store.functions and run.random.random() < _APPLY_SHARE:
            return _draw_apply(run)
        if run.store.datatypes and run.random.random() < _MEMBER_SHARE:
            return _draw_member(run)
        for _ in range(_TRIES):
            found = draw_application(run)
            if found is not None:
                return str(found.result), found.text, *map(str, found.args)
        return None

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 2)
        sort = run.store.sort(args[0])
        terms = read_terms(run, args[2:])
        head, qualified = read_head(args[1])
        if head.kind is HeadKind.OPERATOR:
            counted = _require_operator(run, head, qualified, sort.sort, terms)
        elif head.kind is HeadKind.APPLY:
            counted = _require_apply(sort.sort, terms)
        else:
            head, counted = _require_member(run, head, sort.sort, terms)
        handle = run.engine.perform(calls.MakeTerm(sort, head, terms))
        free = free_in(terms)
        if head.kind is HeadKind.APPLY and not free and terms[0] in run.store.undefined:
            run.store.undefined.remove(terms[0])
        made = run.keep_term(sort, handle, TermKind.TERM, head, terms, free)
        run.statistics.operators[counted] += 1
        return (str(made),)


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


def _require_operator(run: Run, head: Head, qualified: bool, result: Sort, terms: tuple[ApiTerm, ...]) -> str:
    """Raise unless the operator takes the terms and gives ``result``; how it is counted."""
    sorts = _sorts(terms)
    found = default_theories().find(head.name, head.indices, sorts, result if qualified else None)
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
        raise TraceError("apply wants a function as its first argument")
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
            wanted = (datatype,) if head.kind is HeadKind.SELECTOR else (datatype, field)
            gives = field if head.kind is HeadKind.SELECTOR else datatype
            fits = field is not None and sorts == wanted and result is gives
        if fits and datatype is not None:
            return of_datatype(head, datatype), f"Datatypes {head.kind.value}"
    raise TraceError(f"({head.kind.value} {head.name[:60]}) does not take {_shown(terms)} to {result}")


# Drawing applications of functions and members


def _draw_apply(run: Run) -> tuple[str, ...] | None:
    function = seldom_used(run.store.functions, run.random)
    if function is None:
        return None
    terms = _draw_terms(run, function.sort.sort.args[:-1])
    if terms is None:
        return None
    result = ensure_sort(run, function.sort.sort.args[-1])
    return str(result), "apply", str(function), *map(str, terms)


def _draw_terms(run: Run, sorts: tuple[Sort, ...]) -> list[ApiTerm] | None:
    terms = []
    for sort in sorts:
        found = run.store.pick(sort, run.random)
        if found is None:
            if run.random.random() < 0.5:
                return None
            found = ensure_term(run, sort)
        terms.append(found)
    return terms


def _draw_member(run: Run) -> tuple[str, ...] | None:
    """A constructor, selector, tester or updater of a datatype that was made."""
    datatypes = [s for s in run.store.plain_sorts if run.store.datatypes.members(s)]
    if not datatypes:
        return None
    sort = datatypes[int(run.random.random() * len(datatypes))]
    constructors = run.store.datatypes.members(sort)
    constructor = constructors[int(run.random.random() * len(constructors))]
    own = ensure_sort(run, sort)
    share = run.random.random()
    if share < 0.4 or sort not in run.store.pools:
        terms = _draw_terms(run, constructor.sorts)
        text = member_text(HeadKind.CONSTRUCTOR, constructor.name)
        return None if terms is None else (str(own), text, *map(str, terms))
    term = run.store.pick(sort, run.random)
    if term is None:
        return None
    if share < 0.6 or not constructor.fields:
        return str(ensure_sort(run, BOOL)), member_text(HeadKind.TESTER, constructor.name), str(term)
    name, field = constructor.fields[int(run.random.random() * len(constructor.fields))]
    if share < 0.85:
        return str(ensure_sort(run, field)), member_text(HeadKind.SELECTOR, name), str(term)
    new = _draw_terms(run, (field,))
    return None if new is None else (str(own), member_text(HeadKind.UPDATER, name), str(term), str(new[0]))


class MakeBinder(Action):
    """``make-binder SORT BINDER (VARIABLE ...) BODY``: quantifiers, and what else the solver binds with.

    SORT is the result's: Bool; of ``lambda`` a function's; of ``set.comprehension`` a set's.
    """

    name = "make-binder"

    def is_possible(self, run: Run) -> bool:
        return bool(run.store.open_variables)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        binders = run.capabilities.binders
        binder = binders[int(run.random.random() * len(binders))]
        sorts = run.store.populated if binder == "lambda" else [BOOL]
        pools = [p.open for s in sorts if (p := run.store.pools.get(s)) is not None and p.open]
        if not pools:
            return None
        body = seldom_used(pools[int(run.random.random() * len(pools))], run.random)
        if body is None:
            return None
        variables = [v for v in run.store.open_variables if v in body.free]
        if len(variables) > 1 and run.random.random() < 0.3:
            variables.pop(int(run.random.random() * len(variables)))
        if binder == "set.comprehension":
            variables = variables[:1]
        result = ensure_sort(run, _binder_sort(binder, tuple(variables), body))
        return str(result), binder, f"({' '.join(map(str, variables))})", str(body)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 4, 4)
        result = run.store.sort(args[0])
        binder = args[1]
        if binder not in run.capabilities.binders:
            raise Unsupported(f"without {binder[:60]}")
        variables = read_variables(run, args[2])
        (body,) = read_terms(run, args[3:])
        if result.sort is not _binder_sort(binder, variables, body):
            raise TraceError(f"{binder} over a body of sort {body.sort.sort} has not the sort {result.sort}")
        handle = run.engine.perform(calls.MakeBinder(result, binder, variables, body))
        free = body.free - frozenset(variables)
        run.store.bind(variables)
        made = run.keep_term(result, handle, TermKind.TERM, None, (), free)
        run.statistics.operators[f"Binders {binder}"] += 1
        return (str(made),)


def _binder_sort(binder: str, variables: tuple[ApiTerm, ...], body: ApiTerm) -> Sort:
    sorts = _sorts(variables)
    if binder == "lambda":
        return make_sort("->", (), (*sorts, body.sort.sort))
    if body.sort.sort is not BOOL:
        raise TraceError(f"the body of {binder[:60]} has the sort {body.sort.sort}, Bool is wanted")
    if binder == "set.comprehension":
        return make_sort("Set", (), sorts[:1])
    return BOOL


ACTIONS = (MakeValue(), MakeSpecialValue(), MakeConstant(), MakeVariable(), MakeTerm(), MakeBinder())
