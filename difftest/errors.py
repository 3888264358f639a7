"""Exceptions of campaigns, triage and reduction."""

from __future__ import annotations

from base.errors import ExhumeError


class DifftestError(ExhumeError):
    """The base of the errors of this package."""


class BadOutput(DifftestError):
    """The output folder cannot be created or written."""


class NotShown(DifftestError):
    """A file, a trace or a finding does not show the expected bug."""
