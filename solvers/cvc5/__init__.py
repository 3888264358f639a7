"""cvc5: spelling of values in models, and its rewrite rules."""

from __future__ import annotations

import re
from collections.abc import Sequence

from solvers.asking import ask_by_script

# Constant arrays accept only values; negative numbers and fractions are values only in this spelling.
_NUMBER = re.compile(
    r'"(?:[^"]|"")*"|\(- \(/ ([0-9]+)\.0 ([0-9]+)\.0\)\)|\(/ ([0-9]+)\.0 ([0-9]+)\.0\)|'
    r"\(- ([0-9]+(?:\.[0-9]+)?)\)"
)


# It prints its rules when it first prepares a proof.
_RULES = ("--produce-proofs", "--proof-granularity=dsl-rewrite", "--output=rare-db")
_PROVED = "(set-logic QF_LIA)(declare-const x Int)(assert (< x x))(check-sat)"


def ask_rules(argv: Sequence[str]) -> str:
    """The rules of its rewriter, in the language of its proofs; releases before 1.3.0 print none."""
    return ask_by_script(argv, _PROVED, *_RULES)


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
