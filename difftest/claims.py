"""Folders that one process at a time works in: of a campaign, of a build of a benchmark, of a score."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from base.locks import lock_folder
from difftest.errors import BadOutput, InUse


@contextmanager
def claimed(folder: Path, user: str, holder: Callable[[Path], str] = lambda _: "") -> Iterator[None]:
    """A context in which a folder, made if it is missing, is locked for this process.

    ``user`` says in errors what uses the folder, ``holder`` which process it is. Raises InUse if another
    process has the lock, BadOutput if the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = lock_folder(folder)
    except BlockingIOError:
        raise InUse(
            f"{folder}: another {user} uses this folder{holder(folder)}; wait for it or stop it"
        ) from None
    except FileExistsError:
        raise BadOutput(f"cannot write to {folder}: it is not a folder") from None
    except OSError as problem:
        raise BadOutput(f"cannot write to {folder}: {problem.strerror or problem}") from problem
    try:
        yield
    finally:
        os.close(lock)
