"""Sorts and terms of oxiz: one half of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from apifuzz.engines.oxiz.session import CONSTANTS, OPERATORS, VALUES, Session
from apifuzz.engines.profile import profile
from apifuzz.engines.tabled import TableEngine
from apifuzz.interface import ApiSort, ApiTerm, Head, HeadKind, Rejected, Unsupported, head_text
from apifuzz.values import read_value
from smtlib import Signature, Sort, default_theories
from smtlib.sorts import ROUNDING_MODE

THEORIES = profile("oxiz").capabilities.theories
_READABLE = frozenset(("Bool", "Int", "BitVec"))
"""Sorts of values that assertions as text may have."""


@cache
def lacking() -> frozenset[str]:
    """Operators of the theories that no call makes."""
    return frozenset(
        s.name
        for s in default_theories().signatures()
        if s.theory in THEORIES and not OPERATORS.find(s.name, [p.name for p in s.params])
    ) - {name.partition(" ")[0] for name, _ in OPERATORS}


@cache
def roundings() -> dict[str, tuple[int, ...]]:
    """The places of rounding modes, which are values, per operator."""
    return {
        s.name: (0,)
        for s in default_theories().signatures()
        if s.theory == "FloatingPoint" and s.params[:1] and s.params[0].name == "RoundingMode"
    }


def takes(signature: Signature, sorts: tuple[Sort, ...]) -> bool:
    """Whether a call makes the operator at these sorts. Rounding modes are first arguments only."""
    if ROUNDING_MODE in sorts and signature.name not in roundings():
        return False
    return ROUNDING_MODE not in sorts[1:] and bool(
        OPERATORS.find(signature.name, [sort.name for sort in sorts])
    )


class OxizTerms(TableEngine):
    """Makes sorts and terms in a session."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    # Sorts

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        """The text that the interface has for a sort."""
        return self.session.sort(sort, self.random)

    def has_sort(self, term: ApiTerm, sort: ApiSort) -> bool:
        """Whether the term is one of oxiz's at all: its sort cannot be asked."""
        return isinstance(term.handle, str) == (sort.sort is ROUNDING_MODE)

    # Terms

    def make_value(self, sort: ApiSort, text: str) -> Any:
        """The value that ``text`` writes."""
        own = sort.sort
        try:
            name, words = read_value(own, text)
        except ValueError as error:
            raise Rejected(f"{text} is no value of sort {own}") from error
        routes = (VALUES if name in VALUES else OPERATORS).find(name)
        made = self.session.make(name, routes, self.session.words((), own.indices, words), self.random)
        if own.name in _READABLE:
            self.session.keep_text(made, text)
        return made

    def named(self, sort: Sort, name: str) -> Any:
        """A free constant."""
        if sort is ROUNDING_MODE:
            raise Unsupported("constants of rounding modes")
        key = sort.name if sort.name in CONSTANTS else "other"
        words = {"name": name, "sort": self.session.sort(sort, self.random)}
        routes = CONSTANTS.find(key)
        return self.session.make(key, routes, self.session.words((), sort.indices, words), self.random)

    def make_term(self, sort: ApiSort, head: Head, args: Sequence[ApiTerm]) -> Any:
        """An operator applied."""
        if head.kind is not HeadKind.OPERATOR:
            raise Unsupported("functions and datatypes")
        handles, indices = [a.handle for a in args], head.indices
        routes = OPERATORS.find(head.name, [a.sort.sort.name for a in args])
        words = self.session.words(handles, indices)
        made = self.session.make(head.name, routes, words, self.random)
        texts = [self.session.text(handle) for handle in handles if not isinstance(handle, str)]
        # Its reader takes two arguments only of operators such as bvor, as SMT-LIB did before version 2.7.
        is_read = len(args) in (1, 2) or (args and args[0].sort.sort.name != "BitVec")
        if is_read and len(texts) == len(args) and all(texts):
            self.session.keep_text(made, f"({head_text(head)} {' '.join(texts)})")
        return made
