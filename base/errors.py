"""The base class of all exceptions that are shown to users, with the exit codes of the command line."""

from __future__ import annotations

import copyreg
import traceback
from enum import IntEnum
from typing import Any


class Exit(IntEnum):
    """The exit codes of commands."""

    DONE = 0
    FINDINGS = 1
    USAGE = 2
    ENVIRONMENT = 3
    BUG = 70
    """Of exhume, not of a solver: the process shows a traceback. It is ``EX_SOFTWARE`` of sysexits.h."""
    INTERRUPTED = 130


class ExhumeError(Exception):
    """The message says what happened and what to do; the command line prints it as one line.

    ``exit_code``: the exit code of the command. Bugs in exhume raise other exceptions: they show a traceback.
    """

    exit_code: int = Exit.USAGE

    def __reduce__(self) -> tuple[Any, ...]:
        """Also errors whose constructor takes more than the message travel between processes."""
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


def problem_of(error: Exception) -> str:
    """What an error says; of the system's, without its number and the file."""
    return str(getattr(error, "strerror", None) or error)


def described(error: Exception) -> str:
    """For people: what an error says, and where it comes from if it is a bug in exhume."""
    if isinstance(error, ExhumeError):
        return str(error)
    trace = "".join(traceback.format_exception(error)).rstrip()
    return f"this is a bug in exhume, please report it:\n{trace}"
