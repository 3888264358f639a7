"""The simplest terms: values, constants, variables, and declared functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from apifuzz.actions import Action, Made
from apifuzz.actions.sorts import ensure_sort
from apifuzz.call import Name, SortArg, Sorts, Text
from apifuzz.datatypes import MOST_ARGUMENTS
from apifuzz.interface import ApiSort, ApiTerm, Feature, TermKind, Unsupported
from apifuzz.run import Run
from apifuzz.sort_drawing import allowed, draw_made
from apifuzz.store import Store
from apifuzz.trace import TraceError
from apifuzz.values import check_value, has_values, random_value, special_value
from smtlib import Sort, make_sort

_TRIES = 5
_MOST_VARIABLES = 3


class MakeValue(Action[Any]):
    r"""``make-value SORT VALUE``: the value that VALUE writes in SMT-LIB (``true``, ``(- 3)``, ``(/ 1 3)``,
    ``#b01``, ``"a\u{3}"``, ``(fp #b0 #b01 #b1)``, ``(_ +oo 8 24)``, ``RNE``, ``(as ff3 (_ FiniteField 5))``),
    mostly a small one; gives a handle. The engine chooses among the ways to say it (numeral, text in base 2,
    10 or 16, ...).
    """

    sort: SortArg
    text: Text

    _draw = staticmethod(random_value)

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return bool(run.store.plain_sorts)

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        for _ in range(_TRIES):
            sort = draw_made(run)
            if sort is not None and has_values(sort):
                return cls(run.store.sorts[sort], cls._draw(sort, run.random))
        return None

    @classmethod
    def read(cls, store: Store, tokens: Sequence[str]) -> Self:
        call = super().read(store, tokens)
        check_value(call.sort.sort, call.text)
        return call

    def make(self, run: Run) -> Made:
        return (run.keep_term(self.sort, run.engine.perform(self), TermKind.VALUE),)


class MakeSpecialValue(MakeValue):
    """``make-special-value SORT VALUE``: one at the boundaries of the sort."""

    method = "make_value"
    _draw = staticmethod(special_value)


class _MakeNamed(Action[Any]):
    """``NAME of SORT``; gives a handle."""

    kind: ClassVar[TermKind]
    prefix: ClassVar[str]
    role: ClassVar[str]
    sort: SortArg
    symbol: Name

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        sort = draw_made(run)
        if sort is None or not allowed(run, cls.role, sort):
            return None
        return cls(run.store.sorts[sort], run.fresh_name(cls.prefix))

    def make(self, run: Run) -> Made:
        run.store.take_name(self.symbol)
        return (run.keep_term(self.sort, run.engine.perform(self), self.kind),)


class MakeConstant(_MakeNamed):
    """``make-constant SORT NAME``: a free constant."""

    kind, prefix, role = TermKind.CONSTANT, "c", "constant"

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return bool(run.store.plain_sorts)


class MakeVariable(_MakeNamed):
    """``make-variable SORT NAME``: a variable that a binder or a definition is to bind."""

    kind, prefix, role = TermKind.VARIABLE, "x", "quantifier"

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.draws_on(Feature.QUANTIFIERS) and len(run.store.open_variables) < _MOST_VARIABLES


class MakeFunction(Action[Any]):
    """``make-function NAME (SORT ...) SORT``: a declared function of one argument or more; gives a handle."""

    feature = Feature.FUNCTIONS
    symbol: Name
    params: Sorts
    result: SortArg

    @classmethod
    def is_possible(cls, run: Run) -> bool:
        return run.draws_on(Feature.FUNCTIONS) and bool(run.store.plain_sorts)

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        drawn = [draw_made(run) for _ in range(2 + int(run.random.random() * 2.5))]
        if any(sort is None or not allowed(run, "function", sort) for sort in drawn):
            return None
        *params, result = [run.store.sorts[sort] for sort in drawn if sort is not None]
        return cls(run.fresh_name("f"), tuple(params), result)

    def make(self, run: Run) -> Made:
        if not 1 <= len(self.params) <= MOST_ARGUMENTS:
            raise TraceError(f"a function has 1 to {MOST_ARGUMENTS} arguments, not {len(self.params)}")
        self.require(run)
        run.store.take_name(self.symbol)
        handle = run.engine.perform(self)
        own = function_sort(run, tuple([p.sort for p in self.params]), self.result.sort)
        made = run.keep_term(own, handle, TermKind.FUNCTION)
        run.store.undefined.append(made)
        return (made,)


def function_sort(run: Run, params: tuple[Sort, ...], result: Sort) -> ApiSort:
    """The sort of a function: the one that was made, or one that no call made."""
    sort = make_sort("->", (), (*params, result))
    return run.store.sorts.get(sort) or ApiSort(0, sort, None)


def ensure_term(run: Run, sort: Sort) -> ApiTerm:
    """A new constant (a function, where the sort is one; now and then a value) of the sort, which is made
    where it was not. Raises :class:`Unsupported` where the solver has none.
    """
    if sort.is_function:
        run.require(Feature.FUNCTIONS)
        *params, result = [ensure_sort(run, arg) for arg in sort.args]
        return run.make_term(MakeFunction(run.fresh_name("f"), tuple(params), result))
    own = ensure_sort(run, sort)
    if has_values(sort) and (run.random.random() < 0.3 or not allowed(run, "constant", sort)):
        return run.make_term(MakeValue(own, random_value(sort, run.random)))
    if allowed(run, "constant", sort):
        return run.make_term(MakeConstant(own, run.fresh_name("c")))
    raise Unsupported(f"no constants of sort {sort}")


ACTIONS = (MakeValue, MakeSpecialValue, MakeConstant, MakeVariable, MakeFunction)
