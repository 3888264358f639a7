"""What tests are joined from: skeletons and atoms of a corpus, with what is worked out once about them.

Joining an atom with symbols of its slots' ranks, and a skeleton with atoms and binders, gives well-sorted
text. SMT-LIB text is edited only once, to remove connectives of one formula.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from rules import Atom, Skeleton
from smtlib.scanner import lexemes

Rank = tuple[tuple[str, ...], str]
"""Parameter sorts and result sort, as text. A constant has no parameters."""

_OF_TWO = frozenset(("and", "or", "xor", "=>"))
_HAS_CONNECTIVES = re.compile(r"\((?:and|or|xor|=>) ")
# What stands for a symbol of an atom while it is gone through; no SMT-LIB text holds it.
_SLOT = "\0"


@dataclass(frozen=True, slots=True)
class AtomTemplate:
    """An atom of the corpus: row id, ranks of its slots, whether a quantifier bound each where it was
    found, the row id of its signature (-1: none), and an issue it came from."""

    id: int
    atom: Atom
    ranks: tuple[Rank, ...]
    bound: tuple[bool, ...]
    signature: int
    issue: str

    @classmethod
    def of(cls, identifier: int, atom: Atom, signature: int, issue: str) -> AtomTemplate:
        """The template of an atom, without connectives of one formula inside it."""
        if _HAS_CONNECTIVES.search(atom.text):
            text = without_lone_connectives(_SLOT.join(atom.segments))
            atom = replace(atom, segments=tuple(text.split(_SLOT)))
        ranks = tuple((slot.params, slot.result) for slot in atom.slots)
        return cls(identifier, atom, ranks, tuple(s.was_bound for s in atom.slots), signature, issue)


@dataclass(frozen=True, slots=True)
class SkeletonTemplate:
    """A skeleton of the corpus: row id, the binders around each hole (outermost first), and an issue."""

    id: int
    skeleton: Skeleton
    enclosing: tuple[tuple[int, ...], ...]
    issue: str

    @classmethod
    def of(cls, identifier: int, skeleton: Skeleton, issue: str) -> SkeletonTemplate:
        """The template of a skeleton, without its connectives of one formula."""
        skeleton = Skeleton.parse(without_lone_connectives(skeleton.text))
        enclosing: list[tuple[int, ...]] = [()] * skeleton.holes
        # Binders are numbered in reading order, so an outer one comes before those inside it.
        around: list[tuple[int, ...]] = []
        for number, binder in enumerate(skeleton.binders):
            around.append((*(around[binder.parent] if binder.parent >= 0 else ()), number))
            count = binder.end_hole - binder.first_hole
            enclosing[binder.first_hole : binder.end_hole] = [around[number]] * count
        return cls(identifier, skeleton, tuple(enclosing), issue)

    def outer(self, binder: int) -> list[int]:
        """The binders around ``binder``, innermost first."""
        found = []
        parent = self.skeleton.binders[binder].parent
        while parent >= 0:
            found.append(parent)
            parent = self.skeleton.binders[parent].parent
        return found


def without_lone_connectives(text: str) -> str:
    """A formula's text with ``F`` for ``(and F)`` and the like: SMT-LIB wants two formulas there. z3 and
    cvc5 take one, and such formulas come from their trackers; bitwuzla refuses it.

    >>> without_lone_connectives("(and (or (hole 0) (and (not (hole 1)))))")
    '(or (hole 0) (not (hole 1)))'
    """
    open_lists: list[list[str]] = [[]]
    for token in lexemes(text):
        if token == "(":
            open_lists.append([])
        elif token == ")":
            parts = open_lists.pop()
            lone = len(parts) == 2 and parts[0] in _OF_TWO
            open_lists[-1].append(parts[1] if lone else f"({' '.join(parts)})")
        else:
            open_lists[-1].append(token)
    return " ".join(open_lists[0])
