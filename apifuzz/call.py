"""What a call on a solver is: a value, whose fields are the arguments, and how these stand in a trace.

A call class says once what there is to call. Its name is that of the class (``MakeTerm``: ``make-term`` in a
trace, and the method ``make_term`` of engines, which takes the fields in their order and gives what the class
says: ``Call[Answer]``). The kinds of its fields say how arguments are read, checked and printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar, dataclass_transform, get_type_hints

from apifuzz.heads import head_text, read_head
from apifuzz.interface import ApiSort, ApiTerm, Head, TermKind
from apifuzz.store import Store
from apifuzz.trace import TraceError, quote_name, quote_word, split_line, unquote_name
from smtlib import BOOL
from smtlib.reader import is_symbol

ResultT = TypeVar("ResultT", covariant=True)

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MAX_COUNT = 1000


@dataclass(frozen=True, slots=True)
class Kind:
    """How an argument stands in a trace: read from a token, which is checked, and written as one.

    Where ``least`` is given the argument is all that are left, at least so many.
    """

    read: Callable[[Store, str], Any]
    write: Callable[[Any], str] = str
    least: int | None = None


@dataclass_transform(frozen_default=True, eq_default=False)
class Call(Generic[ResultT]):
    """A call on a solver. Iterating gives its arguments."""

    solver: ClassVar[str] = ""
    """The solver that alone has it; empty for calls that all may have."""

    name: ClassVar[str]
    """What it is called in traces."""

    method: ClassVar[str]
    """The name of the methods of engines that make it."""

    changes: ClassVar[bool] = False
    """Whether it changes what is asserted, or what that means."""

    arguments: ClassVar[Callable[..., tuple[Any, ...]]]
    """A method that gives the arguments."""

    def __init_subclass__(cls) -> None:
        dataclass(eq=False)(cls)
        own = vars(cls)
        words = _WORDS.sub("-", cls.__name__.lstrip("_")).lower()
        if "name" not in own:
            cls.name = f"{cls.solver}:{words}" if cls.solver else words
        if "method" not in own:
            cls.method = words.replace("-", "_")
        cls.arguments = _arguments_of(cls)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.arguments())

    def tokens(self) -> tuple[str, ...]:
        """The arguments as a line of a trace has them."""
        kinds, values = kinds_of(type(self)), self.arguments()
        if kinds and kinds[-1].least is not None:
            kinds = (*kinds[:-1], *(kinds[-1],) * len(values[-1]))
            values = (*values[:-1], *values[-1])
        return tuple([kind.write(value) for kind, value in zip(kinds, values, strict=True)])

    @classmethod
    def read(cls, store: Store, tokens: Sequence[str]) -> Self:
        """The call with the arguments that ``tokens`` are, of what ``store`` holds.

        Raises :class:`TraceError` where they are not what the call takes, :class:`Unsupported` where one
        could not be made.
        """
        kinds = kinds_of(cls)
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


def _arguments_of(call: type[Call[Any]]) -> Callable[..., tuple[Any, ...]]:
    """A method for a class that gives the values of its fields."""
    names = [field.name for field in fields(call)]  # type: ignore[arg-type]
    if len(names) > 1:
        get = attrgetter(*names)
        return lambda self: get(self)
    name = names[0] if names else ""
    return (lambda self: (getattr(self, name),)) if names else (lambda self: ())


def kinds_of(call: type[Call[Any]]) -> tuple[Kind, ...]:
    """The kinds of the arguments of a call class, in order."""
    found = _KINDS.get(call)
    if found is None:
        hints = get_type_hints(call, include_extras=True)
        found = tuple(hints[field.name].__metadata__[0] for field in fields(call))  # type: ignore[arg-type]
        _KINDS[call] = found
    return found


_KINDS: dict[object, tuple[Kind, ...]] = {}


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


def _read_count(store: Store, token: str) -> int:
    if not (token.isascii() and token.isdigit() and len(token) < 5 and 1 <= int(token) <= _MAX_COUNT):
        raise TraceError(f"a numeral from 1 to {_MAX_COUNT} expected, found {token[:20]}")
    return int(token)


def _read_term(store: Store, token: str) -> ApiTerm:
    """A term, without variables that were bound elsewhere."""
    term = store.term(token)
    if term.free and store.is_bound(term):
        raise TraceError(f"a variable of {term} is bound already")
    return term


def _read_closed(store: Store, token: str) -> ApiTerm:
    term = _read_term(store, token)
    if term.free:
        raise TraceError(f"{term} has free variables")
    return term


def _read_formula(store: Store, token: str) -> ApiTerm:
    term = _read_closed(store, token)
    if term.sort.sort is not BOOL:
        raise TraceError(f"{term} has the sort {term.sort.sort}, expected Bool")
    return term


def _read_value(store: Store, token: str) -> ApiTerm:
    term = _read_closed(store, token)
    if term.sort.sort.is_function:
        raise TraceError(f"{term} is a function")
    return term


def _read_constant(store: Store, token: str) -> ApiTerm:
    term = _read_closed(store, token)
    if term.kind is not TermKind.CONSTANT:
        raise TraceError(f"{term} is no constant")
    return term


def _read_variables(store: Store, token: str) -> tuple[ApiTerm, ...]:
    """A list of different variables that nothing binds yet."""
    variables = tuple([_read_term(store, part) for part in read_list(token)])
    for variable in variables:
        if variable.kind is not TermKind.VARIABLE:
            raise TraceError(f"{variable} is no variable")
    if not variables or len(set(variables)) != len(variables):
        raise TraceError("a list of different variables expected")
    return variables


def _write_list(values: Sequence[Any]) -> str:
    return f"({' '.join(map(str, values))})"


def listed(kind: Kind) -> Kind:
    """A list in parentheses of what is of one kind."""
    return Kind(lambda store, token: tuple([kind.read(store, t) for t in read_list(token)]), _write_list)


def rest(kind: Kind, least: int = 1) -> Kind:
    """All arguments that are left, of one kind."""
    return Kind(kind.read, kind.write, least)


def one_of(*words: str) -> Kind:
    """One of these words."""

    def read(store: Store, token: str) -> str:
        if token not in words:
            raise TraceError(f"one of {' '.join(words)[:200]} expected, found {token[:60]}")
        return token

    return Kind(read)


_SORT, _TERM, _CLOSED = Kind(Store.sort), Kind(_read_term), Kind(_read_closed)
_FORMULA, _VALUE, CONSTANT = Kind(_read_formula), Kind(_read_value), Kind(_read_constant)

SortArg = Annotated[ApiSort, _SORT]
Sorts = Annotated[tuple[ApiSort, ...], listed(_SORT)]
Term = Annotated[ApiTerm, _TERM]
Terms = Annotated[tuple[ApiTerm, ...], rest(_TERM, 0)]
TermList = Annotated[tuple[ApiTerm, ...], listed(_TERM)]
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
Count = Annotated[int, Kind(_read_count)]


class HasSort(Call[bool]):
    """Whether the solver gives the term this sort."""

    term: Term
    sort: SortArg
