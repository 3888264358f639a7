"""Values in SMT-LIB syntax: numbers, bit-vectors, floating-point numbers, strings, elements of finite fields.

``read_...`` functions take an s-expression and raise ValueError if it is not such a value; ``..._text``
functions return text.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, TypeAlias, cast

from smtlib.reader import SExp, SExpList, sexp_text
from smtlib.sorts import REAL, STRING, Sort, bit_vector, make_sort, read_index
from smtlib.terms import Kind, Term, TermTable

Value: TypeAlias = Fraction | int | str
"""An Int or Real as a fraction, a bit-vector as an unsigned number, a String as its characters."""

ROUNDING_MODES: Final = {
    "roundNearestTiesToEven": "RNE",
    "roundNearestTiesToAway": "RNA",
    "roundTowardPositive": "RTP",
    "roundTowardNegative": "RTN",
    "roundTowardZero": "RTZ",
}
"""The rounding modes: long names, and the short names that are printed."""

MODES: Final = tuple(ROUNDING_MODES.values())
"""The rounding modes by their short names."""

SPECIAL_FLOATS: Final = ("+oo", "-oo", "+zero", "-zero", "NaN")
"""Floating-point numbers that have names: ``(_ +oo 8 24)``."""

_LONGEST_NUMERAL = 4000
_NUMERAL = re.compile(r"-?[0-9]+(?:\.[0-9]*)?")
_BITS = re.compile(r"#b([01]+)|#x([0-9a-fA-F]+)")
_NAMED_BITS = re.compile(r"bv([0-9]+)")
_FIELD = re.compile(r"#f(-?[0-9]+)m([0-9]{1,1000})|ff(-?[0-9]+)")
_NATURAL = re.compile(r"0*([0-9]+(?:\.[0-9]*)?)")
_CHARACTER = re.compile(r'\\u(?:\{([0-9a-fA-F]{1,5})\}|([0-9a-fA-F]{4}))|""|.', re.DOTALL)
_LAST_CHARACTER = 0x2FFFF


# Reading


def read_literal(token: str, numeral_sort: Sort) -> tuple[str, Sort]:
    """A literal without leading zeros, and its sort; ``numeral_sort`` is the sort of ``3``."""
    if token[0] == '"':
        return token, STRING
    if token[0] != "#":
        number = _NATURAL.fullmatch(token)
        if number is None:
            raise ValueError(f"{token[:60]} is neither a number nor a symbol")
        return number[1], REAL if "." in token else numeral_sort
    if bits := _BITS.fullmatch(token):
        return token, bit_vector(len(bits[1]) if bits[1] else 4 * len(bits[2]))
    if field := _FIELD.fullmatch(token):
        return token, make_sort("FiniteField", (int(field[2]),))
    raise ValueError(f"{token[:60]} is not a literal")


def read_number(sexp: SExp) -> Fraction:
    """The value of ``3``, ``0.5``, ``(- 3)`` or ``(/ (- 1) 3)``."""
    if isinstance(sexp, str):
        if len(sexp) > _LONGEST_NUMERAL or not _NUMERAL.fullmatch(sexp):
            raise ValueError(f"not a number: {sexp[:60]}")
        return Fraction(sexp)
    if len(sexp) == 2 and sexp[0] == "-":
        return -read_number(sexp[1])
    if len(sexp) == 3 and sexp[0] == "/":
        divisor = read_number(sexp[2])
        if divisor:
            return read_number(sexp[1]) / divisor
    raise ValueError(f"not a number: {sexp_text(sexp, 60)}")


def read_bits(sexp: SExp) -> tuple[int, int]:
    """Value and width of ``#b01``, ``#x0f`` or ``(_ bv15 8)``; the value of the last may need more bits."""
    if isinstance(sexp, str):
        found = _BITS.fullmatch(sexp)
        if found and found[1]:
            return int(found[1], 2), len(found[1])
        if found:
            return int(found[2], 16), 4 * len(found[2])
    elif len(sexp) == 3 and sexp[0] == "_" and isinstance(sexp[1], str):
        found = _NAMED_BITS.fullmatch(sexp[1])
        width = read_index(sexp[2])
        if found and len(found[1]) <= _LONGEST_NUMERAL and width:
            return int(found[1]), width
    raise ValueError(f"not a bit-vector: {sexp_text(sexp, 60)}")


def read_float(sexp: SExp) -> str | list[tuple[int, int]]:
    """The name of a special floating-point number, or the values and widths in bits of another's fields."""
    if not isinstance(sexp, str) and len(sexp) == 4:
        if sexp[0] == "_" and sexp[1] in SPECIAL_FLOATS:
            return str(sexp[1])
        if sexp[0] == "fp":
            return [read_bits(part) for part in sexp[1:]]
    raise ValueError(f"not a floating-point number: {sexp_text(sexp, 60)}")


def written_characters(literal: str) -> list[str]:
    """The characters of a string literal as written, with escapes and doubled quotes."""
    return [found[0] for found in _CHARACTER.finditer(literal, 1, len(literal) - 1)]


def read_string(sexp: SExp) -> str:
    r"""The characters of a string literal, escapes resolved.

    >>> read_string('"a\\u{62}""c"')
    'ab"c'
    """
    if not isinstance(sexp, str) or sexp[0] != '"':
        raise ValueError(f"not a string: {sexp_text(sexp, 60)}")
    if "\\" not in sexp:
        return sexp[1:-1].replace('""', '"')
    return "".join(map(_character, _CHARACTER.finditer(sexp, 1, len(sexp) - 1)))


def _character(found: re.Match[str]) -> str:
    code = int(found[1] or found[2] or "FFFFF", 16)
    if code <= _LAST_CHARACTER:
        return chr(code)
    return '"' if found[0] == '""' else found[0]


def read_field_element(sexp: SExp) -> int:
    """The number in ``(as ff3 (_ FiniteField 5))`` or ``#f3m5``."""
    name = sexp if isinstance(sexp, str) else sexp[1] if len(sexp) == 3 and sexp[0] == "as" else ""
    found = _FIELD.fullmatch(name) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"not an element of a field: {sexp_text(sexp, 60)}")
    return int(found[1] or found[3])


# Writing


def integer_text(value: int) -> str:
    """An integer; negative ones with ``-``."""
    return str(value) if value >= 0 else f"(- {-value})"


def binary_text(value: int, width: int) -> str:
    """A bit-vector in base 2; ``value`` is taken modulo two to the ``width``."""
    return f"#b{value % (1 << width):0{width}b}"


def bits_text(value: int, width: int) -> str:
    """A bit-vector in its shortest form; ``value`` is taken modulo two to the ``width``."""
    if width > 256:
        return f"(_ bv{value % (1 << width)} {width})"
    return binary_text(value, width) if width % 4 else f"#x{value % (1 << width):0{width // 4}x}"


def float_fields(bits: int, sort: Sort) -> list[tuple[int, int]]:
    """Sign, biased exponent and fraction of a floating-point number: values and widths in bits."""
    exponent, significand = sort.indices
    fraction = significand - 1
    parts = ((bits >> (exponent + fraction), 1), (bits >> fraction, exponent), (bits, fraction))
    return [(value % (1 << width), width) for value, width in parts]


def infinite_bits(sort: Sort) -> int:
    """The bits of positive infinity."""
    exponent, significand = sort.indices
    return ((1 << exponent) - 1) << (significand - 1)


def float_bits(term: Term) -> int | None:
    """The bits of a floating-point literal, a name or ``(fp ...)``; None for NaN, and for any other term."""
    if term.sort.name != "FloatingPoint":
        return None
    exponent, significand = term.sort.indices
    sign, infinite = 1 << (exponent + significand - 1), infinite_bits(term.sort)
    named = {"+oo": infinite, "-oo": sign | infinite, "+zero": 0, "-zero": sign}
    if term.op.name in named:
        return named[term.op.name]
    parts = [literal_value(part) for part in term.args]
    if term.op.name != "fp" or not all(isinstance(part, int) for part in parts):
        return None
    bits = 0
    for value, part in zip(parts, term.args, strict=True):
        bits = bits << part.sort.indices[0] | cast(int, value)
    return None if bits & infinite == infinite and bits & (infinite ^ (sign - 1)) else bits


def float_text(bits: int, sort: Sort) -> str:
    """The floating-point number with these bits, as ``(fp #b0 #b01 #b1)``."""
    return f"(fp {' '.join(binary_text(value, width) for value, width in float_fields(bits, sort))})"


def escaped(characters: str) -> str:
    """Characters, with ``\\u{...}`` for the backslash and everything but printable ASCII."""
    return "".join(c if " " <= c <= "~" and c != "\\" else f"\\u{{{ord(c):x}}}" for c in characters)


def string_text(characters: str) -> str:
    """A string literal with these characters."""
    quoted = escaped(characters).replace('"', '""')
    return f'"{quoted}"'


# Boundary values, where solvers often have bugs


def boundary_bits(width: int) -> tuple[int, ...]:
    """Zero, one, all ones, the largest negative and positive number, two."""
    top = 1 << (width - 1)
    return (0, 1, -1, top, top - 1, 2)


def boundary_floats(sort: Sort) -> tuple[int, ...]:
    """The bits of one, the smallest and largest subnormal, the smallest and largest normal number."""
    exponent, significand = sort.indices
    fraction = significand - 1
    ones = (1 << exponent) - 1
    least, most = 1 << fraction, (1 << fraction) - 1
    return ((ones >> 1) << fraction, 1, most, least, ((ones - 1) << fraction) | most)


def simple_values(sort: Sort) -> tuple[str, ...]:
    """The simplest values of a sort, as text; empty if none is certain to exist."""
    if sort.name == "BitVec":
        width = sort.indices[0]
        return (binary_text(0, width), binary_text(1, width)) if width <= 64 else (f"(_ bv0 {width})",)
    if sort.name == "FloatingPoint":
        return (f"(_ +zero {sort.indices[0]} {sort.indices[1]})",)
    return _SIMPLE.get(sort.text, ())


_SIMPLE = {
    "Bool": ("true", "false"),
    "Int": ("0", "1"),
    "Real": ("0.0", "1.0"),
    "String": ('""', '"a"'),
    "RegLan": ("re.none", "re.all"),
    "RoundingMode": ("RNE",),
}


# As terms


def literal_value(term: Term) -> Value | None:
    """The value of a literal, or of a negated or divided number; None for any other term."""
    op = term.op
    if op.kind is Kind.LITERAL:
        return _literal_value(term)
    if op.kind is not Kind.OPERATOR:
        return None
    if op.name == "-" and len(term.args) == 1 and term.args[0].op.name != "-":
        value = literal_value(term.args[0])
        return -value if isinstance(value, Fraction) else None
    if op.name == "/" and len(term.args) == 2:
        over, under = (_literal_value(a) if a.op.kind is Kind.LITERAL else None for a in term.args)
        if isinstance(over, Fraction) and isinstance(under, Fraction) and under:
            return over / under
    return None


def _literal_value(term: Term) -> Value | None:
    text, sort = term.op.text, term.sort.name
    try:
        if sort in ("Int", "Real"):
            return read_number(text)
        if sort == "String":
            # Solvers do not agree on what characters outside printable ASCII stand for.
            return read_string(text) if text.isascii() and text.isprintable() else None
        if sort == "BitVec":
            return read_bits(text if text[0] == "#" else SExpList(text[1:-1].split()))[0]
    except ValueError:
        pass
    return None


def number_term(table: TermTable, value: Fraction, sort: Sort) -> Term:
    """A number of sort Int or Real; negative ones with ``-``, fractions with ``/``."""
    if value < 0:
        return table.operator("-", (number_term(table, -value, sort),), sort)
    if value.denominator != 1:
        over, under = (table.literal(f"{number}.0", sort) for number in (value.numerator, value.denominator))
        return table.operator("/", (over, under), sort)
    return table.literal(f"{value.numerator}.0" if sort.name == "Real" else str(value.numerator), sort)


def bits_term(table: TermTable, value: int, width: int) -> Term:
    """A bit-vector literal; ``value`` is taken modulo."""
    return table.literal(bits_text(value, width), bit_vector(width))


def float_term(table: TermTable, bits: int, sort: Sort) -> Term:
    """The floating-point number with these bits, as an ``(fp ...)`` term."""
    args = tuple(table.literal(binary_text(v, w), bit_vector(w)) for v, w in float_fields(bits, sort))
    return table.operator("fp", args, sort)
