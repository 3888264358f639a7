"""Dataclasses as JSON documents. Missing fields get their defaults and unknown fields are ignored, so that
files of earlier versions can be read.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

_T = TypeVar("_T")


def to_document(value: Any) -> Any:
    """``value`` (a dataclass, or containers of them) as a JSON document; sets and dictionaries are sorted."""
    return msgspec.to_builtins(value, order="deterministic")


def from_document(data: Any, kind: type[_T]) -> _T:
    """Convert a document to ``kind``. Raises ValueError, which names the invalid field."""
    return msgspec.convert(data, kind)
