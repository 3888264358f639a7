"""Which functions of cvc5's Python interface there are, and which of them runs call."""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import cvc5

_CLASSES = (
    "TermManager",
    "Solver",
    "Sort",
    "Term",
    "Op",
    "Datatype",
    "DatatypeConstructor",
    "DatatypeConstructorDecl",
    "DatatypeDecl",
    "DatatypeSelector",
    "Result",
    "SynthResult",
    "Grammar",
    "Proof",
    "Statistics",
    "SymbolManager",
    "InputParser",
    "Command",
)
"""The classes whose methods count. Plugin's are called by the solver; the enumerations have none."""


def api_functions() -> tuple[str, ...]:
    """The public methods, as ``Class.method``. Not counted: operators such as ``==``, and the solver's
    deprecated doubles of the term manager's methods.
    """
    doubles = {name for name in vars(cvc5.TermManager) if name != "getStatistics"}
    return tuple(
        f"{name}.{method}"
        for name in _CLASSES
        for method, value in sorted(vars(getattr(cvc5, name)).items())
        if not method.startswith("_")
        and isinstance(value, types.MethodDescriptorType)
        and not (name == "Solver" and method in doubles)
    )


@contextlib.contextmanager
def calls_counted() -> Iterator[set[str]]:
    """Collects the names of the functions that are called inside. Slow: every call is looked at."""
    called: set[str] = set()
    known = frozenset(api_functions())

    def look(frame: types.FrameType, event: str, function: Any) -> None:
        if event == "c_call":
            name = getattr(function, "__qualname__", "")
            if name in known:
                called.add(name)

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        yield called
    finally:
        sys.setprofile(before)
