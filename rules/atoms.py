"""Atoms: what stands in a skeleton's holes, with its symbols taken out as typed slots.

Making an instance is choosing a symbol for each slot and joining. An atom keeps some names for
itself, and the symbols put in must avoid them (:data:`OWN_NAME`): ``b0`` ... for variables bound inside
it, ``S0``, ``S1_2`` ... for uninterpreted sorts (``S1_2`` takes two arguments), ``D<hash>_0`` ... for
datatypes with their constructors and selectors, ``F<hash>_0`` ... and ``F<hash>_u0`` ... for defined
functions and the symbols they use, ``p0`` ... for their parameters, ``$0`` ... for shared subterms.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from smtlib.commands import declaration_text

OWN_NAME = re.compile(r"[bp][0-9]+\Z|[SDF][0-9a-f]*(_[0-9a-z]+)?\Z|\$")
"""Matches the names an atom keeps for itself; a symbol put into a slot must not match."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What may fill a slot: a symbol of this rank, sorts as canonical text.

    Without ``params`` it is a variable, else an uninterpreted function. ``was_bound`` says that the
    skeleton's quantifier bound it where the atom was found; that is a hint and no part of equality.
    """

    params: tuple[str, ...]
    result: str
    was_bound: bool = field(default=False, compare=False)

    @property
    def sort(self) -> str:
        """The slot's sort: of a function, the one in the way of ``(-> Int Int Bool)``."""
        return f"(-> {' '.join((*self.params, self.result))})" if self.params else self.result

    def declaration(self, name: str) -> str:
        """The command that declares ``name`` for this slot."""
        return declaration_text(name, self.params, self.result)


@dataclass(frozen=True, slots=True)
class Atom:
    """A Bool term up to renaming of its symbols.

    ``text`` is all of it in one line, the slots as typed parameters: ``(lambda ((x0 Int)) (> x0 1))``; two
    atoms are equal when these texts are. ``segments`` is the term's text cut at the slots, and slot
    ``occurrences[i]`` stands between ``segments[i]`` and ``segments[i + 1]``; slots are numbered by first
    occurrence. ``prelude`` holds the commands that must come first (sorts, datatypes, definitions), in
    order; equal commands of different atoms are to be written once, different ones never
    declare the same name with another meaning. ``size`` counts terms.
    """

    text: str
    segments: tuple[str, ...] = field(compare=False)
    occurrences: tuple[int, ...] = field(compare=False)
    slots: tuple[Slot, ...] = field(compare=False)
    prelude: tuple[str, ...] = field(compare=False)
    signature: str = field(compare=False)
    coarse: str = field(compare=False)
    theories: frozenset[str] = field(compare=False)
    size: int = field(compare=False)

    def join(self, names: Sequence[str]) -> str:
        """The term with ``names[i]`` in slot ``i``."""
        parts = [self.segments[0]]
        for slot, segment in zip(self.occurrences, self.segments[1:], strict=True):
            parts.append(names[slot])
            parts.append(segment)
        return "".join(parts)

    def script(self) -> str:
        """A whole script that asserts this atom over declared symbols ``x0``, ``x1`` ..."""
        names = [f"x{i}" for i in range(len(self.slots))]
        lines = [*self.prelude]
        lines += (slot.declaration(name) for slot, name in zip(self.slots, names, strict=True))
        lines.append(f"(assert {self.join(names)})")
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.text
