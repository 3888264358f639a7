"""The name of a logic that covers what a run draws on."""

from __future__ import annotations

import random

from apifuzz.interface import Feature
from apifuzz.scope import Scope

_LETTERS = (("ArraysEx", "A"), ("", "UF"), ("FixedSizeBitVectors", "BV"), ("FloatingPoint", "FP"), ("", "DT"))
_LAST = (("UnicodeStrings", "S"),)
_ARITHMETIC = frozenset(("Ints", "Reals", "Reals_Ints"))
_NAMED = frozenset(("Core", *(t for t, _ in (*_LETTERS, *_LAST) if t), *_ARITHMETIC))
_ALL_SHARE = 0.4


def draw_logic(scope: Scope, higher_order: bool, chance: random.Random) -> str:
    """``ALL`` (``HO_ALL`` with functions as arguments), or a logic named after what the scope has."""
    if higher_order:
        return "HO_ALL"
    if chance.random() < _ALL_SHARE or not scope.theories <= _NAMED:
        return "ALL"
    return ("" if scope.quantifiers else "QF_") + _name(scope)


def _name(scope: Scope) -> str:
    functions = not scope.features.isdisjoint((Feature.FUNCTIONS, Feature.SORTS))
    present = {"UF": functions, "DT": Feature.DATATYPES in scope.features}
    letters = [code for theory, code in _LETTERS if theory in scope.theories or present.get(code)]
    letters += [code for theory, code in _LAST if theory in scope.theories]
    # Floating-point numbers are made of reals, bit-vectors of integers and back.
    numbers = ("I" if "Ints" in scope.theories else "") + ("R" if "Reals" in scope.theories else "")
    if numbers:
        letters.append(f"N{numbers}A")
    return "".join(letters) or "UF"
