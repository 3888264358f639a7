"""Findings of API fuzzing go into the corpus that the campaign drew on, and are compared with its issues."""

from __future__ import annotations

from pathlib import Path

from apifuzz.running import calls as _calls  # noqa: F401 (the kind of their findings)
from apifuzz.running.folder import FORMULA, CallsFolder
from base.version import VERSION
from corpus.results import BatchRecord, FoundRecord, store_hunt
from corpus.store import Corpus
from difftest.triage.folder import read_some
from difftest.triage.history import compare_with_history
from difftest.triage.store import findings_of

STRATEGY = "apifuzz"
"""What stands for a strategy in the corpus's table of batches."""
_WAIT_SECONDS = 5.0


def store_findings(corpus: Path, campaign: Path, seed: int) -> int:
    """Store a campaign's findings; how many were new to the corpus.

    A finding's test is the run that showed it, as a script where SMT-LIB can say it, else as a trace. Those
    not compared with the corpus's issues yet are, and their reports written anew. CorpusError where another
    process holds the corpus or it cannot be written.
    """
    folders = [
        found for r in findings_of(campaign) if isinstance(found := CallsFolder.read(r.path), CallsFolder)
    ]
    with Corpus.open(corpus, write=True, wait=_WAIT_SECONDS) as opened:
        rows = [_row(found) for found in folders]
        specs = tuple(sorted({str(entry["spec"]) for found in folders for entry in found.solvers}))
        new = store_hunt(opened, BatchRecord(STRATEGY, seed, VERSION, "", specs), rows)
        left = [found.path for found in folders if found.data.get("resembles") is None]
        compare_with_history(opened, left)
    return new


def _row(found: CallsFolder) -> FoundRecord:
    data = found.data
    entry = found.guilty or found.solvers[0]
    return FoundRecord(
        str(data["class"]),
        str(entry["spec"]),
        str(entry.get("version", "unknown")),
        str(data["key"]),
        int((data.get("origin") or {}).get("run", 0)),
        read_some(found.path / FORMULA) or found.calls,
        (),
        (),
        (),
        found.command(""),
        str(found.path.absolute()),
    )
