"""Stages: which tests get more time, by lot and because an oracle may see something then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from difftest import DEFAULT_STAGES, HuntOptions, Limits, Outcome, Solver, Stage, Verdict, hunt
from difftest.campaign.stages import Stages
from difftest.campaign.tasks import RunResult, RunTask, TestName
from difftest.oracles import slowdown
from generator.strategy import GeneratedTest
from tests.difftest.hunts import NEW, OLD, OTHER, release, summary_of

Fake = Callable[..., Solver]
TEXT = "(set-logic QF_LIA)(declare-const x Int)(assert (> x 1))(check-sat)"
LATE, QUICK = Verdict(Outcome.TIMEOUT, (None,), 0.1), Verdict(Outcome.OK, ("sat",), 0.03)
UNKNOWN = Verdict(Outcome.UNKNOWN, ("unknown",), 0.03)
# No lot is drawn.
NEVER = tuple(replace(stage, share=0.0) for stage in DEFAULT_STAGES)


def result(stage: int, **verdicts: Verdict) -> RunResult:
    """Of the solvers new, old and other."""
    names = {"new": NEW.name, "old": OLD.name, "other": OTHER.name}
    task = RunTask(TestName("s", "", 8), stage, Limits(), GeneratedTest(8, TEXT, "s"))
    return RunResult(task, {names[name]: verdict for name, verdict in verdicts.items()}, 0.0)


@pytest.mark.parametrize(
    ("new", "old", "oracles", "more"),
    [
        (LATE, QUICK, ("slowdown",), True),
        (LATE, QUICK, ("incompleteness",), True),
        (LATE, QUICK, (), True),
        (LATE, QUICK, ("-slowdown", "-incompleteness"), False),
        (LATE, QUICK, ("soundness",), False),
        (LATE, structs.replace(QUICK, seconds=0.6), ("slowdown",), False),
        (QUICK, LATE, (), False),
        (LATE, LATE, (), False),
        (LATE, UNKNOWN, (), False),
        (UNKNOWN, LATE, ("incompleteness",), True),
        (UNKNOWN, LATE, ("slowdown",), False),
        (UNKNOWN, QUICK, (), False),
    ],
)
def test_a_test_continues_where_an_oracle_may_see_something_then(
    new: Verdict, old: Verdict, oracles: tuple[str, ...], more: bool
) -> None:
    """Whatever a third solver says."""
    refused = Verdict(Outcome.REFUSED, (None,), 0.0)
    made = Stages(NEVER, 1, [NEW, OTHER, OLD], oracles)
    later = made.later(result(0, new=new, other=refused, old=old), 0.0)
    assert (later is not None) is more
    if later is not None:
        assert (later.stage, later.limits.seconds) == (1, 1.0)
        again = structs.replace(result(1, new=new, other=refused, old=old), task=later)
        assert made.later(again, 0.0) is not None
        assert made.later(result(2, new=new, other=refused, old=old), 0.0) is None


def test_a_solver_whose_runs_are_too_short_for_a_slowdown_gets_no_more() -> None:
    made = Stages((Stage(0.1, 1.0), Stage(4.9, 0.0)), 1, [NEW, OLD], ("slowdown",))
    assert made.later(result(0, new=LATE, old=QUICK), 0.0) is None


def test_what_shows_at_once_is_confirmed_with_less_time_than_what_takes_longer() -> None:
    stages = Stages(DEFAULT_STAGES, 1, [NEW, OLD])
    given = [stages.confirming(stage).seconds for stage in range(len(DEFAULT_STAGES))]
    assert given == [5.0, 20.0, 20.0]
    long = Stages((Stage(30.0, 1.0),), 1, [NEW, OLD])
    assert long.confirming(0).seconds == 60.0


def test_a_release_that_is_slow_everywhere_does_not_take_all_the_time() -> None:
    made = Stages(NEVER, 1, [NEW, OLD])
    slow = result(1, new=LATE, old=QUICK)
    assert sum(made.later(slow, 0.0) is not None for _ in range(100)) == 6
    assert sum(made.later(slow, 1000.0) is not None for _ in range(100)) == 20


def shown_in_a_hunt(tmp_path: Path, *solvers: Solver, seconds: tuple[float, ...]) -> list[tuple[str, str]]:
    """Class and solver of what a hunt on a test without luck finds, with the default shares."""
    stages = tuple(replace(stage, seconds=s) for stage, s in zip(DEFAULT_STAGES, seconds, strict=True))
    options = HuntOptions(tmp_path / "out", stages=stages, seed=1, reduction=0.0)
    unlucky = Stages(stages, 1, [OTHER])
    assert unlucky.later(result(0, other=LATE), 0.0) is None
    found = summary_of(hunt([GeneratedTest(8, TEXT, "s")], solvers, options)).findings
    return [(str(record.finding_class), record.solver) for record in found]


@pytest.mark.thorough
def test_a_hunt_finds_a_slowdown(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With seconds that a test can wait for."""
    monkeypatch.setattr(slowdown, "SECONDS", 1.2)
    monkeypatch.setattr(slowdown, "FACTOR", 1.2)
    monkeypatch.setattr("difftest.campaign.stages._CONFIRM_SECONDS", 1.5)
    new = release(fake("time.sleep(1.4); say('sat')", "new"), "5.4.0")
    old = release(fake("say('sat')", "old"), "4.8.5")
    found = shown_in_a_hunt(tmp_path, new, old, seconds=(1.0, 1.1, 1.2))
    assert found == [("slowdown", "z3-5.4.0")]


@pytest.mark.thorough
def test_a_hunt_finds_what_an_older_release_takes_a_while_to_decide(fake: Fake, tmp_path: Path) -> None:
    new = release(fake("say('unknown')", "new"), "5.4.0")
    old = release(fake("time.sleep(1); say('sat')", "old"), "4.8.5")
    found = shown_in_a_hunt(tmp_path, new, old, seconds=(0.8, 20.0, 20.0))
    assert found == [("incompleteness", "z3-5.4.0")]
