"""Errors of generation."""

from __future__ import annotations

from base.errors import ExhumeError


class GenerationError(ExhumeError):
    """The requested tests cannot be generated; the message says what to do."""
