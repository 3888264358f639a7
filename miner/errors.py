"""Exceptions of mining. Every message says what to do."""

from __future__ import annotations

from base.errors import ExhumeError, Exit


class MinerError(ExhumeError):
    """Base class of the exceptions of mining."""


class BadInput(MinerError):
    """A name, date, address, file or configuration is malformed."""


class BadDump(BadInput):
    """A dump is missing, malformed or incomplete; the message names it, or the file in it."""


class HostError(MinerError):
    """A tracker's host cannot be reached or refuses the request."""

    exit_code = Exit.ENVIRONMENT


class Unreachable(HostError):
    """The host gave no usable answer after several attempts."""


class RateLimited(HostError):
    """The rate limit lasts too long to wait for it."""


class Denied(HostError):
    """The host refuses a request: the token is wrong or lacks the permission, or ``status`` says why."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status
