"""Values of sorts as SMT-LIB text: random ones, special ones where solvers go wrong, and what they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from apifuzz.chance import Chance
from apifuzz.trace import TraceError
from smtlib import Kind, ReadError, Sort, Term, read_sexps, sexp_text
from smtlib.floats import exact_number
from smtlib.reader import SExp
from smtlib.values import (
    MODES,
    ROUNDING_MODES,
    SPECIAL_FLOATS,
    binary_text,
    boundary_bits,
    boundary_floats,
    escaped,
    float_text,
    integer_text,
    literal_value,
    read_bits,
    read_field_element,
    read_float,
    read_number,
    read_string,
)

Words = dict[str, Any]
"""What the words of a row mean for a value."""

_INTEGERS = (
    *(0, 1, -1, 2, -2, 3, 7, 8, 10, 16, 127, 128, 255, 256),
    *(2**31 - 1, 2**31, 2**32, 2**63, -(2**63), 2**64),
)
_RATIONALS = (
    *("0.0", "1.0", "0.5", "(/ 1 3)", "(/ 2 7)", "0.1", "10.0"),
    *("1000000.0", "0.000000001", "(/ 1 1000003)"),
)
_CHARACTERS = (
    *("a", "b", "A", "0", "9", "1", "-", " ", '""'),
    *("\\u{0}", "\\u{7f}", "\\u{ff}", "\\u{1f600}", "\\u{2ffff}"),
)
# The number of a value has up to two to the power of this bits.
_WIDEST_EXPONENT = 20
_STRINGS = ("", "a", "0", "-1", "00", "9999999999", "ab" * 6, "\\u{5c}u{41}", "\\u{d800}", '""', "\\u{2ffff}")


def has_values(sort: Sort) -> bool:
    """Whether values of this sort can be written, and read as a number without too much memory."""
    is_wide = sort.name == "FloatingPoint" and sort.indices[0] > _WIDEST_EXPONENT
    return sort.name in _RANDOM and not is_wide


def random_value(sort: Sort, chance: Chance) -> str:
    """A value, mostly a small one."""
    return _RANDOM[sort.name](sort, chance)


def special_value(sort: Sort, chance: Chance) -> str:
    """A value at the sort's boundaries: zero, one, all ones, NaN, infinities, the empty string ..."""
    return _SPECIAL[sort.name](sort, chance)


def _real(sort: Sort, chance: Chance) -> str:
    whole = chance.below(40)
    text = f"(/ {whole} {chance.up_to(20)})" if chance.happens(0.4) else f"{whole / 4}"
    return text if chance.happens(0.7) else f"(- {text})"


def _special_real(sort: Sort, chance: Chance) -> str:
    text = chance.pick(_RATIONALS)
    return text if chance.happens(0.7) else f"(- {text})"


def _special_bits(sort: Sort, chance: Chance) -> str:
    width = sort.indices[0]
    some = (*boundary_bits(width), 1 << chance.below(width))
    return binary_text(chance.pick(some), width)


def _float(sort: Sort, chance: Chance) -> str:
    bits = chance.getrandbits(sum(sort.indices))
    exponent, significand = sort.indices
    ones = ((1 << exponent) - 1) << (significand - 1)
    # All ones in the exponent is an infinity or NaN, which has no other spelling than its name.
    return _special_float(sort, chance) if bits & ones == ones else float_text(bits, sort)


def _special_float(sort: Sort, chance: Chance) -> str:
    exponent, significand = sort.indices
    if chance.happens(0.5):
        return f"(_ {chance.pick(SPECIAL_FLOATS)} {exponent} {significand})"
    bits = chance.pick(boundary_floats(sort))
    return float_text(bits | chance.below(2) << (exponent + significand - 1), sort)


def _string(sort: Sort, chance: Chance) -> str:
    return f'"{"".join(chance.pick(_CHARACTERS) for _ in range(chance.below(5)))}"'


def _special_field(sort: Sort, chance: Chance) -> str:
    order = sort.indices[0]
    return f"(as ff{chance.pick((0, 1, order - 1, order // 2))} {sort})"


_Maker = Callable[[Sort, Chance], str]

_RANDOM: dict[str, _Maker] = {
    "Bool": lambda sort, chance: "true" if chance.happens(0.5) else "false",
    "Int": lambda sort, chance: integer_text(chance.below(40) - 20),
    "Real": _real,
    "BitVec": lambda sort, chance: binary_text(chance.getrandbits(sort.indices[0]), sort.indices[0]),
    "FloatingPoint": _float,
    "RoundingMode": lambda sort, chance: chance.pick(MODES),
    "String": _string,
    "FiniteField": lambda sort, chance: f"(as ff{chance.below(sort.indices[0])} {sort})",
}
_SPECIAL: dict[str, _Maker] = _RANDOM | {
    "Int": lambda sort, chance: integer_text(chance.pick(_INTEGERS)),
    "Real": _special_real,
    "BitVec": _special_bits,
    "FloatingPoint": _special_float,
    "String": lambda sort, chance: f'"{chance.pick(_STRINGS)}"',
    "FiniteField": _special_field,
}


def value_text(term: Term) -> str | None:
    """The text of a value that a term of ``smtlib`` writes: a literal, a negated number; None of another."""
    if term.kind is Kind.OPERATOR and term.name == "-" and len(term.args) == 1:
        inner = term.args[0]
        return f"(- {value_text(inner)})" if inner.kind is Kind.LITERAL else None
    if term.kind is not Kind.LITERAL or term.sort.name not in _RANDOM:
        return None
    text, sort = term.op.text, term.sort
    if sort.name == "Real":
        return text if "." in text.rstrip(".") else text.rstrip(".") + ".0"
    if sort.name == "BitVec":
        return binary_text(int(literal_value(term) or 0), sort.indices[0])
    if sort.name == "FiniteField":
        return f"(as ff{read_field_element(text) % sort.indices[0]} {sort})"
    return None if "\n" in text or "\r" in text else text


# Reading


_ATOM = re.compile(r"[#\w.]+", re.ASCII)


def read_value(sort: Sort, text: str) -> tuple[str, Words]:
    """The name of the row that makes a value, and the words for it: an operator's (``true``, ``RNE``,
    ``+oo``) without words, or that of the sort.

    Raises ValueError for a text that writes no value of the sort.
    """
    try:
        sexps = [text] if _ATOM.fullmatch(text) else read_sexps(text)
    except ReadError as error:
        raise ValueError(str(error)) from error
    if len(sexps) != 1 or sort.name not in _READ:
        raise ValueError(f"no value of {sort}")
    return _READ[sort.name](sort, sexps[0])


def check_value(sort: Sort, text: str) -> None:
    """Raise :class:`apifuzz.trace.TraceError` unless ``text`` writes a value of ``sort`` as traces do."""
    if not has_values(sort):
        raise TraceError(f"values of sort {sort} cannot be written in traces")
    try:
        read_value(sort, text)
        spelling = _SPELLINGS.get(sort.name)
        fits = spelling is None or spelling.fullmatch(text) is not None
    except ValueError:
        fits = False
    if not fits:
        raise TraceError(f"{text[:60]} is not a value of sort {sort}")


# One spelling of each is enough for traces.
_POSITIVE = r"(?:[0-9]+\.[0-9]+|\(/ [0-9]+ 0*[1-9][0-9]*\))"
_SPELLINGS = {
    "Int": re.compile(r"[0-9]+|\(- [0-9]+\)"),
    "Real": re.compile(rf"{_POSITIVE}|\(- {_POSITIVE}\)"),
    "BitVec": re.compile("#b[01]+"),
    "RoundingMode": re.compile("|".join(MODES)),
    "FiniteField": re.compile(r"\(as ff[0-9]+ .*"),
}


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


def _read_float(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    parts = read_float(sexp)
    exponent, significand = sort.indices
    if isinstance(parts, str):
        if sexp[2:] != [str(exponent), str(significand)]:
            raise ValueError("of another format")
        return parts, {}
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


def _read_string(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    characters = read_string(sexp)
    literal = str(sexp)[1:-1].replace('""', '"')
    return sort.name, {"characters": characters, "literal": literal, "escaped": escaped(characters)}


def _field(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    number = read_field_element(sexp)
    if not isinstance(sexp, str) and sexp_text(sexp[2]) != str(sort):
        raise ValueError("of another field")
    return sort.name, {"n": number}


def _character(sort: Sort, sexp: SExp) -> tuple[str, Words]:
    if isinstance(sexp, str) or len(sexp) != 3 or sexp[0] != "_" or sexp[1] not in ("Char", "char"):
        raise ValueError("no character")
    return sort.name, {"n": int(sexp[2][2:], 16) if sexp[2].startswith("#x") else int(sexp[2])}


_READ: dict[str, Callable[[Sort, SExp], tuple[str, Words]]] = {
    "Bool": _boolean,
    "Int": _number,
    "Real": _number,
    "BitVec": _bits,
    "FloatingPoint": _read_float,
    "RoundingMode": _mode,
    "String": _read_string,
    "FiniteField": _field,
    "Unicode": _character,
}
