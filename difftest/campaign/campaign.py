"""A campaign from its settings: its solvers and strategies, its hunt, its findings stored in the corpus."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self

from base.documents import from_document, to_document
from base.errors import ExhumeError
from base.nearest import did_you_mean, nearest
from base.steps import Steps, unseen
from base.text import counted
from base.version import VERSION
from corpus.query import find_query, run_query
from difftest.campaign.events import Event, FindingConfirmed, HuntFinished, HuntSummary, Progress
from difftest.campaign.executor import Executor
from difftest.campaign.files import STRATEGY as FILES
from difftest.campaign.hunt import HuntOptions, hunt
from difftest.campaign.modes import DEFAULT_SHARE, ModeKind
from difftest.campaign.schedule import Schedule
from difftest.campaign.stages import DEFAULT_STAGES, Stage
from difftest.campaign.state import CampaignState
from difftest.campaign.store_findings import Recorder
from difftest.campaign.stored import NoCampaign, read_campaign
from difftest.oracles import select
from difftest.triage.filing import FindingRecord
from difftest.triage.ledger import Ledger, campaigns_below
from difftest.triage.store import read_findings
from generator import STRATEGIES, Strategy, StrategySettings, find_strategy
from generator.build import ALL, Sources, build_strategy, own_settings
from generator.errors import GenerationError
from generator.loading import RuleKind
from solvers.lookup import find_solvers
from solvers.solver import Solver
from solvers.specs import with_resource_limit

DEFAULT_TESTS = 1000
"""Tests of a campaign that has no other end."""
# Where work is limited: the seconds after which a run ends that the limit does not reach.
_LONGEST = 30.0


@dataclass(frozen=True, slots=True)
class CampaignSettings:
    """What a campaign was started with. Its file keeps them, and ``--resume`` takes them from there.

    The names are those of the options of ``exhume hunt``; ``duration`` is text such as ``8h``, paths are
    absolute. ``base`` is one of the solvers, which the others are compared with. ``rlimit`` limits the
    solvers' work instead of their time, so that the same seed gives the same findings. ``directed``: whether
    tests go by the difference of the sources of the solvers; None: if folders of them are named. What the
    file ``ledger`` and the campaigns in ``earlier`` list is counted and not reported.
    """

    solver: tuple[str, ...]
    corpus: str | None = None
    tests: int | None = None
    duration: str | None = None
    seed: int = 1
    strategy: tuple[str, ...] = ("skeletons",)
    bandit: bool | None = None
    seeds: str | None = None
    settings: tuple[str, ...] = ()
    rules: RuleKind = "full"
    incremental: bool = False
    skeletons_from: str | None = None
    oracles: tuple[str, ...] = ()
    modes: ModeKind = ModeKind.ALL
    mode_share: float = DEFAULT_SHARE
    first_limit: float | None = None
    base: str | None = None
    regressions: str | None = None
    rlimit: int | None = None
    directed: bool | None = None
    ledger: str | None = None
    earlier: tuple[str, ...] = ()

    @property
    def specs(self) -> tuple[str, ...]:
        """The solvers, with the limit on their work. Raises UnknownSolver where one has none."""
        if self.rlimit is None:
            return self.solver
        return tuple(with_resource_limit(spec, self.rlimit) for spec in self.solver)

    def resumed(self, out: Path, given: Collection[str]) -> Self:
        """The settings of the campaign in ``out``, except those in ``given``, which are taken from here.

        Raises NoCampaign if there is none in ``out`` that ``exhume hunt`` started.
        """
        campaign = read_campaign(out)
        stored = campaign.given
        is_of_calls, is_of_files = "setups" in campaign.settings, stored.get("strategy") == [FILES]
        if not stored or stored.get("base") or is_of_calls or is_of_files:
            raise NoCampaign(
                f"{out}: the campaign there was not started by 'exhume hunt'; repeat its own command to"
                " resume it"
            )
        kept = {field.name for field in fields(self)} - set(given)
        if {"tests", "duration"} & set(given):
            kept -= {"tests", "duration"}  # a new end replaces the old one
        taken = {name: value for name, value in stored.items() if name in kept}
        try:
            return from_document(to_document(self) | taken, type(self))
        except ValueError as problem:
            raise NoCampaign(f"{out}: the settings there cannot be read: {problem}") from problem

    def with_defaults(self) -> Self:
        """With an end if none is given, and the bandit on unless the number of tests is given."""
        tests = DEFAULT_TESTS if self.tests is None and self.duration is None else self.tests
        chosen = tests is None and self.rlimit is None
        return replace(self, tests=tests, bandit=chosen if self.bandit is None else self.bandit)

    def options(self, out: Path, jobs: int, seconds: float | None) -> HuntOptions:
        """The options of a hunt into ``out`` that stops after ``seconds``. Raises UnknownOracle, and
        DifftestError where the ledger cannot be read.
        """
        return HuntOptions(
            *(out, jobs, self.seed, self.tests, seconds),
            oracles=select(self.oracles) if self.oracles else (),
            modes=self.modes,
            mode_share=self.mode_share,
            stages=_stages(self.first_limit) if self.rlimit is None else (Stage(_LONGEST, 1.0),),
            paced=self.first_limit is None and self.rlimit is None,
            in_turn=True,
            by_work=self.rlimit is not None,
            ledger=self.read_ledger(out),
        )

    def read_ledger(self, out: Path) -> Ledger | None:
        """What is not to be reported: the ledger, and the findings of earlier campaigns than that in ``out``.
        DifftestError where they cannot be read.
        """
        if self.ledger is None and not self.earlier:
            return None
        ledger = Ledger.read(Path(self.ledger)) if self.ledger is not None else Ledger()
        return ledger.with_earlier(campaigns_below(map(Path, self.earlier), out))


@dataclass(frozen=True, slots=True)
class CampaignEnd:
    """How a run of a campaign ended.

    ``error`` is what stopped it; the summary then counts what was done before. ``not_stored`` is a line about
    findings that are not in the corpus yet; empty if there are none.
    """

    summary: HuntSummary
    error: Exception | None = None
    not_stored: str = ""


def blamed_options(corpus: Path) -> frozenset[str]:
    """The names of the options of failing runs in the corpus that good runs on the same formulas lack."""
    found = run_query(corpus, find_query("failing-options"), max_rows=None)
    return frozenset(str(row[0]).lstrip("-") for row in found.rows)


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign's settings with the solvers and strategies that they name; the tests of those named in
    ``first`` come first. ``left_out``: why the campaign does without a strategy, by name.
    """

    settings: CampaignSettings
    solvers: Sequence[Solver]
    strategies: Sequence[Strategy]
    first: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        settings: CampaignSettings,
        others: Mapping[str, Callable[[], Strategy]] | None = None,
        prepare: Callable[[], None] = lambda: None,
        prefer: Callable[[str], float] | None = None,
        steps: Steps = unseen,
    ) -> Self:
        """Find the solvers and make the strategies. ``others`` makes strategies that are not about formulas,
        by name. ``prepare`` is called when the solvers are found. ``prefer`` scores the text of a seed: such
        with a higher score are drawn more often. ``steps`` shows how the strategies are made, if there are
        several. The strategy ``all`` stands for those that can be made, without ``others`` if the work is
        limited: they go by time.

        Raises an ExhumeError where one cannot be found or made.
        """
        others = others or {}
        every = [*STRATEGIES, *(others if settings.rlimit is None else ())]
        names = [one for name in settings.strategy for one in (every if name == ALL else [name])]
        names = list(dict.fromkeys(names))
        _check_names(settings.settings, [name for name in names if name not in others])
        solvers = find_solvers(settings.specs, texts=any(name not in others for name in names))
        kinds = {solver.kin for solver in solvers}
        left_out: dict[str, str] = {}
        fitting = [name for name in names if name not in STRATEGIES or STRATEGIES[name].is_for(kinds)]
        if fitting:
            for name in sorted(set(names) - set(fitting)):
                left_out[name] = f"its tests are for {' and '.join(STRATEGIES[name].only)} only"
            names = fitting
        if settings.base is not None:
            place = settings.solver.index(settings.base)
            solvers[place] = replace(solvers[place], is_base=True)
        prepare()
        sources = Sources(
            _path(settings.corpus), settings.rules, _path(settings.skeletons_from), settings.seeds, prefer
        )
        made: list[Strategy] = []
        problems: list[ExhumeError] = []
        alone = len(names) == 1
        with steps("preparing strategies") as tick:
            for number, name in enumerate(names):
                if not alone:
                    tick(number, len(names))
                try:
                    made.append(
                        others[name]() if name in others else _strategy(name, alone, settings, sources)
                    )
                except ExhumeError as problem:
                    if ALL not in settings.strategy or name in settings.strategy:
                        raise
                    left_out[name] = str(problem)
                    problems.append(problem)
        if not made:
            raise problems[0]
        return cls(settings, solvers, made, left_out=left_out)

    def identity(self) -> dict[str, Any]:
        """What determines the tests and outcomes: the campaign cannot be resumed if this differs."""
        given = self.settings
        same = ("seed", "strategy", "bandit", "seeds", "settings", "rules", "incremental", "skeletons_from")
        return {
            **{name: value for name, value in to_document(given).items() if name in same},
            "modes": [given.modes, given.mode_share],
            "solvers": [solver.spec for solver in self.solvers],
            "versions": {solver.name: solver.version() for solver in self.solvers},
            "corpus": {strategy.name: strategy.fingerprint for strategy in self.strategies},
            "exhume": VERSION,
            **({"base": given.base} if given.base else {}),
        }

    def run(
        self,
        options: HuntOptions,
        state: CampaignState,
        listen: Callable[[Event], None],
        stop: threading.Event | None = None,
        executor: Executor | None = None,
    ) -> CampaignEnd:
        """Start or resume the campaign that ``state`` holds; ``listen`` gets every event.

        Findings are stored in the corpus, if there is one, as they come. Of the solvers' options, those that
        history blames come first, unless ``options`` names others.
        """
        if self.settings.corpus is not None and not options.modes_first:
            options = replace(options, modes_first=blamed_options(Path(self.settings.corpus)))
        schedule = Schedule(
            *(self.strategies, options.seed, bool(self.settings.bandit), options.tests, state.loaded),
            self.first,
        )
        events = hunt(schedule, self.solvers, options, stop, state=state, executor=executor)
        if self.settings.corpus is None:
            return _follow(events, listen)
        by_name = {strategy.name: strategy for strategy in self.strategies}
        recorder = Recorder(Path(self.settings.corpus), by_name, options.seed, self.solvers)

        def record(event: Event) -> None:
            if isinstance(event, FindingConfirmed) and not event.record.known:
                recorder.add(event.record)
            elif isinstance(event, Progress) and (stored := recorder.take_stored()):
                state.mark_stored(stored)
            listen(event)

        try:
            for finding in _not_stored(options.out, state):
                recorder.add(finding)
            end = _follow(events, record)
        finally:
            recorder.close()
        with contextlib.suppress(OSError):
            state.mark_stored(recorder.take_stored())
        if not recorder.left:
            return end
        return replace(
            end,
            not_stored=f"{counted(recorder.left, 'finding')} {'is' if recorder.left == 1 else 'are'} not in"
            f" the corpus yet: {recorder.problem};"
            " the next run of the same campaign stores them",
        )


def _check_names(given: Sequence[str], strategies: Sequence[str]) -> None:
    """GenerationError for a setting that none of these strategies has."""
    known = {setting.name for name in strategies for setting in find_strategy(name).settings}
    for pair in given:
        name = pair.partition("=")[0]
        if name not in known:
            hint = did_you_mean(nearest(name, known))
            raise GenerationError(f"--set {pair}: no strategy of this hunt has it{hint}")


def _strategy(name: str, alone: bool, settings: CampaignSettings, sources: Sources) -> Strategy:
    """The strategy of this name. With others beside it, it gets only the settings and seeds that it takes."""
    entry = STRATEGIES.get(name)
    given = own_settings(settings.settings, settings.incremental)
    if entry is not None and not alone:
        own = {setting.name for setting in entry.settings}
        given = tuple(text for text in given if text.partition("=")[0] in own)
        if "seeds" not in entry.needs:
            sources = replace(sources, seeds=None)
    made = StrategySettings(settings.seed, 0, settings.solver, given, alone=True)
    return build_strategy(name, sources, made)


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _stages(first: float | None) -> tuple[Stage, ...]:
    """The time limits, with ``first`` seconds as the first of them."""
    if first is None:
        return DEFAULT_STAGES
    return (Stage(first, 1.0), *(stage for stage in DEFAULT_STAGES[1:] if stage.seconds > first))


def _follow(events: Iterator[Event], listen: Callable[[Event], None]) -> CampaignEnd:
    summary: HuntSummary | None = None
    try:
        for event in events:
            if isinstance(event, HuntFinished):
                summary = event.summary
            listen(event)
    except KeyboardInterrupt:
        if summary is None:
            raise
    except Exception as error:
        if summary is None:
            raise
        return CampaignEnd(summary, error)
    assert summary is not None, "a hunt ends with its summary"
    return CampaignEnd(summary)


def _not_stored(out: Path, state: CampaignState) -> Iterator[FindingRecord]:
    """The campaign's findings of earlier runs that the corpus does not have."""
    if len(state.loaded.runs) > 1:
        stored = {found.id for found in state.loaded.findings if found.stored or found.earlier}
        yield from (record for record in read_findings(out / "findings") if record.id not in stored)
