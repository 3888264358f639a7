"""How much a check of bitwuzla may do, and which floating-point formats its build takes."""

from __future__ import annotations

TERMINATOR_CALLS = 2000
"""How often a check may ask its terminator before it gives up: a measure of work that does not depend on the
machine. bitwuzla asks every few hundred microseconds, so that most checks end within a second."""

FLOAT_FORMATS = frozenset(((5, 11), (8, 24), (11, 53), (15, 113)))
"""Widths of exponent and significand that a build without ``--fpexp`` takes."""


class Terminator:
    """Ends a check after a number of questions; a callable, as bitwuzla asks for."""

    def __init__(self, calls: int = TERMINATOR_CALLS) -> None:
        self.next_calls = calls
        """How often the next check may ask."""
        self.left = calls

    def start(self) -> None:
        """Before each check."""
        self.left, self.next_calls = self.next_calls, TERMINATOR_CALLS

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0
