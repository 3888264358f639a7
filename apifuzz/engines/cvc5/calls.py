"""Terms and sorts by the rows of ``calls.toml``: what their words mean to cvc5."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cvc5
from cvc5 import Kind

from apifuzz.engines.cvc5.session import Session
from apifuzz.engines.rows import Find, Questions, Route, associativity, fold, make_by, read_rows, words_of
from apifuzz.interface import HeadKind
from apifuzz.values import bit_words
from smtlib import Sort

_ROWS = read_rows(Path(__file__).with_name("calls.toml"))
QUESTIONS = Questions(Path(__file__).with_name("questions.toml"))
OPERATORS, VALUES, SORTS = (_ROWS[name] for name in ("operators", "values", "sorts"))

_NAMED = {entry.name: entry for kinds in (cvc5.RoundingMode, Kind) for entry in kinds}
_PRINTABLE = re.compile(r"[ -~]*\Z")
_LEFT = ":left-assoc"

MEMBERS = {
    HeadKind.CONSTRUCTOR: Kind.APPLY_CONSTRUCTOR,
    HeadKind.SELECTOR: Kind.APPLY_SELECTOR,
    HeadKind.TESTER: Kind.APPLY_TESTER,
    HeadKind.UPDATER: Kind.APPLY_UPDATER,
}
"""Kinds of terms that are made with a member of a datatype."""

# Methods of a term that make the same as a kind.
_METHODS: dict[Kind, str] = {
    Kind.NOT: "notTerm",
    Kind.AND: "andTerm",
    Kind.OR: "orTerm",
    Kind.XOR: "xorTerm",
    Kind.IMPLIES: "impTerm",
    Kind.EQUAL: "eqTerm",
    Kind.ITE: "iteTerm",
}


def make(
    session: Session,
    what: str,
    routes: Sequence[Route],
    args: Sequence[Any] = (),
    indices: Sequence[int] = (),
    **known: Any,
) -> Any:
    """What one of the routes makes, which is ``what``. Raises :class:`Unsupported` where there is none."""
    words = words_of(args, indices, word_of(session), known)
    return make_by(routes, words, session.random, f"no {what}")


def word_of(session: Session) -> Find:
    """What a word means: a kind, a rounding mode, a method of what makes terms."""

    def word(name: str) -> Any:
        if name in _NAMED:
            return _NAMED[name]
        match name:
            case "manager":
                return session.manager
            case "bits":
                return lambda n, width: make(session, "bits", VALUES.find("BitVec"), **bit_words(n, width))
            case "escape":
                return lambda n: f"\\u{{{n:x}}}"
            case "is_printable":
                return _PRINTABLE.match
        return getattr(session.maker, name)

    return word


def kind_of(name: str, sorts: Sequence[Sort]) -> Kind | None:
    """The kind for an operator at arguments of these sorts; None where it takes other calls."""
    plain = OPERATORS.plain(name, [sort.name for sort in sorts])
    return _NAMED[plain] if plain else None


def operation(session: Session, name: str, kind: Kind, indices: tuple[int, ...], args: Sequence[Any]) -> Any:
    """A kind with indices, applied in one of the ways that there are."""
    if indices:
        maker = session.maker
        as_text = kind is Kind.DIVISIBLE and session.random.happens(0.5)
        operator = maker.mkOp(kind, *(map(str, indices) if as_text else indices))
        return session.maker.mkTerm(operator, *args)
    way = session.random.randrange(6)
    if way == 1 and kind in _METHODS and len(args) <= 3 and (len(args) < 3 or kind is Kind.ITE):
        return getattr(args[0], _METHODS[kind])(*args[1:])
    make_term = session.maker.mkTerm
    if way == 0:
        return make_term(session.maker.mkOp(kind), *args)
    if way == 2 and len(args) > 2 and associativity(name) == _LEFT:
        return fold(_LEFT, args, lambda one, two: make_term(kind, one, two), make_term)
    return make_term(kind, *args)
