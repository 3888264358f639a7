"""Values: from SMT-LIB text in one of the ways that bitwuzla has, and what a value says of itself."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

from bitwuzla import RoundingMode

from apifuzz.engines.bitwuzla.session import Session
from apifuzz.interface import Misbehaviour, Rejected, Unsupported
from smtlib import ReadError, Sort, read_sexps
from smtlib.values import ROUNDING_MODES as LONG_NAMES
from smtlib.values import read_bits, read_float

ROUNDING_MODES: dict[str, Any] = {
    name: getattr(RoundingMode, short) for long, short in LONG_NAMES.items() for name in (short, long)
}

SPECIAL_FLOATS: dict[str, str] = {
    "+oo": "mk_fp_pos_inf",
    "-oo": "mk_fp_neg_inf",
    "+zero": "mk_fp_pos_zero",
    "-zero": "mk_fp_neg_zero",
    "NaN": "mk_fp_nan",
}
"""Special floating-point values, and the term manager's functions for them."""

_SHORT_EXPONENT = 11
"""Numerals that say a value exactly are made up to this width of the exponent: above, they fill pages."""


def make_value(session: Session, chance: Random, sort: Sort, text: str) -> Any:
    """The value that ``text`` writes. Raises Rejected for text that writes none of this sort."""
    manager = session.manager
    if text == "true" and sort.name == "Bool":
        return manager.mk_true()
    if text == "false" and sort.name == "Bool":
        return manager.mk_false()
    if sort.name == "RoundingMode" and text in ROUNDING_MODES:
        return manager.mk_rm_value(ROUNDING_MODES[text])
    if sort.name not in ("BitVec", "FloatingPoint"):
        raise Unsupported(f"value {text} of sort {sort}")
    try:
        (sexp,) = read_sexps(text)
        fields = [read_bits(sexp)] if sort.name == "BitVec" else read_float(sexp)
    except (ReadError, ValueError) as error:
        raise Rejected(f"{text} is no value of sort {sort}") from error
    if isinstance(fields, str):
        return getattr(manager, SPECIAL_FLOATS[fields])(session.sort(sort))
    numbers = [number for number, _ in fields]
    if [width for _, width in fields] != _widths(sort) or any(n >> width for n, width in fields):
        raise Rejected(f"{text} is no value of sort {sort}")
    if sort.name == "BitVec":
        return _bit_vector(session, chance, sort.indices[0], numbers[0])
    return _float(session, chance, sort, numbers)


def _widths(sort: Sort) -> list[int]:
    """Of the bit-vectors that a value is made of."""
    return [1, sort.indices[0], sort.indices[1] - 1] if sort.name == "FloatingPoint" else [sort.indices[0]]


def _bit_vector(session: Session, chance: Random, width: int, number: int) -> Any:
    manager = session.manager
    sort = manager.mk_bv_sort(width)
    ways: list[Callable[[], Any]] = [
        lambda: manager.mk_bv_value(sort, number),
        lambda: manager.mk_bv_value(sort, f"{number:b}", 2),
        lambda: manager.mk_bv_value(sort, f"{number:0{width}b}", 2),
        lambda: manager.mk_bv_value(sort, f"{number}", 10),
        lambda: manager.mk_bv_value(sort, f"{number:x}", 16),
        lambda: manager.mk_bv_value(sort, f"{number:X}", 16),
    ]
    if number >> (width - 1):
        ways.append(lambda: manager.mk_bv_value(sort, number - (1 << width)))
        ways.append(lambda: manager.mk_bv_value(sort, f"{number - (1 << width)}", 10))
    top = 1 << (width - 1)
    named = {0: "mk_bv_zero", 1: "mk_bv_one", 2 * top - 1: "mk_bv_ones", top: "mk_bv_min_signed"}
    # Of one bit, 0 is the largest and 1 the least; of two, 1 is the largest.
    if number in named:
        ways += [lambda: getattr(manager, named[number])(sort)] * len(ways)
    if number == top - 1:
        ways += [lambda: manager.mk_bv_max_signed(sort)] * len(ways)
    return chance.choice(ways)()


def _float(session: Session, chance: Random, sort: Sort, numbers: list[int]) -> Any:
    manager = session.manager
    handle = session.sort(sort)
    exponent, significand = sort.indices
    sign, biased, fraction = numbers
    parts = [_bit_vector(session, chance, w, n) for n, w in zip(numbers, _widths(sort), strict=True)]
    made = manager.mk_fp_value(*parts)
    number = exact_value(sign, biased, fraction, exponent, significand)
    if number and exponent <= _SHORT_EXPONENT and chance.random() < 0.3:
        # The value is its own nearest: every rounding mode leaves it as it is.
        mode = manager.mk_rm_value(chance.choice(list(ROUNDING_MODES.values())))
        again = manager.mk_fp_value(handle, mode, *_numerals(number, chance))
        if again != made:
            raise Misbehaviour("value", f"{number} in {sort} is {again}, but {numbers} is {made}")
        return again
    return made


def exact_value(sign: int, biased: int, fraction: int, exponent: int, significand: int) -> Fraction | None:
    """The number that the three fields write; None for infinities and NaN, 0 for both zeros."""
    bias = (1 << (exponent - 1)) - 1
    if biased == (1 << exponent) - 1:
        return None
    if biased:
        fraction |= 1 << (significand - 1)
    else:
        biased = 1
    power = biased - bias - (significand - 1)
    magnitude = Fraction(fraction << power) if power >= 0 else Fraction(fraction, 1 << -power)
    return -magnitude if sign else magnitude


def _numerals(number: Fraction, chance: Random) -> list[str]:
    """The number as one decimal, or as numerator and denominator."""
    if chance.random() < 0.5:
        return [str(number.numerator), str(number.denominator)]
    # The denominator is a power of two, so that a decimal of as many digits says it exactly.
    places = number.denominator.bit_length() - 1
    digits = str(abs(number.numerator) * 5**places).rjust(places + 1, "0")
    whole, rest = digits[: len(digits) - places], digits[len(digits) - places :]
    return [f"{'-' if number < 0 else ''}{whole}{'.' + rest if rest else ''}"]


def check_value(session: Session, sort: Sort, value: Any) -> None:
    """Compare what a value says of itself in its different ways; Misbehaviour where they differ."""
    if not value.is_value():
        raise Misbehaviour("value", f"{value} of sort {sort} is no value")
    if sort.name == "Bool":
        _require(value, "value", value.value(), value.is_true())
        _require(value, "is_false", value.is_false(), not value.is_true())
    elif sort.name == "BitVec":
        _check_bit_vector(session, sort.indices[0], value)
    elif sort.name == "RoundingMode":
        mode = value.value()
        for each in RoundingMode:
            said = getattr(value, f"is_rm_value_{each.name.lower()}")()
            _require(value, f"is_rm_value_{each.name.lower()}", said, each == mode)
        _require(value, "mk_rm_value", session.manager.mk_rm_value(mode), value)
    elif sort.name == "FloatingPoint":
        _check_float(session, sort, value)


def _check_bit_vector(session: Session, width: int, value: Any) -> None:
    number = int(value.value(2), 2)
    _require(value, "value(10)", int(value.value(10)), number)
    _require(value, "value(16)", int(value.value(16), 16), number)
    top = 1 << (width - 1)
    expected = {"zero": 0, "one": 1, "ones": 2 * top - 1, "min_signed": top, "max_signed": top - 1}
    for name, special in expected.items():
        _require(value, name, getattr(value, f"is_bv_value_{name}")(), number == special)
    _require(
        value, "mk_bv_value", session.manager.mk_bv_value(session.manager.mk_bv_sort(width), number), value
    )


def _check_float(session: Session, sort: Sort, value: Any) -> None:
    manager = session.manager
    exponent, significand = sort.indices
    widths = _widths(sort)
    fields = value.value(2, True)
    sign, biased, fraction = numbers = [int(f, 2) for f in fields]
    _require(value, "value", value.value(2, False), "".join(fields))
    full = (1 << exponent) - 1
    expected = {
        "nan": biased == full and fraction != 0,
        "pos_inf": biased == full and not fraction and not sign,
        "neg_inf": biased == full and not fraction and bool(sign),
        "pos_zero": not biased and not fraction and not sign,
        "neg_zero": not biased and not fraction and bool(sign),
    }
    for name, expectation in expected.items():
        _require(value, name, getattr(value, f"is_fp_value_{name}")(), expectation)
    parts = [manager.mk_bv_value(manager.mk_bv_sort(w), n) for w, n in zip(widths, numbers, strict=True)]
    _require(value, "mk_fp_value", manager.mk_fp_value(*parts), value)
    number = exact_value(sign, biased, fraction, exponent, significand)
    if number is not None and exponent <= _SHORT_EXPONENT:
        _require(value, "fp_value_to_real_str", Fraction(_as_fraction(value.fp_value_to_real_str())), number)


def _as_fraction(text: str) -> str:
    """``1/3``, ``-1.5`` or the SMT-LIB way to write it, as Python reads it."""
    bare = text.replace("(", " ").replace(")", " ").split()
    sign = "-" if "-" in bare else ""
    numbers = [word for word in bare if word not in ("-", "/")]
    return sign + "/".join(word.removesuffix(".0") for word in numbers)


def _require(value: Any, asked: str, said: Any, expected: Any) -> None:
    if said != expected:
        raise Misbehaviour("value", f"{value}: {asked} says {said}, expected {expected}")
