"""No text makes extraction raise, hang or recurse deep."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.records import Comment, Issue
from miner.classify import classify
from miner.extract import Extraction, extract_issue
from miner.markdown import blocks_of
from tests.miner.mining_help import extract_text
from tests.sizes import size

SIZE = size(60_000, 1_000_000)
"""In characters."""
SECONDS = 2
"""Of processor time; an ordinary run has ten times what the text takes, as others may use the machine."""
SCRIPT = "(declare-const x Int)\n(assert (> x 0))\n(check-sat)\n"


def _fenced(text: str) -> str:
    return "```\n" + text + "\n```\n"


HOSTILE = {
    "opening parentheses": "(" * SIZE,
    "opening parentheses, fenced": _fenced("(" * SIZE),
    "closing parentheses": _fenced(")" * SIZE),
    "one deep assertion": _fenced(
        "(declare-const x Bool)\n(assert " + "(not " * (SIZE // 6) + "x" + ")" * (SIZE // 6 + 1)
    ),
    "assertions never closed": _fenced("(assert " * (SIZE // 8)),
    "assertion lines never closed": _fenced("(assert (\n" * (SIZE // 10)),
    "strings never closed": _fenced('(assert "' * (SIZE // 9)),
    "quoted symbols never closed": _fenced("(assert |" * (SIZE // 9)),
    "many scripts in a block": _fenced(SCRIPT * (SIZE // len(SCRIPT))),
    "many blocks": _fenced(SCRIPT) * (SIZE // (len(SCRIPT) + 8)),
    "many fragments": _fenced(SCRIPT) + _fenced("(assert (< x 5))\n(check-sat)") * (SIZE // 40),
    "many assertions": _fenced("(declare-const x Int)\n" + "(assert (> x 0))\n" * (SIZE // 17)),
    "commands on a line": _fenced("(pop)" * (SIZE // 5)),
    "lists on a line": _fenced("(a)" * (SIZE // 3)),
    "loose commands on a line": "(assert a)" * (SIZE // 10),
    "quotes": ">" * SIZE,
    "quotes apart": "> " * (SIZE // 2),
    "quotes 10,000 deep": ">" * 10_000 + " ```\n" + ">" * 10_000 + " (assert true)\n",
    "lists 10,000 deep": "- " * 10_000 + "a\n",
    "lists by indentation": "\n".join(" " * depth + "- a" for depth in range(1400)),
    "lists and quotes": "> - " * (SIZE // 4),
    "short lines": "a\n" * (SIZE // 2),
    "short paragraphs": "a\n\n" * (SIZE // 3),
    "fences": "```\n" * (SIZE // 4),
    "backticks": "`" * SIZE,
    "code spans": "`a " * (SIZE // 3),
    "command spans": "`z3 -a` " * (SIZE // 8),
    "scripts in spans": "`(assert true) (check-sat)` " * (SIZE // 28),
    "commands behind unpaired marks": "text ``" + "(assert x)" * 9_900 + "` end",
    "details": "<details>" * (SIZE // 9),
    "details opened by line": "<details>\n" * 3900,
    "pre": "<pre>" * (SIZE // 5),
    "pre by line": "<pre>\n" * (SIZE // 6),
    "angle brackets": "<" * SIZE,
    "comments of HTML": "<!--" * (SIZE // 4),
    "references": "[a]: b\n" * (SIZE // 7),
    "headings": "# a\n" * (SIZE // 4),
    "prompts": _fenced("$ z3 a.smt2\nsat\n" * (SIZE // 16)),
    "dollars": "$ " * (SIZE // 2),
    "users": "a@b:" * (SIZE // 4),
    "one long command line": _fenced("$ z3 " + "-a " * (SIZE // 3)),
    "continued command lines": _fenced("$ z3 \\\n" + "-a \\\n" * (SIZE // 5)),
    "here-documents": _fenced("$ z3 -in <<EOF\n" * (SIZE // 15)),
    "echo": _fenced("$ echo '(assert\n" * (SIZE // 16)),
    "comments": _fenced(";\n" * (SIZE // 2)),
    "elisions": _fenced("...\n" * (SIZE // 4)),
    "models": _fenced("sat\n" + "(define-fun a () Int 1)\n" * (SIZE // 24)),
    "loose script with gaps": SCRIPT + "\n(assert (> x\n\n 1))\n" * (SIZE // 22),
    "loose scripts": (SCRIPT + "\n") * 1200,
    "expectations": _fenced(SCRIPT) + "expected should be z3 says " * (SIZE // 27),
    "line numbers": _fenced("1: (\n" * (SIZE // 5)),
    "spaces": _fenced(" " * SIZE + "("),
    "new lines": "\n" * SIZE,
    "carriage returns": "\r" * SIZE,
    "NUL": "\0" * SIZE,
    "surrogates": "\ud800" * SIZE,
    "addresses": "https://github.com/" * (SIZE // 19),
    "entities": "&amp;" * (SIZE // 5),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_long_texts_are_read_within_two_seconds_a_megabyte(name: str) -> None:
    start = time.process_time()
    extract_text(HOSTILE[name])
    assert time.process_time() - start < SECONDS


def test_reading_recurses_no_deeper_for_deeper_text() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(400)
    try:
        for name in ("quotes 10,000 deep", "lists 10,000 deep", "one deep assertion", "here-documents"):
            extract_text(HOSTILE[name])
    finally:
        sys.setrecursionlimit(limit)


def test_classifying_a_long_issue_takes_no_longer_than_reading_it() -> None:
    issue = Issue("a/b", 1, "crash " * 1000, "soundness regression " * 50_000)
    extraction = extract_issue(issue)
    start = time.process_time()
    classify(issue, extraction)
    assert time.process_time() - start < SECONDS


# What issues are made of, in any order.
# fmt: off
PIECES = st.sampled_from(
    [
        "```", "~~~", "```smt2", "\n", "\n\n", "    ", "> ", "- ", "1. ", "<details>", "</details>",
        "<summary>", "<pre>", "</pre>", "$ ", "% ", "[5] % ", "> z3 ", "z3 a.smt2", "cvc5 -q ",
        "cat a.smt2", "<<EOF", "EOF", "echo '", "'", '"', "|", ";", "(", ")", "(assert ",
        "(declare-const x Int)", "(declare-fun f (Int) Int)", "(check-sat)", "(push)", "(pop)", "(reset)",
        "(exit)", "(set-logic ALL)", "(let ((y x)) y)", "x", "sat", "unsat", "...", "expected: unsat", "\\",
        "\t", "\r\n", "\u00a0", "“", "\u200b", "(model", "(define-fun x () Int 0)", "(check-sat-using smt)",
        "| z3 -in", "ASSERTION VIOLATION", "`", "&lt;", "<br>", "<!--", "-->", "é", "\ud800",
    ]
)
# fmt: on
TEXTS = st.one_of(st.text(max_size=400), st.lists(PIECES, max_size=60).map("".join))


def _check(extraction: Extraction, text: str) -> None:
    lines = text.count("\n") + text.count("\r") + 1
    for located in extraction.blocks:
        assert 1 <= located.block.line <= lines + 1
    for place, formula in enumerate(extraction.formulas):
        assert "(check-sat" in formula.text
        assert formula.duplicate_of != place
        assert formula.reduced_from != place
        assert formula.line >= 1


@settings(max_examples=size(100, 300), suppress_health_check=[HealthCheck.too_slow])
@given(TEXTS, TEXTS)
def test_any_text_is_read(body: str, comment: str) -> None:
    issue = Issue("o/n", 1, comment[:80], body, comments=(Comment(7, comment),))
    extraction = extract_issue(issue)
    _check(extraction, body + comment)
    classify(issue, extraction)


@settings(max_examples=size(40, 100))
@given(TEXTS)
def test_reading_twice_gives_the_same(text: str) -> None:
    assert extract_text(text) == extract_text(text)


@settings(max_examples=size(40, 100))
@given(st.lists(PIECES, max_size=40).map("".join))
def test_windows_line_ends_change_nothing(text: str) -> None:
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    windows = unix.replace("\n", "\r\n")
    assert [formula.text for formula in extract_text(unix).formulas] == [
        formula.text for formula in extract_text(windows).formulas
    ]


@settings(max_examples=size(40, 100))
@given(st.integers(1, 400), st.sampled_from(["> ", "- ", "1. ", "* > "]))
def test_nested_containers_are_read(depth: int, mark: str) -> None:
    blocks_of(mark * depth + "```\n(assert true)\n")
