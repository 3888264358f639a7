"""The terms that a fusion puts in the places of variables, as text."""

from __future__ import annotations

from collections.abc import Mapping

from smtlib import Kind, Naming, Term, print_term

_MARK = "\0"


class Template:
    """A term over x, y and z as text, for other names in their places."""

    def __init__(self, term: Term) -> None:
        self._pieces = print_term(term, _Places()).split(_MARK)

    def text(self, names: Mapping[str, str]) -> str:
        """The term with these names for x, y and z."""
        pieces = self._pieces
        return "".join([names[p] if n % 2 else p for n, p in enumerate(pieces)])


class _Places(Naming):
    def head(self, term: Term) -> str:
        """The text of a term's head."""
        text = super().head(term)
        return f"{_MARK}{text}{_MARK}" if term.op.kind is Kind.SYMBOL else text
