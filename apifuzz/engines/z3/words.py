"""What the words of z3's rows mean: calls of z3core, functions of z3's module, and arrays of C."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.rows import Find, Questions, Route, Rows, read_rows, words_of
from apifuzz.engines.z3.session import Session, takes_context

_ROWS = read_rows(Path(__file__).with_name("calls.toml"))
_TABLES = ("operators", "values", "sorts", "binders", "ways")
OPERATORS, VALUES, SORTS, BINDERS, WAYS = (_ROWS[name] for name in _TABLES)
QUESTIONS = Questions(Path(__file__).with_name("questions.toml"))


def words_in(session: Session) -> Find:
    """What a word means in a session."""

    def word(name: str) -> Any:
        if name in _OWN:
            return _OWN[name]
        if name == "list_sort":
            # Z3_mk_list_sort would make another datatype.
            return lambda element: parsed_sort(session, "(List arg!0)", {"arg!0": element})
        if name == "arrayed":
            return lambda *terms: (len(terms), session.array_of(terms))
        if name.startswith("Z3_") and callable(getattr(z3core, name, None)):
            return partial(_call, session, name)
        found = getattr(z3, name)
        # Answers have no name.
        is_named = hasattr(found, "__name__")
        return partial(found, ctx=session.context) if is_named and takes_context(found) else found

    return word


def drawn(session: Session, rows: Rows, row: str, /, **known: Any) -> Any:
    """What one of the calls of a row makes."""
    routes, words = rows.find(row), words_of((), (), words_in(session), known)
    found = session.random.pick(routes)
    if session.plain:
        found = preferred([route for route in routes if route.holds(words)])
    return found.make(words)


def preferred(routes: Sequence[Route]) -> Route:
    """For a program: the first call that people write, if there is one."""
    return min(routes, key=lambda route: "Z3_" in route.text)


class Shown:
    """A term as messages show it; only where there is one."""

    def __init__(self, term: Any) -> None:
        self.term = term

    def __str__(self) -> str:
        return " ".join(str(self.term.sexpr()).split())


def _call(session: Session, name: str, *args: Any) -> Any:
    """A call of z3core; what it makes as an object of z3's module."""
    made = getattr(z3core, name)(session.ref, *map(_plain, args))
    if isinstance(made, z3.z3types.Sort):
        return z3.z3._to_sort_ref(made, session.context)
    if isinstance(made, z3.z3types.FuncDecl):
        return z3.FuncDeclRef(made, session.context)
    return session.wrap(made) if isinstance(made, z3.Ast) else made


def _plain(arg: Any) -> Any:
    """What an object of z3's module stands for below."""
    if isinstance(arg, (z3.SortRef, z3.FuncDeclRef)):
        return arg.ast
    return arg.as_ast() if isinstance(arg, z3.AstRef) else arg


def _array(kind: Any, values: Sequence[Any]) -> Any:
    return (kind * len(values))(*values)


def parsed_sort(session: Session, text: str, args: dict[str, Any], declaration: str = "") -> Any:
    """The sort that z3's parser makes of a text about sorts by name."""
    text = f"{declaration}(declare-const of!it {text})(assert (= of!it of!it))"
    return z3.parse_smt2_string(text, args, {}, session.context)[0].arg(0).sort()


_OWN: dict[str, Any] = {
    **{"ctypes": ctypes, "c_array": _array},
    "booleans": lambda n, width: _array(ctypes.c_bool, [bool(n >> i & 1) for i in range(width)]),
    "points": lambda text: _array(ctypes.c_uint, [ord(c) for c in text]),
    "integers": lambda numbers: _array(ctypes.c_int, numbers),
    "sorts": lambda sorts: _array(z3.Sort, [sort.ast for sort in sorts]),
    "fits": lambda n, bits, signed: -(1 << bits if signed else 0) <= n < 1 << bits,
    # A bound of zero means no bound to the call, and an empty range is the parser's business.
    "is_range": lambda indices: len(indices) == 2 and indices[1] >= max(1, indices[0]),
}
