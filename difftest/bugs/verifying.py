"""Runs bugs again: one release on one bug, or all pairs."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from difftest.bugs.pairing import PATIENCE
from difftest.bugs.records import Bug, Seen
from difftest.bugs.shelf import RUN_SECONDS, Shelf, run_text
from difftest.bugs.symptoms import Symptom
from difftest.oracles.slowdown import SECONDS
from difftest.triage.kinds import State
from solvers.running.outcomes import Outcome
from solvers.running.pool import RunnerPool
from solvers.running.runner import Runner
from solvers.solver import Solver


@dataclass(frozen=True, slots=True)
class Checked:
    """Both ends of a bug's pair run again: the states of each run; None where a release cannot be had."""

    bug: Bug
    bad: tuple[State, ...]
    good: tuple[State, ...]
    problem: str = ""

    @property
    def holds(self) -> bool:
        """Whether every run showed what the pair says."""
        return not self.problem and set(self.bad) == {State.AFFECTED} and set(self.good) == {State.FREE}


def run_bug(bug: Bug, solver: Solver, runner: Runner, seconds: float) -> tuple[Seen, State]:
    """What a solver does with a bug's formula, and what that says of the bug."""
    if bug.finding_class == "slowdown":
        seconds = max(seconds, SECONDS + 1)
    seen = run_text(solver, bug.text, solver.release or solver.name, runner, seconds)
    return seen, Symptom.of(bug).state(seen)


def verify(
    bugs: Sequence[Bug],
    shelf: Shelf,
    times: int = 1,
    seconds: float = RUN_SECONDS,
    jobs: int = 1,
    stop: threading.Event | None = None,
) -> Iterator[Checked]:
    """Run both ends of every pair ``times`` times in fresh processes, in the order of the bugs; ends early
    when ``stop`` is set.
    """
    stop = stop or threading.Event()

    def work(runner: Runner, bug: Bug) -> Checked | None:
        return None if stop.is_set() else _check(bug, shelf, times, seconds, runner)

    with RunnerPool(jobs, "exhume-verify") as pool:
        yield from filter(None, pool.in_order(work, bugs, len(bugs)))


def _check(bug: Bug, shelf: Shelf, times: int, seconds: float, runner: Runner) -> Checked:
    states = []
    for release in (bug.last_bad, bug.first_good):
        solver = shelf.solver(bug.spec(release))
        if solver is None:
            return Checked(bug, (), (), shelf.problems[bug.spec(release)])
        states.append(tuple(_state(bug, solver, runner, seconds) for _ in range(times)))
    return Checked(bug, states[0], states[1])


def _state(bug: Bug, solver: Solver, runner: Runner, seconds: float) -> State:
    """What a run says of a bug; one that is out of time has more of it once, as in the build."""
    seen, state = run_bug(bug, solver, runner, seconds)
    if state is State.SKIPPED and seen.outcome == Outcome.TIMEOUT:
        _, state = run_bug(bug, solver, runner, seconds * PATIENCE)
    return state
