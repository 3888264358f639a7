"""Time limits by stages: a test first gets a short one, and some of those that run out of it a longer one.

They are drawn by seed and test. In addition, a test gets more time whenever an oracle says that it may show
something then (``Oracle.promises``), as a slowdown cannot be seen in less. These tests may take a fifth of
the solvers' time, so that a release that is slow everywhere does not stop the hunt.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from difftest.campaign.modes import for_test
from difftest.campaign.pace import Pace
from difftest.campaign.tasks import RunResult, RunTask, TestName
from difftest.oracles import ORACLES, oracles_on, promises
from difftest.oracles.base import Observation
from solvers.running.outcomes import Outcome
from solvers.running.process import Limits
from solvers.solver import Solver

# A run that confirms gets twice the longest limit, but at least 10 s. Where a short limit was enough to show
# something, it gets 50 times that, but at least 5 s: what takes longer in a fresh process rarely shows there.
_CONFIRM_SECONDS = 10.0
_CONFIRM_FACTOR = 50.0
_CONFIRM_LEAST = 5.0
# Promising tests may take this share of the solvers' time, and these seconds in any case.
_PROMISING_SHARE = 0.2
_PROMISING_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Stage:
    """A time limit per solver and test, and the ``share`` of the tests undecided before that get it."""

    seconds: float
    share: float


# Nine in ten of the tests that are decided at all are decided within 50 ms (measured on generated tests), so
# the first limit is short. The others keep hard tests in the hunt for a few percent of its time: hunts find
# nearly everything within the first (docs/results/oracles.md, "Time limits").
DEFAULT_STAGES = (Stage(0.1, 1.0), Stage(1.0, 0.02), Stage(10.0, 0.08))


class Stages:
    """The ``stages`` of one hunt: what limits a test gets, and which tests get the next ones.

    ``paced``: the first stage's time may be shorter, following what decided tests took. ``oracles`` are those
    of the hunt (none: the solvers' defaults).
    """

    def __init__(
        self,
        stages: Sequence[Stage],
        seed: int,
        solvers: Sequence[Solver],
        oracles: Sequence[str] = (),
        paced: bool = False,
    ) -> None:
        self._stages = stages
        self._seed = seed
        self._solvers = solvers
        # Most hunts have none, and many tests are late.
        self._promising = tuple(name for name in oracles_on(oracles, solvers) if ORACLES[name].promises)
        self._limits = [Limits(seconds=stage.seconds) for stage in stages]
        self._longest = max(stage.seconds for stage in stages)
        self._pace = Pace(stages[0].seconds) if paced else None
        self._promising_seconds = 0.0

    @property
    def last(self) -> int:
        """The number of the last stage, from 0."""
        return len(self._stages) - 1

    def limits(self, stage: int) -> Limits:
        """What a run of this stage gets."""
        if stage == 0 and self._pace is not None:
            return replace(self._limits[0], seconds=self._pace.limit)
        return self._limits[stage]

    def confirming(self, stage: int) -> Limits:
        """What a run gets that confirms what a run of this stage showed."""
        longest = max(_CONFIRM_SECONDS, 2 * self._longest)
        enough = max(_CONFIRM_LEAST, _CONFIRM_FACTOR * self._stages[stage].seconds)
        return replace(self._limits[stage], seconds=min(longest, enough))

    def decided(self, result: RunResult) -> None:
        """All solvers decided a test: the pace follows."""
        if self._pace is not None and result.task.stage == 0:
            self._pace.decided(max(verdict.seconds for verdict in result.verdicts.values()))

    def later(self, result: RunResult, spent: float) -> RunTask | None:
        """The same test with the next limit, if it gets that; ``spent`` is what all solvers took so far, in
        seconds.
        """
        stage = result.task.stage + 1
        verdicts = result.verdicts.values()
        if result.is_final or stage > self.last or not any(v.outcome is Outcome.TIMEOUT for v in verdicts):
            return None
        useful = all(v.is_decided or v.outcome is Outcome.TIMEOUT for v in verdicts)
        drawn = useful and _lot(self._seed, result.task.name, stage) < self._stages[stage].share
        if not drawn and not self._promises(result, stage, spent):
            return None
        counted = {solver: verdict.outcome for solver, verdict in result.verdicts.items()}
        limits = self.limits(stage)
        return RunTask(result.task.name, stage, limits, result.task.test, dict(result.verdicts), counted)

    def _promises(self, result: RunResult, stage: int, spent: float) -> bool:
        """Whether an oracle may see something, and there is time for it."""
        taken = self._promising_seconds + self._stages[stage].seconds
        if not self._promising or taken > _PROMISING_SECONDS + _PROMISING_SHARE * spent:
            return False
        test = result.task.test
        solvers = for_test(self._solvers, result.task.options, test.options if test else ())
        text = test.text if test else ""
        seen = Observation(text, solvers, result.verdicts)
        if not promises(seen, self._promising, self._longest):
            return False
        self._promising_seconds = taken
        return True


def _lot(seed: int, name: TestName, stage: int) -> float:
    """A number in [0, 1) that depends on nothing but its arguments."""
    digest = hashlib.sha256(f"{seed}/{name.strategy}/{name.index}/{stage}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
