"""Heads of terms as text: ``bvadd``, ``(_ extract 7 0)``, ``(as seq.empty)``, ``(constructor cons)``."""

from __future__ import annotations

from functools import lru_cache

from apifuzz.interface import Head, HeadKind
from apifuzz.trace import TraceError, quote_name, split_line, unquote_name
from smtlib import Sort

_MEMBERS = {
    "constructor": HeadKind.CONSTRUCTOR,
    "selector": HeadKind.SELECTOR,
    "tester": HeadKind.TESTER,
    "updater": HeadKind.UPDATER,
}
_MAX_INDEX = 10**9


def operator_text(name: str, indices: tuple[int, ...], needs_as: bool) -> str:
    """An operator of a theory file with its indices; ``(as NAME)`` where its sort does not follow."""
    if indices:
        shown = (f"#x{i:x}" if name == "char" else str(i) for i in indices)
        name = f"(_ {name} {' '.join(shown)})"
    return f"(as {name})" if needs_as else name


def member_text(kind: HeadKind, name: str) -> str:
    """A constructor, selector, tester or updater of a datatype."""
    return f"({kind.value} {quote_name(name)})"


@lru_cache(maxsize=8192)
def read_head(token: str) -> tuple[Head, bool]:
    """The head that ``token`` writes, and whether it was ``(as ...)``. Members have no datatype yet.

    Raises :class:`apifuzz.trace.TraceError`.
    """
    if token == "apply":
        return Head(HeadKind.APPLY, "apply"), False
    if token[0] != "(":
        return Head(HeadKind.OPERATOR, unquote_name(token)), False
    parts = split_line(token[1:-1])
    if len(parts) == 2 and parts[0] == "as":
        inner, qualified = read_head(parts[1])
        if inner.kind is HeadKind.OPERATOR and not qualified:
            return inner, True
    elif len(parts) == 2 and parts[0] in _MEMBERS and parts[1][0] != "(":
        return Head(_MEMBERS[parts[0]], unquote_name(parts[1])), False
    elif len(parts) > 2 and parts[0] == "_" and parts[1][0] != "(":
        return Head(HeadKind.OPERATOR, parts[1], tuple(map(_index, parts[2:]))), False
    raise TraceError(f"{token[:60]} is no head of a term")


def _index(token: str) -> int:
    try:
        value = int(token[2:], 16) if token.startswith("#x") else int(token)
    except ValueError:
        value = -1
    if not 0 <= value <= _MAX_INDEX or not token.isascii():
        raise TraceError(f"{token[:20]} is no index: a numeral up to {_MAX_INDEX} is wanted")
    return value


def of_datatype(head: Head, datatype: Sort) -> Head:
    """A member's head with the datatype it belongs to."""
    return Head(head.kind, head.name, head.indices, datatype)
