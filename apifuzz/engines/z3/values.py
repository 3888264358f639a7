"""Values, said in one of the ways z3 has: numerals of each base and size, text, or z3's own parser."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.z3.session import Session
from apifuzz.interface import ApiSort, Unsupported
from smtlib import ReadError, read_sexps
from smtlib.values import (
    MODES,
    escaped,
    read_bits,
    read_field_element,
    read_float,
    read_number,
    read_string,
)

Way = Callable[[], Any]


class Values:
    """Makes values in a session."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def make_value(self, sort: ApiSort, text: str) -> Any:
        """The value that SMT-LIB's ``text`` writes."""
        ways = self.ways(sort, text)
        # The parser is the slow way; every other way is as good as the next.
        if len(ways) > 1 and self.session.chance(0.9):
            ways = ways[:-1]
        return self.session.hold(self.session.one_of(ways)())

    def ways(self, sort: ApiSort, text: str) -> list[Way]:
        """Every way to make the value; the last is the parser's, which is always there."""
        try:
            sexps = read_sexps(text)
        except ReadError as error:
            raise Unsupported(f"{text} is no value: {error}") from error
        if len(sexps) != 1:
            raise Unsupported(f"{text} is no value")
        find = _WAYS.get(sort.sort.name)
        try:
            found = find(self.session, sort, sexps[0]) if find else []
        except ValueError:
            found = []
        return [*found, lambda: self._parsed(sort, text)]

    def _parsed(self, sort: ApiSort, text: str) -> Any:
        """The value as z3's parser reads it; in an equality, lest it be converted to another sort."""
        session = self.session
        constant = z3.Const("value!", sort.handle)
        known = {**session.declared, "value!": constant}
        parsed = z3.parse_smt2_string(
            f"(assert (= value! {text}))", session.named_sorts, known, session.context
        )
        return parsed[0].arg(1)


def _numeral(session: Session, text: str, sort: ApiSort) -> Any:
    return session.wrap(z3core.Z3_mk_numeral(session.ref, text, sort.handle.ast))


def _small(session: Session, value: int, sort: ApiSort) -> list[Way]:
    """Calls that take C integers, for those that fit."""
    ref, ast = session.ref, sort.handle.ast
    found: list[Way] = []
    if -(2**31) <= value < 2**31:
        found.append(lambda: session.wrap(z3core.Z3_mk_int(ref, value, ast)))
    if 0 <= value < 2**32:
        found.append(lambda: session.wrap(z3core.Z3_mk_unsigned_int(ref, value, ast)))
    if -(2**63) <= value < 2**63:
        found.append(lambda: session.wrap(z3core.Z3_mk_int64(ref, value, ast)))
    if 0 <= value < 2**64:
        found.append(lambda: session.wrap(z3core.Z3_mk_unsigned_int64(ref, value, ast)))
    return found


def _boolean(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    if sexp not in ("true", "false"):
        return []
    value = sexp == "true"
    call = "Z3_mk_true" if value else "Z3_mk_false"
    return [
        lambda: z3.BoolVal(value, session.context),
        lambda: session.wrap(getattr(z3core, call)(session.ref)),
    ]


def _integer(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    value = read_number(sexp)
    if value.denominator != 1:
        return []
    number = value.numerator
    return [
        lambda: z3.IntVal(number, session.context),
        lambda: _numeral(session, str(number), sort),
        *_small(session, number, sort),
    ]


def _real(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    value = read_number(sexp)
    above, below = value.numerator, value.denominator
    found: list[Way] = [
        lambda: z3.RealVal(f"{above}/{below}", session.context),
        lambda: _numeral(session, f"{above} / {below}", sort),
    ]
    if max(abs(above), below) < 2**31:
        found.append(lambda: session.wrap(z3core.Z3_mk_real(session.ref, above, below)))
    if max(abs(above), below) < 2**63:
        found.append(lambda: session.wrap(z3core.Z3_mk_real_int64(session.ref, above, below)))
    return found + (_small(session, above, sort) if below == 1 else [])


def _bit_vector(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    value, width = read_bits(sexp)

    def from_bits() -> Any:
        array = (ctypes.c_bool * width)(*[bool(value >> i & 1) for i in range(width)])
        return session.wrap(z3core.Z3_mk_bv_numeral(session.ref, width, array))

    return [
        lambda: z3.BitVecVal(value, sort.handle),
        lambda: _numeral(session, str(value), sort),
        lambda: _numeral(session, str(value - (1 << width)) if value >> (width - 1) else str(value), sort),
        from_bits,
        *_small(session, value, sort),
    ]


def _string(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    characters = read_string(sexp)
    points = [ord(c) for c in characters]
    text = escaped(characters)

    def from_points() -> Any:
        array = (ctypes.c_uint * len(points))(*points)
        return session.wrap(z3core.Z3_mk_u32string(session.ref, len(points), array))

    found: list[Way] = [
        lambda: z3.StringVal(text, session.context),
        lambda: session.wrap(z3core.Z3_mk_string(session.ref, text)),
        from_points,
    ]
    if text == characters:
        found.append(lambda: session.wrap(z3core.Z3_mk_lstring(session.ref, len(points), text)))
    return found


def _float(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    handle = sort.handle
    parts = read_float(sexp)
    if isinstance(parts, str):
        return _special(session, handle, parts)

    def from_parts() -> Any:
        made = [z3.BitVecVal(value, width, session.context) for value, width in parts]
        return session.wrap(z3core.Z3_mk_fpa_fp(session.ref, *[m.as_ast() for m in made]))

    (sign, _), (exponent, exponent_bits), (significand, significand_bits) = parts
    found: list[Way] = [from_parts]
    largest = (1 << exponent_bits) - 1
    unbiased = exponent - (largest >> 1)
    if 0 < exponent < largest:
        if abs(unbiased) < 2**31 and significand < 2**32:
            found.append(
                lambda: session.wrap(
                    z3core.Z3_mk_fpa_numeral_int_uint(
                        session.ref, bool(sign), unbiased, significand, handle.ast
                    )
                )
            )
        if abs(unbiased) < 2**63 and significand < 2**64:
            found.append(
                lambda: session.wrap(
                    z3core.Z3_mk_fpa_numeral_int64_uint64(
                        session.ref, bool(sign), unbiased, significand, handle.ast
                    )
                )
            )
    if 0 < exponent < largest and (exponent_bits, significand_bits) in ((5, 10), (8, 23), (11, 52)):
        value = (-1.0) ** sign * (1 + significand / 2**significand_bits) * 2.0**unbiased
        found.append(lambda: z3.FPVal(value, None, handle, session.context))
        found.append(lambda: session.wrap(z3core.Z3_mk_fpa_numeral_double(session.ref, value, handle.ast)))
        if significand_bits <= 23:
            found.append(lambda: session.wrap(z3core.Z3_mk_fpa_numeral_float(session.ref, value, handle.ast)))
        if value.is_integer() and abs(value) < 2**24:
            whole = int(value)
            found.append(lambda: session.wrap(z3core.Z3_mk_fpa_numeral_int(session.ref, whole, handle.ast)))
    return found


def _special(session: Session, handle: Any, name: str) -> list[Way]:
    negative = name[0] == "-"
    if name == "NaN":
        return [lambda: z3.fpNaN(handle), lambda: session.wrap(z3core.Z3_mk_fpa_nan(session.ref, handle.ast))]
    if name.endswith("oo"):
        call = z3core.Z3_mk_fpa_inf
        return [
            lambda: z3.fpInfinity(handle, negative),
            lambda: session.wrap(call(session.ref, handle.ast, negative)),
        ]
    zero = z3core.Z3_mk_fpa_zero
    return [
        lambda: z3.fpZero(handle, negative),
        lambda: session.wrap(zero(session.ref, handle.ast, negative)),
    ]


def _mode(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    if sexp not in MODES:
        return []
    call = f"Z3_mk_fpa_{sexp.lower()}"
    return [
        lambda: getattr(z3, sexp)(session.context),
        lambda: session.wrap(getattr(z3core, call)(session.ref)),
    ]


def _field(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    value = read_field_element(sexp)
    return [
        lambda: z3.FiniteFieldVal(value, sort.handle),
        lambda: _numeral(session, str(value), sort),
    ]


def _character(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    if isinstance(sexp, str) or len(sexp) != 3 or sexp[0] != "_" or sexp[1] not in ("Char", "char"):
        return []
    code = int(sexp[2][2:], 16) if sexp[2].startswith("#x") else int(sexp[2])
    return [
        lambda: z3.CharVal(code, session.context),
        lambda: session.wrap(z3core.Z3_mk_char(session.ref, code)),
    ]


_WAYS: dict[str, Callable[[Session, ApiSort, Any], list[Way]]] = {
    "Bool": _boolean,
    "Int": _integer,
    "Real": _real,
    "BitVec": _bit_vector,
    "String": _string,
    "FloatingPoint": _float,
    "RoundingMode": _mode,
    "FiniteField": _field,
    "Unicode": _character,
}
