"""Errors of the language layer, with the position of the mistake in the text."""

from __future__ import annotations

from base.errors import ExhumeError


class SmtLibError(ExhumeError):
    """Base of every error that SMT-LIB text can cause.

    ``line`` and ``column`` count from 1; both are 0 if the position is unknown.
    """

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column

    def __str__(self) -> str:
        if self.line:
            return f"{self.line}:{self.column}: {self.message}"
        return self.message


class ReadError(SmtLibError):
    """The text is not a sequence of s-expressions."""


class SortError(SmtLibError):
    """A command or term is not well sorted, or names something unknown."""


class TheoryError(SmtLibError):
    """A theory file is malformed."""
