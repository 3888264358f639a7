"""Mines trackers from files: output of ``gh`` and ``glab``, JSON of the REST API, archives of a corpus.

The objects of a dump become raw records and are read like those of a live tracker. Files are read as
streams.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb

from base.steps import Tick, nothing
from base.text import counted
from corpus.intake import Intake
from corpus.records import Issue, RawRecord, Tracker
from corpus.store import Corpus, connect, open_database, sql_text
from miner.archive import Archive, decoded
from miner.errors import BadDump, BadInput
from miner.fixes import store_files
from miner.hosts import DEFAULT, Place, host_named, known_hosts
from miner.hosts.host import Host
from miner.json_stream import objects_in
from miner.mining import Listener, MineOptions, Reading, find_tracker, store_tracker
from miner.storing import TrackerReport

STARTER = "exhume/starter"

_RECORDS_AT_ONCE = 200
_AGE = "coalesce(fetched_at, timestamp 'epoch'), coalesce(last_modified, '')"
_ENDINGS = (".json", ".jsonl", ".ndjson")
_EXPORT = (
    "gh issue list --state all --limit 99999 --json"
    " number,title,body,state,stateReason,labels,createdAt,updatedAt,closedAt,url,comments"
)


def require_dump(source: Path) -> None:
    """Raise BadDump if there is no such file or folder."""
    if not os.path.exists(source):  # noqa: PTH110 - Path.exists raises OSError if the name is too long
        raise BadDump(f"there is no file or folder {source}")


def mine_files(
    corpus: Corpus,
    source: Path,
    options: MineOptions | None = None,
    listener: Listener | None = None,
    place: Place | None = None,
) -> list[TrackerReport]:
    """Mine the trackers in a file or folder; returns one report per tracker.

    ``place``: the tracker of objects that do not name one. If files are damaged, the objects before the
    damage are stored, and the reports describe the first problem. Raises BadInput if there is nothing to
    store.
    """
    options, listener = options or MineOptions(), listener or Listener()
    if source.resolve() == corpus.path.resolve():
        raise BadDump(f"{source} is the corpus itself: use --replay to read its records again")
    loader = _Loader(corpus, listener, place)
    try:
        loader.load(source)
    except BadInput as error:
        if not loader.archives:
            raise
        loader.problems.append(error)
    first, more = "".join(map(str, loader.problems[:1])), len(loader.problems) - 1
    problem = f"{first}; {counted(more, 'more file')} cannot be read completely" if more > 0 else first
    reports: list[TrackerReport] = []
    for archive in dict.fromkeys(loader.archives.values()):
        report = TrackerReport(archive.name, problem=problem, skipped=0 if reports else loader.skipped)
        Reading(archive, options, listener).read(report)
        store_files(archive)
        reports.append(report)
    return reports


def mine_starter(corpus: Corpus, progress: Tick = nothing) -> TrackerReport:
    """Mine the bundled starter tracker like any other dump."""
    with corpus.transaction():
        tracker_id = Intake(corpus).add_tracker(Tracker(STARTER, "starter"))
    loader = _Loader(corpus, Listener(), None)
    archive = Archive(corpus, host_named(DEFAULT), tracker_id, STARTER)
    loader.archives[DEFAULT, STARTER] = archive
    with resources.as_file(resources.files("corpus") / "starter" / "issues") as folder:
        loader.load(folder)
    report = TrackerReport(STARTER)
    Reading(archive, MineOptions(everything=True), Listener(on_issues=progress)).read(report)
    return report


@dataclass(slots=True)
class _Loader:
    """Stores the objects of files in the archives of their trackers, creating the archives as required.

    ``archives``: by host and by name in the files. A tracker with several names has one archive.
    ``problems``: of files that could not be read completely.
    """

    corpus: Corpus
    listener: Listener
    place: Place | None
    archives: dict[tuple[str, str], Archive] = field(default_factory=dict)
    problems: list[BadInput] = field(default_factory=list)
    files: int = 0
    objects: int = 0
    skipped: int = 0

    def load(self, source: Path) -> None:
        """Load a file, a folder of files, or another corpus or its export. Raises BadInput."""
        require_dump(source)
        found = 0
        try:
            if (connection := _archive_in(source)) is not None:
                with closing(connection):
                    self._copy(connection, source)
                return
            for file in _files_of(source):
                found += 1
                try:
                    self._load_file(file)
                except BadInput as error:
                    self.problems.append(error)
        except OSError as error:
            raise BadDump(f"{error.filename or source} cannot be read: {error.strerror}") from error
        if not found:
            raise BadDump(f"{source} contains no files ending in {', '.join(_ENDINGS)}")
        if not self.archives:
            if self.problems:
                raise self.problems[0]
            titles = " or ".join(host.api.title for host in known_hosts().values())
            raise BadDump(
                f"{source} contains no issues or comments of {titles}; create it with, e.g., {_EXPORT}"
            )

    def _load_file(self, file: Path) -> None:
        self.files += 1
        batches: dict[Archive, dict[str, tuple[RawRecord, Any]]] = {}
        with file.open("rb") as opened:
            try:
                for number, item in enumerate(objects_in(opened, str(file)), 1):
                    for archive, record in self._records_of(item, f"{file}, object {number}"):
                        if record.request in batches.get(archive, ()):
                            self._store(batches)  # a version must be stored before the next one
                        if _is_current(archive, record):
                            batches.setdefault(archive, {})[record.request] = record, item
                    if sum(map(len, batches.values())) >= _RECORDS_AT_ONCE:
                        self._store(batches)
            except BadInput:
                self._store(batches)  # the objects before the damage
                raise
        self._store(batches)

    def _store(self, batches: dict[Archive, dict[str, tuple[RawRecord, Any]]]) -> None:
        for archive, batch in batches.items():
            archive.put_records(*zip(*batch.values(), strict=True))
            self.objects += len(batch)
        batches.clear()
        self.listener.on_page("records", self.files, self.objects)

    def _records_of(self, item: dict[str, Any], where: str) -> Iterator[tuple[Archive, RawRecord]]:
        """The archive of an object and its raw record; nothing if it is not an issue or comment."""
        named = self._tracker_of(item)
        if named is None:
            self.skipped += 1
            return
        host, name = named
        if not name:
            raise BadDump(f"{where}: the object does not say which tracker it is from; add {host.example}")
        archive = self._archive(host, name)
        number, found = next(host.read(item, name), (0, None))
        if found is None:
            return
        key = f"dump:issues/{number}" if isinstance(found, Issue) else f"dump:comments/{found.id}"
        stamp = "" if found.updated_at is None else str(found.updated_at)
        try:
            body = json.dumps(item, ensure_ascii=False, sort_keys=True)
        except RecursionError:
            raise BadDump(f"{where}: nested too deeply") from None
        yield archive, RawRecord(key, body, 200, last_modified=stamp or None)

    def _tracker_of(self, item: dict[str, Any]) -> tuple[Host, str] | None:
        """The host and tracker of an object: the one that it names, the given one, or the host's only one so
        far.
        """
        hosts = [self.place.host] if self.place is not None else list(known_hosts().values())
        for host in hosts:
            name = host.tracker_of(item)
            if name is not None:
                break
        else:
            return None
        if self.place is not None:
            name = name or self.place.name
        elif not name:
            names = {archive.name for archive in self.archives.values() if archive.host is host}
            name = names.pop() if len(names) == 1 else ""
        return host, name

    def _archive(self, host: Host, name: str, url: str = "") -> Archive:
        """The archive of a tracker, under its current or a former name. ``url``: its page, if known."""
        if (host.name, name) not in self.archives:
            names = (name, urlsplit(url).path.strip("/"))
            found = (find_tracker(self.corpus, one, [host.name]) for one in names if one)
            known = next((tracker for tracker in found if tracker), None)
            own = known.name if known else name
            tracker_id = store_tracker(self.corpus, known, own, host, url, is_newest=False)
            same = (archive for archive in self.archives.values() if archive.tracker_id == tracker_id)
            archive = next(same, None) or Archive(self.corpus, host, tracker_id, own)
            self.archives[host.name, name] = archive
        return self.archives[host.name, name]

    def _copy(self, connection: duckdb.DuckDBPyConnection, source: Path) -> None:
        """Copy the raw records of another corpus, unless the stored ones are newer."""
        hosts = known_hosts()
        try:
            trackers = connection.execute(
                "select id, name, kind, coalesce(url, '') from tracker order by id"
            ).fetchall()
            for ident, name, kind, url in trackers:
                if kind in hosts:
                    archive = self._archive(hosts[kind], name, url)
                    self._copy_tracker(connection, ident, hosts[kind].path(name), archive)
        except duckdb.Error as error:
            raise BadDump(f"{source} is not a corpus or is damaged: {_first_line(error)}") from error
        if not self.archives:
            raise BadDump(f"{source} contains no mined tracker")

    def _copy_tracker(
        self, connection: duckdb.DuckDBPyConnection, ident: int, prefix: str, archive: Archive
    ) -> None:
        """Copy the records of one tracker; ``prefix``: how its requests start in the other corpus."""
        here = {
            request: age
            for request, *age in self.corpus.rows(
                f"select request, {_AGE} from raw_record where tracker_id = ?", [archive.tracker_id]
            )
        }
        request, following = (
            f"if(starts_with({column}, $prefix), $here || {column}[len($prefix) + 1:], {column})"
            for column in ("request", "next")
        )
        rows = connection.execute(
            f"""select {_AGE}, {request}, body, status, etag, last_modified, fetched_at, {following}
            from raw_record join text on text.id = text_id where tracker_id = $tracker
            order by raw_record.id""",
            {"tracker": ident, "prefix": prefix, "here": archive.prefix},
        )
        self.files += 1
        while batch := rows.fetchmany(_RECORDS_AT_ONCE):
            records = [
                RawRecord(*row[2:]) for row in batch if row[2] not in here or list(row[:2]) > here[row[2]]
            ]
            archive.put_records(records, [decoded(record.body) for record in records])
            self.objects += len(records)
            self.listener.on_page("records", self.files, self.objects)


def _is_current(archive: Archive, record: RawRecord) -> bool:
    """Whether a record is not older than the stored one."""
    known = archive.pages.get(record.request)
    return known is None or (known.last_modified or "") <= (record.last_modified or "")


def _archive_in(source: Path) -> duckdb.DuckDBPyConnection | None:
    """A connection to another corpus or an exported one; None if the source is neither."""
    if source.is_dir():
        if not (source / "raw_record.parquet").is_file():
            return None
        connection = open_database()
        for table in ("tracker", "raw_record", "text"):
            path = sql_text((source / f"{table}.parquet").absolute())
            try:
                connection.execute(f"create view {table} as from read_parquet({path})")
            except duckdb.Error as error:
                connection.close()
                raise BadDump(
                    f"{source} is not a complete export of a corpus: {_first_line(error)}"
                ) from error
        return connection
    if source.is_file():
        with source.open("rb") as file:
            if file.read(12)[8:] == b"DUCK":
                return connect(source, read_only=True)
    return None


def _files_of(source: Path) -> Iterator[Path]:
    """The files of a dump, sorted. A link inside a folder is an error."""
    if not source.is_dir():
        yield source
        return
    for folder, folders, files in os.walk(source, onerror=_raise):
        folders.sort()
        for name in sorted(files):
            path = Path(folder, name)
            if not name.lower().endswith(_ENDINGS):
                continue
            if path.is_symlink() or not path.is_file():
                raise BadDump(f"{path} is not a regular file: copy it into the folder, or remove it")
            yield path


def _raise(error: OSError) -> None:
    raise error


def _first_line(error: duckdb.Error) -> str:
    return str(error).split("\n")[0]
