"""The findings of a hunt: candidates that wait for confirmation, findings, and their duplicates.

Several tests may show the same candidate before its first test is confirmed. They wait and are tried next if
that one does not reproduce. Tests that show a known finding are duplicates, unless a quick reduction may show
a different cause (a *look*).
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from difftest.campaign.events import (
    CandidateDropped,
    DuplicateSeen,
    Event,
    FindingConfirmed,
)
from difftest.campaign.modes import base_name
from difftest.campaign.stored import FindingState, StoredCampaign
from difftest.campaign.tally import Tally
from difftest.campaign.tasks import Confirmation, ConfirmTask, Reduced, ReduceTask, TestName
from difftest.errors import DifftestError
from difftest.oracles.base import Candidate, names_in
from difftest.triage.classes import class_of
from difftest.triage.filing import FindingRecord, file_finding
from difftest.triage.folder import DOCUMENT, REDUCED, FindingFolder, read_document, words_in
from difftest.triage.key import FoundKey, Key, fold, needs_reduction
from difftest.triage.ledger import Entry, Ledger
from difftest.triage.merges import Merge, find_merges, merge
from difftest.triage.newness import ONLY_BASE, ONLY_BASE_TESTS, name_of
from difftest.triage.store import note_duplicate, read_findings, tests_of, write_finding
from difftest.triage.triggers import MOST_KEPT, Trigger, keep_trigger, read_triggers
from generator.strategy import GeneratedTest
from solvers.running.process import Limits
from solvers.solver import Solver

# Generated tests that wait for the confirmation of one with the same key. Files all wait: else they would
# count as files that show no finding.
_MAX_WAITING = 20
# Tests with the same key before reduction that are reduced: they may have different causes.
_LOOKS = 3
# Tests with the same key before reduction that are confirmed though the base showed all earlier ones.
_MOST_OLD = 8
# The share of the workers' time for reducing other tests than the first one of a key.
_LOOK_SHARE = 0.1
# A finding that may have the cause of another one is reduced for so long, in this share of the workers' time:
# a small one, since it rarely has (1 of 79 findings of a hunt on z3 4.8.5, after 55 reductions).
_REDUCTION = Limits(seconds=10.0)
_REDUCTION_SHARE = 0.03
# The most generated tests that duplicates.txt lists; how many there are is in the campaign's state. Files are
# all listed: nothing else says which of them show a finding.
_MAX_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class _Shown:
    """A test and what it shows, at this stage, with the oracle whose turn it was."""

    name: TestName
    candidate: Candidate
    test: GeneratedTest
    stage: int
    turn: str


@dataclass(slots=True)
class _Kept:
    """How many tests are kept with a finding, and what the finding takes."""

    count: int
    solvers: frozenset[str]
    oracle: str

    @classmethod
    def read(cls, record: FindingRecord) -> _Kept:
        """As the finding's folder says it."""
        data = read_document(record.path)
        names = frozenset(str(entry["name"]) for entry in data["solvers"])
        return cls(sum(1 for _ in read_triggers(record.path)), names, str(data.get("oracle")))


class Book:
    """The findings of one hunt into ``folder``.

    ``reduction`` is how many seconds a confirmed test may be reduced. ``worker_seconds`` gives the worker
    time spent so far, of which a tenth may go into looks. ``paid`` is called with the test of each new
    finding.
    """

    def __init__(
        self,
        folder: Path,
        solvers: Iterable[Solver],
        seed: int,
        tally: Tally,
        reduction: float,
        worker_seconds: Callable[[], float],
        paid: Callable[[TestName, float], None],
        loaded: StoredCampaign | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        self.folder = folder
        self.solvers = {solver.name: solver for solver in solvers}
        self.seed = seed
        self.tally = tally
        self.reduction = reduction
        self.worker_seconds = worker_seconds
        self.paid = paid
        self.ledger = ledger or Ledger()
        self.known = {record.key: record for record in read_findings(folder)}
        self.records: dict[str, FindingRecord] = {}
        # What reduction made of the keys that tests show at first, and how many of each were reduced.
        self.folded: dict[str, str] = {}
        self.looks: Counter[str] = Counter()
        # How often what was looked at of a key that tests show at first did not show again.
        self.misses: Counter[str] = Counter()
        # What was looked at of such a key and is not new, by the kind of its count.
        self.old: defaultdict[str, list[str]] = defaultdict(list)
        self._to_confirm: deque[_Shown] = deque()
        self._waiting: dict[str, deque[_Shown]] = {}
        self._confirming: dict[str, _Shown] = {}
        self._confirm_seconds = 0.0
        self._listed: dict[str, set[str]] = {}
        self._kept: dict[str, _Kept] = {}
        self._own_tests: dict[tuple[str, int, str, str], str] = {}
        # Keys of findings that became part of another one, and the key of that.
        self._merged = {gone: r.key for r in self.known.values() for gone in r.merged.values()}
        # The keys of findings whose formulas showed that they are known, and their entries.
        self._known_by_formula: dict[str, Entry] = {}
        self._reductions = 0.0
        self._tried: set[str] = set()
        # The keys of the records when none was left to try.
        self._all_tried: frozenset[str] = frozenset()
        if loaded:
            self._restore(loaded)

    def _restore(self, loaded: StoredCampaign) -> None:
        """Take over the findings of an earlier run. A folder without a row gets one."""
        for first, (key, looks) in loaded.folded.items():
            self.folded[first] = key
            self.looks[first] = looks
        rows = {found.id: found for found in loaded.findings}
        is_new = len(loaded.runs) <= 1 and not rows
        for record in list(self.known.values()):
            row = rows.get(record.id)
            if row is None:
                row = _row_of(record, is_new)
                self.tally.find(row)
            if not row.earlier or row.duplicates:
                self.records[record.key] = record
            if not row.earlier:
                label = self._plain(row.solver)
                self._own_tests[row.strategy, row.index, row.finding_class, label] = record.key

    @property
    def confirming(self) -> int:
        """How many candidates wait for confirmation or are in it."""
        return len(self._to_confirm) + len(self._confirming) + sum(map(len, self._waiting.values()))

    def pending(self) -> dict[TestName, str]:
        """The tests of all candidates that are not confirmed yet, and the oracle whose turn each was."""
        every = (*self._waiting.values(), self._to_confirm, self._confirming.values())
        return {shown.name: shown.turn for some in every for shown in some}

    def next_task(self, limits: Callable[[int], Limits]) -> ConfirmTask | None:
        """The next candidate to confirm, with the limits for its stage."""
        if not self._to_confirm:
            return None
        shown = self._to_confirm.popleft()
        self._confirming[shown.candidate.key] = shown
        given = limits(shown.stage)
        return ConfirmTask(shown.name, shown.test, shown.candidate, given, self.reduction)

    def next_reduction(self) -> ReduceTask | None:
        """The next finding to reduce, as it may have the cause of another one; None while other work is due.

        Ids in ``_tried`` were given out before.
        """
        if self.records.keys() == self._all_tried:
            return None
        if self._reductions + _REDUCTION.seconds > _REDUCTION_SHARE * self.worker_seconds():
            return None
        alike: dict[tuple[str, str], list[FindingRecord]] = {}
        for record in self.records.values():
            place = record.finding_class, self._plain(record.solver)
            alike.setdefault(place, []).append(record)
        for record in (record for group in alike.values() if len(group) > 1 for record in group):
            if record.id in self._tried:
                continue
            self._tried.add(record.id)
            with contextlib.suppress(DifftestError):  # someone changed its folder
                found = FindingFolder.read(record.path)
                if found.kind == FindingFolder.kind and not found.is_reduced:
                    # Taken as spent, so that no other one is begun meanwhile.
                    self._reductions += _REDUCTION.seconds
                    return ReduceTask(TestName(found.strategy, "", found.index), record.path, _REDUCTION)
        self._all_tried = frozenset(self.records)
        return None

    def take_reduction(self, result: Reduced) -> Iterator[Event]:
        """A finding was reduced: those that turn out to have one cause become one."""
        self._reductions += result.solver_seconds - result.task.limits.seconds
        with contextlib.suppress(DifftestError):
            there = [record for key in list(self.records) if (record := self._record(key)) is not None]
            for found in find_merges(there):
                self._merge(found)
                yield found

    def _record(self, key: str) -> FindingRecord | None:
        """The finding of this key; None if there is none, or if someone deleted its folder: then it may be
        found again.
        """
        record = self.records.get(key)
        if record is None or record.path.exists():
            return record
        for found in (self.records, self.known):
            found.pop(key, None)
        self._listed.pop(record.id, None)
        self._kept.pop(record.id, None)
        return None

    def _merge(self, found: Merge) -> None:
        merge(found)
        kept, gone = found.kept, found.gone
        self.records.pop(gone.key, None)
        self.known.pop(gone.key, None)
        for keys in (self.folded, self._merged):
            keys.update({name: kept.key for name, key in keys.items() if key == gone.key})
        self._own_tests.update({t: kept.key for t, key in self._own_tests.items() if key == gone.key})
        self._merged[gone.key] = kept.key
        self._listed.pop(kept.id, None)

    def take(
        self, name: TestName, candidate: Candidate, test: GeneratedTest, stage: int = 0, turn: str = ""
    ) -> Iterator[Event]:
        """A test shows a candidate, at this stage and with the oracle whose turn it is."""
        # When it was confirmed, one of the solvers may have been found to be the culprit.
        labels = set(map(self._plain, (candidate.label, *candidate.solvers)))
        kind = str(candidate.finding_class)
        if any((name.strategy, name.index, kind, label) in self._own_tests for label in labels):
            return  # a killed run had reported it, and the test was run again
        key = self.folded.get(candidate.key, candidate.key)
        key = self._merged.get(key, key)
        # Before its reduction a test has the theories of all its parts, and no operators: such a key says
        # too little to find it in a list.
        is_final = self.reduction <= 0 or not needs_reduction(candidate)
        if is_final and self._is_known_error(candidate.key):
            return
        was_looked_at = key != candidate.key or self.looks[candidate.key]
        if was_looked_at and not self._is_worth_a_look(candidate) and self._is_known_error(key):
            return
        record = self._record(key)
        shown = _Shown(name, candidate, test, stage, turn)
        if record is None and key in self.known:
            yield from self._take_over(key, name, test)
        elif record is not None and not self._is_worth_a_look(candidate):
            yield self._duplicate(record, test)
        elif self.misses[candidate.key] >= class_of(kind, candidate.kind).most_misses:
            self.tally.drop()
            yield CandidateDropped(candidate, name.index)
        elif len(old := self.old[candidate.key]) >= _MOST_OLD:
            self._add_old(old[-1], kind, [test])
        elif candidate.key in self._waiting:
            # Its first trigger is being confirmed; this one steps in if that fails.
            if test.origin or len(self._waiting[candidate.key]) < _MAX_WAITING:
                self._waiting[candidate.key].append(shown)
        else:
            self._waiting[candidate.key] = deque()
            self._to_confirm.append(shown)

    def _is_known_error(
        self, key: str, words: frozenset[str] = frozenset(), found: FoundKey | None = None
    ) -> bool:
        """Whether this is on the list of what is no finding, by its key and the words of its reason, its
        options and, if a reduction ``found`` the key, its formula: then that is counted.
        """
        own = self.solvers.get(self._plain(Key.read(key).solver))
        release = own.release if own is not None else None
        by_operators = found.by_operators if found is not None else ""
        entry = self._known_by_formula.get(key) or self.ledger.silencing(key, release, words, by_operators)
        if entry is None:
            return False
        self.tally.add("known", {entry.key: 1})
        if found is not None:
            self._known_by_formula[key] = entry
        return True

    def _plain(self, label: str) -> str:
        """A finding's label without the options that a test added to the solvers' own."""
        return "+".join(base_name(name, self.solvers) for name in names_in(label))

    def _is_worth_a_look(self, candidate: Candidate) -> bool:
        """Whether reduction may tell that it has another cause than the finding of the same first key."""
        if self.reduction <= 0 or not needs_reduction(candidate):
            return False
        allowed = _LOOK_SHARE * self.worker_seconds()
        return self.looks[candidate.key] < _LOOKS and self._confirm_seconds <= allowed

    def take_confirmation(self, result: Confirmation) -> Iterator[Event]:
        """A candidate was looked at in fresh processes."""
        candidate, name = result.candidate or result.task.candidate, result.task.name
        first_key = result.task.candidate.key
        self._confirming.pop(first_key, None)
        self._confirm_seconds += result.solver_seconds
        waiting = self._waiting.pop(first_key, deque())
        if not result.is_shown:
            self.misses[first_key] += 1
            self.tally.drop()
            yield CandidateDropped(candidate, name.index)
            if waiting:
                self._step_in(first_key, waiting)
            return
        if result.not_new:
            self._count_old(result, first_key, waiting)
            return
        self.looks[first_key] += 1
        if result.key is not None:
            key = fold(result.key, [*self.records, *self.known])
            candidate = replace(candidate, key=self._merged.get(key, key))
        # What came to be about another text says nothing of the tests with the same first key.
        is_other = result.test is not None
        if not is_other:
            if candidate.key != first_key:
                self.folded.setdefault(first_key, candidate.key)
            self.tally.fold(first_key, self.folded.get(first_key, first_key), self.looks[first_key])
        words = _words_of(result, candidate)
        is_known = self._is_known_error(candidate.key, words, result.key)
        if not is_known:
            yield from self._enter(result, candidate)
        if waiting and (is_other or self._is_worth_a_look(waiting[0].candidate)):
            self._step_in(first_key, waiting)
            return
        for other in waiting:
            if is_known:
                self._is_known_error(candidate.key)
            elif (record := self._record(candidate.key)) is not None:
                yield self._duplicate(record, other.test)

    def _enter(self, result: Confirmation, candidate: Candidate) -> Iterator[Event]:
        """A candidate is confirmed: a new finding, or one more test that shows one."""
        record = self._record(candidate.key)
        if record is not None:
            if result.key is not None and result.evidence is not None and result.test is None:
                with contextlib.suppress(DifftestError, FileNotFoundError):  # someone changed its folder
                    self._keep_trigger(record, result)
            yield self._duplicate(record, result.task.test)
        elif candidate.key in self.known:
            yield from self._take_over(candidate.key, result.task.name, result.task.test)
        else:
            yield FindingConfirmed(self._write(result, candidate), result.task.name.index)

    def _take_over(self, key: str, name: TestName, test: GeneratedTest) -> Iterator[Event]:
        """A finding of an earlier hunt is seen in this one, too."""
        record = self.records[key] = self.known[key]
        yield FindingConfirmed(record, name.index)
        yield self._duplicate(record, test)

    def _count_old(self, result: Confirmation, first_key: str, waiting: deque[_Shown]) -> None:
        """It is not new: it is counted, and a few others with the same first key are still looked at."""
        self.old[first_key].append(result.not_new)
        tests = [result.task.test]
        if waiting and len(self.old[first_key]) < _MOST_OLD:
            self._step_in(first_key, waiting)
        else:
            tests += [shown.test for shown in waiting]
        self._add_old(result.not_new, result.task.candidate.finding_class, tests)

    def _add_old(self, kind: str, finding_class: str, tests: Sequence[GeneratedTest]) -> None:
        """Count tests that show nothing new, or that the base alone shows something on."""
        self.tally.add(kind, {finding_class: len(tests)})
        if kind == ONLY_BASE:
            self.tally.add(ONLY_BASE_TESTS, {name_of(test): 1 for test in tests})

    def _step_in(self, key: str, waiting: deque[_Shown]) -> None:
        self._to_confirm.append(waiting.popleft())
        self._waiting[key] = waiting

    def _write(self, result: Confirmation, candidate: Candidate) -> FindingRecord:
        test, name = result.test or result.task.test, result.task.name
        by_operators = result.key.by_operators if result.key is not None else ""
        if result.filing is not None:
            filing = replace(result.filing, key=candidate.key, by_operators=by_operators)
            record = file_finding(self.folder, filing)
        else:
            assert result.evidence is not None, "it showed again"
            ours = tuple(map(self._ours, result.evidence.solvers))
            files = dict(result.evidence.files)
            if result.key is not None and result.key.text != test.text:
                files[REDUCED] = result.key.text  # a reduction resumes from it
            base = " and ".join(s.version() for s in self.solvers.values() if s.is_base)
            shown = replace(result.evidence, solvers=ours, files=files, base=base)
            record = write_finding(self.folder, candidate, test, shown, self.seed, by_operators)
        self.records[candidate.key] = record
        row = FindingState(
            *(record.id, str(record.finding_class), record.solver, record.key, record.path.name),
            *(name.strategy, name.index, self.seed, time.time()),
        )
        own = (name.strategy, name.index, str(candidate.finding_class), self._plain(candidate.label))
        self._own_tests[own] = record.key
        self.tally.find(row)
        self.paid(name, class_of(record.finding_class, candidate.kind).reward)
        return record

    def _keep_trigger(self, record: FindingRecord, result: Confirmation) -> None:
        """Keep what a look left of a test with a finding that has its key: releases may tell them apart."""
        assert result.key is not None and result.evidence is not None, "a look gives both"
        oracle = result.task.candidate.oracle
        if oracle == "implication":
            return  # without the formula that it follows from, it shows nothing
        kept = self._kept.get(record.id)
        if kept is None:
            kept = self._kept[record.id] = _Kept.read(record)
        names = frozenset(solver.name for solver in result.evidence.solvers)
        # Under other options or by another solver it need not show what the finding does.
        if (names, oracle) == (kept.solvers, kept.oracle) and kept.count < MOST_KEPT:
            kept.count += keep_trigger(record.path, Trigger(result.task.test, result.key.text))

    def _ours(self, solver: Solver) -> Solver:
        """A worker's solver, with the options it has there, where this machine keeps it; one that is not of
        the hunt (an older release) stays as it is.
        """
        own = self.solvers.get(solver.base_name)
        return solver if own is None else replace(solver, argv=own.argv, loadable=own.loadable)

    def _duplicate(self, record: FindingRecord, test: GeneratedTest) -> Event:
        self.tally.duplicate(record.id)
        listed = self._listed.get(record.id)
        if listed is None:
            listed = self._listed[record.id] = set(tests_of(record.path))
        if test.listed not in listed and (test.origin or len(listed) < _MAX_LISTED):
            listed.add(test.listed)
            with contextlib.suppress(FileNotFoundError):  # someone deleted its folder
                note_duplicate(record, test)
        return DuplicateSeen(record, test.index)


def _row_of(record: FindingRecord, earlier: bool) -> FindingState:
    """The row of a finding that has none, as far as its folder can be read."""
    found_at = time.time()
    test: Mapping[str, Any] = {}
    with contextlib.suppress(OSError, DifftestError):
        found_at = (record.path / DOCUMENT).stat().st_mtime
        test = FindingFolder.read(record.path).test
    return FindingState(
        *(record.id, record.finding_class, record.solver, record.key, record.path.name),
        *(str(test.get("strategy", "")), int(test.get("index", 0)), int(test.get("seed", 0))),
        *(found_at, 0, earlier),
    )


def _words_of(result: Confirmation, candidate: Candidate) -> frozenset[str]:
    """The words that describe a cause: those of the reduced formula, of the reason and of the options. For a
    crash that names its place, only the names of the solvers that showed it have the options.
    """
    text = result.key.text if result.key is not None else ""
    solvers = [solver.name for solver in result.evidence.solvers] if result.evidence is not None else []
    return frozenset[str]().union(
        *(words_in(text, candidate.reason, name) for name in (candidate.culprit or "", *solvers))
    )
