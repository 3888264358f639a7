"""What sorts and terms say of themselves, compared with what they were made of."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import bitwuzla
from bitwuzla import Kind

from apifuzz.engines.bitwuzla.session import QUESTIONS, Session
from apifuzz.engines.rows import words_of
from apifuzz.engines.walking import first_difference, walk
from apifuzz.interface import Misbehaviour, Unsupported, must
from smtlib import Sort, quote_symbol
from smtlib.floats import exact_number
from smtlib.sorts import subsorts

MAX_NODES = 3000
"""Larger terms are not read back."""

_BINDERS = (Kind.FORALL, Kind.EXISTS, Kind.LAMBDA)


def _inspect(script: str, session: Session, what: Sort, **words: Any) -> None:
    args = [session.sort(part) for part in what.args] if script == "sort" else []
    known = {"session": session, "what": what, "check_value": check_value, "exact_number": exact_number}
    known |= {"Kind": Kind, "Parser": bitwuzla.Parser, "Options": bitwuzla.Options, "subsorts": subsorts}
    known |= {"must": must, "Misbehaviour": Misbehaviour, "as_number": _as_number, "quoted": quote_symbol}
    QUESTIONS.run(script, words_of(args, what.indices, session.word, known | words))


def inspect_sort(session: Session, handle: Any, sort: Sort) -> None:
    """Compare all that a sort says of itself with ``sort``."""
    own = sort.name if sort.name in QUESTIONS.is_ else "declared"
    _inspect("sort", session, sort, sort=handle, own=own, same=session.sort(sort), text=_text(sort))


def _text(sort: Sort) -> str:
    if sort.args:
        return f"({sort.name} {' '.join(map(_text, sort.args))})"
    return sort.text if sort.indices else quote_symbol(sort.name)


def inspect_term(session: Session, term: Any, sort: Sort) -> None:
    """Compare all that a term says of itself; make it again from its kind, children and indices."""
    _inspect("term", session, sort, term=term)


def check_value(session: Session, sort: Sort, value: Any) -> None:
    """Compare what a value says of itself in its different ways; Misbehaviour where they differ."""
    _inspect("value", session, sort, term=value)


def _as_number(text: str) -> Fraction:
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


def read_back(session: Session, random: Random, term: Any, free: frozenset[int]) -> None:
    """Print a term, read it with bitwuzla's parser, compare; Unsupported for what the parser does not know.

    ``free`` are the ids of variables that are not bound in it.
    """
    symbols = _symbols(term, free)
    # Base 16 is printed and not read back: bitwuzla 0.9 leaves leading zeros out, which makes narrower
    # values.
    term.str(16)
    text = term.str(random.choice((2, 10)))
    parser = bitwuzla.Parser(session.manager, bitwuzla.Options())
    declarations = _declarations(session, symbols)
    try:
        if declarations:
            parser.parse(declarations, True, False)
        read = parser.parse_term(text)
    except bitwuzla.BitwuzlaException as error:
        raise unreadable(text, error) from error
    _compare(term, read, text)
    count = len(session.declared)
    must("print", len(parser.get_declared_sorts()) == count, f"{count} sorts declared, the parser has others")
    declared = sorted(quote_symbol(f.symbol()) for f in parser.get_declared_funs())
    must("print", declared == sorted(symbols), f"declared {sorted(symbols)}, the parser has {declared}")


def unreadable(text: str, error: bitwuzla.BitwuzlaException) -> Misbehaviour:
    """The error for text that bitwuzla's parser rejects; the reason comes first to identify it."""
    return Misbehaviour("print", f"does not read back, {str(error).replace(chr(39), '')}\n{text[:2000]}")


def require_readable(node: Any) -> None:
    """Unsupported where bitwuzla's parser does not read the node that its printer writes."""
    if node.kind() == Kind.LAMBDA:
        raise Unsupported("reading back a lambda: the parser has none")
    if node.kind() == Kind.VALUE and node.sort().is_uninterpreted():
        raise Unsupported("reading back a value of an uninterpreted sort")


def _symbols(term: Any, free: frozenset[int]) -> dict[str, Any]:
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


def _declarations(session: Session, symbols: dict[str, Any]) -> str:
    lines = [f"(declare-sort {quote_symbol(name)} 0)" for name in session.declared]
    for name in sorted(symbols):
        sort = symbols[name].sort()
        if sort.is_fun():
            domain = " ".join(map(str, sort.fun_domain()))
            lines.append(f"(declare-fun {name} ({domain}) {sort.fun_codomain()})")
        else:
            lines.append(f"(declare-const {name} {sort})")
    return "\n".join(lines)


def _compare(term: Any, read: Any, text: str) -> None:
    """Compare up to the identity of new declarations and of bound variables, which have the same names."""
    if (pair := first_difference(term, read, _shape)) is not None:
        pieces = f"{str(pair[0])[:300]} as {str(pair[1])[:300]} in {text[:2000]}"
        raise Misbehaviour("print", f"another term is read back\n{pieces}")


def _shape(term: Any) -> tuple[tuple[Any, ...], list[Any]]:
    if term.is_const() or term.is_variable():
        return (str(term.sort()), _name(term)), []
    value = str(term) if term.is_value() else ""
    return (term.kind(), term.indices(), str(term.sort()), value), term.children()
