"""All calls that every solver may have, in one namespace."""

from __future__ import annotations

from typing import Any

from apifuzz.actions import (
    Action,
    feeding,
    functions,
    inspection,
    leaves,
    levels,
    life,
    options,
    solving,
    sorts,
    terms,
)
from apifuzz.actions.functions import DefineFunction, DefineRecursive
from apifuzz.actions.inspection import InspectSort, InspectTerm, ReadBack, Simplify, Substitute
from apifuzz.actions.leaves import MakeConstant, MakeFunction, MakeSpecialValue, MakeValue, MakeVariable
from apifuzz.actions.levels import Pop, Push
from apifuzz.actions.life import Delete, New, Reset, ResetAssertions, SetLogic
from apifuzz.actions.options import SetOption
from apifuzz.actions.solving import (
    Assert,
    CheckSat,
    CheckSatAssuming,
    Equate,
    GetValue,
    PrintModel,
    UnsatAssumptions,
    UnsatCore,
    check,
)
from apifuzz.actions.sorts import DeclareDatatypes, DeclareSort, MakeSort
from apifuzz.actions.terms import MakeBinder, MakeTerm
from apifuzz.call import Call, HasSort

ACTIONS: dict[str, type[Action[Any]]] = {
    action.name: action
    for module in (*(life, options, sorts, leaves, terms, functions, inspection, solving, levels, feeding),)
    for action in module.ACTIONS
}
"""Those that runs make, by name."""

__all__ = [
    "ACTIONS",
    "Action",
    "Assert",
    "Call",
    "CheckSat",
    "CheckSatAssuming",
    "DeclareDatatypes",
    "DeclareSort",
    "DefineFunction",
    "DefineRecursive",
    "Delete",
    "Equate",
    "GetValue",
    "HasSort",
    "InspectSort",
    "InspectTerm",
    "MakeBinder",
    "MakeConstant",
    "MakeFunction",
    "MakeSort",
    "MakeSpecialValue",
    "MakeTerm",
    "MakeValue",
    "MakeVariable",
    "New",
    "Pop",
    "PrintModel",
    "Push",
    "ReadBack",
    "Reset",
    "ResetAssertions",
    "SetLogic",
    "SetOption",
    "Simplify",
    "Substitute",
    "UnsatAssumptions",
    "UnsatCore",
    "check",
]
