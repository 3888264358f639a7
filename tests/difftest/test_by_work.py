"""Hunts whose budgets are work instead of time: the same findings, whatever ends first."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from difftest import EnvironmentProblem, Limits, ReleaseNotFound, UnknownSolver, find_solver
from difftest.campaign.executor import LocalExecutor
from difftest.campaign.in_order import InOrder
from difftest.campaign.tasks import Failure, Result, RunResult, RunTask, Task, TestName
from difftest.oracles.base import Candidate
from difftest.triage.keying import key_of
from generator.strategy import GeneratedTest
from solvers.specs import with_resource_limit
from tests.conftest import HUNT
from tests.releases import no_release
from tests.sizes import size
from tests.solvers.test_screener import Counted
from tests.stored import Command

TESTS = size(3, 5)
TEXT = "(declare-const x Int)\n(declare-const y Int)\n(assert (> (div x 3) (mod y 5)))\n(check-sat)\n"


class Shuffled:
    """An executor that ends its tasks in any order."""

    jobs, room, makes_tests, has_folder = 2, 9, False, True

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.fails = -1

    @property
    def pending(self) -> int:
        return len(self.tasks)

    def submit(self, task: Task) -> None:
        self.tasks.append(task)

    def next_result(self, seconds: float) -> Result | None:
        if not self.tasks:
            return None
        task = self.tasks.pop(random.Random(len(self.tasks)).randrange(len(self.tasks)))
        assert isinstance(task, RunTask)
        if task.name.index == self.fails:
            return Failure(task, OSError(), "")
        return RunResult(task, {}, 0.0)


def test_results_come_in_the_order_of_their_tasks() -> None:
    inner = Shuffled()
    executor = InOrder(inner)
    assert (executor.jobs, executor.room, executor.makes_tests, executor.has_folder) == (2, 9, False, True)
    for index in range(9):
        executor.submit(RunTask(TestName("s", "", index), 0, Limits()))
    came: list[int] = []
    inner.fails = 4
    while len(came) < 9:
        result = executor.next_result(0.1)
        if result is not None:
            assert isinstance(result, Failure if len(came) == 4 else RunResult)
            came.append(result.task.name.index)
    assert came == list(range(9))
    assert executor.next_result(0.1) is None


def test_a_result_that_is_lost_holds_up_no_other() -> None:
    inner = Shuffled()
    executor = InOrder(inner)
    for index in range(5):
        executor.submit(RunTask(TestName("s", "", index), 0, Limits()))
    del inner.tasks[1]
    came = []
    while executor.pending:
        result = executor.next_result(0.1)
        assert result is None or isinstance(result, RunResult)
        came += [result.task.name.index] if result is not None else []
    assert came == [0, 2, 3, 4]


@pytest.mark.parametrize(("shares", "starts"), [(False, 3), (True, 1)])
def test_what_a_test_shows_does_not_depend_on_those_before(shares: bool, starts: int, tmp_path: Path) -> None:
    counted = Counted(tmp_path)
    with LocalExecutor([counted.solver], shares=shares) as executor:
        for index in range(3):
            test = GeneratedTest(index, TEXT, "s")
            executor.submit(RunTask(TestName("s", "", index), 0, Limits(), test))
        came = [executor.next_result(20) for _ in range(3)]
    assert [type(result) for result in came] == [RunResult] * 3
    assert counted.starts == starts


def test_a_quick_reduction_ends_after_a_number_of_checks() -> None:
    made = 0

    def check(trial: str) -> bool:
        nonlocal made
        made += 1
        return "div" in trial

    candidate = Candidate("crash", ("a",), "crash|a|signal SIGSEGV|Ints", "a", oracle="crash")
    cut = key_of(candidate, TEXT, check, float("inf"), 3)
    assert (made, cut.complete) == (3, False)
    whole = key_of(candidate, TEXT, check, float("inf"), 1000)
    assert whole.complete and whole.key == "crash|a|signal SIGSEGV|Ints|div"


def test_specs_with_a_limit() -> None:
    assert with_resource_limit("z3", 7) == "z3[rlimit=7]"
    assert with_resource_limit("cvc5==1.3.0[fp-exp]", 7) == "cvc5==1.3.0[fp-exp,rlimit-per=7]"
    limited = find_solver("z3[rlimit=7]")
    assert limited.answers_are_trusted and not limited.unknown_is_telling
    with pytest.raises(UnknownSolver, match="no option that limits work"):
        with_resource_limit("bitwuzla", 7)


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_findings(exhume: Command, starter: Path, tmp_path: Path) -> None:
    try:
        find_solver("z3==4.8.5")
    except (EnvironmentProblem, ReleaseNotFound) as problem:
        no_release(problem)

    corpus = shutil.copy(starter, tmp_path / "corpus.duckdb")  # findings are stored in it

    def findings(name: str, jobs: int) -> Any:
        command = (*HUNT, "--solver", "z3==4.8.5", "--solver", "cvc5", "--corpus", corpus, "--tests", TESTS)
        more = ("--rlimit", 5_000, "--modes", "default", "--jobs", jobs, "--out", tmp_path / name, "--json")
        document = exhume(*command, *more).json
        assert document["tests"] == TESTS
        return [found["id"] for found in document["findings"]], document["outcomes"]

    first = findings("1", 1)
    assert first[0]
    assert [findings("2", 1), findings("3", 2)] == [first, first]


def test_what_depends_on_time_does_not_go_with_it(exhume: Command, tmp_path: Path) -> None:
    ended = exhume(*HUNT, "--solver", "z3", "--rlimit", 9, "--bandit", "--out", tmp_path)
    assert ended.code == 2
    assert "--rlimit cannot be used with --bandit" in ended.err
