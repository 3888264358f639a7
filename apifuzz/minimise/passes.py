"""The minimiser's passes: each proposes smaller traces, in an order that depends on the trace alone.

A pass is a function of a trace, the position where it continues, and the grain (how much it removes at once).
It yields proposals with the position where to continue in them if they show the error. Positions count from
the end of the trace, where the error is, so removing earlier lines does not shift them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, wraps

from apifuzz.trace import CROSS_CHECK, WITNESSES, Line, Trace, ids_in, is_id, replace_ids, split_line

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
        """The facts of a trace's lines."""
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


@lru_cache(maxsize=1 << 12)
def used(line: Line) -> tuple[str, ...]:
    """The ids that a line needs, in the order in which it names them."""
    return tuple(found for argument in line.args for found in ids_in(argument))


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


Proposal = tuple[int, Trace]
Pass = Callable[[Trace, int, int], Iterator[Proposal]]

# The simplest values of sorts, by the sort's first word.
_VALUES = {
    "Bool": ("true", "false"),
    "Int": ("0",),
    "Real": ("0.0",),
    "String": ('""',),
    "RoundingMode": ("RNE",),
}
_BIT_VECTOR = re.compile(r"\(_ BitVec ([1-9][0-9]{0,4})\)\Z")
_VALUE_MAKERS = ("make-value", "make-special-value")
_NUMERAL = re.compile(r"[1-9][0-9]{0,3}\Z")


def changed(trace: Trace, index: int, line: Line) -> Trace:
    """The trace with line ``index`` replaced."""
    return replace(trace, lines=(*trace.lines[:index], line, *trace.lines[index + 1 :]))


def _with_ids(line: Line, new: dict[str, str]) -> Line:
    """The line with other ids among its arguments."""
    return replace(line, args=tuple(replace_ids(argument, new) for argument in line.args))


def _less(parts: Sequence[str], place: int) -> tuple[str, ...]:
    """The parts without the one at a place; the same where there is none."""
    return (*parts[:place], *parts[place + 1 :])


def _from_the_end(count: int, start: int, grain: int) -> Iterator[tuple[int, range]]:
    """Ranges of ``grain`` indices below ``count``, the last first, with their position; the last ``start``
    indices were looked at.
    """
    end = count - start
    while end > 0:
        begin = max(0, end - grain)
        yield count - end, range(begin, end)
        end = begin


def _at_each_line(propose: Callable[[Trace, int], Iterator[Trace]]) -> Pass:
    """A pass that is at one line at a time, of which it proposes changes; ``propose`` gets its index."""

    @wraps(propose)
    def step(trace: Trace, start: int, grain: int) -> Iterator[Proposal]:
        for place in range(start, len(trace.lines)):
            yield from ((place, made) for made in propose(trace, len(trace.lines) - 1 - place))

    return step


# Lines


def drop_effects(trace: Trace, start: int, grain: int) -> Iterator[Proposal]:
    """Runs of ``grain`` calls that return nothing go, and the sorts and terms that only they needed."""
    there = effects(trace)
    for place, gone in _from_the_end(len(there), start, grain):
        yield place, sliced(trace, set(there[: gone.start]) | set(there[gone.stop :]))


def drop_lines(trace: Trace, start: int, grain: int) -> Iterator[Proposal]:
    """Runs of ``grain`` lines go, and all that needs what they make."""
    for place, gone in _from_the_end(len(trace.lines), start, grain):
        yield place, without(trace, gone)


def drop_unused(trace: Trace, start: int, grain: int) -> Iterator[Proposal]:
    """All that nothing needs goes at once."""
    if not start:
        yield 1, collected(trace)


def drop_levels(trace: Trace, start: int, grain: int) -> Iterator[Proposal]:
    """A level goes: the push that opens it and the pop that closes it, first with what is between them."""
    pairs = _levels(trace)
    for place in range(start, len(pairs)):
        opened, closed = pairs[place]
        kept = [i for i in effects(trace) if not opened <= i <= (closed if closed is not None else -1)]
        if closed is not None:
            yield place, sliced(trace, set(kept))
        lines: list[Line | None] = list(trace.lines)
        for index in (opened, closed):
            if index is not None:
                lines[index] = _fewer(trace.lines[index])
        yield place, replace(trace, lines=tuple(line for line in lines if line is not None))


def _levels(trace: Trace) -> list[tuple[int, int | None]]:
    """For each level the index of its push and of its pop; None where it stays open."""
    pairs: list[tuple[int, int | None]] = []
    stack: list[int] = []
    for index, line in enumerate(trace.lines):
        if line.action == "push":
            stack += [index] * level_count(line)
        elif line.action == "pop":
            closed = min(level_count(line), len(stack))
            pairs += [(stack.pop(), index) for _ in range(closed)]
        elif line.action in ("reset", "reset-assertions", "delete", "new"):
            pairs += [(opened, None) for opened in reversed(stack)]
            stack.clear()
    return pairs + [(opened, None) for opened in reversed(stack)]


def level_count(line: Line) -> int:
    """How many levels a push or pop is about; 1 where that cannot be read."""
    text = line.args[0] if line.args else "1"
    return min(int(text), 1000) if _NUMERAL.match(text) else 1


def _fewer(line: Line) -> Line | None:
    count = level_count(line)
    return replace(line, args=(str(count - 1),)) if count > 1 else None


# Terms


def flatten_terms(trace: Trace, start: int, grain: int) -> Iterator[Proposal]:
    """Runs of ``grain`` terms made of others become constants, and what was below them goes."""
    facts = Facts.of(trace.lines)
    there = [
        index
        for index, line in enumerate(trace.lines)
        if line.action not in LEAVES and line.returns and line.returns[0] in facts.sorts
    ]
    for place, flat in _from_the_end(len(there), start, grain):
        lines = list(trace.lines)
        for index in there[flat.start : flat.stop]:
            lines[index] = _constant(lines[index], facts)
        yield place, collected(replace(trace, lines=tuple(lines)))


def _constant(line: Line, facts: Facts) -> Line:
    """A new constant in place of the term that a line makes, with a name that no run draws."""
    name = line.returns[0]
    return replace(line, action="make-constant", args=(facts.sorts[name], f"k{name[1:]}"))


@_at_each_line
def lower_terms(trace: Trace, index: int) -> Iterator[Trace]:
    """A line gets a term from below one of its own, of whatever sort, wherever it has that."""
    made, line = Facts.of(trace.lines).made, trace.lines[index]
    for name in dict.fromkeys(used(line)):
        below = used(trace.lines[made[name]]) if made.get(name, index) < index else []
        for child in dict.fromkeys(other for other in below if other.startswith("t")):
            yield collected(changed(trace, index, _with_ids(line, {name: child})))


@_at_each_line
def simplify_terms(trace: Trace, index: int) -> Iterator[Trace]:
    """A term is replaced by a value, a constant that is there, a new one, or a term below it, of its sort."""
    facts = Facts.of(trace.lines)
    if trace.lines[index].returns and trace.lines[index].returns[0] in facts.sorts:
        yield from _kept(trace, _simpler(trace, index, facts))


def _kept(trace: Trace, proposals: Iterator[Trace]) -> Iterator[Trace]:
    """The proposals without the sorts and terms that they leave without use.

    Where some are there that nothing uses, the error may be about them: then each is tried as it is, too.
    """
    is_tidy = collected(trace) == trace
    for proposal in proposals:
        yield collected(proposal)
        if not is_tidy:
            yield proposal


def _simpler(trace: Trace, index: int, facts: Facts) -> Iterator[Trace]:
    line = trace.lines[index]
    name = line.returns[0]
    sort = facts.sorts[name]
    earlier = [t for t, s in facts.sorts.items() if s == sort and facts.made[t] < index]
    leaves = [t for t in earlier if trace.lines[facts.made[t]].action in LEAVES]
    if line.action not in LEAVES:
        for value in _values(trace, sort, facts):
            yield changed(trace, index, replace(line, action="make-value", args=(sort, value)))
        for other in leaves[:2]:
            yield _renamed(trace, index, {name: other})
        yield changed(trace, index, _constant(line, facts))
        for child in dict.fromkeys(used(line)):
            if child in earlier:
                yield _renamed(trace, index, {name: child})
    for other in [t for t in earlier if t not in leaves[:2]][:2] if line.action not in LEAVES else leaves[:2]:
        yield _renamed(trace, index, {name: other})


def _renamed(trace: Trace, index: int, new: dict[str, str]) -> Trace:
    """The trace with other ids in place of those that line ``index`` makes, and without that line."""
    later = (_with_ids(line, new) for line in trace.lines[index + 1 :])
    return replace(trace, lines=(*trace.lines[:index], *later))


def _values(trace: Trace, sort: str, facts: Facts) -> Sequence[str]:
    """The simplest values of the sort, as an argument of make-value."""
    made = trace.lines[facts.made[sort]] if sort in facts.made else None
    if made is None or made.action != "make-sort" or not made.args:
        return ()
    if width := _BIT_VECTOR.match(made.args[0]):
        return ("#b" + "0" * int(width[1]),)
    return _VALUES.get(made.args[0], ())


# Arguments


@_at_each_line
def drop_arguments(trace: Trace, index: int) -> Iterator[Trace]:
    """A line loses an argument, or a list among its arguments an element; of a function, callers do, too."""
    yield from _kept(trace, _with_fewer(trace, index))


def _with_fewer(trace: Trace, index: int) -> Iterator[Trace]:
    line = trace.lines[index]
    for place in range(len(line.args) - 1, -1, -1):
        argument = line.args[place]
        if is_id(argument) and argument[0] == "t":
            yield changed(trace, index, replace(line, args=_less(line.args, place)))
        elif argument.startswith("("):
            parts = split_line(argument[1:-1])
            for part in range(len(parts) - 1, -1, -1):
                fewer = _regrouped(trace, index, place, _less(parts, part))
                is_function = "function" in line.action and len(line.returns) == 1
                yield _applied_to_fewer(fewer, ("apply", *line.returns), part) if is_function else fewer


@_at_each_line
def drop_members(trace: Trace, index: int) -> Iterator[Trace]:
    """A group of datatypes loses a datatype, a constructor, or a field (which its applications lose, too)."""
    line = trace.lines[index]
    for place in range(len(line.args) - 1, -1, -1) if line.action == "declare-datatypes" else ():
        if len(line.returns) == len(line.args) > 1:
            fewer = replace(line, args=_less(line.args, place), returns=_less(line.returns, place))
            yield changed(trace, index, fewer)
        # Name, parameters, then a list for each constructor: its name, then its fields.
        parts = split_line(line.args[place][1:-1]) if line.args[place].startswith("(") else []
        for part in range(len(parts) - 1, 1, -1):
            yield _regrouped(trace, index, place, _less(parts, part))
            name, *fields = (split_line(parts[part][1:-1]) if parts[part].startswith("(") else []) or [""]
            for field in range(len(fields) - 1, -1, -1):
                left = f"({' '.join([name, *_less(fields, field)])})"
                regrouped = _regrouped(trace, index, place, [*parts[:part], left, *parts[part + 1 :]])
                yield collected(_applied_to_fewer(regrouped, (f"(constructor {name})",), field))


def _regrouped(trace: Trace, index: int, place: int, parts: Sequence[str]) -> Trace:
    """The trace with a list of other parts as an argument of line ``index``."""
    line = trace.lines[index]
    args = (*line.args[:place], f"({' '.join(parts)})", *line.args[place + 1 :])
    return changed(trace, index, replace(line, args=args))


def _applied_to_fewer(trace: Trace, head: tuple[str, ...], part: int) -> Trace:
    """The trace with applications of a head (one or two arguments) that lose argument number ``part``."""
    lines = []
    for line in trace.lines:
        at = line.args.index(head[0]) if head[0] in line.args else len(line.args)
        is_applied = line.args[at : at + len(head)] == head
        lines.append(replace(line, args=_less(line.args, at + len(head) + part)) if is_applied else line)
    return replace(trace, lines=tuple(lines))


@_at_each_line
def plain_values(trace: Trace, index: int) -> Iterator[Trace]:
    """Values become the simplest of their sort; numerals elsewhere become smaller."""
    facts, line = Facts.of(trace.lines), trace.lines[index]
    if line.action in _VALUE_MAKERS and line.returns and (sort := facts.sorts.get(line.returns[0])):
        for value in _values(trace, sort, facts):
            yield changed(trace, index, replace(line, action="make-value", args=(sort, value)))
    elif line.action in ("push", "pop") and level_count(line) > 1:
        yield changed(trace, index, replace(line, args=("1",)))


@_at_each_line
def narrow_sorts(trace: Trace, index: int) -> Iterator[Trace]:
    """Bit-vectors get one bit, and their values that of zero."""
    facts, line = Facts.of(trace.lines), trace.lines[index]
    width = _BIT_VECTOR.match(line.args[0]) if line.action == "make-sort" and line.args else None
    if width is not None and width[1] != "1" and line.returns:
        lines = list(trace.lines)
        lines[index] = replace(line, args=("(_ BitVec 1)",))
        for name, sort in facts.sorts.items():
            at = facts.made[name]
            if sort == line.returns[0] and lines[at].action in _VALUE_MAKERS:
                lines[at] = replace(lines[at], action="make-value", args=(sort, "#b0"))
        yield replace(trace, lines=tuple(lines))


def plain_seeds(trace: Trace, start: int, grain: int) -> Iterator[Proposal]:
    """The engine's choices become those of seed 0: all at once, then line by line."""
    if not start:
        plain = tuple(replace(line, seed=0) for line in trace.lines)
        yield len(trace.lines) + 1, replace(trace, lines=plain)
    for place in range(max(start, 1), len(trace.lines) + 1):
        line = trace.lines[-place]
        yield place + 1, changed(trace, len(trace.lines) - place, replace(line, seed=0))


def drop_settings(trace: Trace, start: int, grain: int) -> Iterator[Proposal]:
    """A setting goes; what the run is made on stays, without which the trace does not show its error."""
    idle = [n for n, (name, _) in enumerate(trace.settings) if name not in (CROSS_CHECK, WITNESSES)]
    for place in range(start, len(idle)):
        cut = idle[-1 - place]
        left = (*trace.settings[:cut], *trace.settings[cut + 1 :])
        yield place, replace(trace, settings=left)


def renumbered(trace: Trace) -> Trace:
    """The trace with ids given out from 1 again, in the order of making."""
    new: dict[str, str] = {}
    counts = {"s": 0, "t": 0}
    lines = []
    for line in trace.lines:
        line = _with_ids(line, new)
        for identifier in line.returns:
            counts[identifier[0]] += 1
            new[identifier] = f"{identifier[0]}{counts[identifier[0]]}"
        lines.append(replace(line, returns=tuple(new[i] for i in line.returns)))
    return replace(trace, lines=tuple(lines))


GRAINED: tuple[Pass, ...] = (drop_effects, flatten_terms)
"""Passes that are made with grains from half of the lines down to one."""

SINGLE: tuple[Pass, ...] = (
    drop_unused,
    drop_levels,
    simplify_terms,
    lower_terms,
    drop_arguments,
    drop_members,
    drop_lines,
    plain_values,
    narrow_sorts,
    drop_settings,
    plain_seeds,
)
"""Passes of one change at a time, in this order."""
