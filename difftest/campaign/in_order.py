"""An executor whose results come in the order in which tasks were handed in, whichever ends first.

What a hunt does next then depends on its tests alone, not on the speed of solvers, for any number of jobs.
"""

from __future__ import annotations

from collections import deque

from difftest.campaign.events import WorkerNotice
from difftest.campaign.executor import Executor
from difftest.campaign.tasks import Result, Task


class InOrder:
    """The ``inner`` executor, one result after the other; it stays open."""

    def __init__(self, inner: Executor) -> None:
        self._inner = inner
        self.makes_tests, self.has_folder = inner.makes_tests, inner.has_folder
        self._tasks: deque[int] = deque()
        self._early: dict[int, Result] = {}

    @property
    def jobs(self) -> int:
        """How many tasks run at once, now."""
        return self._inner.jobs

    @property
    def room(self) -> int:
        """How many tasks it takes, with those that run."""
        return self._inner.room

    @property
    def pending(self) -> int:
        """As many as were not given yet."""
        if self._inner.pending <= 0:
            # Results that are not here now were lost to Ctrl-C: those behind them are next.
            self._tasks = deque(task for task in self._tasks if task in self._early)
        return len(self._tasks)

    def submit(self, task: Task) -> None:
        """Hand in a task. A result names the very object, so that its identity is enough."""
        self._tasks.append(id(task))
        self._inner.submit(task)

    def next_result(self, seconds: float) -> Result | None:
        """The result of the oldest task, or None if there is none within ``seconds``."""
        if not self._tasks or self._tasks[0] not in self._early:
            result = self._inner.next_result(seconds)
            if result is None or isinstance(result, WorkerNotice):
                return result
            self._early[id(result.task)] = result
        return self._early.pop(self._tasks.popleft()) if self._tasks[0] in self._early else None
