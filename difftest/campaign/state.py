"""The one writer of ``campaign.sqlite`` (``difftest.campaign.stored`` says what is in it).

It holds a lock on the campaign's folder itself, which ends with the process.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from difftest.campaign.stored import (
    COUNTS,
    FILE,
    FORMAT,
    MAX_BUCKETS,
    REFUSALS,
    SCHEMA,
    Again,
    ArmState,
    Changes,
    NoCampaign,
    SettingsDiffer,
    read_campaign,
    read_opened,
    rename_theories,
    to_row,
)
from difftest.claims import claimed
from difftest.errors import BadOutput
from difftest.triage.filing import FindingRecord

# Seconds; a short campaign is counted second by second, the buckets of a longer one get wider.
_FIRST_WIDTH = 1


class CampaignState:
    """The one writer of a campaign; use under ``with``. It learns everything through ``commit``."""

    def __init__(self, out: Path, opened: sqlite3.Connection, claim: contextlib.ExitStack, run: int) -> None:
        self.out = out
        self._opened = opened
        self._claim = claim
        self._run = run
        self.loaded = read_opened(opened)
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
        """Begin a campaign in ``out``, or resume the one there.

        ``notes`` are settings that may change from run to run; the last ones are kept. Without ``jobs`` no
        run is noted. Raises InUse, SettingsDiffer, NoCampaign (an unreadable one), or OSError where there is
        no room.
        """
        with contextlib.ExitStack() as stack, _translated_errors(out):
            stack.enter_context(campaign_claimed(out))
            opened = sqlite3.connect(out / FILE, isolation_level=None)
            opened.execute("pragma journal_mode = wal")
            opened.execute("pragma synchronous = normal")
            with _transaction(opened):
                _begin(opened, settings)
                rename_theories(opened)
                _compare(out, opened, settings)
                opened.executemany(
                    "insert or replace into setting values (?, ?)",
                    [(name, json.dumps(value)) for name, value in (notes or {}).items()],
                )
                run = _begin_run(opened, executor, jobs) if jobs else 0
            return cls(out, opened, stack.pop_all(), run)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the campaign go; what was not committed is not stored."""
        with contextlib.suppress(sqlite3.Error):
            self._opened.close()
        self._claim.close()

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
        with _translated_errors(self.out), _transaction(self._opened) as opened:
            width = json.loads(_setting(opened, "bucket_seconds") or "0")
            start = int(now) - int(now) % width
            opened.execute(_COUNT, (start, *(getattr(changes, name) for name in COUNTS), changes.memory))
            opened.executemany(
                "insert into outcome values (?, ?, ?, ?, ?, ?)"
                " on conflict do update set count = count + excluded.count",
                [(start, *key, count) for key, count in changes.outcomes.items() if count]
                + [(0, *key, "", count) for key, count in changes.counted.items()],
            )
            self._store_findings(changes)
            opened.execute("delete from open")
            opened.executemany("insert into open values (?, ?, ?, ?)", handed_out)
            opened.execute("delete from again")
            opened.executemany("insert into again values (?, ?, ?, ?, ?, ?)", map(to_row, again))
            opened.executemany(
                "insert or replace into arm values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", map(to_row, arms)
            )
            opened.execute(
                "update run set seen = ?, seconds = ?, ending = ? where id = ?",
                (now, seconds, ending, self._run),
            )
            _merge_buckets(opened, width)

    def end(self, ending: str) -> None:
        """Say how this run ended. Raises OSError when the disk is full."""
        with _translated_errors(self.out), _transaction(self._opened) as opened:
            opened.execute("update run set ending = ? where id = ?", (ending, self._run))

    def _store_findings(self, changes: Changes) -> None:
        self._opened.executemany(
            "insert or ignore into finding values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            map(to_row, changes.new),
        )
        self._opened.executemany(
            "update finding set duplicates = duplicates + ? where id = ?",
            [(count, identity) for identity, count in changes.again_seen.items()],
        )
        if changes.refusals:
            kept = json.loads(_setting(self._opened, REFUSALS) or "{}")
            row = (REFUSALS, json.dumps(kept | changes.refusals))
            self._opened.execute("insert or replace into setting values (?, ?)", row)
        self._opened.executemany(
            "insert or replace into folded values (?, ?, ?)",
            [(first, key, looks) for first, (key, looks) in changes.folded.items()],
        )

    def merge(self, kept: FindingRecord, gone: str, gone_key: str) -> None:
        """A finding, by its id and key, became part of another one: with its counts, and all tests that would
        have shown it. Nothing changes where that was done already.
        """
        with _translated_errors(self.out), _transaction(self._opened) as opened:
            row = opened.execute("select duplicates from finding where id = ?", (gone,)).fetchone()
            if row is None:
                return
            count = row[0] + 1
            added = "update finding set duplicates = duplicates + ? where id = ?"
            if opened.execute(added, (count, kept.id)).rowcount:
                opened.execute("delete from finding where id = ?", (gone,))
            else:
                # A folder that was made after the last run has no row yet.
                fields = "id = ?, key = ?, folder = ?, duplicates = ?, stored = 0"
                own = (kept.id, kept.key, kept.path.name, count)
                opened.execute(f"update finding set {fields} where id = ?", (*own, gone))
            opened.execute("update folded set key = ? where key = ?", (kept.key, gone_key))
            opened.execute("insert or ignore into folded values (?, ?, 1)", (gone_key, kept.key))
            self.loaded = read_opened(opened)

    def mark_stored(self, identities: Iterable[str]) -> None:
        """Note that the corpus has these findings."""
        with _translated_errors(self.out), _transaction(self._opened) as opened:
            opened.executemany("update finding set stored = 1 where id = ?", [(i,) for i in identities])


def ranges(indices: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The half-open ranges that hold exactly these indices, ascending.

    >>> list(ranges([4, 1, 2, 9]))
    [(1, 3), (4, 5), (9, 10)]
    """
    for _, group in itertools.groupby(enumerate(sorted(indices)), lambda pair: pair[1] - pair[0]):
        found = [index for _, index in group]
        yield found[0], found[-1] + 1


def campaign_claimed(out: Path) -> contextlib.AbstractContextManager[None]:
    """A context in which no other process uses the folder of a campaign, made if it is missing. Raises
    BadOutput or InUse.
    """
    return claimed(out, "campaign", _holder)


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


def _begin_run(opened: sqlite3.Connection, executor: str, jobs: int) -> int:
    now = time.time()
    row = (os.getpid(), socket.gethostname(), now, now, executor, jobs)
    made = opened.execute(
        "insert into run (pid, host, started, seen, seconds, executor, jobs) values (?, ?, ?, ?, 0, ?, ?)",
        row,
    )
    return made.lastrowid or 0


def _compare(out: Path, opened: sqlite3.Connection, settings: Mapping[str, Any]) -> None:
    stored = read_opened(opened).settings
    for name, value in settings.items():
        given = json.loads(json.dumps(value))
        if stored.get(name) != given:
            name, before, given = _innermost(name, stored.get(name), given)
            raise SettingsDiffer(
                f"{out}: the campaign there was started with {_named(name, before)},"
                f" not {_named(name, given)}; use the same settings to resume it, or another folder"
            )


def _innermost(name: str, one: Any, other: Any) -> tuple[str, Any, Any]:
    """The first part of two different values that differs, with its name."""
    if isinstance(one, dict) and isinstance(other, dict):
        key = next(key for key in (*one, *other) if one.get(key) != other.get(key))
        return _innermost(f"{name} {key}", one.get(key), other.get(key))
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other) == 1:
        return _innermost(name, one[0], other[0])
    return name, one, other


def _named(name: str, value: object) -> str:
    shown = ("on" if value else "off") if isinstance(value, bool) else json.dumps(value)
    return f"{name.replace('_', ' ')} {shown if len(shown) <= 80 else shown[:77] + '...'}"


def _setting(opened: sqlite3.Connection, name: str) -> str | None:
    row = opened.execute("select value from setting where name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def _merge_buckets(opened: sqlite3.Connection, width: int) -> None:
    """Make one of each two buckets until there are few enough."""
    first = width
    while opened.execute("select count(*) from bucket").fetchone()[0] > MAX_BUCKETS:
        width *= 2
        for table, merged in (("bucket", _MERGED_BUCKETS), ("outcome", _MERGED_OUTCOMES)):
            opened.execute(f"create temp table merged as {merged}", (width,))
            opened.execute(f"delete from {table}")
            opened.execute(f"insert into {table} select * from merged")
            opened.execute("drop table merged")
    if width != first:
        opened.execute("update setting set value = ? where name = 'bucket_seconds'", (json.dumps(width),))


_COUNT = (
    f"insert into bucket values (?, {'?, ' * len(COUNTS)}?) on conflict do update set"
    f" {', '.join(f'{name} = {name} + excluded.{name}' for name in COUNTS)},"
    " memory = max(memory, excluded.memory)"
)
_MERGED_BUCKETS = (
    f"select start - start % ? as start, {', '.join(f'sum({name})' for name in COUNTS)}, max(memory)"
    " from bucket group by 1"
)
_MERGED_OUTCOMES = (
    "select start - start % ? as start, kind, name, solver, outcome, sum(count) from outcome"
    " group by 1, 2, 3, 4, 5"
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
def _translated_errors(out: Path) -> Iterator[None]:
    """Translate SQLite's errors: OSError if there is no room, NoCampaign if the file is damaged."""
    try:
        yield
    except sqlite3.DatabaseError as problem:
        code = problem.sqlite_errorname if hasattr(problem, "sqlite_errorname") else ""
        if code.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")):
            raise BadOutput(f"cannot write findings to {out}: {problem}") from problem
        if code == "SQLITE_FULL" or code.startswith("SQLITE_IOERR"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(out / FILE)) from problem
        raise NoCampaign(f"{out / FILE}: cannot be read as a campaign: {problem}") from problem
