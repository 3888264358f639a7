"""What comes back from GitHub, and what is said while it is waited for.

Apart from the client (:mod:`miner.github`), as those who only read answers need no PyGithub: importing that
takes a quarter of a second, which every command would pay.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

API_URL = "https://api.github.com"


class Clock(Protocol):
    """Time as the client sees it."""

    def now(self) -> float:
        """Seconds since the epoch."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's own."""

    def now(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The client waits: why, for how long, and until when (seconds since the epoch)."""

    why: str
    seconds: float
    until: float


OnWaiting = Callable[[Waiting], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. ``status`` is 200, 304, a redirection or one that says that something is gone."""

    status: int
    body: str = ""
    etag: str | None = None
    last_modified: str | None = None
    location: str = ""
    # The address of the next page, where there is one.
    next: str = ""
    data: Any = None


GONE = frozenset({404, 410, 451})
"""Statuses that say that something is not there (any more)."""
