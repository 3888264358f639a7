"""Which operators there are rows for, and at which sorts."""

from __future__ import annotations

from functools import cache

from apifuzz.engines.oxiz.session import OPERATORS
from apifuzz.engines.profile import profile
from smtlib import Signature, Sort, default_theories
from smtlib.sorts import ROUNDING_MODE

THEORIES = profile("oxiz").capabilities.theories


@cache
def lacking() -> frozenset[str]:
    """Operators of the theories that no call makes."""
    return frozenset(
        s.name
        for s in default_theories().signatures()
        if s.theory in THEORIES and not OPERATORS.find(s.name, [p.name for p in s.params])
    ) - {name.partition(" ")[0] for name, _ in OPERATORS}


@cache
def roundings() -> dict[str, tuple[int, ...]]:
    """The places of rounding modes, which are values, per operator."""
    return {
        s.name: (0,)
        for s in default_theories().signatures()
        if s.theory == "FloatingPoint" and s.params[:1] and s.params[0].name == "RoundingMode"
    }


def takes(signature: Signature, sorts: tuple[Sort, ...]) -> bool:
    """Whether a call makes the operator at these sorts. Rounding modes are first arguments only."""
    if ROUNDING_MODE in sorts and signature.name not in roundings():
        return False
    return ROUNDING_MODE not in sorts[1:] and bool(
        OPERATORS.find(signature.name, [sort.name for sort in sorts])
    )
