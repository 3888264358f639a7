"""Folders of findings about calls, written as campaigns write them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apifuzz.running.examine import Examined
from apifuzz.running.faults import Fault
from apifuzz.running.findings import Description, filing_of
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace
from difftest.triage import filing
from difftest.triage.filing import FindingRecord
from difftest.triage.key import FoundKey


@dataclass(frozen=True)
class Seen:
    """What is known of an error when it is filed."""

    fault: Fault
    key: str
    trace: Trace
    minimised: Trace
    complete: bool
    setup: Setup
    version: str
    origin: Mapping[str, Any]
    printed: str = ""
    description: Description = field(default_factory=Description)


def file_finding(folder: Path, seen: Seen) -> FindingRecord:
    """Write a finding's folder into ``folder``."""
    key = FoundKey(seen.key, "", True)
    examined = Examined(seen.fault, key, seen.trace, seen.minimised, seen.complete, seen.printed)
    return filing.file_finding(
        folder, filing_of(examined, seen.setup, seen.version, seen.origin, seen.description)
    )
