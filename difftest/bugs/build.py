"""Builds a benchmark: examines triggers in parallel and keeps what was found out.

``build.duckdb`` in the folder has every run (by text, release and options) and the result of every trigger
that is done. A trigger is stored in one transaction, so a build that was killed continues with the next one.
The files of JSON lines are written from it at the end.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Self

import duckdb
import msgspec

from corpus.errors import storage_full
from corpus.store import connect
from difftest.bugs.pairing import Case, Stopped
from difftest.bugs.records import (
    BUGS,
    UNVERIFIED,
    Benchmark,
    Bug,
    Seen,
    Trigger,
    Unverified,
    with_own_ids,
    write_records,
)
from difftest.bugs.reducing import reduce_bug
from difftest.bugs.shelf import RUN_SECONDS, Shelf
from difftest.claims import claimed
from difftest.errors import DifftestError
from solvers.running.outcomes import Outcome
from solvers.running.pool import RunnerPool
from solvers.running.runner import Runner

FILE = "build.duckdb"
_SCHEMA = """
create table if not exists run (
    sha256 varchar, spec varchar, release varchar, seconds double, seen varchar, primary key (sha256, spec)
);
create table if not exists result (
    key varchar primary key, settings varchar, bugs varchar[], unverified varchar
);
"""


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """``seconds`` a run may take, ``probes``: releases that are run before the search, ``reduce``: seconds
    to reduce a formula for (0: not at all).
    """

    seconds: float = RUN_SECONDS
    probes: int = 9
    reduce: float = 0.0

    @property
    def text(self) -> str:
        """What results depend on."""
        return f"{self.seconds:g} {self.probes} {self.reduce:g}"


@dataclass(slots=True)
class BuildReport:
    """What a build did: triggers in total and ``done`` in this run, and what the folder holds now.

    ``problems``: by spec, why a release could not be had.
    """

    triggers: int
    done: int = 0
    found: list[Bug | Unverified] = field(default_factory=list)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def bugs(self) -> list[Bug]:
        """The verified pairs."""
        return [one for one in self.found if isinstance(one, Bug)]

    @property
    def unverified(self) -> list[Unverified]:
        """The triggers without one."""
        return [one for one in self.found if isinstance(one, Unverified)]


class Store:
    """The state of a build in a folder, which no other process may have at the same time; use under
    ``with``.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with ExitStack() as stack:
            stack.enter_context(claimed(folder, "build"))
            if not (folder / FILE).exists():
                duckdb.connect(str(folder / FILE)).close()
            self._opened = stack.enter_context(connect(folder / FILE, read_only=False))
            self._opened.execute(_SCHEMA)
            self._held = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def runs(self, trigger: Trigger, seconds: float) -> dict[str, Seen]:
        """The runs of a trigger by release, less those that ran out of less time than ``seconds``."""
        rows = self._opened.execute("select * exclude (sha256) from run where sha256 = ?", [trigger.sha256])
        found = {}
        for spec, release, limit, text in rows.fetchall():
            seen = msgspec.json.decode(text, type=Seen)
            is_short = seen.outcome in (Outcome.TIMEOUT, Outcome.MEMOUT) and limit < seconds
            if spec == trigger.spec(release) and not is_short:
                found[release] = seen
        return found

    def results(self, trigger: Trigger, settings: BuildSettings) -> list[Bug | Unverified] | None:
        """What a trigger came to under these settings; None if it is to be examined."""
        sql = "select bugs, unverified from result where key = ? and settings = ?"
        row = self._opened.execute(sql, [trigger.key, settings.text]).fetchone()
        return None if row is None else _decoded(*row)

    def all_results(self) -> Iterator[Bug | Unverified]:
        """All results, also those of earlier builds into this folder with other corpora and settings."""
        for row in self._opened.execute("select bugs, unverified from result").fetchall():
            yield from _decoded(*row)

    def put(
        self,
        trigger: Trigger,
        settings: BuildSettings,
        found: Sequence[Bug | Unverified],
        runs: dict[str, Seen],
    ) -> None:
        """Store a trigger's results and runs, all or nothing."""
        bugs = [msgspec.json.encode(one).decode() for one in found if isinstance(one, Bug)]
        rest = next((msgspec.json.encode(one).decode() for one in found if isinstance(one, Unverified)), None)
        with self._transaction():
            for release, seen in runs.items():
                text = msgspec.json.encode(seen).decode()
                row = [trigger.sha256, trigger.spec(release), release, settings.seconds, text]
                self._opened.execute("insert or replace into run values (?, ?, ?, ?, ?)", row)
            row = [trigger.key, settings.text, bugs, rest]
            self._opened.execute("insert or replace into result values (?, ?, ?, ?)", row)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._opened.execute("begin")
            yield
            self._opened.execute("commit")
        except duckdb.Error as error:
            path = self.folder / FILE
            raise storage_full(error, path) or DifftestError(f"{path}: {error}") from error


def _decoded(bugs: Sequence[str], unverified: str | None) -> list[Bug | Unverified]:
    """The results in a row."""
    found: list[Bug | Unverified] = [msgspec.json.decode(text, type=Bug) for text in bugs]
    found += [] if unverified is None else [msgspec.json.decode(unverified, type=Unverified)]
    return with_own_ids(found)


def build(
    store: Store,
    triggers: Sequence[Trigger],
    settings: BuildSettings,
    shelf: Shelf,
    jobs: int = 1,
    stop: threading.Event | None = None,
) -> Iterator[BuildReport]:
    """Examine the triggers that are not done, yield the report after each, and write the benchmark: with what
    the folder has of earlier builds.

    Ends early, with what is done, when ``stop`` is set. Bugs that the folder has as flaky stay so.
    """
    stop = stop or threading.Event()
    flaky = _flaky_pairs(store.folder)
    report = BuildReport(len(triggers), problems=shelf.problems)
    waiting = []
    for trigger in triggers:
        known = store.results(trigger, settings)
        if known is None:
            waiting.append(trigger)
        else:
            # With what the corpus says of the trigger today.
            report.found += [msgspec.structs.replace(one, **trigger.fields) for one in known]
    try:
        for trigger, result, runs in _examined(store, waiting, settings, shelf, jobs, stop):
            store.put(trigger, settings, result, runs)
            report.found += result
            report.done += 1
            yield report
    finally:
        now = {one.key for one in report.found}
        found = [*report.found, *(one for one in store.all_results() if one.key not in now)]
        bugs = (one for one in found if isinstance(one, Bug))
        marked = [msgspec.structs.replace(bug, flaky=bug.flaky or _pair(bug) in flaky) for bug in bugs]
        write_records(store.folder / BUGS, marked)
        write_records(store.folder / UNVERIFIED, [one for one in found if isinstance(one, Unverified)])
    yield report


def _flaky_pairs(folder: Path) -> set[tuple[str, str, str]]:
    """The pairs of a benchmark that were marked as flaky, by its build or later."""
    if not (folder / BUGS).is_file():
        return set()
    return {_pair(bug) for bug in Benchmark(folder).bugs.values() if bug.flaky}


def _pair(bug: Bug) -> tuple[str, str, str]:
    return bug.id, bug.last_bad, bug.first_good


_Examined = tuple[Trigger, list[Bug | Unverified], dict[str, Seen]]


def _examined(
    store: Store,
    triggers: Sequence[Trigger],
    settings: BuildSettings,
    shelf: Shelf,
    jobs: int,
    stop: threading.Event,
) -> Iterator[_Examined]:
    """Examine triggers, ``jobs`` at a time, in whatever order they end."""

    def work(runner: Runner, item: tuple[Trigger, dict[str, Seen]]) -> _Examined:
        trigger, runs = item
        case = Case(trigger, shelf, runner, settings.seconds, settings.probes, runs, stop)
        known = set(runs)
        found = case.examine()
        if settings.reduce:
            found = [reduce_bug(one, shelf, settings.reduce, settings.seconds, runner) for one in found]
        return trigger, found, {r: seen for r, seen in case.runs.items() if r not in known}

    waiting = takewhile(lambda _: not stop.is_set(), triggers)
    items = ((trigger, store.runs(trigger, settings.seconds)) for trigger in waiting)
    with RunnerPool(jobs, "exhume-bugs") as pool:
        for future in pool.as_done(work, items):
            with suppress(Stopped):
                yield future.result()
