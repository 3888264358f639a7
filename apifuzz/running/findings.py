"""Finding folders of API fuzzing: all it takes to see an error again, there whole or not at all.

==================== ==============================================================================
``trace.txt``        the run's trace, as it was drawn
``minimised.trace``  the smallest trace so far that shows the error
``script.py``        the minimised calls as a Python program of the solver's own interface
``formula.smt2``     the same in SMT-LIB, where it can be said there
``reduced.smt2``     that, reduced, where the solver goes wrong on the text, too; made when it is minimised
``printed.txt``      what the solver printed when the trace was repeated
``finding.json``     kind, key, place, setup, versions, and where the run came from
``report.md``        for people, ready to paste
``duplicates.txt``   numbers of later runs that show the same, a line each
==================== ==============================================================================

``script.py`` and ``formula.smt2`` are there where they can be made.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apifuzz.running.faults import Fault
from apifuzz.running.folder import (
    FORMULA,
    MINIMISED,
    PRINTED,
    REDUCED,
    SCRIPT,
    TRACE,
    CallsFolder,
    solver_entries,
)
from apifuzz.running.report import rewrite_report
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace, print_trace
from base.errors import ExhumeError
from base.files import put_json
from difftest.triage.findings import finding_id
from difftest.triage.folders import platform_name

SCHEMA = 1
"""The version of finding.json; raised when a key changes its meaning or goes."""

EVIDENCE = "evidence"
"""Among the texts of a finding: what is known of who is wrong (JSON), which becomes part of finding.json."""
_MOST_DUPLICATES = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """An error that was seen again in a fresh process, as a summary lists it.

    ``known``: an earlier campaign into the same folder had found it. ``lines`` are the calls of its trace,
    drawn and minimised.
    """

    id: str
    kind: str
    solver: str
    key: str
    detail: str
    path: Path
    known: bool = False
    lines: tuple[int, int] = (0, 0)

    def to_json(self) -> dict[str, Any]:
        """The object that ``apifuzz --json`` lists."""
        return {
            "id": self.id,
            "class": self.kind,
            "solver": self.solver,
            "key": self.key,
            "detail": self.detail.partition("\n")[0][:300],
            "known": self.known,
            "lines": list(self.lines),
            "path": str(self.path),
        }


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of an error when it is filed. ``files`` are further texts, by file name."""

    fault: Fault
    key: str
    trace: Trace
    minimised: Trace
    complete: bool
    setup: Setup
    version: str
    origin: Mapping[str, Any]
    printed: str = ""
    files: Mapping[str, str] = field(default_factory=dict)


def file_finding(folder: Path, seen: Seen) -> Finding:
    """Write a finding's folder into ``folder``; nothing is changed where it is there already."""
    text = print_trace(seen.trace)
    identity = finding_id(seen.key, text)
    final = folder / f"{seen.fault.kind}-{identity}"
    lines = (len(seen.trace.lines), len(seen.minimised.lines))
    if not final.exists():
        work = folder / f".tmp-{final.name}"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        _write(work / TRACE, text)
        _write(work / MINIMISED, print_trace(seen.minimised))
        _write(work / PRINTED, seen.printed)
        for name, content in seen.files.items():
            if name != EVIDENCE:
                _write(work / name, content)
        _write(work / "finding.json", json.dumps(_document(identity, seen, lines), indent=2) + "\n")
        rewrite_report(work)
        work.rename(final)
    detail = seen.fault.detail
    return Finding(identity, seen.fault.kind, seen.setup.label, seen.key, detail, final, False, lines)


def _write(file: Path, text: str) -> None:
    file.write_text(text, "utf-8", "backslashreplace")


def _document(identity: str, seen: Seen, lines: tuple[int, int]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "id": identity,
        "class": seen.fault.kind,
        "solver": seen.setup.label,
        **_evidence(seen.files, seen.setup),
        "key": seen.key,
        "fault": seen.fault.to_json(),
        "setup": json.loads(seen.setup.to_json()),
        "version": seen.version,
        "platform": platform_name(),
        "solvers": solver_entries(seen.setup, seen.fault.to_json()),
        "lines": list(lines),
        "complete": seen.complete,
        "origin": dict(seen.origin),
    }


def _evidence(files: Mapping[str, str], setup: Setup) -> dict[str, Any]:
    """Who is wrong and why: what was gathered, or that there is but one solver."""
    if EVIDENCE in files:
        return dict(json.loads(files[EVIDENCE]))
    return {"guilty": None if setup.cross_check else setup.label, "reason": "", "evidence": []}


def update_finding(folder: Path, texts: Mapping[str, str], changes: Mapping[str, Any]) -> None:
    """Put further texts into a finding's folder, change entries of ``finding.json``, and make the report
    anew.
    """
    data = {**read_document(folder), **changes}
    if EVIDENCE in texts:
        data |= json.loads(texts[EVIDENCE])
    for name, text in texts.items():
        if name != EVIDENCE:
            _write(folder / name, text)
    put_json(folder / "finding.json", data)
    rewrite_report(folder)


def read_document(folder: Path) -> dict[str, Any]:
    """A finding's ``finding.json``. DifftestError if there is none of API fuzzing that can be read."""
    return dict(CallsFolder.read(folder).data)


def read_findings(folder: Path) -> Iterator[Finding]:
    """The findings below ``folder``; what cannot be read is passed over."""
    for file in sorted(folder.glob("*/finding.json")):
        try:
            data = read_document(file.parent)
            words = [str(data[name]) for name in ("id", "class", "solver", "key")]
            before, after = (int(count) for count in data.get("lines", (0, 0)))
            detail = str(data["fault"].get("detail", ""))
        except (ExhumeError, ValueError, TypeError):
            continue
        yield Finding(words[0], words[1], words[2], words[3], detail, file.parent, True, (before, after))


def note_duplicate(finding: Finding, number: int, count: int) -> None:
    """Add a run's number to the finding that it shows again, as long as the list is not too long."""
    if count <= _MOST_DUPLICATES:
        with (finding.path / "duplicates.txt").open("a", encoding="utf-8") as handle:
            handle.write(f"{number}\n")


__all__ = [
    "EVIDENCE",
    "FORMULA",
    "MINIMISED",
    "REDUCED",
    "SCHEMA",
    "SCRIPT",
    "TRACE",
    "Finding",
    "Seen",
    "file_finding",
    "note_duplicate",
    "read_document",
    "read_findings",
    "rewrite_report",
    "update_finding",
]
