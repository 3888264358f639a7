"""The wrappers: one solver each behind :class:`apifuzz.interface.Wrapper`, made from a spec."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from apifuzz.interface import Wrapper
from base.errors import ExhumeError, Exit


class WrapperMissing(ExhumeError):
    """A wrapper cannot be had: the spec names none, or its solver's wheel is not installed."""


class WheelMissing(WrapperMissing):
    """The solver's wheel is not installed."""

    exit_code = Exit.ENVIRONMENT


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where a wrapper is, and which wheel its solver comes with."""

    module: str
    class_name: str
    wheel: str = ""
    extra: str = ""


_ENTRIES = {
    "z3": _Entry("apifuzz.wrappers.z3", "Z3Wrapper", "z3-solver"),
    "cvc5": _Entry("apifuzz.wrappers.cvc5", "Cvc5Wrapper", "cvc5"),
    "bitwuzla": _Entry("apifuzz.wrappers.bitwuzla", "BitwuzlaWrapper", "bitwuzla", "bitwuzla"),
    "smtlib": _Entry("apifuzz.wrappers.text", "TextWrapper"),
}

_PIPE = _Entry("apifuzz.wrappers.pipe", "PipeWrapper")

WRAPPERS = tuple(_ENTRIES)
"""The specs of wrappers that need no command."""


def make_wrapper(spec: str) -> Wrapper:
    """The wrapper of ``spec``: ``z3``, ``cvc5``, ``bitwuzla``, ``smtlib`` (prints SMT-LIB), or
    ``name=command`` (speaks SMT-LIB with a solver process).

    Raises :class:`WrapperMissing` for another spec, and where the solver's wheel is not installed.
    """
    name, equals, command = spec.partition("=")
    if equals:
        if not name.strip() or not command.strip():
            raise WrapperMissing(f"{spec!r} is no solver: write name=command, as in yices=yices-smt2")
        return _load(_PIPE)(name, command)
    entry = _ENTRIES.get(spec)
    if entry is None:
        raise WrapperMissing(f"no wrapper for {spec!r}; there are {', '.join(WRAPPERS)} and name=command")
    return _load(entry)()


def _load(entry: _Entry) -> Callable[..., Wrapper]:
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
    return cast(Callable[..., Wrapper], getattr(module, entry.class_name))
