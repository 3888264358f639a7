"""The tolerant scanner: tokens and commands of text that may be anything, unbalanced and binary too.

It never fails and takes linear time. It knows where tokens and top-level commands stand, not what they mean:
for text that has to be SMT-LIB there is :mod:`smtlib.reader`. Offsets count characters; bytes decoded as
Latin-1 keep theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

# What may hold parentheses that open and close nothing.
_OPAQUE = r';[^\n]*|"[^"]*+(?:""[^"]*+)*+"|\|[^|]*+\|'

OPAQUE: Final = re.compile(_OPAQUE)
"""A comment, a string or a quoted symbol. Quotes and bars that nothing closes are none."""

MARK: Final = re.compile(rf"{_OPAQUE}|[()]")
"""What decides where an expression ends: parentheses, and what may hide some."""

LEXEME: Final = re.compile(rf'{_OPAQUE}|[()]|[^\s()";|]+|["|]')
"""A token, or a comment."""

_NAME = re.compile(r'\((?:\s|;[^\n]*\n)*+(?:\|([^|]+)\||([^\s()";|]*))')
CHECKS: Final = frozenset(("check-sat", "check-sat-assuming", "check-sat-using"))
"""The commands that ask for an answer."""

# Some are opened, and emptied, as soon as they are set.
_FILE_OPTION = re.compile(
    r":(?:out|err|in)$|channel|file|log(?!ic)|trace|dump|plugin|path|prefix|directory", re.I
)
# A value that is a path names a file whatever the option is called.
_PATH = re.compile(r"^[\"|].*[/\\]", re.S)
_HARMLESS_VALUES = frozenset(("true", "false", '"stdout"', '"stderr"', "stdout", "stderr", ")", ""))


@dataclass(frozen=True, slots=True)
class Command:
    """One top-level command: ``text[start:end]``, parentheses included.

    ``name`` is its first symbol, without bars: z3 takes ``|exit|`` for ``exit``. It may be empty.
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
    """The top-level commands in order; what follows an unbalanced parenthesis is left out."""
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
    """How a command, given as its lexemes, makes a solver read or write a file of the text's choosing.

    None for the others. Texts come from strangers: some options empty the file that they name.
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
