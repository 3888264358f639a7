"""Sorts: those of the theories, uninterpreted ones, and datatypes."""

from __future__ import annotations

from typing import Any

from apifuzz import calls
from apifuzz.actions import Action
from apifuzz.actions.reading import read_list, read_name, require_count
from apifuzz.datatypes import MOST_ARGUMENTS
from apifuzz.interface import ApiSort, DatatypeSpec, Feature, Field, FieldSort, MadeSort, Unsupported
from apifuzz.run import Run
from apifuzz.sort_drawing import allowed, draw_made, draw_sort, ensure_sort, text_of
from apifuzz.trace import TraceError, is_id, quote_name, unquote_name
from smtlib import BOOL, Sort, SortError, default_theories, make_sort
from smtlib.environment import parameter
from smtlib.signature import evaluate_index

_MOST_NAMES = 200
_DEEPEST = 20


class MakeSort(Action):
    """``make-sort HEAD SORT...``: a sort of a theory file, or an instance of a declared constructor."""

    name = "make-sort"

    def draw(self, run: Run) -> tuple[str, ...] | None:
        if BOOL not in run.store.sorts:
            return text_of(BOOL, ())
        sort = draw_sort(run)
        if sort is None or sort in run.impossible:
            return None
        if sort in run.store.sorts and run.random.random() < 0.9:
            return None
        ids = [str(ensure_sort(run, arg)) for arg in sort.args]
        if sort not in run.store.sorts:
            ensure_sort(run, sort)
            return None
        return text_of(sort, ids)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, 1 + MOST_ARGUMENTS)
        arguments = tuple([run.store.sort(token) for token in args[1:]])
        name, indices = _read_sort_head(args[0])
        _require_known(run, name, indices, len(arguments))
        try:
            sort = make_sort(name, indices, tuple([a.sort for a in arguments]))
        except SortError as error:
            raise TraceError(error.message) from None
        return (str(run.keep_sort(sort, run.engine.perform(calls.MakeSort(sort, arguments)))),)


def _read_sort_head(token: str) -> tuple[str, tuple[int, ...]]:
    if token[0] != "(":
        return (token if token == "->" else read_name(token)), ()
    parts = read_list(token)
    if len(parts) < 3 or parts[0] != "_" or not all(p.isascii() and p.isdigit() for p in parts[2:]):
        raise TraceError(f"{token[:60]} is no head of a sort")
    if any(len(p) > 6 for p in parts[2:]):
        raise TraceError(f"an index of {token[:60]} is larger than 999999")
    return parts[1], tuple(map(int, parts[2:]))


def _require_known(run: Run, name: str, indices: tuple[int, ...], count: int) -> None:
    """Raise :class:`TraceError` unless the head is a sort's and takes these indices and so many arguments."""
    if name in run.store.sort_constructors:
        wanted, fits = run.store.sort_constructors[name], not indices
    elif name == "->":
        wanted, fits = max(2, count), not indices
    else:
        symbol = default_theories().sorts.get(name)
        if name in run.store.lost_sorts:
            raise Unsupported(f"{name} could not be declared")
        if symbol is None:
            raise TraceError(f"unknown sort {name[:60]}")
        wanted = max(1, count) if symbol.variadic else symbol.arity
        fits = len(indices) == len(symbol.indices)
        if fits and symbol.where is not None:
            fits = bool(evaluate_index(symbol.where, dict(zip(symbol.indices, indices, strict=True))))
    if not fits:
        raise TraceError(f"the sort {name[:60]} has no indices {' '.join(map(str, indices))}")
    if count != wanted:
        raise TraceError(f"the sort {name[:60]} takes {wanted} arguments, {count} are here")


class DeclareSort(Action):
    """``declare-sort NAME ARITY``: an uninterpreted sort, or a constructor of some."""

    name = "declare-sort"

    def is_possible(self, run: Run) -> bool:
        return run.draws_on(Feature.SORTS)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        arity = 0
        if run.draws_on(Feature.SORT_CONSTRUCTORS) and run.random.random() < 0.3:
            arity = 1 + int(run.random.random() * 2)
        return quote_name(run.fresh_name("U", plain=True)), str(arity)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 2, 2)
        name = read_name(args[0])
        if args[1] not in map(str, range(10)):
            raise TraceError(f"a numeral from 0 to 9 is wanted, {args[1][:20]} is here")
        arity = int(args[1])
        run.take_sort_name(name)
        try:
            run.require(Feature.SORT_CONSTRUCTORS if arity else Feature.SORTS)
            handle = run.engine.perform(calls.DeclareSort(name, arity))
        except Unsupported:
            run.store.lost_sorts.add(name)
            raise
        if arity:
            run.store.sort_constructors[name] = arity
        params = tuple(parameter(f"P{i}") for i in range(arity))
        return (str(run.keep_sort(make_sort(name, (), params), handle)),)


class DeclareDatatypes(Action):
    """``declare-datatypes (NAME (PARAMETER ...) (CONSTRUCTOR (SELECTOR SORT) ...) ...) ...``: a group.

    A SORT is the id of one, the name of a datatype of the group, a parameter, or what is made of these:
    ``(Array s1 P0)``.
    """

    name = "declare-datatypes"

    def is_possible(self, run: Run) -> bool:
        return run.draws_on(Feature.DATATYPES)

    def draw(self, run: Run) -> tuple[str, ...] | None:
        chance = run.random
        parametric = run.draws_on(Feature.PARAMETRIC_DATATYPES) and chance.random() < 0.4
        count = 1 if chance.random() < 0.65 else 2 + int(chance.random() * 2)
        names = [quote_name(run.fresh_name("D", plain=True)) for _ in range(count)]
        params = [f"P{i}" for i in range(1 + int(chance.random() * 2))] if parametric else []
        return tuple(_draw_datatype(run, name, names, params) for name in names)

    def perform(self, run: Run, args: tuple[str, ...]) -> tuple[str, ...]:
        require_count(args, 1, MOST_ARGUMENTS)
        try:
            group, sorts, handles = self._declare(run, args)
        except Unsupported:
            run.store.lost_sorts.update(read_name(read_list(token)[0]) for token in args)
            raise
        kept: list[ApiSort] = []
        for spec, sort, handle in zip(group, sorts, handles, strict=True):
            if spec.parameters:
                run.store.sort_constructors[spec.name] = len(spec.parameters)
            kept.append(run.keep_sort(sort, handle))
        return tuple(map(str, kept))

    @staticmethod
    def _declare(run: Run, args: tuple[str, ...]) -> tuple[list[DatatypeSpec], list[Sort], list[Any]]:
        group = [_read_datatype(run, token) for token in args]
        run.require(Feature.DATATYPES)
        if any(spec.parameters for spec in group):
            run.require(Feature.PARAMETRIC_DATATYPES)
        sorts = run.store.datatypes.declare(group)
        for spec in group:
            run.take_sort_name(spec.name)
            for name, fields in spec.constructors:
                for taken in (name, *(f.name for f in fields)):
                    run.store.take_name(taken)
        try:
            return group, sorts, run.engine.perform(calls.DeclareDatatypes(tuple(group)))
        except Unsupported:
            run.store.datatypes.withdraw(group)
            raise


def _draw_datatype(run: Run, name: str, group: list[str], params: list[str]) -> str:
    """A datatype whose first constructor needs no value of the group, so that all are well-founded."""
    chance = run.random
    constructors = []
    for number in range(1 + int(chance.random() * 3)):
        fields = [_draw_field(run, group, params, number == 0) for _ in range(int(chance.random() * 3.5))]
        inner = "".join(f" ({quote_name(run.fresh_name('sel'))} {sort})" for sort in fields if sort)
        constructors.append(f"({quote_name(run.fresh_name('cons'))}{inner})")
    return f"({name} ({' '.join(params)}) {' '.join(constructors)})"


def _draw_field(run: Run, group: list[str], params: list[str], is_base: bool) -> str | None:
    chance = run.random.random()
    if params and chance < 0.4:
        return params[int(run.random.random() * len(params))]
    if not is_base and chance < 0.7:
        return group[int(run.random.random() * len(group))]
    sort = draw_made(run)
    return str(run.store.sorts[sort]) if sort is not None and allowed(run, "datatype", sort) else None


def _read_datatype(run: Run, token: str) -> DatatypeSpec:
    parts = read_list(token)
    if len(parts) < 3:
        raise TraceError(f"expected (NAME (PARAMETER ...) (CONSTRUCTOR ...) ...), found {token[:60]}")
    params = tuple(map(read_name, read_list(parts[1])))
    constructors = []
    for constructor in parts[2:]:
        inner = read_list(constructor)
        if not inner or len(inner) > _MOST_NAMES:
            raise TraceError(f"expected (CONSTRUCTOR (SELECTOR SORT) ...), found {constructor[:60]}")
        constructors.append((read_name(inner[0]), tuple(_read_field(run, field) for field in inner[1:])))
    return DatatypeSpec(read_name(parts[0]), tuple(constructors), params)


def _read_field(run: Run, token: str) -> Field:
    parts = read_list(token)
    if len(parts) != 2:
        raise TraceError(f"expected (SELECTOR SORT), found {token[:60]}")
    return Field(read_name(parts[0]), _read_field_sort(run, parts[1]))


def _read_field_sort(run: Run, token: str, depth: int = 0) -> FieldSort:
    """An id, a name, or ``(NAME SORT ...)``."""
    if is_id(token):
        return run.store.sort(token)
    if token[0] != "(":
        return unquote_name(token)
    name, *args = read_list(token) or [""]
    if depth > _DEEPEST or not 1 <= len(args) <= MOST_ARGUMENTS:
        raise TraceError(f"{token[:60]} is no sort of a field")
    name = read_name(name)
    _require_known(run, name, (), len(args))
    return MadeSort(name, tuple([_read_field_sort(run, arg, depth + 1) for arg in args]))


ACTIONS = (MakeSort(), DeclareSort(), DeclareDatatypes())
