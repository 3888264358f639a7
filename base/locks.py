"""Locks between processes (``flock``). They end with the process that holds them, however it ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def locked(file: Path) -> Iterator[TextIO]:
    """``file`` open for appending text, locked; waits for other processes. It is created if it is missing."""
    # The file stays: if it were removed, a third process could lock another file of the same name.
    with file.open("a", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle


def lock_folder(folder: Path) -> int:
    """Lock an existing folder without leaving a file in it: a descriptor, which unlocks it when closed.

    Raises BlockingIOError at once if another process holds the lock, OSError if the folder cannot be opened.
    On a file system without locks the folder is not locked.
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
