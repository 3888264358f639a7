"""Finds formulas of one issue that are equal, or reduced versions of one another.

Two formulas are equal if they differ only in the names of declared and bound symbols, in layout, and in the
order of declarations (and of assertions, if there are no scopes). A formula is reduced from another if its
assertions consist of a part of the other's tokens.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from smtlib.scanner import CHECKS

# With fewer tokens, being contained in a larger formula is coincidence.
_LEAST_TOKENS = 6
_SCOPES = frozenset({"push", "pop", "reset", "reset-assertions"})
# Each formula is compared with at most this many before it, to bound the time for thousands of them.
_WINDOW = 24


@dataclass(frozen=True, slots=True)
class Shape:
    """The properties by which formulas are compared."""

    digest: str
    named: Counter[str] = field(compare=False)
    nameless: Counter[str] = field(compare=False)
    size: int = 0


def shape_of(commands: Sequence[tuple[str, Sequence[str]]], renamable: frozenset[str]) -> Shape:
    """The shape of commands (word, tokens). ``renamable``: the names that they declare or bind."""
    # A renamable name starts with NUL; |x| and x are one name.
    marked = {name: "\0" + name for name in renamable}
    marked |= {f"|{name}|": "\0" + name for name in renamable}
    kept = [
        (word, [marked.get(token, token) for token in _plainly(word, tokens)])
        for word, tokens in commands
        if word not in ("set-info", "set-option", "set-logic")
    ]
    named: Counter[str] = Counter()
    scoped = False
    for word, tokens in kept:
        if word == "assert":
            named.update(tokens)
        scoped = scoped or word in _SCOPES or word in CHECKS
    named.pop("(", None)
    named.pop(")", None)
    nameless: Counter[str] = Counter()
    for token, count in named.items():
        nameless["\0" if token[0] == "\0" else token] += count
    return Shape(_digest(kept, scoped), named, nameless, sum(named.values()))


def _plainly(word: str, tokens: Sequence[str]) -> Sequence[str]:
    """``declare-const`` as the equivalent ``declare-fun``."""
    if word != "declare-const" or len(tokens) < 5:
        return tokens
    return ["(", "declare-fun", tokens[2], "(", ")", *tokens[3:]]


def _digest(commands: list[tuple[str, list[str]]], scoped: bool) -> str:
    declarations = [tokens for word, tokens in commands if word.startswith(("declare", "define"))]
    others = [tokens for word, tokens in commands if not word.startswith(("declare", "define"))]
    if not scoped:
        others.sort(key=_nameless_text)
    numbers: dict[str, str] = {}
    lines = [_numbered(tokens, numbers) for tokens in others]
    # Declarations that no assertion uses are numbered last, ordered by what they declare.
    declarations.sort(key=lambda tokens: (_first_number(tokens, numbers), _nameless_text(tokens)))
    lines += sorted(_numbered(tokens, numbers) for tokens in declarations)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _nameless_text(tokens: Sequence[str]) -> str:
    return " ".join(["_" if token[0] == "\0" else token for token in tokens])


def _numbered(tokens: Sequence[str], numbers: dict[str, str]) -> str:
    return " ".join(
        [numbers.setdefault(token, f"!{len(numbers)}") if token[0] == "\0" else token for token in tokens]
    )


def _first_number(tokens: Sequence[str], numbers: dict[str, str]) -> int:
    number = next((numbers.get(token) for token in tokens if token[0] == "\0"), None)
    return int(number[1:]) if number else len(numbers)


@dataclass(frozen=True, slots=True)
class Likeness:
    """The formulas that a formula repeats or is reduced from, by position."""

    duplicate_of: int | None = None
    reduced_from: int | None = None


def likenesses(shapes: Sequence[Shape]) -> list[Likeness]:
    """For each formula, the first one that it repeats, or the one that it was reduced from."""
    first: dict[str, int] = {}
    result: list[Likeness] = []
    distinct: list[int] = []
    for index, shape in enumerate(shapes):
        earlier = first.setdefault(shape.digest, index)
        result.append(Likeness(duplicate_of=earlier if earlier != index else None))
        if earlier == index:
            distinct.append(index)
    for place, index in enumerate(distinct):
        for other in distinct[max(0, place - _WINDOW) : place]:
            small, large = (index, other) if shapes[index].size <= shapes[other].size else (other, index)
            if result[small].reduced_from is None and _is_reduced(shapes[small], shapes[large]):
                result[small] = Likeness(None, large)
    return result


def _is_reduced(small: Shape, large: Shape) -> bool:
    if small.size < _LEAST_TOKENS or small.size >= large.size:
        return False
    return small.nameless <= large.nameless if small.size * 4 >= large.size else small.named <= large.named
