"""Locks between processes (``flock``), which are released when the process ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO


@contextmanager
def locked(file: Path) -> Iterator[TextIO]:
    """``file``, opened for appending text and locked; waits for other processes. Creates a missing file.

    On a file system without locks the file is not locked.
    """
    # The file is not deleted: otherwise a third process could lock another file with the same name.
    with file.open("a", encoding="utf-8") as handle:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle


def lock_folder(folder: Path) -> int:
    """Lock an existing folder without a lock file. Returns a descriptor; closing it releases the lock.

    Raises BlockingIOError immediately if another process holds the lock, OSError if the folder cannot be
    opened. On a file system without locks the folder is not locked.
    """
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:  # a file system without locks
        pass
    return handle


@contextmanager
def folder_locked(folder: Path) -> Iterator[None]:
    """Lock a folder without a lock file; waits for other processes and threads. Nothing is locked where there
    is no folder, or on a file system without locks.
    """
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        yield
        return
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        # To close it is not enough: a process that was forked meanwhile has the descriptor, too.
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)
        os.close(handle)
