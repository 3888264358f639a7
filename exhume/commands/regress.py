"""The command regress: what is new in a solver, compared with a base."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from base.text import counted
from difftest.campaign.campaign import CampaignSettings
from difftest.campaign.events import HuntSummary
from difftest.regress import STRATEGY, find_difference, left_of, named, not_new, regression_campaign, to_json
from exhume.commands.campaigns import goal_of, leave, run_campaign
from exhume.commands.finding_options import Earlier, LedgerFile, known_before
from exhume.commands.hunt import (
    Strategies,
    Tests,
    absolute,
    chosen_strategies,
    find_answers,
    say_left_out,
    starter,
)
from exhume.commands.options import (
    CampaignFolder,
    Jobs,
    Json,
    OptionalCorpus,
    RLimit,
    Seed,
    parse_duration,
)
from exhume.screens.console import out, print_json, progress, say
from exhume.screens.hunt import HuntScreen
from exhume.screens.summary import show_summary
from exhume.screens.wording import command_line, some
from solvers.specs import parse_spec

_TIME = "15m"

BaseSources = Annotated[
    Path | None,
    typer.Option(
        "--base-sources",
        metavar="DIR",
        help="Checkout that --base was built from.",
        exists=True,
        file_okay=False,
    ),
]
NewSources = Annotated[
    Path | None,
    typer.Option(
        "--new-sources",
        metavar="DIR",
        help="Checkout that --new was built from.",
        exists=True,
        file_okay=False,
    ),
]


def regress_command(
    base: Annotated[
        str,
        typer.Option(
            "--base", metavar="SPEC", help="Solver that --new is compared with: a release, or NAME=COMMAND."
        ),
    ],
    new: Annotated[str, typer.Option("--new", metavar="SPEC", help="Solver to look for regressions in.")],
    corpus: OptionalCorpus = None,
    regressions: Annotated[
        Path | None,
        typer.Option(
            "--regressions",
            metavar="DIR",
            help="Also replay the .smt2 files of this folder, before the corpus unless tests are directed.",
            exists=True,
        ),
    ] = None,
    duration: Annotated[
        str | None,
        typer.Option(
            "--time",
            metavar="DURATION",
            help="Stop after this wall time, counted from the first test: 90s, 15m, 6h.  [default: 15m,"
            " unless --tests or --rlimit is given]",
        ),
    ] = None,
    directed: Annotated[
        bool | None,
        typer.Option(
            "--directed/--undirected",
            help="Compare the sources of both, and start with tests that the changes can affect. Source"
            " packages of releases are fetched.  [default: directed if sources or a coverage map are named]",
            show_default=False,
        ),
    ] = None,
    coverage: Annotated[
        Path | None,
        typer.Option(
            "--coverage",
            metavar="MAP",
            help="Map of 'exhume solvers coverage': formulas that run changed functions come first. Turns"
            " --directed on.",
        ),
    ] = None,
    base_sources: BaseSources = None,
    new_sources: NewSources = None,
    tests: Tests = None,
    seed: Seed = 1,
    jobs: Jobs = 1,
    strategy: Strategies = None,
    rlimit: RLimit = None,
    ledger: LedgerFile = None,
    earlier: Earlier = None,
    out_folder: CampaignFolder = Path("exhume-regress"),
    json: Json = False,
) -> None:
    """Find bugs that a new build of a solver has and a base build does not.

    First replays known formulas on both: the files of --regressions and the formulas of the corpus, each
    with the options of its failing run. Then generates tests for the rest of the time. Reports wrong
    answers, crashes, wrong models, contradictions, wrong proofs, lost answers and slowdowns of --new that
    --base does not have; what --base also shows is counted, and formulas that only --new refuses are named.
    Without --corpus it uses the starter tracker's corpus. The campaign can be resumed, reduced and reported
    like a hunt. Exit code 1: there are new findings, or files of --regressions that only --new refuses.
    """
    strategies = tuple(name for name in chosen_strategies(strategy) if name != "api")
    if not strategies:
        raise typer.BadParameter("regress compares solvers on formulas: it has no strategy 'api'")
    if duration is None and tests is None and rlimit is None:
        duration = _TIME
    seconds = None if duration is None else parse_duration(duration)
    settings = CampaignSettings(
        *((new, base), absolute(corpus) or starter(json), tests, duration, seed),
        strategy=(STRATEGY, *strategies),
        base=base,
        regressions=absolute(regressions),
        rlimit=rlimit,
        directed=directed,
        **known_before(ledger, earlier),
    ).with_defaults()
    difference = find_difference(settings, (base_sources, new_sources), coverage)
    known = None if isinstance(difference, str) else difference
    campaign, direction = regression_campaign(
        settings, partial(find_answers, settings, jobs, json), known, partial(progress, quiet=json)
    )
    say(f"directed: {direction}" if direction else f"undirected: {difference}")
    say_left_out(campaign)
    title = f"exhume regress: {new} compared with {base}, findings in {out_folder}"
    screen = HuntScreen(title, goal_of(settings, "tests"), json)
    options = settings.options(out_folder, jobs, seconds)
    options = replace(options, modes_first=direction.options if direction else frozenset())
    end = run_campaign(campaign, options, screen)
    left = left_of(campaign, end.summary)
    if json:
        print_json({"left": left, **to_json(settings, end.summary, direction)})
    else:
        _show(end.summary, settings, left, out_folder)
    raise leave(end, named(end.summary)["only_new_refuses_files"])


def _show(summary: HuntSummary, settings: CampaignSettings, left: Mapping[str, int], folder: Path) -> None:
    """Print what a regression hunt came to."""
    new, base = (parse_spec(spec).name for spec in settings.solver)
    show_summary(summary)
    old = {kind: sum(classes.values()) for kind, classes in not_new(summary).items()}
    out.print(f"also in {base}: {old['not_new']}; only in {base} (fixed, or hidden): {old['only_in_base']}")
    tests = named(summary)
    for what in ("file", "test"):
        if refused := tests[f"only_new_refuses_{what}s"]:
            out.print(f"{counted(len(refused), what)} that {base} accepts and {new} refuses: {some(refused)}")
    if what := next((what for what, count in left.items() if count), ""):
        how = " with more --tests" if summary.tests == settings.tests else ""
        said = counted(left[what], what.replace("_", " ").removesuffix("s"))
        out.print(
            f"not run yet: {said}; repeat the command{how} to run {'it' if left[what] == 1 else 'them'}"
        )
    if summary.findings:
        say(f"next: {command_line('reduce', '--all', folder)}")
