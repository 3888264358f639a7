"""That a term has the value that a model gives it, as a formula that bitwuzla decides."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from bitwuzla import Kind

from apifuzz.engines.bitwuzla.session import Session
from apifuzz.interface import Misbehaviour, Unsupported
from smtlib import Sort

BASIC_SORTS = frozenset(("Bool", "BitVec", "FloatingPoint", "RoundingMode"))
"""Sorts whose values are values to bitwuzla, too."""


def equality(session: Session, term: Any, sort: Sort, value: Any) -> Any:
    """``term`` has the value ``value``. Of arrays it says so at the indices that the value lists and at one
    more: bitwuzla answers ``unknown`` wherever whole arrays are compared with constant ones.
    """
    if sort.name in BASIC_SORTS:
        return session.manager.mk_term(Kind.EQUAL, [term, value])
    if sort.name != "Array":
        raise Unsupported(f"equality of values of sort {sort}")
    manager = session.manager
    index, element = sort.args
    said = []
    seen: list[Any] = []
    while value.kind() == Kind.ARRAY_STORE:
        value, at, stored = value.children()
        if not any(at == s for s in seen):
            seen.append(at)
            said.append((at, stored))
    if value.kind() != Kind.CONST_ARRAY:
        raise Misbehaviour("value", f"{str(value)[:300]} is no value of an array")
    other = _another(session, index, seen)
    if other is not None:
        said.append((other, value[0]))
    parts = [
        equality(session, manager.mk_term(Kind.ARRAY_SELECT, [term, at]), element, stored)
        for at, stored in said
    ]
    return reduce(lambda a, b: manager.mk_term(Kind.AND, [a, b]), parts, manager.mk_true())


def _another(session: Session, sort: Sort, seen: Sequence[Any]) -> Any:
    """An index that is not among ``seen``; None where none is found."""
    manager = session.manager
    if sort.name == "Bool":
        found = [manager.mk_false(), manager.mk_true()]
    elif sort.name == "BitVec":
        handle = session.sort(sort)
        count = min(len(seen) + 1, 1 << sort.indices[0])
        found = [manager.mk_bv_value(handle, n) for n in range(count)]
    else:
        return None
    return next((v for v in found if not any(v == s for s in seen)), None)
