"""Tactic expressions: read and printed, made shorter part by part, drawn at random."""

from __future__ import annotations

import random

import pytest

from solvers.lookup import find_solver
from solvers.options import option_table
from solvers.registry import PROFILES
from solvers.tactics import print_tactic, random_row, read_tactic, shorter_rows, tactic_names


@pytest.mark.parametrize(
    "text", ["smt", "(then a (using-params b :p true) (or-else c smt))", "(if is-qfbv a b)"]
)
def test_what_is_read_is_printed_again(text: str) -> None:
    assert print_tactic(read_tactic(f"  {text} ")) == text


@pytest.mark.parametrize(
    "text",
    ["", "()", "(", ")", "(then a", "then a)", "a b", "(then a))(", "(try-for " * 300 + "a" + " 1)" * 300],
)
def test_what_is_no_expression_is_reported(text: str) -> None:
    with pytest.raises(ValueError, match="is not a tactic"):
        read_tactic(text)
    assert list(shorter_rows(text)) == []


@pytest.mark.parametrize(
    ("row", "shorter"),
    [
        ("smt", []),
        # The last one goes last: without it there is no answer, but a crash needs none.
        ("(then a smt)", ["smt", "a"]),
        # What is inside gets shorter after the rest.
        (
            "(then a b (or-else c smt))",
            [
                *("(then b (or-else c smt))", "(then a (or-else c smt))", "(then a b)"),
                *("(then a b smt)", "(then a b c)"),
            ],
        ),
        ("(or-else a smt)", ["smt", "a"]),
        ("(using-params a :p 1)", ["a"]),
        ("(using-params a :p 1 :q 2)", ["a", "(using-params a :q 2)", "(using-params a :p 1)"]),
        ("(repeat (then a b) 2)", ["(then a b)", "(repeat b 2)", "(repeat a 2)"]),
        ("(when is-qfbv a)", ["a"]),
        ("(if is-qfbv a b)", ["a", "b"]),
    ],
)
def test_a_row_gets_shorter_part_by_part(row: str, shorter: list[str]) -> None:
    assert list(shorter_rows(row)) == shorter


def test_every_row_of_the_file_gets_down_to_one_tactic() -> None:
    table = option_table("z3")
    for row in (f"(then {' '.join(table.first_tactics[-20:])} {last})" for last in table.last_tactics):
        steps = 0
        text = row
        while (shorter := next(shorter_rows(text), None)) is not None:
            assert len(shorter) < len(text)
            text, steps = shorter, steps + 1
        assert "(" not in text
        assert steps >= 20


def test_names_are_those_of_tactics_only() -> None:
    row = "(or-else (then a (using-params b :p true)) (when is-qfbv (repeat c 3)) (try-for smt 100))"
    assert tactic_names(read_tactic(row)) == {"a", "b", "c", "smt"}


def test_a_row_is_the_same_for_the_same_seed_and_ends_with_what_answers() -> None:
    first, last = ("a", "b", "c"), ("smt", "(or-else d smt)")
    rows = [random_row(first, last, random.Random(seed)) for seed in range(200)]
    assert rows == [random_row(first, last, random.Random(seed)) for seed in range(200)]
    assert all(row in last or row.removesuffix(")").endswith(last) for row in rows)
    assert any(row in last for row in rows)
    assert sum("d" in row for row in rows) < 100


def test_probes_are_not_among_the_tactics_of_z3() -> None:
    names = PROFILES["z3"].ask_tactics(find_solver("z3").argv)
    assert "simplify" in names and not names & {"size", "is-propositional"}
