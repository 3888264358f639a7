"""API fuzzing as a strategy of a hunt: each test is a run, drawn and made in a process of its own.

A run is named by the campaign's seed and its number, so any of them can be made again. An error of a run is a
candidate; it is confirmed when a fresh process shows it again, quickly made small for its key, and described.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import structs

from apifuzz.engines import MODULES, EngineMissing
from apifuzz.run import Drawing
from apifuzz.running.describing import describe
from apifuzz.running.examine import QUICK_SECONDS, examine
from apifuzz.running.faults import Fault
from apifuzz.running.findings import Description, filing_of
from apifuzz.running.folder import STRATEGY, CallsFolder
from apifuzz.running.known import shipped
from apifuzz.running.runs import RUN_LIMITS, Runner, RunResult, actions_of, run_seed
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace
from base.version import VERSION
from difftest.campaign.tasks import Confirmation, ConfirmTask, RunTask
from difftest.campaign.tasks import RunResult as TestResult
from difftest.oracles.base import Candidate
from difftest.triage.ledger import Entry
from generator.strategy import GeneratedTest
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.process import Limits

# Errors that no fresh process shows and whose traces are kept.
_MOST_UNCONFIRMED = 20
_OUTCOMES = {"timeout": Outcome.TIMEOUT, "memout": Outcome.MEMOUT, "trace": Outcome.REFUSED}

Describe = Callable[[Runner, Trace, Fault], Description]


@dataclass(frozen=True, slots=True)
class CallsCandidate(Candidate):
    """An error of a run, with its ``fault``."""

    fault: Fault | None = None


@dataclass
class CallsStrategy:
    """Runs of each of the ``setups`` in turn, drawn as ``drawing`` says.

    ``leaks``: one run in this many is repeated to see whether it leaks (0: none). ``quick`` is how many
    seconds a confirmed error is minimised at once. ``feed`` is a corpus whose terms runs draw on.
    ``unconfirmed`` is a folder for the traces of errors that did not show again.
    """

    setups: tuple[Setup, ...]
    seed: int = 1
    drawing: Drawing = Drawing()  # noqa: RUF009 (it is frozen)
    limits: Limits = RUN_LIMITS
    leaks: int = 50
    quick: float = QUICK_SECONDS
    feed: Path | None = None
    describe: Describe = describe
    more_known: Sequence[Entry] = ()
    unconfirmed: Path | None = None
    name: str = STRATEGY

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What its runs depend on. CorpusError, or GenerationError, where its corpus cannot be used."""
        corpus = None
        if self.feed is not None:
            from apifuzz.feeding.loading import feed_fingerprint

            corpus = feed_fingerprint(self.feed)
        return {
            "setups": [asdict(setup) for setup in self.setups],
            "drawing": asdict(self.drawing),
            "limits": structs.asdict(self.limits),
            "leaks": self.leaks,
            "corpus": corpus,
        }

    @property
    def fingerprint(self) -> str:
        """Names what its runs depend on."""
        said = json.dumps([self.settings, VERSION], sort_keys=True)
        return hashlib.sha256(said.encode()).hexdigest()[:16]

    @property
    def classes(self) -> Sequence[str]:
        """A class per setup, by which counts name the solvers, too."""
        return [setup.title for setup in self.setups]

    labels = classes

    def class_of(self, index: int) -> str:
        """The setup of a run."""
        return self.setup_of(index).title

    def setup_of(self, index: int) -> Setup:
        """What run ``index`` is made on."""
        return self.setups[index % len(self.setups)]

    def looks_for_leaks(self, index: int) -> bool:
        """Whether run ``index`` is repeated to look for leaks: each setup's turn comes equally often."""
        return bool(self.leaks) and index // len(self.setups) % self.leaks == self.leaks - 1

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        """Their numbers: a run is drawn where it is made."""
        return (GeneratedTest(index, "", self.name) for index in range(start, stop))

    @property
    def known(self) -> Sequence[Entry]:
        """The errors that the solvers are known for, and those that the user named."""
        of_setups = (shipped(setup.label, setup.cross_check) for setup in self.setups)
        return [*itertools.chain(*of_setups), *self.more_known]

    def performer(self) -> CallsPerformer:
        """What makes its runs in one worker."""
        return CallsPerformer(self)


class CallsPerformer:
    """Makes runs, one after the other; a runner per setup."""

    def __init__(self, strategy: CallsStrategy) -> None:
        self._strategy = strategy
        self._runners: dict[str, Runner] = {}

    def run(self, task: RunTask) -> TestResult:
        """Draw a run and make its calls."""
        strategy, index = self._strategy, task.name.index
        setup, runner = strategy.setup_of(index), self._runner(index)
        result = runner.generate(strategy.drawing, run_seed(strategy.seed, index), strategy.limits)
        seconds = result.seconds
        if result.outcome == "done" and strategy.looks_for_leaks(index):
            repeated = runner.repeat(result.trace, strategy.limits)
            seconds += repeated.seconds
            if repeated.fault is not None:
                result = replace(result, outcome="fault", fault=repeated.fault)
        test = GeneratedTest(index, result.trace, strategy.name) if result.fault else None
        candidates = (_candidate(setup, result.fault),) if result.fault else ()
        verdicts = {setup.title: _verdict(result)}
        return TestResult(
            *(task, verdicts, seconds, candidates), test=test, counts=_counts(result), is_final=True
        )

    def confirm(self, task: ConfirmTask) -> Confirmation:
        """See in a fresh process whether an error shows again, find its key, and describe it."""
        started = time.monotonic()
        confirmation = self._confirm(task)
        return structs.replace(confirmation, solver_seconds=time.monotonic() - started)

    def _confirm(self, task: ConfirmTask) -> Confirmation:
        assert isinstance(task.candidate, CallsCandidate) and task.candidate.fault is not None
        strategy, index, fault = self._strategy, task.name.index, task.candidate.fault
        runner = self._runner(index)
        examined = examine(runner, task.test.text, fault, strategy.limits, strategy.quick)
        if examined is None:
            self._keep_unconfirmed(task, fault)
            return Confirmation(task, None, 0.0)
        described = strategy.describe(runner, examined.minimised, examined.fault)
        culprit = described.facts.get("guilty")
        settled = replace(task.candidate, culprit=culprit, key=examined.key.key)
        run = {"seed": strategy.seed, "run": index, "run_seed": run_seed(strategy.seed, index)}
        origin = {**run, "drawing": asdict(strategy.drawing)}
        filing = filing_of(examined, runner.setup, runner.version(), origin, described)
        return Confirmation(task, None, 0.0, examined.key, settled, filing=filing)

    def version(self) -> str:
        """The version of the first solver. EnvironmentProblem where it cannot be loaded."""
        return self._runner(0).version()

    def close(self) -> None:
        """End the processes of all runs."""
        for runner in list(self._runners.values()):
            runner.close()

    def _runner(self, index: int) -> Runner:
        setup = self._strategy.setup_of(index)
        runner = self._runners.get(setup.title)
        if runner is None:
            runner = self._runners[setup.title] = Runner(setup, self._strategy.feed)
        return runner

    def _keep_unconfirmed(self, task: ConfirmTask, fault: Fault) -> None:
        """The traces of the first errors that no fresh process shows, for inspection."""
        folder = self._strategy.unconfirmed
        if folder is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        if sum(1 for _ in folder.iterdir()) < _MOST_UNCONFIRMED:
            head = f"; {fault.kind}: {' '.join(fault.detail.split())[:300]}\n"
            text = head.encode("ascii", "replace").decode() + task.test.text
            (folder / f"run-{task.name.index}.trace").write_text(text, "utf-8", "backslashreplace")


def _candidate(setup: Setup, fault: Fault) -> CallsCandidate:
    return CallsCandidate(
        *(fault.kind, (setup.label,), fault.stem(setup.label), setup.label, fault.detail),
        has_final_key=not fault.needs_operators,
        kind=CallsFolder.kind,
        fault=fault,
    )


def _verdict(result: RunResult) -> Verdict:
    """A run as other tests' runs are counted."""
    outcome = _OUTCOMES.get(result.outcome, Outcome.OK)
    if result.fault is not None and result.fault.kind == "crash":
        outcome = Outcome.CRASH
    return Verdict(outcome, tuple(result.answers), result.seconds, result.detail)


def _counts(result: RunResult) -> Mapping[str, Mapping[str, int]]:
    """What came of a run and what it did, by kind and name."""
    counts: dict[str, Mapping[str, int]] = {"runs": {result.outcome: 1}, "calls": {"calls": result.calls}}
    if result.fault is not None:
        counts["errors"] = {result.fault.kind: 1}
    if not result.statistics:  # it could not count them itself
        return counts | {"tried": Counter(actions_of(result.trace))}
    return counts | {kind: found for kind, found in result.statistics.items() if found}


def strategy_for(solvers: Sequence[str], seed: int, out: Path, corpus: Path | None = None) -> CallsStrategy:
    """API fuzzing of the installed ones of these solvers: of each, with its witnesses re-checked, and of the
    first two, with their answers compared. EngineMissing where none has an interface here.
    """
    names = [name for name in dict.fromkeys(solvers) if name in MODULES]
    if not names:
        any_of = f"{', '.join(MODULES[:-1])} or {MODULES[-1]}"
        raise EngineMissing(f"strategy {STRATEGY} needs {any_of}: name one with --solver, without a release")
    setups = [Setup(name, None, True) for name in names]
    if len(names) > 1:
        setups.append(Setup(names[0], names[1], True))
    return CallsStrategy(tuple(setups), seed, feed=corpus, unconfirmed=out / "unconfirmed")
