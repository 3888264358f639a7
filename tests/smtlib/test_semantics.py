"""The meaning of operators: known values, and what z3 computes for the same ground terms."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
import z3

from generator.rewriting.script import value_text
from smtlib import regexes
from smtlib.semantics import MEANINGS, ArrayValue, Bits, IllTyped, Value

# Operator, arguments, value.
KNOWN: list[tuple[str, tuple[Value, ...], Value]] = [
    ("div", (-7, 2), -4),
    ("div", (-7, -2), 4),
    ("mod", (-7, -2), 1),
    ("mod", (-7, 0), -7),
    ("/", (Fraction(1), Fraction(0)), Fraction(0)),
    ("to_int", (Fraction(-3, 2),), -2),
    ("bvsdiv", (Bits(8, 4), Bits(15, 4)), Bits(8, 4)),
    ("bvsrem", (Bits(9, 4), Bits(2, 4)), Bits(15, 4)),
    ("bvsmod", (Bits(9, 4), Bits(2, 4)), Bits(1, 4)),
    ("bvudiv", (Bits(3, 4), Bits(0, 4)), Bits(15, 4)),
    ("bvashr", (Bits(8, 4), Bits(9, 4)), Bits(15, 4)),
    ("rotate_left", (5, Bits(1, 4)), Bits(2, 4)),
    ("sign_extend", (2, Bits(2, 2)), Bits(14, 4)),
    ("str.replace", ("abc", "", "x"), "xabc"),
    ("str.replace_all", ("aaa", "aa", "b"), "ba"),
    ("str.indexof", ("abc", "", 3), 3),
    ("str.indexof", ("abc", "", 4), -1),
    ("seq.indexof", ((1, 2), (), -1), -1),
    ("str.substr", ("abc", 1, 9), "bc"),
    ("str.update", ("abc", 2, "xy"), "abx"),
    ("str.to_int", ("",), -1),
    ("str.to_code", ("ab",), -1),
    ("str.replace_re", ("aab", regexes.star(regexes.literal("a")), "x"), "xaab"),
    ("str.replace_re_all", ("aab", regexes.star(regexes.literal("a")), "x"), "xxb"),
    ("str.indexof_re", ("xab", regexes.literal("ab"), 0), 1),
    ("set.minus", (frozenset({1, 2}), frozenset({2})), frozenset({1})),
    ("select", (ArrayValue(0).store(3, 1), 3), 1),
]


@pytest.mark.parametrize(("name", "arguments", "value"), KNOWN)
def test_known_values(name: str, arguments: tuple[Value, ...], value: Value) -> None:
    assert MEANINGS[name](*arguments) == value


def test_arrays_that_are_equal_are_stored_alike() -> None:
    array = ArrayValue(0)
    assert array.store(1, 5).store(1, 0) == array
    assert array.store(1, 5).store(2, 6) == array.store(2, 6).store(1, 5)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bvadd", (Bits(0, 2), Bits(0, 3))),
        ("extract", (3, 0, Bits(0, 3))),
        ("repeat", (0, Bits(0, 3))),
        ("=", (1, Fraction(1))),
        ("=", (Bits(0, 2), Bits(0, 3))),
        ("+", (True, 1)),
        ("str.++", ("a", ())),
        ("ite", (1, 2, 3)),
        ("int_to_bv", (0, 3)),
        ("concat", (Bits(0, 4096), Bits(0, 1))),
        ("str.to_int", ("9" * 5000,)),
        ("str.from_int", (10**5000,)),
    ],
)
def test_terms_that_are_not_well_sorted_or_too_large(name: str, arguments: tuple[Value, ...]) -> None:
    with pytest.raises(IllTyped):
        MEANINGS[name](*arguments)


def _integer(chance: Random) -> int:
    return chance.randint(-6, 6)


def _bits(chance: Random) -> Bits:
    return Bits(chance.getrandbits(4), 4)


def _text(chance: Random) -> str:
    return "".join(chance.choice("ab1") for _ in range(chance.randint(0, 4)))


def _sequence(chance: Random) -> tuple[int, ...]:
    return tuple(chance.randint(0, 1) for _ in range(chance.randint(0, 4)))


DRAW = {
    "i": (_integer, "Int"),
    "r": (lambda chance: Fraction(_integer(chance), 2), "Real"),
    "v": (_bits, "(_ BitVec 4)"),
    "s": (_text, "String"),
    "q": (_sequence, "(Seq Int)"),
    "b": (lambda chance: chance.random() < 0.5, "Bool"),
}
# Operators by the sorts of their arguments. Division by zero is left out: it is open.
RANKS = {
    "ii": "+ - * < <= > >=",
    "rr": "+ - * < <=",
    "i": "- abs str.from_int str.from_code",
    "r": "to_int is_int -",
    "bb": "and or xor => =",
    "vv": "bvand bvor bvxor bvnand bvnor bvxnor bvadd bvsub bvmul bvudiv bvurem bvsdiv bvsrem bvsmod bvshl"
    " bvlshr bvashr bvult bvule bvugt bvuge bvslt bvsle bvsgt bvsge bvcomp concat bvuaddo bvsaddo bvumulo"
    " bvsmulo bvusubo bvssubo bvsdivo",
    "v": "bvnot bvneg bvredor bvredand bvnego ubv_to_int sbv_to_int",
    "ss": "str.++ str.contains str.prefixof str.suffixof str.< str.<=",
    "s": "str.len str.to_int str.to_code str.is_digit",
    "sss": "str.replace str.replace_all",
    "sii": "str.substr",
    "ssi": "str.indexof",
    "si": "str.at",
    "qq": "seq.++ seq.contains seq.prefixof seq.suffixof",
    "q": "seq.len",
    "qqq": "seq.replace",
    "qii": "seq.extract",
    "qqi": "seq.indexof",
}
CASES = [(name, sorts) for sorts, names in RANKS.items() for name in names.split()]


@pytest.mark.parametrize(("name", "sorts"), CASES)
def test_z3_computes_the_same(name: str, sorts: str) -> None:
    chance = Random(f"{name} {sorts}")
    terms = []
    for _ in range(30):
        arguments = [DRAW[sort][0](chance) for sort in sorts]
        value = value_text(MEANINGS[name](*arguments), "(Seq Int)")
        shown = [value_text(a, DRAW[sort][1]) for a, sort in zip(arguments, sorts, strict=True)]
        terms.append(f"(= ({name} {' '.join(shown)}) {value})")
    assert_true(terms)


def assert_true(terms: list[str]) -> None:
    """z3 finds each of the ground terms true."""
    solver = z3.Solver()
    solver.from_string(f"(assert (not (and {' '.join(terms)})))")
    assert solver.check() == z3.unsat, terms


INDEXED = [
    (name, index)
    for name in ("zero_extend", "sign_extend", "repeat", "rotate_left", "rotate_right")
    for index in (1, 2, 3, 6)
]


@pytest.mark.parametrize(("name", "index"), INDEXED)
def test_z3_computes_the_same_for_indexed_operators(name: str, index: int) -> None:
    terms = []
    for number in range(16):
        value = value_text(MEANINGS[name](index, Bits(number, 4)), "")
        terms.append(f"(= ((_ {name} {index}) {value_text(Bits(number, 4), '')}) {value})")
    assert_true(terms)
