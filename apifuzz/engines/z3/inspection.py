"""Asks z3 everything about its terms, and reads printed terms back."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.rows import words_of
from apifuzz.engines.z3.session import Session, message_of
from apifuzz.engines.z3.terms import Terms
from apifuzz.engines.z3.words import QUESTIONS, words_in
from apifuzz.interface import ApiTerm, Misbehaviour, Unsupported

_PARAMETERS = {
    getattr(z3, f"Z3_PARAMETER_{kind.upper()}"): f"Z3_get_decl_{kind}_parameter"
    for kind in ("int", "double", "rational", "symbol", "sort", "ast", "func_decl")
}
"""The calls for the parameters of declarations."""

_FITTING = {
    "Z3_get_numeral_int": ctypes.c_int,
    "Z3_get_numeral_uint": ctypes.c_uint,
    "Z3_get_numeral_int64": ctypes.c_int64,
    "Z3_get_numeral_uint64": ctypes.c_uint64,
}
"""Numbers of C that z3 gives a number as, where it fits into one."""


class _Shown:
    """A term as messages show it; only where there is one."""

    def __init__(self, term: Any) -> None:
        self.term = term

    def __str__(self) -> str:
        return " ".join(str(self.term.sexpr()).split())


class Inspection:
    """Asks terms of one session."""

    def __init__(self, session: Session, terms: Terms) -> None:
        self.session = session
        self.terms = terms

    def inspect_term(self, term: ApiTerm) -> None:
        """Ask the term; Misbehaviour where what it says does not fit together."""
        if isinstance(term.handle, z3.FuncDeclRef):
            word = words_of((), (), words_in(self.session), {"term": term.handle})
            QUESTIONS.ask("term", _Shown(term.handle), word, "function")
            z3core.Z3_func_decl_to_ast(self.session.ref, term.handle.ast)
            return
        plain = self.terms.of(term)
        self._run("term", plain)
        if z3.is_quantifier(plain):
            self._run("quantifier", plain)
        elif z3.is_app(plain):
            self._run("application", plain)
            self._run("value", plain)

    def _run(self, script: str, term: Any) -> None:
        def ask_parameter(declaration: Any, place: int) -> None:
            asked = (self.session.ref, declaration.ast, place)
            if call := _PARAMETERS.get(z3core.Z3_get_decl_parameter_kind(*asked)):
                getattr(z3core, call)(*asked)

        def number(call: str) -> int | None:
            found, asked = _FITTING[call](), (self.session.ref, term.as_ast())
            return found.value if getattr(z3core, call)(*asked, ctypes.byref(found)) else None

        def contents_of(term: Any) -> Any:
            asked = (self.session.ref, term.as_ast())
            length = z3core.Z3_get_string_length(*asked)
            contents = (ctypes.c_uint * length)()
            z3core.Z3_get_string_contents(*asked, length, contents)
            return contents

        known: dict[str, Any] = {"ask_parameter": ask_parameter, "number": number, "contents_of": contents_of}
        known |= {"happens": self.session.random.happens, "message_of": message_of}
        known |= {"term": term, "about": _Shown(term), "Misbehaviour": Misbehaviour}
        QUESTIONS.run(script, words_of((), (), words_in(self.session), known))


UNKNOWN_SORT = re.compile(r"unknown sort '(.*?)'")
_UNREADABLE = (
    *("root-obj", "as-array", "!val!"),
    *("(declare-rec", "(define-funs-rec", "(declare-sort (", "(update-field "),
)
"""What z3 prints of values of models, of recursive functions, which the context has already, of sorts made by
a declared constructor, and of updates in the form for benchmarks, which leaves the field out.
"""


def require_readable(session: Session, text: str) -> None:
    """Unsupported for what z3 prints and its parser does not take."""
    for mark in _UNREADABLE:
        if mark in text:
            raise Unsupported(f"z3 prints what it does not read: {mark}")
    if any(sort.name == "List" or (sort.args and sort.name in session.named_sorts) for sort in session.sorts):
        raise Unsupported("z3 prints constructors without the sort that its parser needs")
