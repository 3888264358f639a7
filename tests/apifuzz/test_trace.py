"""Traces: what is printed reads back, and what is no trace says where and why."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apifuzz.trace import (
    MAX_LINE,
    Line,
    Trace,
    TraceError,
    ids_in,
    print_trace,
    quote_name,
    read_trace,
    replace_ids,
    split_line,
    unquote_name,
)
from tests.sizes import size

HEAD = "exhume-trace 1 cvc5 42\n"

TEXT = """exhume-trace 1 cvc5 42
; settings come first
set quantifiers false
set theories (Core Ints)

3812 new
18 make-sort (_ BitVec 8) ; a comment at the end
return s1
19 make-value s1 "a "" ; b" |a ; b|
return t1
20 check-sat
"""


def test_a_trace_says_what_it_says() -> None:
    trace = read_trace(TEXT)
    assert trace.solver == "cvc5" and trace.seed == 42
    assert trace.setting("theories") == "(Core Ints)" and trace.setting("other") == ""
    assert trace.lines == (
        Line(3812, "new"),
        Line(18, "make-sort", ("(_ BitVec 8)",), ("s1",)),
        Line(19, "make-value", ("s1", '"a "" ; b"', "|a ; b|"), ("t1",)),
        Line(20, "check-sat"),
    )
    assert [line.number for line in trace.lines] == [6, 7, 9, 11]


ATOMS = st.from_regex(r'[a-z0-9.#:]{1,6}|"[a-z ;|()]{0,6}"|\|[a-z ;"()]{0,6}\|', fullmatch=True)
EXPRESSIONS = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=4).map(lambda p: f"({' '.join(p)})"))
IDS = st.from_regex(r"[st](0|[1-9][0-9]{0,3})", fullmatch=True)
LINES = st.builds(
    Line,
    st.integers(0, 2**64 - 1),
    st.from_regex(r"[a-z][a-z0-9:-]{0,12}", fullmatch=True),
    st.lists(EXPRESSIONS | IDS, max_size=5).map(tuple),
    st.lists(IDS, max_size=3).map(tuple),
)
TRACES = st.builds(
    Trace,
    st.text(st.characters(exclude_characters="|\\\n\r\0"), min_size=1, max_size=20),
    st.integers(0, 2**64 - 1),
    st.lists(st.tuples(st.from_regex(r"[a-z][a-z-]{0,7}", fullmatch=True), EXPRESSIONS)).map(tuple),
    st.lists(LINES, max_size=6).map(tuple),
)


@pytest.mark.slow
@settings(max_examples=size(40, 100))
@given(TRACES)
def test_what_is_printed_reads_back(trace: Trace) -> None:
    assert read_trace(print_trace(trace)) == trace


@given(st.text(max_size=200))
def test_any_text_is_a_trace_or_an_error_with_a_line(text: str) -> None:
    try:
        read_trace(HEAD + text)
    except TraceError as error:
        assert 2 <= error.line <= text.count("\n") + 2
        assert str(error) == f"line {error.line}: {error.reason}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a trace: it is empty"),
        ("; only a comment\n", "not a trace: it is empty"),
        ("(set-logic QF_BV)\n", "line 1: not a trace: it does not begin with"),
        ("exhume-trace 2 z3 1\n", "line 1: version 2 of traces is unknown; this is version 1"),
        ("exhume-trace\n", "line 1: version none of traces"),
        ("exhume-trace 1 z3\n", "line 1: expected 'exhume-trace 1 SOLVER SEED'"),
        ("exhume-trace 1 z3 x\n", "line 1: expected a seed"),
        (HEAD + "1 new\nset a b\n", "line 3: settings stand before the first call"),
        (HEAD + "set a\n", "line 2: expected 'set NAME VALUE'"),
        (HEAD + "return t1\n", "line 2: a return that follows no call"),
        (HEAD + "1 new\nreturn t1\nreturn t1\n", "line 4: a return that follows no call"),
        (HEAD + "1 new\nreturn\n", "line 3: expected 'return ID ...'"),
        (HEAD + "1 new\nreturn x1\n", "line 3: expected 'return ID ...'"),
        (HEAD + "1\n", "line 2: expected 'SEED ACTION ARGUMENT ...'"),
        (HEAD + "new\n", "line 2: expected a seed"),
        (HEAD + "-1 new\n", "line 2: expected a seed"),
        (HEAD + "٣ new\n", "line 2: expected a seed"),
        (HEAD + "1 (new)\n", "line 2: expected 'SEED ACTION ARGUMENT ...'"),
        (HEAD + '1 new "a\n', "line 2: a string is never closed"),
        (HEAD + "1 new |a\n", "line 2: a quoted symbol is never closed"),
        (HEAD + "1 new (a\n", "line 2: '(' is never closed"),
        (HEAD + "1 new a)\n", "line 2: ')' closes nothing"),
        (HEAD + "1 new \v\n", "line 2: a character that no trace holds: '\\x0b'"),
        (HEAD + "1 new " + "(" * 300 + ")" * 300, "line 2: nested deeper than 200"),
        (HEAD + "1 new " + "a " * MAX_LINE, "line 2: longer than 1 Mi characters"),
    ],
)
def test_bad_traces_have_line_and_reason(text: str, message: str) -> None:
    with pytest.raises(TraceError) as caught:
        read_trace(text)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    "line",
    [
        Line(1, "two words"),
        Line(1, "new", ("a b",)),
        Line(1, "new", ("a\n2 new",)),
        Line(1, "new", ("(",)),
        Line(1, "new", ("; gone",)),
        Line(-1, "new\n"),
    ],
)
def test_what_would_not_read_back_is_not_printed(line: Line) -> None:
    with pytest.raises(TraceError):
        print_trace(Trace("z3", 1, (), (line,)))


@given(st.text(max_size=20))
def test_names_are_one_expression_and_no_id(name: str) -> None:
    quoted = quote_name(name)
    assert split_line(quoted) == [quoted]
    assert ids_in(quoted) == []
    assert quote_name(unquote_name(quoted)) == quoted


def test_ids_are_whole_symbols() -> None:
    argument = '(f t1 t12 |t1| "t1" (s1 t1) t01 xt1)'
    assert ids_in(argument) == ["t1", "t12", "s1", "t1"]
    assert replace_ids(argument, {"t1": "t9"}) == '(f t9 t12 |t1| "t1" (s1 t9) t01 xt1)'
    assert ids_in("t3") == ["t3"] and ids_in("true") == []
