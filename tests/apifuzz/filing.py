"""Folders of findings about calls, written as campaigns write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from apifuzz.running import folder
from apifuzz.running.examine import Examined
from apifuzz.running.faults import Fault
from apifuzz.running.findings import Description, filing_of
from apifuzz.running.runs import Runner
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace
from difftest.errors import DifftestError
from difftest.triage import filing
from difftest.triage.key import FoundKey

NOTHING = Description()


def missing(spec: str) -> None:
    """In place of what looks for a solver: there is none."""
    raise DifftestError(spec)


def without_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no solver say its version when a finding is filed."""
    monkeypatch.setattr(folder, "find_solver", missing)


class Programmed(Runner):
    """Has a program, or none, at once."""

    def __init__(self, setup: Setup, text: str | None) -> None:
        super().__init__(setup)
        self.text = text

    def program(self, trace: str, fault: Fault) -> str | None:
        return self.text


def file_finding(
    inside: Path,
    fault: Fault,
    trace: Trace,
    setup: Setup,
    described: Description = NOTHING,
    key: str = "",
) -> Path:
    """Write a finding's folder into ``inside``; its path."""
    found = FoundKey(key or f"{fault.kind}|x", "", True)
    examined = Examined(fault, found, trace, trace, True, "printed")
    written = filing_of(examined, setup, "1.0", {"seed": 3, "run": 7}, described)
    return filing.file_finding(inside, written).path
