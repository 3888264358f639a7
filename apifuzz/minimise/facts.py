"""What a trace says of its ids: which line makes one, of which sort a term is, what a line needs.

All of it is read off the lines, nothing is run, so it holds for traces of every solver; where an action of a
solver's own does not say the sort of what it returns, the sort is not known, and the term stays as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from apifuzz.trace import Line, Trace, ids_in

LEAVES = frozenset({"make-value", "make-special-value", "make-constant", "make-variable"})
"""Actions that make a term of no others: the simplest there are."""

# Actions that return a term of the sort of their first argument that is a term.
_SORT_PRESERVING = frozenset({"simplify", "substitute"})


@dataclass(frozen=True)
class Facts:
    """Per id the index of the line that returns it (``made``), and of the terms the sort's id (``sorts``)."""

    made: dict[str, int]
    sorts: dict[str, str]

    @classmethod
    def of(cls, lines: Sequence[Line]) -> Facts:
        """Read them off."""
        made: dict[str, int] = {}
        sorts: dict[str, str] = {}
        for index, line in enumerate(lines):
            for identifier in line.returns:
                made.setdefault(identifier, index)
            if len(line.returns) == 1 and line.returns[0].startswith("t"):
                if sort := _sort_returned(line, sorts):
                    sorts[line.returns[0]] = sort
        return cls(made, sorts)


def _sort_returned(line: Line, sorts: dict[str, str]) -> str | None:
    """The id of the sort of the one term that a line returns, where the line tells."""
    if line.action in _SORT_PRESERVING:
        return next((sorts.get(found) for found in used(line) if found.startswith("t")), None)
    first = line.args[0] if line.args else ""
    if line.action == "make-term" or line.action in LEAVES:
        return next((arg for arg in line.args if ids_in(arg) == [arg] and arg.startswith("s")), None)
    return first if ids_in(first) == [first] and first.startswith("s") else None


def used(line: Line) -> list[str]:
    """The ids that a line needs, in the order in which it names them."""
    return [found for argument in line.args for found in ids_in(argument)]


def sliced(trace: Trace, kept: Collection[int]) -> Trace:
    """The lines ``kept`` (indices) and those that make what they need, in their order."""
    needed: set[str] = set()
    chosen: list[Line] = []
    for index in range(len(trace.lines) - 1, -1, -1):
        line = trace.lines[index]
        if index in kept or not needed.isdisjoint(line.returns):
            chosen.append(line)
            needed.update(used(line))
    return replace(trace, lines=tuple(reversed(chosen)))


def without(trace: Trace, dropped: Iterable[int]) -> Trace:
    """The trace without the lines ``dropped`` (indices) and without those that need what they make."""
    gone = set(dropped)
    missing: set[str] = set()
    chosen: list[Line] = []
    for index, line in enumerate(trace.lines):
        if index in gone or not missing.isdisjoint(used(line)):
            missing.update(line.returns)
        else:
            missing.difference_update(line.returns)
            chosen.append(line)
    return replace(trace, lines=tuple(chosen))


def effects(trace: Trace) -> list[int]:
    """The indices of the lines that are there for what they do: those that return nothing."""
    return [index for index, line in enumerate(trace.lines) if not line.returns]


def collected(trace: Trace) -> Trace:
    """The trace without sorts and terms that nothing needs."""
    return sliced(trace, set(effects(trace)))


def measure(trace: Trace) -> tuple[int, int, int, int]:
    """The size of a trace; a step of the minimiser has to make it smaller.

    Lines and settings first, then terms made of others, then ids used, then characters; seed 0 is smallest.
    """
    compound = sum(1 for line in trace.lines if line.returns and line.action not in LEAVES)
    ids = sum(len(used(line)) for line in trace.lines)
    letters = sum(len(str(line.seed)) + (line.seed > 0) + sum(map(len, line.args)) for line in trace.lines)
    return (len(trace.lines) + len(trace.settings), compound, ids, letters)
