"""Dataclasses as JSON documents. Fields that a document lacks have their defaults, unknown ones are ignored:
so files of earlier versions open.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")


def to_document(value: Any) -> Any:
    """``value`` (a dataclass, or anything made of them) as JSON has it; sets and dictionaries are sorted."""
    return msgspec.to_builtins(value, order="deterministic")


def from_document(data: Any, kind: type[_T]) -> _T:
    """The ``kind`` that a document is. Raises ValueError, which names the field that does not fit."""
    return msgspec.convert(data, kind)
