"""Values: from SMT-LIB text to one of the calls that make it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import cvc5

from apifuzz.engines.cvc5.session import Session
from apifuzz.interface import Unsupported
from smtlib import ReadError, Sort, read_sexps
from smtlib.reader import SExp
from smtlib.values import read_bits, read_field_element, read_float, read_number, read_string

ROUNDING_MODES = {
    "RNE": cvc5.RoundingMode.ROUND_NEAREST_TIES_TO_EVEN,
    "RNA": cvc5.RoundingMode.ROUND_NEAREST_TIES_TO_AWAY,
    "RTP": cvc5.RoundingMode.ROUND_TOWARD_POSITIVE,
    "RTN": cvc5.RoundingMode.ROUND_TOWARD_NEGATIVE,
    "RTZ": cvc5.RoundingMode.ROUND_TOWARD_ZERO,
}

_SPECIAL_FLOATS = {
    "+oo": "mkFloatingPointPosInf",
    "-oo": "mkFloatingPointNegInf",
    "+zero": "mkFloatingPointPosZero",
    "-zero": "mkFloatingPointNegZero",
    "NaN": "mkFloatingPointNaN",
}

_PRINTABLE = re.compile(r"[ -~]*\Z")
_WORD = 1 << 31
"""mkInteger takes no larger Python integers; larger ones go as text."""


class NoValue(Unsupported):
    """The text is no value of the sort."""

    def __init__(self, text: str, sort: Sort) -> None:
        super().__init__(f"{text[:80]} is no value of {sort}")


def make_value(session: Session, sort: Sort, handle: Any, text: str) -> Any:
    """The value that ``text`` writes, of sort ``sort`` with handle ``handle``; said in one of the ways."""
    maker = _MAKERS.get(sort.name)
    if maker is None:
        raise NoValue(text, sort)
    try:
        sexps = read_sexps(text)
        if len(sexps) != 1:
            raise NoValue(text, sort)
        return maker(session, sort, handle, sexps[0])
    except (ReadError, ArithmeticError, ValueError, IndexError, KeyError, TypeError) as error:
        raise NoValue(text, sort) from error


def _boolean(session: Session, sort: Sort, handle: Any, sexp: SExp) -> Any:
    value = {"true": True, "false": False}[str(sexp)]
    if session.chance(0.5):
        return session.maker.mkBoolean(value)
    return session.maker.mkTrue() if value else session.maker.mkFalse()


def _integer(session: Session, sort: Sort, handle: Any, sexp: SExp) -> Any:
    value = read_number(sexp)
    if value.denominator != 1:
        raise ValueError(value)
    integer = value.numerator
    if -_WORD < integer < _WORD and session.chance(0.5):
        return session.maker.mkInteger(integer)
    return session.maker.mkInteger(str(integer))


def _real(session: Session, sort: Sort, handle: Any, sexp: SExp) -> Any:
    value = read_number(sexp)
    way = session.random.randrange(4)
    if way == 0:
        return session.maker.mkReal(value.numerator, value.denominator)
    if way == 1 and isinstance(sexp, str):
        return session.maker.mkReal(sexp)
    if way == 2 and value.denominator == 1:
        return session.maker.mkReal(value.numerator)
    return session.maker.mkReal(f"{value.numerator}/{value.denominator}")


def _bit_vector(session: Session, sort: Sort, handle: Any, sexp: SExp) -> Any:
    value, width = read_bits(sexp)
    return bit_vector(session, value, width)


def bit_vector(session: Session, value: int, width: int) -> Any:
    """The bit-vector value of this width, said in one of the ways."""
    way = session.random.randrange(5)
    if way == 0:
        return session.maker.mkBitVector(width, value)
    if way == 1:
        return session.maker.mkBitVector(width, str(value), 10)
    if way == 2:
        return session.maker.mkBitVector(width, f"{value:x}", 16)
    if way == 3 and value >> (width - 1) and width > 1:
        # The same bits as a negative number.
        return session.maker.mkBitVector(width, str(value - (1 << width)), 10)
    return session.maker.mkBitVector(width, f"{value:0{width}b}", 2)


def _float(session: Session, sort: Sort, handle: Any, sexp: SExp) -> Any:
    exponent, significand = sort.indices
    maker = session.maker
    parts = read_float(sexp)
    if isinstance(parts, str):
        return special_float(session, parts, exponent, significand)
    if [width for _, width in parts] != [1, exponent, significand - 1]:
        raise ValueError("of another format")
    if session.chance(0.5):
        return maker.mkFloatingPoint(*[bit_vector(session, value, width) for value, width in parts])
    whole = ((parts[0][0] << exponent | parts[1][0]) << (significand - 1)) | parts[2][0]
    return maker.mkFloatingPoint(exponent, significand, bit_vector(session, whole, exponent + significand))


def _rounding_mode(session: Session, sort: Sort, handle: Any, sexp: SExp) -> Any:
    return session.maker.mkRoundingMode(ROUNDING_MODES[str(sexp)])


def _string(session: Session, sort: Sort, handle: Any, sexp: SExp) -> Any:
    plain = read_string(sexp)
    escaped = str(sexp)[1:-1].replace('""', '"')
    # With the second argument it takes printable ASCII characters only, escaped or not.
    if _PRINTABLE.match(escaped) and session.chance(0.5):
        return session.maker.mkString(escaped, True)
    if _PRINTABLE.match(plain) and session.chance(0.5):
        return session.maker.mkString(plain, False)
    return session.maker.mkString(plain)


def _field_element(session: Session, sort: Sort, handle: Any, sexp: SExp) -> Any:
    value = read_field_element(sexp)
    way = session.random.randrange(3)
    if way == 0:
        return session.maker.mkFiniteFieldElem(value, handle)
    if way == 1 or value < 0:
        return session.maker.mkFiniteFieldElem(str(value), handle)
    return session.maker.mkFiniteFieldElem(f"{value:x}", handle, 16)


_MAKERS: dict[str, Callable[[Session, Sort, Any, SExp], Any]] = {
    "Bool": _boolean,
    "Int": _integer,
    "Real": _real,
    "BitVec": _bit_vector,
    "FloatingPoint": _float,
    "RoundingMode": _rounding_mode,
    "String": _string,
    "FiniteField": _field_element,
}


def special_float(session: Session, name: str, exponent: int, significand: int) -> Any:
    """``(_ +oo e s)`` and its like; KeyError for another name."""
    return getattr(session.maker, _SPECIAL_FLOATS[name])(exponent, significand)
