"""Folders that one process at a time works in: of a campaign, of a build of a benchmark, of a score."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from base.locks import lock_folder
from difftest.errors import BadOutput, InUse


def claim_folder(folder: Path, user: str, holder: Callable[[Path], str] = lambda _: "") -> int:
    """Lock a folder, made if it is missing, for this process: a descriptor; closing it releases the lock.

    ``user`` says in errors what uses the folder, ``holder`` which process it is. Raises InUse if another
    process has the lock, BadOutput if the folder cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return lock_folder(folder)
    except BlockingIOError:
        raise InUse(
            f"{folder}: another {user} uses this folder{holder(folder)}; wait for it or stop it"
        ) from None
    except FileExistsError:
        raise BadOutput(f"cannot write to {folder}: it is not a folder") from None
    except OSError as problem:
        raise BadOutput(f"cannot write to {folder}: {problem.strerror or problem}") from problem
