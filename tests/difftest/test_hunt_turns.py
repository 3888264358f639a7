"""Which tests of a hunt the oracles that take turns look at, with an executor that runs nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from difftest import HuntOptions, find_solver, hunt
from difftest.campaign.executor import Result, RunResult, RunTask, Task
from difftest.campaign.schedule import Schedule
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import Changes
from generator.strategy import GeneratedTest
from solvers.running.outcomes import Outcome, Verdict


class Endless:
    name, fingerprint = "endless", ""

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        for index in range(start, stop):
            yield GeneratedTest(index, "(check-sat)", self.name)


class Instant:
    """Gives results at once: a test takes 0.1 s in solvers, and a turn 0.5 s more."""

    jobs, room, makes_tests, has_folder = 1, 1, False, False

    def __init__(self) -> None:
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

    def close(self) -> None:
        pass


def run(out: Path, tests: int) -> list[RunTask]:
    """What a campaign's run of so many tests hands out."""
    executor = Instant()
    with CampaignState.open(out, {}) as state:
        schedule = Schedule([Endless()], 1, False, tests + _done(state), state.loaded)
        options = HuntOptions(out, in_turn=True)
        for _ in hunt(schedule, [find_solver("z3")], options, state=state, executor=executor):
            pass
    return executor.done


def _done(state: CampaignState) -> int:
    return sum(bucket.tests for bucket in state.loaded.buckets)


def test_after_a_resume_turns_keep_to_their_share(tmp_path: Path) -> None:
    fresh = sum(bool(task.turn) for task in run(tmp_path / "fresh", 200))
    assert 0 < fresh < 20
    with CampaignState.open(tmp_path / "resumed", {}) as state:
        state.commit(Changes(tests=9_000, solver_seconds=360_000.0), 1.0)
    assert sum(bool(task.turn) for task in run(tmp_path / "resumed", 200)) == fresh
