"""The tolerant scanner: tokens and commands of any text, including unbalanced and binary text.

It never fails and takes linear time. It finds the positions of tokens and top-level commands, not their
meaning; :mod:`smtlib.reader` is for text that must be SMT-LIB. Offsets count characters, which are bytes in
text decoded as Latin-1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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

# Some of these files are opened and emptied as soon as the option is set.
_FILE_OPTION = re.compile(
    r":(?:out|err|in)$|channel|file|log(?!ic)|trace|dump|plugin|path|prefix|directory", re.I
)
# A value that is a path names a file, whatever the name of the option.
_PATH = re.compile(r"^[\"|].*[/\\]", re.S)
_HARMLESS_VALUES = frozenset(("true", "false", '"stdout"', '"stderr"', "stdout", "stderr", ")", ""))


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


def names_file(command: Sequence[str]) -> str | None:
    """How a command (as lexemes) makes a solver read or write a file that the text names; None if it does
    not.

    Texts come from strangers, and some options empty the file that they name.
    """
    _, name, option, value, *_ = *command, "", "", "", ""
    name = name.strip("|")
    if name == "include":
        return name
    if name == "set-option" and (
        (_FILE_OPTION.search(option) and value not in _HARMLESS_VALUES) or _PATH.search(value)
    ):
        return f"{name} {option}"
    return None
