"""The command hunt: campaigns from the command line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from base.errors import Exit
from base.version import VERSION
from difftest import DEFAULT_STAGES, Executor, HuntOptions, Solver, Stage, find_solvers
from difftest.campaign.modes import DEFAULT_SHARE, ModeKind
from difftest.campaign.state import CampaignState
from exhume.commands.campaign import resumed_settings, run_campaign
from exhume.commands.options import SOLVER_HELP, Jobs, Json, Oracles, Seed, chosen_oracles
from exhume.commands.strategy_options import (
    Incremental,
    Rules,
    RulesOption,
    Seeds,
    Settings,
    SkeletonsFrom,
    build_strategy,
)
from exhume.screens.console import print_json, say
from exhume.screens.hunt import HuntScreen
from exhume.screens.summary import show_summary
from generator import STRATEGIES, Strategy, StrategySettings

_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)\Z")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_DEFAULT_TESTS = 1000


class Where(StrEnum):
    """Where a hunt's tests run."""

    LOCAL = "local"
    DASK = "dask"


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("hunt")(hunt_command)


def parse_duration(text: str) -> float:
    """Seconds of ``90``, ``90s``, ``10m``, ``8h``, ``2d``."""
    match = _DURATION.match(text)
    if match is None:
        raise typer.BadParameter(f"{text} is no duration; write 90s, 10m, 8h or 2d")
    seconds = float(match[1]) * _SECONDS[match[2]]
    if seconds == 0:
        raise typer.BadParameter(f"{text} leaves no time; write 90s, 10m, 8h or 2d")
    return seconds


def hunt_command(
    context: typer.Context,
    out_folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The campaign's folder: findings and its state.")
    ],
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", metavar="FILE", help="The corpus, a DuckDB file.", dir_okay=True),
    ] = None,
    solver: Annotated[
        list[str] | None,
        typer.Option(
            "--solver",
            metavar="SPEC",
            help=SOLVER_HELP,
        ),
    ] = None,
    tests: Annotated[int | None, typer.Option(help="Tests of the whole campaign.", min=1)] = None,
    duration: Annotated[
        str | None, typer.Option("--time", help="Stop this run after: 90s, 10m, 8h, 2d.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the campaign in DIR, with its settings.")
    ] = False,
    seed: Seed = 1,
    jobs: Jobs = 1,
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            metavar="NAME,NAME",
            help="See 'exhume strategies'; several share the time.  [default: skeletons]",
        ),
    ] = None,
    bandit: Annotated[
        bool | None,
        typer.Option(
            "--bandit/--no-bandit",
            help="Move time to strategies and theories that pay.  [default: on, unless --tests is given]",
        ),
    ] = None,
    seeds: Seeds = None,
    settings: Settings = None,
    rules: RulesOption = Rules.FULL,
    incremental: Incremental = False,
    skeletons_from: SkeletonsFrom = None,
    oracles: Oracles = None,
    modes: Annotated[
        ModeKind,
        typer.Option(help="What some tests run a solver under: option settings, z3's tactics, both, none."),
    ] = ModeKind.ALL,
    mode_share: Annotated[
        float, typer.Option(help="Share of the tests that run a solver under those.", min=0, max=1)
    ] = DEFAULT_SHARE,
    first_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="Limit of a solver's first run on a test.  [default: 0.1, or less where tests need less]",
            min=0.01,
            max=60,
        ),
    ] = None,
    executor: Annotated[
        Where, typer.Option(help="Run tests in this process's own workers, or on a dask cluster.")
    ] = Where.LOCAL,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="For --executor dask: tcp://HOST:PORT.")
    ] = None,
    json: Json = False,
) -> None:
    """Generate tests and run solvers against each other.

    Confirmed findings end up as folders in DIR/findings and in the corpus. The same command on the same DIR,
    or --resume, goes on where the campaign was, also after a kill. Ctrl-C ends it cleanly: what runs is
    finished, the summary shown. Without --tests and --time: 1000 tests. Exit code 1: something was found.
    """
    given: dict[str, Any] = {
        "corpus": _absolute(corpus),
        "solver": list(solver or []),
        "tests": tests,
        "duration": duration,
        "seed": seed,
        "strategy": [name.strip() for part in strategy or ["skeletons"] for name in part.split(",")],
        "bandit": bandit,
        "seeds": str(Path(seeds).absolute()) if seeds and Path(seeds).is_dir() else seeds,
        "settings": list(settings or []),
        "rules": rules.value,
        "incremental": incremental,
        "skeletons_from": _absolute(skeletons_from),
        "oracles": list(oracles or []),
        "modes": modes.value,
        "mode_share": mode_share,
        "first_limit": first_limit,
    }
    if resume:
        given = _taken_over(context, given, resumed_settings(out_folder))
    if not given["solver"]:
        raise typer.BadParameter("name the solvers, each with --solver")
    if not given["corpus"] and not given["seeds"]:
        raise typer.BadParameter("name a --corpus, or for strategies that take them a folder of --seeds")
    seconds = None if given["duration"] is None else parse_duration(given["duration"])
    if given["tests"] is None and seconds is None:
        given["tests"] = _DEFAULT_TESTS
    if given["bandit"] is None:
        given["bandit"] = given["tests"] is None
    names = chosen_oracles(given["oracles"])
    found_solvers = find_solvers(given["solver"])
    strategies = _strategies(given)
    options = HuntOptions(
        *(out_folder, jobs, given["seed"], given["tests"], seconds),
        oracles=names,
        modes=ModeKind(given["modes"]),
        mode_share=given["mode_share"],
        stages=_stages(given["first_limit"]),
        paced=given["first_limit"] is None,
    )
    title = f"exhume hunt: {', '.join(solver.name for solver in found_solvers)}, findings in {out_folder}"
    with (
        CampaignState.open(
            out_folder, _identity(given, found_solvers, strategies), executor, jobs, {"given": given}
        ) as state,
        _executor(executor, scheduler, found_solvers, strategies, out_folder) as chosen,
    ):
        screen = HuntScreen(title, _goal(given), json)
        file = Path(given["corpus"]) if given["corpus"] else None
        end = run_campaign(strategies, found_solvers, options, state, given["bandit"], screen, file, chosen)
    if json:
        print_json(end.summary.to_json())
    else:
        show_summary(end.summary)
    if end.error:
        say(f"exhume: the hunt was stopped, 'exhume hunt --resume --out {out_folder}' goes on with it:")
        raise end.error
    if end.summary.interrupted:
        raise typer.Exit(Exit.INTERRUPTED)
    raise typer.Exit(Exit.FINDINGS if end.summary.findings else Exit.DONE)


def _stages(first: float | None) -> tuple[Stage, ...]:
    """The time limits, the first of them as given."""
    if first is None:
        return DEFAULT_STAGES
    return (Stage(first, 1.0), *(stage for stage in DEFAULT_STAGES[1:] if stage.seconds > first))


def _absolute(path: Path | None) -> str | None:
    return None if path is None else str(path.absolute())


def _taken_over(
    context: typer.Context, given: Mapping[str, Any], stored: Mapping[str, Any]
) -> dict[str, Any]:
    """The campaign's settings, but for what was given on the command line now."""
    said = {name for name in given if _is_said(context, name)}
    taken = {**given, **{name: value for name, value in stored.items() if name not in said}}
    if "tests" in said or "duration" in said:
        # A new end takes the place of the old one.
        taken.update({name: given[name] for name in ("tests", "duration")})
    return taken


def _is_said(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _identity(
    given: Mapping[str, Any], solvers: Sequence[Solver], strategies: Sequence[Strategy]
) -> dict[str, Any]:
    """What makes a campaign's tests and outcomes: it cannot be gone on with when this differs."""
    same = ("seed", "strategy", "bandit", "seeds", "settings", "rules", "incremental", "skeletons_from")
    return {
        **{name: given[name] for name in same},
        "modes": [given["modes"], given["mode_share"]],
        "solvers": [solver.spec for solver in solvers],
        "versions": {solver.name: solver.version() for solver in solvers},
        "corpus": {strategy.name: strategy.fingerprint for strategy in strategies},
        "exhume": VERSION,
    }


def _strategies(given: Mapping[str, Any]) -> list[Strategy]:
    """The strategies by name; a setting or seeds go to those that take them."""
    names = list(dict.fromkeys(given["strategy"]))
    made = []
    for name in names:
        entry = STRATEGIES.get(name)
        alone = len(names) == 1 or entry is None
        own = {setting.name for setting in entry.settings} if entry else set()
        taken = [text for text in given["settings"] if alone or text.partition("=")[0] in own]
        seeds = given["seeds"] if entry is None or alone or "seeds" in entry.needs else None
        wanted = StrategySettings(
            given["seed"], given["incremental"], 0, tuple(given["solver"]), tuple(taken)
        )
        donor = Path(given["skeletons_from"]) if given["skeletons_from"] else None
        file = Path(given["corpus"]) if given["corpus"] else None
        made.append(build_strategy(file, name, given["solver"], Rules(given["rules"]), donor, wanted, seeds))
    return made


@contextmanager
def _executor(
    where: Where,
    scheduler: str | None,
    solvers: Sequence[Solver],
    strategies: Sequence[Strategy],
    campaign: Path,
) -> Iterator[Executor | None]:
    """What runs the tests; None for the hunt's own workers."""
    if where is Where.LOCAL:
        if scheduler:
            raise typer.BadParameter("--scheduler is for --executor dask")
        yield None
        return
    if not scheduler:
        raise typer.BadParameter("--executor dask needs the cluster's address: --scheduler tcp://HOST:PORT")
    from difftest.campaign.dask_executor import DaskExecutor

    with DaskExecutor(scheduler, solvers, strategies, campaign) as made:
        yield made


def _goal(given: Mapping[str, Any]) -> str:
    goals = [str(given[name]) for name in ("duration", "tests") if given[name] is not None]
    return f" of {' or '.join(goals)}{' tests' if given['tests'] is not None else ''}"
