"""Finds what a piece of code is written in: a solver's input language, or a program that calls a solver."""

from __future__ import annotations

from functools import cache

from miner.text_rules import Rule, read_rules

# Characters read of a piece of code.
_READ = 20_000

SMT_LIB = "smt-lib"
"""The language of blocks that contain a formula."""


def language_of(text: str) -> str:
    """The language of a piece of code other than SMT-LIB (``languages.toml``); empty if no rule matches.

    >>> language_of("from z3 import *"), language_of("(check-sat)")
    ('python', '')
    """
    text = text[:_READ]
    lowered = text.lower()
    rules, words = _rules()
    if not any(map(lowered.__contains__, words)):
        return ""
    return next((rule.value for rule in rules if rule.search(text, lowered)), "")


def has_formulas(text: str, language: str) -> bool:
    """Whether a piece of code may contain SMT-LIB 2: not if it is another input language of solvers."""
    if not language or "(check-sat" in text:
        return True
    return all(rule.group != "input" for rule in _rules()[0] if rule.value == language)


@cache
def _rules() -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules, and the words of which a text of any language has one."""
    rules = read_rules("languages.toml")
    return rules, tuple(dict.fromkeys(word for rule in rules for word in rule.words))
