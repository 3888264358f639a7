"""Threads that run solvers at the same time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, as_completed, wait
from itertools import islice
from typing import Self, TypeVar

from solvers.running.runner import Runner

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class RunnerPool:
    """Performs a task on ``jobs`` items at a time, each with a runner of its own; use under ``with``."""

    def __init__(self, jobs: int, name: str, warm: bool = False) -> None:
        self._jobs = jobs
        self._threads = ThreadPoolExecutor(jobs, name)
        self._runners = [Runner(warm) for _ in range(jobs)]
        self._free = list(self._runners)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._threads.shutdown()
        finally:  # a second Ctrl-C ends the wait: then what still runs is ended, too
            for runner in self._runners:
                runner.__exit__(None, None, None)

    def in_order(
        self, task: Callable[[Runner, _Item], _Result], items: Iterable[_Item], ahead: int = 0
    ) -> Iterator[_Result]:
        """The results for items, which are taken lazily, in the order of the items. At most ``ahead`` (twice
        the jobs, if that is more) are handed out before the first of them ends.
        """
        source = iter(items)
        first = islice(source, max(ahead, 2 * self._jobs))
        running = [self._threads.submit(self._perform, task, item) for item in first]
        try:
            while running:
                yield running.pop(0).result()
                running += [self._threads.submit(self._perform, task, item) for item in islice(source, 1)]
        finally:
            for future in running:
                future.cancel()

    def as_done(
        self, task: Callable[[Runner, _Item], _Result], items: Iterable[_Item]
    ) -> Iterator[Future[_Result]]:
        """The same as futures, in the order in which they end."""
        running: set[Future[_Result]] = set()
        for item in items:
            running.add(self._threads.submit(self._perform, task, item))
            # One is ready for whoever ends first: what is done with results takes time, too.
            if len(running) > self._jobs:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from done
        yield from as_completed(running)

    def _perform(self, task: Callable[[Runner, _Item], _Result], item: _Item) -> _Result:
        runner = self._free.pop()  # there is one for each thread
        try:
            return task(runner, item)
        finally:
            self._free.append(runner)
