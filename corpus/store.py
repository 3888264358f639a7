"""The corpus file: opening it, transactions, fast inserts, ids.

While one process writes, no other process can open the file; any number of processes can read it at the same
time. A committed transaction survives a kill at any later time (DuckDB's write-ahead log).
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Self, TypeVar

import duckdb

from base.waiting import PATIENCE
from corpus import schema
from corpus.errors import (
    CorpusDamaged,
    CorpusError,
    CorpusLocked,
    CorpusMissing,
    ReadOnly,
    SchemaMismatch,
    StorageFull,
    empty_file,
    explain_open_failure,
    known_failure,
    storage_full,
)

_T = TypeVar("_T")
_MOMENT = 1.0
"""What has to be waited for longer, in seconds, is said."""

Settings = dict[str, str | bool | int | float | list[str]]
"""Settings of DuckDB by name."""

# DuckDB must not download extensions.
_SETTINGS: Settings = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}


def digest(text: str) -> str:
    """The hash that identifies a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Reference:
    """A column with ids of another table."""

    table: str
    column: str
    target: str


class Corpus:
    """An open corpus, returned by :meth:`open`.

    ``connection`` is DuckDB's, for reading. Writes go through :meth:`transaction`, :meth:`insert` and
    :meth:`update`, which manage ids, texts and errors.
    """

    def __init__(self, path: Path, connection: duckdb.DuckDBPyConnection, write: bool) -> None:
        self.path = path
        self.connection = connection
        self.write = write
        self._depth = 0
        self._next_ids: dict[str, int] = {}
        self._texts: dict[str, int] | None = None
        self._columns: dict[str, Mapping[str, str]] = {}

    @classmethod
    def open(cls, path: Path | str, write: bool = False, wait: float = 0.0) -> Self:
        """Open the corpus file ``path``. With ``write``, a missing file is created and an older one migrated.

        ``wait``: for how many seconds to retry while another process has the file open, or as many as
        :mod:`base.waiting` says.
        Raises a subclass of :class:`CorpusError`.
        """
        return _when_free(partial(cls._open, Path(path), write), wait)

    @classmethod
    def _open(cls, path: Path, write: bool) -> Self:
        if write:
            _create(path)
        elif not path.exists():
            raise CorpusMissing(f"there is no corpus {path}: import or mine something first")
        connection = connect(path, read_only=False) if write else _connect_current(path)
        with _closed_on_failure(connection, path):
            if write:
                schema.migrate(connection, path)
            return cls(path, connection, write)

    def close(self) -> None:
        """Close the file; an open transaction is rolled back."""
        with contextlib.suppress(duckdb.Error):
            if self._depth:
                self.connection.execute("rollback")
        with contextlib.suppress(duckdb.Error):  # no room for a checkpoint: the log has all data
            self.connection.close()

    def checkpoint(self) -> None:
        """Move everything from the log to the file, which can then be renamed.

        Closing does it too, but raises nothing if the disk is full.
        """
        self._execute("checkpoint")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Reading

    def rows(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self.explained():
            return self.connection.execute(sql, parameters).fetchall()

    def values(self, sql: str, parameters: Sequence[object] | dict[str, object] = ()) -> list[Any]:
        """The first column of all rows."""
        return [row[0] for row in self.rows(sql, parameters)]

    def scalar(self, sql: str, parameters: Sequence[object] = ()) -> Any:
        """The first column of the first row, or None without a row."""
        with self.explained():
            row = self.connection.execute(sql, parameters).fetchone()
        return None if row is None else row[0]

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Raise DuckDB's errors about the file itself, full or damaged, as :class:`CorpusError`."""
        try:
            yield
        except duckdb.Error as error:
            known = known_failure(error, self.path)
            if known is None:
                raise
            raise known from error

    def tables(self) -> list[str]:
        """The names of the tables, sorted."""
        return self.values("select table_name from duckdb_tables() where not internal order by table_name")

    def columns(self, table: str) -> Mapping[str, str]:
        """The SQL types of a table's columns, by name, in order."""
        # Table by table: DuckDB takes 0.5 ms for one, and 30 ms to list all.
        if table not in self._columns:
            self._columns[table] = {name: kind for name, kind, *_ in self.rows(f"describe {table}")}
        return self._columns[table]

    # Writing

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything done inside, or nothing. A nested transaction is part of the outer one."""
        if not self.write:
            raise ReadOnly(f"{self.path} was opened for reading")
        if self._depth:
            yield
            return
        self._execute("begin")
        self._depth = 1
        try:
            yield
            self._execute("commit")
        except BaseException:
            self._next_ids.clear()
            self._texts = None
            with contextlib.suppress(duckdb.Error):  # after a failed commit there is nothing to roll back
                self.connection.execute("rollback")
            raise
        finally:
            self._depth = 0

    def _execute(self, sql: str, parameters: Sequence[object] = ()) -> duckdb.DuckDBPyConnection:
        with self.explained():
            return self.connection.execute(sql, parameters)

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> None:
        """Run one writing statement, inside :meth:`transaction`."""
        self._require_transaction()
        self._execute(sql, parameters)

    def _require_transaction(self) -> None:
        if not self._depth:
            raise ReadOnly(f"{self.path}: a write outside of a transaction")

    def insert(
        self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]], replace: bool = False
    ) -> None:
        """Insert many rows at once; with ``replace``, in place of those with the same primary key.

        DuckDB gets one list per column: ``executemany`` takes 0.3 ms per row, this takes 0.01 ms.
        """
        self._require_transaction()
        if not rows:
            return
        types = [self.columns(table)[column] for column in columns]
        lists = ", ".join(f"unnest(?::{kind}[])" for kind in types)
        values = [list(column) for column in zip(*rows, strict=True)]
        verb = "insert or replace" if replace else "insert"
        self._execute(f"{verb} into {table} ({', '.join(columns)}) select {lists}", values)

    def update(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Set ``columns`` of many rows, each given as its id and the values."""
        self._require_transaction()
        if not rows:
            return
        names = ("id", *columns)
        lists = ", ".join(f"unnest(?::{self.columns(table)[c]}[]) as {c}" for c in names)
        settings = ", ".join(f"{c} = given.{c}" for c in columns)
        self._execute(
            f"update {table} set {settings} from (select {lists}) as given where given.id = {table}.id",
            [list(column) for column in zip(*rows, strict=True)],
        )

    def clear(self, table: str) -> None:
        """Delete all rows of ``table``; its ids start at 1 again."""
        self.execute(f"delete from {table}")
        self._next_ids.pop(table, None)

    def new_id(self, table: str) -> int:
        """The next id of ``table``; it is reused if the transaction is rolled back."""
        self._require_transaction()
        ident = self._next_ids.get(table)
        if ident is None:
            ident = int(self.scalar(f"select coalesce(max(id), 0) + 1 from {table}"))
        self._next_ids[table] = ident + 1
        return ident

    def add_texts(self, texts: Iterable[str]) -> list[int]:
        """The ids of ``texts``; equal texts are stored once. Lone surrogates are stored as ``\\udcXX``."""
        self._require_transaction()
        if self._texts is None:
            self._texts = dict(self.rows("select sha256, id from text"))
        known, ids, new = self._texts, [], []
        for text in texts:
            body = storable(text)
            key = digest(body)
            found = known.get(key)
            if found is None:
                found = known[key] = self.new_id("text")
                new.append((found, key, len(body.encode()), body))
            ids.append(found)
        self.insert("text", ("id", "sha256", "bytes", "body"), new)
        return ids

    def verify(self) -> list[str]:
        """Check the file: every table must be readable, every ``<table>_id`` must name an existing row, every
        text must match its hash.

        Returns one line per problem.
        """
        problems = self._unreadable()
        if problems:
            return problems
        for reference in self.references():
            missing = self.scalar(
                f"select count(*) from {reference.table} where {reference.column} is not null"
                f" and {reference.column} not in (select id from {reference.target})"
            )
            if missing:
                problems.append(f"{missing} rows of {reference.table} refer to a missing {reference.target}")
        wrong = self.scalar("select count(*) from text where sha256(body) <> sha256")
        if wrong:
            problems.append(f"{wrong} texts do not match their hash")
        return problems

    def _unreadable(self) -> list[str]:
        """The tables that cannot be read, and why; empty if the file is not damaged."""
        problems, whole = [], []
        why = ""
        for table in self.tables():
            try:
                self.scalar(f"select max(hash({table})) from {table}")
                whole.append(table)
            except CorpusDamaged as damaged:
                problems.append(f"table {table} cannot be read")
                why = str(damaged)
        if problems:
            problems += [f"readable: {', '.join(whole) or 'no table'}", why]
        return problems

    def references(self) -> list[Reference]:
        """The columns with ids of other tables, recognised by their names."""
        tables = self.tables()
        named = {"coarse_id": "signature", "near_duplicate_of": "formula", "superseded_by": "formula"}
        named |= {f"{prefix}{table}_id": table for table in tables for prefix in ("", "coarse_", "output_")}
        named |= {f"{prefix}_text_id": "text" for prefix in ("original", "reduced", "script")}
        return [
            Reference(table, column, named[column])
            for table in tables
            for column in sorted(self.columns(table))
            if column in named
        ]


def storable(text: str) -> str:
    """``text`` as valid UTF-8: lone surrogates are escaped."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def sql_text(value: object) -> str:
    """``value`` as a text in SQL, for statements that take no parameters."""
    return "'" + str(value).replace("'", "''") + "'"


def require_new(path: Path, kind: str = "file") -> None:
    """Raise CorpusError unless a file, or another ``kind``, can be made at ``path``."""
    if path.exists():
        raise CorpusError(f"{path} exists already: name a new {kind}")
    if not path.parent.is_dir():
        raise CorpusError(f"cannot create {path}: there is no folder {path.parent}")


def connect(path: Path, read_only: bool, settings: Settings | None = None) -> duckdb.DuckDBPyConnection:
    """A connection to an existing file. Raises a subclass of :class:`CorpusError`."""
    try:
        return open_database(str(path), read_only, settings)
    except duckdb.Error as error:
        raise explain_open_failure(error, path) from error


def open_database(
    name: str = ":memory:", read_only: bool = False, settings: Settings | None = None
) -> duckdb.DuckDBPyConnection:
    """A connection to a database, by default a new one in memory. It shows no progress on standard output,
    which DuckDB 2 does otherwise where a query takes long.
    """
    config = _SETTINGS | (settings or {})
    # Those of a connection cannot be given here, and not be set once all are locked.
    is_locked = config.pop("lock_configuration", "false")
    opened = duckdb.connect(name, read_only=read_only, config=config)
    try:
        # Where another connection of this process has locked them, they are as they are.
        with contextlib.suppress(duckdb.InvalidInputException):
            opened.execute("set enable_progress_bar = false")
            opened.execute(f"set lock_configuration = {is_locked}")
    except BaseException:
        opened.close()
        raise
    return opened


def connect_current(path: Path, settings: Settings) -> duckdb.DuckDBPyConnection:
    """A connection for reading. A file with an older schema is brought up to date first.

    Raises a subclass of :class:`CorpusError`; :class:`SchemaMismatch` for a file with a newer schema, and for
    an older one that cannot be written now.
    """
    return _when_free(partial(_connect_current, path, settings))


def _connect_current(path: Path, settings: Settings | None = None) -> duckdb.DuckDBPyConnection:
    connection = connect(path, read_only=True, settings=settings)
    try:
        with _closed_on_failure(connection, path):
            schema.require_current(connection, path)
            return connection
    except SchemaMismatch as mismatch:
        if mismatch.found > mismatch.known:
            raise
        _migrate(path, mismatch)
        return connect(path, read_only=True, settings=settings)


@contextlib.contextmanager
def _closed_on_failure(connection: duckdb.DuckDBPyConnection, path: Path) -> Iterator[None]:
    """Close a new connection if the block fails, and raise DuckDB's errors as :class:`CorpusError`."""
    try:
        yield
    except duckdb.Error as error:
        connection.close()
        raise known_failure(error, path) or CorpusError(f"{path}: {error}") from error
    except BaseException:
        connection.close()
        raise


def _when_free(attempt: Callable[[], _T], wait: float = 0.0) -> _T:
    """The result of an attempt to open a corpus, repeated while another process has it open."""
    started = time.monotonic()
    patience, say = PATIENCE.get()
    wait = max(wait, patience)
    is_said = False
    while True:
        try:
            return attempt()
        except CorpusLocked as locked:
            passed = time.monotonic() - started
            if passed >= wait:
                raise
            if passed >= _MOMENT and not is_said:
                is_said = True
                who = f"process {locked.pid}" if locked.pid else "another process"
                say(f"waiting up to {wait:g} s for {locked.path}, which {who} has open")
        time.sleep(0.1)


def _migrate(path: Path, mismatch: SchemaMismatch) -> None:
    """Bring a file with an older schema up to date; raise ``mismatch`` if it cannot be written now."""
    try:
        with contextlib.closing(connect(path, read_only=False)) as writer:
            schema.migrate(writer, path)
    except (CorpusError, duckdb.Error) as error:
        known = known_failure(error, path) if isinstance(error, duckdb.Error) else None
        raise known or mismatch from error


def _create(path: Path) -> None:
    """Create an empty corpus at ``path`` atomically, unless the file exists."""
    if path.is_file() and not path.stat().st_size:
        raise empty_file(path)  # DuckDB would fill it
    if path.exists():
        return
    if not path.parent.is_dir():
        raise CorpusMissing(f"cannot create the corpus {path}: there is no folder {path.parent}")
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with contextlib.closing(connect(draft, read_only=False)) as connection:
            schema.migrate(connection, path)
        # Not rename: another process may have created the file in the meantime, and may be writing to it.
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without links
            draft.replace(path)
    except StorageFull:
        raise
    except (OSError, duckdb.Error, CorpusError) as error:
        full = storage_full(error, path) if isinstance(error, duckdb.Error) else None
        reason = str(error.__cause__ or error).replace(draft.name, path.name)
        raise full or CorpusError(f"cannot create the corpus {path}: {reason}") from error
    finally:
        for left in (draft, draft.with_name(draft.name + ".wal")):
            with contextlib.suppress(OSError):  # not writable: nothing was written
                left.unlink(missing_ok=True)
