"""Errors of mining. Each says what to do; ``exit_code`` is what a command ends with."""

from __future__ import annotations


class MinerError(Exception):
    """Base of the errors of mining."""

    exit_code = 2


class BadInput(MinerError):
    """A name, date, address, file or configuration that is not what is expected."""


class HostError(MinerError):
    """A tracker's host cannot be asked, or refuses."""

    exit_code = 3


class Unreachable(HostError):
    """No usable answer after many tries."""


class RateLimited(HostError):
    """The limit ends later than is worth waiting for. ``seconds`` is how long it lasts."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Denied(HostError):
    """The token is wrong, or does not reach so far."""
