"""Values: what is drawn is a value of its sort for us and for our checker; what is none is reported."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apifuzz import calls
from apifuzz.chance import Chance
from apifuzz.engines.text import TextEngine
from apifuzz.interface import ApiSort
from apifuzz.trace import TraceError, split_line
from apifuzz.values import check_value, has_values, random_value, special_value, value_text
from smtlib import BOOL, INT, REAL, STRING, Kind, Sort, Term, make_sort, print_term
from smtlib.sorts import REGLAN, ROUNDING_MODE, bit_vector, floating_point

SORTS = st.one_of(
    st.sampled_from((BOOL, INT, REAL, STRING, ROUNDING_MODE)),
    st.integers(1, 80).map(bit_vector),
    st.tuples(st.integers(2, 12), st.integers(2, 60)).map(lambda widths: floating_point(*widths)),
    st.sampled_from((2, 3, 5, 101)).map(lambda order: make_sort("FiniteField", (order,))),
)


def made(sort: Sort, text: str) -> Term:
    engine = TextEngine()
    engine.perform(calls.New())
    return engine.perform(calls.MakeValue(ApiSort(1, sort, sort), text))


@given(SORTS, st.integers(0, 2**32), st.booleans())
def test_what_is_drawn_is_a_value_of_its_sort(sort: Sort, seed: int, special: bool) -> None:
    text = (special_value if special else random_value)(sort, Chance(seed))
    assert split_line(text) == [text]
    check_value(sort, text)
    assert made(sort, text).sort is sort


@given(SORTS, st.integers(0, 2**32))
def test_the_value_of_a_term_is_the_value_it_was_made_of(sort: Sort, seed: int) -> None:
    term = made(sort, random_value(sort, Chance(seed)))
    text = value_text(term)
    if text is not None:
        check_value(sort, text)
        assert made(sort, text).op.text == term.op.text and print_term(made(sort, text)) == print_term(term)
    else:
        assert term.kind is Kind.OPERATOR


def test_special_values_are_the_boundaries() -> None:
    chance = Chance(3)
    bits = {special_value(bit_vector(4), chance) for _ in range(300)}
    assert bits >= {"#b0000", "#b0001", "#b1111", "#b1000", "#b0111"}
    floats = {special_value(floating_point(3, 5), chance) for _ in range(400)}
    assert floats >= {f"(_ {name} 3 5)" for name in ("NaN", "+oo", "-oo", "+zero", "-zero")}
    # The smallest subnormal, the largest one, the smallest normal number, the largest one, and one.
    for exponent, fraction in (
        ("000", "0001"),
        ("000", "1111"),
        ("001", "0000"),
        ("110", "1111"),
        ("011", "0000"),
    ):
        assert f"(fp #b0 #b{exponent} #b{fraction})" in floats
        assert f"(fp #b1 #b{exponent} #b{fraction})" in floats
    strings = {special_value(STRING, chance) for _ in range(300)}
    assert '""' in strings and any("2ffff" in s for s in strings)


@pytest.mark.parametrize(
    ("sort", "text"),
    [
        (BOOL, "yes"),
        (INT, "1.0"),
        (INT, "-1"),
        (INT, "(- (- 1))"),
        (INT, "٣"),
        (REAL, "1"),
        (REAL, "(/ 1 0)"),
        (REAL, "(- (- 1.0))"),
        (bit_vector(3), "#b01"),
        (bit_vector(3), "#b012"),
        (bit_vector(8), "#xff"),
        (floating_point(3, 5), "(fp #b0 #b000 #b00000)"),
        (floating_point(3, 5), "(_ NaN 5 3)"),
        (floating_point(3, 5), "(_ nan 3 5)"),
        (ROUNDING_MODE, "RNX"),
        (STRING, "a"),
        (make_sort("FiniteField", (5,)), "(as ff3 (_ FiniteField 7))"),
    ],
)
def test_what_is_no_value_is_reported(sort: Sort, text: str) -> None:
    with pytest.raises(TraceError, match="is not a value of sort"):
        check_value(sort, text)


@pytest.mark.parametrize(
    ("sort", "text"),
    [
        (REGLAN, "re.all"),
        (make_sort("Array", (), (INT, INT)), "0"),
        (make_sort("U1"), "a"),
        # Its number has 2^69 digits.
        (floating_point(70, 3), f"(fp #b0 #b{'1' * 69}0 #b01)"),
    ],
)
def test_sorts_without_values(sort: Sort, text: str) -> None:
    assert has_values(INT) and has_values(floating_point(15, 113)) and not has_values(sort)
    with pytest.raises(TraceError, match="cannot be written in traces"):
        check_value(sort, text)
