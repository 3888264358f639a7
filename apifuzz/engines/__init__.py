"""The engines: one solver each behind :class:`apifuzz.engine.Engine`, made from a spec."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import cast

from apifuzz.engine import Engine
from base.errors import ExhumeError, Exit


class EngineMissing(ExhumeError):
    """An engine cannot be had: the spec names none, or its solver's wheel is not installed."""


class NotHere(EngineMissing):
    """The solver's wheel is not installed, or its program is not there or does not answer."""

    exit_code = Exit.ENVIRONMENT


_WHEELS = {"z3": "z3-solver", "cvc5": "cvc5", "bitwuzla": "exhume[bitwuzla]", "oxiz": "exhume[oxiz]"}
"""What to install for the Python module of a solver."""

MODULES = tuple(_WHEELS)
"""The specs of engines whose solver is a Python module of the same name."""

ENGINES = (*MODULES, "smtlib")
"""The specs of engines that need no command."""


def make_engine(spec: str) -> Engine:
    """The engine of ``spec``: ``z3``, ``cvc5``, ``bitwuzla``, ``oxiz``, ``smtlib`` (prints SMT-LIB), or
    ``name=command`` (speaks SMT-LIB with a solver process).

    Raises :class:`EngineMissing` for another spec, and where the solver's wheel is not installed.
    """
    name, equals, command = spec.partition("=")
    if equals:
        if not name.strip() or not command.strip():
            raise EngineMissing(f"{spec!r} is not a solver: write name=command, as in yices=yices-smt2")
        return _load("pipe", "Pipe")(name, command)
    if spec not in ENGINES:
        raise EngineMissing(f"no engine for {spec!r}; there are {', '.join(ENGINES)} and name=command")
    return _load("text", "Text")() if spec == "smtlib" else _load(f"{spec}.engine", spec.title())()


def _load(module: str, name: str) -> Callable[..., Engine]:
    solver = module.partition(".")[0]
    try:
        found = importlib.import_module(f"apifuzz.engines.{module}")
    except ImportError as error:
        # What fails inside exhume itself is a fault, not a missing wheel.
        if solver not in _WHEELS or (error.name or "").startswith("apifuzz"):
            raise
        raise NotHere(f"the wheel of {solver} is not installed: pip install {_WHEELS[solver]!r}") from error
    return cast(Callable[..., Engine], getattr(found, f"{name}Engine"))
