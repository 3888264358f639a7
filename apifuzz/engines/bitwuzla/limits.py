"""What bitwuzla is known not to do: messages of its exceptions that are no fault of a call."""

from __future__ import annotations

from apifuzz.interface import Rejected, Unsupported

_LIMITS: tuple[tuple[str, str], ...] = (
    ("not compiled in", "the SAT solver is not in this build"),
    ("experimental floating-point format", "only Float16, 32, 64 and 128 are built in"),
    ("array sorts not supported as index sort", "arrays are no indices of arrays"),
    ("interpolation queries with lemmas that use fresh variables", "no interpolants where lemmas need more"),
    ("expected non-function sort", "functions are no arguments and no elements"),
)
"""A part of the message, and why it is no fault."""

TERMINATOR_CALLS = 2000
"""How often a check may ask its terminator before it gives up: a measure of work that does not depend on the
machine. bitwuzla asks every few hundred microseconds, so that most checks end within a second."""

FLOAT_FORMATS = frozenset(((5, 11), (8, 24), (11, 53), (15, 113)))
"""Widths of exponent and significand that a build without ``--fpexp`` takes."""


def translate(error: BaseException) -> BaseException:
    """An exception of bitwuzla's as Rejected, or Unsupported where the message is of a known limit."""
    message = " ".join(str(error).split())
    reason = next((why for part, why in _LIMITS if part in message), "")
    return Unsupported(f"{reason}: {message}") if reason else Rejected(message)


class Terminator:
    """Ends a check after a number of questions; a callable, as bitwuzla asks for."""

    def __init__(self, calls: int = TERMINATOR_CALLS) -> None:
        self.next_calls = calls
        self.left = calls

    def limit_next(self, calls: int) -> None:
        """Let the next check ask ``calls`` times only."""
        self.next_calls = calls

    def start(self) -> None:
        """Before each check."""
        self.left, self.next_calls = self.next_calls, TERMINATOR_CALLS

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0
