"""Stores findings in the corpus from a thread, whenever no other process holds the corpus."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from base.errors import ExhumeError
from base.version import VERSION
from corpus.errors import CorpusLocked, CorpusMissing
from corpus.results import BatchRecord, FoundRecord, store_hunt
from corpus.store import Corpus
from difftest.errors import DifftestError
from difftest.triage.filing import FindingRecord
from difftest.triage.folder import FindingFolder
from difftest.triage.history import compare_with_history
from generator import Strategy
from solvers.solver import Solver

_RETRY_SECONDS = 5.0
_LAST_WAIT = 5.0


class Recorder:
    """Stores the findings that it is given in ``corpus``, until it is closed.

    While another process holds the corpus, findings wait, as does one that cannot be stored. Those that still
    wait at the end are in ``left`` and are stored when the campaign resumes; ``problem`` is the reason.
    """

    def __init__(
        self, corpus: Path, strategies: Mapping[str, Strategy], seed: int, solvers: Sequence[Solver]
    ) -> None:
        self._corpus = corpus
        self._batch = BatchRecord("", seed, VERSION, "", tuple(solver.spec for solver in solvers))
        self._fingerprints = {name: strategy.fingerprint for name, strategy in strategies.items()}
        self._waiting: list[FindingRecord] = []
        self._stored: list[str] = []
        self._guard = threading.Lock()
        self._awake = threading.Event()
        self._closed = False
        self._ended = threading.Event()
        self.problem = ""
        self._thread = threading.Thread(target=self._work, name="exhume-recorder", daemon=True)
        self._thread.start()

    @property
    def left(self) -> int:
        """How many findings are not stored."""
        with self._guard:
            return len(self._waiting)

    def add(self, record: FindingRecord) -> None:
        """Store a finding when it can be done."""
        with self._guard:
            self._waiting.append(record)
        self._awake.set()

    def take_stored(self) -> list[str]:
        """The ids of findings that were stored since the last call."""
        with self._guard:
            stored, self._stored = self._stored, []
        return stored

    def close(self) -> None:
        """Try once more, waiting a little for whoever holds the corpus, and end.

        Ctrl-C does not cut that short: it is over in seconds, and a process that ends while a thread of it is
        inside the database is aborted.
        """
        self._closed = True
        self._awake.set()
        # Not by join: in Python 3.11 one that was interrupted takes the thread for ended.
        with contextlib.suppress(KeyboardInterrupt):
            self._ended.wait()
        self._ended.wait()
        self._thread.join()

    def _work(self) -> None:
        try:
            while not self._closed:
                self._awake.wait(_RETRY_SECONDS if self.left else None)
                self._awake.clear()
                if self.left and not self._closed:
                    self._try(0.0)
            if self.left:
                self._try(_LAST_WAIT)
        finally:
            self._ended.set()

    def _try(self, wait: float) -> None:
        with self._guard:
            records = list(self._waiting)
        self.problem = ""
        for record in records:
            try:
                record_finding(self._corpus, self._batch, self._fingerprints, record.path, wait)
            except CorpusLocked as problem:
                self.problem = str(problem)
                return
            # Also where a merge moves the finding away meanwhile: the next try does without it.
            except (ExhumeError, OSError, duckdb.Error) as problem:
                self.problem = str(problem)
                continue
            with self._guard:
                self._waiting.remove(record)
                self._stored.append(record.id)


def record_finding(
    corpus: Path, batch: BatchRecord, fingerprints: Mapping[str, str], path: Path, wait: float = 0.0
) -> bool:
    """Store a finding with its test in the corpus, in a batch like ``batch`` of the test's strategy; whether
    it was new there. If it is not yet compared with the corpus's issues, compare it and rewrite its report.

    CorpusLocked while another process holds the corpus for longer than ``wait`` seconds, CorpusMissing where
    it is gone. ``fingerprints`` are those of the strategies.
    """
    # To open it for writing would make an empty one.
    if not corpus.exists():
        raise CorpusMissing(f"there is no corpus {corpus} any more: put it back")
    try:
        found = FindingFolder.read(path)
        name, row = found.strategy, _row(found)
    except (DifftestError, ValueError, KeyError, TypeError):
        return False  # the folder was changed by hand
    with Corpus.open(corpus, write=True, wait=wait) as opened:
        own = replace(batch, strategy=name, fingerprint=fingerprints.get(name, ""))
        new = store_hunt(opened, own, [row])
        if found.data.get("resembles") is None:
            compare_with_history(opened, [path])
    return bool(new)


def _row(found: FindingFolder) -> FoundRecord:
    data, test, entry = found.data, found.test, found.accused
    listed = {name: tuple(map(int, test.get(name, ()))) for name in ("skeletons", "atoms", "rules")}
    return FoundRecord(
        finding_class=str(data["class"]),
        spec=str(entry["spec"]),
        solver_version=str(entry.get("version", "unknown")),
        key=str(data["key"]),
        index=found.index,
        text=found.tested,
        **listed,
        command_line=found.command_lines,
        path=str(found.path.absolute()),
    )
