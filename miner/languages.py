"""Finds what a piece of code is written in: a solver's input language, or a program that calls a solver."""

from __future__ import annotations

from miner.text_rules import read_rules, rules_for

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
    rules = rules_for("languages.toml", text)
    return next((rule.value for rule in rules if rule.pattern.search(text)), "")


def has_formulas(text: str, language: str) -> bool:
    """Whether a piece of code may contain SMT-LIB 2: not if it is another input language of solvers."""
    if not language or "(check-sat" in text:
        return True
    return all(rule.group != "input" for rule in read_rules("languages.toml") if rule.value == language)
