"""Rules that classify texts. They are data: TOML files beside this module, each rule with examples."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from solvers.registry import ANY_NAME

# The parts that patterns name in angle brackets.
_PARTS = {
    "<answer>": r"[`'\"*_(]{0,3}\b(?P<a>unsat|sat)(?:isfiable|isfiability)?\b",
    "<adverb>": r"(?:\s+\w+){0,3}?",
    "<subject>": r"(?:formula|instance|problem|benchmark|file|input|query|script|example|constraint|case"
    r"|test|one)s?",
    "<solver>": ANY_NAME,
    "<credited>": rf"(?:{ANY_NAME})\d?",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. The comment at the top of each file explains the fields."""

    id: str
    group: str
    value: str
    where: frozenset[str]
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    weight: int
    examples: tuple[str, ...]
    never: tuple[str, ...]

    def search(self, text: str, lowered: str) -> re.Match[str] | None:
        """The first match of the rule in a text."""
        if not any(word in lowered for word in self.words):
            return None
        return self.pattern.search(text)


@cache
def read_rules(file: str) -> tuple[Rule, ...]:
    """The rules of a file in this package, in order."""
    data = tomllib.loads((resources.files("miner") / file).read_text(encoding="utf-8"))
    return tuple(_rule(entry) for entry in data["rule"])


def _rule(entry: Mapping[str, object]) -> Rule:
    def texts(key: str) -> tuple[str, ...]:
        value = entry.get(key, [])
        return tuple(str(item) for item in value) if isinstance(value, list) else ()

    weight = entry.get("weight", 1)
    pattern = str(entry["pattern"])
    for name, part in _PARTS.items():
        pattern = pattern.replace(name, part)
    return Rule(
        id=str(entry["id"]),
        group=str(entry["group"]),
        value=str(entry.get("value", "")),
        where=frozenset(texts("where")),
        words=texts("words"),
        pattern=re.compile(pattern, re.IGNORECASE),
        weight=weight if isinstance(weight, int) else 1,
        examples=texts("examples"),
        never=texts("never"),
    )
