"""How long a command waits for a corpus that another process has open: a hunt opens it for moments only.

This is set for a thread, not for those that it starts: the one that stores the findings of a hunt has its own
way to try again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PATIENCE: ContextVar[tuple[float, Callable[[str], None]]] = ContextVar(
    "patience", default=(0.0, lambda line: None)
)
"""For how many seconds this thread waits at most, and what gets a line if it takes more than a moment."""


@contextmanager
def patient(seconds: float, say: Callable[[str], None]) -> Iterator[None]:
    """Within the block, this thread waits for a corpus that is in use; see ``PATIENCE``."""
    before = PATIENCE.set((seconds, say))
    try:
        yield
    finally:
        PATIENCE.reset(before)
