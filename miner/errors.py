"""Errors of mining. Each says what to do."""

from __future__ import annotations

from base.errors import ExhumeError, Exit


class MinerError(ExhumeError):
    """Base of the errors of mining."""


class BadInput(MinerError):
    """A name, date, address, file or configuration that is not what is expected."""


class HostError(MinerError):
    """A tracker's host cannot be asked, or refuses."""

    exit_code = Exit.ENVIRONMENT


class Unreachable(HostError):
    """No usable answer after many tries."""


class RateLimited(HostError):
    """The limit ends later than is worth waiting for. ``seconds`` is how long it lasts."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Denied(HostError):
    """The token is wrong, or does not reach so far."""
