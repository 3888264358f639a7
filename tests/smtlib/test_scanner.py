"""The tolerant scanner: tokens and commands of any text, in linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtlib import ReadError, read_script
from smtlib.scanner import Command, commands, lexemes, names_file

TOKENS = ["(", ")", "a", "|a (|", '"(""\n"', ";)\n", " ", "|", '"', "check-sat", "#b0"]
PIECES = st.lists(st.sampled_from(TOKENS), max_size=40)


def test_tokens_stand_without_comments() -> None:
    assert lexemes('(a ; (\n"b""c" |d e| f|g') == ["(", "a", '"b""c"', "|d e|", "f", "|", "g"]
    assert lexemes("(a ; (\n b c)", 3) == ["(", "a", "b"]


@given(PIECES)
def test_the_scanner_finds_the_commands_that_the_reader_reads(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        script = read_script(text)
    except ReadError:
        assert all(text[c.start] == "(" and text[c.end - 1] == ")" for c in commands(text))
        return
    found = list(commands(text))
    assert [c.start for c in found] == [c.sexp.position for c in script.commands]
    # A string is not a name.
    assert [c.name for c in found] == ["" if c.name[0] == '"' else c.name.strip("|") for c in script.commands]


def test_a_name_between_bars_or_behind_a_comment_is_the_name() -> None:
    assert list(commands("(|exit|)")) == [Command("exit", 0, 8)]
    assert [c.name for c in commands('(;(\n exit)(())("a")()')] == ["exit", "", "", ""]


@pytest.mark.parametrize("character", '("|;)a')
@pytest.mark.few(2)
def test_a_megabyte_of_one_character_takes_linear_time(character: str) -> None:
    text = character * (1 << 20)
    assert len(lexemes(text)) <= len(text)
    assert list(commands(text)) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('(set-option :regular-output-channel "/a/b")', ":regular-output-channel"),
        ("(set-option :partitions-out ../b)", ":partitions-out"),
        ("(set-option :write-cnf |/a|)", ":write-cnf"),
        ('(set-option :x ; a comment\n"/a")', ":x"),
        (r'(set-option :x "\u{2f}a")', ":x"),
        ("(set-option :x / )(set-option :x\t/a)", ":x"),
        ("(apply (using-params sat :drat.file |/a/b|))", ":drat.file"),
        ("(declare-tactic t (using-params sat :drat.file |/a/b|))", ":drat.file"),
        ("(query p :print_aig |/a/b|)", ":print_aig"),
        ("(assert (set-option :x /a)", ":x"),
        ('(include "/etc/passwd")', "include"),
        ('(|include| "../a")', "include"),
        ("(declare-oracle-fun f (Int) Int program)", "declare-oracle-fun"),
        # For z3 the first name ends with the third bar, and the option is one.
        ("(declare-const |\\| | Int)(set-option :x |/a|)(declare-const | Int)", r"\|"),
        # In the working folder, which is not the user's.
        ('(set-option :regular-output-channel "a")(include "b")', None),
        ('(set-option :regular-output-channel "stdout")', None),
        ("(set-info :source |http://a.b/c|)(assert (! (> (/ x 2) 1) :named |a/b|))", None),
        (r'(assert (! (= s "a\") :qid a/b :weight 1))(echo "a/b")', None),
        ("(set-option", None),
        ("(set-option :x", None),
        ("", None),
    ],
)
def test_a_value_that_is_a_path_is_found_wherever_it_stands(text: str, named: str | None) -> None:
    assert names_file(text) == named


def test_a_division_is_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    # Most formulas with slashes have these alone: their tokens are not looked at.
    monkeypatch.setattr("smtlib.scanner.lexemes", None)
    assert names_file("(assert (> (/ x 2) ((_ map (/\t(Real Real) Real)) x y)))") is None
