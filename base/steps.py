"""Progress of long work: its steps, and ticks within a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Tick = Callable[[int, int], None]
"""Called with the number done and the total."""


def nothing(done: int, total: int) -> None:
    """A tick that shows nothing."""


Steps = Callable[[str], AbstractContextManager[Tick]]
"""Shows a step by its name."""


@contextmanager
def unseen(_name: str) -> Iterator[Tick]:
    """Shows nothing."""
    yield nothing
