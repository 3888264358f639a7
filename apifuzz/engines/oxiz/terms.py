"""Sorts and terms of oxiz: one half of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from apifuzz.engine import Engine
from apifuzz.engines.oxiz.session import BINDERS, CONSTANTS, OPERATORS, QUESTIONS, VALUES, Session
from apifuzz.engines.profile import profile
from apifuzz.interface import ApiSort, ApiTerm, Head, HeadKind, Rejected, Unsupported, head_text, must
from apifuzz.values import read_value
from smtlib import BOOL, STRING, Signature, Sort, default_theories, quote_symbol
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


class OxizTerms(Engine):
    """Makes sorts and terms in a session, and asks them what they are."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session

    # Sorts

    def make_sort(self, sort: Sort, args: Sequence[ApiSort]) -> Any:
        """The text that the interface has for a sort."""
        return self.session.sort(sort, self.random)

    def inspect_sort(self, sort: ApiSort) -> None:
        """Ask the object for the sort; Unsupported where there is none."""
        session, own = self.session, sort.sort
        words = {"sort": session.object_of(own, self.random), "again": session.object_of(own, self.random)}
        QUESTIONS.ask("sort", f"sort {own}", session.words((), own.indices, words), "sort", own.name)

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

    def make_constant(self, sort: ApiSort, name: str) -> Any:
        """A free constant."""
        own = sort.sort
        made = self._named(own, name)
        self.session.constants[name] = made, own
        if own is BOOL:
            self.session.keep_text(made, quote_symbol(name))
        return made

    def make_variable(self, sort: ApiSort, name: str) -> Any:
        """A variable to be bound by its name: a constant like any other."""
        made = self._named(sort.sort, name)
        self.session.variables[made.id] = name, sort.handle
        return made

    def _named(self, sort: Sort, name: str) -> Any:
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

    def make_binder(self, sort: ApiSort, binder: str, variables: Sequence[ApiTerm], body: ApiTerm) -> Any:
        """A quantifier over all variables at once, or one inside the other."""
        pairs = [self.session.variables[v.handle.id] for v in variables]
        groups = [[pair] for pair in reversed(pairs)] if self.random.random() < 0.3 else [pairs]
        made = body.handle
        for group in groups:
            words = self.session.words((made,), (), {"variables": group})
            made = self.session.make(binder, BINDERS.find(binder, [""]), words, self.random)
        return made

    def inspect_term(self, term: ApiTerm) -> None:
        """Ask the term all it can be asked, and make it again."""
        handle = term.handle
        if isinstance(handle, str):
            return
        again = self.session.again(handle)
        tables = ("term", "made again") if again is not None else ("term",)
        words = self.session.words((), (), {"term": handle, "again": again})
        QUESTIONS.ask("term", f"term {handle.id}", words, *tables)

    def read_back(self, term: ApiTerm) -> None:
        """Print the term: what oxiz prints is not what it reads."""
        if not isinstance(term.handle, str):
            printed = self.session.manager.term_to_string(term.handle)
            # A string is printed as its characters.
            must("print", bool(printed) or term.sort.sort is STRING, "a term is printed as nothing")
