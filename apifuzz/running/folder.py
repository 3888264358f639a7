"""A folder of a finding of API fuzzing, as reports, pages and comparisons read any finding's."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from apifuzz.running.faults import FATAL
from apifuzz.running.setup import Setup
from apifuzz.trace import TraceError, read_trace
from difftest.errors import DifftestError
from difftest.profiles import PROFILES
from difftest.solvers import DISTRIBUTIONS, find_solver
from difftest.triage.reading import FindingFolder, read_some
from smtlib.labels import theories_in

TRACE = "trace.txt"
MINIMISED = "minimised.trace"
SCRIPT = "script.py"
FORMULA = "formula.smt2"
REDUCED = "reduced.smt2"
PRINTED = "printed.txt"
_WRITTEN = ("id", "class", "solver", "key", "fault", "setup")


@dataclass(frozen=True)
class CallsFolder(FindingFolder):
    """What stands in the folder of a finding of API fuzzing; nothing in it is trusted."""

    @classmethod
    def read(cls, path: Path) -> CallsFolder:
        """The folder at ``path``; DifftestError if it holds no finding of API fuzzing."""
        try:
            data = json.loads((path / "finding.json").read_text("utf-8"))
            _ = [data[name] for name in _WRITTEN], data["fault"]["kind"], data["fault"]["action"]
            setup = Setup(**data["setup"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
            raise DifftestError(
                f"{path}: no finding of API fuzzing can be read there: {problem}"
            ) from problem
        if not isinstance(data.get("solvers"), list):
            # Of a finding written before solvers were asked for their versions one by one.
            told = {"version": str(data.get("version", "unknown"))}
            data["solvers"] = [_entry(spec, data["fault"]) | told for spec in _specs(setup)]
        if "guilty" not in data and setup.cross_check is None:
            data["guilty"] = setup.label
        return cls(path, data)

    @property
    def setup(self) -> Setup:
        """The solvers that made the calls."""
        return Setup(**self.data["setup"])

    @property
    def lines(self) -> tuple[int, int]:
        """The calls of its trace, as drawn and minimised."""
        before, after = (int(count) for count in (self.data.get("lines") or (0, 0))[:2])
        return before, after

    @cached_property
    def is_reduced(self) -> bool:
        """Never: what is made small is the trace."""
        return False

    @property
    def file(self) -> str:
        """The name of the SMT-LIB script."""
        return REDUCED if (self.path / REDUCED).is_file() else FORMULA

    @cached_property
    def shown_file(self) -> str:
        """The same."""
        return self.file

    @cached_property
    def formula(self) -> str:
        """The calls in SMT-LIB: the script in the folder, else what of them can be said there."""
        if text := read_some(self.path / self.file):
            return text
        from apifuzz.wrappers.text import translate

        try:
            return translate(read_trace(self.calls)).script
        except TraceError:
            return ""

    @cached_property
    def calls(self) -> str:
        """The minimised trace, or the one that was drawn."""
        return read_some(self.path / MINIMISED) or read_some(self.path / TRACE)

    @property
    def reproduction(self) -> tuple[str, str]:
        """What shows it best, as file name and text: a program, a script, or the trace."""
        for name in (SCRIPT, REDUCED, FORMULA, MINIMISED):
            if text := read_some(self.path / name):
                return name, text
        return TRACE, self.calls

    @cached_property
    def theories(self) -> Sequence[str]:
        """Those of the calls, as far as SMT-LIB can say them."""
        return theories_in(self.formula) if self.formula.strip() else ()

    def printed(self, name: str) -> tuple[str, str]:
        """What was printed as the calls were made, without what Python said of its own stack."""
        printed, _, _ = read_some(self.path / PRINTED).partition(FATAL)
        return printed.strip(), str(self.data["fault"].get("detail", "")).partition("\n")[0]

    def command(self, name: str) -> str:
        """The command line that makes the calls again."""
        if (self.path / SCRIPT).is_file():
            return f"python {SCRIPT}"
        return f"exhume apifuzz --replay {shlex.quote(MINIMISED)}"


def _specs(setup: Setup) -> list[str]:
    return [setup.solver] + ([setup.cross_check] if setup.cross_check else [])


def _entry(spec: str, fault: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a solver without asking it."""
    name = spec.partition("=")[0]
    crashed = fault["kind"] == "crash"
    return {
        "name": name,
        "spec": spec,
        "family": name if name in PROFILES and spec == name else "other",
        "package": DISTRIBUTIONS.get(name) if spec == name else None,
        "options": [],
        "outcome": "crash" if crashed else str(fault["kind"]),
        "answers": [],
        "location": fault.get("place"),
        "detail": str(fault.get("detail", "")).partition("\n")[0] if crashed else "",
    }


def solver_entries(setup: Setup, fault: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The solvers of a finding as ``finding.json`` holds them, with versions and commits."""
    entries = []
    for spec in _specs(setup):
        entry = _entry(spec, fault)
        try:
            solver = find_solver(spec)
            entry |= {"version": solver.version(), "commit": solver.commit()}
        except DifftestError:
            entry["version"] = "unknown"
        if entry["package"]:
            entry["release"] = importlib.metadata.version(entry["package"])
        entries.append(entry)
    return entries
