"""Commands and their places in texts of every sort, broken ones too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.running.script import Script


def names(text: str) -> list[str]:
    return [command.name for command in Script(text.encode()).commands]


def test_commands_are_found_whatever_stands_between_them() -> None:
    assert names('(set-logic ALL) ; (check-sat)\n\t(assert (= x "(" |)a|))(check-sat)') == [
        "set-logic",
        "assert",
        "check-sat",
    ]


def test_a_semicolon_in_a_string_or_a_symbol_begins_no_comment() -> None:
    assert names('(assert (= s "; "))\n(assert |;|)\n(check-sat)') == ["assert", "assert", "check-sat"]


def test_a_doubled_quote_does_not_end_a_string() -> None:
    assert names('(echo "a""(check-sat)")(exit)') == ["echo", "exit"]


def test_nothing_after_exit_is_a_question() -> None:
    assert len(Script(b"(check-sat)(exit)(check-sat)").checks) == 1


def test_unbalanced_text_yields_what_stands_before_the_fault() -> None:
    assert names("(check-sat)\n(assert (and\n(check-sat)") == ["check-sat"]
    assert names(")))(check-sat)") == ["check-sat"]


def test_one_question_is_not_incremental_and_two_are() -> None:
    assert not Script(b"(assert true)(check-sat)").is_incremental
    assert Script(b"(check-sat)(check-sat)").is_incremental
    assert Script(b"(push 1)(check-sat)").is_incremental


def test_each_status_speaks_of_the_next_question_only() -> None:
    text = b"(set-info :status sat)(check-sat)(check-sat)(set-info :status unsat)(check-sat)"
    assert Script(text).expected == ("sat", None, "unsat")


def test_a_status_of_unknown_says_nothing() -> None:
    assert Script(b"(set-info :status unknown)(check-sat)").expected == (None,)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("(check-sat)", "           "),
        ("(a)(check-sat\n)(b)", "(a)          \n (b)"),
        ('(echo "(")(a)', "          (a)"),
        ("(a) ; (check-sat)\n(get-value (x))", "(a) ; (check-sat)\n               "),
        ("(|check-sat|)", "             "),  # z3 takes it for check-sat
        ("(a) (exit) (b)", "(a) "),
        ("(set-logic ALL)(set-info :logic x)", "(set-logic ALL)(set-info :logic x)"),
        (")(check-sat)", ")           "),
        ("(assert (check-sat", "(assert (check-sat"),
        ('(a "x""(check-sat)" b)', '(a "x""(check-sat)" b)'),
        ("()( check-sat )", "()             "),
    ],
)
def test_commands_that_solve_become_blanks(text: str, left: str) -> None:
    assert Script(text.encode()).without_solving() == left.encode()


PIECES = st.sampled_from(
    ["(", ")", "check-sat", "exit", " ", "\n", '"', "|", ";", "set-option :out ", "x", '""', "é"]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_blanks_keep_every_place(text: str) -> None:
    left = Script(text.encode()).without_solving()
    assert len(left) <= len(text.encode())
    assert all(
        a == b or (b == ord(" ") and a != ord("\n")) for a, b in zip(text.encode(), left, strict=False)
    )
    assert len(left) == len(text.encode()) or "exit" in text


def test_a_position_names_the_command_it_lies_in() -> None:
    script = Script(b"(set-logic ALL)\n(assert x)(check-sat)\n")
    assert script.command_at(2, 8) == 1
    assert script.command_at(2, 12) == 2
    assert script.command_at(99, 1) is None


def test_chunks_end_after_each_question_and_know_where_they_start() -> None:
    data = b"(a)\n(check-sat)(b)\n(check-sat)\n(c)\n"
    chunks = Script(data).chunks()
    start = 0
    pieces = []
    for end, lines, column in chunks:
        assert data[:start].count(b"\n") == lines
        assert start - (data.rfind(b"\n", 0, start) + 1) == column
        pieces.append(data[start:end])
        start = end
    assert b"".join(pieces) == data
    assert [piece.count(b"check-sat") for piece in pieces] == [1, 1, 0]


def test_chunks_stop_at_exit() -> None:
    data = b"(check-sat)(exit)(check-sat)"
    assert Script(data).chunks()[-1][0] == data.index(b")(check-sat)", 12) + 1


@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_complaint(data: bytes) -> None:
    script = Script(data)
    assert len(script.expected) == len(script.checks)
    assert script.chunks() == [] or script.chunks()[-1][0] <= len(data)


def test_a_million_parentheses_are_read_in_linear_time() -> None:
    assert len(Script(b"(" * 500_000 + b")" * 500_000).commands) == 1


def test_a_query_is_a_question_without_a_status() -> None:
    script = Script(b"(set-info :status sat)(query p :print-answer true)(set-info :status unsat)(check-sat)")
    assert [command.name for command in script.checks] == ["query", "check-sat"]
    assert script.expected == (None, "unsat")
    assert b"query" not in script.without_solving()
