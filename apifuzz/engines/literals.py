"""Reads SMT-LIB values into the words that rows use."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from smtlib import ReadError, Sort, read_sexps
from smtlib.reader import SExp
from smtlib.values import (
    MODES,
    ROUNDING_MODES,
    escaped,
    read_bits,
    read_field_element,
    read_float,
    read_number,
    read_string,
)

Words = dict[str, Any]


def read_value(sort: Sort, text: str) -> tuple[str, Words]:
    """The name of the row that makes a value, and the words for it: an operator's (``true``, ``RNE``,
    ``+oo``) without words, or that of the sort.

    Raises ValueError for a text that writes no value of the sort.
    """
    try:
        sexps = read_sexps(text)
    except ReadError as error:
        raise ValueError(str(error)) from error
    if len(sexps) != 1 or sort.name not in _READ:
        raise ValueError(f"no value of {sort}")
    return _READ[sort.name](sort, sexps[0])


def _boolean(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    if sexp not in ("true", "false"):
        raise ValueError("neither true nor false")
    return str(sexp), {}


def _mode(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    short = ROUNDING_MODES.get(sexp, sexp) if isinstance(sexp, str) else ""
    if short not in MODES:
        raise ValueError("no rounding mode")
    return str(short), {}


def _number(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    value = read_number(sexp)
    if sort.name == "Int" and value.denominator != 1:
        raise ValueError("no integer")
    token = sexp if isinstance(sexp, str) else ""
    return sort.name, {"n": value.numerator, "under": value.denominator, "token": token}


def _bits(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    value, width = read_bits(sexp)
    if width != sort.indices[0] or value >> width:
        raise ValueError("of another width")
    return sort.name, bit_words(value, width)


def bit_words(value: int, width: int) -> Words:
    """The words of a bit-vector value: its number, its width, and its number with a sign."""
    return {"n": value, "width": width, "signed": value - (1 << width) if value >> (width - 1) else value}


def _float(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    parts = read_float(sexp)
    if isinstance(parts, str):
        return parts, {}
    exponent, significand = sort.indices
    (sign, _), (biased, _), (fraction, _) = parts
    if [width for _, width in parts] != [1, exponent, significand - 1] or any(v >> w for v, w in parts):
        raise ValueError("of another format")
    bias = (1 << (exponent - 1)) - 1
    return sort.name, {
        "sign": sign,
        "biased": biased,
        "fraction": fraction,
        "whole": ((sign << exponent | biased) << (significand - 1)) | fraction,
        "normal": 0 < biased < (1 << exponent) - 1,
        "power": biased - bias,
        "number": exact_number(sign, biased, fraction, exponent, significand),
    }


def exact_number(sign: int, biased: int, fraction: int, exponent: int, significand: int) -> Fraction | None:
    """The number that the three fields write; None for infinities and NaN, 0 for both zeros."""
    if biased == (1 << exponent) - 1:
        return None
    bias = (1 << (exponent - 1)) - 1
    if biased:
        fraction |= 1 << (significand - 1)
    power = max(biased, 1) - bias - (significand - 1)
    magnitude = Fraction(fraction << power) if power >= 0 else Fraction(fraction, 1 << -power)
    return -magnitude if sign else magnitude


def _string(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    characters = read_string(sexp)
    literal = str(sexp)[1:-1].replace('""', '"')
    return sort.name, {"characters": characters, "literal": literal, "escaped": escaped(characters)}


def _field(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    return sort.name, {"n": read_field_element(sexp)}


def _character(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    if isinstance(sexp, str) or len(sexp) != 3 or sexp[0] != "_" or sexp[1] not in ("Char", "char"):
        raise ValueError("no character")
    return sort.name, {"n": int(sexp[2][2:], 16) if sexp[2].startswith("#x") else int(sexp[2])}


_READ: dict[str, Callable[[Sort, SExp], tuple[str, Words]]] = {
    "Bool": _boolean,
    "Int": _number,
    "Real": _number,
    "BitVec": _bits,
    "FloatingPoint": _float,
    "RoundingMode": _mode,
    "String": _string,
    "FiniteField": _field,
    "Unicode": _character,
}
