"""Regular expressions against Python's, and comparing two of them."""

from __future__ import annotations

import re
from itertools import product

import pytest

from smtlib import regexes
from smtlib.regexes import ALL, ALL_CHARACTERS, EMPTY, NONE, Regex, concat, inter, literal, loop, star, union
from smtlib.semantics import MEANINGS, IllTyped

A, B = literal("a"), literal("b")
WORDS = ["".join(letters) for length in range(5) for letters in product("ab", repeat=length)]
CASES: list[tuple[Regex, str]] = [
    (NONE, r"(?!)"),
    (EMPTY, ""),
    (ALL, ".*"),
    (ALL_CHARACTERS, "."),
    (literal("ab"), "ab"),
    (concat(star(A), B), "a*b"),
    (star(union(literal("ab"), B)), "(ab|b)*"),
    (loop(1, 3, A), "a{1,3}"),
    (loop(2, 1, A), r"(?!)"),
    (regexes.complement(literal("a")), r"(?!a\Z).*"),
    (inter(concat(A, ALL), concat(ALL, B)), "(?=a).*b"),
    (regexes.span("a", "b"), "[ab]"),
    (regexes.span("b", "a"), r"(?!)"),
]


@pytest.mark.parametrize(("regex", "pattern"), CASES, ids=[pattern for _, pattern in CASES])
def test_the_same_words_match_as_in_python(regex: Regex, pattern: str) -> None:
    compiled = re.compile(pattern, re.DOTALL)
    for word in WORDS:
        assert regexes.matches(word, regex) == bool(compiled.fullmatch(word)), word


@pytest.mark.parametrize(
    ("first", "second", "word"),
    [
        (star(star(A)), star(A), None),
        (concat(star(A), A), concat(A, star(A)), None),
        (union(A, B), regexes.span("a", "b"), None),
        (star(union(A, B)), ALL, "\0"),
        (star(A), star(literal("aa")), "a"),
        (loop(0, 3, A), star(A), "aaaa"),
        (regexes.complement(NONE), ALL, None),
    ],
)
def test_the_shortest_word_that_tells_two_apart(first: Regex, second: Regex, word: str | None) -> None:
    assert regexes.difference(first, second) == word
    assert (regexes.difference(second, first) is None) == (word is None)


def test_long_ones_are_not_compared() -> None:
    long = concat(*[A] * 400)
    with pytest.raises(regexes.Undecided):
        regexes.difference(long, concat(long, A))
    with pytest.raises(IllTyped):
        MEANINGS["="](long, concat(long, A))
