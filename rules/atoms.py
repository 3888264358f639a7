"""Atoms: the contents of a skeleton's holes, with typed slots instead of symbols.

An instance has a symbol in each slot. These symbols must not be names that the atom keeps for itself:
``b0`` ... for variables bound in it, ``S0``, ``S1_2`` ... for uninterpreted sorts (``S1_2`` has two
arguments), ``D<hash>_0`` ... for datatypes, their constructors and selectors, ``F<hash>_0`` ... and
``F<hash>_u0`` ... for defined functions and the symbols they use, ``p0`` ... for their parameters, ``$0`` ...
for shared subterms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from smtlib.commands import declaration_text


@dataclass(frozen=True, slots=True)
class Slot:
    """The rank of the symbols that may fill a slot, with sorts as canonical text.

    Without ``params`` it is a variable, else an uninterpreted function. ``was_bound``: a quantifier of the
    skeleton bound it in the original formula; this is a hint that equality ignores.
    """

    params: tuple[str, ...]
    result: str
    was_bound: bool = field(default=False, compare=False)

    @property
    def sort(self) -> str:
        """The slot's sort; of a function, ``(-> Int Int Bool)``."""
        return f"(-> {' '.join((*self.params, self.result))})" if self.params else self.result

    def declaration(self, name: str) -> str:
        """The command that declares ``name`` for this slot."""
        return declaration_text(name, self.params, self.result)


@dataclass(frozen=True, slots=True)
class Atom:
    """A Bool term up to renaming of its symbols.

    ``text``: the whole atom in one line, with the slots as typed parameters, such as ``(lambda ((x0 Int)) (>
    x0 1))``; atoms are equal if these texts are. ``segments``: the term's text, split at the slots; slot
    ``occurrences[i]`` is between ``segments[i]`` and ``segments[i + 1]``. Slots are numbered by first
    occurrence. ``prelude``: the commands that must come first (sorts, datatypes, definitions), in order.
    Write equal commands of several atoms once; different commands never declare the same name. ``size``: the
    number of terms.
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
        """A complete script that asserts this atom over declared symbols ``x0``, ``x1`` ..."""
        names = [f"x{i}" for i in range(len(self.slots))]
        lines = [*self.prelude]
        lines += (slot.declaration(name) for slot, name in zip(self.slots, names, strict=True))
        lines.append(f"(assert {self.join(names)})")
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        return self.text
