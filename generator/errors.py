"""Errors of generation."""

from __future__ import annotations

from base.errors import ExhumeError


class GenerationError(ExhumeError):
    """What was asked for cannot be generated; the message says what to do."""
