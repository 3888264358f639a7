"""What sorts and terms say of themselves, compared with what they were made of."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import bitwuzla
from bitwuzla import Kind

from apifuzz.engines.bitwuzla.session import Session
from apifuzz.engines.walking import first_difference, walk
from apifuzz.interface import Misbehaviour, Unsupported
from smtlib import Sort, quote_symbol
from smtlib.commands import declaration_text

MAX_NODES = 3000
"""Larger terms are not read back."""

_BINDERS = (Kind.FORALL, Kind.EXISTS, Kind.LAMBDA)


def text_of(sort: Sort) -> str:
    """The sort as bitwuzla prints it."""
    if sort.args:
        return f"({sort.name} {' '.join(map(text_of, sort.args))})"
    return sort.text if sort.indices else quote_symbol(sort.name)


def as_number(text: str) -> Fraction:
    """``1/3``, ``-1.5`` or the SMT-LIB way to write it."""
    bare = text.replace("(", " ").replace(")", " ").split()
    sign = "-" if "-" in bare else ""
    numbers = [word for word in bare if word not in ("-", "/")]
    return Fraction(sign + "/".join(word.removesuffix(".0") for word in numbers))


def nodes(term: Any, limit: int) -> Iterator[Any]:
    """The terms below and ``term`` itself, each once; Unsupported where there are more than ``limit``."""
    for count, node in enumerate(walk([term], lambda n: n.children(), lambda n: n.id())):
        if count == limit:
            raise Unsupported(f"reading back more than {limit} terms")
        yield node


def has_binder(term: Any) -> bool:
    """Whether there is a quantifier or lambda below."""
    return any(n.kind() in _BINDERS for n in nodes(term, 10 * MAX_NODES))


def unreadable(text: str, error: bitwuzla.BitwuzlaException) -> Misbehaviour:
    """The error for text that bitwuzla's parser rejects; the reason comes first to identify it."""
    return Misbehaviour("print", f"does not read back, {str(error).replace(chr(39), '')}\n{text[:2000]}")


def require_readable(node: Any) -> None:
    """Unsupported where bitwuzla's parser does not read the node that its printer writes."""
    if node.kind() == Kind.LAMBDA:
        raise Unsupported("reading back a lambda: the parser has none")
    if node.kind() == Kind.VALUE and node.sort().is_uninterpreted():
        raise Unsupported("reading back a value of an uninterpreted sort")


def symbols_in(term: Any, free: frozenset[int]) -> dict[str, Any]:
    """The free leaves of a term by name; Unsupported where reading it back cannot be the same."""
    found: dict[str, Any] = {}
    bound: set[str] = set()
    for node in nodes(term, MAX_NODES):
        kind = node.kind()
        require_readable(node)
        if kind in _BINDERS:
            bound.add(_name(node[0]))
            if node[0].id() in free:
                raise Unsupported("reading back a variable that is free and bound")
        if kind in (Kind.CONSTANT, Kind.VARIABLE):
            name = _name(node)
            if found.setdefault(name, node) != node:
                raise Unsupported(f"reading back two of the name {name}")
    for name in bound:
        found.pop(name)
    return found


def _name(leaf: Any) -> str:
    symbol = leaf.symbol()
    if not symbol:
        raise Unsupported("reading back what has no name")
    return quote_symbol(symbol)


def declarations_of(session: Session, symbols: dict[str, Any]) -> str:
    """The commands that declare the sorts of a run and these symbols."""
    lines = [f"(declare-sort {quote_symbol(name)} 0)" for name in session.declared]
    for name in sorted(symbols):
        sort = symbols[name].sort()
        params, result = (sort.fun_domain(), sort.fun_codomain()) if sort.is_fun() else ((), sort)
        lines.append(declaration_text(name, map(str, params), str(result)))
    return "\n".join(lines)


def compare(term: Any, read: Any, text: str) -> None:
    """Compare up to the identity of new declarations and of bound variables, which have the same names."""
    if (pair := first_difference(term, read, _shape)) is not None:
        pieces = f"{str(pair[0])[:300]} as {str(pair[1])[:300]} in {text[:2000]}"
        raise Misbehaviour("print", f"another term is read back\n{pieces}")


def _shape(term: Any) -> tuple[tuple[Any, ...], list[Any]]:
    if term.is_const() or term.is_variable():
        return (str(term.sort()), _name(term)), []
    value = str(term) if term.is_value() else ""
    return (term.kind(), term.indices(), str(term.sort()), value), term.children()
