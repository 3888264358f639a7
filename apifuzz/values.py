"""Values of sorts as SMT-LIB text: random ones, and the special ones where solvers go wrong."""

from __future__ import annotations

import re
from collections.abc import Callable

from apifuzz.chance import Chance
from apifuzz.trace import TraceError
from smtlib import Kind, ReadError, Sort, Term, read_sexps, sexp_text
from smtlib.reader import SExp
from smtlib.values import (
    MODES,
    SPECIAL_FLOATS,
    binary_text,
    boundary_bits,
    boundary_floats,
    float_text,
    integer_text,
    literal_value,
    read_bits,
    read_field_element,
    read_float,
    read_string,
)

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
_STRINGS = ("", "a", "0", "-1", "00", "9999999999", "ab" * 6, "\\u{5c}u{41}", "\\u{d800}", '""', "\\u{2ffff}")


def has_values(sort: Sort) -> bool:
    """Whether values of this sort can be written."""
    return sort.name in _RANDOM


def random_value(sort: Sort, chance: Chance) -> str:
    """A value, mostly a small one."""
    return _RANDOM[sort.name](sort, chance)


def special_value(sort: Sort, chance: Chance) -> str:
    """A value at the sort's boundaries: zero, one, all ones, NaN, infinities, the empty string ..."""
    return _SPECIAL[sort.name](sort, chance)


def _real(sort: Sort, chance: Chance) -> str:
    whole = int(chance.random() * 40)
    text = f"(/ {whole} {1 + int(chance.random() * 20)})" if chance.random() < 0.4 else f"{whole / 4}"
    return text if chance.random() < 0.7 else f"(- {text})"


def _special_real(sort: Sort, chance: Chance) -> str:
    text = chance.pick(_RATIONALS)
    return text if chance.random() < 0.7 else f"(- {text})"


def _special_bits(sort: Sort, chance: Chance) -> str:
    width = sort.indices[0]
    some = (*boundary_bits(width), 1 << int(chance.random() * width))
    return binary_text(some[int(chance.random() * 7)], width)


def _float(sort: Sort, chance: Chance) -> str:
    bits = chance.getrandbits(sum(sort.indices))
    exponent, significand = sort.indices
    ones = ((1 << exponent) - 1) << (significand - 1)
    # All ones in the exponent is an infinity or NaN, which has no other spelling than its name.
    return _special_float(sort, chance) if bits & ones == ones else float_text(bits, sort)


def _special_float(sort: Sort, chance: Chance) -> str:
    exponent, significand = sort.indices
    if chance.random() < 0.5:
        return f"(_ {chance.pick(SPECIAL_FLOATS)} {exponent} {significand})"
    bits = boundary_floats(sort)[int(chance.random() * 5)]
    return float_text(bits | int(chance.random() * 2) << (exponent + significand - 1), sort)


def _string(sort: Sort, chance: Chance) -> str:
    return f'"{"".join(chance.pick(_CHARACTERS) for _ in range(int(chance.random() * 5)))}"'


def _special_field(sort: Sort, chance: Chance) -> str:
    order = sort.indices[0]
    return f"(as ff{(0, 1, order - 1, order // 2)[int(chance.random() * 4)]} {sort})"


_Maker = Callable[[Sort, Chance], str]

_RANDOM: dict[str, _Maker] = {
    "Bool": lambda sort, chance: "true" if chance.random() < 0.5 else "false",
    "Int": lambda sort, chance: integer_text(int(chance.random() * 40) - 20),
    "Real": _real,
    "BitVec": lambda sort, chance: binary_text(chance.getrandbits(sort.indices[0]), sort.indices[0]),
    "FloatingPoint": _float,
    "RoundingMode": lambda sort, chance: chance.pick(MODES),
    "String": _string,
    "FiniteField": lambda sort, chance: f"(as ff{int(chance.random() * sort.indices[0])} {sort})",
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


# One spelling of each is enough for traces.
_INTEGER = re.compile(r"[0-9]+|\(- [0-9]+\)")
_POSITIVE = r"(?:[0-9]+\.[0-9]+|\(/ [0-9]+ 0*[1-9][0-9]*\))"
_REAL = re.compile(rf"{_POSITIVE}|\(- {_POSITIVE}\)")


def check_value(sort: Sort, text: str) -> None:
    """Raise :class:`apifuzz.trace.TraceError` unless ``text`` writes a value of ``sort``."""
    try:
        (sexp,) = read_sexps(text)
        fits = sort.name in _READ and _READ[sort.name](sort, sexp)
    except (ReadError, ValueError):
        fits = False
    if not fits:
        raise TraceError(f"{text[:60]} is no value of sort {sort}")


def _reads_float(sort: Sort, sexp: SExp) -> bool:
    exponent, significand = sort.indices
    found = read_float(sexp)
    if isinstance(found, str):
        return sexp[2:] == [str(exponent), str(significand)]
    return [width for _, width in found] == [1, exponent, significand - 1]


def _reads_field(sort: Sort, sexp: SExp) -> bool:
    return read_field_element(sexp) >= 0 and len(sexp) == 3 and sexp_text(sexp[2]) == str(sort)


_READ: dict[str, Callable[[Sort, SExp], bool]] = {
    "Bool": lambda sort, sexp: sexp in ("true", "false"),
    "Int": lambda sort, sexp: _INTEGER.fullmatch(sexp_text(sexp)) is not None,
    "Real": lambda sort, sexp: _REAL.fullmatch(sexp_text(sexp)) is not None,
    "BitVec": lambda sort, sexp: sexp[:2] == "#b" and read_bits(sexp)[1] == sort.indices[0],
    "FloatingPoint": _reads_float,
    "RoundingMode": lambda sort, sexp: sexp in MODES,
    "String": lambda sort, sexp: read_string(sexp) is not None,
    "FiniteField": _reads_field,
}
