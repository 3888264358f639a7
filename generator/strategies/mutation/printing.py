"""Printing formulas that change a little at a time: the text of each term is kept.

A mutation makes new terms only on the way from a place up to its assertion, so only these are printed
again, from kept texts. Kept texts have no ``let``; assertions written with more than
:data:`LARGEST` terms are printed by :func:`smtlib.print_term` instead, with their sharing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from smtlib import Kind, Term, postorder, print_term
from smtlib.printer import PLAIN

LARGEST = 400
"""Larger assertions are printed with ``let``: some 3,000 characters."""

_MOST = 1_000_000


class Fragments:
    """Texts of terms. ``size`` tells with how many terms a term is written out."""

    __slots__ = ("_large", "_size", "_texts")

    def __init__(self, size: Callable[[Term], int]) -> None:
        self._size = size
        self._texts: dict[Term, str] = {}
        self._large: dict[Term, str] = {}

    def text(self, root: Term) -> str:
        """``root`` as text on one line."""
        found = self._texts.get(root)
        if found is not None:
            return found
        if self._size(root) > LARGEST:
            found = self._large.get(root)
            if found is None:
                found = self._large[root] = print_term(root)
            return found
        texts = self._texts

        def missing(term: Term) -> list[Term]:
            return [] if _is_whole(term) else [a for a in term.args if a not in texts]

        for term in postorder([root], below=missing):
            texts[term] = self._joined(term)
        return texts[root]

    def _joined(self, term: Term) -> str:
        if not term.args:
            return PLAIN.head(term)
        if _is_whole(term):
            return print_term(term)
        args = " ".join([self._texts[a] for a in term.args])
        if term.variables:
            return f"({term.op.text} {PLAIN.variable_list(term.variables)} {args})"
        return f"({term.op.text} {args})"


def written_size(order: Iterable[Term]) -> dict[Term, int]:
    """With how many terms each of ``order`` (arguments first) is written out; counting stops at a million."""
    size: dict[Term, int] = {}
    for term in order:
        size[term] = min(_MOST, 1 + sum([size[a] for a in term.args])) if term.args else 1
    return size


def _is_whole(term: Term) -> bool:
    """Whether a term is printed with all below it: a ``let`` has to be inside a quantifier's annotation."""
    return is_special(term) or bool(term.variables and is_special(term.args[0]))


def is_special(term: Term) -> bool:
    """Whether a term is not written as its head and its arguments."""
    kind = term.op.kind
    return kind is Kind.ANNOTATION or kind is Kind.MATCH or term.op.name == "@"
