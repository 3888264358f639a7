"""Errors of mining. Each says what to do."""

from __future__ import annotations

from base.errors import ExhumeError, Exit


class MinerError(ExhumeError):
    """Base of the errors of mining."""


class BadInput(MinerError):
    """A name, date, address or configuration that cannot be meant."""


class GitHubError(MinerError):
    """GitHub cannot be asked, or says no."""

    exit_code = Exit.ENVIRONMENT


class Unreachable(GitHubError):
    """No usable answer after many tries."""


class RateLimited(GitHubError):
    """The limit ends later than is worth waiting for. ``seconds`` is how long it lasts."""

    def __init__(self, message: str, seconds: float) -> None:
        super().__init__(message)
        self.seconds = seconds


class Denied(GitHubError):
    """The token is wrong, or does not reach so far."""
