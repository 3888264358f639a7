"""The command apifuzz: API fuzzing campaigns, and commands on traces."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from apifuzz.calls import New, SetOption
from apifuzz.engine import Engine
from apifuzz.engines import ENGINES
from apifuzz.run import Drawing
from apifuzz.running.describing import describe
from apifuzz.running.faults import REJECTED
from apifuzz.running.runs import RUN_LIMITS, Runner
from apifuzz.running.setup import TWINS, Setup
from apifuzz.running.strategy import CallsStrategy
from apifuzz.trace import Line, Trace, print_call, print_trace
from base.version import VERSION
from difftest.campaign.campaign import Campaign, CampaignEnd, CampaignSettings
from difftest.campaign.upgrading import upgrade
from difftest.triage.known import read_known
from exhume.commands.campaigns import goal_of, leave, run_campaign
from exhume.commands.finding_options import Earlier, LedgerFile, known_before
from exhume.commands.help import PlainGroup
from exhume.commands.options import (
    LARGEST_SEED,
    CampaignFolder,
    Jobs,
    Json,
    RunLimit,
    comma_separated,
    parse_duration,
)
from exhume.commands.traces import (
    Older,
    limits_of,
    minimise_command,
    model_command,
    replay_command,
    to_smtlib_command,
)
from exhume.screens.console import print_json
from exhume.screens.hunt import HuntScreen
from exhume.screens.summary import show_statistics, show_summary

_DEFAULT_RUNS = 1000

group = typer.Typer(
    cls=PlainGroup,
    help="Fuzz the programming interfaces of solvers.\n\n"
    "Makes random but valid sequences of API calls and looks for crashes and wrong answers.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@group.command("run")
def run_command(
    solver: Annotated[
        str,
        typer.Option(
            "--solver",
            metavar="SPEC",
            help=f"Solver to fuzz: {', '.join(ENGINES)} (only prints SMT-LIB), or any program that reads"
            " SMT-LIB, NAME=COMMAND.",
        ),
    ],
    out_folder: CampaignFolder,
    cross_check: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Also make each call on this solver and compare the answers."),
    ] = None,
    check_witnesses: Annotated[
        bool,
        typer.Option("--check-witnesses", help="Check model values, unsat cores and failed assumptions."),
    ] = False,
    runs: Annotated[
        int | None, typer.Option(help="Stop after N runs, counted over the whole campaign.", min=1)
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option("--time", metavar="DURATION", help="Stop after this wall time: 90s, 10m, 8h, 2d."),
    ] = None,
    jobs: Jobs = 1,
    seed: Annotated[
        int,
        typer.Option(
            help="Seed number. The same seed and version give the same runs.", min=0, max=LARGEST_SEED
        ),
    ] = 1,
    theories: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,NAME", help="Theories to use.  [default: random per run]"),
    ] = None,
    quantifiers: Annotated[
        bool | None,
        typer.Option("--quantifiers/--no-quantifiers", help="Allow quantifiers.  [default: random per run]"),
    ] = None,
    options: Annotated[
        bool, typer.Option("--options/--no-options", help="Set random solver options.")
    ] = True,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Set this option in every run. Repeat for more."),
    ] = None,
    only_options: Annotated[
        list[str] | None,
        typer.Option(metavar="WORD,WORD", help="Set only options whose name contains one of these words."),
    ] = None,
    calls: Annotated[int, typer.Option(help="Maximum number of calls per run.", min=1)] = 200,
    limit: RunLimit = RUN_LIMITS.seconds,
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", metavar="FILE", help="Also use terms from this corpus.", dir_okay=True),
    ] = None,
    known: Annotated[
        list[Path] | None,
        typer.Option(
            "--known",
            metavar="FILE",
            help="A campaign's known.json of an earlier version: its errors are counted but not reported."
            " Use --earlier DIR instead.",
        ),
    ] = None,
    ledger: LedgerFile = None,
    earlier: Earlier = None,
    older: Older = True,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Print counts per state, action, operator, sort and option.")
    ] = False,
    json: Json = False,
) -> None:
    """Run an API fuzzing campaign.

    Errors that a fresh process reproduces become findings, stored as folders in DIR/findings. To resume a
    campaign, repeat the command with the same DIR. Ctrl-C finishes the current run and shows the summary.
    Without --runs and --time, a campaign has 1000 runs. Exit code 1: there are findings.
    """
    drawing = Drawing(
        comma_separated(theories),
        quantifiers,
        options,
        _settings(option),
        comma_separated(only_options),
        calls,
    )
    setup = _setup(solver, cross_check, check_witnesses)
    engine = setup.make()
    _check_theories(drawing.theories, setup, engine)
    _check_options(drawing, setup, engine)
    strategy = CallsStrategy(
        (setup,),
        seed,
        drawing,
        limits_of(limit),
        feed=corpus,
        describe=partial(describe, older=older),
        more_known=read_known(known or ()),
        unconfirmed=out_folder / "unconfirmed",
    )
    tests = _DEFAULT_RUNS if runs is None and duration is None else runs
    settings = CampaignSettings(
        *((solver,), str(corpus.absolute()) if corpus else None, tests, duration, seed),
        strategy=(strategy.name,),
        bandit=False,
        **known_before(ledger, earlier),
    )
    end = _run(settings, strategy, out_folder, jobs, json)
    if json:
        print_json(end.summary.to_json())
    else:
        show_summary(end.summary)
        if statistics:
            show_statistics(end.summary)
    raise leave(end)


def _run(
    settings: CampaignSettings, strategy: CallsStrategy, out: Path, jobs: int, quiet: bool
) -> CampaignEnd:
    """Run the campaign under a live screen."""
    seconds = None if settings.duration is None else parse_duration(settings.duration)
    options = replace(settings.options(out, jobs, seconds), paced=False)
    title = f"exhume apifuzz: {strategy.setups[0].title}, findings in {out}"
    if out.is_dir():
        upgrade(out)
    identity = {"strategy": [strategy.name], "seed": settings.seed, **strategy.settings, "exhume": VERSION}
    performer = strategy.performer()
    identity["versions"] = [performer.version()]
    performer.close()
    screen = HuntScreen(title, goal_of(settings, "runs"), quiet)
    return run_campaign(Campaign(settings, (), [strategy]), options, screen, identity)


def _setup(solver: str, cross_check: str | None, witnesses: bool) -> Setup:
    for spec in filter(None, (solver, cross_check)):
        if spec not in ENGINES and "=" not in spec:
            raise typer.BadParameter(
                f"no engine for {spec!r}; choose one of {', '.join(ENGINES)}, or NAME=COMMAND"
            )
    setup = Setup(solver, cross_check, witnesses)
    if setup.has_twins:
        raise typer.BadParameter(f"{TWINS}: give --cross-check another, as in old=COMMAND")
    return setup


def _settings(given: list[str] | None) -> tuple[tuple[str, str], ...]:
    pairs = []
    for text in given or ():
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"{text}: write --option NAME=VALUE")
        pairs.append((name, value))
    return tuple(pairs)


def _check_theories(names: tuple[str, ...], setup: Setup, engine: Engine) -> None:
    """Raises BadParameter where a name is no theory, or one that the solvers do not have."""
    from apifuzz.operators import known_theories
    from smtlib import default_theories

    if not names:
        return
    known = sorted(default_theories().theories)
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"there is no theory {name}; the theories are {', '.join(known)}")
    own = known_theories(engine.families, engine.capabilities())
    if lacking := [name for name in names if name not in own]:
        raise typer.BadParameter(
            f"{setup.title} does not have {', '.join(lacking)}; it has {', '.join(sorted(own))}"
        )


def _check_options(drawing: Drawing, setup: Setup, engine: Engine) -> None:
    """Raises BadParameter where no option has a word in its name, or one that is given cannot be set."""
    if drawing.only_options:
        names = " ".join(option.name for option in engine.options())
        if lacking := [word for word in drawing.only_options if word not in names]:
            raise typer.BadParameter(f"{engine.name} has no option with {lacking[0]} in its name")
    if not drawing.fixed_options:
        return
    given = dict(engine.capabilities().required_options)
    for name, value in drawing.fixed_options:
        if given.setdefault(name, value) != value:
            raise typer.BadParameter(f"--option {name}={value}: each run sets {name}={given[name]}")
    calls = [_line(New()), *(_line(SetOption(name, value)) for name, value in given.items())]
    text = print_trace(Trace(engine.name, 0, tuple(setup.settings()), tuple(calls)))
    with Runner(setup) as runner:
        result = runner.replay(text)
    refused = {text.split("\n")[number - 1]: reason for number, reason in result.refused}
    if result.fault is not None and result.fault.kind == REJECTED:
        refused[result.trace.split("\n")[-2]] = result.fault.detail
    for name, value in drawing.fixed_options:
        if reason := refused.get(print_call(_line(SetOption(name, value)))):
            raise typer.BadParameter(
                f"--option {name}={value}: {engine.name} does not take it: {reason[:200]}"
            )


def _line(call: New | SetOption) -> Line:
    return Line(0, call.name, call.tokens())


group.command("replay")(replay_command)
group.command("minimise")(minimise_command)
group.command("to-smtlib")(to_smtlib_command)
group.command("model")(model_command)
