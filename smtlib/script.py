"""Scripts: the commands of an SMT-LIB text, before any sort is checked."""

from __future__ import annotations

from dataclasses import dataclass

from smtlib.errors import ReadError
from smtlib.reader import SExpList, line_and_column, read_sexps, sexp_text


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name and the whole s-expression, as read."""

    name: str
    sexp: SExpList


@dataclass(frozen=True, slots=True)
class Script:
    """The commands of one text; ``text`` is the unchanged input."""

    text: str
    commands: tuple[Command, ...]


def read_script(text: str) -> Script:
    """Read ``text`` as a sequence of commands.

    Raises :class:`ReadError` with line and column if a parenthesis, string or quoted symbol is not closed, or
    at an expression that is not a command.
    """
    commands = []
    position = 0
    for sexp in read_sexps(text):
        if isinstance(sexp, SExpList):
            position = sexp.position
            if sexp and isinstance(sexp[0], str):
                commands.append(Command(sexp[0], sexp))
                continue
        else:
            position = text.find(sexp, position)
        line, column = line_and_column(text, max(position, 0))
        raise ReadError(f"expected a command, found {sexp_text(sexp, 60)}", line, column)
    return Script(text, tuple(commands))
