"""What sorts and terms say of themselves, compared with what they were made of."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import bitwuzla
from bitwuzla import Kind

from apifuzz.engines.bitwuzla.session import Session
from apifuzz.engines.bitwuzla.values import check_value
from apifuzz.interface import Misbehaviour, Unsupported
from smtlib import Sort, quote_symbol

MAX_NODES = 3000
"""Larger terms are not read back."""

_IS = {
    "Bool": "is_bool",
    "BitVec": "is_bv",
    "FloatingPoint": "is_fp",
    "RoundingMode": "is_rm",
    "Array": "is_array",
    "->": "is_fun",
}
_ALL_IS = (*_IS.values(), "is_uninterpreted", "is_null")

_NORMAL = {Kind.IFF: Kind.EQUAL}
"""Kinds that bitwuzla turns into another when the term is made."""

_LEAVES = (Kind.CONSTANT, Kind.VARIABLE, Kind.VALUE)
_BINDERS = (Kind.FORALL, Kind.EXISTS, Kind.LAMBDA)


def inspect_sort(session: Session, handle: Any, sort: Sort) -> None:
    """Compare all that a sort says of itself with ``sort``."""

    def require(asked: str, said: Any, expected: Any) -> None:
        if said != expected:
            raise Misbehaviour("sort", f"{sort}: {asked} says {said}, expected {expected}")

    expected = _IS.get(sort.name, "is_uninterpreted")
    for name in _ALL_IS:
        require(name, getattr(handle, name)(), name == expected)
    if sort.name == "BitVec":
        require("bv_size", handle.bv_size(), sort.indices[0])
    elif sort.name == "FloatingPoint":
        require("fp_exp_size", handle.fp_exp_size(), sort.indices[0])
        require("fp_sig_size", handle.fp_sig_size(), sort.indices[1])
    elif sort.name == "Array":
        inspect_sort(session, handle.array_index(), sort.args[0])
        inspect_sort(session, handle.array_element(), sort.args[1])
    elif sort.is_function:
        require("fun_arity", handle.fun_arity(), len(sort.args) - 1)
        for part, arg in zip((*handle.fun_domain(), handle.fun_codomain()), sort.args, strict=True):
            inspect_sort(session, part, arg)
    elif sort.name not in _IS:
        require("uninterpreted_symbol", quote_symbol(handle.uninterpreted_symbol()), quote_symbol(sort.name))
    if not sort.is_function:  # which bitwuzla prints as A -> B
        require("str", str(handle), _text(sort))
        _read_sort_back(session, handle, sort)
    same = session.sort(sort)
    require("==", handle == same, True)
    require("id", handle.id(), same.id())
    require("hash", hash(handle), hash(same))


def _read_sort_back(session: Session, handle: Any, sort: Sort) -> None:
    if any(name in session.declared for name in _names(sort)):
        return  # The parser would declare another of the name.
    parser = bitwuzla.Parser(session.manager, bitwuzla.Options())
    read = parser.parse_sort(str(handle))
    if read != handle:
        raise Misbehaviour("print", f"{sort} reads back as {read}")


def _names(sort: Sort) -> set[str]:
    return {sort.name}.union(*map(_names, sort.args))


def _text(sort: Sort) -> str:
    if sort.args:
        return f"({sort.name} {' '.join(map(_text, sort.args))})"
    return sort.text if sort.indices else quote_symbol(sort.name)


def inspect_term(session: Session, term: Any, sort: Sort) -> None:
    """Compare all that a term says of itself; make it again from its kind, children and indices."""

    def require(asked: str, said: Any, expected: Any) -> None:
        if said != expected:
            raise Misbehaviour("term", f"{str(term)[:300]}: {asked} says {said}, expected {expected}")

    kind = term.kind()
    children = term.children()
    indices = term.indices()
    require("is_null", term.is_null(), False)
    require("is_const", term.is_const(), kind == Kind.CONSTANT)
    require("is_variable", term.is_variable(), kind == Kind.VARIABLE)
    require("is_value", term.is_value(), kind == Kind.VALUE)
    require("num_children", term.num_children(), len(children))
    require("num_indices", term.num_indices(), len(indices))
    for place, child in enumerate(children):
        require(f"[{place}]", term[place], child)
    require("hash", hash(term), term.id())
    made = session.made.get(term.id())
    if made is not None:
        require("kind", kind, _NORMAL.get(made[0], made[0]))
        require("children", tuple(c.id() for c in children), made[1])
        require("indices", tuple(indices), made[2])
    name = session.names.get(term.id())
    if name is not None:
        require("symbol", term.symbol(), name)
    if kind == Kind.VALUE:
        if not term.sort().is_uninterpreted():
            check_value(session, sort, term)
    elif kind not in _LEAVES:
        require("mk_term", _again(session, term, kind, children, indices), term)
    require("str", str(term), term.str())


def _again(session: Session, term: Any, kind: Any, children: list[Any], indices: list[int]) -> Any:
    if kind == Kind.CONST_ARRAY:
        return session.manager.mk_const_array(term.sort(), children[0])
    return session.manager.mk_term(kind, children, indices)


def nodes(term: Any, limit: int) -> Iterator[Any]:
    """The terms below and ``term`` itself, each once; Unsupported where there are more than ``limit``."""
    seen = {term.id()}
    pending = [term]
    while pending:
        node = pending.pop()
        yield node
        for child in node.children():
            if child.id() not in seen:
                if len(seen) >= limit:
                    raise Unsupported(f"reading back more than {limit} terms")
                seen.add(child.id())
                pending.append(child)


def has_binder(term: Any) -> bool:
    """Whether there is a quantifier or lambda below."""
    return any(n.kind() in _BINDERS for n in nodes(term, 10 * MAX_NODES))


def read_back(session: Session, random: Random, term: Any, free: frozenset[int]) -> None:
    """Print a term, read it with bitwuzla's parser, compare; Unsupported for what the parser does not know.

    ``free`` are the ids of variables that are not bound in it.
    """
    symbols = _symbols(term, free)
    # Base 16 is asked for and not read: bitwuzla 0.9 leaves leading zeros out, which makes narrower values.
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
    if len(parser.get_declared_sorts()) != len(session.declared):
        raise Misbehaviour("print", f"{len(session.declared)} sorts declared, the parser has others")
    declared = sorted(quote_symbol(f.symbol()) for f in parser.get_declared_funs())
    if declared != sorted(symbols):
        raise Misbehaviour("print", f"declared {sorted(symbols)}, the parser has {declared}")


def unreadable(text: str, error: bitwuzla.BitwuzlaException) -> Misbehaviour:
    """What to raise for text that bitwuzla's parser rejects: the reason first, for it tells errors apart."""
    return Misbehaviour("print", f"does not read back, {str(error).replace(chr(39), '')}\n{text[:2000]}")


def _symbols(term: Any, free: frozenset[int]) -> dict[str, Any]:
    """The free leaves of a term by name; Unsupported where reading it back cannot be the same."""
    found: dict[str, Any] = {}
    bound: set[str] = set()
    for node in nodes(term, MAX_NODES):
        kind = node.kind()
        if kind == Kind.LAMBDA:
            raise Unsupported("reading back a lambda: the parser has none")
        if kind == Kind.VALUE and node.sort().is_uninterpreted():
            raise Unsupported("reading back a value of an uninterpreted sort")
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
    """Compare up to the identity of what was declared anew and of bound variables."""
    seen: set[tuple[int, int]] = set()
    bound: set[tuple[int, int]] = set()
    pending = [(term, read)]
    while pending:
        one, other = pending.pop()
        pair = (one.id(), other.id())
        if pair in seen or one == other:
            continue
        seen.add(pair)
        if _is_leaf(one):
            if pair not in bound and not (other.kind() == Kind.CONSTANT and _name(one) == _name(other)):
                raise Misbehaviour("print", f"another leaf is read back\n{one} as {other} in {text[:2000]}")
            continue
        if (
            one.kind() != other.kind()
            or one.indices() != other.indices()
            or one.num_children() != other.num_children()
            or str(one.sort()) != str(other.sort())
            or one.is_value()
        ):
            pieces = f"{str(one)[:300]} as {str(other)[:300]} in {text[:2000]}"
            raise Misbehaviour("print", f"another term is read back\n{pieces}")
        children = list(zip(one.children(), other.children(), strict=True))
        if one.kind() in _BINDERS:
            bound.add((one[0].id(), other[0].id()))
            children = children[1:]
        pending.extend(children)


def _is_leaf(term: Any) -> bool:
    return bool(term.is_const() or term.is_variable())
