"""The executor on a dask.distributed cluster: the same tasks and results, on other machines.

Dask's scheduler takes some thousand tasks a second at best, and a test takes some hundredths of a second. So
tests travel in batches that keep a worker busy for ``_BATCH_SECONDS``; with strategies that can be sent over,
only the tests' names travel, and the workers make the tests. Each worker gets what it needs through a plugin,
so one that joins later, or is started again, gets it, too.

A worker that dies: dask gives its batches to another one, and after some deaths calls the batch a killer;
it is then sent again (a batch that outlives ``_MAX_SENDINGS`` sendings stops the hunt). A worker that does
not answer: when a batch is long overdue a copy is sent, and the first answer counts. So each task gives one
result, whatever happens to the workers. A worker without the solvers, with other versions or with a full disk
hands its batches back; it gets no more, and that is told once.
"""

from __future__ import annotations

import contextlib
import pickle
import queue
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from difftest.campaign.executor import Failure, Notice, Result, RunTask, Task, TestName, perform
from difftest.campaign.schedule import make_test
from difftest.errors import DifftestError, EnvironmentProblem
from difftest.running.runner import Runner
from difftest.solvers import Solver, find_solver
from generator.strategy import GeneratedTest, Strategy

try:
    import distributed
    from distributed import Client, Future, Worker, WorkerPlugin
except ImportError as missing:
    raise EnvironmentProblem(
        "dask.distributed is not installed: install exhume with its extra, exhume[dask]"
    ) from missing

_BATCH_SECONDS = 3.0
_MAX_BATCH = 200
# What a test is thought to take before any was run.
_FIRST_GUESS = 0.5
_MAX_SENDINGS = 20
# How long to wait for the scheduler, and how often to ask it for its workers.
_CONNECT_SECONDS = 20.0
_WORKERS_SECONDS = 2.0
# A batch is overdue after so many times what it may take at most, and these seconds.
_OVERDUE_FACTOR = 4.0
_OVERDUE_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class _Unfit:
    """A worker that cannot run the tasks it got."""

    worker: str
    why: str


@dataclass(slots=True)
class _Sent:
    """A batch on its way; more than one future where it was sent again."""

    tasks: tuple[Task, ...]
    deadline: float
    futures: list[Future] = field(default_factory=list)
    sendings: int = 0


class DaskExecutor:
    """Runs tasks on the cluster whose scheduler is at ``address``; use under ``with``.

    ``strategies`` let workers make the tests (if they can be pickled). Raises EnvironmentProblem where there
    is no scheduler.
    """

    def __init__(self, address: str, solvers: Sequence[Solver], strategies: Sequence[Strategy] = ()) -> None:
        self._name = f"exhume-{uuid4().hex[:12]}"
        self._place, self.makes_tests = _pack(self._name, solvers, strategies)
        self._client = _connect(address)
        self._client.register_plugin(_Plugin(self._name, self._place), name=self._name)
        self._waiting: list[Task] = []
        self._sent: dict[int, _Sent] = {}
        self._numbers = 0
        self._done: queue.SimpleQueue[tuple[int, Future]] = queue.SimpleQueue()
        self._results: deque[Result] = deque()
        self._seconds_per_test = _FIRST_GUESS
        self._unfit: dict[str, str] = {}
        self._told: set[str] = set()
        self._threads: Mapping[str, int] = {}
        self._asked = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def jobs(self) -> int:
        """The threads of all workers that have the solvers."""
        self._look()
        return sum(count for address, count in self._threads.items() if address not in self._unfit)

    @property
    def room(self) -> int:
        """Two batches per worker, so that none waits for the driver."""
        return 2 * self.jobs * self._batch_size()

    def submit(self, task: Task) -> None:
        """Hand in a task; tests wait until there are enough for a batch, or until results are asked for."""
        if isinstance(task, RunTask) and task.stage == 0:
            self._waiting.append(task)
            if len(self._waiting) >= self._batch_size():
                self._flush()
        else:
            self._send((task,), 10)

    def next_result(self, seconds: float) -> Result | None:
        """The next result, or None if there is none within ``seconds``."""
        self._flush()
        if not self._results:
            self._collect(seconds)
        return self._results.popleft() if self._results else None

    def close(self) -> None:
        """Drop what is not done and let the cluster go; solvers still running end with their batch."""
        for sent in self._sent.values():
            for future in sent.futures:
                with contextlib.suppress(Exception):
                    future.cancel()
        self._sent.clear()
        with contextlib.suppress(Exception):
            self._client.unregister_worker_plugin(self._name)
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)

    def _batch_size(self) -> int:
        return max(1, min(_MAX_BATCH, int(_BATCH_SECONDS / self._seconds_per_test)))

    def _flush(self) -> None:
        size = self._batch_size()
        while self._waiting:
            batch, self._waiting = tuple(self._waiting[:size]), self._waiting[size:]
            self._send(batch)

    def _send(self, tasks: tuple[Task, ...], priority: int = 0) -> None:
        self._numbers += 1
        worst = sum(task.limits.seconds for task in tasks) * 2 * len(self._place.specs)
        deadline = time.monotonic() + _OVERDUE_SECONDS + _OVERDUE_FACTOR * worst
        sent = self._sent[self._numbers] = _Sent(tasks, deadline)
        self._give(self._numbers, sent, priority)

    def _give(self, number: int, sent: _Sent, priority: int = 0) -> None:
        """Send a batch, or send it again."""
        sent.sendings += 1
        if sent.sendings > _MAX_SENDINGS:
            raise EnvironmentProblem(
                f"a batch of tests was sent to workers {_MAX_SENDINGS} times and never came back"
            )
        workers = None
        if self._unfit:
            workers = [address for address in self._threads if address not in self._unfit] or None
            if workers is None and self._threads:
                raise EnvironmentProblem(f"no worker can run the solvers: {next(iter(self._unfit.values()))}")
        future = self._client.submit(
            _work,
            self._name,
            sent.tasks,
            key=f"{self._name}-{number}-{sent.sendings}",
            pure=False,
            priority=priority,
            workers=workers,
            allow_other_workers=False,
        )
        sent.futures.append(future)
        done = self._done
        future.add_done_callback(lambda found: done.put((number, found)))

    def _look(self) -> None:
        """Ask for the workers, now and then."""
        now = time.monotonic()
        if now - self._asked < _WORKERS_SECONDS:
            return
        self._asked = now
        try:
            self._threads = dict(self._client.nthreads())
        except Exception as problem:
            raise EnvironmentProblem(f"the dask scheduler is gone: {problem}") from problem
        if not any(address not in self._unfit for address in self._threads):
            self._tell("the cluster has no worker that can run the tests yet; waiting for one")

    def _tell(self, text: str) -> None:
        if text not in self._told:
            self._told.add(text)
            self._results.append(Notice(text))

    def _collect(self, seconds: float) -> None:
        """Wait for a batch; take it and those that came with it."""
        self._look()
        try:
            arrived = [self._done.get(timeout=seconds)]
        except queue.Empty:
            self._chase()
            if self._client.status not in ("running", "connecting"):
                raise EnvironmentProblem("the dask scheduler is gone") from None
            return
        while not self._done.empty():
            arrived.append(self._done.get())
        for number, future in arrived:
            self._arrive(number, future)

    def _arrive(self, number: int, future: Future) -> None:
        sent = self._sent.get(number)
        if sent is None:
            return  # a copy of it was faster
        try:
            answer = future.result()
        except Exception as problem:  # noqa: BLE001 (workers die in many ways; what it is decides what is done)
            self._fail(number, sent, future, problem)
            return
        if isinstance(answer, _Unfit):
            self._unfit[answer.worker] = answer.why
            self._tell(f"worker {answer.worker} gets no tests: {answer.why}")
            self._asked = 0.0
            self._look()
            self._give(number, sent)
            return
        del self._sent[number]
        for other in sent.futures:
            if other is not future:
                other.cancel()
        spent = sum(r.solver_seconds for r in answer if not isinstance(r, Failure))
        if len(answer) == len(sent.tasks) and spent > 0 and isinstance(sent.tasks[0], RunTask):
            self._seconds_per_test += 0.1 * (spent / len(answer) - self._seconds_per_test)
        for task, result in zip(sent.tasks, answer, strict=True):
            # The task that came back is without its test, which is here.
            self._results.append(result if isinstance(result, Failure) else replace(result, task=task))

    def _fail(self, number: int, sent: _Sent, future: Future, problem: Exception) -> None:
        """A batch came to nothing: send it again, if it was not its own fault."""
        if future in sent.futures:
            sent.futures.remove(future)
        if isinstance(problem, ImportError | pickle.UnpicklingError | AttributeError):
            raise EnvironmentProblem(
                f"a worker cannot load exhume ({problem}): install the same version on all of them"
            ) from problem
        if isinstance(problem, DifftestError):
            raise problem
        if sent.futures:
            return  # a copy is still on its way
        self._give(number, sent)

    def _chase(self) -> None:
        """Send copies of what is overdue."""
        now = time.monotonic()
        for number, sent in list(self._sent.items()):
            if now < sent.deadline:
                break  # those after it were sent later
            if self._threads:
                sent.deadline = now + _OVERDUE_SECONDS
                self._give(number, sent)


def _connect(address: str) -> Client:
    try:
        return Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        raise EnvironmentProblem(f"there is no dask scheduler at {address}: {problem}") from problem


@dataclass(frozen=True, slots=True)
class _Place:
    """What a worker needs for the tasks of one hunt; ``strategies`` is pickled, empty if they stay behind."""

    name: str
    specs: tuple[str, ...]
    versions: Mapping[str, str]
    strategies: bytes


def _pack(name: str, solvers: Sequence[Solver], strategies: Sequence[Strategy]) -> tuple[_Place, bool]:
    packed = b""
    if strategies:
        with contextlib.suppress(Exception):  # whatever keeps them here: then the tests travel
            packed = pickle.dumps({strategy.name: strategy for strategy in strategies})
    versions = {solver.name: solver.version() for solver in solvers}
    return _Place(name, tuple(s.spec for s in solvers), versions, packed), bool(packed)


class _Plugin(WorkerPlugin):  # type: ignore[misc]
    """Brings the place to every worker, also to those that join later."""

    def __init__(self, name: str, place: _Place) -> None:
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

    def __init__(self, place: _Place) -> None:
        self.solvers = tuple(map(find_solver, place.specs))
        for solver in self.solvers:
            if solver.version() != place.versions[solver.name]:
                raise EnvironmentProblem(
                    f"{solver.name} is {solver.version()!r} there, not {place.versions[solver.name]!r}"
                )
        self._strategies: dict[str, Strategy] = pickle.loads(place.strategies) if place.strategies else {}
        self._local = threading.local()
        self._runners: list[Runner] = []

    def runner(self) -> Runner:
        """This thread's."""
        found = getattr(self._local, "runner", None)
        if found is None:
            found = self._local.runner = Runner()
            self._runners.append(found)
        return found

    def make(self, name: TestName) -> GeneratedTest | None:
        """The test of this name."""
        return make_test(self._strategies, name)

    def close(self) -> None:
        """End all solver processes."""
        for runner in self._runners:
            runner.__exit__(None, None, None)


_PACKED: dict[str, bytes] = {}
_WORKSHOPS: dict[str, _Workshop] = {}
_OPENING = threading.Lock()


def _work(name: str, tasks: Sequence[Task]) -> list[Any] | _Unfit:
    """Do a batch, in a worker."""
    try:
        workshop = _workshop(name)
    except DifftestError as problem:
        return _Unfit(distributed.get_worker().address, str(problem))
    runner = workshop.runner()
    results: list[Any] = []
    for task in tasks:
        try:
            result = perform(task, workshop.solvers, runner, workshop.make)
        except OSError as problem:
            return _Unfit(distributed.get_worker().address, str(problem))
        except Exception as error:  # noqa: BLE001 (handed over to the driver)
            results.append(Failure(error))
            continue
        if isinstance(result.task, RunTask):
            result = replace(result, task=replace(result.task, test=None, verdicts={}))
        results.append(result)
    return results


def _workshop(name: str) -> _Workshop:
    with _OPENING:
        found = _WORKSHOPS.get(name)
        if found is None:
            packed = _PACKED.get(name)
            if packed is None:
                raise EnvironmentProblem("it was not told of this hunt")
            found = _WORKSHOPS[name] = _Workshop(pickle.loads(packed))
        return found
