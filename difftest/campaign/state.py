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
             both); and what came of models put into another solver: kind ``crossing``, the judge's name
             (empty where the model was put into none) and for an outcome confirmed, refuted, or why not
``finding``  the findings, with how many later tests showed them again
``folded``   what quick reduction made of the keys that tests show at first

Its size is bounded: there are at most ``MAX_BUCKETS`` buckets (when there are more, each two become one and
``bucket_seconds`` doubles), at most a thousand tests in ``again``, and one ``open`` range per worker or so.

One process writes; it holds a lock on the folder itself, which ends with it. Times are seconds since 1970
(UTC), durations are seconds.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import socket
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from difftest.errors import BadOutput

FILE = "campaign.sqlite"
FORMAT = 1
MAX_BUCKETS = 360
_FIRST_WIDTH = 60
CROSSING = "crossing"

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
    reason text not null            -- later (with a longer limit) or confirm
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
    kind text not null,             -- strategy, theory or crossing
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


class SettingsDiffer(BadOutput):
    """The folder holds a campaign that was started with other settings."""


class NoCampaign(BadOutput):
    """There is no campaign in the folder to go on with."""


class InUse(BadOutput):
    """Another process works on the campaign."""


@dataclass(frozen=True, slots=True)
class ArmState:
    """One arm as it was last stored; see the table ``arm``."""

    strategy: str
    test_class: str
    next_index: int
    exhausted: bool = False
    tests: int = 0
    decided: int = 0
    findings: int = 0
    solver_seconds: float = 0.0
    share: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)


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
    its models, put into the solver ``name``.
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


@dataclass(frozen=True, slots=True)
class Campaign:
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

    @property
    def seconds(self) -> float:
        """Wall time of all its runs."""
        return sum(run.seconds for run in self.runs)


def read_campaign(out: Path) -> Campaign:
    """The campaign in ``out``, as its last commit left it, also while it runs; NoCampaign without one."""
    file = out / FILE
    if not file.is_file():
        raise NoCampaign(f"{out}: no campaign there ({FILE} is missing)")
    try:
        with contextlib.closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            opened.execute("begin")
            return _read(opened)
    except sqlite3.Error as problem:
        raise NoCampaign(f"{file}: cannot be read as a campaign: {problem}") from problem


def _read(opened: sqlite3.Connection) -> Campaign:
    settings = {name: json.loads(value) for name, value in opened.execute("select name, value from setting")}
    if settings.get("format") != FORMAT:
        raise NoCampaign(
            f"campaign of format {settings.get('format')}, this exhume knows {FORMAT}: use another folder"
        )
    return Campaign(
        {name: value for name, value in settings.items() if name not in ("format", "bucket_seconds")},
        settings["bucket_seconds"],
        tuple(
            RunRow(*row)
            for row in opened.execute(
                "select pid, host, started, seen, seconds, executor, jobs, ending from run order by id"
            )
        ),
        tuple(_arm(row) for row in opened.execute("select * from arm order by strategy, class")),
        tuple(_again(row) for row in opened.execute("select * from again")),
        tuple(opened.execute("select * from open order by strategy, class, start")),
        tuple(Bucket(*row) for row in opened.execute("select * from bucket order by start")),
        tuple(OutcomeCount(*row) for row in opened.execute("select * from outcome")),
        tuple(_finding(row) for row in opened.execute("select * from finding order by found_at, id")),
        {first: (key, looks) for first, key, looks in opened.execute("select * from folded")},
    )


def _arm(row: Sequence[Any]) -> ArmState:
    weights: dict[str, float] = json.loads(row[9])
    return ArmState(row[0], row[1], row[2], bool(row[3]), row[4], row[5], row[6], row[7], row[8], weights)


def _again(row: Sequence[Any]) -> Again:
    return Again(row[0], row[1], row[2], row[3], json.loads(row[4]), row[5])


def _finding(row: Sequence[Any]) -> FindingState:
    found = FindingState(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8], row[9])
    return replace(found, earlier=bool(row[10]), stored=bool(row[11]))


class CampaignState:
    """The one writer of a campaign; use under ``with``. Everything is told to it through ``commit``."""

    def __init__(self, out: Path, opened: sqlite3.Connection, lock: int, run: int) -> None:
        self.out = out
        self._opened = opened
        self._lock = lock
        self._run = run
        self.loaded = _read(opened)
        """The campaign as it was found."""

    @classmethod
    def open(
        cls,
        out: Path,
        settings: Mapping[str, Any],
        executor: str = "local",
        jobs: int = 1,
        notes: Mapping[str, Any] | None = None,
    ) -> Self:
        """Begin a campaign in ``out``, or go on with the one there.

        ``notes`` are settings that may change from run to run; the last ones are kept. Raises InUse,
        SettingsDiffer, NoCampaign (an unreadable one), or OSError where there is no room.
        """
        lock = lock_folder(out)
        try:
            with _told(out):
                opened = sqlite3.connect(out / FILE, isolation_level=None)
                opened.execute("pragma journal_mode = wal")
                opened.execute("pragma synchronous = normal")
                with _transaction(opened):
                    _begin(opened, settings)
                    _compare(out, opened, settings)
                    opened.executemany(
                        "insert or replace into setting values (?, ?)",
                        [(name, json.dumps(value)) for name, value in (notes or {}).items()],
                    )
                    now = time.time()
                    row = (os.getpid(), socket.gethostname(), now, now, executor, jobs)
                    run = opened.execute(
                        "insert into run (pid, host, started, seen, seconds, executor, jobs)"
                        " values (?, ?, ?, ?, 0, ?, ?)",
                        row,
                    ).lastrowid
                return cls(out, opened, lock, run or 0)
        except BaseException:
            os.close(lock)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the campaign go; what was not committed is not stored."""
        with contextlib.suppress(sqlite3.Error):
            self._opened.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def commit(
        self,
        changes: Changes,
        seconds: float,
        arms: Iterable[ArmState] = (),
        handed_out: Iterable[tuple[str, str, int, int]] = (),
        again: Iterable[Again] = (),
        ending: str | None = None,
    ) -> None:
        """Store what happened since the last commit, and how things stand; all of it or nothing.

        ``seconds`` is the wall time of this run. Raises OSError (no space left) when the disk is full.
        """
        now = time.time()
        with _told(self.out), _transaction(self._opened) as opened:
            width = json.loads(_setting(opened, "bucket_seconds") or "0")
            start = int(now) - int(now) % width
            self._count(start, changes)
            opened.executemany(
                "insert into outcome values (?, ?, ?, ?, ?, ?)"
                " on conflict do update set count = count + excluded.count",
                [(start, *key, count) for key, count in changes.outcomes.items() if count],
            )
            self._store_findings(changes)
            opened.execute("delete from open")
            opened.executemany("insert into open values (?, ?, ?, ?)", handed_out)
            opened.execute("delete from again")
            opened.executemany(
                "insert into again values (?, ?, ?, ?, ?, ?)",
                [
                    (a.strategy, a.test_class, a.index, a.stage, json.dumps(dict(a.outcomes)), a.reason)
                    for a in again
                ],
            )
            opened.executemany(
                "insert or replace into arm values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_arm_row, arms)
            )
            opened.execute(
                "update run set seen = ?, seconds = ?, ending = ? where id = ?",
                (now, seconds, ending, self._run),
            )
            _merge_buckets(opened, width)

    def _count(self, start: int, changes: Changes) -> None:
        row = (
            *(start, changes.tests, changes.decided, changes.findings, changes.duplicates),
            *(changes.unconfirmed, changes.solver_seconds, changes.memory),
        )
        self._opened.execute(
            "insert into bucket values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do update set"
            " tests = tests + excluded.tests, decided = decided + excluded.decided,"
            " findings = findings + excluded.findings, duplicates = duplicates + excluded.duplicates,"
            " unconfirmed = unconfirmed + excluded.unconfirmed,"
            " solver_seconds = solver_seconds + excluded.solver_seconds,"
            " memory = max(memory, excluded.memory)",
            row,
        )

    def _store_findings(self, changes: Changes) -> None:
        self._opened.executemany(
            "insert or ignore into finding values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            map(_finding_row, changes.new),
        )
        self._opened.executemany(
            "update finding set duplicates = duplicates + ? where id = ?",
            [(count, identity) for identity, count in changes.again_seen.items()],
        )
        self._opened.executemany(
            "insert or replace into folded values (?, ?, ?)",
            [(first, key, looks) for first, (key, looks) in changes.folded.items()],
        )

    def mark_stored(self, identities: Iterable[str]) -> None:
        """Note that the corpus has these findings."""
        with _told(self.out), _transaction(self._opened) as opened:
            opened.executemany("update finding set stored = 1 where id = ?", [(i,) for i in identities])


def ranges(indices: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The half-open ranges that hold exactly these indices, ascending.

    >>> list(ranges([4, 1, 2, 9]))
    [(1, 3), (4, 5), (9, 10)]
    """
    start = stop = None
    for index in sorted(indices):
        if stop is not None and index == stop:
            stop += 1
            continue
        if start is not None and stop is not None:
            yield start, stop
        start, stop = index, index + 1
    if start is not None and stop is not None:
        yield start, stop


def lock_folder(out: Path) -> int:
    """Lock the folder of a campaign, made if need be: no file is left behind, and the lock ends with the
    process. A descriptor to be closed; BadOutput or InUse.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as problem:
        raise BadOutput(f"cannot write findings to {out}: {problem.strerror or problem}") from problem
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise InUse(
            f"{out}: another campaign works on this folder{_holder(out)}; wait for it or stop it"
        ) from None
    except OSError:
        # A file system without locks: better no lock than no hunt.
        return lock
    return lock


def _holder(out: Path) -> str:
    with contextlib.suppress(BadOutput):
        runs = read_campaign(out).runs
        if runs:
            return f" (process {runs[-1].pid} on {runs[-1].host})"
    return ""


def _begin(opened: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    if opened.execute("select 1 from sqlite_master where name = 'setting'").fetchone():
        return
    for statement in SCHEMA.split(";\n"):
        if statement.strip():
            opened.execute(statement)
    own = {"format": FORMAT, "created": time.time(), "bucket_seconds": _FIRST_WIDTH}
    opened.executemany(
        "insert into setting values (?, ?)",
        [(name, json.dumps(value)) for name, value in {**settings, **own}.items()],
    )


def _compare(out: Path, opened: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    stored = _read(opened).settings
    for name, value in settings.items():
        wanted = json.loads(json.dumps(value))
        if stored.get(name) != wanted:
            raise SettingsDiffer(
                f"{out}: the campaign there was started with {_named(name, stored.get(name))},"
                f" not {_named(name, wanted)}; use the same settings to go on, or another folder"
            )


def _named(name: str, value: object) -> str:
    shown = json.dumps(value)
    return f"{name.replace('_', ' ')} {shown if len(shown) <= 80 else shown[:77] + '...'}"


def _setting(opened: sqlite3.Connection, name: str) -> str | None:
    row = opened.execute("select value from setting where name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _merge_buckets(opened: sqlite3.Connection, width: int) -> None:
    """Make one of each two buckets until there are few enough."""
    (count,) = opened.execute("select count(*) from bucket").fetchone()
    if count <= MAX_BUCKETS:
        return
    width *= 2
    opened.execute(
        "create temp table merged as select start - start % ? as start, sum(tests), sum(decided),"
        " sum(findings), sum(duplicates), sum(unconfirmed), sum(solver_seconds), max(memory)"
        " from bucket group by 1",
        (width,),
    )
    opened.execute(
        "create temp table merged_outcome as select start - start % ? as start, kind, name, solver, outcome,"
        " sum(count) from outcome group by 1, 2, 3, 4, 5",
        (width,),
    )
    for table, merged in (("bucket", "merged"), ("outcome", "merged_outcome")):
        opened.execute(f"delete from {table}")
        opened.execute(f"insert into {table} select * from {merged}")
        opened.execute(f"drop table {merged}")
    opened.execute("update setting set value = ? where name = 'bucket_seconds'", (json.dumps(width),))


def _arm_row(arm: ArmState) -> Sequence[object]:
    return (
        *(arm.strategy, arm.test_class, arm.next_index, int(arm.exhausted), arm.tests, arm.decided),
        *(arm.findings, arm.solver_seconds, arm.share, json.dumps(dict(arm.weights))),
    )


def _finding_row(found: FindingState) -> Sequence[object]:
    return (
        *(found.id, found.finding_class, found.solver, found.key, found.folder, found.strategy),
        *(found.index, found.seed, found.found_at, found.duplicates, int(found.earlier), int(found.stored)),
    )


@contextlib.contextmanager
def _transaction(opened: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    opened.execute("begin immediate")
    try:
        yield opened
        opened.execute("commit")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            opened.execute("rollback")
        raise


@contextlib.contextmanager
def _told(out: Path) -> Iterator[None]:
    """SQLite's errors as ours: OSError where there is no room, NoCampaign where the file is damaged."""
    try:
        yield
    except sqlite3.DatabaseError as problem:
        code = problem.sqlite_errorname if hasattr(problem, "sqlite_errorname") else ""
        if code.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
            raise BadOutput(f"cannot write findings to {out}: {problem}") from problem
        if code == "SQLITE_FULL" or code.startswith("SQLITE_IOERR"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(out / FILE)) from problem
        raise NoCampaign(f"{out / FILE}: cannot be read as a campaign: {problem}") from problem
