"""Counts of a hunt: of the whole campaign for people, and since the last commit for its state."""

from __future__ import annotations

import contextlib
import time
from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence

import psutil

from difftest.campaign.events import PROCESSOR_TIME
from difftest.campaign.refusals import first_words
from difftest.campaign.stored import CROSSING, SPENT, Changes, FindingState, StoredCampaign
from difftest.campaign.tasks import RunResult
from difftest.triage.newness import ONLY_BASE_TESTS, REFUSED_TESTS
from solvers.running.outcomes import Outcome

_HOUR = 3600.0
# Of kinds that name tests, as many are kept: a run of days would name more than anybody reads.
_MOST_TESTS = 1000


class Tally:
    """Counts; begins with those of ``loaded``, an earlier run of the campaign."""

    def __init__(self, names: Sequence[str], loaded: StoredCampaign | None = None) -> None:
        self.tests = self.decided = self.duplicates = self.unconfirmed = 0
        self.statistics: dict[str, Counter[str]] = defaultdict(Counter)
        self.solver_seconds = self.earlier_seconds = 0.0
        self.outcomes: dict[str, Counter[Outcome]] = {name: Counter() for name in names}
        self.cross_checks: Counter[tuple[str, str, str]] = Counter()
        self.refusals: dict[str, str] = {}
        """What each solver said to the first test that it refused."""
        self.memory = 0
        self._cpu_seconds = _measure()[1]
        self._found: deque[float] = deque()
        self._changes = Changes()
        if loaded:
            self._restore(loaded)

    def _restore(self, loaded: StoredCampaign) -> None:
        for name in ("tests", "decided", "duplicates", "unconfirmed", "solver_seconds"):
            setattr(self, name, sum(getattr(bucket, name) for bucket in loaded.buckets))
        self.earlier_seconds = loaded.seconds
        self.statistics.update(loaded.statistics)
        self.refusals.update(loaded.refusals)
        for row in loaded.outcomes:
            if row.kind == "strategy" and row.outcome and row.solver in self.outcomes:
                self.outcomes[row.solver][Outcome(row.outcome)] += row.count
            elif row.kind == CROSSING and row.outcome:
                self.cross_checks[row.solver, row.name, row.outcome] += row.count
        self._found.extend(found.found_at for found in loaded.findings if not found.earlier)

    def spend(self, seconds: float) -> None:
        """Solver time went by."""
        self.solver_seconds += seconds
        self._changes.solver_seconds += seconds

    def charge(self, strategy: str, what: str, seconds: float) -> None:
        """A strategy's tests took time: ``what`` says for what."""
        self._changes.outcomes[SPENT, strategy, "", what] += round(seconds * 1e6)

    def count(self, result: RunResult, decided: bool) -> None:
        """A test's verdicts; those of an earlier stage no longer count."""
        first = not result.task.counted
        self.tests += first
        self._changes.tests += first
        self.decided += decided
        self._changes.decided += decided
        of_strategy = SPENT, result.task.name.strategy, ""
        self._changes.outcomes[(*of_strategy, "tests")] += first
        self._changes.outcomes[(*of_strategy, "decided")] += decided
        for solver, outcome in result.task.counted.items():
            self._add(result, solver, outcome, -1)
        for solver, verdict in result.verdicts.items():
            self._add(result, solver, verdict.outcome, 1)
            if verdict.outcome is Outcome.REFUSED:
                self._note_refusal(_base_name(result, solver), verdict.detail)
        for owner, judge, what in result.cross_checks:
            # Each time it was tried: a model may come with a longer limit, and be another one then.
            owner, judge = _base_name(result, owner), _base_name(result, judge)
            self.cross_checks[owner, judge, what] += 1
            self._changes.outcomes[CROSSING, judge, owner, what] += 1
        ran = _base_name(result, next(iter(result.verdicts), ""))
        for kind, counts in result.counts.items():
            self.add(kind, counts, ran)

    def add(self, kind: str, counts: Mapping[str, int], solver: str = "") -> None:
        """Add further counts of one kind, by name."""
        known = self.statistics[kind]
        if kind in (ONLY_BASE_TESTS, REFUSED_TESTS) and len(known) >= _MOST_TESTS:
            return
        known.update(counts)
        self._changes.counted.update({(kind, name, solver): count for name, count in counts.items()})

    def _add(self, result: RunResult, name: str, outcome: Outcome, count: int) -> None:
        # A solver under a test's options is counted with those that run without.
        solver = _base_name(result, name)
        self.outcomes[solver][outcome] += count
        changes = self._changes.outcomes
        changes["strategy", result.task.name.strategy, solver, outcome.value] += count
        for theory in result.theories:
            changes["theory", theory, solver, outcome.value] += count

    def _note_refusal(self, solver: str, detail: str) -> None:
        if solver not in self.refusals:
            self.refusals[solver] = self._changes.refusals[solver] = first_words(detail)

    def duplicate(self, identity: str) -> None:
        """A test showed this finding again."""
        self.duplicates += 1
        self._changes.duplicates += 1
        self._changes.again_seen[identity] += 1

    def drop(self) -> None:
        """A candidate did not show again."""
        self.unconfirmed += 1
        self._changes.unconfirmed += 1

    def find(self, found: FindingState) -> None:
        """A finding of this campaign; ``earlier`` ones are kept and not counted."""
        self._changes.new.append(found)
        if not found.earlier:
            self._changes.findings += 1
            self._found.append(found.found_at)

    def fold(self, first: str, key: str, looks: int) -> None:
        """What a key came to, and how many of its tests were looked at."""
        self._changes.folded[first] = (key, looks)

    def found_in_hour(self) -> int:
        """Findings of the last hour."""
        since = time.time() - _HOUR
        while self._found and self._found[0] < since:
            self._found.popleft()
        return len(self._found)

    def measure(self) -> None:
        """Measure the memory of exhume and all solvers, and their processor time since the last call."""
        self.memory, cpu_seconds = _measure()
        self._changes.memory = max(self._changes.memory, self.memory)
        # Less than before: a process ended after its parent, so that its time is not known any more.
        if (spent := cpu_seconds - self._cpu_seconds) > 0:
            self.add(PROCESSOR_TIME, {"milliseconds": round(spent * 1e3)})
        self._cpu_seconds = cpu_seconds

    def take(self) -> Changes:
        """What happened since the last time."""
        changes, self._changes = self._changes, Changes()
        return changes


def _base_name(result: RunResult, name: str) -> str:
    """The name of a solver without what the test added to its options."""
    return result.bases.get(name, name)


def _measure() -> tuple[int, float]:
    """Bytes resident, and seconds of processor time (user and system), of this process, its descendants, and
    the descendants that they waited for.
    """
    ours = psutil.Process()
    memory, seconds = 0, 0.0
    for process in (ours, *ours.children(recursive=True)):
        with contextlib.suppress(psutil.Error):  # it ended meanwhile
            memory += process.memory_info().rss
            seconds += sum(process.cpu_times()[:4])  # its own and that of children, both user and system
    return memory, seconds
