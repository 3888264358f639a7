"""Exceptions of the corpus. Every message names the file and says what to do."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from base.errors import ExhumeError


class CorpusError(ExhumeError):
    """Base class of the exceptions of this package."""


class CorpusMissing(CorpusError):
    """The file or its folder does not exist."""


class NotACorpus(CorpusError):
    """The file is not a DuckDB file, or belongs to another program."""


class CorpusDamaged(CorpusError):
    """Parts of the file are missing or overwritten."""


class SchemaMismatch(CorpusError):
    """The file's schema is newer than this exhume, or older and cannot be written now."""

    def __init__(self, message: str, found: int, known: int) -> None:
        super().__init__(message)
        self.found = found
        self.known = known


class CorpusLocked(CorpusError):
    """Another process has the file ``path`` open. ``pid``: its id if known, else 0."""

    def __init__(self, message: str, path: Path, pid: int = 0) -> None:
        super().__init__(message)
        self.path = path
        self.pid = pid


class StorageFull(CorpusError):
    """The disk is full or a size limit was reached."""


class ReadOnly(CorpusError):
    """A write to a corpus that was opened for reading."""


class QueryError(CorpusError):
    """A query that cannot be run: invalid SQL, an unknown name or parameter, a write."""


class QueryTimeout(QueryError):
    """A query exceeded its time limit."""


_HOLDER = re.compile(r"lock is held in (.*?) \(PID (\d+)\)")


def explain_open_failure(error: duckdb.Error, path: Path) -> CorpusError:
    """The exception for a failure of ``duckdb.connect`` on ``path``."""
    text = str(error)
    holder = _HOLDER.search(text)
    if holder or "Could not set lock" in text:
        pid = int(holder[2]) if holder else 0
        who = f"process {pid} ({Path(holder[1]).name})" if holder else "another process"
        return CorpusLocked(f"{path} is in use by {who}: wait for it to end or stop it", path, pid)
    if "different configuration" in text or "already attached" in text.lower():
        return CorpusLocked(f"{path} is already open in this process: close it first", path)
    if "does not exist" in text:
        return CorpusMissing(f"there is no corpus {path}: import or mine something first")
    if path.is_file() and not path.stat().st_size:
        return empty_file(path)
    if "not a valid DuckDB" in text or "Is a directory" in text:
        return NotACorpus(f"{path} is not a corpus (not a DuckDB file)")
    if known := known_failure(error, path):
        return known
    return CorpusError(f"cannot open the corpus {path}: {text}")


def empty_file(path: Path) -> NotACorpus:
    """The exception for a file of no bytes."""
    return NotACorpus(f"{path} is not a corpus: the file is empty; delete it or name another file")


def known_failure(error: duckdb.Error, path: Path) -> CorpusError | None:
    """A :class:`StorageFull` or :class:`CorpusDamaged` if that is the cause of ``error``."""
    return storage_full(error, path) or damaged(error, path)


def damaged(error: duckdb.Error, path: Path) -> CorpusDamaged | None:
    """A :class:`CorpusDamaged` if that is the cause of ``error``. DuckDB has a checksum for each block."""
    text = str(error)
    if "Could not read enough bytes" in text and path.name in text:  # not of a Parquet file
        why = "a part is missing"
    elif "Corrupt database file" in text:
        why = "a part does not match its checksum"
    else:
        return None
    advice = "restore it from an export ('exhume corpus import'), or import or mine it again"
    return CorpusDamaged(f"{path} is damaged ({why}): {advice}")


def storage_full(error: duckdb.Error, path: Path) -> StorageFull | None:
    """A :class:`StorageFull` if that is the cause of ``error``."""
    text = str(error).lower()
    signs = ("no space left", "file too large", "disk quota exceeded", "disk full", "out of disk")
    if any(sign in text for sign in signs):
        return StorageFull(f"no room left to write {path}; what was stored before is safe")
    return None
