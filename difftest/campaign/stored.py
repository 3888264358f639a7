"""What a campaign knows of itself: ``campaign.sqlite`` in its output folder.

It is SQLite, not a journal and not the corpus. A journal of 1,000,000 tests grows without end or needs
compaction, which is a second format with its own ways to break; here counts are added up in place, and what
belongs together (counts, what is handed out, findings) is stored together or not at all. DuckDB would lock
readers out while the hunt writes; SQLite's write-ahead log lets ``exhume report`` read at any time, survives
a kill at any moment, and is in the standard library. The finding folders stay the truth about findings: a
folder that is there when a campaign is opened and has no row gets one.

Tables (``SCHEMA`` below has the columns):

``setting``  name and JSON value: what makes the tests (seed, strategies, solvers and their versions, the
             corpus's fingerprint, exhume's version ...), and ``format``, ``created``, ``bucket_seconds``
``run``      one row per process that worked on the campaign
``arm``      one row per strategy and class of its tests: the first index not handed out yet, and what it came
             to
``open``     ranges of indices handed out and not done when the row was written: run again on resume
``again``    tests counted already that are to be run again: with a longer limit, or to confirm what they
             showed
``bucket``   counts over time: a row per ``bucket_seconds`` of wall time in which anything happened
``outcome``  per bucket the verdicts, once by strategy and once by theory (a test of two theories counts in
             both); and the results of model cross-checks: kind ``crossing``, the judge's name (empty if no
             solver could check the model), and as the outcome confirmed, refuted, or why neither;
             and what each strategy (the name) took and gave, kind ``spent``: as the outcome ``making``,
             ``running`` or ``confirming`` with microseconds, or ``tests`` or ``decided`` with their number;
             and further counts, of the whole campaign (``start`` 0): any other kind, without an outcome
``finding``  the findings, with how many later tests showed them again
``folded``   what quick reduction made of the keys that tests show at first

Its size does not grow with the number of tests: there are at most ``MAX_BUCKETS`` buckets (when there are
more, each two become one and ``bucket_seconds`` doubles), about a thousand tests in ``again``, and one
``open`` range per worker or so. It grows with what is found: ``finding``, ``folded`` and the further counts
have a row per finding, key or name.

One process writes (``difftest.campaign.state``). Times are seconds since 1970 (UTC), durations seconds.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from base.documents import from_document, to_document
from difftest.campaign.bandit import Payments
from difftest.errors import BadOutput
from difftest.triage.renamed import current_key, current_theory
from solvers.running.outcomes import Outcome

FILE = "campaign.sqlite"
FORMAT = 1
MAX_BUCKETS = 360
CROSSING = "crossing"
SPENT = "spent"
COUNTS = ("tests", "decided", "findings", "duplicates", "unconfirmed", "solver_seconds")
"""The columns of the table ``bucket`` that are added up, in its order."""

SCHEMA = """
create table setting (name text primary key, value text not null) without rowid;
create table run (
    id integer primary key,
    pid integer not null,
    host text not null,
    started real not null,
    seen real not null,             -- when it last wrote
    seconds real not null,          -- wall time of the hunt
    executor text not null,
    jobs integer not null,
    ending text                     -- null: running or killed; else finished, interrupted, what went wrong
);
create table arm (
    strategy text not null,
    class text not null,            -- '' where the strategy has no classes
    next_index integer not null,
    exhausted integer not null,
    tests integer not null,
    decided integer not null,
    findings integer not null,
    solver_seconds real not null,
    share real not null,            -- of the time, as the bandit last had it; 0 without one
    weights text not null,          -- JSON: the bandit's own sums
    primary key (strategy, class)
) without rowid;
create table open (
    strategy text not null,
    class text not null,
    start integer not null,
    stop integer not null           -- the first index after the range
);
create table again (
    strategy text not null,
    class text not null,
    "index" integer not null,
    stage integer not null,         -- which time limit to run it with
    outcomes text not null,         -- JSON: per solver what was counted for it; {} where nothing was
    reason text not null            -- later (longer limit), or confirm and the oracle whose turn it was
);
create table bucket (
    start integer primary key,
    tests integer not null,
    decided integer not null,
    findings integer not null,
    duplicates integer not null,
    unconfirmed integer not null,
    solver_seconds real not null,
    memory integer not null         -- bytes resident, exhume and all solvers, the largest seen
);
create table outcome (
    start integer not null,
    kind text not null,             -- strategy, theory, crossing, spent, or that of further counts
    name text not null,
    solver text not null,
    outcome text not null,
    count integer not null,
    primary key (start, kind, name, solver, outcome)
) without rowid;
create table finding (
    id text primary key,
    class text not null,
    solver text not null,
    key text not null,
    folder text not null,           -- name below findings/
    strategy text not null,
    "index" integer not null,
    seed integer not null,
    found_at real not null,
    duplicates integer not null,
    earlier integer not null,       -- 1: it was in the folder before the campaign began
    stored integer not null         -- 1: the corpus has it
) without rowid;
create table folded (first text primary key, key text not null, looks integer not null) without rowid;
"""


REFUSALS = "refusals"
"""The row of the table ``setting`` that holds what solvers said to the first test that they refused."""
_NOT_SETTINGS = ("format", "bucket_seconds", REFUSALS)


class SettingsDiffer(BadOutput):
    """The folder holds a campaign that was started with other settings."""


class NoCampaign(BadOutput):
    """There is no campaign in the folder to resume."""


@dataclass(slots=True)
class ArmWeights(Payments):
    """What an arm paid, and its whole ``strategy``, where old payments fade sooner."""

    strategy: Payments | None = None


@dataclass(slots=True)
class ArmState:
    """How one arm stands, as it is stored; see the table ``arm``."""

    strategy: str
    test_class: str
    next_index: int
    exhausted: bool = False
    tests: int = 0
    decided: int = 0
    findings: int = 0
    solver_seconds: float = 0.0
    share: float = 0.0
    weights: ArmWeights = field(default_factory=ArmWeights)


@dataclass(frozen=True, slots=True)
class Again:
    """A test to be run again; see the table ``again``."""

    strategy: str
    test_class: str
    index: int
    stage: int
    outcomes: Mapping[str, str]
    reason: str


@dataclass(frozen=True, slots=True)
class FindingState:
    """A finding's row."""

    id: str
    finding_class: str
    solver: str
    key: str
    folder: str
    strategy: str
    index: int
    seed: int
    found_at: float
    duplicates: int = 0
    earlier: bool = False
    stored: bool = False


@dataclass(frozen=True, slots=True)
class Bucket:
    """Counts of one span of time; ``memory`` is in bytes, the largest seen."""

    start: int
    tests: int
    decided: int
    findings: int
    duplicates: int
    unconfirmed: int
    solver_seconds: float
    memory: int


@dataclass(frozen=True, slots=True)
class OutcomeCount:
    """How often ``solver`` came to ``outcome`` on tests of strategy or theory ``name`` from ``start`` on; or
    its models, as checked by the solver ``name``.
    """

    start: int
    kind: str
    name: str
    solver: str
    outcome: str
    count: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """One process that worked on the campaign; ``ending`` is None while it runs, and if it was killed."""

    pid: int
    host: str
    started: float
    seen: float
    seconds: float
    executor: str
    jobs: int
    ending: str | None


_Record = TypeVar("_Record", RunRow, ArmState, Again, Bucket, FindingState)


@dataclass(slots=True)
class Changes:
    """What happened since the last commit. ``outcomes`` counts (kind, name, solver, outcome) and may be
    negative: a longer limit replaces what a shorter one had counted.
    """

    tests: int = 0
    decided: int = 0
    findings: int = 0
    duplicates: int = 0
    unconfirmed: int = 0
    solver_seconds: float = 0.0
    memory: int = 0
    outcomes: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    new: list[FindingState] = field(default_factory=list)
    again_seen: Counter[str] = field(default_factory=Counter)
    """Per finding id, how many more tests showed it."""
    folded: dict[str, tuple[str, int]] = field(default_factory=dict)
    counted: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Further counts, by (kind, name, solver)."""
    refusals: dict[str, str] = field(default_factory=dict)
    """Per solver, what it said to the first test that it refused."""


@dataclass(frozen=True, slots=True)
class StoredCampaign:
    """All that is stored of a campaign, for reading."""

    settings: Mapping[str, Any]
    bucket_seconds: int
    runs: tuple[RunRow, ...]
    arms: tuple[ArmState, ...]
    again: tuple[Again, ...]
    open: tuple[tuple[str, str, int, int], ...]
    buckets: tuple[Bucket, ...]
    outcomes: tuple[OutcomeCount, ...]
    findings: tuple[FindingState, ...]
    folded: Mapping[str, tuple[str, int]]
    refusals: Mapping[str, str]

    @property
    def given(self) -> Mapping[str, Any]:
        """The settings of the command that started it; empty where they are not stored."""
        given = self.settings.get("given")
        return given if isinstance(given, dict) else {}

    @property
    def seconds(self) -> float:
        """Wall time of all its runs."""
        return sum(run.seconds for run in self.runs)

    @property
    def tests(self) -> int:
        """How many tests were counted."""
        return sum(bucket.tests for bucket in self.buckets)

    @property
    def decided(self) -> int:
        """How many tests all solvers decided."""
        return sum(bucket.decided for bucket in self.buckets)

    @property
    def statistics(self) -> dict[str, Counter[str]]:
        """The further counts, by kind and name."""
        found: dict[str, Counter[str]] = defaultdict(Counter)
        for row in self.outcomes:
            if not row.outcome:
                found[row.kind][row.name] += row.count
        return found


def read_campaign(out: Path) -> StoredCampaign:
    """The campaign in ``out``, as its last commit left it, also while it runs; NoCampaign without one."""
    file = out / FILE
    if not file.is_file():
        raise NoCampaign(f"{out}: no campaign there ({FILE} is missing)")
    try:
        try:
            return _read_file(file, "mode=ro")
        except sqlite3.OperationalError:
            # SQLite makes a file beside it to read it, which is not possible in a folder that is read-only.
            if file.with_name(f"{FILE}-wal").exists():
                raise
            return _read_file(file, "immutable=1")
    except sqlite3.Error as problem:
        raise NoCampaign(f"{file}: cannot be read as a campaign: {problem}") from problem


def _read_file(file: Path, how: str) -> StoredCampaign:
    with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?{how}", uri=True)) as opened:
        opened.execute("begin")
        return read_opened(opened)


def read_opened(opened: sqlite3.Connection) -> StoredCampaign:
    """The campaign that an open database holds; NoCampaign where it is of another format or damaged."""
    try:
        return _read_all(opened)
    except (ValueError, KeyError, TypeError) as problem:
        raise NoCampaign(
            f"{_file_of(opened)}: a value is missing or damaged ({problem}): restore the file, or use another"
            " folder"
        ) from problem


def _file_of(opened: sqlite3.Connection) -> str:
    return str(opened.execute("pragma database_list").fetchone()[2])


def _read_all(opened: sqlite3.Connection) -> StoredCampaign:
    settings = {name: json.loads(value) for name, value in opened.execute("select name, value from setting")}
    if settings.get("format") != FORMAT:
        raise NoCampaign(
            f"{_file_of(opened)}: the campaign has format {settings.get('format')}, and this version reads"
            f" format {FORMAT}. Use another folder."
        )

    def read(kind: type[_Record], query: str) -> tuple[_Record, ...]:
        return tuple(_from_row(kind, row) for row in opened.execute(query))

    return StoredCampaign(
        {name: value for name, value in settings.items() if name not in _NOT_SETTINGS},
        int(settings["bucket_seconds"]),
        read(RunRow, "select pid, host, started, seen, seconds, executor, jobs, ending from run order by id"),
        read(ArmState, "select * from arm order by strategy, class"),
        read(Again, "select * from again"),
        tuple(opened.execute("select * from open order by strategy, class, start")),
        read(Bucket, "select * from bucket order by start"),
        tuple(_current_count(OutcomeCount(*row)) for row in opened.execute("select * from outcome")),
        tuple(
            replace(row, key=current_key(row.key))
            for row in read(FindingState, "select * from finding order by found_at, id")
        ),
        {
            current_key(first): (current_key(key), looks)
            for first, key, looks in opened.execute("select * from folded")
        },
        dict(settings.get(REFUSALS, {})),
    )


def _current_count(row: OutcomeCount) -> OutcomeCount:
    if row.kind == "strategy":
        Outcome(row.outcome)  # ValueError where it is none
    return replace(row, name=current_theory(row.name)) if row.kind == "theory" else row


def rename_theories(opened: sqlite3.Connection) -> None:
    """Store what an earlier version wrote under the names of theories that reading gives it."""
    opened.create_function("current_key", 1, current_key, deterministic=True)
    opened.create_function("current_theory", 1, current_theory, deterministic=True)
    opened.execute("update finding set key = current_key(key)")
    opened.execute("update or replace folded set first = current_key(first), key = current_key(key)")
    opened.execute("update outcome set name = current_theory(name) where kind = 'theory'")


def to_row(record: ArmState | Again | FindingState) -> list[object]:
    """The row of a record, in the order of its fields, which is that of the columns."""
    values = (getattr(record, field.name) for field in fields(record))
    kept = (Mapping, ArmWeights)
    return [json.dumps(to_document(value)) if isinstance(value, kept) else value for value in values]


# SQLite stores text in a column of numbers; a damaged file may have some.
_READERS: Mapping[str, Callable[[Any], Any]] = {
    "bool": bool,
    "int": int,
    "float": float,
    "Mapping[str, str]": json.loads,
    "ArmWeights": lambda text: from_document(json.loads(text), ArmWeights),
}


def _from_row(kind: type[_Record], row: Sequence[Any]) -> _Record:
    """The opposite of ``to_row``."""
    values: list[Any] = []
    for field_, value in zip(fields(kind), row, strict=True):
        read = _READERS.get(str(field_.type))
        values.append(read(value) if read else value)
    return kind(*values)
