"""What tests are joined from: skeletons and atoms, taken apart once when they are loaded.

Nothing here edits SMT-LIB text. An atom is the text between its slots and the rank of each slot; a
skeleton is the text between its holes and its binders. Joining them with symbols of the right
ranks gives well-sorted text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smtlib import read_sexps

Rank = tuple[tuple[str, ...], str]
"""Parameter sorts and result sort, as text. A constant has no parameters."""


@dataclass(frozen=True, slots=True)
class AtomTemplate:
    """An atom: ``segments`` joined by the symbols that fill ``occurrences`` (indices into ``ranks``).

    ``bound`` marks the slots that a quantifier bound where the atom was found. ``prelude``
    holds the commands that must come first. ``signature`` is a signature's row id or -1.
    """

    id: int
    segments: tuple[str, ...]
    occurrences: tuple[int, ...]
    ranks: tuple[Rank, ...]
    bound: tuple[bool, ...]
    prelude: tuple[str, ...]
    signature: int
    theories: frozenset[str]
    issue: str

    def join(self, names: Sequence[str]) -> str:
        """The atom's text with ``names`` in its slots."""
        pieces = [self.segments[0]]
        for slot, segment in zip(self.occurrences, self.segments[1:], strict=True):
            pieces.append(names[slot])
            pieces.append(segment)
        return "".join(pieces)


@dataclass(frozen=True, slots=True)
class Quantifier:
    """A quantifier of a skeleton: it binds ``variables`` variables over the holes ``first <= h < last``."""

    variables: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class SkeletonTemplate:
    """A skeleton: ``segments`` with a hole or a binder list between each two.

    ``parts[i]`` stands after ``segments[i]``: ``h >= 0`` is hole h, ``-1 - q`` the variables of
    quantifier q. ``enclosing[h]`` lists the quantifiers around hole h, outermost first.
    """

    id: int
    segments: tuple[str, ...]
    parts: tuple[int, ...]
    holes: int
    quantifiers: tuple[Quantifier, ...]
    enclosing: tuple[tuple[int, ...], ...]
    issue: str

    def join(self, atoms: Sequence[str], binders: Sequence[str]) -> str:
        """The formula with ``atoms`` in the holes and ``binders`` as the quantifiers' variable lists."""
        pieces = [self.segments[0]]
        for part, segment in zip(self.parts, self.segments[1:], strict=True):
            pieces.append(atoms[part] if part >= 0 else binders[-1 - part])
            pieces.append(segment)
        return "".join(pieces)


def compile_skeleton(identifier: int, text: str, issue: str) -> SkeletonTemplate:
    """Take apart a skeleton's canonical text, ``(forall 2 (or (hole 0) (not (hole 1))))``."""
    segments: list[str] = []
    parts: list[int] = []
    counts: list[int] = []
    firsts: list[int] = []
    lasts: list[int] = []
    enclosing: list[tuple[int, ...]] = []
    around: list[int] = []
    pending = ""
    # The stack holds s-expressions to write, text to put out, and None where a quantifier ends.
    stack: list[object] = [read_sexps(text)[0]]
    while stack:
        item = stack.pop()
        if item is None:
            lasts[around.pop()] = len(enclosing)
        elif isinstance(item, str):
            pending += item
        elif isinstance(item, list) and item[0] == "hole":
            segments.append(pending)
            parts.append(len(enclosing))
            enclosing.append(tuple(around))
            pending = ""
        elif isinstance(item, list) and item[0] in ("forall", "exists"):
            segments.append(f"{pending}({item[0]} (")
            parts.append(-1 - len(counts))
            around.append(len(counts))
            counts.append(int(item[1]))
            firsts.append(len(enclosing))
            lasts.append(0)
            pending = ") "
            stack += [None, ")", item[2]]
        elif isinstance(item, list):
            stack.append(")")
            for argument in reversed(item[1:]):
                stack += [argument, " "]
            stack.append("(" + item[0])
    quantifiers = tuple(map(Quantifier, counts, firsts, lasts))
    return SkeletonTemplate(
        identifier, (*segments, pending), tuple(parts), len(enclosing), quantifiers, tuple(enclosing), issue
    )
