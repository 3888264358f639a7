"""Corpora that many tests read: made once, whichever worker of pytest-xdist comes first."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(folders: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """The folder ``name`` of this run, filled by ``make`` while other workers wait; not to be written to."""
    base = folders.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # each worker's folder is in the run's
        base = base.parent
    folder = base / f"once-{name}"
    with (base / f"once-{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            made = folders.mktemp(name)
            make(made)
            made.rename(folder)
    return folder
