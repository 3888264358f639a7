"""Literals: new ones near those that a formula has, and boundary values of each sort."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from generator.refusals import is_value
from smtlib import BOOL, INT, REAL, STRING, Kind, Sort, Term, TermTable
from smtlib.sorts import REGLAN, subsorts
from smtlib.values import (
    MODES,
    SPECIAL_FLOATS,
    bits_term,
    boundary_bits,
    boundary_floats,
    float_term,
    literal_value,
    number_term,
    written_characters,
)

_INTEGERS = (0, 1, -1, 2, -2, 3, 5, 7, 8, 10, 16, 100, 127, 128, 255, 256, 1000, 65535, 65536)
_FAR_INTEGERS = (2**31 - 1, 2**31, -(2**31), 2**32, 2**63 - 1, 2**63, -(2**63), 2**64, 10**20)
_REALS = ("0.0", "1.0", "2.0", "0.5", "0.1", "10.0", "3.0", "0.001", "1000000.0", "0.000000001")
_STRINGS = ("", "a", "b", "ab", "0", "1", "-1", "00", "9", "A", "z", " ", "aa")
_FAR_STRINGS = (r"\u{0}", r"\u{ff}", r"\u{2ffff}", "99999999999999999999", "ab" * 20)
_LETTERS = ("a", "b", "0", "1", "z", "A", "-", " ", "\\u{7f}", "\\u{1f600}")
_MAX_DIGITS = 60
_MAX_WIDTH = 4096
_NEAR_SHARE = 0.6
_FAR_SHARE = 0.15
_DEPTH = 4

_T = TypeVar("_T")


def new_literal(
    table: TermTable, sort: Sort, near: Sequence[Term], chance: random.Random, depth: int = 0
) -> Term | None:
    """A literal, or a value made of literals, of this sort; None where the sort has none.

    ``near`` are terms of the sort; where one of them drawn is a literal, the new one is often close to it.
    """
    make = _MAKERS.get(sort.name)
    if make is None or depth > _DEPTH:
        return None
    known = one_of(near, chance) if near else None
    return make(table, sort, known, chance, depth)


def has_literals(sort: Sort, has_constant_arrays: bool) -> bool:
    """Whether a sort has literals; those of arrays are constant arrays, which not all solvers take."""
    return sort.name in _MAKERS and (
        has_constant_arrays or all(part.name != "Array" for part in subsorts(sort))
    )


def is_literal(term: Term) -> bool:
    """Whether a term is a value or a theory's constant: ``true``, ``RNE``, ``re.all``."""
    return is_value(term) or (term.op.kind is Kind.OPERATOR and not term.args)


def one_of(options: Sequence[_T], chance: random.Random) -> _T:
    """One of ``options``, all equally likely."""
    return options[int(chance.random() * len(options))]


def _boolean(table: TermTable, sort: Sort, near: Term | None, chance: random.Random, depth: int) -> Term:
    return table.operator("true" if chance.random() < 0.5 else "false", (), BOOL)


def _number_of(term: Term | None) -> str | None:
    """The digits of a number literal of bearable length, with its sign."""
    sign = ""
    if term is not None and term.op.name == "-" and len(term.args) == 1:
        sign, term = "-", term.args[0]
    if term is None or term.op.kind is not Kind.LITERAL or len(term.op.text) > _MAX_DIGITS:
        return None
    return sign + term.op.text


def _integer(table: TermTable, sort: Sort, near: Term | None, chance: random.Random, depth: int) -> Term:
    known = _number_of(near)
    if known is not None and chance.random() < _NEAR_SHARE:
        v = int(known)
        value = one_of((v + 1, v - 1, -v, 2 * v, v // 2, v * v, v + 2, v - 2), chance)
    elif chance.random() < _FAR_SHARE:
        value = one_of(_FAR_INTEGERS, chance)
    else:
        value = one_of(_INTEGERS, chance)
    return number_term(table, Fraction(value), INT)


def _real(table: TermTable, sort: Sort, near: Term | None, chance: random.Random, depth: int) -> Term:
    known = _number_of(near)
    if known is not None and chance.random() < _NEAR_SHARE:
        literal = _near_real(known, chance)
    else:
        literal = one_of(_REALS, chance)
        if chance.random() < 0.3:
            literal = "-" + literal
    positive = table.literal(literal.lstrip("-"), REAL)
    if chance.random() < 0.1:
        positive = table.operator("/", (positive, table.literal("3.0", REAL)), REAL)
    return positive if literal[0] != "-" else table.operator("-", (positive,), REAL)


def _near_real(text: str, chance: random.Random) -> str:
    whole, _, part = text.partition(".")
    options = (
        f"{whole}.{part.rstrip('0')}5",
        f"{int(whole) + 1}.{part or '0'}",
        f"{int(whole) - 1}.{part or '0'}",
        f"{whole}.{'0' * 6}1",
        text[1:] if text[0] == "-" else "-" + text,
    )
    return one_of(options, chance)


def _bits(width: int, known: int | None, chance: random.Random) -> int:
    if known is not None and chance.random() < _NEAR_SHARE:
        choice = int(chance.random() * 6)
        flip = known ^ (1 << int(chance.random() * width))
        return (known + 1, known - 1, ~known, -known, known << 1, flip)[choice]
    choice = int(chance.random() * 8)
    some = (*boundary_bits(width), (1 << (width - 1)) + 1, 1 << int(chance.random() * width))
    return some[choice]


def _bit_vector(
    table: TermTable, sort: Sort, near: Term | None, chance: random.Random, depth: int
) -> Term | None:
    width = sort.indices[0]
    if width > _MAX_WIDTH:
        return None
    return bits_term(table, _bits(width, _known_bits(near), chance), width)


def _known_bits(term: Term | None) -> int | None:
    value = literal_value(term) if term is not None else None
    return value if isinstance(value, int) else None


def _float(table: TermTable, sort: Sort, near: Term | None, chance: random.Random, depth: int) -> Term | None:
    exponent, significand = sort.indices
    if exponent + significand > _MAX_WIDTH:
        return None
    if chance.random() < 0.35:
        name = one_of(SPECIAL_FLOATS, chance)
        return table.operator(name, (), sort, (exponent, significand))
    if near is not None and near.op.name == "fp" and all(a.op.kind is Kind.LITERAL for a in near.args):
        value = 0
        for part in near.args:
            value = value << part.sort.indices[0] | (_known_bits(part) or 0)
        if chance.random() < 0.5:
            value += 1 if chance.random() < 0.5 else -1
        else:
            value ^= 1 << int(chance.random() * (exponent + significand))
    else:
        value = one_of(boundary_floats(sort), chance)
        value |= int(chance.random() * 2) << (exponent + significand - 1)
    return float_term(table, value, sort)


def _mode(table: TermTable, sort: Sort, near: Term | None, chance: random.Random, depth: int) -> Term:
    return table.operator(one_of(MODES, chance), (), sort)


def _string(table: TermTable, sort: Sort, near: Term | None, chance: random.Random, depth: int) -> Term:
    if near is not None and near.op.kind is Kind.LITERAL and chance.random() < _NEAR_SHARE:
        text = _near_string(near.op.text, chance)
    else:
        text = one_of(_FAR_STRINGS if chance.random() < _FAR_SHARE else _STRINGS, chance)
    return table.literal(f'"{text}"', STRING)


def _near_string(literal: str, chance: random.Random) -> str:
    characters = written_characters(literal)
    place = int(chance.random() * (len(characters) + 1))
    choice = int(chance.random() * 5)
    if choice == 0:
        characters.insert(place, one_of(_LETTERS, chance))
    elif choice == 1:
        del characters[place : place + 1]
    elif choice == 2:
        characters[place : place + 1] = [one_of(_LETTERS, chance)]
    elif choice == 3 and len(characters) < _MAX_DIGITS:
        characters += characters
    else:
        characters.reverse()
    joined = "".join(characters)
    # What was apart may read as an escape once it is joined: then the plain text is safer.
    return joined if written_characters(f'"{joined}"') == characters else one_of(_STRINGS, chance)


def _regex(table: TermTable, sort: Sort, near: Term | None, chance: random.Random, depth: int) -> Term:
    choice = int(chance.random() * 5)
    if choice < 3:
        return table.operator(("re.none", "re.all", "re.allchar")[choice], (), REGLAN)
    if choice == 3:
        last = '"z"' if chance.random() < 0.5 else '"b"'
        ends = (table.literal('"a"', STRING), table.literal(last, STRING))
        return table.operator("re.range", ends, REGLAN)
    return table.operator("str.to_re", (_string(table, STRING, None, chance, depth),), REGLAN)


def _sequence(
    table: TermTable, sort: Sort, near: Term | None, chance: random.Random, depth: int
) -> Term | None:
    element = new_literal(table, sort.args[0], (), chance, depth + 1) if chance.random() < 0.5 else None
    if element is None:
        return table.operator("seq.empty", (), sort, qualifier=sort)
    return table.operator("seq.unit", (element,), sort)


def _array(table: TermTable, sort: Sort, near: Term | None, chance: random.Random, depth: int) -> Term | None:
    value = new_literal(table, sort.args[1], (), chance, depth + 1)
    return None if value is None else table.operator("const", (value,), sort, qualifier=sort)


def _field(table: TermTable, sort: Sort, near: Term | None, chance: random.Random, depth: int) -> Term | None:
    order = sort.indices[0]
    value = one_of((0, 1, order - 1, 2, order // 2), chance) % order
    return table.literal(f"#f{value}m{order}", sort)


_MAKERS: dict[str, Callable[[TermTable, Sort, Term | None, random.Random, int], Term | None]] = {
    "Bool": _boolean,
    "Int": _integer,
    "Real": _real,
    "BitVec": _bit_vector,
    "FloatingPoint": _float,
    "RoundingMode": _mode,
    "String": _string,
    "RegLan": _regex,
    "Seq": _sequence,
    "Array": _array,
    "FiniteField": _field,
}
