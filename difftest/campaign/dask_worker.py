"""What runs in the workers of a dask cluster: a hunt's solvers and strategies, and its batches."""

from __future__ import annotations

import contextlib
import pickle
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from distributed import Worker, WorkerPlugin, get_worker
from msgspec.structs import replace

from base.errors import ExhumeError, described
from difftest.campaign.schedule import make_test
from difftest.campaign.tasks import Done, Failure, RunTask, Task, TestName
from difftest.campaign.worker import OwnTests
from difftest.campaign.worker import Worker as TaskWorker
from generator.strategy import GeneratedTest, Strategy
from solvers.errors import EnvironmentProblem
from solvers.lookup import find_solver
from solvers.running.runner import Runner
from solvers.solver import Solver


@dataclass(frozen=True, slots=True)
class Unfit:
    """A worker that cannot run the tasks it got."""

    worker: str
    why: str


@dataclass(frozen=True, slots=True)
class Place:
    """What a worker needs for the tasks of one hunt; ``strategies`` is pickled, empty if they stay behind."""

    name: str
    specs: tuple[str, ...]
    versions: Mapping[str, str]
    strategies: bytes


def pack(name: str, solvers: Sequence[Solver], strategies: Sequence[Strategy]) -> tuple[Place, bool]:
    """What workers need for a hunt, and whether the strategies travel, so that workers make the tests."""
    packed = b""
    if strategies:
        with contextlib.suppress(Exception):  # whatever keeps them here: then the tests travel
            packed = pickle.dumps({strategy.name: strategy for strategy in strategies})
    versions = {solver.name: solver.version() for solver in solvers}
    return Place(name, tuple(s.spec for s in solvers), versions, packed), bool(packed)


class Plugin(WorkerPlugin):  # type: ignore[misc]
    """Brings the place to every worker, also to those that join later."""

    def __init__(self, name: str, place: Place) -> None:
        self.name = name
        self._packed = pickle.dumps(place)

    def setup(self, worker: Worker) -> None:
        """Keep it; it is unpacked by the first task."""
        _PACKED[self.name] = self._packed

    def teardown(self, worker: Worker) -> None:
        """Let it go, with its solver processes."""
        _PACKED.pop(self.name, None)
        workshop = _WORKSHOPS.pop(self.name, None)
        if workshop is not None:
            workshop.close()


class _Workshop:
    """A worker process's solvers and runners for one hunt: a runner per thread."""

    def __init__(self, place: Place) -> None:
        self.solvers = tuple(map(find_solver, place.specs))
        for solver in self.solvers:
            if solver.version() != place.versions[solver.name]:
                raise EnvironmentProblem(
                    f"{solver.name} is {solver.version()!r} there, not {place.versions[solver.name]!r}"
                )
        self._strategies: dict[str, Strategy] = pickle.loads(place.strategies) if place.strategies else {}
        self._making = threading.Lock()
        self._local = threading.local()
        self._workers: list[TaskWorker] = []

    def worker(self) -> TaskWorker:
        """The worker of this thread."""
        found = getattr(self._local, "worker", None)
        if found is None:
            own = {name: made for name, made in self._strategies.items() if isinstance(made, OwnTests)}
            found = self._local.worker = TaskWorker(self.solvers, Runner(), own, self.make)
            self._workers.append(found)
        return found

    def make(self, name: TestName) -> GeneratedTest | None:
        """The test of this name. One at a time: strategies keep what they are about to find out, and two at
        once would make another test than the name means.
        """
        with self._making:
            return make_test(self._strategies, name)

    def close(self) -> None:
        """End all solver processes."""
        for worker in self._workers:
            worker.close()
            worker.runner.__exit__(None, None, None)


_PACKED: dict[str, bytes] = {}
_WORKSHOPS: dict[str, _Workshop] = {}
_OPENING = threading.Lock()


def work(name: str, tasks: Sequence[Task]) -> list[Any] | Unfit:
    """Do a batch, in a worker."""
    try:
        workshop = _workshop(name)
    except ExhumeError as problem:
        return Unfit(get_worker().address, str(problem))
    worker = workshop.worker()
    results: list[Any] = []
    for task in tasks:
        try:
            result: Done | Failure = worker.perform(task)
        except OSError as problem:
            return Unfit(get_worker().address, str(problem))
        except Exception as error:  # noqa: BLE001 (handed over to the driver)
            result = Failure(task, error, described(error))
        if isinstance(result.task, RunTask):
            result = replace(result, task=replace(result.task, test=None, verdicts={}, needs=None))
        results.append(result)
    return results


def _workshop(name: str) -> _Workshop:
    with _OPENING:
        found = _WORKSHOPS.get(name)
        if found is None:
            packed = _PACKED.get(name)
            if packed is None:
                raise EnvironmentProblem("it has no data of this hunt")
            found = _WORKSHOPS[name] = _Workshop(pickle.loads(packed))
        return found
