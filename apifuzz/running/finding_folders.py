"""Findings of campaigns of both kinds: of hunts, whose tests are formulas, and of API fuzzing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from apifuzz.running import report as calls_report
from apifuzz.running import tally
from apifuzz.running.findings import read_findings as read_calls_findings
from apifuzz.running.folder import CallsFolder
from difftest import BadOutput
from difftest.campaign.stored import FILE as CAMPAIGN
from difftest.triage import reports
from difftest.triage.folders import FindingRecord, read_findings
from difftest.triage.reading import FindingFolder


def findings_of(folder: Path) -> list[FindingRecord]:
    """The findings of a campaign, or of a folder of findings; BadOutput if it is neither."""
    inside = folder / "findings"
    campaigns = any((folder / name).is_file() for name in (CAMPAIGN, tally.FILE))
    if not inside.is_dir() and not campaigns and not any(folder.glob("*/finding.json")):
        raise BadOutput(f"{folder}: no findings there; name what a hunt, or apifuzz, got as --out")
    inside = inside if inside.is_dir() else folder
    found = [*read_findings(inside), *_of_calls(inside)]
    return sorted(found, key=lambda record: record.path.name)


def _of_calls(folder: Path) -> Iterator[FindingRecord]:
    for found in read_calls_findings(folder):
        yield FindingRecord(found.id, found.kind, found.solver, found.key, True, found.path)


def is_of_calls(folder: Path) -> bool:
    """Whether a folder is of a finding of API fuzzing."""
    try:
        data = json.loads((folder / "finding.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(data, dict) and "fault" in data


def read_folder(folder: Path) -> FindingFolder:
    """A finding's folder; DifftestError if it holds none."""
    return CallsFolder.read(folder) if is_of_calls(folder) else FindingFolder.read(folder)


def title_of(found: FindingFolder) -> str:
    """The title of a finding's report."""
    return calls_report.report_title(found) if isinstance(found, CallsFolder) else reports.report_title(found)


def rewrite_report(folder: Path) -> str:
    """Make a finding's ``report.md`` anew; its text."""
    if is_of_calls(folder):
        return calls_report.rewrite_report(folder)
    return reports.rewrite_report(folder)
