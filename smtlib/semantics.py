"""What operators mean: functions on Python values, for ground terms.

Values: ``bool``, ``int`` (Int), ``Fraction`` (Real), :class:`Bits`, ``str`` (String), ``tuple`` (Seq),
``frozenset`` (Set), :class:`ArrayValue` and :class:`smtlib.regexes.Regex`. An indexed operator takes its
indices first. What the standard leaves open has one of its possible meanings here: a division by zero is
zero, and an element out of bounds is the first one.

The functions check the sorts that are cheap to check and raise :class:`IllTyped`; for other arguments of
wrong sorts Python may raise TypeError or AttributeError.

Sources: SMT-LIB 2.7's theories; for sequences, sets and the other operators of one solver, its manual.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from smtlib import regexes
from smtlib.regexes import Regex

Value: TypeAlias = Any
Meaning: TypeAlias = Callable[..., Value]


WIDEST = 1 << 12
"""Bit-vectors with more bits have no value here."""
# Numbers with more digits are not turned into strings, nor strings into them.
_MOST_DIGITS = 4000


class IllTyped(Exception):
    """Arguments that the operator is not defined for: the term is not well sorted, or has no value here."""


class Bits(NamedTuple):
    """A bit-vector: an unsigned number and its width in bits."""

    value: int
    width: int

    @property
    def signed(self) -> int:
        """The number in two's complement."""
        return self.value - (self.value >> (self.width - 1) << self.width)


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """An array with an infinite index sort: ``default`` everywhere but at ``items``."""

    default: Value
    items: frozenset[tuple[Value, Value]] = frozenset()

    def select(self, index: Value) -> Value:
        """The element at ``index``."""
        return next((element for at, element in self.items if at == index), self.default)

    def store(self, index: Value, element: Value) -> ArrayValue:
        """The array with another element at ``index``."""
        kept = {item for item in self.items if item[0] != index}
        return ArrayValue(
            self.default, frozenset(kept if element == self.default else kept | {(index, element)})
        )


def bits(value: int, width: int) -> Bits:
    """``value`` modulo two to the ``width``."""
    require(0 < width <= WIDEST)
    return Bits(value % (1 << width), width)


def require(holds: bool) -> None:
    """IllTyped unless it holds."""
    if not holds:
        raise IllTyped


def same_sort(first: Value, second: Value) -> None:
    """IllTyped unless two values can be of one sort."""
    require(type(first) is type(second) and (type(first) is not Bits or first.width == second.width))


# Core


def _equal(*values: Value) -> bool:
    for value in values[1:]:
        same_sort(values[0], value)
        if isinstance(value, Regex):
            try:
                if regexes.difference(values[0], value) is not None:
                    return False
            except regexes.Undecided:
                raise IllTyped from None
        elif value != values[0]:
            return False
    return True


def _ite(condition: Value, first: Value, second: Value) -> Value:
    require(type(condition) is bool)
    same_sort(first, second)
    return first if condition else second


def _chain(relation: Callable[[Value, Value], bool]) -> Meaning:
    return lambda *values: all(relation(a, b) for a, b in pairwise(values))


def _of(sort: type, meaning: Meaning) -> Meaning:
    """``meaning``, for arguments of one Python type."""

    def checked(*values: Value) -> Value:
        for value in values:
            if type(value) is not sort:
                raise IllTyped
        return meaning(*values)

    return checked


def _folded(meaning: Callable[[Value, Value], Value]) -> Meaning:
    return lambda *values: reduce(meaning, values)


_CORE: dict[str, Meaning] = {
    "not": _of(bool, operator.not_),
    "and": _of(bool, lambda *values: all(values)),
    "or": _of(bool, lambda *values: any(values)),
    "xor": _of(bool, _folded(operator.ne)),
    "=>": _of(bool, lambda *values: values[-1] or not all(values[:-1])),
    "=": _equal,
    "distinct": lambda *values: not any(_equal(a, b) for i, a in enumerate(values) for b in values[:i]),
    "ite": _ite,
}


# Numbers


def _number(meaning: Meaning) -> Meaning:
    """``meaning``, for integers or for fractions."""

    def checked(*values: Value) -> Value:
        kind = type(values[0])
        require(kind in (int, Fraction) and all(type(value) is kind for value in values))
        return meaning(*values)

    return checked


def _divided(over: int, under: int) -> int:
    return 0 if under == 0 else over // under if under > 0 else -(over // -under)


def _modulo(over: int, under: int) -> int:
    return over if under == 0 else over % abs(under)


def _quotient(over: Value, under: Value) -> Fraction:
    return Fraction(over) / Fraction(under) if under else Fraction(0)


def _power_of_two(exponent: int) -> int:
    require(exponent < 10_000)
    return 1 << exponent if exponent >= 0 else 0


_NUMBERS: dict[str, Meaning] = {
    "+": _number(_folded(operator.add)),
    "*": _number(_folded(operator.mul)),
    "-": _number(lambda *values: -values[0] if len(values) == 1 else reduce(operator.sub, values)),
    "<": _number(_chain(operator.lt)),
    "<=": _number(_chain(operator.le)),
    ">": _number(_chain(operator.gt)),
    ">=": _number(_chain(operator.ge)),
    "abs": _number(abs),
    "div": _of(int, _folded(_divided)),
    "mod": _of(int, _modulo),
    "/": _number(_folded(_quotient)),
    "to_real": _number(lambda value: Fraction(value)),
    "to_int": lambda value: value.__floor__(),
    "is_int": lambda value: value == value.__floor__(),
    "divisible": _of(int, lambda by, value: value % by == 0 if by else value == 0),
    "int.pow2": _of(int, _power_of_two),
    "int.log2": _of(int, lambda value: value.bit_length() - 1 if value > 0 else 0),
    "int.ispow2": _of(int, lambda value: value > 0 and value & (value - 1) == 0),
}


# Bit-vectors


def _bitwise(meaning: Callable[[Bits, Bits], int]) -> Meaning:
    """An operation on two or more bit-vectors of one width that has a result of that width."""

    def apply(first: Bits, second: Bits) -> Bits:
        require(type(first) is Bits and type(second) is Bits and first.width == second.width)
        return bits(meaning(first, second), first.width)

    return _folded(apply)


def _compared(meaning: Callable[[Bits, Bits], Value]) -> Meaning:
    def apply(first: Bits, second: Bits) -> Value:
        require(type(first) is Bits and type(second) is Bits and first.width == second.width)
        return meaning(first, second)

    return apply


def _overflows(meaning: Callable[[int, int], int], *, signed: bool) -> Meaning:
    def apply(first: Bits, second: Bits) -> bool:
        if not signed:
            return not 0 <= meaning(first.value, second.value) < 1 << first.width
        half = 1 << (first.width - 1)
        return not -half <= meaning(first.signed, second.signed) < half

    return _compared(apply)


def _concat(first: Bits, second: Bits) -> Bits:
    require(type(first) is Bits and type(second) is Bits and first.width + second.width <= WIDEST)
    return Bits(first.value << second.width | second.value, first.width + second.width)


def _extract(high: int, low: int, value: Bits) -> Bits:
    require(type(value) is Bits and 0 <= low <= high < value.width)
    return bits(value.value >> low, high - low + 1)


def _extended(*, signed: bool) -> Meaning:
    def apply(by: int, value: Bits) -> Bits:
        require(type(value) is Bits and 0 <= by < WIDEST)
        return bits(value.signed if signed else value.value, value.width + by)

    return apply


def _repeat(times: int, value: Bits) -> Bits:
    require(type(value) is Bits and 1 <= times < 1000)
    return reduce(_concat, [value] * times)


def _rotate(sign: int) -> Meaning:
    def apply(by: int, value: Bits) -> Bits:
        require(type(value) is Bits and by >= 0)
        left = sign * by % value.width
        return bits(value.value << left | value.value >> (value.width - left), value.width)

    return apply


def _signed_quotient(a: Bits, b: Bits) -> int:
    if b.value == 0:
        return 1 if a.signed < 0 else -1
    quotient = abs(a.signed) // abs(b.signed)
    return quotient if (a.signed < 0) == (b.signed < 0) else -quotient


def _signed_remainder(a: Bits, b: Bits) -> int:
    if b.value == 0:
        return a.value
    remainder = abs(a.signed) % abs(b.signed)
    return -remainder if a.signed < 0 else remainder


_BITS: dict[str, Meaning] = {
    "bvand": _bitwise(lambda a, b: a.value & b.value),
    "bvor": _bitwise(lambda a, b: a.value | b.value),
    "bvxor": _bitwise(lambda a, b: a.value ^ b.value),
    "bvnand": _bitwise(lambda a, b: ~(a.value & b.value)),
    "bvnor": _bitwise(lambda a, b: ~(a.value | b.value)),
    "bvxnor": _bitwise(lambda a, b: ~(a.value ^ b.value)),
    "bvadd": _bitwise(lambda a, b: a.value + b.value),
    "bvsub": _bitwise(lambda a, b: a.value - b.value),
    "bvmul": _bitwise(lambda a, b: a.value * b.value),
    "bvudiv": _bitwise(lambda a, b: a.value // b.value if b.value else -1),
    "bvurem": _bitwise(lambda a, b: a.value % b.value if b.value else a.value),
    "bvsdiv": _bitwise(_signed_quotient),
    "bvsrem": _bitwise(_signed_remainder),
    "bvsmod": _bitwise(lambda a, b: a.signed % b.signed if b.value else a.value),
    "bvshl": _bitwise(lambda a, b: a.value << b.value if b.value < a.width else 0),
    "bvlshr": _bitwise(lambda a, b: a.value >> b.value),
    "bvashr": _bitwise(lambda a, b: a.signed >> min(b.value, a.width)),
    "bvnot": _of(Bits, lambda a: bits(~a.value, a.width)),
    "bvneg": _of(Bits, lambda a: bits(-a.value, a.width)),
    "bvult": _compared(lambda a, b: a.value < b.value),
    "bvule": _compared(lambda a, b: a.value <= b.value),
    "bvugt": _compared(lambda a, b: a.value > b.value),
    "bvuge": _compared(lambda a, b: a.value >= b.value),
    "bvslt": _compared(lambda a, b: a.signed < b.signed),
    "bvsle": _compared(lambda a, b: a.signed <= b.signed),
    "bvsgt": _compared(lambda a, b: a.signed > b.signed),
    "bvsge": _compared(lambda a, b: a.signed >= b.signed),
    "bvcomp": _compared(lambda a, b: Bits(int(a == b), 1)),
    "bvuaddo": _overflows(operator.add, signed=False),
    "bvsaddo": _overflows(operator.add, signed=True),
    "bvusubo": _overflows(operator.sub, signed=False),
    "bvssubo": _overflows(operator.sub, signed=True),
    "bvumulo": _overflows(operator.mul, signed=False),
    "bvsmulo": _overflows(operator.mul, signed=True),
    "bvsdivo": _compared(lambda a, b: a.signed == -(1 << (a.width - 1)) and b.signed == -1),
    "bvnego": _of(Bits, lambda a: a.value == 1 << (a.width - 1)),
    "bvredor": _of(Bits, lambda a: Bits(int(a.value != 0), 1)),
    "bvredand": _of(Bits, lambda a: Bits(int(a.value == (1 << a.width) - 1), 1)),
    "concat": _folded(_concat),
    "extract": _extract,
    "zero_extend": _extended(signed=False),
    "sign_extend": _extended(signed=True),
    "repeat": _repeat,
    "rotate_left": _rotate(1),
    "rotate_right": _rotate(-1),
    "int_to_bv": lambda width, value: bits(value, width),
    "ubv_to_int": _of(Bits, lambda a: a.value),
    "sbv_to_int": _of(Bits, lambda a: a.signed),
}


# Strings and sequences: ``str`` and ``tuple`` share most of their meaning.


def _words(meaning: Meaning) -> Meaning:
    """``meaning``, if its first argument, and the others that are words, are all strings or all sequences."""

    def checked(*values: Value) -> Value:
        kind = type(values[0])
        require(kind is str or kind is tuple)
        require(all(type(value) is kind or type(value) is int for value in values))
        return meaning(*values)

    return checked


def _find(word: Value, part: Value, start: int) -> int:
    if type(word) is str:
        return word.find(part, start) if start >= 0 else -1
    found = (at for at in range(start, len(word) - len(part) + 1) if word[at : at + len(part)] == part)
    return next(found, -1) if start >= 0 else -1


def _slice(word: Value, start: int, length: int) -> Value:
    return word[start : start + length] if start >= 0 and length > 0 else word[:0]


def _replace(word: Value, part: Value, by: Value) -> Value:
    at = _find(word, part, 0)
    return word if at < 0 else word[:at] + by + word[at + len(part) :]


def _replace_all(word: Value, part: Value, by: Value) -> Value:
    if not part:
        return word
    done, at = word[:0], 0
    while (found := _find(word, part, at)) >= 0:
        done, at = done + word[at:found] + by, found + len(part)
    return done + word[at:]


def _update(word: Value, start: int, by: Value) -> Value:
    if not 0 <= start < len(word):
        return word
    by = by[: len(word) - start]
    return word[:start] + by + word[start + len(by) :]


def _element(word: Value, at: int) -> Value:
    if not 0 <= at < len(word):
        return next(iter(word), 0)  # open: any element of the sort
    return word[at]


_WORDS: dict[str, Meaning] = {
    "++": _words(_folded(operator.add)),
    "len": _words(len),
    "extract": _words(_slice),
    "at": _words(lambda word, at: _slice(word, at, 1)),
    "contains": _words(lambda word, part: _find(word, part, 0) >= 0),
    "indexof": _words(_find),
    "replace": _words(_replace),
    "replace_all": _words(_replace_all),
    "prefixof": _words(lambda part, word: word[: len(part)] == part),
    "suffixof": _words(lambda part, word: len(part) <= len(word) and word[len(word) - len(part) :] == part),
    "update": _words(_update),
    "rev": _words(lambda word: word[::-1]),
}


def _shortest_match(text: str, regex: Regex, start: int, least: int = 0) -> tuple[int, int] | None:
    """Where the leftmost shortest match of at least ``least`` characters begins and ends."""
    for begin in range(start, len(text) + 1):
        rest = regex
        for end in range(begin, len(text) + 1):
            if end - begin >= least and regexes.matches_empty(rest):
                return begin, end
            if end < len(text):
                rest = regexes.derive(rest, text[end])
    return None


def _replace_match(text: str, regex: Regex, by: str) -> str:
    found = _shortest_match(text, regex, 0)
    return text if found is None else text[: found[0]] + by + text[found[1] :]


def _replace_matches(text: str, regex: Regex, by: str) -> str:
    done, at = "", 0
    while (found := _shortest_match(text, regex, at, least=1)) is not None:
        done, at = done + text[at : found[0]] + by, found[1]
    return done + text[at:]


def _find_match(text: str, regex: Regex, start: int) -> int:
    found = _shortest_match(text, regex, start) if 0 <= start <= len(text) else None
    return -1 if found is None else found[0]


def _mapped(first: str, last: str, by: int) -> Meaning:
    return _of(str, lambda text: "".join(chr(ord(c) + by) if first <= c <= last else c for c in text))


def _is_digits(text: str) -> bool:
    return bool(text) and all("0" <= character <= "9" for character in text)


def _to_int(text: str) -> int:
    if not _is_digits(text):
        return -1
    require(len(text) <= _MOST_DIGITS)
    return int(text)


def _from_int(value: int) -> str:
    require(value < 10**_MOST_DIGITS)
    return str(value) if value >= 0 else ""


def _looped(*values: Value) -> Regex:
    least, most, part = values if len(values) == 3 else (values[0], values[0], values[1])
    require(type(part) is Regex and least >= 0 and 0 <= most < 100)
    return regexes.loop(least, most, part)


_STRINGS: dict[str, Meaning] = {
    "str.<": _of(str, _chain(operator.lt)),
    "str.<=": _of(str, _chain(operator.le)),
    "str.to_int": _of(str, _to_int),
    "str.from_int": _of(int, _from_int),
    "str.to_code": _of(str, lambda text: ord(text) if len(text) == 1 else -1),
    "str.from_code": _of(int, lambda code: chr(code) if 0 <= code <= regexes.LAST_CHARACTER else ""),
    "str.is_digit": _of(str, lambda text: len(text) == 1 and _is_digits(text)),
    "str.to_lower": _mapped("A", "Z", 32),
    "str.to_upper": _mapped("a", "z", -32),
    "str.in_re": regexes.matches,
    "str.to_re": _of(str, regexes.literal),
    "str.replace_re": _replace_match,
    "str.replace_re_all": _replace_matches,
    "str.indexof_re": _find_match,
    "re.none": lambda: regexes.NONE,
    "re.all": lambda: regexes.ALL,
    "re.allchar": lambda: regexes.ALL_CHARACTERS,
    "re.++": _of(Regex, regexes.concat),
    "re.union": _of(Regex, regexes.union),
    "re.inter": _of(Regex, regexes.inter),
    "re.*": _of(Regex, regexes.star),
    "re.+": _of(Regex, lambda part: regexes.concat(part, regexes.star(part))),
    "re.opt": _of(Regex, lambda part: regexes.union(regexes.EMPTY, part)),
    "re.comp": _of(Regex, regexes.complement),
    "re.diff": _of(Regex, lambda first, *others: regexes.inter(first, *map(regexes.complement, others))),
    "re.range": _of(str, regexes.span),
    "re.loop": _looped,
    "re.^": _looped,
    "seq.unit": lambda element: (element,),
    "seq.nth": _element,
}


# Arrays and sets


_COLLECTIONS: dict[str, Meaning] = {
    "select": lambda array, index: array.select(index),
    "store": lambda array, index, element: array.store(index, element),
    "set.singleton": lambda element: frozenset((element,)),
    "set.insert": lambda *values: values[-1] | frozenset(values[:-1]),
    "set.union": _of(frozenset, operator.or_),
    "set.inter": _of(frozenset, operator.and_),
    "set.minus": _of(frozenset, operator.sub),
    "set.subset": _of(frozenset, operator.le),
    "set.member": lambda element, members: element in members,
    "set.card": _of(frozenset, len),
    "set.is_empty": _of(frozenset, operator.not_),
    "set.is_singleton": _of(frozenset, lambda members: len(members) == 1),
    # Open unless there is one member: any function of the set.
    "set.choose": _of(frozenset, lambda members: min(members, key=repr) if members else 0),
}

MEANINGS: Mapping[str, Meaning] = {
    **_CORE,
    **_NUMBERS,
    **_BITS,
    **{f"{prefix}.{name}": meaning for prefix in ("str", "seq") for name, meaning in _WORDS.items()},
    "str.substr": _WORDS["extract"],
    **_STRINGS,
    **_COLLECTIONS,
}
"""The meaning of each operator by its name."""

NEUTRAL: Mapping[str, Value] = {
    "and": True,
    "or": False,
    "+": 0,
    "*": 1,
    "re.++": regexes.EMPTY,
    "re.union": regexes.NONE,
    "re.inter": regexes.ALL,
}
"""What an associative operator gives for no arguments."""
