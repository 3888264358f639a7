"""The pool of runners: each task has one of its own, and items are taken as they are needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from solvers.running.pool import RunnerPool
from solvers.running.runner import Runner


def test_results_come_in_the_order_of_the_items_or_as_they_end() -> None:
    first_waits = threading.Event()

    def work(runner: Runner, number: int) -> int:
        if number == 0:
            first_waits.wait(20)
        return number

    with RunnerPool(2, "test") as pool:
        done = pool.as_done(work, range(4))
        assert next(done).result() == 1
        first_waits.set()
        assert {future.result() for future in done} == {0, 2, 3}
        assert list(pool.in_order(work, range(7))) == list(range(7))


def test_each_task_has_a_runner_of_its_own_and_an_error_is_raised() -> None:
    together = threading.Barrier(2, timeout=20)

    def work(runner: Runner, number: int) -> Runner:
        together.wait()
        if number > 1:
            raise ValueError(number)
        return runner

    with RunnerPool(2, "test") as pool:
        results = pool.in_order(work, range(4))
        assert next(results) is not next(results)
        with pytest.raises(ValueError, match="2"):
            next(results)


def test_a_second_ctrl_c_ends_all_runners_those_at_work_too(monkeypatch: pytest.MonkeyPatch) -> None:
    closed, ended, started = [], threading.Event(), threading.Event()

    def close(runner: Runner) -> None:
        closed.append(runner)
        if len(closed) == 2:
            ended.set()

    def work(runner: Runner, number: int) -> None:
        started.set()
        ended.wait(20)

    def interrupted(wait: bool = True) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Runner, "close", close)
    pool = RunnerPool(2, "test")
    threading.Thread(target=lambda: list(pool.in_order(work, [0])), daemon=True).start()
    assert started.wait(20)
    monkeypatch.setattr(pool._threads, "shutdown", interrupted)
    with pytest.raises(KeyboardInterrupt), pool:
        pass
    assert len(set(closed)) == 2


def test_items_are_taken_as_they_are_needed() -> None:
    taken = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    with RunnerPool(1, "test") as pool:
        for results in (pool.in_order(lambda _, n: n, items()), pool.as_done(lambda _, n: n, items())):
            next(iter(results))
            assert len(taken) <= 2
            taken.clear()
