"""Exceptions of campaigns, triage and reduction."""

from __future__ import annotations

import errno
from pathlib import Path

from base.errors import ExhumeError


class DifftestError(ExhumeError):
    """The base of the errors of this package."""


class BadOutput(DifftestError):
    """The output folder cannot be made or written."""


def name_full_folder(error: OSError, folder: Path | str) -> None:
    """Where nothing more could be written: the system names files that it cannot open, not those that it
    cannot write to, so ``error`` gets ``folder``, in which it happened, for its file's name.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT) and error.filename is None:
        error.filename = str(folder)
