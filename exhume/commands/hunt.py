"""The command hunt: campaigns from the command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from base.errors import ExhumeError
from difftest import Executor
from difftest.campaign.campaign import Campaign, CampaignEnd, CampaignSettings
from difftest.campaign.modes import DEFAULT_SHARE, ModeKind
from difftest.triage.store import check_output
from exhume.commands.campaigns import goal_of, leave, run_campaign
from exhume.commands.finding_options import Earlier, LedgerFile, Oracles, known_before
from exhume.commands.options import (
    SOLVER_HELP,
    CampaignFolder,
    Incremental,
    Jobs,
    Json,
    OptionalCorpus,
    RLimit,
    RulesOption,
    Seed,
    Seeds,
    Settings,
    SkeletonsFrom,
    comma_separated,
    parse_duration,
)
from exhume.screens.console import print_json, progress, say
from exhume.screens.hunt import HuntScreen
from exhume.screens.summary import show_summary
from exhume.screens.wording import command_line
from generator import STRATEGIES, Strategy
from generator.build import ALL, CORPUS, find_first_answers

OptionalSolvers = Annotated[
    list[str] | None,
    typer.Option("--solver", metavar="SPEC", help=f"{SOLVER_HELP}  [required unless --resume]"),
]
Tests = Annotated[
    int | None,
    typer.Option(help="Stop after N tests, counted over all runs of the campaign.", min=1),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="DURATION",
        help="Stop this run after this wall time, counted from its first test: 90s, 10m, 8h, 2d.",
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Resume the campaign in the folder --out with its settings.")
]
Strategies = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        metavar="NAME,NAME",
        help="Strategies that make the tests; see 'exhume strategies'. Several share the time. 'api'"
        " fuzzes the programming interfaces of the solvers; 'all' is every strategy that can work with the"
        " corpus, seeds and solvers given.  [default: all]",
    ),
]
Bandit = Annotated[
    bool | None,
    typer.Option(
        "--bandit/--no-bandit",
        help="Give more solver time to strategies and theories that find bugs.  [default: on, if"
        " only --time is given]",
    ),
]
Modes = Annotated[
    ModeKind,
    typer.Option(
        help="Run a share of the tests under solver options (options), tactics (tactics), both (all),"
        " or both and experimental options (experimental). With 'default', solvers always have their"
        " default options."
    ),
]
ModeShare = Annotated[float, typer.Option(help="Share of the tests run under --modes.", min=0, max=1)]
FirstLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Time limit of each solver's first run on a test. Some undecided tests are run again with 1"
        " s and 10 s.  [default: adaptive, at most 0.1]",
        min=0.01,
        max=60,
    ),
]
Where = Literal["local", "dask"]
ExecutorName = Annotated[
    Where, typer.Option("--executor", help="Run tests on this machine (local) or on a dask cluster (dask).")
]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Address of the dask scheduler: tcp://HOST:PORT."),
]


def _reject_files(paths: list[str] | None) -> None:
    if paths:
        given = shlex.join(paths)
        raise ExhumeError(
            f"hunt takes no files; run solvers on them with 'exhume replay {given} --solver SPEC', or"
            f" generate similar tests: 'exhume import {given} --corpus FILE', 'exhume hunt --corpus FILE'"
        )


Files = Annotated[
    list[str] | None, typer.Argument(hidden=True, callback=_reject_files, help="A hunt takes none.")
]


def hunt_command(
    context: typer.Context,
    out_folder: CampaignFolder,
    _files: Files = None,
    corpus: OptionalCorpus = None,
    solver: OptionalSolvers = None,
    tests: Tests = None,
    duration: Time = None,
    resume: Resume = False,
    seed: Seed = 1,
    jobs: Jobs = 1,
    strategy: Strategies = None,
    bandit: Bandit = None,
    seeds: Seeds = None,
    settings: Settings = None,
    rules: RulesOption = "full",
    incremental: Incremental = False,
    skeletons_from: SkeletonsFrom = None,
    oracles: Oracles = None,
    modes: Modes = ModeKind.ALL,
    mode_share: ModeShare = DEFAULT_SHARE,
    first_limit: FirstLimit = None,
    rlimit: RLimit = None,
    ledger: LedgerFile = None,
    earlier: Earlier = None,
    executor: ExecutorName = "local",
    scheduler: Scheduler = None,
    json: Json = False,
) -> None:
    """Hunt for bugs: generate tests and compare solvers on them.

    Findings are confirmed in a fresh process and stored as folders in DIR/findings and in the corpus. To
    resume a campaign, even after it was killed, repeat the command with the same DIR or use --resume.
    Ctrl-C finishes the running tests and shows the summary. Without --tests and --time, a hunt runs 1000
    tests; without --corpus and --seeds, it uses the starter tracker's corpus. Exit code 1: there are
    findings.
    """
    given = CampaignSettings(
        *(tuple(solver or ()), absolute(corpus), tests, duration, seed),
        strategy=chosen_strategies(strategy),
        bandit=bandit,
        seeds=chosen_seeds(seeds),
        settings=tuple(settings or ()),
        rules=rules,
        incremental=incremental,
        skeletons_from=absolute(skeletons_from),
        oracles=tuple(oracles or ()),
        modes=modes,
        mode_share=mode_share,
        first_limit=first_limit,
        rlimit=rlimit,
        **known_before(ledger, earlier),
    )
    if resume:
        given = given.resumed(out_folder, [name for name in context.params if _is_given(context, name)])
    _check_work(given, executor, scheduler)
    if not given.solver:
        raise typer.BadParameter("name the solvers, each with --solver")
    if not given.corpus and not given.seeds and set(given.strategy) != {"api"}:
        given = replace(given, corpus=starter(json))
    end = _hunt(given.with_defaults(), out_folder, jobs, executor, scheduler, json)
    if json:
        print_json(end.summary.to_json())
    else:
        show_summary(end.summary)
    again = command_line("hunt", "--resume", "--out", out_folder)
    if end.error:
        if end.summary.problem:
            say(f"exhume: the hunt stopped; resume it: {again}. The cause:")
        raise end.error
    if not json and end.summary.interrupted:
        say(f"next: {again}")
    elif not json and end.summary.findings:
        say(f"next: {command_line('reduce', '--all', out_folder)}")
    raise leave(end)


def _check_work(given: CampaignSettings, where: Where, scheduler: str | None) -> None:
    """Usage errors of --time, --executor and --rlimit, before anything is made: what depends on time does not
    go with --rlimit.
    """
    if given.duration is not None:
        parse_duration(given.duration)
    if where == "local" and scheduler:
        raise typer.BadParameter("--scheduler requires --executor dask")
    if where == "dask" and not scheduler:
        raise typer.BadParameter(
            "--executor dask requires the cluster's address: --scheduler tcp://HOST:PORT"
        )
    if given.rlimit is not None and (given.bandit or given.first_limit is not None or where != "local"):
        raise typer.BadParameter("--rlimit cannot be used with --bandit, --first-limit or --executor dask")


def chosen_seeds(given: str | None) -> str | None:
    """The value of --seeds, whose path stays the same wherever the hunt is resumed."""
    if given is None or given == CORPUS or given in STRATEGIES:
        return given
    if not Path(given).exists():
        raise typer.BadParameter(f"--seeds {given}: no such folder; name one, 'corpus' or a strategy")
    return absolute(Path(given))


def chosen_strategies(given: list[str] | None) -> tuple[str, ...]:
    """The strategies by name, each once; all where none is named."""
    return tuple(dict.fromkeys(comma_separated(given))) or (ALL,)


def _hunt(
    settings: CampaignSettings, out: Path, jobs: int, executor: Where, scheduler: str | None, quiet: bool
) -> CampaignEnd:
    """Run the campaign under a live screen."""
    seconds = None if settings.duration is None else parse_duration(settings.duration)
    options = settings.options(out, jobs, seconds)

    def prepare() -> None:
        check_output(out)  # nobody waits a minute for answers and learns then that nothing can be written
        find_answers(settings, jobs, quiet)

    steps = partial(progress, quiet=quiet)
    campaign = Campaign.of(settings, {"api": lambda: _api(settings, out)}, prepare, steps=steps)
    say_left_out(campaign)
    title = f"exhume hunt: {', '.join(solver.name for solver in campaign.solvers)}, findings in {out}"
    screen = HuntScreen(title, goal_of(settings, "tests"), quiet)
    workers = _executor(scheduler, campaign, out)
    return run_campaign(campaign, options, screen, where=executor, executor=workers)


def say_left_out(campaign: Campaign) -> None:
    """A line for every strategy that the campaign does without."""
    for name, why in campaign.left_out.items():
        say(f"strategy {name} is left out: {why}")


def starter(quiet: bool) -> str:
    """The corpus of the starter tracker, made in the user's cache if it is not there."""
    from miner.starter import starter_corpus

    path = starter_corpus(lambda what: progress(what, quiet))
    say(f"no --corpus: using that of the starter tracker, {path}")
    return str(path.absolute())


def find_answers(settings: CampaignSettings, jobs: int, quiet: bool) -> None:
    """The answers of the first seeds, for strategies that need some, as far as the corpus has none yet."""
    if settings.corpus is None or settings.seeds not in (None, CORPUS):
        return
    with progress("finding answers of formulas", quiet) as tick:
        found = find_first_answers(settings.strategy, Path(settings.corpus), jobs, tick)
    if found is not None:
        known = found.sat + found.unsat
        say(f"found trusted answers for {known} formulas; 'exhume label --corpus FILE' finds the rest")


def _api(settings: CampaignSettings, out: Path) -> Strategy:
    """The strategy that fuzzes the solvers' programming interfaces."""
    from apifuzz.running.strategy import strategy_for

    corpus = None if settings.corpus is None else Path(settings.corpus)
    return strategy_for(settings.solver, settings.seed, out, corpus)


def absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


@contextmanager
def _executor(scheduler: str | None, campaign: Campaign, out: Path) -> Iterator[Executor | None]:
    """The executor of the tests; None for the hunt's own workers."""
    if scheduler is None:
        yield None
        return
    from difftest.campaign.dask_executor import DaskExecutor

    with DaskExecutor(scheduler, campaign.solvers, campaign.strategies, out) as made:
        yield made
