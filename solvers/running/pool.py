"""Threads that run solvers at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from queue import SimpleQueue
from typing import Concatenate, ParamSpec, Self, TypeVar

from solvers.running.runner import Runner

_P = ParamSpec("_P")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class RunnerPool:
    """Performs ``jobs`` tasks at a time, each with a runner that no other task has meanwhile; use under
    ``with``.
    """

    def __init__(self, jobs: int, name: str, warm: bool = False) -> None:
        self._jobs = jobs
        self._threads = ThreadPoolExecutor(jobs, name)
        self._runners = [Runner(warm) for _ in range(jobs)]
        self._free: SimpleQueue[Runner] = SimpleQueue()
        for runner in self._runners:
            self._free.put(runner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown()
        for runner in self._runners:
            runner.__exit__(None, None, None)

    def submit(
        self, task: Callable[Concatenate[Runner, _P], _Result], *args: _P.args, **named: _P.kwargs
    ) -> Future[_Result]:
        """Perform a task when a thread is free."""

        def perform() -> _Result:
            runner = self._free.get()
            try:
                return task(runner, *args, **named)
            finally:
                self._free.put(runner)

        return self._threads.submit(perform)

    def in_order(self, task: Callable[[Runner, _Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
        """Perform a task on each item, lazily, and yield the results in the order of the items."""
        source = iter(items)
        running = [self.submit(task, item) for item in islice(source, 2 * self._jobs)]
        try:
            while running:
                yield running.pop(0).result()
                running += [self.submit(task, item) for item in islice(source, 1)]
        finally:
            for future in running:
                future.cancel()
