"""Which tests of a hunt the oracles that take turns look at, with an executor that runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from difftest import HuntOptions, find_solver, hunt
from difftest.campaign.schedule import Schedule
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import Changes, read_campaign
from difftest.campaign.tasks import ConfirmTask, Failure, Result, RunResult, RunTask, Task
from difftest.oracles.base import Candidate
from generator.errors import GenerationError
from generator.strategy import GeneratedTest
from solvers.running.outcomes import Outcome, Verdict
from tests.difftest.hunts import summary_of


class Endless:
    name, fingerprint = "endless", ""

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        for index in range(start, stop):
            yield GeneratedTest(index, "(check-sat)", self.name)


class Instant:
    """Gives results at once: a test takes 0.1 s in solvers, and a turn 0.5 s more."""

    jobs, has_folder = 1, False

    def __init__(self, makes_tests: bool = False, room: int = 1) -> None:
        self.makes_tests, self.room = makes_tests, room
        self.tasks: list[Task] = []
        self.done: list[RunTask] = []

    @property
    def pending(self) -> int:
        return len(self.tasks)

    def submit(self, task: Task) -> None:
        self.tasks.append(task)

    def next_result(self, seconds: float) -> Result | None:
        task = self.tasks.pop()
        assert isinstance(task, RunTask)
        self.done.append(task)
        took = 0.5 if task.turn else 0.0
        verdicts = {"z3": Verdict(Outcome.OK, ("sat",), 0.1)}
        return RunResult(task, verdicts, 0.1 + took, turn_seconds=took)


def run(out: Path, tests: int, executor: Instant | None = None, by_work: bool = False) -> list[RunTask]:
    """What a campaign's run of this many tests hands out."""
    executor = executor or Instant()
    with CampaignState.open(out, {}) as state:
        schedule = Schedule([Endless()], 1, False, tests + _done(state), state.loaded)
        options = HuntOptions(out, in_turn=True, by_work=by_work)
        for _ in hunt(schedule, [find_solver("z3")], options, state=state, executor=executor):
            pass
    return executor.done


def _done(state: CampaignState) -> int:
    return state.loaded.tests


def test_after_a_resume_turns_keep_to_their_share(tmp_path: Path) -> None:
    fresh = sum(bool(task.turn) for task in run(tmp_path / "fresh", 200))
    assert 0 < fresh < 20
    with CampaignState.open(tmp_path / "resumed", {}) as state:
        state.commit(Changes(tests=9_000, solver_seconds=360_000.0), 1.0)
    assert sum(bool(task.turn) for task in run(tmp_path / "resumed", 200)) == fresh


def test_turns_by_work_do_not_depend_on_how_many_tests_run_at_once(tmp_path: Path) -> None:
    turns = [
        {task.name.index: task.turn for task in run(tmp_path / str(room), 200, Instant(room=room), True)}
        for room in (1, 5)
    ]
    assert turns[0] == turns[1]
    drawn = [turn for turn in turns[0].values() if turn]
    assert 10 <= len(drawn) <= 30 and len(set(drawn)) > 5


@pytest.mark.parametrize("fails", [False, True])
def test_tests_that_workers_cannot_make_do_not_count(tmp_path: Path, fails: bool) -> None:
    class Other(Endless):
        name = "other"

    class Short(Instant):
        def next_result(self, seconds: float) -> Result | None:
            task = self.tasks[-1]
            if task.name.strategy == "endless" or task.name.index < 5:
                return super().next_result(seconds)
            self.tasks.pop()
            assert isinstance(task, RunTask)
            if fails:
                return Failure(task, GenerationError("a"), "a", in_making=True)
            return RunResult(task, {}, 0.0, is_missing=True)

    schedule = Schedule([Endless(), Other()], 1, False, 20)
    executor = Short(makes_tests=True, room=12)
    events = hunt(schedule, [find_solver("z3")], HuntOptions(tmp_path), executor=executor)
    assert summary_of(events).tests == 20


def test_proofs_which_are_limited_by_time_have_no_turn_by_work(tmp_path: Path) -> None:
    for by_work in (False, True):
        (task,) = run(tmp_path / str(by_work), 1, Instant(makes_tests=True), by_work)
        assert task.needs is not None and ("proofs" in task.needs.names) is not by_work


class Unconfirming(Instant):
    """Each turn shows something, and the machine fails when the first of them is to be confirmed."""

    def next_result(self, seconds: float) -> Result | None:
        if isinstance(self.tasks[-1], ConfirmTask):
            raise OSError
        result = super().next_result(seconds)
        assert isinstance(result, RunResult)
        if not result.task.turn:
            return result
        found = Candidate("crash", ("z3",), "crash|z3|a", "z3", oracle="crash")
        return replace(result, candidates=(found,), test=result.task.test)


def test_a_candidate_of_an_oracle_in_turn_that_was_not_confirmed_gets_its_turn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("difftest.campaign.hunt._COMMIT_SECONDS", 0.0)
    monkeypatch.setattr("difftest.campaign.hunt._COMMIT_SHARE", 0.0)
    first = Unconfirming()
    with pytest.raises(OSError):
        run(tmp_path, 50, first)
    (task,) = (task for task in first.done if task.turn)
    (again,) = read_campaign(tmp_path).again
    assert (again.index, again.reason) == (task.name.index, f"confirm {task.turn}")
    (confirming,) = (task for task in run(tmp_path, 50) if task.confirms)
    assert (confirming.name, confirming.turn) == (task.name, task.turn)


def test_tests_that_workers_make_bring_what_says_which_turn_they_need(tmp_path: Path) -> None:
    assert all(task.needs is None for task in run(tmp_path / "here", 3))
    test = GeneratedTest(0, "", "", only=("z3",))
    for task in run(tmp_path / "there", 3, Instant(makes_tests=True)):
        assert task.needs is not None and task.needs.choose(test) in task.needs.names
