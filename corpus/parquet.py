"""Exports a corpus to a folder of Parquet files, one per table, and imports it again.

``manifest.json`` has the schema version and the number of rows of each table. Views come from the schema.
"""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import duckdb

from base.errors import problem_of
from base.files import new_file
from corpus import schema
from corpus.errors import CorpusError, SchemaMismatch, damaged, storage_full
from corpus.store import Corpus, connect, require_new, sql_text

FORMAT = "exhume-corpus"
_MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of an exported folder: the schema version, and the number of rows of each table."""

    schema: int
    tables: dict[str, int]


def export_parquet(corpus: Corpus, folder: Path | str) -> Manifest:
    """Write every table, sorted by id, to ``folder``, which must not exist. Atomic."""
    folder = Path(folder)
    require_new(folder, "folder")
    draft = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        draft.mkdir()
        counts = {}
        for table in corpus.tables():
            target = sql_text((draft / f"{table}.parquet").absolute())
            corpus.connection.execute(
                f"copy (from {table} order by 1, 2) to {target} (format parquet, compression zstd)"
            )
            counts[table] = int(corpus.scalar(f"select count(*) from {table}"))
        manifest = Manifest(schema.version(corpus.connection, corpus.path), counts)
        said = {"format": FORMAT, "schema": manifest.schema, "tables": counts}
        (draft / _MANIFEST).write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
        draft.replace(folder)
    except (OSError, duckdb.Error) as error:
        known = damaged(error, corpus.path) if isinstance(error, duckdb.Error) else None
        raise known or CorpusError(f"cannot write {folder}: {_why(error)}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return manifest


def import_parquet(folder: Path | str, path: Path | str) -> Manifest:
    """Create the corpus file ``path``, which must not exist, from an exported folder.

    Exports of earlier schemas are migrated.
    """
    folder, path = Path(folder), Path(path)
    manifest = read_manifest(folder)
    require_new(path)
    with new_file(path, "part") as draft, closing(connect(draft, read_only=False)) as connection:
        schema.migrate(connection, path, manifest.schema)
        corpus = Corpus(path, connection, write=True)
        with corpus.transaction():
            for table in corpus.tables():
                if table != "migration":  # the new file has its own
                    _fill(corpus, table, folder, manifest)
        schema.migrate(connection, path)
        if problems := corpus.verify():
            raise CorpusError(f"{folder} is damaged: {problems[0]}")
        corpus.checkpoint()
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of an exported folder. Raises CorpusError if it is missing or newer."""
    if folder.is_dir() and not (folder / _MANIFEST).exists():
        raise CorpusError(
            f"{folder} is not an exported corpus: it has no {_MANIFEST}; name the --out folder of"
            " 'exhume corpus export'"
        )
    try:
        said = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        if said["format"] != FORMAT:
            raise ValueError(f"its format is {said['format']}")
        manifest = Manifest(int(said["schema"]), {str(k): int(v) for k, v in said["tables"].items()})
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorpusError(f"{folder} is not an exported corpus: {_why(error)}") from error
    known = len(schema.migrations())
    if not 0 < manifest.schema <= known:
        raise SchemaMismatch(
            f"{folder} has schema {manifest.schema}, newer than this exhume knows ({known}): upgrade exhume",
            manifest.schema,
            known,
        )
    return manifest


def _fill(corpus: Corpus, table: str, folder: Path, manifest: Manifest) -> None:
    source = sql_text((folder / f"{table}.parquet").absolute())
    try:
        corpus.execute(f"insert into {table} by name from read_parquet({source})")
    except duckdb.Error as error:
        raise storage_full(error, corpus.path) or CorpusError(
            f"{folder} is damaged: {_why(error)}"
        ) from error
    found = corpus.scalar(f"select count(*) from {table}")
    if found != manifest.tables.get(table):
        raise CorpusError(f"{folder} is damaged: {table} has {found} rows, not {manifest.tables.get(table)}")


def _why(error: Exception) -> str:
    """A problem on one line: without the number and the file of an OSError, or the place in our SQL."""
    return problem_of(error).partition("\n")[0]
