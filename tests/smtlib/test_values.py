"""Values: what is written reads back, and what is no value is refused; z3 reads the same."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from smtlib import INT, REAL, STRING, Sort, TermTable, check_script, print_term, read_script, read_sexps
from smtlib.reader import SExp
from smtlib.sorts import REGLAN, ROUNDING_MODE, bit_vector, floating_point, make_sort
from smtlib.values import (
    MODES,
    ROUNDING_MODES,
    SPECIAL_FLOATS,
    binary_text,
    bits_term,
    bits_text,
    boundary_bits,
    boundary_floats,
    float_bits,
    float_fields,
    float_term,
    float_text,
    infinite_bits,
    integer_text,
    literal_value,
    number_term,
    read_bits,
    read_field_element,
    read_float,
    read_number,
    read_string,
    simple_values,
    string_text,
    written_characters,
)

CHARACTERS = st.text(st.characters(max_codepoint=0x2FFFF, exclude_categories=()), max_size=8)


def sexp(text: str) -> SExp:
    (found,) = read_sexps(text)
    return found  # type: ignore[no-any-return]


def checked_sort(text: str, sort: Sort) -> Sort:
    """The sort that the checker gives ``text`` where it is compared with something of ``sort``."""
    checked = check_script(read_script(f"(declare-const x {sort})(assert (= x {text}))"))
    assert checked.errors == []
    return checked.assertions[0].args[1].sort


def is_true(formula: str) -> bool:
    """Whether z3 finds a formula without variables true."""
    return z3.is_true(z3.simplify(z3.parse_smt2_string(f"(assert {formula})")[0]))


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", Fraction(3)),
        ("007", Fraction(7)),
        ("0.50", Fraction(1, 2)),
        ("2.", Fraction(2)),
        ("-4", Fraction(-4)),
        ("(- 3)", Fraction(-3)),
        ("(/ 1 3)", Fraction(1, 3)),
        ("(/ (- 1.5) 3.0)", Fraction(-1, 2)),
        ("(- (/ 1 4))", Fraction(-1, 4)),
    ],
)
def test_numbers_are_read(text: str, number: Fraction) -> None:
    assert read_number(sexp(text)) == number


@pytest.mark.parametrize(
    ("text", "value"),
    [("#b0101", (5, 4)), ("#xfF", (255, 8)), ("(_ bv5 8)", (5, 8)), ("(_ bv300 8)", (300, 8))],
)
def test_bit_vectors_are_read(text: str, value: tuple[int, int]) -> None:
    assert read_bits(sexp(text)) == value


@pytest.mark.parametrize(
    ("literal", "characters"),
    [
        ('""', ""),
        ('"a""b"', 'a"b'),
        (r'"\u{62}\u0063"', "bc"),
        (r'"\u{2ffff}\u{30000}"', "\U0002ffff\\u{30000}"),
        (r'"\u{}\u12\x41\"', r"\u{}\u12\x41" + "\\"),
        (r'"\u{110000}"', r"\u{110000}"),
        (r'"a""\u{3}\u0041\u{"', 'a"\x03A\\u{'),
    ],
)
def test_strings_are_read(literal: str, characters: str) -> None:
    assert read_string(literal) == characters
    assert "".join(written_characters(literal)) == literal[1:-1]
    assert is_true(f"(= {literal} {string_text(characters)})")


@pytest.mark.parametrize(
    ("text", "value"), [('"a"', "a"), ('"é"', None), ('"\x7f"', None), ('"\\u{e9}"', "é")]
)
def test_a_string_with_other_characters_than_printable_ones_has_no_value(
    text: str, value: str | None
) -> None:
    assert literal_value(TermTable().literal(text, STRING)) == value


@pytest.mark.parametrize(
    ("read", "text"),
    [
        *((read_number, text) for text in ("x", "1e5", "1_0", "(/ 1 0)", "()", "(+ 1 2)", '"1"', "9" * 5000)),
        *((read_bits, text) for text in ("#b", "#b2", "#xg", "#o7", "5", "(_ bv1 0)", "(_ bv 4)", "(_ bv1)")),
        *((read_bits, text) for text in ("(_ bv1 -4)", "(_ bv1 9999999999)", f"(_ bv{'9' * 5000} 4)", "()")),
        *((read_float, text) for text in ("1.0", "(fp #b0 #b1)", "(_ oo 8 24)", "(fp 0 1 1)")),
        *((read_string, text) for text in ("a", "|a|", "()")),
        *((read_field_element, text) for text in ("3", "#f3", "(as f3 F)", "(as (ff3) F)", "()")),
    ],
)
def test_what_is_no_value_is_refused(read: Callable[[SExp], object], text: str) -> None:
    with pytest.raises(ValueError, match=r"not an? |neither "):
        read(sexp(text))


@pytest.mark.parametrize("read", [read_number, read_bits, read_float, read_string, read_field_element])
def test_what_is_no_value_may_be_deep(read: Callable[[SExp], object]) -> None:
    (deep,) = read_sexps("(f " * 3000 + "x" + ")" * 3000)
    with pytest.raises(ValueError, match=r": \(f \(f .*\.\.\.$"):
        read(deep)


def test_fields_and_special_floats_are_read() -> None:
    assert read_field_element(sexp("(as ff3 (_ FiniteField 5))")) == read_field_element("#f3m5") == 3
    assert read_field_element("#f-1m5") == -1
    assert read_float(sexp("(_ -zero 8 24)")) == "-zero"
    assert read_float(sexp("(fp #b1 #x05 (_ bv1 3))")) == [(1, 1), (5, 8), (1, 3)]


@given(st.integers(), st.integers(1, 300))
def test_bit_vectors_are_written_as_they_are_read(value: int, width: int) -> None:
    expected = (value % (1 << width), width)
    assert read_bits(sexp(bits_text(value, width))) == read_bits(binary_text(value, width)) == expected
    assert literal_value(bits_term(TermTable(), value, width)) == expected[0]


@given(CHARACTERS)
def test_strings_are_written_as_they_are_read(characters: str) -> None:
    text = string_text(characters)
    assert text.isascii() and read_string(text) == characters
    assert literal_value(TermTable().literal(text, STRING)) == characters


@given(st.fractions(), st.integers())
def test_numbers_are_written_as_they_are_read(fraction: Fraction, integer: int) -> None:
    table = TermTable()
    real = number_term(table, fraction, REAL)
    assert read_number(sexp(print_term(real))) == fraction
    assert read_number(sexp(integer_text(integer))) == integer
    assert literal_value(number_term(table, Fraction(integer), INT)) == integer


@given(st.integers(0), st.integers(2, 15), st.integers(2, 60))
def test_floats_are_written_as_they_are_read(bits: int, exponent: int, significand: int) -> None:
    sort = floating_point(exponent, significand)
    text = float_text(bits, sort)
    assert read_float(sexp(text)) == float_fields(bits, sort)
    assert print_term(float_term(TermTable(), bits, sort)) == text
    assert checked_sort(text, sort) is sort


def test_the_boundaries_of_floats_are_what_they_are_called() -> None:
    sort = z3.Float32()
    names = [
        z3.simplify(z3.fpBVToFP(z3.BitVecVal(b, 32), sort)) for b in boundary_floats(floating_point(8, 24))
    ]
    assert [str(n) for n in names[:1]] == ["1"]
    assert [z3.is_true(z3.simplify(z3.fpIsSubnormal(n))) for n in names] == [False, True, True, False, False]
    assert {b % 16 for b in boundary_bits(4)} == {0, 1, 15, 8, 7, 2}


def test_long_and_short_rounding_modes_are_one() -> None:
    assert len(MODES) == 5
    assert all(is_true(f"(= {long} {short})") for long, short in ROUNDING_MODES.items())


@pytest.mark.parametrize(
    "sort",
    [INT, REAL, STRING, REGLAN, ROUNDING_MODE, bit_vector(3), bit_vector(65), floating_point(5, 11)],
    ids=str,
)
def test_simple_values_have_their_sort(sort: Sort) -> None:
    assert simple_values(sort)
    for text in simple_values(sort):
        assert checked_sort(text, sort) is sort
    assert simple_values(make_sort("Array", (), (sort, sort))) == ()


@given(st.integers(0), st.integers(2, 15), st.integers(2, 60))
def test_the_bits_of_a_float_are_those_it_was_made_of(bits: int, exponent: int, significand: int) -> None:
    sort = floating_point(exponent, significand)
    bits %= 1 << (exponent + significand)
    fraction = (1 << (significand - 1)) - 1
    is_nan = bits & infinite_bits(sort) == infinite_bits(sort) and bits & fraction
    assert float_bits(float_term(TermTable(), bits, sort)) == (None if is_nan else bits)
    table, sign = TermTable(), 1 << (exponent + significand - 1)
    named = [float_bits(table.operator(name, (), sort, sort.indices)) for name in SPECIAL_FLOATS]
    assert named == [infinite_bits(sort), sign | infinite_bits(sort), 0, sign, None]
    assert float_bits(bits_term(table, 1, 3)) is None
