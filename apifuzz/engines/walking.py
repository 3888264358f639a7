"""Going through what terms, or proofs, are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any


def walk(
    roots: Iterable[Any],
    children: Callable[[Any], Iterable[Any]] = list,
    key: Callable[[Any], Any] = lambda part: part,
    most: int | None = None,
) -> Iterator[Any]:
    """``roots`` and all that they are made of, each part (by ``key``) once, breadth first; at most ``most``
    parts.
    """
    todo = list(roots)
    seen: set[Any] = set()
    for part in todo:
        if key(part) not in seen and (most is None or len(seen) < most):
            seen.add(key(part))
            yield part
            todo.extend(children(part))
