"""Skeletons: an assertion's connectives and quantifiers, everything else a numbered hole.

The canonical text is an s-expression that reads back: ``(forall 2 (or (hole 0) (not (hole 1))))``, where
2 is how many variables the quantifier binds. Holes are numbered from 0 in reading order, so
skeletons are equal when their texts are. The sorts of bound variables are no part of a skeleton.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from smtlib.scanner import lexemes

CONNECTIVES = frozenset(("and", "or", "not", "=>", "xor"))
"""The connectives of a skeleton. ``=`` and ``ite`` over Bool are atoms."""

QUANTIFIERS = frozenset(("forall", "exists"))
"""The quantifiers of a skeleton."""


class SkeletonError(ValueError):
    """A text that is no skeleton."""


@dataclass(frozen=True, slots=True)
class Binder:
    """A quantifier of a skeleton.

    It binds ``variables`` variables over the holes ``first_hole <= hole < end_hole``. ``parent`` is the
    number of the innermost binder around it, or -1. Binders are numbered in reading order.
    """

    quantifier: str
    variables: int
    first_hole: int
    end_hole: int
    parent: int


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A skeleton, ready to be filled by joining.

    ``segments`` is its SMT-LIB text cut where something is to be put in; ``items[i]`` says what
    stands between ``segments[i]`` and ``segments[i + 1]``: the hole ``n`` where it is ``n >= 0``, else the
    variable list of binder ``~n``. Equality is that of the text.
    """

    text: str
    holes: int = field(compare=False)
    binders: tuple[Binder, ...] = field(compare=False)
    segments: tuple[str, ...] = field(compare=False)
    items: tuple[int, ...] = field(compare=False)

    @staticmethod
    def parse(text: str) -> Skeleton:
        """The skeleton of a canonical text. Raises :class:`SkeletonError`."""
        return _parse(text)

    @property
    def variables(self) -> int:
        """How many variables its quantifiers bind."""
        return sum(b.variables for b in self.binders)

    def fill(self, holes: Sequence[str], binders: Sequence[str] = ()) -> str:
        """Its SMT-LIB text with these formulas in the holes and these variable lists,
        each like ``(x Int) (y Int)``, at the binders."""
        parts = [self.segments[0]]
        for item, segment in zip(self.items, self.segments[1:], strict=True):
            parts.append(holes[item] if item >= 0 else binders[~item])
            parts.append(segment)
        return "".join(parts)

    def __str__(self) -> str:
        return self.text


@lru_cache(maxsize=16_384)
def _parse(text: str) -> Skeleton:
    tokens = lexemes(text)
    segments: list[str] = []
    items: list[int] = []
    binders: list[tuple[str, int, int, int, int]] = []
    enclosing: list[int] = []
    holes = 0
    buffer: list[str] = []
    # What waits for its closing parenthesis: a connective (-1) or the number of a binder.
    opened: list[int] = []
    empty: list[bool] = []
    position = 0
    while position < len(tokens):
        if tokens[position] == ")":
            if not opened or empty.pop():
                raise SkeletonError(f"')' closes nothing or an empty list in {text[:80]}")
            binder = opened.pop()
            if binder >= 0:
                quantifier, variables, first, _, parent = binders[binder]
                binders[binder] = (quantifier, variables, first, holes, parent)
                enclosing.pop()
            buffer.append(")")
            position += 1
            continue
        if position and not opened:
            raise SkeletonError(f"more than one formula in {text[:80]}")
        if empty:
            if opened[-1] >= 0 and not empty[-1]:
                raise SkeletonError(f"a quantifier over more than one formula in {text[:80]}")
            empty[-1] = False
            buffer.append(" ")
        head, number = _head(tokens, position, text)
        if head == "hole":
            if number != holes or tokens[position + 3 : position + 4] != [")"]:
                raise SkeletonError(f"holes are not numbered in order in {text[:80]}")
            segments.append("".join(buffer))
            buffer.clear()
            items.append(holes)
            holes += 1
            position += 4
        elif head in QUANTIFIERS:
            buffer.append(f"({head} (")
            segments.append("".join(buffer))
            buffer[:] = [")"]
            items.append(~len(binders))
            opened.append(len(binders))
            empty.append(True)
            binders.append((head, number, holes, holes, enclosing[-1] if enclosing else -1))
            enclosing.append(len(binders) - 1)
            position += 3
        else:
            buffer.append(f"({head}")
            opened.append(-1)
            empty.append(True)
            position += 2
    if opened or not segments:
        raise SkeletonError(f"no whole skeleton: {text[:80]}")
    segments.append("".join(buffer))
    return Skeleton(text, holes, tuple(Binder(*b) for b in binders), tuple(segments), tuple(items))


def _head(tokens: list[str], position: int, text: str) -> tuple[str, int]:
    """The word after ``(`` and, for a hole or quantifier, its number."""
    head = tokens[position + 1] if tokens[position] == "(" and position + 1 < len(tokens) else ""
    if head in CONNECTIVES:
        return head, 0
    number = tokens[position + 2] if position + 2 < len(tokens) else ""
    if (head != "hole" and head not in QUANTIFIERS) or not number.isdecimal():
        raise SkeletonError(f"expected a connective, quantifier or hole in {text[:80]}")
    return head, int(number)
