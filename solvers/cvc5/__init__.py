"""cvc5: how it takes models."""

from __future__ import annotations

import re

# Constant arrays hold values only: negative numbers and fractions are values in this spelling alone.
_NUMBER = re.compile(
    r'"(?:[^"]|"")*"|\(- \(/ ([0-9]+)\.0 ([0-9]+)\.0\)\)|\(/ ([0-9]+)\.0 ([0-9]+)\.0\)|'
    r"\(- ([0-9]+(?:\.[0-9]+)?)\)"
)


def spell_model(text: str) -> str:
    """A formula with a model put in, with numbers as its constant arrays take them."""
    if "(as const " not in text:
        return text
    return "\n".join(
        _NUMBER.sub(_spelled, line) if line.startswith("(define-fun") else line for line in text.split("\n")
    )


def _spelled(match: re.Match[str]) -> str:
    if match[1]:
        return f"-{match[1]}/{match[2]}"
    if match[3]:
        return f"{match[3]}/{match[4]}"
    return f"-{match[5]}" if match[5] else match[0]
