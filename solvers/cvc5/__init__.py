"""cvc5: spelling of values in models."""

from __future__ import annotations

import re

# Constant arrays accept only values; negative numbers and fractions are values only in this spelling.
_NUMBER = re.compile(
    r'"(?:[^"]|"")*"|\(- \(/ ([0-9]+)\.0 ([0-9]+)\.0\)\)|\(/ ([0-9]+)\.0 ([0-9]+)\.0\)|'
    r"\(- ([0-9]+(?:\.[0-9]+)?)\)"
)


def spell_model(text: str) -> str:
    """Rewrite numbers in a formula with a model substituted as cvc5's constant arrays require."""
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
