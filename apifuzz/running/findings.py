"""Finding folders of API fuzzing: all that is needed to see an error again.

==================== ==============================================================================
``trace.txt``        the run's trace, as it was drawn
``minimised.trace``  the smallest trace so far that shows the error
``script.py``        the minimised calls as a Python program, where there is one
``calls.log``        the log that the solver keeps of the program's calls, where it is one that does (z3)
``formula.smt2``     the same in SMT-LIB, where it can be said there
``reduced.smt2``     that, reduced, where the solver goes wrong on the text, too; made when it is minimised
``printed.txt``      what the solver printed when the trace was repeated
``finding.json``     kind, key, place, setup, versions, and where the run came from
``report.md``        for people, ready to paste
``duplicates.txt``   numbers of later runs that show the same, a line each
==================== ==============================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from apifuzz.running import calls as _calls  # noqa: F401 (makes their kind known)
from apifuzz.running.examine import Examined
from apifuzz.running.folder import MINIMISED, PRINTED, TRACE, CallsFolder, solver_entries
from apifuzz.running.setup import Setup
from apifuzz.trace import print_trace
from base.documents import to_document
from difftest.triage.filing import Filing


@dataclass(frozen=True, slots=True)
class Description:
    """What is found out about an error: ``facts`` for finding.json, and further texts by file name."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


def filing_of(
    seen: Examined, setup: Setup, version: str, origin: Mapping[str, Any], described: Description
) -> Filing:
    """What is written of a confirmed error, found with a solver of this version; ``origin`` names the run."""
    text, fault = print_trace(seen.trace), to_document(seen.fault)
    document = {
        "guilty": None if setup.cross_check else setup.label,
        "reason": "",
        "evidence": [],
        **described.facts,
        "fault": fault,
        "setup": asdict(setup),
        "version": version,
        "solvers": solver_entries(setup, fault),
        "lines": [len(seen.trace.lines), len(seen.minimised.lines)],
        "complete": seen.complete,
        "origin": dict(origin),
    }
    files = {TRACE: text, MINIMISED: print_trace(seen.minimised), PRINTED: seen.printed, **described.files}
    named = CallsFolder.kind, seen.fault.kind, setup.label, seen.key.key
    return Filing(*named, text, document, files)
