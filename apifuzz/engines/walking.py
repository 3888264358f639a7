"""Walks through what terms, or proofs, are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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


def first_difference(one: Any, two: Any, shape: Callable[[Any], tuple[Any, Sequence[Any]]]) -> Any:
    """The first two parts in which two terms differ; None where they are alike down to the leaves.

    ``shape`` returns what must be equal of two parts, and the children to compare then.
    """
    todo, seen = [(one, two)], set()
    while todo:
        pair = todo.pop()
        if pair[0] == pair[1] or pair in seen:
            continue
        seen.add(pair)
        (own, children), (other, others) = map(shape, pair)
        if own != other or len(children) != len(others):
            return pair
        todo.extend(zip(children, others, strict=True))
    return None
