"""Heads of terms as text: ``bvadd``, ``(_ extract 7 0)``, ``(as seq.empty)``, ``(constructor cons)``."""

from __future__ import annotations

from functools import lru_cache

from apifuzz.interface import Head, HeadKind
from apifuzz.trace import TraceError, quote_name, split_line, unquote_name

_MEMBERS = {kind.value: kind for kind in HeadKind if kind not in (HeadKind.OPERATOR, HeadKind.APPLY)}
_MAX_INDEX = 10**9

APPLY = Head(HeadKind.APPLY, "apply")
"""The head of an application of the first argument to the others."""


def operator_text(name: str, indices: tuple[int, ...], needs_as: bool) -> str:
    """An operator of a theory file with its indices; ``(as NAME)`` where its sort does not follow."""
    if indices:
        shown = (f"#x{i:x}" if name == "char" else str(i) for i in indices)
        name = f"(_ {name} {' '.join(shown)})"
    return f"(as {name})" if needs_as else name


@lru_cache(maxsize=8192)
def head_text(head: Head) -> str:
    """The head as a trace has it."""
    if head.kind is HeadKind.OPERATOR:
        return operator_text(head.name, head.indices, head.qualified)
    return "apply" if head.kind is HeadKind.APPLY else f"({head.kind.value} {quote_name(head.name)})"


@lru_cache(maxsize=8192)
def read_head(token: str) -> Head:
    """The head that ``token`` writes; members have no datatype yet.

    Raises :class:`apifuzz.trace.TraceError`.
    """
    if token == "apply":
        return APPLY
    if token[0] != "(":
        return Head(HeadKind.OPERATOR, unquote_name(token))
    parts = split_line(token[1:-1])
    if len(parts) == 2 and parts[0] == "as":
        inner = read_head(parts[1])
        if inner.kind is HeadKind.OPERATOR and not inner.qualified:
            return Head(HeadKind.OPERATOR, inner.name, inner.indices, None, True)
    elif len(parts) == 2 and parts[0] in _MEMBERS and parts[1][0] != "(":
        return Head(_MEMBERS[parts[0]], unquote_name(parts[1]))
    elif len(parts) > 2 and parts[0] == "_" and parts[1][0] != "(":
        return Head(HeadKind.OPERATOR, parts[1], tuple(map(_index, parts[2:])))
    raise TraceError(f"{token[:60]} is no head of a term")


def _index(token: str) -> int:
    try:
        value = int(token[2:], 16) if token.startswith("#x") else int(token)
    except ValueError:
        value = -1
    if not 0 <= value <= _MAX_INDEX or not token.isascii():
        raise TraceError(f"{token[:20]} is no index: a numeral up to {_MAX_INDEX} expected")
    return value
