"""The name of a logic that covers what a run draws on."""

from __future__ import annotations

from apifuzz.chance import Chance
from apifuzz.interface import Feature
from apifuzz.scope import Scope

STANDARD = frozenset(
    """ QF_UF QF_AX QF_DT QF_UFDT QF_BV QF_UFBV QF_ABV QF_AUFBV QF_NIA QF_NRA QF_NIRA QF_UFNIA QF_UFNRA
    QF_ANIA QF_AUFNIA QF_AUFNIRA QF_UFDTNIA QF_FP QF_BVFP QF_ABVFP QF_UFFP QF_AUFBVFP QF_S QF_SNIA UF BV UFBV
    ABV AUFBV NIA NRA UFNIA UFNRA UFNIRA AUFNIA AUFNIRA UFDT UFDTNIA UFDTNIRA FP BVFP ABVFP AUFBVFP
    """.split()
)
"""Logics of SMT-LIB with nonlinear arithmetic, where there is any."""

_LETTERS = (("ArraysEx", "A"), ("", "UF"), ("FixedSizeBitVectors", "BV"), ("FloatingPoint", "FP"), ("", "DT"))
_ARITHMETIC = frozenset(("Ints", "Reals", "Reals_Ints"))
_NAMED = frozenset(("Core", "UnicodeStrings", *(t for t, _ in _LETTERS if t), *_ARITHMETIC))
_ALL_SHARE = 0.3


def draw_logic(scope: Scope, higher_order: bool, chance: Chance) -> str:
    """``ALL`` (``HO_ALL`` with functions as arguments), or the standard logic of what the scope has."""
    if higher_order:
        return "HO_ALL"
    if chance.happens(_ALL_SHARE) or not scope.theories <= _NAMED:
        return "ALL"
    name = ("" if scope.quantifiers else "QF_") + _name(scope)
    return name if name in STANDARD else "ALL"


def _name(scope: Scope) -> str:
    functions = not scope.features.isdisjoint((Feature.FUNCTIONS, Feature.SORTS))
    present = {"UF": functions, "DT": Feature.DATATYPES in scope.features}
    letters = [code for theory, code in _LETTERS if theory in scope.theories or present.get(code)]
    if "UnicodeStrings" in scope.theories:
        letters.append("S")
    numbers = ("I" if "Ints" in scope.theories else "") + ("R" if "Reals" in scope.theories else "")
    if numbers:
        letters.append(f"N{numbers}A")
    return "".join(letters) or "UF"
