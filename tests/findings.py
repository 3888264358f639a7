"""The findings of docs/findings, for the tests that run them on the releases that their reports are about."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "findings"
RELEASES = {
    "z3": ("z3-solver", "5.4.0"),
    "cvc5": ("cvc5", "1.4.2"),
    "bitwuzla": ("bitwuzla", "0.9.1"),
    "boolector": ("pyboolector", "3.2.4"),
    "oxiz": ("oxiz", "0.3.4"),
}
"""By solver its distribution and the release that the reports are about."""
WITH_PROGRAM = sorted(file.parent.name for file in FOLDER.glob("*/script.py"))


def report_of(folder: str) -> str:
    """The report of a finding."""
    return (FOLDER / folder / "report.md").read_text("utf-8")


def skip_unless_installed(solver: str, report: str = "") -> None:
    """Skip unless the release is installed that reports are about, or another one that this report names."""
    distribution, release = RELEASES[solver]
    try:
        installed = importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"the report is about {solver} {release}, which is not installed")
    releases = {release, *re.findall(r"^- Newest tried: (\S+), affected$", report, re.M)}
    if not any(f"{installed}.".startswith(f"{one}.") for one in releases):
        pytest.skip(f"the report is about {solver} {release}, installed is {installed}")


def assert_safe_mode(folder: str, shows: bool, printed: str) -> None:
    """The report says whether the fault shows in safe mode, or else the words with which that refuses it."""
    report = report_of(folder)
    assert f"; Safe mode: {'affected' if shows else 'refused'}\n" in report, printed
    refusal = re.search(r"Safe mode refuses the input: `([^`]+)`", report)
    assert shows == (refusal is None), printed
    assert refusal is None or refusal[1] in " ".join(printed.split())
