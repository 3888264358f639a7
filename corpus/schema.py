"""Schema migrations: numbered SQL files, each applied once, in a transaction, and recorded.

``schema.sql`` documents the resulting schema; a test compares the two.
"""

from __future__ import annotations

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

import duckdb

from corpus.errors import NotACorpus, SchemaMismatch

MIGRATIONS = Path(__file__).with_name("migrations")
SCHEMA = Path(__file__).with_name("schema.sql")


@dataclass(frozen=True, slots=True)
class Migration:
    """One migration: its number, name and SQL."""

    number: int
    name: str
    sql: str


def migrations() -> list[Migration]:
    """All migrations in order, numbered from 1 without gaps."""
    found: list[Migration] = []
    for file in sorted(MIGRATIONS.glob("*.sql")):
        match = re.fullmatch(r"(\d{4})_\w+", file.stem)
        if not match or int(match[1]) != len(found) + 1:
            raise RuntimeError(f"migration {file.name} is out of order: {len(found) + 1:04}_... expected")
        found.append(Migration(int(match[1]), file.stem, file.read_text(encoding="utf-8")))
    return found


def version(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    """The schema version of an open file; 0 if it has no tables."""
    with contextlib.suppress(duckdb.CatalogException, duckdb.BinderException):
        row = connection.execute(
            "select coalesce(max(number), 0), (select count(*) from formula where false) from migration"
        ).fetchone()
        assert row is not None
        return int(row[0])
    # Only now, for the list of tables takes ten times as long.
    tables = "select 1 from duckdb_tables() where database_name = current_database()"
    if connection.execute(tables).fetchone():
        raise NotACorpus(f"{path} is a DuckDB file, but not a corpus of exhume")
    return 0


def require_current(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Raise unless the file has the current schema."""
    found, known = version(connection, path), len(migrations())
    if found > known:
        why = f"newer than this exhume knows ({known}): upgrade exhume"
    elif found < known:
        why = (
            f"older than this exhume's ({known}):"
            " make it writable, and stop other processes that use it; the next command upgrades it"
        )
    else:
        return
    raise SchemaMismatch(f"{path} has schema {found}, {why}", found, known)


def migrate(connection: duckdb.DuckDBPyConnection, path: Path, last: int | None = None) -> None:
    """Migrate the file to the current schema, or to number ``last``. Raises SchemaMismatch if it is newer."""
    found, known = version(connection, path), migrations()
    for step in known[found:last]:
        connection.execute("begin")
        try:
            connection.execute(step.sql)
            connection.execute(
                "insert into migration values (?, ?, current_timestamp at time zone 'UTC')",
                [step.number, step.name],
            )
        except BaseException:
            connection.execute("rollback")
            raise
        connection.execute("commit")
    if found > len(known):
        require_current(connection, path)
