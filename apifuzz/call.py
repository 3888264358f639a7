"""Calls on a solver as values: their fields are the arguments.

Each call class declares one call. Its name is the name of the class: ``MakeTerm`` is ``make-term`` in a
trace, and the method ``make_term`` of engines, which takes the fields in order and returns what the class
says (``Call[Answer]``). The kinds of the fields define how arguments are read, checked, printed and drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from inspect import get_annotations
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar, dataclass_transform

from apifuzz.interface import ApiSort, ApiTerm, Head, TermKind, head_text, read_head
from apifuzz.store import Store
from apifuzz.trace import TraceError, quote_name, quote_word, split_line, unquote_name
from smtlib import BOOL
from smtlib.reader import is_symbol

ResultT = TypeVar("ResultT", covariant=True)

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


Write = Callable[[Any], str]
Draw = Callable[[Any], Any]
"""Draws an argument from a run; returns None where there is none."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of argument: how it is read from a token of a trace, which is checked, written and drawn.

    With ``least`` the argument is a tuple of all remaining tokens, at least ``least`` of them.
    """

    read: Callable[[Store, str], Any]
    write: Write = str
    least: int | None = None
    draw: Draw | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """In the annotation of a field: how its argument is drawn, in place of the kind's own way."""

    by: Draw


@dataclass_transform(frozen_default=True, eq_default=False)
class Call(Generic[ResultT]):
    """A call on a solver. Iterating over it yields its arguments."""

    solver: ClassVar[str] = ""
    """The only solver that has the call; empty for calls of all solvers."""

    name: ClassVar[str]
    """Its name in traces."""

    method: ClassVar[str]
    """The name of the engines' method that makes it."""

    changes: ClassVar[bool] = False
    """Whether it changes what is asserted, or the meaning of that."""

    takes: ClassVar[tuple[str, ...]]
    """The names of the arguments."""

    arguments: ClassVar[Callable[..., tuple[Any, ...]]]
    """A method that returns the arguments."""

    def __init_subclass__(cls) -> None:
        dataclass(eq=False)(cls)
        own = vars(cls)
        words = _WORDS.sub("-", cls.__name__.lstrip("_")).lower()
        if "name" not in own:
            cls.name = f"{cls.solver}:{words}" if cls.solver else words
        if "method" not in own:
            cls.method = words.replace("-", "_")
        cls.takes = tuple(field.name for field in fields(cls))  # type: ignore[arg-type]
        cls.arguments = _arguments_of(cls.takes)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.arguments())

    def tokens(self) -> tuple[str, ...]:
        """The arguments as they are written in a trace."""
        (fixed, rest), values = _writers_of(type(self)), self.arguments()  # type: ignore[arg-type]
        written = [write(value) for write, value in zip(fixed, values, strict=False)]
        return tuple(written + [rest(value) for value in values[-1]] if rest else written)

    @classmethod
    def prepare(cls) -> None:
        """Find out the kinds of the arguments once, for all processes that are forked."""
        if cls.tokens is Call.tokens:
            _writers_of(cls)  # type: ignore[arg-type]
            _draws_of(cls)  # type: ignore[arg-type]

    @classmethod
    def read(cls, store: Store, tokens: Sequence[str]) -> Self:
        """The call whose arguments are written as ``tokens``; ids stand for what ``store`` holds.

        Raises :class:`TraceError` where the call does not take them, and :class:`Unsupported` where one of
        them could not be made.
        """
        kinds = kinds_of(cls)  # type: ignore[arg-type]
        rest = kinds[-1].least if kinds else None
        fixed = len(kinds) if rest is None else len(kinds) - 1
        if len(tokens) < fixed + (rest or 0):
            raise TraceError(f"{fixed + (rest or 0)} arguments expected, found {len(tokens)}")
        if rest is None and len(tokens) > fixed:
            raise TraceError(f"at most {fixed} arguments expected, found {len(tokens)}")
        values = [kind.read(store, token) for kind, token in zip(kinds[:fixed], tokens, strict=False)]
        if rest is not None:
            values.append(tuple([kinds[-1].read(store, token) for token in tokens[fixed:]]))
        return cls(*values)

    def make(self, run: Any) -> tuple[ApiSort | ApiTerm, ...]:
        """Make the call as part of ``run``; returns the sorts and terms that it made."""
        raise NotImplementedError

    @classmethod
    def draw(cls, run: Any) -> Self | None:
        """The call with arguments drawn from ``run``; None where there is none for one of them."""
        values = []
        for draw in _draws_of(cls):  # type: ignore[arg-type]
            value = draw(run)
            if value is None:
                return None
            values.append(value)
        return cls(*values)


def _arguments_of(names: Sequence[str]) -> Callable[..., tuple[Any, ...]]:
    """A method that returns the values of the fields with these names."""
    if len(names) > 1:
        get = attrgetter(*names)
        return lambda self: get(self)
    name = names[0] if names else ""
    return (lambda self: (getattr(self, name),)) if names else (lambda self: ())


@cache
def kinds_of(call: type[Call[Any]]) -> tuple[Kind, ...]:
    """The kinds of the arguments of a call class, in order."""
    return tuple(notes[0] for notes in _notes_of(call))


@cache
def _writers_of(call: type[Call[Any]]) -> tuple[list[Write], Write | None]:
    """How the arguments of a call class are written, in order; apart from them the parts of the last one."""
    kinds = kinds_of(call)  # type: ignore[arg-type]
    writers = [kind.write for kind in kinds]
    return (writers[:-1], writers[-1]) if kinds and kinds[-1].least is not None else (writers, None)


@cache
def _draws_of(call: type[Call[Any]]) -> tuple[Draw, ...]:
    """How the arguments of a call class are drawn, in order."""
    return tuple(notes[-1].by if isinstance(notes[-1], Drawn) else notes[0].draw for notes in _notes_of(call))


def _notes_of(call: type[Call[Any]]) -> list[tuple[Any, ...]]:
    """The notes of the fields' annotations: a kind, and perhaps how the argument is drawn."""
    hints: dict[str, Any] = {}
    for base in reversed(call.__mro__):
        hints |= get_annotations(base, eval_str=True)
    return [hints[name].__metadata__ for name in call.takes]


# Kinds


def read_list(token: str) -> list[str]:
    """The parts of a list in parentheses."""
    if token[0] != "(":
        raise TraceError(f"a list in parentheses expected, found {token[:60]}")
    return split_line(token[1:-1])


def read_name(token: str) -> str:
    """A symbol, without its bars."""
    if token[0] in '("' or not is_symbol(token):
        raise TraceError(f"a symbol expected, found {token[:60]}")
    return unquote_name(token)


def numeral(low: int, high: int) -> Kind:
    """A numeral from ``low`` to ``high``."""

    def read(store: Store, token: str) -> int:
        digits = token.isascii() and token.isdigit() and len(token) <= len(str(high))
        if not (digits and low <= int(token) <= high):
            raise TraceError(f"a numeral from {low} to {high} expected, found {token[:20]}")
        return int(token)

    return Kind(read)


def _read_term(store: Store, token: str) -> ApiTerm:
    """A term, without variables that were bound elsewhere."""
    term = store.term(token)
    if term.free and store.is_bound(term):
        raise TraceError(f"a variable of {term} is bound already")
    return term


def _read_variables(store: Store, token: str) -> tuple[ApiTerm, ...]:
    """A list of different variables that nothing binds yet."""
    variables = tuple([_read_term(store, part) for part in read_list(token)])
    for variable in variables:
        if variable.kind is not TermKind.VARIABLE:
            raise TraceError(f"{variable} is not a variable")
    if not variables or len(set(variables)) != len(variables):
        raise TraceError("a list of different variables expected")
    return variables


def _write_list(values: Sequence[Any]) -> str:
    return f"({' '.join(map(str, values))})"


def listed(kind: Kind) -> Kind:
    """A list in parentheses of arguments of one kind."""
    return Kind(lambda store, token: tuple([kind.read(store, t) for t in read_list(token)]), _write_list)


def rest(kind: Kind, least: int = 1) -> Kind:
    """All remaining arguments, of one kind; at least ``least``."""
    return Kind(kind.read, kind.write, least)


def one_of(*words: str) -> Kind:
    """One of these words."""

    def read(store: Store, token: str) -> str:
        if token not in words:
            raise TraceError(f"one of {' '.join(words)[:200]} expected, found {token[:60]}")
        return token

    return Kind(read, draw=lambda run: run.random.pick(words))


# Drawing


def fresh(prefix: str) -> Drawn:
    """A new name."""
    return Drawn(lambda run: run.fresh_name(prefix))


def up_to(most: float) -> Drawn:
    """A number from 1 to ``most``."""
    return Drawn(lambda run: run.random.up_to(most))


def some(most: int, least: int = 1, of: Draw | None = None) -> Drawn:
    """Different formulas, or what ``of`` draws: ``least`` or more, and fewer than ``least + most``."""

    def draw(run: Any) -> tuple[Any, ...] | None:
        found = [(of or draw_formula)(run) for _ in range(least + run.random.below(most))]
        different = tuple(dict.fromkeys([one for one in found if one is not None]))
        return different if len(different) >= least else None

    return Drawn(draw)


def draw_formula(run: Any) -> ApiTerm | None:
    """A closed formula."""
    found: ApiTerm | None = run.store.pick_closed(BOOL, run.random)
    return found


def draw_term(run: Any) -> ApiTerm | None:
    """A closed term of any sort, functions apart."""
    found: ApiTerm | None = run.store.pick_any(run.random)
    return found


def draw_made(run: Any) -> ApiSort | None:
    """A sort that was made, functions apart."""
    sort = run.random.pick_if_any(run.store.plain_sorts)
    return None if sort is None else run.store.sorts[sort]


def terms_of(*names: str, most: int = 3, least: int = 1) -> Drawn:
    """Closed terms of sorts with these names."""

    def draw(run: Any) -> ApiTerm | None:
        sort = run.random.pick_if_any([s for s in run.store.populated if s.name in names])
        return None if sort is None else run.store.pick_closed(sort, run.random)

    return some(most, least, draw)


def _which(kind: Kind, fits: Callable[[ApiTerm], bool], wrong: str) -> Kind:
    """The terms of a kind that fit; ``wrong`` is the error for the others."""

    def read(store: Store, token: str) -> ApiTerm:
        term: ApiTerm = kind.read(store, token)
        if not fits(term):
            raise TraceError(wrong.format(term=term, sort=term.sort.sort))
        return term

    return Kind(read, draw=kind.draw)


_SORT = Kind(Store.sort, draw=draw_made)
_TERM = Kind(_read_term, draw=draw_term)
_CLOSED = _which(_TERM, lambda term: not term.free, "{term} has free variables")
_VALUE = _which(_CLOSED, lambda term: not term.sort.sort.is_function, "{term} is a function")
CONSTANT = _which(_CLOSED, lambda term: term.kind is TermKind.CONSTANT, "{term} is not a constant")
_FORMULA = replace(
    _which(_CLOSED, lambda term: term.sort.sort is BOOL, "{term} has the sort {sort}, expected Bool"),
    draw=draw_formula,
)

SortArg = Annotated[ApiSort, _SORT]
Sorts = Annotated[tuple[ApiSort, ...], listed(_SORT)]
Term = Annotated[ApiTerm, _TERM]
Terms = Annotated[tuple[ApiTerm, ...], rest(_TERM, 0)]
Closed = Annotated[ApiTerm, _CLOSED]
ClosedTerms = Annotated[tuple[ApiTerm, ...], rest(_CLOSED)]
AnyClosed = Annotated[tuple[ApiTerm, ...], rest(_CLOSED, 0)]
ClosedList = Annotated[tuple[ApiTerm, ...], listed(_CLOSED)]
Formula = Annotated[ApiTerm, _FORMULA]
Formulas = Annotated[tuple[ApiTerm, ...], rest(_FORMULA)]
AnyFormulas = Annotated[tuple[ApiTerm, ...], rest(_FORMULA, 0)]
FormulaList = Annotated[tuple[ApiTerm, ...], listed(_FORMULA)]
FormulaLists = Annotated[tuple[tuple[ApiTerm, ...], ...], rest(listed(_FORMULA))]
Value = Annotated[ApiTerm, _VALUE]
"""A closed term that is no function."""
Values = Annotated[tuple[ApiTerm, ...], rest(_VALUE)]
ValueList = Annotated[tuple[ApiTerm, ...], listed(_VALUE)]
ConstantList = Annotated[tuple[ApiTerm, ...], listed(CONSTANT)]
Variables = Annotated[tuple[ApiTerm, ...], Kind(_read_variables, _write_list)]
HeadArg = Annotated[Head, Kind(lambda store, token: read_head(token), head_text)]
Name = Annotated[str, Kind(lambda store, token: read_name(token), quote_name)]
Word = Annotated[str, Kind(lambda store, token: unquote_name(token), quote_word)]
Text = Annotated[str, Kind(lambda store, token: token)]
Count = Annotated[int, numeral(1, 1000)]


class HasSort(Call[bool]):
    """Whether the solver gives the term this sort."""

    term: Term
    sort: SortArg
