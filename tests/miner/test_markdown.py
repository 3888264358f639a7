"""Blocks: kind, place, container, and their text."""

from __future__ import annotations

import pytest

from miner.markdown import Block, blocks_of, normalise


def _only(text: str) -> Block:
    (block,) = blocks_of(text)
    return block


def test_a_fence_knows_its_language_and_line() -> None:
    prose, fence = blocks_of("Hi\n\n```SMT2 {.numberLines}\n(assert true)\n```\n")
    assert (prose.kind, prose.line) == ("paragraph", 1)
    assert (fence.kind, fence.language, fence.line, fence.text) == ("fenced", "smt2", 4, "(assert true)\n")
    assert fence.is_code


def test_lines_are_those_of_the_text_where_details_are_taken_apart() -> None:
    text = "a\n<details><summary>x</summary>\n```\n(check-sat)\n```\n</details>\nb\n\n<pre>\n(exit)\n</pre>\n"
    found = {block.kind: block.line for block in blocks_of(text) if block.is_code}
    assert found == {"fenced": 4, "pre": 9}


def test_typography_in_code_is_read_as_plain_characters() -> None:
    block = _only("```\n(assert\u00a0(= s “a”))\n```")
    assert block.text == '(assert (= s "a"))\n'


def test_pre_is_unescaped_and_its_tags_left_out() -> None:
    block = _only("<pre lang='smt2'><code>(assert (&lt; x <b>y</b>))<br/>(check-sat)</code></pre>")
    assert (block.kind, block.text) == ("pre", "(assert (< x y))\n(check-sat)")


def test_html_comments_are_not_read() -> None:
    assert blocks_of("<!--\n```\n(assert true)\n```\n-->") == []


def test_bare_script_is_one_block_over_empty_lines() -> None:
    blocks = blocks_of("Look:\n\n(declare-const x Int)\n\n(assert (or\n\n    (= x 1)))\n\nThanks\n")
    assert [(block.kind, block.line) for block in blocks] == [
        ("paragraph", 1),
        ("paragraph", 3),
        ("paragraph", 9),
    ]
    assert blocks[1].text == "(declare-const x Int)\n\n(assert (or\n\n    (= x 1)))"


def test_words_between_two_code_spans_are_not_code() -> None:
    text = "With `z3 a.smt2` I ran (assert (> x 0)) and (check-sat) but got `unsat` here"
    assert _only(text).text == text
    span, prose = blocks_of("See `(assert x) (check-sat)` and `unsat`")
    assert (span.kind, span.text) == ("span", "(assert x) (check-sat)")
    assert prose.text == "See  and `unsat`"


@pytest.mark.parametrize("words", ["It doesn`t work:", "1` and", r"A mark \` and"])
def test_a_mark_that_begins_no_code_hides_none(words: str) -> None:
    span, _ = blocks_of(f"{words} `(assert x) (check-sat)` is unknown")
    assert (span.kind, span.text) == ("span", "(assert x) (check-sat)")


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        ("“a” ‘b’", "\"a\" 'b'"),
        ("a\u200bb\ufeff", "ab"),
        ("a\u00a0b\u2003c", "a b c"),
        ("\u2014check \u2212 1", "--check - 1"),
        ("a\x00b\x0c", "a b "),
        ("\u2028", "\n"),
        ("héllo \N{GREEK SMALL LETTER LAMDA}", "héllo \N{GREEK SMALL LETTER LAMDA}"),
    ],
)
def test_normalise(written: str, read: str) -> None:
    assert normalise(written) == read


def test_a_text_too_large_for_the_parser_is_cut_by_its_fences() -> None:
    filler = "word " * 30_000
    blocks = blocks_of(f"{filler}\n\n```smt2\n(assert true)\n```\n\n{filler}\n~~~~\n(exit)\n~~~~\n")
    assert [(block.kind, block.language) for block in blocks] == [
        ("paragraph", ""),
        ("fenced", "smt2"),
        ("paragraph", ""),
        ("fenced", ""),
    ]
    assert blocks[1].text == "(assert true)\n"
    assert [block.line for block in blocks[1::2]] == [4, 9]


def test_an_unclosed_fence_of_a_large_text_goes_to_its_end() -> None:
    blocks = blocks_of("word " * 30_000 + "\n```\n(assert true)\n(check-sat)\n")
    assert blocks[-1].text == "(assert true)\n(check-sat)\n"
