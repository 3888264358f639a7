"""Rules that classify texts. They are data: TOML files beside this module, each rule with examples."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources

import msgspec

from solvers.registry import ANY_NAME

# The parts that patterns name in angle brackets.
_PARTS = {
    "<answer>": r"[`'\"*_(]{0,3}(?<![\w-])(?P<a>unsat|sat)(?:isfiable|isfiability)?\b(?![- ]cores?\b|\.\w)",
    "<adverb>": r"(?:\s+\w+){0,3}?",
    "<subject>": r"(?:formula|instance|problem|benchmark|file|input|query|script|example|constraint|case"
    r"|test|one)s?",
    "<solver>": ANY_NAME,
    "<version>": r"v?(?P<v>(?:20)?\d{1,2}\.\d{1,3}(?:\.\d{1,3}){0,2}"
    r"(?:(?:-(?:dev|rc\d|pre|alpha|beta|rmx)|\.dev\+)[\w.@]*)?)(?![\w-]*\.\w)",
    "<of>": r"(?:(?:the|an?|new|recent|next|older|previous|earlier|latest|current|stable|official|newest"
    rf"|released?|version|tag|(?:{ANY_NAME})\d?)[\s:`*(-]{{1,3}}){{0,5}}",
    "<credited>": rf"(?:{ANY_NAME})\d?",
}


class Rule(msgspec.Struct, frozen=True):
    """One rule. The comment at the top of each file explains the fields."""

    id: str
    group: str
    pattern: re.Pattern[str]
    value: str = ""
    where: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    weight: int = 1
    examples: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


@cache
def read_rules(file: str) -> tuple[Rule, ...]:
    """The rules of a file in this package, in order."""
    data = tomllib.loads((resources.files("miner") / file).read_text(encoding="utf-8"))
    return msgspec.convert(data["rule"], tuple[Rule, ...], dec_hook=_pattern)


@cache
def _words(file: str, place: str) -> tuple[tuple[Rule, ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    """The rules for a kind of place, and all their words: those with no other word in them, each with the
    words that it is in.
    """
    rules = tuple(rule for rule in read_rules(file) if not place or place in rule.where)
    words = sorted({word for rule in rules for word in rule.words}, key=len)
    groups: dict[str, list[str]] = {}
    for word in words:
        groups.setdefault(next((root for root in groups if root in word), word), []).append(word)
    return rules, tuple((root, tuple(group)) for root, group in groups.items())


# The miner asks several times about a text.
@lru_cache(maxsize=64)
def rules_for(file: str, text: str, place: str = "") -> Sequence[Rule]:
    """The rules (for a kind of place) with a word that the text contains; the others cannot match."""
    rules, groups = _words(file, place)
    lowered = text.lower()
    present = [word for root, group in groups if root in lowered for word in group if word in lowered]
    return tuple(rule for rule in rules if not rule.words.isdisjoint(present)) if present else ()


def _pattern(kind: object, text: str) -> re.Pattern[str]:
    for name, part in _PARTS.items():
        text = text.replace(name, part)
    return re.compile(text, re.IGNORECASE | re.MULTILINE)
