"""Findings go into the corpus as they come, in a thread, whenever nobody else holds the corpus."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from base.version import VERSION
from corpus.errors import CorpusError
from corpus.results import BatchRecord, FoundRecord, store_hunt
from corpus.store import Corpus
from difftest import FindingRecord, Solver
from difftest.campaign.modes import base_name
from difftest.triage.history import compare_with_history
from generator import GeneratedTest, Strategy

_RETRY_SECONDS = 5.0
_LAST_WAIT = 5.0


class Recorder:
    """Stores the findings that it is given in ``corpus``; use under ``with``.

    While another process holds the corpus, findings wait; those that wait at the end are in ``left`` and are
    stored when the campaign goes on. ``problem`` says what keeps them out.
    """

    def __init__(
        self, corpus: Path, strategies: Mapping[str, Strategy], seed: int, solvers: Sequence[Solver]
    ) -> None:
        self._corpus = corpus
        self._strategies = strategies
        self._seed = seed
        self._solvers = {solver.name: solver for solver in solvers}
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
        try:
            record_findings(self._corpus, self._strategies, self._seed, self._solvers, records, wait)
        except (CorpusError, OSError) as problem:
            self.problem = str(problem)
            return
        with self._guard:
            self.problem = ""
            self._waiting = self._waiting[len(records) :]
            self._stored += [record.id for record in records]


def _spec_of(record: FindingRecord, name: str) -> str | None:
    """The spec of a finding's solver with the options it took, as its folder tells."""
    try:
        data = json.loads((record.path / "finding.json").read_text("utf-8"))
        return next((str(entry["spec"]) for entry in data["solvers"] if entry["name"] == name), None)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def record_findings(
    corpus: Path,
    strategies: Mapping[str, Strategy],
    seed: int,
    solvers: Mapping[str, Solver],
    found: Sequence[FindingRecord],
    wait: float = 0.0,
) -> None:
    """Store findings with their tests in the corpus, each strategy's as a batch; CorpusLocked while another
    process holds it for longer than ``wait`` seconds.
    """
    by_strategy: dict[str, list[FoundRecord]] = {}
    for record in found:
        name = record.solver.split("+")[0]
        solver = solvers.get(record.solver) or solvers.get(base_name(name, solvers))
        made = test_of(record, strategies)
        if solver is None or made is None:
            continue  # the folder was changed by hand
        strategy, test = made
        by_strategy.setdefault(strategy.name, []).append(
            FoundRecord(
                str(record.finding_class),
                _spec_of(record, name) or solver.spec,
                solver.version(),
                record.key,
                test.index,
                test.text,
                test.skeletons,
                test.atoms,
                test.rules,
                (record.path / "command.txt").read_text("utf-8"),
                str(record.path.absolute()),
            )
        )
    with Corpus.open(corpus, write=True, wait=wait) as opened:
        specs = tuple(solver.spec for solver in solvers.values())
        for name, rows in by_strategy.items():
            batch = BatchRecord(name, seed, VERSION, strategies[name].fingerprint, specs)
            store_hunt(opened, batch, rows)
        compare_with_history(opened, [record.path for record in found])


def test_of(
    record: FindingRecord, strategies: Mapping[str, Strategy]
) -> tuple[Strategy, GeneratedTest] | None:
    """The strategy and the test of a finding, made again from what ``finding.json`` says of it; None where
    it says nothing that can be used.
    """
    try:
        told = json.loads((record.path / "finding.json").read_text("utf-8"))["test"]
        strategy = strategies[told["strategy"]]
        index = int(told["index"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    test = next(iter(strategy.generate(index, index + 1)), None)
    return None if test is None else (strategy, test)
