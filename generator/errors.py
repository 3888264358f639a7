"""Errors of generation."""

from __future__ import annotations


class GenerationError(Exception):
    """What was asked for cannot be generated; the message says what to do."""
