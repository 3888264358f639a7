"""The events that a hunt reports. Listeners (console, files, database) do not change the hunt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from base.documents import to_document
from difftest.campaign.refusals import Refusal
from difftest.campaign.stored import ArmState
from difftest.oracles.base import Candidate
from difftest.triage.filing import FindingRecord
from difftest.triage.merges import Merge
from solvers.running.outcomes import Outcome, Verdict

INTERNAL_ERRORS = "internal errors"
"""The kind of the counts of bugs in exhume that kept a hunt from doing something, by exception."""

PROCESSOR_TIME = "processor time"
"""The kind of the count of processor time: of exhume, its workers on this machine, and all solvers."""


@dataclass(frozen=True, slots=True)
class TestDone:
    """A test has its final verdicts, by solver name; ``stage`` is the limit (from 0) that it came to."""

    # Not a test class, whatever its name makes pytest think.
    __test__ = False

    index: int
    verdicts: Mapping[str, Verdict]
    decided: bool
    stage: int
    strategy: str = ""


@dataclass(frozen=True, slots=True)
class FindingConfirmed:
    """A finding, new or known from an earlier hunt into the same folder."""

    record: FindingRecord
    index: int


@dataclass(frozen=True, slots=True)
class DuplicateSeen:
    """A test shows a finding again that is there already."""

    record: FindingRecord
    index: int


@dataclass(frozen=True, slots=True)
class CandidateDropped:
    """Something looked wrong on the fast path and did not show again in a fresh process."""

    candidate: Candidate
    index: int


@dataclass(frozen=True, slots=True)
class WorkerNotice:
    """Something about the workers that the user should know; reported once."""

    text: str


@dataclass(frozen=True, slots=True)
class HuntSummary:
    """What a hunt came to.

    ``seconds`` is wall time; ``cpu_seconds`` is processor time of exhume and all solvers on this machine;
    ``solver_seconds`` adds up the wall time inside solvers, over all jobs and with the runs that confirm.
    ``duplicates`` counts tests that showed a finding again, ``unconfirmed`` candidates
    dropped. ``cross_checks`` counts (owner, judge, result) of models that another solver checked,
    ``statistics`` further things, by kind and name. Of a campaign that was resumed, everything is counted
    from its beginning. ``problem`` says what ended the hunt before its time, ``refusals`` which solvers
    accepted no test. ``arms`` say how each strategy stands, by class of its tests.
    """

    tests: int
    decided: int
    seconds: float
    solver_seconds: float
    outcomes: Mapping[str, Mapping[Outcome, int]]
    findings: tuple[FindingRecord, ...]
    duplicates: int = 0
    unconfirmed: int = 0
    interrupted: bool = False
    problem: str | None = None
    cross_checks: Mapping[tuple[str, str, str], int] = field(default_factory=dict)
    statistics: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    refusals: tuple[Refusal, ...] = ()
    arms: tuple[ArmState, ...] = ()

    @property
    def cpu_seconds(self) -> float:
        """Processor time, user and system; 0 for campaigns of versions that did not measure it."""
        return cpu_seconds(self.statistics)

    def to_json(self) -> dict[str, Any]:
        """The document that ``hunt --json`` prints."""
        return {
            "tests": self.tests,
            "decided": self.decided,
            "seconds": round(self.seconds, 3),
            "cpu_seconds": round(self.cpu_seconds, 3),
            "solver_seconds": round(self.solver_seconds, 3),
            "outcomes": {
                name: {str(outcome): counts.get(outcome, 0) for outcome in Outcome}
                for name, counts in self.outcomes.items()
            },
            "models_crossed": [
                {"owner": owner, "judge": judge or None, "result": what, "count": count}
                for (owner, judge, what), count in sorted(self.cross_checks.items())
            ],
            "duplicates": self.duplicates,
            "unconfirmed": self.unconfirmed,
            "refusals": to_document(self.refusals),
            "findings": [record.to_json() for record in self.findings],
            "strategies": self._strategies(),
            "statistics": {kind: dict(sorted(c.items())) for kind, c in sorted(self.statistics.items())},
        }

    def _strategies(self) -> list[dict[str, Any]]:
        """What each strategy did, over all classes of its tests."""
        rows: dict[str, dict[str, Any]] = {}
        for arm in self.arms:
            row = rows.setdefault(arm.strategy, {"name": arm.strategy, **dict.fromkeys(_COUNTED, 0)})
            for name in _COUNTED:
                row[name] = round(row[name] + getattr(arm, name), 3)
        return list(rows.values())


def cpu_seconds(statistics: Mapping[str, Mapping[str, int]]) -> float:
    """The processor time among the further counts of a campaign."""
    return statistics.get(PROCESSOR_TIME, {}).get("milliseconds", 0) / 1e3


# What is counted for each strategy.
_COUNTED = ("tests", "decided", "findings", "solver_seconds")


@dataclass(frozen=True, slots=True)
class Progress(HuntSummary):
    """Where the hunt stands, a few times a second at most; ``now`` is the wall time of this run alone.

    ``new_in_hour`` counts findings of the last hour, ``waiting`` tests set aside for a longer limit, and
    ``memory`` is bytes resident, with all solvers.
    """

    now: float = 0.0
    new_in_hour: int = 0
    waiting: int = 0
    confirming: int = 0
    jobs: int = 0
    memory: int = 0


@dataclass(frozen=True, slots=True)
class HuntFinished:
    """The last event of every hunt, also of one that was stopped."""

    summary: HuntSummary


Event = (
    TestDone
    | FindingConfirmed
    | DuplicateSeen
    | Merge
    | CandidateDropped
    | WorkerNotice
    | Progress
    | HuntFinished
)
