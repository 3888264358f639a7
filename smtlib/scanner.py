"""The tolerant scanner: tokens and commands of any text, including unbalanced and binary text.

It never fails and takes linear time. It finds the positions of tokens and top-level commands, not their
meaning; :mod:`smtlib.reader` is for text that must be SMT-LIB. Offsets count characters, which are bytes in
text decoded as Latin-1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

# Text in which parentheses do not count.
_OPAQUE = r';[^\n]*|"[^"]*+(?:""[^"]*+)*+"|\|[^|]*+\|'

OPAQUE: Final = re.compile(_OPAQUE)
"""A comment, a string or a quoted symbol, but not an unclosed quote or bar."""

MARK: Final = re.compile(rf"{_OPAQUE}|[()]")
"""Parentheses, and the text that can hide some: enough to find the end of an expression."""

LEXEME: Final = re.compile(rf'{_OPAQUE}|[()]|[^\s()";|]+|["|]')
"""A token, or a comment."""

_NAME = re.compile(r'\((?:\s|;[^\n]*\n)*+(?:\|([^|]+)\||([^\s()";|]*))')
CHECKS: Final = frozenset(("check-sat", "check-sat-assuming", "check-sat-using"))
"""The commands that ask whether what is asserted is satisfiable."""
QUERY: Final = "query"
"""z3's command that asks whether rules derive something."""
QUESTIONS: Final = CHECKS | {QUERY}
"""The commands that are answered by sat, unsat or unknown."""

# A slash that is more than the operator.
_SLASH = re.compile(r"\\|/(?:(?<=[^ \t\r\n()]/)|(?=[^ \t\r\n()]))")
# Starts a program.
_ORACLE = "declare-oracle-fun"
# Attributes of terms and assertions, which may be names of files that no solver opens.
_NAMES_OF_TERMS = frozenset((":named", ":qid", ":skolemid", ":id"))


@dataclass(frozen=True, slots=True)
class Command:
    """One top-level command: ``text[start:end]``, parentheses included.

    ``name`` is its first symbol without bars, since z3 reads ``|exit|`` as ``exit``. It may be empty.
    """

    name: str
    start: int
    end: int


def lexemes(text: str, most: int | None = None) -> list[str]:
    """The tokens of a text, or the first ``most`` of them, without comments."""
    if most is None:
        return [token for token in LEXEME.findall(text) if token[0] != ";"]
    return list(islice((found[0] for found in LEXEME.finditer(text) if found[0][0] != ";"), most))


def commands(text: str) -> Iterator[Command]:
    """The top-level commands in order; text after an unclosed parenthesis is skipped."""
    depth = start = 0
    for mark in MARK.finditer(text):
        token = mark[0]
        if token == "(":
            if depth == 0:
                start = mark.start()
            depth += 1
        elif token == ")" and depth:
            depth -= 1
            if depth == 0:
                name = _NAME.match(text, start)
                yield Command((name[1] or name[2]) if name else "", start, mark.end())


def names_file(text: str) -> str | None:
    """What in a text may make a solver use a file outside its working folder: an option with a path, for one.

    Texts come from strangers, and many options, those of tactics too, empty the file that they name. So any
    value with a slash counts, whatever its option and wherever it stands.
    """
    if not _SLASH.search(text) and _ORACLE not in text:
        return None
    command = option = ""
    for token in lexemes(text):
        if token == _ORACLE:
            return token
        if token[0] == "|" and token.endswith("\\|"):
            return r"\|"  # where z3 reads on, so that what follows may be a command
        if ("/" in token or "\\" in token) and (
            option == "include"
            or (option[:1] == ":" and option not in _NAMES_OF_TERMS and command != "set-info")
        ):
            return option
        command, option = option, token.strip("|")
    return None
