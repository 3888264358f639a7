"""Shrinks a corpus file: deletes unreferenced texts and rewrites the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import duckdb

from base.files import new_file
from corpus.errors import CorpusError, known_failure
from corpus.store import Corpus, open_database, sql_text


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """The number of deleted texts, and the file's size in bytes before and after."""

    texts: int
    before: int
    after: int


def vacuum(path: Path | str) -> VacuumReport:
    """Delete unreferenced texts and rewrite the file atomically; of a link, the file that it points to."""
    path = Path(path).resolve()
    before = path.stat().st_size if path.exists() else 0
    try:
        # This process holds the file until it is replaced, so no other process can write to it.
        with Corpus.open(path, write=True) as corpus, new_file(path, "vacuum") as draft:
            with corpus.transaction():
                texts = _drop_texts(corpus)
            corpus.connection.execute("checkpoint")
            copy_to(corpus, draft)
            if problems := _differences(corpus, draft):
                raise CorpusError(f"{path} could not be copied: {problems}")
    except duckdb.Error as error:
        raise known_failure(error, path) or CorpusError(f"cannot vacuum {path}: {error}") from error
    except OSError as error:
        raise CorpusError(f"cannot vacuum {path}: {error.strerror}") from error
    return VacuumReport(texts, before, path.stat().st_size)


def _drop_texts(corpus: Corpus) -> int:
    named = [one for one in corpus.references() if one.target == "text"]
    used = " union ".join(f"(select {r.column} from {r.table} where {r.column} is not null)" for r in named)
    count = int(corpus.scalar(f"select count(*) from text where id not in ({used})"))
    if count:
        corpus.execute(f"delete from text where id not in ({used})")
    return count


def copy_to(corpus: Corpus, draft: Path) -> None:
    """Write a copy of the file to ``draft``, which must not exist."""
    run = corpus.connection.execute
    name = str(corpus.scalar("select current_database()")).replace('"', '""')
    run(f"attach {sql_text(draft.absolute())} as vacuumed (read_write)")
    try:
        run(f'copy from database "{name}" to vacuumed')
        run("checkpoint vacuumed")
    finally:
        run("detach vacuumed")


def _differences(corpus: Corpus, draft: Path) -> str:
    """The tables or rows that the copy lacks; empty if it is complete."""
    with open_database(str(draft), read_only=True) as copy:
        for table in corpus.tables():
            row = copy.execute(f"select count(*) from {table}").fetchone()
            if row is None or row[0] != corpus.scalar(f"select count(*) from {table}"):
                return f"rows of {table} are missing"
        query = "select view_name from duckdb_views() where not internal"
        missing = sorted(set(corpus.values(query)) - {n for (n,) in copy.execute(query).fetchall()})
        return f"views are missing: {', '.join(missing)}" if missing else ""
