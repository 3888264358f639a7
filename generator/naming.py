"""The symbols of one test: names by rank, and the declarations that its text needs."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from generator.templates import Rank
from smtlib.commands import declaration_text

# None of these names can be one that an atom keeps for itself (rules.atoms).
_PREFIXES = {"Bool": "t", "Int": "i", "Real": "r", "String": "s", "RegLan": "re", "RoundingMode": "m"}
_PREFIXES |= {"BitVec": "v", "FloatingPoint": "fp", "Array": "a", "Seq": "q", "Set": "st"}


def prefix_of(rank: Rank) -> str:
    """How names of this rank begin: ``i`` for an Int constant, ``f`` for a function."""
    params, result = rank
    if params:
        return "f"
    head = result.lstrip("(").removeprefix("_ ").split(" ", 1)[0]
    return _PREFIXES.get(head, "u")


class Declarations:
    """Hands out names and remembers which symbols occur free."""

    __slots__ = ("_by_rank", "_count", "_needed", "_prelude", "_ranks")

    def __init__(self) -> None:
        self._by_rank: dict[Rank, list[str]] = {}
        self._ranks: dict[str, Rank] = {}
        self._needed: dict[str, None] = {}
        self._prelude: dict[str, None] = {}
        self._count = 0

    def of_rank(self, rank: Rank) -> list[str]:
        """The names of this rank in use."""
        return self._by_rank.get(rank, [])

    def new(self, rank: Rank) -> str:
        """A new name of this rank."""
        name = f"{prefix_of(rank)}{self._count}"
        self._count += 1
        self._by_rank.setdefault(rank, []).append(name)
        self._ranks[name] = rank
        return name

    def add(self, name: str, rank: Rank) -> None:
        """Take a name that the caller chose."""
        self._ranks[name] = rank

    def new_bound(self) -> str:
        """A new name for a variable that nothing refers to."""
        self._count += 1
        return f"z{self._count - 1}"

    def use(self, prelude: Iterable[str], names: Iterable[str], hidden: Collection[str]) -> None:
        """Note an atom's use: its prelude, and those of its symbols that no binder hides."""
        self._prelude.update(dict.fromkeys(prelude))
        self._needed.update(dict.fromkeys(name for name in names if name not in hidden))

    def text(self) -> str:
        """The declarations, one a line: preludes first, then exactly the symbols that occur free."""
        lines = [*self._prelude, *(declaration_text(name, *self._ranks[name]) for name in self._needed)]
        return "".join([line + "\n" for line in lines])
