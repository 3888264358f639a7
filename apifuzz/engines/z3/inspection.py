"""Terms asked all that z3 tells about them, and printed and read back."""

from __future__ import annotations

import ctypes
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.z3.session import Session, message_of, misread
from apifuzz.engines.z3.terms import Terms
from apifuzz.interface import ApiTerm, Misbehaviour, Unsupported

_PARAMETERS = {
    z3.Z3_PARAMETER_INT: "Z3_get_decl_int_parameter",
    z3.Z3_PARAMETER_DOUBLE: "Z3_get_decl_double_parameter",
    z3.Z3_PARAMETER_RATIONAL: "Z3_get_decl_rational_parameter",
    z3.Z3_PARAMETER_SYMBOL: "Z3_get_decl_symbol_parameter",
    z3.Z3_PARAMETER_SORT: "Z3_get_decl_sort_parameter",
    z3.Z3_PARAMETER_AST: "Z3_get_decl_ast_parameter",
    z3.Z3_PARAMETER_FUNC_DECL: "Z3_get_decl_func_decl_parameter",
}

_ACCESSORS_LIMIT = 20
"""Arguments looked into, for terms with very many."""


class Inspection:
    """Asks terms of one session."""

    def __init__(self, session: Session, terms: Terms) -> None:
        self.session = session
        self.terms = terms

    def inspect_term(self, term: ApiTerm) -> None:
        """Ask the term; Misbehaviour where what it says does not fit together."""
        if isinstance(term.handle, z3.FuncDeclRef):
            self._function(term.handle)
        else:
            self._term(self.terms.of(term))

    def _term(self, term: Any) -> None:
        ref, ast = self.session.ref, term.as_ast()
        self._same("hash", term, term.hash(), z3core.Z3_get_ast_hash(ref, ast))
        self._same("id", term, term.get_id(), z3core.Z3_get_ast_id(ref, ast))
        self._same("identity", term, z3core.Z3_is_eq_ast(ref, ast, ast), True)
        self._same("well-sortedness", term, z3core.Z3_is_well_sorted(ref, ast), True)
        self._same("text", term, term.sexpr(), term.sexpr())
        kind = z3core.Z3_get_ast_kind(ref, ast)
        self._same(
            "being an application",
            term,
            z3core.Z3_is_app(ref, ast),
            kind in (z3.Z3_APP_AST, z3.Z3_NUMERAL_AST),
        )
        z3core.Z3_is_ground(ref, ast)
        z3core.Z3_get_depth(ref, ast)
        if self.session.chance(0.2):
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

    def _function(self, declaration: Any) -> None:
        ref = self.session.ref
        self._same("id", declaration, declaration.get_id(), z3core.Z3_get_func_decl_id(ref, declaration.ast))
        self._same(
            "identity", declaration, z3core.Z3_is_eq_func_decl(ref, declaration.ast, declaration.ast), True
        )
        self._same("arity", declaration, declaration.arity(), z3core.Z3_get_domain_size(ref, declaration.ast))
        z3core.Z3_func_decl_to_string(ref, declaration.ast)
        z3core.Z3_func_decl_to_ast(ref, declaration.ast)

    def _same(self, aspect: str, term: Any, found: object, expected: object) -> None:
        if found != expected:
            shown = " ".join(str(term.sexpr()).split())[:200]
            raise Misbehaviour("term", f"{aspect} of {shown} is {found}, should be {expected}")

    def _application(self, term: Any) -> None:
        declaration, children = term.decl(), term.children()
        ref = self.session.ref
        self._same("number of arguments", term, len(children), z3core.Z3_get_app_num_args(ref, term.as_ast()))
        self._same("range", term, declaration.range().eq(term.sort()), True)
        declaration.name()
        if declaration.arity() == len(children):
            for position, child in enumerate(children[:_ACCESSORS_LIMIT]):
                self._same("argument", term, term.arg(position).eq(child), True)
                self._same("argument's sort", term, child.sort().eq(declaration.domain(position)), True)
        self._parameters(declaration)
        if children and len(children) >= declaration.arity():
            again = z3core.Z3_update_term(ref, term.as_ast(), len(children), self.session.array_of(children))
            self._same("term with its own arguments", term, self.session.wrap(again).eq(term), True)
            made = z3core.Z3_mk_app(ref, declaration.ast, len(children), self.session.array_of(children))
            self._same("declaration applied anew", term, self.session.wrap(made).eq(term), True)

    def _parameters(self, declaration: Any) -> None:
        """Each parameter by the call for its kind."""
        ref = self.session.ref
        for position in range(z3core.Z3_get_decl_num_parameters(ref, declaration.ast)):
            kind = z3core.Z3_get_decl_parameter_kind(ref, declaration.ast, position)
            call = _PARAMETERS.get(kind)
            if call is not None:
                getattr(z3core, call)(ref, declaration.ast, position)

    def _quantifier(self, term: Any) -> None:
        ref, ast = self.session.ref, term.as_ast()
        kinds = (term.is_forall(), term.is_exists(), term.is_lambda())
        self._same("kinds of quantifier", term, kinds.count(True), 1)
        count = term.num_vars()
        self._same("number of variables", term, count > 0, True)
        for position in range(count):
            term.var_name(position)
            term.var_sort(position)
        term.body().sort()
        if not term.is_lambda():
            term.weight()
            term.qid()
            term.skolem_id()
            for position in range(term.num_patterns()):
                pattern = term.pattern(position)
                size = z3core.Z3_get_pattern_num_terms(ref, pattern.ast)
                for place in range(size):
                    self.session.wrap(z3core.Z3_get_pattern(ref, pattern.ast, place))
                z3core.Z3_pattern_to_string(ref, pattern.ast)
            for position in range(term.num_no_patterns()):
                term.no_pattern(position)
        self._same("numeral", term, z3core.Z3_is_numeral_ast(ref, ast), False)

    # Values

    def _value(self, term: Any) -> None:
        ref, ast = self.session.ref, term.as_ast()
        if z3.is_true(term) or z3.is_false(term):
            expected = z3.Z3_L_TRUE if z3.is_true(term) else z3.Z3_L_FALSE
            self._same("Boolean value", term, z3core.Z3_get_bool_value(ref, ast), expected)
        elif z3.is_int_value(term) or z3.is_bv_value(term) or z3.is_rational_value(term):
            self._number(term)
        elif z3.is_algebraic_value(term):
            z3core.Z3_get_algebraic_number_lower(ref, ast, 5)
            z3core.Z3_get_algebraic_number_upper(ref, ast, 5)
        elif z3.is_string_value(term):
            self._string(term)
        elif z3.is_fp(term) and z3core.Z3_fpa_is_numeral(ref, ast):
            self._float(term)
        elif z3.is_as_array(term):
            z3core.Z3_get_as_array_func_decl(ref, ast)

    def _number(self, term: Any) -> None:
        """Every form of the number read back gives the number."""
        ref, ast = self.session.ref, term.as_ast()
        text = z3core.Z3_get_numeral_string(ref, ast)
        again = z3core.Z3_mk_numeral(ref, text, term.sort().ast)
        self._same("numeral read back", term, self.session.wrap(again).eq(term), True)
        z3core.Z3_get_numeral_decimal_string(ref, ast, 10)
        if z3.is_rational_value(term):
            above = self.session.wrap(z3core.Z3_get_numerator(ref, ast))
            below = self.session.wrap(z3core.Z3_get_denominator(ref, ast))
            self._same("fraction", term, f"{above}/{below}".removesuffix("/1"), text.replace(" ", ""))
            return
        value = int(text)
        if value >= 0:
            binary = z3core.Z3_get_numeral_binary_string(ref, ast)
            self._same("binary numeral", term, int(binary, 2), value)
        for bits, signed, call in (
            (31, True, "Z3_get_numeral_int"),
            (32, False, "Z3_get_numeral_uint"),
            (63, True, "Z3_get_numeral_int64"),
            (64, False, "Z3_get_numeral_uint64"),
        ):
            self._fitting(term, value, bits, signed, call)

    def _fitting(self, term: Any, value: int, bits: int, signed: bool, call: str) -> None:
        """The number as a C integer, where it fits into one."""
        kinds = {(31, True): ctypes.c_int, (32, False): ctypes.c_uint, (63, True): ctypes.c_int64}
        found = kinds.get((bits, signed), ctypes.c_uint64)()
        told = getattr(z3core, call)(self.session.ref, term.as_ast(), ctypes.byref(found))
        low = -(1 << bits) if signed else 0
        self._same(f"fitting into {call[15:]}", term, bool(told), low <= value < (1 << bits))
        if told:
            self._same(f"{call[15:]} value", term, found.value, value)

    def _string(self, term: Any) -> None:
        ref, ast = self.session.ref, term.as_ast()
        length = z3core.Z3_get_string_length(ref, ast)
        contents = (ctypes.c_uint * length)()
        z3core.Z3_get_string_contents(ref, ast, length, contents)
        again = self.session.wrap(z3core.Z3_mk_u32string(ref, length, contents))
        self._same("string read back", term, again.eq(term), True)
        text = z3core.Z3_get_string(ref, ast)
        self._same(
            "string's text read back", term, self.session.wrap(z3core.Z3_mk_string(ref, text)).eq(term), True
        )

    def _float(self, term: Any) -> None:
        ref, ast = self.session.ref, term.as_ast()
        kinds = [
            bool(getattr(z3core, f"Z3_fpa_is_numeral_{kind}")(ref, ast))
            for kind in ("nan", "inf", "zero", "normal", "subnormal")
        ]
        self._same("kinds of float", term, kinds.count(True), 1)
        if kinds[0]:
            return
        negative = bool(z3core.Z3_fpa_is_numeral_negative(ref, ast))
        self._same("sign", term, negative, not z3core.Z3_fpa_is_numeral_positive(ref, ast))
        self._same("sign told as a Boolean", term, term.sign(), negative)
        if kinds[1]:
            # z3 5.4 tells the biased exponent of an infinity without its bias.
            return
        for biased in (False, True):
            z3core.Z3_fpa_get_numeral_exponent_string(ref, ast, biased)
        z3core.Z3_fpa_get_numeral_significand_string(ref, ast)
        wrap = self.session.wrap
        pieces = (
            wrap(z3core.Z3_fpa_get_numeral_sign_bv(ref, ast)),
            wrap(z3core.Z3_fpa_get_numeral_exponent_bv(ref, ast, True)),
            wrap(z3core.Z3_fpa_get_numeral_significand_bv(ref, ast)),
        )
        again = z3.simplify(wrap(z3core.Z3_mk_fpa_fp(ref, *[p.as_ast() for p in pieces])))
        self._same("float put together again", term, again.eq(z3.simplify(term)), True)

    # Printing and reading

    def read_back(self, term: ApiTerm) -> None:
        """Print the term and read it with z3's parser; Misbehaviour where another term comes back."""
        self._read_back(self.terms.of(term))

    def _read_back(self, term: Any) -> None:
        session = self.session
        text = term.sexpr()
        for mark in _UNREADABLE:
            if mark in text:
                raise Unsupported(f"z3 prints what it does not read: {mark}")
        if session.prints_ambiguously:
            raise Unsupported("z3 prints constructors without the sort that its parser wants")
        constant = z3.Const("read!", term.sort())
        known = {**session.declared, "read!": constant}
        try:
            parsed = z3.parse_smt2_string(
                f"(assert (= read! {text}))", session.named_sorts, known, session.context
            )
        except z3.Z3Exception as error:
            if session.lacks_arguments(error):
                raise Unsupported("z3 prints sorts of declared constructors without arguments") from error
            raise misread(error, text) from error
        again = parsed[0].arg(1)
        if session.differ(again, term):
            raise Misbehaviour("print", f"{text[:500]} reads back as {again.sexpr()[:500]}")


_UNREADABLE: tuple[str, ...] = ("root-obj", "!val!", "as-array")
"""Values of models that z3's printer writes and its parser does not know."""
