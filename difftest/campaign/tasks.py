"""The tasks of a hunt and their results.

They are plain data, so that workers may be threads of this process or run on other machines. They are structs
of msgspec: several are made for each test, and a frozen dataclass takes ten times as long to make.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import msgspec
from msgspec import Struct

from difftest.campaign.events import WorkerNotice
from difftest.campaign.modes import Options
from difftest.campaign.turns import RELATION, Needs
from difftest.oracles.base import Candidate
from difftest.triage.filing import Filing
from difftest.triage.key import FoundKey
from difftest.triage.store import Shown
from generator.strategy import GeneratedTest
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.process import Limits


class TestName(Struct, frozen=True):
    """What names a test within a campaign: with the campaign's seed it can be made again anywhere.

    ``test_class`` is the part of the strategy that it was chosen for (empty where there are no parts).
    """

    # Not a test class, whatever its name makes pytest think.
    __test__: ClassVar[bool] = False

    strategy: str
    test_class: str
    index: int


class RunTask(Struct, frozen=True):
    """Run all solvers on a test; those with a verdict other than timeout from an earlier stage keep it.

    ``test`` is None where the worker makes the test itself. ``counted`` is what was counted for the test
    before, per solver. ``confirms`` says that nothing is counted: only what it shows matters. ``oracles`` say
    what counts as wrong; none: the solvers' defaults; ``turn`` is one more, drawn for this test, or the one
    that the test needs (``has_needed_turn``). Where the worker makes the test, it finds that out with
    ``needs``. ``options`` are what the test adds to those of the solvers.
    """

    name: TestName
    stage: int
    limits: Limits
    test: GeneratedTest | None = None
    verdicts: Mapping[str, Verdict] = msgspec.field(default_factory=dict)
    counted: Mapping[str, Outcome] = msgspec.field(default_factory=dict)
    confirms: bool = False
    oracles: tuple[str, ...] = ()
    options: Options = ()
    turn: str = ""
    has_needed_turn: bool = False
    needs: Needs | None = None

    def with_needed_turn(self, needs: Needs, test: GeneratedTest) -> RunTask:
        """The task with the turn that its test needs, if it needs one."""
        turn = needs.choose(test)
        return msgspec.structs.replace(self, turn=turn, has_needed_turn=True) if turn else self


class RunResult(Struct, frozen=True):
    """The verdicts of all solvers, in the solvers' order, and the seconds spent in them by this task.

    ``candidates`` is what looks wrong, ``theories`` those that the test shows. ``cross_checks`` are the
    results of models that another solver checked: (owner, judge, result). ``test`` is None where nothing
    looks wrong and the task did not bring it along. ``counts`` are further ones, by kind and name.
    ``is_final``: a longer limit would not show more. ``others`` is what looks wrong on scripts that were made
    from the test. ``turn_seconds`` is what the task's turn took. ``bases`` are the names, without the options
    that the test added, of the solvers that it added some to. ``is_missing``: there is no such test.
    """

    task: RunTask
    verdicts: Mapping[str, Verdict]
    solver_seconds: float
    candidates: tuple[Candidate, ...] = ()
    theories: tuple[str, ...] = ()
    test: GeneratedTest | None = None
    cross_checks: tuple[tuple[str, str, str], ...] = ()
    counts: Mapping[str, Mapping[str, int]] = msgspec.field(default_factory=dict)
    is_final: bool = False
    turn_seconds: float = 0.0
    others: tuple[tuple[Candidate, GeneratedTest], ...] = ()
    bases: Mapping[str, str] = msgspec.field(default_factory=dict)
    is_missing: bool = False

    @property
    def judged(self) -> int:
        """How many claims of the oracle whose turn it was could be judged, right or wrong."""
        tried = self.counts.get(RELATION + self.task.turn, {})
        models = sum(what in ("confirmed", "refuted") for _, _, what in self.cross_checks)
        return models + sum(tried.get(word, 0) for word in ("held", "violated"))


class ConfirmTask(Struct, frozen=True):
    """See in fresh processes whether a candidate shows again.

    ``reduction`` is how many seconds its test may be reduced for a key that other tests share; with
    ``checks`` it ends after this number of checks instead, and no run has a time of its own. ``oracles``
    and ``options`` as for a run.
    """

    name: TestName
    test: GeneratedTest
    candidate: Candidate
    limits: Limits
    reduction: float = 0.0
    checks: int = 0
    oracles: tuple[str, ...] = ()
    options: Options = ()


class Confirmation(Struct, frozen=True):
    """The evidence for a candidate, or None if it did not show again; and its key after a quick reduction.

    ``candidate`` is the task's with what the evidence says of who is wrong; ``test`` the one that it is
    about, where that is not the task's. ``filing`` stands in the evidence's place where the finding is not
    about a formula. ``not_new``: the base shows it, too, or it alone; the kind of the count.
    """

    task: ConfirmTask
    evidence: Shown | None
    solver_seconds: float
    key: FoundKey | None = None
    candidate: Candidate | None = None
    test: GeneratedTest | None = None
    filing: Filing | None = None
    not_new: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether it showed again."""
        return self.evidence is not None or self.filing is not None


class ReduceTask(Struct, frozen=True):
    """Reduce the formula of the finding in ``folder``, for the key that it has then; the whole reduction has
    the seconds of ``limits``.
    """

    name: TestName
    folder: Path
    limits: Limits


class Reduced(Struct, frozen=True):
    """A finding was reduced, as far as it goes: what came of it stands in its folder."""

    task: ReduceTask
    solver_seconds: float


class Failure(Struct, frozen=True):
    """A bug in exhume or an error of the machine in a worker, which kept it from doing the task.

    ``text`` describes it: the traceback cannot be sent. ``in_making``: the strategy could not make the test.
    """

    task: RunTask | ConfirmTask | ReduceTask
    error: Exception
    text: str
    in_making: bool = False


Task = RunTask | ConfirmTask | ReduceTask
Done = RunResult | Confirmation | Reduced
Result = Done | Failure | WorkerNotice
