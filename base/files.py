"""Reads files up to a size, and writes them atomically: a file is complete or missing, even if the process is
killed.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

NO_SPACE = frozenset((errno.ENOSPC, errno.EDQUOT))
"""The values of ``errno`` for a full disk."""

_DEVICES = Path("/dev")


def read_at_most(file: Path, most: int) -> bytes | None:
    """The bytes of a file; None if there are more than ``most``. Raises OSError."""
    with file.open("rb") as opened:
        data = opened.read(most + 1)
    return data if len(data) <= most else None


@contextmanager
def new_file(file: Path, mark: str = "") -> Iterator[Path]:
    """A temporary path next to ``file``, which replaces ``file`` when the block ends.

    If the block fails, ``file`` stays unchanged and the temporary file is deleted. The path ends in ``mark``,
    so that the next process overwrites the file of a killed one; without a mark, every process has its own
    path.

    A link is replaced, too: the folder may be a stranger's. Devices and pipes are written directly.
    """
    if file.absolute().parent == _DEVICES or (file.exists() and not file.is_file()):
        yield file
        return
    draft = file.with_name(f".{file.name}.{mark or os.getpid()}")
    _remove(draft)
    try:
        yield draft
        draft.replace(file)
    finally:
        _remove(draft)


def _remove(draft: Path) -> None:
    # DuckDB has a .wal file next to a database.
    for left in (draft, draft.with_name(draft.name + ".wal")):
        with suppress(OSError):  # not writable: nothing was written
            left.unlink(missing_ok=True)


def put_bytes(file: Path, data: bytes) -> None:
    """Write ``data`` to ``file`` atomically. Raises OSError; the file then stays unchanged."""
    with new_file(file) as draft:
        draft.write_bytes(data)


def put_text(file: Path, text: str) -> None:
    """Like :func:`put_bytes`, for text; bytes that were read with ``surrogateescape`` are preserved."""
    put_bytes(file, text.encode("utf-8", "surrogateescape"))


def put_json(file: Path, document: Any) -> None:
    """Like :func:`put_bytes`, for a JSON document."""
    put_text(file, json.dumps(document, indent=2) + "\n")


def append_lines(file: Path, lines: str) -> None:
    """Add lines to a file, made if it is not there. A line that a kill cut short is ended first."""
    with file.open("a+b") as handle:
        handle.seek(max(0, handle.tell() - 1))
        begin = "" if handle.read(1) in (b"", b"\n") else "\n"
        handle.write(f"{begin}{lines}\n".encode("utf-8", "backslashreplace"))


def name_full_folder(error: OSError, folder: Path | str) -> None:
    """Set the file name of ``error`` to ``folder`` if the disk is full and the error names no file.

    Errors of opening a file have its name, but errors of writing to it do not.
    """
    if error.errno in NO_SPACE and error.filename is None:
        error.filename = str(folder)
