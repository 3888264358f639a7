"""Which functions of a solver's interface there are, and which of them are called.

The file ``coverage.toml`` in the engine's folder says what counts: classes with public methods (with
``module = true`` also the functions beside them), or a module with functions and patterns of those that do
not count. ``counting:SOLVER`` is an engine for ``scripts/bench_apifuzz`` whose runs append the functions that
they call to the file that ``EXHUME_CALLED`` names.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import importlib
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

from apifuzz import engines
from apifuzz.engine import Engine

_PARENT = os.getpid()


@lru_cache(maxsize=4)
def _described(solver: str) -> dict[str, Any]:
    file = Path(engines.__file__).parent / solver / "coverage.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def _core(solver: str) -> Any:
    inner = _described(solver).get("functions")
    return importlib.import_module(f"{solver}.{inner}" if inner else solver)


@lru_cache(maxsize=4)
def api_functions(solver: str) -> tuple[str, ...]:
    """The functions that count, ``Class.method`` or ``function``; none where the engine does not say."""
    described = _described(solver)
    if "functions" in described:
        core, left_out = _core(solver), [entry["pattern"] for entry in described["left-out"]]
        # Functions that ask the library have the library's as a default argument.
        names = [n for n in dir(core) if getattr(getattr(core, n), "__defaults__", None) and n[0] != "_"]
        return tuple(sorted(n for n in names if not any(re.search(pattern, n) for pattern in left_out)))
    if "classes" not in described:
        return ()
    module, doubles = importlib.import_module(solver), described.get("doubles", {})
    left = set(vars(getattr(module, doubles["of"]))) - set(doubles["except"]) if doubles else set()
    beside = vars(module) if described.get("module") else {}
    return (
        *(name for name, value in sorted(beside.items()) if isinstance(value, BuiltinFunctionType)),
        *_methods(module, described["classes"], doubles, left),
    )


def _methods(
    module: Any, classes: Sequence[str], doubles: Mapping[str, Any], left: set[str]
) -> Iterator[str]:
    return (
        f"{name}.{method}"
        for name in classes
        for method, value in sorted(vars(getattr(module, name)).items())
        if not method.startswith("_") and callable(value)
        if not (name == doubles.get("by") and method in left)
    )


@contextmanager
def calls_counted(solver: str) -> Iterator[set[str]]:
    """Inside, the set that is yielded takes the names of the functions that are called."""
    called: set[str] = set()
    changed = _note(solver, called)
    try:
        yield called
    finally:
        for members, key, original in changed:
            members[key] = original
        _forget_cached_methods(solver)


def _note(solver: str, called: set[str]) -> list[tuple[dict[str, Any], str, Any]]:
    """Have the functions add their names to a set; what they were, by dictionary and name."""
    changed: list[tuple[dict[str, Any], str, Any]] = []
    for name in api_functions(solver):
        for members, key in _places(solver, name):
            changed.append((members, key, members[key]))
            members[key] = _noting(name, members[key], called)
    _forget_cached_methods(solver)
    return changed


def _places(solver: str, name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The dictionaries where a function is to be found."""
    owner, _, method = name.rpartition(".")
    if owner:
        # Classes of C cannot be changed by the usual means: their dictionaries are, behind their backs.
        yield gc.get_referents(getattr(importlib.import_module(solver), owner).__dict__)[0], method
        return
    function = getattr(_core(solver), name)
    for module in _modules(solver):
        # Modules took the names over when they were imported.
        if vars(module).get(name) is function:
            yield vars(module), name


@lru_cache(maxsize=4)
def _modules(solver: str) -> tuple[Any, ...]:
    return tuple(module for name, module in sys.modules.items() if name.partition(".")[0] == solver)


def _noting(name: str, function: Callable[..., Any], called: set[str]) -> Callable[..., Any]:
    @functools.wraps(function)
    def noted(*args: Any, **keywords: Any) -> Any:
        called.add(name)
        return function(*args, **keywords)

    return noted


class _Written(set[str]):
    """Names that are written to a file when they are first added."""

    def __init__(self) -> None:
        super().__init__()
        self._file = os.open(os.environ["EXHUME_CALLED"], os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def add(self, name: str) -> None:
        if name not in self:
            super().add(name)
            os.write(self._file, f"{name}\n".encode())


def _counted(solver: str) -> Engine:
    """The engine; in a fork of the process that loaded this, its calls are counted from now on."""
    if os.getpid() != _PARENT:
        _note(solver, _Written())
    return engines.make_engine(solver)


def __getattr__(name: str) -> Callable[[], Engine]:
    if name in engines.ENGINES:
        return partial(_counted, name)
    raise AttributeError(name)


def _forget_cached_methods(solver: str) -> None:
    for name in _described(solver).get("classes", ()):
        made = getattr(importlib.import_module(solver), name)
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(made))
