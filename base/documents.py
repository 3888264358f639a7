"""Dataclasses as JSON documents. Fields that a document lacks have their defaults, unknown ones are ignored:
so files of earlier versions open.
"""

from __future__ import annotations

import types
from collections import Counter
from typing import Any, TypeVar, get_args, get_origin

import msgspec

_T = TypeVar("_T")


def to_document(value: Any) -> Any:
    """``value`` (a dataclass, or anything made of them) as JSON has it; sets and dictionaries are sorted."""
    return msgspec.to_builtins(value, order="deterministic")


def from_document(data: Any, kind: type[_T]) -> _T:
    """The ``kind`` that a document is. Raises ValueError, which names the field that does not fit."""
    return msgspec.convert(data, kind, dec_hook=_decode)


def _decode(kind: Any, data: Any) -> Any:
    """What msgspec calls for types that it does not know."""
    if get_origin(kind) is Counter:
        counts: dict[Any, int] = msgspec.convert(data, types.GenericAlias(dict, (*get_args(kind), int)))
        return Counter(counts)
    raise NotImplementedError(kind)
