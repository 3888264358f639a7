"""The simplest terms: values, constants, variables, and declared functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Self

from apifuzz.actions import Action, Made, draws_on
from apifuzz.actions.sorts import ensure_sort
from apifuzz.call import Drawn, Name, SortArg, Sorts, Text, draw_made, fresh
from apifuzz.datatypes import MOST_ARGUMENTS
from apifuzz.interface import ApiSort, ApiTerm, Feature, TermKind, Unsupported
from apifuzz.run import Run
from apifuzz.sort_drawing import allowed, draw_made_for, made_for
from apifuzz.store import Store
from apifuzz.trace import TraceError
from apifuzz.values import check_value, has_values, random_value, special_value
from smtlib import Sort, make_sort

_TRIES = 5
_MOST_VARIABLES = 3


class MakeValue(Action[Any]):
    r"""``make-value SORT VALUE``: the value that VALUE writes in SMT-LIB (``true``, ``(- 3)``, ``(/ 1 3)``,
    ``#b01``, ``"a\u{3}"``, ``(fp #b0 #b01 #b1)``, ``(_ +oo 8 24)``, ``RNE``, ``(as ff3 (_ FiniteField 5))``),
    mostly a small one. The engine chooses among the calls that make it (from a numeral, a text in base 2, 10
    or 16, ...).
    """

    sort: SortArg
    text: Text

    _draw = staticmethod(random_value)

    @classmethod
    def draw(cls, run: Run) -> Self | None:
        for _ in range(_TRIES):
            sort = draw_made(run)
            if sort is not None and has_values(sort.sort):
                return cls(sort, cls._draw(sort.sort, run.random))
        return None

    @classmethod
    def read(cls, store: Store, tokens: Sequence[str]) -> Self:
        call = super().read(store, tokens)
        check_value(call.sort.sort, call.text)
        return call

    def keep(self, run: Run, result: Any) -> Made:
        return (run.keep_term(self.sort, result, TermKind.VALUE),)


class MakeSpecialValue(MakeValue):
    """``make-special-value SORT VALUE``: one at the boundaries of the sort."""

    method = "make_value"
    _draw = staticmethod(special_value)


class MakeConstant(Action[Any]):
    """``make-constant SORT NAME``: a free constant."""

    kind: ClassVar[TermKind] = TermKind.CONSTANT
    sort: Annotated[SortArg, made_for("constant")]
    symbol: Annotated[Name, fresh("c")]

    def require(self, run: Run) -> None:
        run.store.take_name(self.symbol)

    def keep(self, run: Run, result: Any) -> Made:
        return (run.keep_term(self.sort, result, self.kind),)


class MakeVariable(MakeConstant):
    """``make-variable SORT NAME``: a variable, for a binder or a definition to bind."""

    kind = TermKind.VARIABLE
    likely = (draws_on(Feature.QUANTIFIERS), lambda run: len(run.store.open_variables) < _MOST_VARIABLES)
    sort: Annotated[SortArg, made_for("quantifier")]
    symbol: Annotated[Name, fresh("x")]


def _draw_parameters(run: Run) -> tuple[ApiSort, ...] | None:
    drawn = [draw_made_for("function", run) for _ in range(run.random.up_to(2.5))]
    sorts = tuple([sort for sort in drawn if sort is not None])
    return sorts if len(sorts) == len(drawn) else None


class MakeFunction(Action[Any]):
    """``make-function NAME (SORT ...) SORT``: a declared function of one argument or more."""

    feature = Feature.FUNCTIONS
    likely = (draws_on(Feature.FUNCTIONS),)
    symbol: Annotated[Name, fresh("f")]
    params: Annotated[Sorts, Drawn(_draw_parameters)]
    result: Annotated[SortArg, made_for("function")]

    def require(self, run: Run) -> None:
        if not 1 <= len(self.params) <= MOST_ARGUMENTS:
            raise TraceError(f"a function has 1 to {MOST_ARGUMENTS} arguments, not {len(self.params)}")
        super().require(run)
        run.store.take_name(self.symbol)

    def keep(self, run: Run, result: Any) -> Made:
        own = function_sort(run, tuple([p.sort for p in self.params]), self.result.sort)
        made = run.keep_term(own, result, TermKind.FUNCTION)
        run.store.undefined.append(made)
        return (made,)


def function_sort(run: Run, params: tuple[Sort, ...], result: Sort) -> ApiSort:
    """The sort of a function: the one that was made, or one that no call made."""
    sort = make_sort("->", (), (*params, result))
    return run.store.sorts.get(sort) or ApiSort(0, sort, None)


def ensure_term(run: Run, sort: Sort) -> ApiTerm:
    """A new constant of the sort (or a function, or now and then a value); the sort is made if necessary.

    Raises :class:`Unsupported` where the solver has no such term.
    """
    if sort.is_function:
        run.require(Feature.FUNCTIONS)
        *params, result = [ensure_sort(run, arg) for arg in sort.args]
        return run.make_term(MakeFunction(run.fresh_name("f"), tuple(params), result))
    own = ensure_sort(run, sort)
    if has_values(sort) and (run.random.happens(0.3) or not allowed(run, "constant", sort)):
        return run.make_term(MakeValue(own, random_value(sort, run.random)))
    if allowed(run, "constant", sort):
        return run.make_term(MakeConstant(own, run.fresh_name("c")))
    raise Unsupported(f"no constants of sort {sort}")
