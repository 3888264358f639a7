"""Where tasks are run: an executor takes tasks and gives results back in the order in which they come in.

Workers on another machine stand behind the same few methods (``Executor``).
"""

from __future__ import annotations

import contextlib
import queue
import tempfile
import threading
from collections.abc import Mapping, Sequence
from typing import Protocol, Self

from base.errors import described
from base.files import name_full_folder
from difftest.campaign.tasks import Failure, Result, Task
from difftest.campaign.worker import OwnTests, Worker
from solvers.running import orphans as _orphans
from solvers.running.runner import Runner
from solvers.solver import Solver

_LAST_WAIT = 1.0


class Executor(Protocol):
    """What runs tasks. Each task that is submitted gives one result."""

    @property
    def jobs(self) -> int:
        """How many tasks run at once, now."""
        ...

    @property
    def room(self) -> int:
        """How many tasks it takes, with those that run, so that no worker waits; may change."""
        ...

    @property
    def pending(self) -> int:
        """How many tasks have a result that is still to be collected; a result that Ctrl-C lost does not
        count."""
        ...

    @property
    def makes_tests(self) -> bool:
        """Whether workers make the tests themselves, from their names."""
        ...

    @property
    def has_folder(self) -> bool:
        """Whether workers can write in the campaign's folder."""
        ...

    def submit(self, task: Task) -> None:
        """Hand in a task; it is done when a worker is free."""
        ...

    def next_result(self, seconds: float) -> Result | None:
        """The next result, or None if there is none within ``seconds``."""
        ...


class LocalExecutor:
    """Worker threads of this process, each with solver processes of its own; use under ``with``."""

    makes_tests = False
    has_folder = True

    def __init__(
        self,
        solvers: Sequence[Solver],
        jobs: int = 1,
        warm: bool = True,
        own: Mapping[str, OwnTests] | None = None,
        shares: bool = True,
    ) -> None:
        self.jobs = jobs
        # What is asked about an error (older releases, say) may take long and has processes of its own: when
        # all is to stop at once, it is left behind, and ends with this process.
        self._patience = _LAST_WAIT if own else None
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[Result] = queue.SimpleQueue()
        # Tasks that were handed in, and those whose result is in the queue or was collected.
        self._submitted = self._done = 0
        self._count = threading.Lock()
        self._workers = [Worker(solvers, Runner(warm), own or {}, shares=shares) for _ in range(jobs)]
        self._threads = [
            threading.Thread(target=self._work, args=(worker,), name=f"exhume-worker-{number}", daemon=True)
            for number, worker in enumerate(self._workers)
        ]

    @property
    def room(self) -> int:
        """One task more than there are workers, so that none waits for the thread that hands them out."""
        return self.jobs + 1

    @property
    def pending(self) -> int:
        """How many tasks have a result that is still to be collected."""
        with self._count:
            return self._submitted - self._done + self._results.qsize()

    def __enter__(self) -> Self:
        # What a hunt left that was killed with its supervisors.
        _orphans.kill_orphans()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        # This is quick, so Ctrl-C only restarts it: no process of the pool may be left behind.
        try:
            self._end()
        except KeyboardInterrupt:
            self._end()

    def submit(self, task: Task) -> None:
        """Hand in a task; it is done when a worker is free."""
        self._tasks.put(task)
        # Ctrl-C may come in between: a task too few ends a hunt early, one too many would never end it.
        self._submitted += 1

    def next_result(self, seconds: float) -> Result | None:
        """The next result, or None if there is none within ``seconds``."""
        try:
            return self._results.get(timeout=seconds)
        except queue.Empty:
            return None

    def _end(self) -> None:
        """Drop what is not done, end what runs, and wait for the workers."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._tasks.get_nowait()
        for _ in self._threads:
            self._tasks.put(None)
        for worker in self._workers:
            worker.close()
        for thread in self._threads:
            thread.join(self._patience)

    def _work(self, worker: Worker) -> None:
        with worker.runner:
            while (task := self._tasks.get()) is not None:
                result: Result
                try:
                    result = worker.perform(task)
                except Exception as error:  # noqa: BLE001 (handed over to the thread that waits for results)
                    if isinstance(error, OSError):
                        name_full_folder(error, tempfile.gettempdir())  # workers write nowhere else
                    result = Failure(task, error, described(error))
                with self._count:
                    self._results.put(result)
                    self._done += 1
