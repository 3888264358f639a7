"""Values of sorts as SMT-LIB text: random ones, and the special ones where solvers go wrong."""

from __future__ import annotations

import random
from collections.abc import Callable

from apifuzz.trace import TraceError, split_line
from smtlib import Kind, Sort, Term

MODES = ("RNE", "RNA", "RTP", "RTN", "RTZ")

_INTEGERS = (
    0,
    1,
    -1,
    2,
    -2,
    3,
    7,
    8,
    10,
    16,
    127,
    128,
    255,
    256,
    2**31 - 1,
    2**31,
    2**32,
    2**63,
    -(2**63),
    2**64,
)
_RATIONALS = (
    "0.0",
    "1.0",
    "0.5",
    "(/ 1 3)",
    "(/ 2 7)",
    "0.1",
    "10.0",
    "1000000.0",
    "0.000000001",
    "(/ 1 1000003)",
)
_CHARACTERS = (
    "a",
    "b",
    "A",
    "0",
    "9",
    "1",
    "-",
    " ",
    '""',
    "\\u{0}",
    "\\u{7f}",
    "\\u{ff}",
    "\\u{1f600}",
    "\\u{2ffff}",
)
_STRINGS = ("", "a", "0", "-1", "00", "9999999999", "ab" * 6, "\\u{5c}u{41}", "\\u{d800}", '""', "\\u{2ffff}")


def has_values(sort: Sort) -> bool:
    """Whether values of this sort can be written."""
    return sort.name in _RANDOM


def random_value(sort: Sort, chance: random.Random) -> str:
    """A value, mostly a small one."""
    return _RANDOM[sort.name](sort, chance)


def special_value(sort: Sort, chance: random.Random) -> str:
    """A value at the sort's boundaries: zero, one, all ones, NaN, infinities, the empty string ..."""
    return _SPECIAL[sort.name](sort, chance)


def _of(options: tuple[str, ...], chance: random.Random) -> str:
    return options[int(chance.random() * len(options))]


def _boolean(sort: Sort, chance: random.Random) -> str:
    return "true" if chance.random() < 0.5 else "false"


def integer_text(value: int) -> str:
    """An integer in SMT-LIB."""
    return str(value) if value >= 0 else f"(- {-value})"


def _integer(sort: Sort, chance: random.Random) -> str:
    return integer_text(int(chance.random() * 40) - 20)


def _special_integer(sort: Sort, chance: random.Random) -> str:
    return integer_text(_INTEGERS[int(chance.random() * len(_INTEGERS))])


def _real(sort: Sort, chance: random.Random) -> str:
    whole = int(chance.random() * 40)
    text = f"(/ {whole} {1 + int(chance.random() * 20)})" if chance.random() < 0.4 else f"{whole / 4}"
    return text if chance.random() < 0.7 else f"(- {text})"


def _special_real(sort: Sort, chance: random.Random) -> str:
    text = _of(_RATIONALS, chance)
    return text if chance.random() < 0.7 else f"(- {text})"


def bits_text(value: int, width: int) -> str:
    """A bit-vector in base 2; ``value`` is taken modulo two to the ``width``."""
    return f"#b{value % (1 << width):0{width}b}"


def _bits(sort: Sort, chance: random.Random) -> str:
    return bits_text(chance.getrandbits(sort.indices[0]), sort.indices[0])


def _special_bits(sort: Sort, chance: random.Random) -> str:
    width = sort.indices[0]
    top = 1 << (width - 1)
    return bits_text(
        (0, 1, -1, top, top - 1, 2, 1 << int(chance.random() * width))[int(chance.random() * 7)], width
    )


def _float_of(bits: int, sort: Sort) -> str:
    exponent, significand = sort.indices
    fraction = significand - 1
    parts = ((bits >> (exponent + fraction), 1), (bits >> fraction, exponent), (bits, fraction))
    return f"(fp {' '.join(bits_text(value, width) for value, width in parts)})"


def _float(sort: Sort, chance: random.Random) -> str:
    bits = chance.getrandbits(sum(sort.indices))
    exponent, significand = sort.indices
    ones = ((1 << exponent) - 1) << (significand - 1)
    # All ones in the exponent is an infinity or NaN, which has no other spelling than its name.
    return _special_float(sort, chance) if bits & ones == ones else _float_of(bits, sort)


def _special_float(sort: Sort, chance: random.Random) -> str:
    exponent, significand = sort.indices
    if chance.random() < 0.5:
        return f"(_ {_of(('+oo', '-oo', '+zero', '-zero', 'NaN'), chance)} {exponent} {significand})"
    fraction = significand - 1
    ones = (1 << exponent) - 1
    # One, the smallest and the largest subnormal, the smallest and the largest normal number.
    bits = (
        (ones >> 1) << fraction,
        1,
        (1 << fraction) - 1,
        1 << fraction,
        ((ones - 1) << fraction) | ((1 << fraction) - 1),
    )[int(chance.random() * 5)]
    return _float_of(bits | int(chance.random() * 2) << (exponent + fraction), sort)


def _mode(sort: Sort, chance: random.Random) -> str:
    return _of(MODES, chance)


def _string(sort: Sort, chance: random.Random) -> str:
    return f'"{"".join(_of(_CHARACTERS, chance) for _ in range(int(chance.random() * 5)))}"'


def _special_string(sort: Sort, chance: random.Random) -> str:
    return f'"{_of(_STRINGS, chance)}"'


def _field(sort: Sort, chance: random.Random) -> str:
    return f"(as ff{int(chance.random() * sort.indices[0])} {sort})"


def _special_field(sort: Sort, chance: random.Random) -> str:
    order = sort.indices[0]
    return f"(as ff{(0, 1, order - 1, order // 2)[int(chance.random() * 4)]} {sort})"


_Maker = Callable[[Sort, random.Random], str]

_RANDOM: dict[str, _Maker] = {
    "Bool": _boolean,
    "Int": _integer,
    "Real": _real,
    "BitVec": _bits,
    "FloatingPoint": _float,
    "RoundingMode": _mode,
    "String": _string,
    "FiniteField": _field,
}
_SPECIAL: dict[str, _Maker] = {
    "Bool": _boolean,
    "Int": _special_integer,
    "Real": _special_real,
    "BitVec": _special_bits,
    "FloatingPoint": _special_float,
    "RoundingMode": _mode,
    "String": _special_string,
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
        if text[:2] == "#x":
            return bits_text(int(text[2:], 16), sort.indices[0])
        return text if text[:2] == "#b" else bits_text(int(text.split()[1][2:]), sort.indices[0])
    if sort.name == "FiniteField":
        return f"(as ff{int(text[2:].partition('m')[0]) % sort.indices[0]} {sort})"
    return None if "\n" in text or "\r" in text else text


# Reading


def check_value(sort: Sort, text: str) -> None:
    """Raise :class:`apifuzz.trace.TraceError` unless ``text`` writes a value of ``sort``."""
    reader = _READ.get(sort.name)
    if reader is None or not reader(sort, text):
        raise TraceError(f"{text[:60]} is no value of sort {sort}")


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _parts(text: str) -> list[str]:
    return split_line(text[1:-1]) if text[0] == "(" else []


def _reads_integer(sort: Sort, text: str) -> bool:
    parts = _parts(text)
    return _digits(text) or (len(parts) == 2 and parts[0] == "-" and _digits(parts[1]))


def _reads_real(sort: Sort, text: str) -> bool:
    whole, _, rest = text.partition(".")
    if _digits(whole) and _digits(rest):
        return True
    parts = _parts(text)
    if len(parts) == 2 and parts[0] == "-":
        return parts[1][:2] != "(-" and _reads_real(sort, parts[1])
    return len(parts) == 3 and parts[0] == "/" and all(map(_digits, parts[1:])) and parts[2].strip("0") != ""


def _is_bits(text: str, width: int) -> bool:
    return text[:2] == "#b" and len(text) == width + 2 and not text[2:].strip("01")


def _reads_float(sort: Sort, text: str) -> bool:
    exponent, significand = sort.indices
    parts = _parts(text)
    if len(parts) == 4 and parts[0] == "fp":
        return all(map(_is_bits, parts[1:], (1, exponent, significand - 1)))
    return (
        len(parts) == 4
        and parts[0] == "_"
        and parts[1] in ("+oo", "-oo", "+zero", "-zero", "NaN")
        and parts[2:] == [str(exponent), str(significand)]
    )


def _reads_field(sort: Sort, text: str) -> bool:
    parts = _parts(text)
    return (
        len(parts) == 3
        and parts[0] == "as"
        and parts[1][:2] == "ff"
        and _digits(parts[1][2:])
        and parts[2].split() == str(sort).split()
    )


_READ: dict[str, Callable[[Sort, str], bool]] = {
    "Bool": lambda sort, text: text in ("true", "false"),
    "Int": _reads_integer,
    "Real": _reads_real,
    "BitVec": lambda sort, text: _is_bits(text, sort.indices[0]),
    "FloatingPoint": _reads_float,
    "RoundingMode": lambda sort, text: text in MODES,
    "String": lambda sort, text: text[0] == '"',
    "FiniteField": _reads_field,
}
