"""How long work says what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Tick = Callable[[int, int], None]
"""Gets what is done and the total."""


def nothing(done: int, total: int) -> None:
    """Ticks of what nobody watches."""


Steps = Callable[[str], AbstractContextManager[Tick]]
"""Shows a step by its name."""


@contextmanager
def unseen(_name: str) -> Iterator[Tick]:
    """Shows nothing."""
    yield nothing
