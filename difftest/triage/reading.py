"""What stands in a finding's folder, read for reports, pages and comparisons; nothing in it is trusted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from difftest.errors import DifftestError

ORIGINAL = "original.smt2"
REDUCED = "reduced.smt2"
_BISECTED = "bisect.json"
_MOST_READ = 1 << 20


@dataclass(frozen=True)
class FindingFolder:
    """What stands in a finding's folder, as far as it can be read; nothing in it is trusted."""

    path: Path
    data: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> FindingFolder:
        """The folder at ``path``; DifftestError if it holds no finding."""
        try:
            data = json.loads((path / "finding.json").read_text("utf-8"))
            _ = data["class"], data["solvers"], data["solver"], data["key"]
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise DifftestError(f"{path}: no finding can be read there: {problem}") from problem
        return cls(path, data)

    @cached_property
    def is_reduced(self) -> bool:
        """Whether there is a reduced formula that fresh processes confirmed."""
        told = self.data.get("reduced")
        return isinstance(told, dict) and bool(told.get("confirmed")) and (self.path / REDUCED).is_file()

    @property
    def file(self) -> str:
        """The name of the formula to show."""
        return REDUCED if self.is_reduced else ORIGINAL

    def given(self, entry: Mapping[str, Any] | None) -> str:
        """The name of the file that a solver was given: one of its own if it is asked by a tactic."""
        entry = entry or {}
        if self.is_reduced:
            entry = self._run_of_shown(entry.get("name")) or {}
        name = str(entry.get("file") or self.file)
        return name if Path(name).name == name else self.file

    @cached_property
    def shown_file(self) -> str:
        """The name of the formula to show: as the solver that is known to be wrong was given it."""
        return self.given(self.guilty)

    @cached_property
    def formula(self) -> str:
        """The text of the formula to show."""
        return read_some(self.path / self.shown_file)

    @property
    def key(self) -> str:
        """The key by the formula to show. The hunt counts by that in ``data``, which reduction leaves."""
        return str(self._of_shown.get("key") or self.data["key"])

    @property
    def safe_mode(self) -> bool | None:
        """Whether the formula to show shows it with cvc5 in its safe mode; None where that is not known."""
        told = (self._of_shown if self.is_reduced else self.data).get("safe_mode")
        return told if isinstance(told, bool) else None

    @property
    def _of_shown(self) -> Mapping[str, Any]:
        """What was noted of the reduced formula, if it is the one to show."""
        return self.data["reduced"] if self.is_reduced else {}

    def _run_of_shown(self, name: object) -> Mapping[str, Any] | None:
        """What was noted of a solver's run on the reduced formula, if that is the one to show."""
        found: Mapping[str, Any] | None = (self._of_shown.get("runs") or {}).get(name)
        return found

    def _entry(self, name: str) -> Mapping[str, Any]:
        """The entry of a solver; empty if it takes no part."""
        return next((entry for entry in self.solvers if entry.get("name") == name), {})

    @property
    def reproduction(self) -> tuple[str, str]:
        """The file to show on a page, and its text."""
        return self.file, self.formula

    @cached_property
    def bisection(self) -> Mapping[str, Any]:
        """The finished bisection's report; empty where there is none."""
        try:
            data = json.loads((self.path / _BISECTED).read_text("utf-8"))
            report = data["report"] if data["complete"] else {}
        except (OSError, ValueError, KeyError, TypeError):
            return {}
        return report if isinstance(report, dict) else {}

    @property
    def solvers(self) -> Sequence[Mapping[str, Any]]:
        """The entries of the solvers that it takes to show the finding."""
        return [entry for entry in self.data["solvers"] if isinstance(entry, dict)]

    @property
    def guilty(self) -> Mapping[str, Any] | None:
        """The entry of the solver that is known to be wrong."""
        return next((e for e in self.solvers if e.get("name") == self.data.get("guilty")), None)

    @cached_property
    def theories(self) -> Sequence[str]:
        """Those of the formula to show."""
        found = self._of_shown.get("theories") or self.data.get("theories") or ()
        return [str(name) for name in found]

    def printed(self, name: str) -> tuple[str, str]:
        """What solver ``name`` printed on the formula to show, and how it ended."""
        entry, stem = self._entry(name), name
        if (run := self._run_of_shown(name)) is not None:
            entry, stem = run, f"{name}.reduced"
        texts = [read_some(self.path / f"{stem}.{stream}").strip("\n") for stream in ("stdout", "stderr")]
        return "\n".join(text for text in texts if text), str(entry.get("ending", ""))

    def seconds(self, name: str) -> float | None:
        """How long solver ``name`` took for the formula to show, if that is known."""
        entry = (self._run_of_shown(name) or {}) if self.is_reduced else self._entry(name)
        told = entry.get("seconds")
        return float(told) if isinstance(told, int | float) else None

    def command(self, name: str) -> str:
        """The command line that shows it with solver ``name``, as one would type it."""
        if (run := self._run_of_shown(name)) is not None:
            return str(run["shown"])
        entry = self._entry(name)
        shown = str(entry.get("shown") or " ".join(map(str, entry.get("command", ()))))
        return shown.replace(ORIGINAL, self.file)


def read_some(file: Path) -> str:
    """The text of a file, whatever its bytes, a megabyte at most; empty if it is not there."""
    try:
        with file.open("rb") as handle:
            return handle.read(_MOST_READ).decode("utf-8", "replace")
    except OSError:
        return ""
