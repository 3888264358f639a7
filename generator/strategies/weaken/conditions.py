"""Side conditions of rules, over the values of literals."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from smtlib.reader import SExp
from smtlib.signature import INDEX_FUNCTIONS
from smtlib.values import Value, read_number, read_string


def _implies(*values: Any) -> bool:
    return not all(values[:-1]) or bool(values[-1])


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **INDEX_FUNCTIONS,
    "not": operator.not_,
    "=>": _implies,
    "distinct": operator.ne,
    "str.len": len,
    "str.<=": operator.le,
    "bvule": operator.le,
    "bvult": operator.lt,
}


def holds(condition: SExp, values: Mapping[str, Value]) -> Any:
    """The value of a side condition over the values of constants, in which all of its names are known."""
    if isinstance(condition, str):
        if condition[0].isdigit():
            return read_number(condition)
        return read_string(condition) if condition[0] == '"' else values[condition]
    return _FUNCTIONS[condition[0]](*[holds(part, values) for part in condition[1:]])
