"""How the engine of a run is put together, as plain data: for a request to a process, and for a trace."""

from __future__ import annotations

import importlib
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import cast

from apifuzz.engine import Engine
from apifuzz.engines import ENGINES, MODULES, make_engine
from apifuzz.engines.around import Witness
from apifuzz.engines.crosscheck import CrossCheck
from apifuzz.programs.recording import SPEAKER
from apifuzz.trace import CROSS_CHECK, WITNESSES, Trace, TraceError, quote_name, unquote_name
from solvers.lookup import absolute
from solvers.specs import parse_spec

TWINS = "the solver and the one of the cross-check have the same name"


@dataclass(frozen=True, slots=True)
class Setup:
    """The solver (a spec of ``make_engine``), the one it is compared with, whether witnesses are checked.

    ``factory`` is an engine that is not among exhume's: ``MODULE:FUNCTION`` below the folder ``path``. It
    comes from Python only, never from a command line or a trace.
    """

    solver: str
    cross_check: str | None = None
    witnesses: bool = False
    factory: str | None = None
    path: str | None = None

    @property
    def label(self) -> str:
        """The solver under test, for people and keys: without a command line."""
        return self.solver.partition("=")[0]

    @property
    def specs(self) -> tuple[str, ...]:
        """The solvers that make the calls."""
        return (self.solver, self.cross_check) if self.cross_check else (self.solver,)

    @property
    def absolute(self) -> Setup:
        """The same with absolute paths in command lines, for a process that runs in another folder."""
        cross_check = self.cross_check and _absolute(self.cross_check)
        return replace(self, solver=_absolute(self.solver), cross_check=cross_check)

    @property
    def title(self) -> str:
        """The same, for people."""
        return "+".join(spec.partition("=")[0] for spec in self.specs)

    @property
    def has_twins(self) -> bool:
        """Whether both solvers have one label: then nothing could say which of them is wrong."""
        return len({spec.partition("=")[0].strip() for spec in self.specs}) < len(self.specs)

    @property
    def interfaces(self) -> tuple[str, ...]:
        """What a program with the calls is written with: the Python modules of the solvers, and the class of
        :mod:`apifuzz.programs.talking` for those behind a command line; empty where a solver has neither.
        """
        names = tuple(dict.fromkeys(SPEAKER if "=" in spec else spec for spec in self.specs))
        return names if all(name in (*MODULES, SPEAKER) for name in names) else ()

    def make(self) -> Engine:
        """The engine. Raises EngineMissing."""
        engine = self._solver()
        if self.cross_check is not None:
            engine = CrossCheck(engine, make_engine(self.cross_check))
        if self.witnesses:
            engine = Witness(engine)
        return engine

    def _solver(self) -> Engine:
        if self.factory is None:
            return make_engine(self.solver)
        if self.path is not None and self.path not in sys.path:
            sys.path.insert(0, self.path)
        module, _, name = self.factory.partition(":")
        return cast(Callable[[], Engine], getattr(importlib.import_module(module), name))()

    def settings(self) -> list[tuple[str, str]]:
        """What a trace says of it, besides the solver: without a command line, as traces go into reports."""
        said = []
        if self.cross_check is not None:
            name, equals, _ = self.cross_check.partition("=")
            name = name.strip()
            # With a "=" it is not taken for the engine of this name when it is read.
            said.append((CROSS_CHECK, quote_name(name + equals if name in ENGINES else name)))
        if self.witnesses:
            said.append((WITNESSES, "true"))
        return said

    @classmethod
    def of_trace(cls, trace: Trace, solver: str | None = None, cross_check: str | None = None) -> Setup:
        """The setup of the run that a trace is of, on ``solver`` and ``cross_check`` if these are named.

        A trace may come from a stranger: solvers that are started by a command line are taken only from the
        caller. Raises TraceError where it names one, and where the caller names two of one label.
        """
        other = cross_check or unquote_name(trace.setting(CROSS_CHECK)) or None
        named = (("--solver", solver, trace.solver), ("--cross-check", cross_check, other))
        for option, given, name in named:
            if given is None and name and name not in ENGINES:
                label = name.partition("=")[0]
                raise TraceError(
                    f"it was made with the program {label!r}, which no trace may start: name it with"
                    f" {option} {label}=COMMAND"
                )
        setup = cls(solver or trace.solver, other, trace.setting(WITNESSES) == "true")
        # Earlier versions wrote such traces, too: these are repeated as they are.
        if setup.has_twins and (solver or cross_check):
            raise TraceError(f"{TWINS}: name one of them otherwise with --solver or --cross-check")
        return setup


def _absolute(spec: str) -> str:
    command = parse_spec(spec).command if "=" in spec else ()
    return f"{spec.partition('=')[0]}={shlex.join(absolute(command))}" if command else spec
