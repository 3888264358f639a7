"""Folders of findings about calls, written as campaigns write them."""

from __future__ import annotations

from pathlib import Path

from apifuzz.running.examine import Examined
from apifuzz.running.faults import Fault
from apifuzz.running.findings import Description, filing_of
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace
from difftest.triage import filing
from difftest.triage.key import FoundKey

NOTHING = Description()


def file_finding(
    folder: Path,
    fault: Fault,
    trace: Trace,
    setup: Setup,
    described: Description = NOTHING,
    key: str = "",
) -> Path:
    """Write a finding's folder into ``folder``; its path."""
    found = FoundKey(key or f"{fault.kind}|x", "", True)
    examined = Examined(fault, found, trace, trace, True, "printed")
    written = filing_of(examined, setup, "1.0", {"seed": 3, "run": 7}, described)
    return filing.file_finding(folder, written).path
