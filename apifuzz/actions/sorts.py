"""Sorts: those of the theories, uninterpreted ones, and datatypes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

from apifuzz.actions import Action, Made, draws_on
from apifuzz.call import Kind, Name, numeral, read_list, read_name, rest
from apifuzz.datatypes import MOST_ARGUMENTS
from apifuzz.interface import ApiSort, DatatypeSpec, Feature, Field, FieldSort, MadeSort, Unsupported
from apifuzz.run import Run
from apifuzz.sort_drawing import MAX_DEPTH, allowed, draw_made_for, draw_sort, role_of
from apifuzz.store import Store
from apifuzz.trace import TraceError, is_id, quote_name, unquote_name
from smtlib import BOOL, Sort, SortError, default_theories, make_sort
from smtlib.environment import parameter
from smtlib.signature import evaluate_index

_MOST_NAMES = 200
_DEEPEST = 20


class MakeSort(Action[Any]):
    """``make-sort HEAD SORT...``: a sort of a theory file (``Int``, ``(_ BitVec 8)``, ``Array s1 s2``), or an
    instance of a declared sort constructor or parametric datatype.
    """

    sort: Sort
    args: tuple[ApiSort, ...] = ()

    def tokens(self) -> tuple[str, ...]:
        sort = self.sort
        ids = map(str, self.args)
        if sort.indices:
            return (f"(_ {sort.name} {' '.join(map(str, sort.indices))})", *ids)
        # A declared sort without arguments is made by its declaration, never by make-sort.
        return (sort.name if sort.name == "->" else quote_name(sort.name), *ids)

    @classmethod
    def read(cls, store: Store, tokens: Sequence[str]) -> Self:
        if not 1 <= len(tokens) <= 1 + MOST_ARGUMENTS:
            raise TraceError(f"1 to {1 + MOST_ARGUMENTS} arguments expected, found {len(tokens)}")
        args = tuple([store.sort(token) for token in tokens[1:]])
        name, indices = _read_sort_head(tokens[0])
        _require_known(store, name, indices, len(args))
        try:
            return cls(make_sort(name, indices, tuple([a.sort for a in args])), args)
        except SortError as error:
            raise TraceError(error.message) from None

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        if BOOL not in run.store.sorts:
            return cls(BOOL)
        sort = draw_sort(run)
        if sort is None or sort in run.impossible:
            return None
        if sort in run.store.sorts and run.random.happens(0.9):
            return None
        args = tuple([ensure_sort(run, arg) for arg in sort.args])
        if sort not in run.store.sorts:
            ensure_sort(run, sort)
            return None
        return cls(sort, args)

    def keep(self, run: Run, result: Any) -> Made:
        return (run.keep_sort(self.sort, result),)


def _read_sort_head(token: str) -> tuple[str, tuple[int, ...]]:
    if token[0] != "(":
        return (token if token == "->" else read_name(token)), ()
    parts = read_list(token)
    if len(parts) < 3 or parts[0] != "_" or not all(p.isascii() and p.isdigit() for p in parts[2:]):
        raise TraceError(f"{token[:60]} is not the head of a sort")
    if any(len(p) > 6 for p in parts[2:]):
        raise TraceError(f"an index of {token[:60]} is larger than 999999")
    return parts[1], tuple(map(int, parts[2:]))


def _require_known(store: Store, name: str, indices: tuple[int, ...], count: int) -> None:
    """Raise :class:`TraceError` unless the head is a sort's and takes these indices and ``count``
    arguments.
    """
    if name in store.sort_constructors:
        expected, fits = store.sort_constructors[name], not indices
    elif name == "->":
        expected, fits = max(2, count), not indices
    else:
        symbol = default_theories().sorts.get(name)
        if name in store.lost_sorts:
            raise Unsupported(f"{name} could not be declared")
        if symbol is None:
            raise TraceError(f"unknown sort {name[:60]}")
        expected = max(1, count) if symbol.variadic else symbol.arity
        fits = len(indices) == len(symbol.indices)
        if fits and symbol.where is not None:
            fits = bool(evaluate_index(symbol.where, dict(zip(symbol.indices, indices, strict=True))))
    if not fits:
        raise TraceError(f"the sort {name[:60]} has no indices {' '.join(map(str, indices))}")
    if count != expected:
        raise TraceError(f"the sort {name[:60]} takes {expected} arguments, found {count}")


def ensure_sort(run: Run, sort: Sort) -> ApiSort:
    """The sort, made now with its argument sorts where it was not made before.

    Raises :class:`Unsupported` where the solver cannot make it.
    """
    found = run.store.sorts.get(sort)
    if found is not None:
        return found
    if sort in run.impossible or sort.depth > MAX_DEPTH + 2:
        raise Unsupported(f"no sort {sort}")
    for position, arg in enumerate(sort.args):
        if not allowed(run, role_of(sort.name, position), arg):
            raise Unsupported(f"no sort {sort}")
    args = tuple([ensure_sort(run, arg) for arg in sort.args])
    try:
        return run.make_sort(MakeSort(sort, args))
    except Unsupported:
        run.impossible.add(sort)
        raise


class DeclareSort(Action[Any]):
    """``declare-sort NAME ARITY``: an uninterpreted sort; of arity > 0 a constructor, which ``make-sort``
    applies by its name.
    """

    likely = (draws_on(Feature.SORTS),)
    symbol: Name
    arity: Annotated[int, numeral(0, 9)]

    @classmethod
    def draw(cls, run: Run) -> Self:
        takes = run.draws_on(Feature.SORT_CONSTRUCTORS) and run.random.happens(0.3)
        return cls(run.fresh_name("U", plain=True), run.random.up_to(2) if takes else 0)

    def make(self, run: Run) -> Made:
        run.take_sort_name(self.symbol)
        try:
            run.require(Feature.SORT_CONSTRUCTORS if self.arity else Feature.SORTS)
            return super().make(run)
        except Unsupported:
            run.store.lost_sorts.add(self.symbol)
            raise

    def keep(self, run: Run, result: Any) -> Made:
        if self.arity:
            run.store.sort_constructors[self.symbol] = self.arity
        params = tuple(parameter(f"P{i}") for i in range(self.arity))
        return (run.keep_sort(make_sort(self.symbol, (), params), result),)


def _read_datatype(store: Store, token: str) -> DatatypeSpec:
    parts = read_list(token)
    if len(parts) < 3:
        raise TraceError(f"(NAME (PARAMETER ...) (CONSTRUCTOR ...) ...) expected, found {token[:60]}")
    params = tuple(map(read_name, read_list(parts[1])))
    constructors = []
    for constructor in parts[2:]:
        inner = read_list(constructor)
        if not inner or len(inner) > _MOST_NAMES:
            raise TraceError(f"(CONSTRUCTOR (SELECTOR SORT) ...) expected, found {constructor[:60]}")
        constructors.append((read_name(inner[0]), tuple(_read_field(store, field) for field in inner[1:])))
    return DatatypeSpec(read_name(parts[0]), tuple(constructors), params)


def _read_field(store: Store, token: str) -> Field:
    parts = read_list(token)
    if len(parts) != 2:
        raise TraceError(f"(SELECTOR SORT) expected, found {token[:60]}")
    return Field(read_name(parts[0]), _read_field_sort(store, parts[1]))


def _read_field_sort(store: Store, token: str, depth: int = 0) -> FieldSort:
    """An id, a name, or ``(NAME SORT ...)``."""
    if is_id(token):
        return store.sort(token)
    if token[0] != "(":
        return unquote_name(token)
    name, *args = read_list(token) or [""]
    if depth > _DEEPEST or not 1 <= len(args) <= MOST_ARGUMENTS:
        raise TraceError(f"{token[:60]} is not the sort of a field")
    name = read_name(name)
    _require_known(store, name, (), len(args))
    return MadeSort(name, tuple([_read_field_sort(store, arg, depth + 1) for arg in args]))


def _write_datatype(spec: DatatypeSpec) -> str:
    words = [quote_name(spec.name), f"({' '.join(spec.parameters)})"]
    for name, fields in spec.constructors:
        inner = "".join(f" ({quote_name(f.name)} {_write_field_sort(f.sort)})" for f in fields)
        words.append(f"({quote_name(name)}{inner})")
    return f"({' '.join(words)})"


def _write_field_sort(sort: FieldSort) -> str:
    if isinstance(sort, MadeSort):
        return f"({quote_name(sort.name)} {' '.join(map(_write_field_sort, sort.args))})"
    return quote_name(sort) if isinstance(sort, str) else str(sort)


class DeclareDatatypes(Action[list[Any]]):
    """``declare-datatypes (NAME (PARAMETER ...) (CONSTRUCTOR (SELECTOR SORT) ...) ...) ...``: datatypes,
    which may be mutually recursive, each with a handle.

    A SORT is the id of one, the name of a datatype of the group, a parameter, or what is made of these:
    ``(Array s1 P0)``. ``make-sort`` makes the sorts of a parametric datatype.
    """

    likely = (draws_on(Feature.DATATYPES),)
    group: Annotated[tuple[DatatypeSpec, ...], rest(Kind(_read_datatype, _write_datatype))]

    @classmethod
    def read(cls, store: Store, tokens: Sequence[str]) -> Self:
        if len(tokens) > MOST_ARGUMENTS:
            raise TraceError(f"at most {MOST_ARGUMENTS} arguments expected, found {len(tokens)}")
        try:
            return super().read(store, tokens)
        except Unsupported:
            store.lost_sorts.update(read_name(read_list(token)[0]) for token in tokens)
            raise

    @classmethod
    def draw(cls, run: Run) -> Self:
        chance = run.random
        parametric = run.draws_on(Feature.PARAMETRIC_DATATYPES) and chance.happens(0.4)
        count = 1 if chance.happens(0.65) else 1 + chance.up_to(2)
        names = [run.fresh_name("D", plain=True) for _ in range(count)]
        params = [f"P{i}" for i in range(chance.up_to(2))] if parametric else []
        return cls(tuple([_draw_datatype(run, name, names, params) for name in names]))

    def make(self, run: Run) -> Made:
        try:
            sorts, handles = self._declare(run)
        except Unsupported:
            run.store.lost_sorts.update(spec.name for spec in self.group)
            raise
        kept: list[ApiSort] = []
        for spec, sort, handle in zip(self.group, sorts, handles, strict=True):
            if spec.parameters:
                run.store.sort_constructors[spec.name] = len(spec.parameters)
            kept.append(run.keep_sort(sort, handle))
        return tuple(kept)

    def _declare(self, run: Run) -> tuple[list[Sort], list[Any]]:
        run.require(Feature.DATATYPES)
        if any(spec.parameters for spec in self.group):
            run.require(Feature.PARAMETRIC_DATATYPES)
        sorts = run.store.datatypes.declare(self.group)
        for spec in self.group:
            run.take_sort_name(spec.name)
            for name, fields in spec.constructors:
                for taken in (name, *(f.name for f in fields)):
                    run.store.take_name(taken)
        try:
            return sorts, run.engine.perform(self)
        except Unsupported:
            run.store.datatypes.withdraw(self.group)
            raise


def _draw_datatype(run: Run, name: str, group: list[str], params: list[str]) -> DatatypeSpec:
    """A datatype whose first constructor needs no value of the group, so that all are well-founded."""
    constructors = []
    for number in range(run.random.up_to(3)):
        sorts = [_draw_field(run, group, params, number == 0) for _ in range(run.random.below(3.5))]
        fields = tuple([Field(run.fresh_name("sel"), sort) for sort in sorts if sort is not None])
        constructors.append((run.fresh_name("cons"), fields))
    return DatatypeSpec(name, tuple(constructors), tuple(params))


def _draw_field(run: Run, group: list[str], params: list[str], is_base: bool) -> FieldSort | None:
    share = run.random.random()
    if params and share < 0.4:
        return run.random.pick(params)
    if not is_base and share < 0.7:
        return run.random.pick(group)
    return draw_made_for("datatype", run)
