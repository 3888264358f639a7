"""What the words of z3's rows mean: calls of z3core, functions of z3's module, and arrays of C."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.rows import LETTERS, Questions, Rows, Word, read_rows, words_of
from apifuzz.engines.z3.session import Session, takes_context

_ROWS = read_rows(Path(__file__).with_name("calls.toml"))
_TABLES = ("operators", "values", "sorts", "binders", "ways")
OPERATORS, VALUES, SORTS, BINDERS, WAYS = (_ROWS[name] for name in _TABLES)
QUESTIONS = Questions(Path(__file__).with_name("questions.toml"))


def words_in(session: Session) -> Word:
    """What a word means in a session."""

    def word(name: str) -> Any:
        if name in _OWN:
            return _OWN[name]
        if name == "list_sort":
            return partial(_list_sort, session)
        if name == "arrayed":
            return lambda *terms: (len(terms), session.array_of(terms))
        if name.startswith("Z3_") and callable(getattr(z3core, name, None)):
            return partial(_call, session, name)
        found = getattr(z3, name)
        return partial(found, ctx=session.context) if callable(found) and takes_context(found) else found

    return word


def drawn(session: Session, rows: Rows, row: str, /, **words: Any) -> Any:
    """What one of the calls of a row makes."""
    return session.random.pick(rows.find(row)).make(words_of((), (), words_in(session), words))


_CORE = re.compile(r"Z3_(mk_\w+)(?:\((?:a(?:, b(?:, c(?:, d)?)?)?|\*array)\))?")
_PLACE = re.compile(r"\b[a-d]\b")


@cache
def written_by_people() -> Mapping[tuple[str, int], str]:
    """How z3's module writes what a C call makes, by the call's name and number of arguments: ``({0}) +
    ({1})`` for ``mk_add`` and 2. For any number of arguments (0) it is the name of a function.
    """
    found: dict[tuple[str, int], str] = {}
    for _, routes in OPERATORS:
        cores = [core[1] for route in routes if (core := _CORE.fullmatch(route.text))]
        for route in routes:
            functions = route.words.difference(LETTERS, ("args",))
            if "Z3_" in route.text or not all(callable(getattr(z3, f, None)) for f in functions):
                continue
            form = re.sub(r"(?<![.\w])([A-Za-z]\w*)\(", r"z3.\1(", route.text)
            count = len(route.words.intersection(LETTERS))
            form = _PLACE.sub(lambda letter: f"({{{LETTERS.index(letter[0])}}})", form)
            for name in cores:
                found.setdefault((name, count), form.removesuffix("(*args)"))
    return found


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


def _list_sort(session: Session, element: Any) -> Any:
    """``(List A)`` of z3's parser; ``Z3_mk_list_sort`` would make another datatype."""
    text = "(declare-const of!it (List arg!0))(assert (= of!it of!it))"
    return z3.parse_smt2_string(text, {"arg!0": element}, {}, session.context)[0].arg(0).sort()


_OWN: dict[str, Callable[..., Any]] = {
    "float": float,
    "zip": zip,
    "booleans": lambda n, width: _array(ctypes.c_bool, [bool(n >> i & 1) for i in range(width)]),
    "points": lambda text: _array(ctypes.c_uint, [ord(c) for c in text]),
    "integers": lambda numbers: _array(ctypes.c_int, numbers),
    "sorts": lambda sorts: _array(z3.Sort, [sort.ast for sort in sorts]),
    "fits": lambda n, bits, signed: -(1 << bits if signed else 0) <= n < 1 << bits,
    # A bound of zero means no bound to the call, and an empty range is the parser's business.
    "is_range": lambda indices: len(indices) == 2 and indices[1] >= max(1, indices[0]),
}
