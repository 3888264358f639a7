"""Exceptions of campaigns, triage and reduction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from base.errors import ExhumeError


class DifftestError(ExhumeError):
    """The base of the errors of this package."""


class BadOutput(DifftestError):
    """The output folder cannot be created or written."""


class InUse(BadOutput):
    """Another process works in the folder."""


class NotShown(DifftestError):
    """A file, a trace or a finding does not show the expected bug."""


class InternalErrors(DifftestError):
    """A hunt left out what bugs in exhume kept it from doing."""


@contextmanager
def writing(place: Path) -> Iterator[None]:
    """A context in which an OSError means that ``place`` cannot be written: it becomes BadOutput."""
    try:
        yield
    except OSError as problem:
        raise BadOutput(f"cannot write {place}: {problem.strerror or problem}") from problem
