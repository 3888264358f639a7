"""Values, said in one of the ways z3 has: numerals of each base and size, text, or z3's own parser."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import z3
from z3 import z3core

from apifuzz.engines.z3.session import Session
from apifuzz.interface import ApiSort, Unsupported
from smtlib import ReadError, read_sexps

Way = Callable[[], Any]

_ESCAPE = re.compile(r"\\u\{([0-9a-fA-F]{1,5})\}|\\u([0-9a-fA-F]{4})")
_FIELD_VALUE = re.compile(r"#f(\d+)m\d+|ff(-?\d+)")
_MODES = ("RNE", "RNA", "RTP", "RTN", "RTZ")
_SPECIALS = ("+oo", "-oo", "+zero", "-zero", "NaN")


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
        found = find(self.session, sort, sexps[0]) if find else []
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


def rational(sexp: Any) -> Fraction:
    """The number that ``3``, ``0.5``, ``(- 3)`` or ``(/ (- 1) 3)`` is. Raises ValueError for others."""
    if isinstance(sexp, str):
        return Fraction(sexp)
    if len(sexp) == 2 and sexp[0] == "-":
        return -rational(sexp[1])
    if len(sexp) == 3 and sexp[0] == "/":
        return rational(sexp[1]) / rational(sexp[2])
    raise ValueError(f"no number: {sexp}")


def code_points(literal: str) -> list[int]:
    """The characters of a string literal, quotes included, as SMT-LIB 2.7 reads it."""
    text = literal[1:-1].replace('""', '"')
    found: list[int] = []
    place = 0
    for match in _ESCAPE.finditer(text):
        found.extend(map(ord, text[place : match.start()]))
        found.append(int(match[1] or match[2], 16))
        place = match.end()
    found.extend(map(ord, text[place:]))
    return found


def bits(sexp: Any) -> tuple[int, int]:
    """Value and width of ``#b01``, ``#x0f`` or ``(_ bv15 8)``. Raises ValueError for anything else."""
    if isinstance(sexp, str) and sexp[:2] in ("#b", "#x"):
        return (
            (int(sexp[2:], 2), len(sexp) - 2) if sexp[1] == "b" else (int(sexp[2:], 16), 4 * (len(sexp) - 2))
        )
    if not isinstance(sexp, str) and len(sexp) == 3 and sexp[0] == "_" and str(sexp[1]).startswith("bv"):
        return int(sexp[1][2:]), int(sexp[2])
    raise ValueError(f"no bit-vector: {sexp}")


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
    try:
        value = rational(sexp)
    except (ValueError, ZeroDivisionError):
        return []
    if value.denominator != 1:
        return []
    number = value.numerator
    return [
        lambda: z3.IntVal(number, session.context),
        lambda: _numeral(session, str(number), sort),
        *_small(session, number, sort),
    ]


def _real(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    try:
        value = rational(sexp)
    except (ValueError, ZeroDivisionError):
        return []
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
    try:
        value, width = bits(sexp)
    except ValueError:
        return []

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
    if not isinstance(sexp, str) or sexp[:1] != '"':
        return []
    points = code_points(sexp)
    escaped = "".join(chr(p) if 32 <= p < 127 and p != 92 else f"\\u{{{p:x}}}" for p in points)

    def from_points() -> Any:
        array = (ctypes.c_uint * len(points))(*points)
        return session.wrap(z3core.Z3_mk_u32string(session.ref, len(points), array))

    found: list[Way] = [
        lambda: z3.StringVal(escaped, session.context),
        lambda: session.wrap(z3core.Z3_mk_string(session.ref, escaped)),
        from_points,
    ]
    if escaped == "".join(map(chr, points)):
        found.append(lambda: session.wrap(z3core.Z3_mk_lstring(session.ref, len(points), escaped)))
    return found


def _float(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    handle = sort.handle
    if not isinstance(sexp, str) and len(sexp) == 4 and sexp[0] == "_" and sexp[1] in _SPECIALS:
        return _special(session, handle, str(sexp[1]))
    if isinstance(sexp, str) or len(sexp) != 4 or sexp[0] != "fp":
        return []
    try:
        parts = [bits(part) for part in sexp[1:]]
    except ValueError:
        return []

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
    if sexp not in _MODES:
        return []
    call = f"Z3_mk_fpa_{sexp.lower()}"
    return [
        lambda: getattr(z3, sexp)(session.context),
        lambda: session.wrap(getattr(z3core, call)(session.ref)),
    ]


def _field(session: Session, sort: ApiSort, sexp: Any) -> list[Way]:
    name = sexp if isinstance(sexp, str) else sexp[1] if len(sexp) == 3 and sexp[0] == "as" else ""
    match = _FIELD_VALUE.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        return []
    value = int(match[1] or match[2])
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
