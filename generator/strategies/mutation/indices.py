"""Indices of indexed operators, chosen so that the operator fits: widths, rotations, bounds of loops."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

from smtlib import Sort
from smtlib.signature import Bindings, Signature, SortPattern

_T = TypeVar("_T")

_LARGEST_INDEX = 1 << 20


def is_plain(pattern: SortPattern) -> bool:
    """Whether every index in a pattern is a name or a numeral, so that matching can bind it."""
    return all(isinstance(i, str) for i in pattern.indices) and all(map(is_plain, pattern.args))


def choose_indices(
    signature: Signature, sorts: tuple[Sort, ...], result: Sort, chance: random.Random | None
) -> tuple[int | str, ...] | None:
    """Indices with which the operator takes these sorts and gives ``result``; None where there are none.

    Without ``chance`` the first that fit, with it a random choice among sensible ones.
    """
    if not signature.indices:
        found = signature.apply((), sorts, result if signature.needs_as else None)
        return () if found is result else None
    for indices in _candidate_indices(signature, sorts, result, chance):
        if max((i for i in indices if isinstance(i, int)), default=0) > _LARGEST_INDEX:
            continue
        if signature.apply(indices, sorts, None) is result:
            return indices
    return None


def _candidate_indices(
    signature: Signature, sorts: tuple[Sort, ...], result: Sort, chance: random.Random | None
) -> Iterator[tuple[int | str, ...]]:
    name = signature.name
    width = result.indices[0] if result.indices else 0
    inner = sorts[0].indices[0] if sorts and sorts[0].indices else 0
    if name == "extract":
        low = int((chance.random() if chance else 0) * (max(0, inner - width) + 1))
        yield low + width - 1, low
    elif name in ("zero_extend", "sign_extend"):
        yield (width - inner,) if width >= inner else (0,)
    elif name == "repeat":
        yield (max(1, width // inner) if inner else 1,)
    elif name in ("rotate_left", "rotate_right"):
        yield (_of((0, 1, inner - 1, inner, inner + 1, inner // 2), chance),)
    elif name == "char":
        yield (_of(("#x61", "#x30", "#x0", "#xff", "#x2FFFF", "#x7A"), chance),)
    elif name == "re.^":
        yield (_of((0, 1, 2, 3, 5), chance),)
    elif name == "re.loop":
        low = int(_of((0, 1, 2, 3), chance))
        yield (low, low + int(_of((0, 1, 2), chance))) if len(signature.indices) == 2 else (low,)
    else:
        bindings: Bindings = {}
        if is_plain(signature.result):
            signature.result.match(result, bindings)
        small = _of((1, 2, 3, 5, 8), chance)
        yield tuple(
            int(i) if i.isdigit() else bindings.get(i, small)  # type: ignore[misc]
            for i in signature.indices
        )


def _of(options: Sequence[_T], chance: random.Random | None) -> _T:
    return options[int(chance.random() * len(options))] if chance else options[0]
