"""Values of literals, and side conditions over them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from smtlib import Kind, Sort, Term, TermTable
from smtlib.reader import SExp
from smtlib.sorts import bit_vector

Value = Fraction | int | str | bool
"""Of an Int or Real a fraction, of a bit-vector its unsigned number, of a String its characters."""

_ESCAPE = re.compile(r"\\u(?:\{([0-9a-fA-F]{1,5})\}|([0-9a-fA-F]{4}))")
_BITS = re.compile(r"\(_ bv([0-9]+) [0-9]+\)")


def literal_value(term: Term) -> Value | None:
    """The value of a literal, or of a negated or divided number; None of any other term."""
    op = term.op
    if op.kind is Kind.LITERAL:
        return _value(op.text, term.sort)
    if op.kind is not Kind.OPERATOR or op.name not in ("-", "/") or len(term.args) > 2:
        return None
    values = [_value(a.op.text, a.sort) for a in term.args if a.op.kind is Kind.LITERAL]
    if len(values) != len(term.args):
        return None
    if op.name == "-" and len(values) == 1 and isinstance(values[0], Fraction):
        return -values[0]
    if op.name == "/" and len(values) == 2:
        over, under = values
        if isinstance(over, Fraction) and isinstance(under, Fraction) and under:
            return over / under
    return None


def _value(text: str, sort: Sort) -> Value | None:
    if sort.name in ("Int", "Real"):
        return Fraction(text) if len(text) < 1000 else None
    if sort.name == "String":
        return string_value(text)
    if sort.name == "BitVec":
        if text[0] == "#":
            return int(text[2:], 16 if text[1] == "x" else 2)
        found = _BITS.match(text)
        return int(found[1]) if found and len(found[1]) < 1000 else None
    return None


def string_value(text: str) -> str:
    """The characters of a string literal as written, escapes resolved.

    >>> string_value('"a\\\\u{62}""c"')
    'ab"c'
    """

    def character(found: re.Match[str]) -> str:
        code = int(found[1] or found[2], 16)
        return chr(code) if code <= 0x2FFFF else found[0]

    return _ESCAPE.sub(character, text[1:-1].replace('""', '"'))


def number_literal(table: TermTable, value: Fraction, sort: Sort) -> Term:
    """The literal of a number of sort Int or Real; negative ones with ``-``, fractions with ``/``."""
    if value < 0:
        return table.make(table.op(Kind.OPERATOR, "-"), (number_literal(table, -value, sort),), sort)
    if value.denominator != 1:
        over, under = (table.literal(f"{number}.0", sort) for number in (value.numerator, value.denominator))
        return table.make(table.op(Kind.OPERATOR, "/"), (over, under), sort)
    return table.literal(f"{value.numerator}.0" if sort.name == "Real" else str(value.numerator), sort)


def bits_literal(table: TermTable, value: int, width: int) -> Term:
    """The literal of a bit-vector, ``value`` taken modulo."""
    return table.literal(f"(_ bv{value % (1 << width)} {width})", bit_vector(width))


def _implies(*values: Any) -> bool:
    return not all(values[:-1]) or bool(values[-1])


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "and": lambda *a: all(a),
    "or": lambda *a: any(a),
    "not": operator.not_,
    "=>": _implies,
    "=": operator.eq,
    "distinct": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "str.len": len,
    "str.<=": operator.le,
    "bvule": operator.le,
    "bvult": operator.lt,
}


def holds(condition: SExp, values: Mapping[str, Value]) -> Any:
    """The value of a side condition over the values of constants, in which all of its names are known."""
    if isinstance(condition, str):
        if condition[0].isdigit():
            return Fraction(condition)
        return string_value(condition) if condition[0] == '"' else values[condition]
    return _FUNCTIONS[condition[0]](*[holds(part, values) for part in condition[1:]])


__all__ = ["Value", "bits_literal", "holds", "literal_value", "number_literal", "string_value"]
