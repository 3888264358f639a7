"""Which test comes next: turns, shares of the time, and resuming after a kill."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from difftest.campaign.bandit import Bandit, Payments
from difftest.campaign.schedule import ListedTests, Schedule, handed_out
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import ArmState, Changes, read_campaign
from difftest.campaign.tasks import TestName
from difftest.triage.classes import class_of
from generator.errors import GenerationError
from generator.strategy import GeneratedTest


class Counting:
    """Tests that say their number; ``stop`` is how many there are."""

    fingerprint = "none"

    def __init__(self, name: str, stop: int = 1 << 30) -> None:
        self.name = name
        self.stop = stop

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        for index in range(start, min(stop, self.stop)):
            yield GeneratedTest(index, f"; {index}", self.name)


class Classed(Counting):
    """Test n is of class a, b, b, a, b, b ..."""

    classes = ("a", "b")

    def class_of(self, index: int) -> str:
        return "a" if index % 3 == 0 else "b"


def names(schedule: Schedule | ListedTests, count: int, made: bool = True) -> list[TestName]:
    found = []
    for _ in range(count):
        taken = schedule.next(made)
        if taken is None:
            break
        name, test = taken
        assert (test is None) == (not made)
        assert test is None or (test.strategy, test.index) == (name.strategy, name.index)
        found.append(name)
    return found


def spend(
    schedule: Schedule,
    seconds: float,
    cost: dict[str, float],
    pays: dict[str, int],
    reward: dict[str, float] | None = None,
) -> Counter[str]:
    """Run tests for ``seconds``; by arm: ``cost`` of a test, every ``pays``-th finds something, and its
    ``reward``.
    """
    spent: Counter[str] = Counter()
    count: Counter[str] = Counter()
    while sum(spent.values()) < seconds:
        ((name, _),) = [schedule.next(made=False)]  # type: ignore[misc]
        arm = f"{name.strategy}{name.test_class}"
        count[arm] += 1
        found = int(arm in pays and count[arm] % pays[arm] == 0)
        schedule.paid(name, cost[arm], 1, 1, 0)
        schedule.paid(name, 0.0, 0, 0, found, reward=(reward or {}).get(arm, 1.0))
        spent[arm] += cost[arm]
    return spent


def test_without_a_bandit_strategies_take_turns() -> None:
    schedule = Schedule([Counting("x"), Classed("y")], 1, bandit=False, limit=5)
    assert [(n.strategy, n.index) for n in names(schedule, 9)] == [
        ("x", 0),
        ("y", 0),
        ("x", 1),
        ("y", 1),
        ("x", 2),
    ]
    assert names(schedule, 1) == []


def test_a_strategy_that_ends_leaves_the_turns_to_the_others() -> None:
    schedule = Schedule([Counting("x", 2), Counting("y")], 1, bandit=False, limit=6)
    assert [n.strategy for n in names(schedule, 9)] == ["x", "y", "x", "y", "y", "y"]
    schedule = Schedule([Counting("x", 2)], 1, bandit=True)
    assert len(names(schedule, 9)) == 2
    assert schedule.arms()[0].exhausted


@pytest.mark.parametrize("bandit", [True, False])
@pytest.mark.parametrize("error", [GenerationError, IndexError])
def test_a_strategy_that_fails_leaves_the_hunt_to_the_others(bandit: bool, error: type[Exception]) -> None:
    class Failing(Counting):
        def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
            yield from super().generate(start, min(stop, 3))
            raise error("nothing can be used")

    schedule = Schedule([Failing("x"), Counting("y")], 1, bandit, limit=30)
    found = Counter(name.strategy for name in names(schedule, 30))
    assert found == {"x": 3, "y": 27}
    (note,) = schedule.take_notes()
    assert note.startswith("strategy x has no more tests: ") and note.endswith("nothing can be used")
    assert ("bug in exhume" in note, "Traceback" in note) == (error is IndexError,) * 2
    assert schedule.take_notes() == []
    assert not any(arm.exhausted for arm in schedule.arms())  # another run tries it again
    with pytest.raises(error, match="nothing can be used"):
        names(Schedule([Failing("x")], 1, bandit, limit=30), 30)


@pytest.mark.parametrize("others", [[], [Counting("x")]])
def test_a_class_that_fails_leaves_the_hunt_to_the_other_classes(others: list[Counting]) -> None:
    class Failing(Classed):
        def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
            if self.class_of(start) == "a":
                raise GenerationError("class a is broken")
            return super().generate(start, stop)

    schedule = Schedule([Failing("y"), *others], 1, True, limit=30)
    found = names(schedule, 30)
    assert len(found) == 30 and any(name.test_class == "b" for name in found)
    assert schedule.take_notes() == ["strategy y (class a) has no more tests: class a is broken"]


def test_workers_that_make_tests_tell_when_there_are_no_more() -> None:
    schedule = Schedule([Counting("x", 1), Counting("y", 1)], 1, bandit=False)
    first = names(schedule, 2, made=False)
    schedule.exhausted(first[0])
    assert {name.strategy for name in names(schedule, 3, made=False)} == {"y"}
    assert schedule.make_again(TestName("x", "", 0)) == GeneratedTest(0, "; 0", "x")
    assert schedule.make_again(TestName("x", "", 1)) is None


def test_each_class_has_its_own_tests_and_no_test_comes_twice() -> None:
    schedule = Schedule([Classed("y")], 1, bandit=True, limit=200)
    found = names(schedule, 300)
    assert len(found) == len({name.index for name in found}) == 200
    for name in found:
        assert name.test_class == ("a" if name.index % 3 == 0 else "b")
    for test_class in "ab":
        indices = [name.index for name in found if name.test_class == test_class]
        assert indices == sorted(indices)


def test_missing_answers_earn_less_time_than_wrong_answers() -> None:
    rewards = {"x": class_of("soundness").reward, "y": class_of("incompleteness").reward}
    schedule = Schedule([Counting("x"), Counting("y")], 1, bandit=True)
    spent = spend(schedule, 200, {"x": 0.1, "y": 0.1}, {"x": 20, "y": 20}, rewards)
    assert spent["x"] > 2 * spent["y"]


def test_arms_that_pay_alike_share_the_time() -> None:
    schedule = Schedule([Counting("x"), Counting("y")], 1, bandit=True)
    spent = spend(schedule, 40, {"x": 0.1, "y": 0.1}, {})
    assert 0.2 < spent["x"] / 40 < 0.8


def test_time_moves_to_the_strategy_that_finds_and_every_arm_keeps_some() -> None:
    cost = {"x": 0.05, "y": 0.05, "z": 0.05}
    schedule = Schedule([Counting(name) for name in "xyz"], 1, bandit=True)
    spent = spend(schedule, 300, cost, {"y": 50})
    assert spent["y"] > 0.6 * 300
    for name in "xz":
        assert spent[name] > 0.8 * Bandit.even / 3 * 300


def test_the_time_to_make_a_test_counts() -> None:
    """Both find as often per second of the solvers, but the tests of x take as long again to make."""
    schedule = Schedule([Counting("x"), Counting("y")], 1, bandit=True)
    spent: Counter[str] = Counter()
    for number in range(4000):
        taken = schedule.next(made=False)
        assert taken
        name = taken[0]
        schedule.paid(name, 0.05, 1, 1, number % 40 == 0, making=0.45 if name.strategy == "x" else 0.0)
        spent[name.strategy] += 1
    assert spent["y"] > 10 * spent["x"]


@pytest.mark.slow
@pytest.mark.thorough
def test_time_moves_on_when_an_arm_has_nothing_more() -> None:
    cost = {"x": 1.0, "y": 1.0}
    schedule = Schedule([Counting("x"), Counting("y")], 1, bandit=True)
    spend(schedule, 2000, cost, {"x": 20})
    spent = spend(schedule, 60_000, cost, {"y": 200})
    assert spent["y"] > spent["x"]


def test_the_same_results_give_the_same_choices() -> None:
    made = []
    for _ in range(2):
        schedule = Schedule([Counting("x"), Classed("y")], 5, bandit=True)
        chosen = []
        for number in range(300):
            taken = schedule.next(made=False)
            assert taken
            chosen.append(taken[0])
            schedule.paid(taken[0], 0.01 * (number % 7), 1, number % 2, number % 50 == 0)
        made.append(chosen)
    assert made[0] == made[1]


def test_shares_add_up_and_a_dropped_arm_has_none() -> None:
    bandit = Bandit(["x", "y", "z"], 1, {"x": Payments(3, 100, 10)})
    assert sum(bandit.shares().values()) == pytest.approx(1)
    bandit.drop("x")
    bandit.pay("x", 1.0, 1, 1)
    assert set(bandit.shares()) == {"y", "z"}
    assert sum(bandit.shares().values()) == pytest.approx(1)


@pytest.mark.parametrize("bandit", [True, False])
def test_after_a_kill_what_was_open_comes_first_and_nothing_twice(tmp_path: Path, bandit: bool) -> None:
    strategies = [Counting("x"), Classed("y")]
    with CampaignState.open(tmp_path, {}) as state:
        schedule = Schedule(strategies, 1, bandit, 40, state.loaded)
        taken = names(schedule, 25)
        done, unfinished = taken[:20], taken[20:]
        for name in done:
            schedule.paid(name, 0.1, 1, 1, 0)
        state.commit(Changes(tests=20), 1.0, schedule.arms(), handed_out(unfinished))
    loaded = read_campaign(tmp_path)
    resumed = Schedule(strategies, 1, bandit, 40, loaded)
    assert set(resumed.reopened()) == set(unfinished)
    again = names(resumed, 100)
    assert resumed.reopened() == ()
    assert set(again[:5]) == set(unfinished)
    assert len(again) == 20
    everything = {(name.strategy, name.index) for name in (*done, *again)}
    assert len(everything) == 40
    if not bandit:
        whole = names(Schedule(strategies, 1, bandit, 40), 100)
        assert taken + again[5:] == whole


@pytest.mark.parametrize("is_old", [False, True])
@pytest.mark.few(1)
def test_what_a_strategy_paid_stays_forgotten_after_a_resume(tmp_path: Path, is_old: bool) -> None:
    strategies = [Counting("x"), Counting("y")]
    cost = {"x": 0.1, "y": 0.1}
    schedule = Schedule(strategies, 1, True)
    spend(schedule, 40, cost, {"x": 10})  # x finds all that it ever finds
    spend(schedule, 2_000, cost, {})
    arms = schedule.arms()
    if is_old:
        arms = [replace(arm, weights=replace(arm.weights, strategy=None)) for arm in arms]
    with CampaignState.open(tmp_path, {}) as state:
        state.commit(Changes(), 1.0, arms)
    resumed = Schedule(strategies, 1, True, loaded=read_campaign(tmp_path))
    resumed.next(made=False)
    assert (resumed.arms()[0].share > 0.7) == is_old


def test_an_open_test_that_cannot_be_made_any_more_is_left_out(tmp_path: Path) -> None:
    class Failing(Counting):
        def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
            if start == 3:
                raise IndexError("a bug")
            return super().generate(start, stop)

    with CampaignState.open(tmp_path, {}) as state:
        state.commit(Changes(), 1.0, [ArmState("x", "", 6)], [("x", "", 2, 5)])
    schedule = Schedule([Failing("x")], 1, False, 5, read_campaign(tmp_path))
    assert [name.index for name in names(schedule, 4)] == [2, 4, 6, 7]
    (note,) = schedule.take_notes()
    assert note.startswith("test 3 of strategy x is left out: ") and "Traceback" in note


def test_listed_tests_are_taken_as_they_come() -> None:
    tests = [GeneratedTest(index, "", "by-hand") for index in (4, 2, 9)]
    source = Schedule([ListedTests(iter(tests))], 1, bandit=False, limit=2)
    assert names(source, 5) == [TestName("by-hand", "", 4), TestName("by-hand", "", 2)]


def test_classes_are_asked_once_for_all_arms_and_found_in_order() -> None:
    class Rare(Classed):
        """Every 700th test is of class a."""

        def __init__(self) -> None:
            super().__init__("one")
            self.asked: Counter[int] = Counter()

        def class_of(self, index: int) -> str:
            self.asked[index] += 1
            return "a" if index % 700 == 699 else "b"

    strategy = Rare()
    given = names(Schedule([strategy], 1, bandit=True), 200, made=False)
    for test_class in "ab":
        indices = [name.index for name in given if name.test_class == test_class]
        assert len(indices) > 50
        of_class = [i for i in range(indices[-1] + 1) if (i % 700 == 699) == (test_class == "a")]
        assert indices == of_class
    assert max(strategy.asked.values()) == 1
