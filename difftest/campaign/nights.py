"""Many campaigns, such as one a night, as one history: causes with their age, what became of them, and what
finding them took.

A cause is a key without releases (``difftest.triage.ledger.general_key``). A night also saw a cause that it
counted as known, since an earlier night or the ledger lists it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from difftest.campaign.stored import NoCampaign, StoredCampaign
from difftest.campaign.upgrading import read_any
from difftest.triage.folder import FindingFolder
from difftest.triage.key import count_under
from difftest.triage.ledger import Became, Entry, Ledger, campaigns_below, general_key
from difftest.triage.store import folders_of

NEW, OPEN, QUIET, FIXED = "new", "open", "not seen", "fixed"
"""States of causes that the ledger does not list: first seen in the last night; seen in it again; not seen in
it; bisection knows a free release. The others are those of the ledger.
"""


@dataclass(frozen=True, slots=True)
class Night:
    """One campaign: its ``folder``, when it ``began``, its counts, its findings; ``known`` counts by key what
    it saw and did not report.
    """

    folder: Path
    began: datetime
    seconds: float
    solver_seconds: float
    tests: int
    versions: Mapping[str, str]
    strategies: Mapping[str, tuple[int, float]]
    """Tests and seconds of solver time of each."""
    findings: Sequence[FindingFolder]
    known: Mapping[str, int]

    @property
    def day(self) -> date:
        """The day on which it began."""
        return self.began.date()


@dataclass(slots=True)
class Cause:
    """A cause: its first finding, and the nights that saw it, by their numbers."""

    key: str
    folder: FindingFolder
    strategy: str
    nights: list[int] = field(default_factory=list)
    entry: Entry | None = None


@dataclass(frozen=True, slots=True)
class History:
    """Nights in their order, causes in the order in which they were seen first, and ``problems``: a line for
    each campaign that cannot be read.
    """

    nights: Sequence[Night]
    causes: Sequence[Cause]
    problems: Sequence[str]

    def state(self, cause: Cause) -> str:
        """What became of a cause."""
        if cause.entry is not None:
            return str(cause.entry.state)
        if cause.folder.bisection.get("first_fixed"):
            return FIXED
        last = len(self.nights) - 1
        return NEW if cause.nights[0] == last else OPEN if cause.nights[-1] == last else QUIET

    def age(self, cause: Cause) -> int:
        """Days from the first night that saw it to the last night of all."""
        return (self.nights[-1].day - self.nights[cause.nights[0]].day).days

    def first_seen(self, night: int) -> list[Cause]:
        """The causes that a night saw first."""
        return [cause for cause in self.causes if cause.nights[0] == night]

    def fixed_in(self, night: int) -> int:
        """Causes that the ledger notes as fixed after the night before, up to this one."""
        before = self.nights[night - 1].day if night else date.min
        days = [cause.entry.on for cause in self.causes if cause.entry and cause.entry.state is Became.FIXED]
        return sum(day is not None and before < day <= self.nights[night].day for day in days)

    def strategies(self) -> list[tuple[str, int, float, int]]:
        """Of each strategy: tests, seconds of solver time, and causes that it found first; the best first."""
        tests, seconds = Counter[str](), defaultdict[str, float](float)
        for night in self.nights:
            for name, (count, spent) in night.strategies.items():
                tests[name] += count
                seconds[name] += spent
        found = Counter(cause.strategy for cause in self.causes)
        rows = [(name, tests[name], seconds[name], found[name]) for name in {*tests, *found}]
        return sorted(rows, key=lambda row: (-row[3] / max(row[2], 1.0), row[0]))


def read_history(folders: Iterable[Path], ledger: Ledger) -> History:
    """The history of the campaigns at these folders, each of which is one or holds some. NoCampaign if none
    can be read.
    """
    nights, problems = [], []
    for folder in dict.fromkeys(campaigns_below(folders)):
        try:
            nights.append(_night(folder, read_any(folder)))
        except NoCampaign as problem:
            problems.append(str(problem))
    if not nights:
        raise NoCampaign(
            "; ".join(problems) or "no campaign is in these folders: name --out folders of hunts"
        )
    nights.sort(key=lambda night: (night.began, str(night.folder)))
    causes: dict[str, Cause] = {}
    for number, night in enumerate(nights):
        for found in night.findings:
            key = general_key(found.key)
            key = key if key in causes else count_under(key, causes)
            cause = causes.setdefault(key, Cause(key, found, str(found.test.get("strategy", ""))))
            _see(cause, number)
        for known in night.known:
            if known in causes:
                _see(causes[known], number)
    for cause in causes.values():
        cause.entry = ledger.find(cause.key, cause.folder.words)
    return History(nights, list(causes.values()), problems)


def _see(cause: Cause, night: int) -> None:
    if not cause.nights or cause.nights[-1] != night:
        cause.nights.append(night)


def _night(folder: Path, campaign: StoredCampaign) -> Night:
    created = campaign.settings.get("created")
    versions = campaign.settings.get("versions")
    strategies: dict[str, tuple[int, float]] = {}
    for arm in campaign.arms:
        tests, seconds = strategies.get(arm.strategy, (0, 0.0))
        strategies[arm.strategy] = tests + arm.tests, seconds + arm.solver_seconds
    return Night(
        folder,
        datetime.fromtimestamp(created if isinstance(created, int | float) else 0, UTC),
        campaign.seconds,
        sum(bucket.solver_seconds for bucket in campaign.buckets),
        campaign.tests,
        {str(k): str(v) for k, v in versions.items()} if isinstance(versions, dict) else {},
        strategies,
        folders_of(folder),
        campaign.statistics.get("known", {}),
    )
