"""All calls that every solver may have, in one namespace."""

from __future__ import annotations

from apifuzz.actions import (
    Action,
    actions_in,
    functions,
    inspection,
    leaves,
    life,
    solving,
    sorts,
    terms,
)
from apifuzz.actions.functions import DefineFunction, DefineRecursive
from apifuzz.actions.inspection import InspectSort, InspectTerm, ReadBack, Simplify, Substitute
from apifuzz.actions.leaves import MakeConstant, MakeFunction, MakeSpecialValue, MakeValue, MakeVariable
from apifuzz.actions.life import Delete, New, Pop, Push, Reset, ResetAssertions, SetLogic, SetOption
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
from apifuzz.feeding import making

ACTIONS = {
    action.name: action
    for action in actions_in(life, sorts, leaves, terms, functions, inspection, solving, making)
}
"""Those that runs make, by name."""
