"""Minimisation by STORM's own bounds: smaller, still showing the bug, still satisfiable."""

from __future__ import annotations

import json

import pytest

from generator import GenerationError
from generator.strategies.storm.minimising import flattened, minimise
from smtlib import check_script, read_script
from tests.generator.strategies.storm.reading import answers

SEED = "(declare-fun x () Int)(declare-fun y () Int)(declare-fun p () Bool)"


def large_test() -> str:
    """Eight assertions, the deepest of depth 9; one holds what the bug is about."""
    deep = "(< (* x y) 40)"
    for atom in ("p", "(> x 2)", "(> y 3)", "(= x 5)", "(= y 7)", "p", "(< x 9)", "(< y 9)"):
        deep = f"(and {atom} {deep})"
    asserted = [f"(> x {n})" for n in range(4)] + ["p", "(= x 5)", "(= y 7)", deep]
    return f"(set-logic ALL){SEED}{''.join(f'(assert {a})' for a in asserted)}(check-sat)"


def shows(text: str) -> bool:
    return "(* x y)" in text


def test_the_smallest_bounds_that_still_show_it_are_found() -> None:
    found = minimise(large_test(), shows)
    assert shows(found.text) and found.finished
    assert found.text.count("(assert ") == 1
    assert found.text.count("(and ") + found.text.count("(not ") <= 1
    assert len(found.text) < len(large_test()) / 3
    assert answers(found.text) == ["sat"]
    assert check_script(read_script(found.text)).is_well_sorted


def test_whatever_is_tried_is_satisfiable() -> None:
    tried: list[str] = []

    def check(text: str) -> bool:
        tried.append(text)
        return shows(text) and "(= x 5)" in text

    found = minimise(large_test(), check, tries=12)
    assert found.checks == len(tried) > 10
    assert all(answers(text) == ["sat"] for text in tried)
    assert "(= x 5)" in found.text


def test_levels_stay_where_there_were_levels() -> None:
    text = f"{SEED}(assert p)(push 1)(assert (> x 2))(check-sat)(pop 1)(assert (= (* x y) 6))(check-sat)"
    seen: list[int] = []

    def check(made: str) -> bool:
        seen.append(made.count("(check-sat)"))
        return shows(made)

    found = minimise(text, check, tries=20)
    assert shows(found.text) and max(seen) > 1
    assert set(answers(found.text)) == {"sat"}


def test_a_text_that_nothing_smaller_shows_stays() -> None:
    text = large_test()
    found = minimise(text, lambda t: t == text, tries=6)
    assert found.text == text


def test_it_stops_when_requested() -> None:
    asked = iter([False] * 5)
    found = minimise(large_test(), shows, lambda: next(asked, True))
    assert not found.finished and shows(found.text)


def test_the_same_is_found_again() -> None:
    first, again = (minimise(large_test(), shows, tries=10) for _ in range(2))
    assert json.dumps(first.text) == json.dumps(again.text) and first.checks == again.checks


@pytest.mark.parametrize(
    "text",
    [
        "(assert (> x",
        "(declare-fun x () Int)(check-sat)",
        '(declare-fun x () Int)(assert (> x "a"))(check-sat)',
        "(declare-fun r () Real)(assert (> (^ r r) 2.0))(check-sat)",
    ],
)
def test_what_cannot_be_used_is_reported(text: str) -> None:
    with pytest.raises(GenerationError, match="storm cannot minimise this formula: "):
        minimise(text, shows)


def test_flattening_puts_all_assertions_before_one_question() -> None:
    flat, checks = flattened(
        "(declare-fun p () Bool)(push 1)(assert p)(check-sat)(pop 1)(assert p)(check-sat)"
    )
    assert checks == 2
    assert flat == "(declare-fun p () Bool)\n(assert p)\n(assert p)\n(check-sat)\n"
