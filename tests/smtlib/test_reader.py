"""The reader: SMT-LIB's lexicon, places of errors, and texts that are long, deep or no text at all."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smtlib import ReadError, quote_symbol, read_script, read_sexps, sexp_text
from smtlib.reader import SExpList, SmtLibParser, line_and_column
from tests.sizes import size


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        ("  \t\r\n", []),
        ('; a comment ( | "\n', []),
        ("a;b\nc", ["a", "c"]),
        ("a;b\rc", ["a", "c"]),
        ('"a""b" ""', ['"a""b"', '""']),
        ('"""" ""', ['""""', '""']),
        ('"; no ( comment"', ['"; no ( comment"']),
        ('"two\nlines"', ['"two\nlines"']),
        ('"\\"', ['"\\"']),
        ('|a b| |(| |;| |"|', ["|a b|", "|(|", "|;|", '|"|']),
        ("|x| |x.1| ||", ["x", "x.1", "||"]),
        ("|let| |5| |-5| |a#|", ["|let|", "|5|", "|-5|", "|a#|"]),
        ("1 01 1.50 -5 #b01 #xaF :key", ["1", "01", "1.50", "-5", "#b01", "#xaF", ":key"]),
        ("a\xa0b\u2003c\ufeff\x1cd\x85e", ["a", "b", "c\ufeff", "d", "e"]),
        ("\ufeffa", ["a"]),
        ("()(a)(())", [[], ["a"], [[]]]),
    ],
)
def test_tokens(text: str, tokens: list[object]) -> None:
    assert read_sexps(text) == tokens


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("(a\n (b)", "'(' is never closed", 1, 1),
        ("(a)\n  (b (c)", "'(' is never closed", 2, 3),
        ("(a)\n )", "')' closes nothing", 2, 2),
        ('(a\n  "b)', "string is never closed", 2, 3),
        ('"a""', "string is never closed", 1, 1),
        ('(echo "a"" )', "string is never closed", 1, 7),
        ("(a\r\n |b)", "quoted symbol is never closed", 2, 2),
        ("(a |b\\c|)", "a backslash in a quoted symbol", 1, 6),
        ("(a\n 'b)", "a quote mark outside a string", 2, 2),
        ("'", "a quote mark outside a string", 1, 1),
        ("(a\xa0'b)", "a quote mark outside a string", 1, 4),
        ("(a)\n(b \0)", "NUL", 2, 4),
        ("\x7fELF\x02\0\0", "NUL", 1, 6),
    ],
)
def test_errors_carry_line_and_column(text: str, message: str, line: int, column: int) -> None:
    with pytest.raises(ReadError) as caught:
        read_sexps(text)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"{line}:{column}: ")


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ("(assert true)\nsat\n(exit)", "found sat", 2, 1),
        ("()", "found ()", 1, 1),
        ("(exit)\n\n ((a) b)", "found ((a) b)", 3, 2),
        ("x x", "found x", 1, 1),
        ('"text"', 'found "text"', 1, 1),
    ],
)
def test_what_is_no_command_is_refused(text: str, message: str, line: int, column: int) -> None:
    with pytest.raises(ReadError) as caught:
        read_script(text)
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (line, column)


@given(st.text("()a |;\"'\n\\\xa0", max_size=30))
def test_deep_and_flat_texts_are_read_the_same(text: str) -> None:
    def outcome(levels: int) -> object:
        try:
            return [(part, getattr(part, "position", -1)) for part in SmtLibParser(text, levels).parse()]
        except ReadError as error:
            return str(error)

    assert outcome(100) == outcome(1) == outcome(0)


def test_lists_know_where_they_begin() -> None:
    outer = read_sexps(" (a\n (b))")[0]
    assert isinstance(outer, SExpList)
    assert outer.position == 1
    assert outer[1].position == 5


def test_a_script_keeps_its_text_and_tells_places() -> None:
    text = "; header\n(set-logic QF_LIA)\n  (exit)"
    script = read_script(text)
    assert script.text == text
    assert [c.name for c in script.commands] == ["set-logic", "exit"]
    assert line_and_column(text, script.commands[1].sexp.position) == (3, 3)


@pytest.mark.parametrize("text", ["a", "()", '(a (b () "c") |d e|)', "(((x)))"])
def test_sexp_text_is_read_back(text: str) -> None:
    assert sexp_text(read_sexps(text)[0]) == text


def test_sexp_text_is_cut_to_its_limit() -> None:
    assert sexp_text(read_sexps("(abc " * 1000 + ")" * 1000)[0], 12) == "(abc (abc..."


@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("x", "x"),
        ("a b", "|a b|"),
        ("|a b|", "|a b|"),
        ("let", "|let|"),
        ("5x", "|5x|"),
        ("-5", "|-5|"),
        ("-", "-"),
        ("--5", "--5"),
        ("", "||"),
        ("a|b\\c", "a_b_c"),
        ("|a b\\c|", "|a b_c|"),
        ("|", "|_|"),
        ("é", "|é|"),
    ],
)
def test_symbols_are_quoted_where_they_need_it(name: str, symbol: str) -> None:
    assert quote_symbol(name) == symbol
    assert read_sexps(symbol) == [symbol]


def test_an_error_below_a_thousand_levels_has_its_place() -> None:
    with pytest.raises(ReadError, match="1:5001: a quote mark"):
        read_sexps("(" * 5000 + "'x" + ")" * 5000)


@pytest.mark.slow
def test_a_hundred_thousand_levels_are_read() -> None:
    depth = 100_000
    sexp = read_sexps("(f " * depth + "x" + ")" * depth)[0]
    assert sexp_text(sexp).count("(") == depth


@pytest.mark.slow
def test_a_hundred_thousand_levels_left_open_are_one_error() -> None:
    with pytest.raises(ReadError, match="1:199999: '\\(' is never closed"):
        read_sexps("( " * 100_000)


LARGE_SIZE = size(10_000_000, 50_000_000)
LARGE = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from smtlib import ReadError, read_script
size = {size}
text = {text}
try:
    print(len(read_script(text).commands))
except ReadError as error:
    print(error)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("('(assert (> x 0)) ; a line' + 74 * '.' + '\\n') * (size // 100)", str(LARGE_SIZE // 100)),
        ("'(echo \"' + 'a\"\"' * (size // 3) + '\")'", "1"),
        ("'(echo \"' + '\"\"' * (size // 2)", "1:7: string is never closed"),
        ("'(a |' + 'x' * size", "1:4: quoted symbol is never closed"),
        ("'(' * (size // 10)", f"1:{LARGE_SIZE // 10}: '(' is never closed"),
        ("')' * size", "1:1: ')' closes nothing"),
        ("';' * size", "0"),
        ("chr(0) * size", "1:1: a NUL byte: this is not SMT-LIB text"),
    ],
    ids=["commands", "string", "open string", "open symbol", "open lists", "closing", "comment", "NUL"],
)
@pytest.mark.few(4)
def test_large_texts_take_bounded_time_and_memory(text: str, said: str) -> None:
    """Of 10 MB (thorough: 50), the open lists of a tenth."""
    run = subprocess.run(
        [sys.executable, "-c", LARGE.format(text=text, size=LARGE_SIZE)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert run.stdout.strip() == said, run.stderr[-300:]
