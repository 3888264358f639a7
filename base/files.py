"""Files that are complete or not there at all, even if the process is killed while it writes them."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

NO_SPACE = frozenset((errno.ENOSPC, errno.EDQUOT))
"""The ``errno`` of a write that does not fit on the disk."""


@contextmanager
def new_file(file: Path, mark: str = "") -> Iterator[Path]:
    """A path beside ``file`` to write to; it replaces ``file`` in one step when the block ends.

    If the block fails, ``file`` stays as it was and nothing is left beside it. The path ends in ``mark``, so
    that the next process overwrites what a killed one left; without a mark every process has its own path.
    """
    draft = file.with_name(f".{file.name}.{mark or os.getpid()}")
    _remove(draft)
    try:
        yield draft
        draft.replace(file)
    finally:
        _remove(draft)


def _remove(draft: Path) -> None:
    # DuckDB keeps a .wal beside a database.
    for left in (draft, draft.with_name(draft.name + ".wal")):
        with suppress(OSError):  # a folder that cannot be written holds none
            left.unlink(missing_ok=True)


def put_bytes(file: Path, data: bytes) -> None:
    """Make ``data`` the content of ``file`` in one step. Raises OSError; the file then stays as it was."""
    with new_file(file) as draft:
        draft.write_bytes(data)


def put_text(file: Path, text: str) -> None:
    """As :func:`put_bytes`, for text; bytes that were read with ``surrogateescape`` are written unchanged."""
    put_bytes(file, text.encode("utf-8", "surrogateescape"))


def put_json(file: Path, document: Any) -> None:
    """As :func:`put_bytes`, for a JSON document."""
    put_text(file, json.dumps(document, indent=2) + "\n")


def name_full_folder(error: OSError, folder: Path | str) -> None:
    """Make ``folder`` the file name of ``error`` if the disk is full and the error names no file.

    The system names files that cannot be opened, but not those that cannot be written to.
    """
    if error.errno in NO_SPACE and error.filename is None:
        error.filename = str(folder)
