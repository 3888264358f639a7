"""Asks z3 everything about its terms, and reads printed terms back."""

from __future__ import annotations

import ctypes
import re
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.rows import words_of
from apifuzz.engines.z3.session import Session, message_of, misread
from apifuzz.engines.z3.terms import Terms
from apifuzz.engines.z3.words import QUESTIONS, words_in
from apifuzz.interface import ApiTerm, Misbehaviour, Unsupported

_PARAMETERS = {
    getattr(z3, f"Z3_PARAMETER_{kind.upper()}"): f"Z3_get_decl_{kind}_parameter"
    for kind in ("int", "double", "rational", "symbol", "sort", "ast", "func_decl")
}

_ACCESSORS_LIMIT = 20
"""Arguments looked into, for terms with very many."""


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
            self._ask(term.handle, "function")
            z3core.Z3_func_decl_to_ast(self.session.ref, term.handle.ast)
        else:
            self._term(self.terms.of(term))

    def _ask(self, term: Any, *tables: str, **words: Any) -> None:
        word = words_of((), (), words_in(self.session), {"term": term, **words})
        QUESTIONS.ask("term", _Shown(term), word, *tables)

    def _term(self, term: Any) -> None:
        self._ask(term, "term")
        if self.session.random.happens(0.2):
            # z3's own pretty printer asks a term everything once more.
            try:
                z3.obj_to_string(term)
            except z3.Z3Exception as error:
                raise Misbehaviour("print", f"z3's own printer fails: {message_of(error)}") from error
        if z3.is_quantifier(term):
            self._quantifier(term)
        elif z3.is_app(term):
            self._application(term)
            self._value(term)

    def _application(self, term: Any) -> None:
        declaration, children = term.decl(), term.children()
        self._ask(term, "application", children=children)
        if declaration.arity() == len(children):
            for place, child in enumerate(children[:_ACCESSORS_LIMIT]):
                self._ask(term, "argument", place=place, child=child)
        self._parameters(declaration)
        if children and len(children) >= declaration.arity():
            self._ask(term, "application made again", array=(len(children), self.session.array_of(children)))

    def _parameters(self, declaration: Any) -> None:
        """Each parameter by the call for its kind."""
        asked = (self.session.ref, declaration.ast)
        for position in range(z3core.Z3_get_decl_num_parameters(*asked)):
            call = _PARAMETERS.get(z3core.Z3_get_decl_parameter_kind(*asked, position))
            if call is not None:
                getattr(z3core, call)(*asked, position)

    def _quantifier(self, term: Any) -> None:
        self._ask(term, "quantifier")
        for place in range(term.num_vars()):
            self._ask(term, "bound variable", place=place)
        if term.is_lambda():
            return
        ref = self.session.ref
        self._ask(term, "no lambda")
        for position in range(term.num_patterns()):
            pattern = term.pattern(position)
            for place in range(z3core.Z3_get_pattern_num_terms(ref, pattern.ast)):
                self.session.wrap(z3core.Z3_get_pattern(ref, pattern.ast, place))
            z3core.Z3_pattern_to_string(ref, pattern.ast)
        for position in range(term.num_no_patterns()):
            term.no_pattern(position)

    # Values

    def _value(self, term: Any) -> None:
        ref, ast = self.session.ref, term.as_ast()
        if z3.is_true(term) or z3.is_false(term):
            self._ask(term, "true" if z3.is_true(term) else "false")
        elif z3.is_int_value(term) or z3.is_bv_value(term) or z3.is_rational_value(term):
            self._number(term)
        elif z3.is_algebraic_value(term):
            self._ask(term, "algebraic number")
        elif z3.is_string_value(term):
            length = z3core.Z3_get_string_length(ref, ast)
            contents = (ctypes.c_uint * length)()
            z3core.Z3_get_string_contents(ref, ast, length, contents)
            self._ask(term, "string", contents=contents)
        elif z3.is_fp(term) and z3core.Z3_fpa_is_numeral(ref, ast):
            self._ask(term, "float")
            if not z3core.Z3_fpa_is_numeral_nan(ref, ast):
                is_finite = not z3core.Z3_fpa_is_numeral_inf(ref, ast)
                self._ask(term, "signed float", *(("finite float",) if is_finite else ()))
        elif z3.is_as_array(term):
            self._ask(term, "array of a function")

    def _number(self, term: Any) -> None:
        """Every form of the number read back gives the number."""
        ref, ast = self.session.ref, term.as_ast()
        text = z3core.Z3_get_numeral_string(ref, ast)
        if z3.is_rational_value(term):
            fraction = text.replace(" ", "")
            self._ask(term, "number", "fraction", fraction=fraction if "/" in fraction else f"{fraction}/1")
            return
        value = int(text)

        def within(bits: int, signed: bool) -> int | None:
            low = -(1 << bits) if signed else 0
            return value if low <= value < (1 << bits) else None

        def number(call: str) -> int | None:
            found = _FITTING[call]()
            return found.value if getattr(z3core, call)(ref, ast, ctypes.byref(found)) else None

        natural = ("natural number",) if value >= 0 else ()
        self._ask(term, "number", *natural, "integer", within=within, number=number)

    # Printing and reading

    def read_back(self, term: ApiTerm) -> None:
        """Print the term and read it with z3's parser; Misbehaviour where another term comes back."""
        session, plain = self.session, self.terms.of(term)
        text = plain.sexpr()
        require_readable(session, text)
        constant = z3.Const("read!", plain.sort())
        known = {**session.declared, "read!": constant}
        try:
            parsed = z3.parse_smt2_string(
                f"(assert (= read! {text}))", session.named_sorts, known, session.context
            )
        except z3.Z3Exception as error:
            # One that a declared constructor made.
            unknown = _UNKNOWN_SORT.search(message_of(error))
            if unknown and any(s.args and s.name == unknown.group(1) for s in session.sorts):
                raise Unsupported("z3 prints sorts of declared constructors without arguments") from error
            raise misread(error, text) from error
        again = parsed[0].arg(1)
        if session.differ(again, plain):
            raise Misbehaviour("print", f"{text[:500]} reads back as {again.sexpr()[:500]}")


_UNKNOWN_SORT = re.compile(r"unknown sort '(.*?)'")
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
