"""The executor on a dask.distributed cluster: the same tasks and results, on other machines.

Dask's scheduler takes some thousand tasks a second at best, and a test takes some hundredths of a second. So
tests travel in batches that keep a worker busy for ``_BATCH_SECONDS``; with strategies that can be sent over,
only the tests' names travel, and the workers make the tests. Each worker gets what it needs through a plugin,
so one that joins later, or is started again, gets it, too. A driver that was killed leaves its plugin behind,
with solver processes in the workers: the next one of the same campaign takes its place.

A worker that dies: dask gives its batches to another one, and after some deaths calls the batch a killer;
it is then sent again (a batch that outlives ``_MAX_SENDINGS`` sendings stops the hunt). A worker that does
not answer: when a batch is long overdue a copy is sent, and the first answer counts. So each task gives one
result, whatever happens to the workers. A worker without the solvers, with other versions or with a full disk
hands its batches back (it is *unfit*); it gets no more, and that is reported once. While only unfit workers
are there batches stay here; that ends the hunt at once if there never were others, else after
``_AWAY_SECONDS``.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import queue
import socket
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from uuid import uuid4

from msgspec.structs import replace

from difftest.campaign.events import WorkerNotice
from difftest.campaign.tasks import Failure, Result, RunTask, Task
from difftest.errors import DifftestError
from generator.strategy import Strategy
from solvers.errors import EnvironmentProblem
from solvers.solver import Solver

try:
    from distributed import Client, Future

    from difftest.campaign.dask_worker import Plugin, Unfit, pack, work
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
# A batch is overdue after this many times what it may take at most, plus these seconds.
_OVERDUE_FACTOR = 4.0
_OVERDUE_SECONDS = 120.0
# How long the hunt waits with only unfit workers before it ends, if others were there and went away.
_AWAY_SECONDS = 120.0


@dataclass(slots=True)
class _Sent:
    """A batch on its way; more than one future where copies of it were sent.

    ``workers`` are those that it may go to (None: any); where none of them is there it has to be sent again.
    """

    tasks: tuple[Task, ...]
    priority: int
    deadline: float
    workers: tuple[str, ...] | None = None
    futures: list[Future] = field(default_factory=list)
    sendings: int = 0


class DaskExecutor:
    """Runs tasks on the cluster whose scheduler is at ``address``; use under ``with``.

    ``strategies`` let workers make the tests (if they can be pickled). ``campaign`` is the folder of the
    campaign: what an earlier driver of it left in the workers goes. Raises EnvironmentProblem where there is
    no scheduler.
    """

    has_folder = False

    def __init__(
        self,
        address: str,
        solvers: Sequence[Solver],
        strategies: Sequence[Strategy] = (),
        campaign: Path | None = None,
    ) -> None:
        # Dask gives the same result for the same key: keys are those of this driver alone.
        self._keys = f"exhume-{uuid4().hex[:12]}"
        self._name = _name_of(campaign) if campaign else self._keys
        self._place, self.makes_tests = pack(self._name, solvers, strategies)
        self._client = _connect(address)
        self._client.register_plugin(Plugin(self._name, self._place), name=self._name)
        self._waiting: list[Task] = []
        self._sent: dict[int, _Sent] = {}
        self._numbers = 0
        self._done: queue.SimpleQueue[tuple[int, Future]] = queue.SimpleQueue()
        self._results: deque[Result] = deque()
        self._notices_due: deque[WorkerNotice] = deque()
        self._seconds_per_test = _FIRST_GUESS
        self._unfit: dict[str, str] = {}
        self._notices: set[str] = set()
        self._threads: Mapping[str, int] = {}
        self._asked = 0.0
        # Whether a worker went away that was not known to be unfit; since when only unfit ones are there.
        self._lost_one = False
        self._unfit_since: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
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

    @property
    def jobs(self) -> int:
        """The threads of all workers that have the solvers."""
        self._look()
        return sum(self._threads[address] for address in self._fit())

    @property
    def room(self) -> int:
        """Two batches per worker, so that none waits for the driver."""
        return 2 * self.jobs * self._batch_size()

    @property
    def pending(self) -> int:
        """How many tasks have a result that is still to be collected.

        There is no counter, so that what Ctrl-C loses on its way counts nowhere.
        """
        return len(self._waiting) + sum(len(sent.tasks) for sent in self._sent.values()) + len(self._results)

    def submit(self, task: Task) -> None:
        """Hand in a task; tests wait until there are enough for a batch, or until results are collected."""
        if isinstance(task, RunTask) and task.stage == 0:
            self._waiting.append(task)
            if len(self._waiting) >= self._batch_size():
                self._flush()
        else:
            self._send((task,), 10)

    def next_result(self, seconds: float) -> Result | None:
        """The next result, or None if there is none within ``seconds``.

        While there are results, what waits to be sent is left to grow: a driver that hands in a test for each
        that is done would else fill the cluster with batches of one.
        """
        if not self._results and not self._notices_due:
            self._flush()
            self._collect(seconds)
        if self._notices_due:
            return self._notices_due.popleft()
        return self._results.popleft() if self._results else None

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
        self._give(self._numbers, _Sent(tasks, priority, deadline))

    def _fit(self) -> list[str]:
        """The workers that are there and not known to be unfit."""
        return [address for address in self._threads if address not in self._unfit]

    def _give(self, number: int, sent: _Sent) -> None:
        """Send a batch, or send it again; where no worker is fit for it ``_look`` does that later."""
        sent.workers = tuple(self._fit()) if self._unfit else None
        if sent.workers == ():
            self._sent[number] = sent
            return
        sent.sendings += 1
        if sent.sendings > _MAX_SENDINGS:
            raise EnvironmentProblem(
                f"a batch of tests was sent to workers {_MAX_SENDINGS} times without a result"
            )
        future = self._client.submit(
            work,
            self._name,
            sent.tasks,
            key=f"{self._keys}-{number}-{sent.sendings}",
            pure=False,
            priority=sent.priority,
            workers=sent.workers,
            allow_other_workers=False,
        )
        sent.futures.append(future)
        self._sent[number] = sent
        done = self._done
        future.add_done_callback(lambda found: done.put((number, found)))

    def _look(self) -> None:
        """Ask for the workers, now and then, and send again what waits for them or is overdue."""
        now = time.monotonic()
        if now - self._asked < _WORKERS_SECONDS:
            return
        self._asked = now
        try:
            threads = dict(self._client.nthreads())
        except Exception as problem:
            raise EnvironmentProblem(f"the dask scheduler is gone: {problem}") from problem
        if self._threads.keys() - threads.keys() - self._unfit.keys():
            self._lost_one = True
        self._threads = threads
        if self._fit():
            self._unfit_since = None
            self._send_again(now)
            return
        self._notify("the cluster has no worker that can run the tests yet; waiting for one")
        if not threads:
            self._unfit_since = None
            return
        if self._unfit_since is None:
            self._unfit_since = now
        if not self._lost_one or now - self._unfit_since >= _AWAY_SECONDS:
            raise EnvironmentProblem(f"no worker can run the solvers: {next(iter(self._unfit.values()))}")

    def _send_again(self, now: float) -> None:
        """Send what none of the workers there has or may get, and copies of what is overdue."""
        for number, sent in list(self._sent.items()):
            if sent.workers is not None and self._threads.keys().isdisjoint(sent.workers):
                lost, sent.futures = sent.futures, []
                for future in lost:
                    future.cancel()
                self._give(number, sent)
            elif now >= sent.deadline:
                sent.deadline = now + _OVERDUE_SECONDS
                self._give(number, sent)

    def _notify(self, text: str) -> None:
        if text not in self._notices:
            self._notices.add(text)
            self._notices_due.append(WorkerNotice(text))

    def _collect(self, seconds: float) -> None:
        """Wait for a batch; take it and those that came with it."""
        self._look()
        try:
            self._arrive(*self._done.get(timeout=seconds))
        except queue.Empty:
            if self._client.status not in ("running", "connecting"):
                raise EnvironmentProblem("the dask scheduler is gone") from None
            return
        while not self._done.empty():
            self._arrive(*self._done.get())

    def _arrive(self, number: int, future: Future) -> None:
        sent = self._sent.get(number)
        if sent is None or future not in sent.futures:
            return  # a copy of it was faster, or it was given up
        # Not counted while it is taken: nobody waits for what Ctrl-C loses here.
        del self._sent[number]
        try:
            answer = future.result()
        except Exception as problem:  # noqa: BLE001 (workers die in many ways; what it is decides what is done)
            self._fail(number, sent, future, problem)
            return
        if isinstance(answer, Unfit):
            self._unfit[answer.worker] = answer.why
            self._notify(f"worker {answer.worker} gets no tests: {answer.why}")
            sent.futures.remove(future)
            self._give(number, sent)
            self._asked = 0.0
            self._look()
            return
        for other in sent.futures:
            if other is not future:
                other.cancel()
        spent = sum(r.solver_seconds for r in answer if not isinstance(r, Failure))
        if len(answer) == len(sent.tasks) and spent > 0 and isinstance(sent.tasks[0], RunTask):
            self._seconds_per_test += 0.1 * (spent / len(answer) - self._seconds_per_test)
        for task, result in zip(sent.tasks, answer, strict=True):
            self._results.append(replace(result, task=_whole(task, result.task)))

    def _fail(self, number: int, sent: _Sent, future: Future, problem: Exception) -> None:
        """A batch came to nothing: send it again, if it was not its own fault."""
        sent.futures.remove(future)
        if isinstance(problem, ImportError | pickle.UnpicklingError | AttributeError):
            raise EnvironmentProblem(
                f"a worker cannot load exhume ({problem}): install the same version on all of them"
            ) from problem
        if isinstance(problem, DifftestError):
            raise problem
        if sent.futures:
            self._sent[number] = sent  # a copy is still on its way
            return
        self._give(number, sent)


def _whole(task: Task, returned: Task) -> Task:
    """The task that came back is without its test, which is here; a worker may have found its turn."""
    if isinstance(returned, RunTask):
        return replace(task, turn=returned.turn, has_needed_turn=returned.has_needed_turn)
    return task


def _name_of(campaign: Path) -> str:
    """What workers know the campaign in a folder of this machine by."""
    where = f"{socket.gethostname()}\0{campaign.resolve()}"
    return f"exhume-{hashlib.sha256(where.encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"


def _connect(address: str) -> Client:
    try:
        return Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        raise EnvironmentProblem(f"there is no dask scheduler at {address}: {problem}") from problem
