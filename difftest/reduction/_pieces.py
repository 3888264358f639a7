"""What the passes of a reduction work on: commands as pieces of text, and the terms in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from smtlib import CheckedScript, Term, free_variables, postorder, print_command, print_term
from smtlib.checker import Definition
from smtlib.scanner import lexemes

MAX_TERM_NODES = 4_000
_INTRODUCES = frozenset(
    f"{how}-{what}" for how in ("declare", "define") for what in ("fun", "const", "sort", "fun-rec")
)


@dataclass(frozen=True, slots=True)
class Piece:
    """One command as text; where it holds one term, that term between ``before`` and ``after``."""

    name: str
    text: str
    before: str = ""
    term: Term | None = None
    after: str = ""

    def with_term(self, term: Term) -> Piece:
        """The same command on another term."""
        return Piece(self.name, self.before + print_term(term) + self.after, self.before, term, self.after)


def typed_piece(checked: CheckedScript, number: int) -> Piece:
    """Command ``number`` of a well-sorted script."""
    command = checked.commands[number]
    text = print_command(command)
    if command.name == "assert" and len(command.sexp) == 2:
        return Piece("assert", text, "(assert ", command.terms[0], ")")
    if command.name == "define-fun" and len(command.definitions) == 1:
        definition = command.definitions[0]
        body = print_term(definition.body)
        if text.endswith(body + ")"):
            return Piece(command.name, text, text[: -len(body) - 1], definition.body, ")")
    return Piece(command.name, text)


def introduced(piece: Piece) -> str | None:
    """The name that a command declares or defines, if it does."""
    return lexemes(piece.text, 3)[2] if piece.name in _INTRODUCES else None


def levels(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """The pairs of a push and its pop, where all count one level; none where some count more or none."""
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for number, piece in enumerate(pieces):
        if piece.name in ("push", "pop") and lexemes(piece.text, 3)[2:] not in (["1"], [")"]):
            return []
        if piece.name == "push":
            opened.append(number)
        elif piece.name == "pop" and opened:
            found.append((opened.pop(), number))
    return sorted(found, key=lambda pair: pair[0] - pair[1])


def captures(definition: Definition, args: Sequence[Term]) -> bool:
    """Whether the body binds a variable of the name of a parameter or of one that is free in an argument."""
    bound = {variable.name for term in postorder([definition.body]) for variable in term.bound}
    if not bound:
        return False
    free = [*definition.params, *(variable for arg in args for variable in free_variables(arg))]
    return any(variable.name in bound for variable in free)


def from_the_top(root: Term) -> Iterator[Term]:
    """The terms below ``root``, level by level."""
    seen = {root}
    queue = [root]
    for number in itertools.count():
        if number >= len(queue) or number > MAX_TERM_NODES:
            return
        yield queue[number]
        for arg in queue[number].args:
            if arg not in seen:
                seen.add(arg)
                queue.append(arg)


def descendants(term: Term) -> Iterator[Term]:
    """The terms below ``term`` that have its sort, nearest first."""
    return (below for below in from_the_top(term) if below is not term and below.sort is term.sort)
