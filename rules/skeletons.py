"""Skeletons: the connectives and quantifiers of an assertion, with numbered holes for everything else.

The canonical text is an s-expression such as ``(forall 2 (or (hole 0) (not (hole 1))))``, where 2 is the
number of variables that the quantifier binds. Holes are numbered from 0 in reading order, so skeletons are
equal if their texts are. The sorts of bound variables are not part of a skeleton.
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
    """A text is not a skeleton."""


@dataclass(frozen=True, slots=True)
class Binder:
    """A quantifier of a skeleton, which binds ``variables`` variables.

    Its scope are the holes from ``first_hole`` to ``end_hole - 1``. ``parent``: the number of the innermost
    binder around it, or -1. Binders are numbered in reading order.
    """

    quantifier: str
    variables: int
    first_hole: int
    end_hole: int
    parent: int


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A skeleton, in a form that can be filled by joining texts.

    ``segments``: its SMT-LIB text, split at holes and variable lists. ``items[i]``: what is between
    ``segments[i]`` and ``segments[i + 1]``: the hole ``n`` if ``n >= 0``, else the variable list of binder
    ``~n``. Skeletons are equal if their texts are.
    """

    text: str
    holes: int = field(compare=False)
    binders: tuple[Binder, ...] = field(compare=False)
    segments: tuple[str, ...] = field(compare=False)
    items: tuple[int, ...] = field(compare=False)

    @staticmethod
    def parse(text: str) -> Skeleton:
        """Parse a canonical text. Raises :class:`SkeletonError`."""
        return _parse(text)

    @property
    def variables(self) -> int:
        """The number of variables that its quantifiers bind."""
        return sum(b.variables for b in self.binders)

    def fill(self, holes: Sequence[str], binders: Sequence[str] = ()) -> str:
        """Its SMT-LIB text with these formulas in the holes and these variable lists, such as
        ``(x Int) (y Int)``, at the binders.
        """
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
    # The open parentheses: a connective (-1) or the number of a binder.
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
        raise SkeletonError(f"not a complete skeleton: {text[:80]}")
    segments.append("".join(buffer))
    return Skeleton(text, holes, tuple(Binder(*b) for b in binders), tuple(segments), tuple(items))


def _head(tokens: list[str], position: int, text: str) -> tuple[str, int]:
    """The word after ``(``, and the number of a hole or quantifier."""
    head = tokens[position + 1] if tokens[position] == "(" and position + 1 < len(tokens) else ""
    if head in CONNECTIVES:
        return head, 0
    number = tokens[position + 2] if position + 2 < len(tokens) else ""
    if (head != "hole" and head not in QUANTIFIERS) or not number.isdecimal():
        raise SkeletonError(f"expected a connective, quantifier or hole in {text[:80]}")
    return head, int(number)
