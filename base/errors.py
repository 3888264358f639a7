"""The root of all errors that a user can cause or must know about, with the exit code of the command line."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command's exit code says."""

    DONE = 0
    FINDINGS = 1
    USAGE = 2
    ENVIRONMENT = 3
    INTERRUPTED = 130


class ExhumeError(Exception):
    """The message says what happened to what, and what to do; the command line prints it as one line.

    ``exit_code`` is the exit code of the command line. Our own bugs raise other exceptions: they show a
    traceback.
    """

    exit_code: int = Exit.USAGE
