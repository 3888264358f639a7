"""Finds what a piece of code is written in: a solver's input language, or a program that calls a solver."""

from __future__ import annotations

import re

from miner.text_rules import read_rules, rules_for

# Characters read of a piece of code.
_READ = 20_000

SMT_LIB = "smt-lib"
"""The language of blocks that contain a formula."""

# The names that authors give blocks of code, and the language of each.
_MARKS = {name: name for name in "c c++ c# java javascript julia haskell ocaml python rust scala".split()}
_MARKS |= {"cpp": "c++", "cc": "c++", "cxx": "c++", "cs": "c#", "csharp": "c#", "py": "python"}
_MARKS |= {"python3": "python", "js": "javascript", "typescript": "javascript", "rs": "rust", "ml": "ocaml"}
# What a program that calls a solver mentions.
_CALLS_A_SOLVER = re.compile(r"solver|prover|\bsmt|smt[A-Z]|check_?sat|vc_", re.IGNORECASE)


def language_of(text: str, mark: str = "") -> str:
    """The language of a piece of code other than SMT-LIB (``languages.toml``); empty if no rule matches.

    ``mark``: the language that the author gives. It decides where no rule does and the code calls a solver.

    >>> language_of("from z3 import *"), language_of("(check-sat)")
    ('python', '')
    """
    text = text[:_READ]
    rules = rules_for("languages.toml", text)
    found = next((rule.value for rule in rules if rule.pattern.search(text)), "")
    known = _MARKS.get(mark.lower(), "")
    if {found, known} == {"java", "c++"}:  # their calls look the same
        return known
    return known if known and not found and _CALLS_A_SOLVER.search(text) else found


def has_formulas(text: str, language: str) -> bool:
    """Whether a piece of code may contain SMT-LIB 2: not if it is another input language of solvers."""
    if not language or "(check-sat" in text:
        return True
    return all(rule.group != "input" for rule in read_rules("languages.toml") if rule.value == language)
