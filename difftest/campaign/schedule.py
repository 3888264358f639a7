"""Which test comes next: the strategies' tests in order, or by what their arms pay.

A test is named by its strategy and index and, with the campaign's seed, can be made again from that. An *arm*
is a strategy, or, where a strategy can tell the class of a test from its index (``ClassedStrategy``), one of
its classes: the arm's tests are then the indices of that class, in order. So the choice between arms changes
which tests are run, never what a test is.

Without a bandit the strategies take turns, each from index 0 on: the same tests, whatever the solvers do.
With one, arms have shares of the solvers' *time*: of every second spent, each arm is owed its share, and the
arm that is owed most comes next. A test is charged to its arm when it is handed out, with what tests of the
arm took on average, and the difference when it is done.
"""

from __future__ import annotations

import functools
import itertools
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from base.errors import described
from difftest.campaign.bandit import Bandit, Cautious, Payments
from difftest.campaign.state import ranges
from difftest.campaign.stored import ArmState, ArmWeights, StoredCampaign
from difftest.campaign.tasks import TestName
from difftest.campaign.worker import OwnTests
from generator.strategy import ClassedStrategy, GeneratedTest, Strategy

_ENDLESS = 1 << 40
# What a test is thought to take, in seconds, before any of its arm was run.
_FIRST_GUESS = 0.05
# An arm is out of tests when this many indices in a row are of other classes.
_LONGEST_SCAN = 20_000
# Indices whose classes are computed together (a byte each), and how many such chunks are kept: 16 MB.
_CHUNK = 1024
_CHUNKS = 16_384


class ListedTests:
    """Tests that come one by one from somewhere, as a strategy that can make each of them once."""

    name = fingerprint = ""

    def __init__(self, tests: Iterable[GeneratedTest]) -> None:
        self._tests = iter(tests)

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        """The next ``stop - start`` tests, whatever the indices."""
        return itertools.islice(self._tests, stop - start)


@dataclass(slots=True)
class _Arm:
    """One arm at work: what is stored of it, and how much solver time it is ``owed``, in seconds.

    ``failed``: it ended with an error; another run, maybe after a fix, tries it again.
    """

    strategy: Strategy
    state: ArmState
    owed: float = 0.0
    failed: bool = False
    tests_in_order: Iterator[GeneratedTest] | None = field(default=None, repr=False)

    @property
    def key(self) -> tuple[str, str]:
        return self.state.strategy, self.state.test_class

    @property
    def is_over(self) -> bool:
        """Whether it gives no more tests in this run."""
        return self.failed or self.state.exhausted

    @property
    def cost(self) -> float:
        """What one test takes on average, in seconds of solver time."""
        return (self.state.solver_seconds + _FIRST_GUESS) / (self.state.tests + 1)


class Schedule:
    """The tests of a campaign: which comes next, and how its arms stand.

    ``limit`` is how many tests the whole campaign has (None: all there are); ``loaded`` is what an earlier
    run of it left: what was handed out and not done comes first. The strategies named in ``first`` come
    before all others, to the end, and their tests start at a later stage (``difftest.campaign.stages``).
    ``policy`` divides the time among the strategies, if ``bandit`` is set.
    """

    def __init__(
        self,
        strategies: Sequence[Strategy],
        seed: int,
        bandit: bool,
        limit: int | None = None,
        loaded: StoredCampaign | None = None,
        first: Collection[str] = (),
        policy: type[Bandit] = Bandit,
    ) -> None:
        self.first = first
        self._strategies = {strategy.name: strategy for strategy in strategies}
        assert len(self._strategies) == len(strategies), "each strategy once"
        stored = {(arm.strategy, arm.test_class): arm for arm in loaded.arms} if loaded else {}
        self._arms: dict[tuple[str, str], _Arm] = {}
        for strategy in strategies:
            classes = strategy.classes if bandit and isinstance(strategy, ClassedStrategy) else ("",)
            for test_class in classes:
                key = strategy.name, test_class
                self._arms[key] = _Arm(strategy, replace(stored.get(key) or ArmState(*key, 0)))
        classed = [s for s in strategies if isinstance(s, ClassedStrategy)] if bandit else []
        self._ahead = {s.name: _Ahead(s) for s in classed}
        self._bandits = _Bandits(self._arms.values(), seed, stored, policy) if bandit else None
        opened = loaded.open if loaded else ()
        self._reopened = deque(
            TestName(name, test_class, index)
            for name, test_class, start, stop in opened
            if (name, test_class) in self._arms
            for index in range(start, stop)
            if test_class in ("", _class_of(self._strategies[name], index))
        )
        done = loaded.tests if loaded else 0
        self._notes: list[str] = []
        self._left = _ENDLESS if limit is None else max(0, limit - done)

    def next(self, made: bool) -> tuple[TestName, GeneratedTest | None] | None:
        """The next test's name and, if ``made``, the test; None when there are no more."""
        while self._left > 0:
            if self._reopened:
                name = self._reopened.popleft()
                test = self.make_again(name) if made else None
            else:
                arm = self._choose()
                if arm is None:
                    return None
                taken = self._take(arm, made)
                if taken is None:
                    continue
                name, test = taken
            if made and test is None:
                continue
            self._left -= 1
            return name, test
        return None

    def give_back(self) -> None:
        """A test that was handed out does not count: it does not exist, or cannot be made."""
        self._left += 1

    def take_notes(self) -> list[str]:
        """What a user should know, each once: strategies that end because of an error, others being left."""
        notes, self._notes = self._notes, []
        return notes

    def make_again(self, name: TestName) -> GeneratedTest | None:
        """The test of this name, which was handed out before; None with a note if it cannot be made now."""
        try:
            test = make_test(self._strategies, name)
        except Exception as problem:  # noqa: BLE001 (a bug in one strategy must not end a hunt of days)
            self._notes.append(
                f"test {name.index} of strategy {name.strategy} is left out: {described(problem)}"
            )
            return None
        if test is None:
            self.exhausted(name)
        return test

    def exhausted(self, name: TestName) -> None:
        """``name`` turned out not to exist: its strategy has no more tests."""
        arm = self._arms.get((name.strategy, name.test_class))
        if arm is not None and not arm.is_over:
            arm.state.exhausted = True
            self._drop(arm)

    def failed(self, name: TestName, problem: Exception, text: str) -> None:
        """``name`` could not be made, as ``text`` says: its arm ends. A bug in one strategy must not end a
        hunt of days, either; that of the last one is raised.
        """
        arm = self._arms.get((name.strategy, name.test_class))
        if arm is None or arm.failed:
            return  # several of its tests may be on their way
        if all(other.is_over for other in self._arms.values() if other is not arm):
            raise problem
        was_over, arm.failed = arm.is_over, True
        if not was_over:
            self._drop(arm)
        of_class = f" (class {arm.state.test_class})" if arm.state.test_class else ""
        self._notes.append(f"strategy {arm.strategy.name}{of_class} has no more tests: {text}")

    def _drop(self, arm: _Arm) -> None:
        if self._bandits:
            self._bandits.drop(arm)

    def paid(
        self,
        name: TestName,
        seconds: float,
        tests: int,
        decided: int,
        found: int,
        making: float = 0.0,
        reward: float = 1.0,
    ) -> None:
        """What came of a test, or of one more look at it: ``seconds`` in solvers, ``making`` to make it.
        A finding counts for ``reward``.
        """
        arm = self._arms.get((name.strategy, name.test_class))
        if arm is None:
            return
        charged = arm.cost if tests else 0.0
        arm.state.solver_seconds += seconds
        arm.state.tests += tests
        arm.state.decided += decided
        arm.state.findings += found
        if self._bandits and name.strategy not in self.first:
            self._charge(arm, seconds + making - charged)
            self._bandits.pay(arm, seconds + making, decided, found * reward)

    def arms(self) -> list[ArmState]:
        """How the arms stand."""
        weights = self._bandits.weights if self._bandits else lambda arm: ArmWeights()
        return [replace(arm.state, weights=weights(arm)) for arm in self._arms.values()]

    def reopened(self) -> Sequence[TestName]:
        """Tests that an earlier run handed out, and whose turn has not come yet."""
        return tuple(self._reopened)

    @property
    def own(self) -> Mapping[str, OwnTests]:
        """The strategies that run their tests themselves, by name."""
        return {name: made for name, made in self._strategies.items() if isinstance(made, OwnTests)}

    def _choose(self) -> _Arm | None:
        for arm in self._arms.values():
            if arm.state.strategy in self.first and not arm.is_over:
                return arm
        usable = [arm for arm in self._arms.values() if not arm.is_over]
        if not usable:
            return None
        if self._bandits is None:
            # They take turns, also after a run that stopped in between.
            return min(usable, key=lambda arm: arm.state.next_index)
        self._bandits.share_out()
        chosen = max(usable, key=lambda arm: arm.owed)
        self._charge(chosen, chosen.cost)
        return chosen

    def _charge(self, arm: _Arm, seconds: float) -> None:
        """An arm uses so much time; of it every arm is owed its share."""
        for other in self._arms.values():
            other.owed += other.state.share * seconds
        arm.owed -= seconds

    def _take(self, arm: _Arm, made: bool) -> tuple[TestName, GeneratedTest | None] | None:
        """The arm's next test; None if it has no more."""
        index: int | None = arm.state.next_index
        if arm.state.test_class:
            ahead, start = self._ahead[arm.strategy.name], arm.state.next_index
            index = ahead.find(arm.state.test_class, start, start + _LONGEST_SCAN)
        if index is None:
            self.exhausted(TestName(*arm.key, arm.state.next_index))
            return None
        name = TestName(*arm.key, index)
        test = None
        if made:
            try:
                in_order = not arm.state.test_class
                test = self._in_order(arm) if in_order else make_test(self._strategies, name)
            except Exception as problem:  # noqa: BLE001 (it ends the arm, or the hunt)
                self.failed(name, problem, described(problem))
                return None
            if test is None:
                self.exhausted(name)
                return None
            # A listed test may come from any strategy.
            name = TestName(test.strategy, arm.state.test_class, test.index)
        arm.state.next_index = index + 1
        return name, test

    @staticmethod
    def _in_order(arm: _Arm) -> GeneratedTest | None:
        if arm.tests_in_order is None:
            arm.tests_in_order = iter(arm.strategy.generate(arm.state.next_index, _ENDLESS))
        return next(arm.tests_in_order, None)


def make_test(strategies: Mapping[str, Strategy], name: TestName) -> GeneratedTest | None:
    """The test of this name by the strategy that it names; None if that has no such test."""
    return next(iter(strategies[name.strategy].generate(name.index, name.index + 1)), None)


def handed_out(names: Iterable[TestName]) -> Iterator[tuple[str, str, int, int]]:
    """Ranges (strategy, class, start, stop) that hold these tests, for the campaign's state."""
    by_arm: dict[tuple[str, str], list[int]] = {}
    for name in names:
        by_arm.setdefault((name.strategy, name.test_class), []).append(name.index)
    for (strategy, test_class), indices in sorted(by_arm.items()):
        for start, stop in ranges(indices):
            yield strategy, test_class, start, stop


class _Ahead:
    """The classes of a strategy's tests, computed once for all its arms while these are not too far apart:
    the rarest class may be hundreds of indices away, and each arm goes through all of them.
    """

    def __init__(self, strategy: ClassedStrategy) -> None:
        self._numbers = {test_class: number for number, test_class in enumerate(strategy.classes)}
        assert len(self._numbers) <= 256, "a class is a byte"
        self._strategy = strategy
        self._chunk = functools.lru_cache(_CHUNKS)(self._look)

    def find(self, test_class: str, start: int, stop: int) -> int | None:
        """The first index in a range whose test is of this class."""
        byte = self._numbers[test_class]
        for number in range(start // _CHUNK, (stop - 1) // _CHUNK + 1):
            first = number * _CHUNK
            place = self._chunk(number).find(byte, max(0, start - first), stop - first)
            if place >= 0:
                return first + place
        return None

    def _look(self, number: int) -> bytes:
        first = number * _CHUNK
        class_of = self._strategy.class_of
        return bytes(self._numbers[class_of(index)] for index in range(first, first + _CHUNK))


class _Bandits:
    """Two levels of choice: between the strategies, and between the classes of each."""

    def __init__(
        self,
        arms: Iterable[_Arm],
        seed: int,
        stored: Mapping[tuple[str, str], ArmState],
        policy: type[Bandit],
    ) -> None:
        self._by_strategy: dict[str, list[_Arm]] = {}
        for arm in arms:
            self._by_strategy.setdefault(arm.strategy.name, []).append(arm)
        self._classes: dict[str, Cautious] = {}
        totals: dict[str, Payments] = {}
        for number, (strategy, of_strategy) in enumerate(self._by_strategy.items()):
            paid = {
                arm.state.test_class: replace(stored[arm.key].weights)
                for arm in of_strategy
                if arm.key in stored
            }
            # Campaigns of earlier versions have only what its classes paid.
            whole = next((p.strategy for p in paid.values() if p.strategy), None)
            totals[strategy] = (
                replace(whole)
                if whole
                else Payments(
                    sum(p.found for p in paid.values()),
                    sum(p.decided for p in paid.values()),
                    sum(p.seconds for p in paid.values()),
                )
            )
            live = [arm.state.test_class for arm in of_strategy if not arm.is_over]
            self._classes[strategy] = Cautious(live, seed + 1 + number, paid)
        live_strategies = [s for s, found in self._by_strategy.items() if not all(a.is_over for a in found)]
        self._strategies = policy(live_strategies, seed, totals)

    def pay(self, arm: _Arm, seconds: float, decided: int, found: float) -> None:
        self._strategies.pay(arm.strategy.name, seconds, decided, found)
        self._classes[arm.strategy.name].pay(arm.state.test_class, seconds, decided, found)

    def drop(self, arm: _Arm) -> None:
        self._classes[arm.strategy.name].drop(arm.state.test_class)
        if all(other.is_over for other in self._by_strategy[arm.strategy.name]):
            self._strategies.drop(arm.strategy.name)

    def share_out(self) -> None:
        """Give every arm its share of the time."""
        shares = self._strategies.shares()
        for strategy, arms in self._by_strategy.items():
            of_classes = self._classes[strategy].shares()
            for arm in arms:
                arm.state.share = shares.get(strategy, 0.0) * of_classes.get(arm.state.test_class, 0.0)

    def weights(self, arm: _Arm) -> ArmWeights:
        of_class = self._classes[arm.strategy.name].paid.get(arm.state.test_class) or Payments()
        whole = self._strategies.paid.get(arm.strategy.name)
        return ArmWeights(of_class.found, of_class.decided, of_class.seconds, whole)


def _class_of(strategy: Strategy, index: int) -> str:
    return strategy.class_of(index) if isinstance(strategy, ClassedStrategy) else ""
