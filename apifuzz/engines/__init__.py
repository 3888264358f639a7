"""The engines: one solver each behind :class:`apifuzz.interface.Engine`, made from a spec."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from apifuzz.engine import Engine
from base.errors import ExhumeError, Exit


class EngineMissing(ExhumeError):
    """An engine cannot be had: the spec names none, or its solver's wheel is not installed."""


class WheelMissing(EngineMissing):
    """The solver's wheel is not installed."""

    exit_code = Exit.ENVIRONMENT


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where an engine is, and which wheel its solver comes with."""

    module: str
    class_name: str
    wheel: str = ""
    extra: str = ""


_ENTRIES = {
    "z3": _Entry("apifuzz.engines.z3.engine", "Z3Engine", "z3-solver"),
    "cvc5": _Entry("apifuzz.engines.cvc5.engine", "Cvc5Engine", "cvc5"),
    "bitwuzla": _Entry("apifuzz.engines.bitwuzla.engine", "BitwuzlaEngine", "bitwuzla", "bitwuzla"),
    "oxiz": _Entry("apifuzz.engines.oxiz.engine", "OxizEngine", "oxiz", "oxiz"),
    "smtlib": _Entry("apifuzz.engines.text", "TextEngine"),
}

_PIPE = _Entry("apifuzz.engines.pipe", "PipeEngine")

ENGINES = tuple(_ENTRIES)
"""The specs of engines that need no command."""

MODULES = tuple(name for name, entry in _ENTRIES.items() if entry.wheel)
"""Those of them whose solver is a Python module of the same name."""


def make_engine(spec: str) -> Engine:
    """The engine of ``spec``: ``z3``, ``cvc5``, ``bitwuzla``, ``oxiz``, ``smtlib`` (prints SMT-LIB), or
    ``name=command`` (speaks SMT-LIB with a solver process).

    Raises :class:`EngineMissing` for another spec, and where the solver's wheel is not installed.
    """
    name, equals, command = spec.partition("=")
    if equals:
        if not name.strip() or not command.strip():
            raise EngineMissing(f"{spec!r} is not a solver: write name=command, as in yices=yices-smt2")
        return _load(_PIPE)(name, command)
    entry = _ENTRIES.get(spec)
    if entry is None:
        raise EngineMissing(f"no engine for {spec!r}; there are {', '.join(ENGINES)} and name=command")
    return _load(entry)()


def _load(entry: _Entry) -> Callable[..., Engine]:
    try:
        module = importlib.import_module(entry.module)
    except ImportError as error:
        # What fails inside exhume itself is a fault, not a missing wheel.
        if not entry.wheel or (error.name or "").startswith("apifuzz"):
            raise
        how = f"exhume[{entry.extra}]" if entry.extra else entry.wheel
        raise WheelMissing(
            f"the solver's wheel {entry.wheel} is not installed: pip install {how!r}"
        ) from error
    return cast(Callable[..., Engine], getattr(module, entry.class_name))
