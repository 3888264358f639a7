"""Regular expressions over strings, and which strings match, by derivatives.

After Brzozowski, "Derivatives of Regular Expressions" (1964): the derivative of an expression by a character
matches what may follow that character.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from operator import attrgetter


class Regex:
    """``kind`` is none, empty, range (of ``bounds``), concat, union, inter, star or comp of ``parts``.

    Immutable. Two are equal if their ``text`` is, which is for sorting and comparing only.
    """

    __slots__ = ("bounds", "kind", "parts", "text")
    text: str

    def __init__(self, kind: str, parts: tuple[Regex, ...] = (), bounds: tuple[str, str] = ("", "")) -> None:
        self.kind = kind
        self.parts = parts
        self.bounds = bounds
        inner = repr(bounds) if kind == "range" else "".join([part.text for part in parts])
        self.text = f"({kind}{inner})"

    def __eq__(self, other: object) -> bool:
        return type(other) is Regex and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Regex{self.text}"


NONE = Regex("none")
EMPTY = Regex("empty")
LAST_CHARACTER = 0x2FFFF
ALL_CHARACTERS = Regex("range", bounds=("\0", chr(LAST_CHARACTER)))


def star(part: Regex) -> Regex:
    """Any number of ``part``, none included."""
    return part if part.kind in ("star", "empty") else EMPTY if part == NONE else Regex("star", (part,))


ALL = star(ALL_CHARACTERS)


def complement(part: Regex) -> Regex:
    """The strings that do not match ``part``."""
    return part.parts[0] if part.kind == "comp" else Regex("comp", (part,))


def concat(*parts: Regex) -> Regex:
    """``parts`` in a row."""
    if NONE in parts:
        return NONE
    flat = [inner for part in parts for inner in (part.parts if part.kind == "concat" else (part,))]
    return _joined("concat", [part for part in flat if part != EMPTY], EMPTY)


def union(*parts: Regex) -> Regex:
    """What matches one of ``parts``."""
    return _joined("union", _distinct("union", (part for part in parts if part != NONE)), NONE)


def inter(*parts: Regex) -> Regex:
    """What matches all ``parts``."""
    if NONE in parts:
        return NONE
    return _joined("inter", _distinct("inter", (part for part in parts if part != ALL)), ALL)


def _distinct(kind: str, parts: Iterable[Regex]) -> list[Regex]:
    """``parts`` and the parts of nested ones, each once, in an order that does not depend on theirs."""
    flat = {inner: None for part in parts for inner in (part.parts if part.kind == kind else (part,))}
    return sorted(flat, key=attrgetter("text"))


def _joined(kind: str, parts: list[Regex], neutral: Regex) -> Regex:
    return Regex(kind, tuple(parts)) if len(parts) > 1 else parts[0] if parts else neutral


def literal(text: str) -> Regex:
    """The regular expression of one string."""
    return concat(*(Regex("range", bounds=(character, character)) for character in text))


def span(first: str, last: str) -> Regex:
    """A character from ``first`` to ``last``; nothing if one is not a character, or they are reversed."""
    is_span = len(first) == len(last) == 1 and first <= last
    return Regex("range", bounds=(first, last)) if is_span else NONE


def loop(least: int, most: int, part: Regex) -> Regex:
    """``least`` to ``most`` times ``part``."""
    return union(*(concat(*[part] * count) for count in range(least, most + 1)))


@lru_cache(maxsize=100_000)
def matches_empty(regex: Regex) -> bool:
    """Whether the empty string matches."""
    match regex.kind:
        case "empty" | "star":
            return True
        case "none" | "range":
            return False
        case "union":
            return any(map(matches_empty, regex.parts))
        case "comp":
            return not matches_empty(regex.parts[0])
        case _:
            return all(map(matches_empty, regex.parts))


@lru_cache(maxsize=100_000)
def derive(regex: Regex, character: str) -> Regex:
    """What may follow ``character`` in a string that matches ``regex``."""
    match regex.kind:
        case "none" | "empty":
            return NONE
        case "range":
            return EMPTY if regex.bounds[0] <= character <= regex.bounds[1] else NONE
        case "star":
            return concat(derive(regex.parts[0], character), regex)
        case "comp":
            return complement(derive(regex.parts[0], character))
        case "union":
            return union(*(derive(part, character) for part in regex.parts))
        case "inter":
            return inter(*(derive(part, character) for part in regex.parts))
    first, *rest = regex.parts
    after = concat(derive(first, character), *rest)
    return union(after, derive(concat(*rest), character)) if matches_empty(first) else after


def matches(text: str, regex: Regex) -> bool:
    """Whether the whole of ``text`` matches."""
    for character in text:
        regex = derive(regex, character)
    return matches_empty(regex)


def characters(*regexes: Regex) -> list[str]:
    """A character of every class that the ranges of ``regexes`` cannot tell apart, in order."""
    found, stack, seen = {"\0"}, list(regexes), set(regexes)
    while stack:
        regex = stack.pop()
        if regex.kind == "range":
            found |= {regex.bounds[0], chr(min(ord(regex.bounds[1]) + 1, LAST_CHARACTER))}
        new = set(regex.parts) - seen
        seen |= new
        stack += new
    return sorted(found)


class Undecided(Exception):
    """It would take too long to find out."""


def difference(first: Regex, second: Regex, most: int = 300) -> str | None:
    """A shortest string that matches only one of the two; None if there is none.

    Hopcroft and Karp's method on derivatives: pairs are followed until none is new. Raises Undecided after
    ``most`` pairs.
    """
    alphabet = characters(first, second)
    seen = {(first, second)}
    level = [("", first, second)]
    while level and len(seen) < most:
        following = []
        for text, one, other in level:
            if matches_empty(one) != matches_empty(other):
                return text
            for character in alphabet:
                pair = derive(one, character), derive(other, character)
                if pair[0] != pair[1] and pair not in seen:
                    seen.add(pair)
                    following.append((text + character, *pair))
        level = following
    if level:
        raise Undecided
    return None
