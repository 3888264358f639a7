"""What the executor sends to whom, with a client that stands in for a cluster: no worker runs anything."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

pytest.importorskip("distributed", reason="the extra dask is not installed")

from difftest import Event, HuntOptions, Limits, Solver, hunt
from difftest.campaign import dask_executor
from difftest.campaign.dask_executor import DaskExecutor
from difftest.campaign.dask_worker import Unfit, _Workshop, pack
from difftest.campaign.events import TestDone, WorkerNotice
from difftest.campaign.schedule import Schedule
from difftest.campaign.tasks import Failure, Result, RunResult, RunTask, Task, TestName
from difftest.campaign.turns import Needs
from difftest.campaign.worker import perform
from generator.strategy import GeneratedTest, Strategy
from solvers.errors import EnvironmentProblem
from solvers.running.runner import Runner


class Sending:
    """A future, and what was sent for it; ``end`` is what the worker's answer does."""

    def __init__(self, tasks: tuple[RunTask, ...], workers: tuple[str, ...] | None) -> None:
        self.tasks = tasks
        self.workers = workers
        self.cancelled = False
        self._reported: list[Callable[[Sending], None]] = []
        self._answer: Any = None

    def add_done_callback(self, reported: Callable[[Sending], None]) -> None:
        self._reported.append(reported)

    def end(self, answer: Any) -> None:
        self._answer = answer
        for reported in self._reported:
            reported(self)

    def work(self) -> None:
        self.end([RunResult(task, {}, 0.1) for task in self.tasks])

    def result(self) -> Any:
        if isinstance(self._answer, BaseException):
            raise self._answer
        return self._answer

    def cancel(self) -> None:
        self.cancelled = True


class Cluster:
    """A client of a cluster whose ``workers`` the test makes come and go."""

    status = "running"

    def __init__(self) -> None:
        self.workers = ["good", "bad"]
        self.sent: list[Sending] = []

    def nthreads(self) -> dict[str, int]:
        return dict.fromkeys(self.workers, 1)

    def submit(self, _: object, __: str, tasks: tuple[RunTask, ...], **options: Any) -> Sending:
        self.sent.append(Sending(tasks, options["workers"]))
        return self.sent[-1]

    def register_plugin(self, *_: object, **__: object) -> None:
        pass


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()
    monkeypatch.setattr(dask_executor, "_connect", lambda _: made)
    monkeypatch.setattr(dask_executor, "_WORKERS_SECONDS", 0.0)
    return made


def task(index: int) -> RunTask:
    return RunTask(TestName("s", "", index), 0, Limits(), GeneratedTest(index, "(check-sat)", "s"))


def indices(executor: DaskExecutor) -> list[int]:
    """The tests whose results are there."""
    found = []
    while result := executor.next_result(0.0):
        if isinstance(result, RunResult):
            found.append(result.task.name.index)
        else:
            assert isinstance(result, WorkerNotice)
    return found


def handed_back(cluster: Cluster) -> DaskExecutor:
    """An executor one batch of which the worker ``bad`` has handed back."""
    executor = DaskExecutor("nowhere", [])
    executor.submit(task(1))
    assert indices(executor) == []
    cluster.sent[0].end(Unfit("bad", "no program 'z3'"))
    assert indices(executor) == []
    assert [sending.workers for sending in cluster.sent] == [None, ("good",)]
    return executor


def test_a_test_for_each_that_is_done_makes_whole_batches(cluster: Cluster) -> None:
    executor = DaskExecutor("nowhere", [])
    numbers = iter(range(999))
    while executor.room > next(numbers):
        executor.submit(task(0))
    size = len(cluster.sent[0].tasks)
    assert size > 1
    for _ in range(10):
        cluster.sent[-1].work()
        while executor.next_result(0.0):
            executor.submit(task(0))
    assert {len(sending.tasks) for sending in cluster.sent[4:]} == {size}


def test_a_worker_that_makes_the_test_gives_it_the_turn_that_it_needs(cluster: Cluster) -> None:
    executor = DaskExecutor("nowhere", [])
    sent = RunTask(TestName("s", "", 1), 0, Limits(), turn="cube", needs=Needs(("optimum",), {}))
    executor.submit(sent)
    assert indices(executor) == []
    made = GeneratedTest(1, "(check-sat)", "s", judged_by="optimum")
    done = perform(cluster.sent[0].tasks[0], [], Runner(), lambda _: made)
    assert isinstance(done, RunResult)
    cluster.sent[0].end([replace(done, task=replace(done.task, needs=None))])
    result = executor.next_result(0.0)
    assert isinstance(result, RunResult)
    assert (result.task.turn, result.task.has_needed_turn) == ("optimum", True)


class Careful:
    """A strategy that can make one test at a time."""

    name, fingerprint = "careful", ""
    at_work = 0

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        self.at_work += 1
        time.sleep(0.05)
        text = f"; {self.at_work} at work"
        self.at_work -= 1
        yield GeneratedTest(start, text, self.name)


def test_the_threads_of_a_worker_make_one_test_at_a_time() -> None:
    place, _ = pack("hunt", [], [Careful()])
    workshop = _Workshop(place)
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(workshop.make, [TestName("careful", "", index) for index in range(8)]))
    assert {test.text for test in made if test is not None} == {"; 1 at work"}


def test_a_failure_names_the_task_that_it_is_of(cluster: Cluster) -> None:
    executor = DaskExecutor("nowhere", [])
    executor.submit(task(7))
    assert indices(executor) == []
    sent = cluster.sent[0]
    sent.end([Failure(replace(sent.tasks[0], test=None), IndexError("a bug"), "")])
    failure = executor.next_result(0.0)
    assert isinstance(failure, Failure) and failure.task == sent.tasks[0]
    assert executor.pending == 0


class Failing(Careful):
    """A strategy that ends with an error."""

    def __init__(self, name: str, error: Exception) -> None:
        self.name, self._error = name, error

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        if start > 1:
            raise self._error
        yield GeneratedTest(start, "(check-sat)", self.name)


class Making:
    """An executor like a worker that makes its tests."""

    jobs, room, makes_tests, has_folder = 1, 3, True, False

    def __init__(self, solvers: list[Solver], strategies: list[Strategy]) -> None:
        self._results: list[Result] = []
        self._solvers = solvers
        self._workshop = _Workshop(pack("hunt", [], strategies)[0])
        self._runner = Runner(warm=False)

    @property
    def pending(self) -> int:
        return len(self._results)

    def submit(self, task: Task) -> None:
        assert isinstance(task, RunTask)
        self._results.append(perform(task, self._solvers, self._runner, self._workshop.make))

    def next_result(self, seconds: float) -> Result | None:
        return self._results.pop(0)


@pytest.mark.parametrize("bandit", [False, True])
def test_a_strategy_that_fails_in_workers_leaves_the_hunt_to_the_others(
    bandit: bool, fake: Callable[..., Solver], tmp_path: Path
) -> None:
    solvers = [fake("print('sat')")]
    strategies: list[Strategy] = [Failing("x", IndexError("a bug")), Careful()]

    def events(strategies: list[Strategy]) -> list[Event]:
        schedule = Schedule(strategies, 1, bandit, 12)
        return list(hunt(schedule, solvers, HuntOptions(tmp_path), executor=Making(solvers, strategies)))

    found = events(strategies)
    (note,) = [event.text for event in found if isinstance(event, WorkerNotice)]
    assert note.startswith("strategy x has no more tests: ") and "IndexError: a bug" in note
    done = Counter(event.strategy for event in found if isinstance(event, TestDone))
    assert done["x"] == 2 and done["careful"] > 5
    with pytest.raises(IndexError, match="a bug"):
        events(strategies[:1])
    with pytest.raises(OSError, match="no room"):
        events([Failing("x", OSError("no room")), Careful()])


def test_nobody_waits_for_what_ctrl_c_loses(cluster: Cluster) -> None:
    executor = DaskExecutor("nowhere", [])
    for number in range(2):
        executor.submit(task(number))
        assert indices(executor) == []
    assert executor.pending == 2
    cluster.sent[0].end(KeyboardInterrupt())
    cluster.sent[1].work()
    with pytest.raises(KeyboardInterrupt):
        executor.next_result(0.0)
    assert executor.pending == 1
    assert indices(executor) == [1]
    assert executor.pending == 0


def test_the_driver_waits_while_only_unfit_workers_are_there(cluster: Cluster) -> None:
    executor = handed_back(cluster)
    cluster.workers = ["bad"]
    assert indices(executor) == []
    executor.submit(task(2))
    assert indices(executor) == []
    assert len(cluster.sent) == 2
    cluster.workers = ["bad", "again"]
    assert indices(executor) == []
    # What only the worker that went away was to do goes to the new one, and so does what came meanwhile.
    assert cluster.sent[1].cancelled
    assert [sending.workers for sending in cluster.sent[2:]] == [("again",), ("again",)]
    cluster.sent[1].end(RuntimeError("cancelled"))
    for sending in cluster.sent[2:]:
        sending.work()
    assert indices(executor) == [1, 2]
    assert len(cluster.sent) == 4


def test_the_hunt_ends_when_only_unfit_workers_are_there_for_long(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = handed_back(cluster)
    cluster.workers = ["bad"]
    assert indices(executor) == []
    monkeypatch.setattr(dask_executor, "_AWAY_SECONDS", 0.0)
    with pytest.raises(EnvironmentProblem, match=r"no worker can run the solvers: no program 'z3'"):
        indices(executor)


def test_the_hunt_ends_at_once_when_all_workers_turn_out_unfit(cluster: Cluster) -> None:
    executor = handed_back(cluster)
    cluster.sent[1].end(Unfit("good", "no space left"))
    with pytest.raises(EnvironmentProblem, match="no worker can run the solvers"):
        indices(executor)


def test_a_batch_that_was_handed_back_and_then_lost_is_sent_again(cluster: Cluster) -> None:
    executor = handed_back(cluster)
    cluster.sent[1].end(RuntimeError("its worker was killed"))
    assert indices(executor) == []
    cluster.sent[2].work()
    assert indices(executor) == [1]


def test_what_is_overdue_is_sent_again_while_others_come_back(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_executor, "_OVERDUE_SECONDS", 0.0)
    monkeypatch.setattr(dask_executor, "_OVERDUE_FACTOR", 0.0)
    executor = DaskExecutor("nowhere", [])
    executor.submit(task(1))
    assert indices(executor) == []
    before = len(cluster.sent)
    executor.submit(task(2))
    result = None
    while result is None:
        for sending in cluster.sent[before:]:
            if sending.tasks[0].name.index == 2:
                sending.work()
        result = executor.next_result(1.0)
    assert any(sending.tasks[0].name.index == 1 for sending in cluster.sent[before:])
