"""Which of bitwuzla's functions are called: for benchmarks only."""

from __future__ import annotations

import ctypes
import functools
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import bitwuzla

_CLASSES = ("TermManager", "Term", "Sort", "Bitwuzla", "Options", "OptionInfo", "Parser")
"""The classes whose methods are sort, term and solver functions."""


def api_functions() -> tuple[str, ...]:
    """The functions that count, as ``Class.method``: all public methods."""
    return tuple(
        f"{name}.{method}"
        for name in _CLASSES
        for method in sorted(vars(getattr(bitwuzla, name)))
        if not method.startswith("_")
    )


@contextmanager
def calls_counted() -> Iterator[set[str]]:
    """Inside, the set that is yielded takes the names of the functions that are called.

    The classes are of C and cannot be changed by the usual means: their dictionaries are, behind their backs.
    """
    called: set[str] = set()
    changed: list[tuple[dict[str, Any], str, Any]] = []
    for name in api_functions():
        owner, method = name.split(".")
        members: dict[str, Any] = gc.get_referents(getattr(bitwuzla, owner).__dict__)[0]
        original = members[method]
        changed.append((members, method, original))
        members[method] = _noting(name, original, called)
    _forget_cached_methods()
    try:
        yield called
    finally:
        for members, method, original in changed:
            members[method] = original
        _forget_cached_methods()


def _noting(name: str, function: Callable[..., Any], called: set[str]) -> Callable[..., Any]:
    @functools.wraps(function)
    def noted(*args: Any, **keywords: Any) -> Any:
        called.add(name)
        return function(*args, **keywords)

    return noted


def _forget_cached_methods() -> None:
    for name in _CLASSES:
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(getattr(bitwuzla, name)))
