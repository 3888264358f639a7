"""The command apifuzz: campaigns of API fuzzing, and what one does with a trace."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from apifuzz.engines import ENGINES
from apifuzz.minimise.files import MinimisingOptions
from apifuzz.running.campaign import Options, Summary, campaign
from apifuzz.running.describing import describe
from apifuzz.running.runs import RUN_LIMITS, Drawing
from apifuzz.running.setup import Setup
from base.errors import Exit
from corpus.errors import CorpusError
from difftest import Limits
from difftest.triage.store import FindingRecord
from exhume.commands.options import Jobs, Json, parse_duration
from exhume.commands.traces import ModelFormat, minimise_trace, print_model, replay_trace, translate_trace
from exhume.screens.apifuzz import ApifuzzScreen, show_statistics, show_summary
from exhume.screens.console import print_json, say
from exhume.screens.interrupt import stop_on_interrupt

_DEFAULT_RUNS = 1000
_MINIMISE_TIME = "5m"


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("apifuzz")(apifuzz_command)


def apifuzz_command(
    solver: Annotated[
        str | None,
        typer.Option(
            "--solver",
            metavar="SPEC",
            help=f"{', '.join(ENGINES)} (prints SMT-LIB), or NAME=COMMAND that reads SMT-LIB.",
        ),
    ] = None,
    out_folder: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The campaign's folder: findings, counts.")
    ] = None,
    cross_check: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Make each call with this solver, too, and compare the answers."),
    ] = None,
    check_witnesses: Annotated[
        bool, typer.Option("--check-witnesses", help="Re-check values, cores and failed assumptions.")
    ] = False,
    runs: Annotated[int | None, typer.Option(help="Runs of the whole campaign.", min=1)] = None,
    duration: Annotated[
        str | None, typer.Option("--time", help="Stop after: 90s, 10m, 8h, 2d.  [minimising: 5m]")
    ] = None,
    jobs: Jobs = 1,
    seed: Annotated[int, typer.Option(help="Same seed and version: same runs.", min=0)] = 1,
    theories: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,NAME", help="Theory files to draw on.  [default: some, for each run]"),
    ] = None,
    quantifiers: Annotated[
        bool | None,
        typer.Option("--quantifiers/--no-quantifiers", help="With them or without.  [default: by chance]"),
    ] = None,
    options: Annotated[
        bool, typer.Option("--options/--no-options", help="Draw options of the solver.")
    ] = True,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Set this option in every run.")
    ] = None,
    only_options: Annotated[
        list[str] | None, typer.Option(metavar="WORD,WORD", help="Draw options with such a word in the name.")
    ] = None,
    calls: Annotated[int, typer.Option(help="Calls of a run, at most.", min=1)] = 200,
    limit: Annotated[float, typer.Option(help="Seconds that a run may take.", min=0.1)] = RUN_LIMITS.seconds,
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", metavar="FILE", help="Feed terms of this corpus in.", dir_okay=True),
    ] = None,
    known: Annotated[
        list[Path] | None,
        typer.Option("--known", metavar="FILE", help="Errors that are no findings; see DIR/known.json."),
    ] = None,
    older: Annotated[
        bool,
        typer.Option("--older/--no-older", help="Ask older releases, fetched with pip, which show it."),
    ] = True,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Counts per state, action, operator, sort and option.")
    ] = False,
    replay: Annotated[
        Path | None, typer.Option(metavar="TRACE", help="Make the calls of a trace (or finding) again.")
    ] = None,
    minimise: Annotated[
        Path | None,
        typer.Option(
            "--minimise", metavar="TRACE", help="Make a trace, or a finding's, as small as it gets."
        ),
    ] = None,
    to_smtlib: Annotated[
        Path | None, typer.Option(metavar="TRACE", help="Print a trace as an SMT-LIB script.")
    ] = None,
    model: Annotated[
        bool, typer.Option("--print-model", help="Print the model that runs are drawn from.")
    ] = False,
    model_format: Annotated[
        ModelFormat, typer.Option("--format", help="Of the model: a table, or Graphviz's dot.")
    ] = "table",
    json: Json = False,
) -> None:
    """Draw valid call sequences and make them on a solver's own interface.

    Errors that a fresh process shows again end up as folders in DIR/findings. The same command on the same
    DIR goes on where it was. Ctrl-C ends it cleanly: what runs is finished, the summary shown. Without --runs
    and --time: 1000 runs. Exit code 1: something was found, or a trace that is replayed ends in an error.
    """
    modes = {"--replay": replay, "--minimise": minimise, "--to-smtlib": to_smtlib}
    asked = [name for name, value in {**modes, "--print-model": model or None}.items() if value]
    if len(asked) > 1:
        raise typer.BadParameter(f"{asked[0]} and {asked[1]}: one thing at a time")
    limits = Limits(limit, RUN_LIMITS.memory, RUN_LIMITS.output)
    if replay is not None:
        replay_trace(replay, solver, limits, json)
    elif minimise is not None:
        seconds = parse_duration(duration or _MINIMISE_TIME)
        minimise_trace(minimise, solver, MinimisingOptions(seconds, limits, jobs, older), json)
    elif to_smtlib is not None:
        translate_trace(to_smtlib)
    elif model:
        print_model(_setup(solver or "smtlib", cross_check, check_witnesses), model_format)
    else:
        if out_folder is None:
            raise typer.BadParameter("name a folder for what is found with --out")
        seconds_or_none = None if duration is None else parse_duration(duration)
        if runs is None and seconds_or_none is None:
            runs = _DEFAULT_RUNS
        drawing = Drawing(
            _words(theories), quantifiers, options, _settings(option), _words(only_options), calls
        )
        _check_theories(drawing.theories)
        wanted = Options(
            out_folder,
            seed,
            runs,
            seconds_or_none,
            jobs,
            limits,
            known=tuple(known or ()),
            corpus=corpus,
            describe=partial(describe, older=older),
        )
        ends = [duration] * (duration is not None) + [f"{runs} runs"] * (runs is not None)
        goal = f" of {' or '.join(map(str, ends))}"
        _campaign(_setup(solver, cross_check, check_witnesses), drawing, wanted, goal, statistics, json)


# The campaign


def _campaign(
    setup: Setup, drawing: Drawing, options: Options, goal: str, statistics: bool, json: bool
) -> None:
    against = f" with {setup.cross_check}" if setup.cross_check else ""
    title = f"exhume apifuzz: {setup.label}{against}, findings in {options.out}"
    screen = ApifuzzScreen(title, goal, json)
    last: Summary | None = None
    with stop_on_interrupt() as stop, screen:
        for told in campaign(setup, drawing, options, stop):
            if isinstance(told, FindingRecord):
                screen.found(told)
            else:
                last = told
                screen.update(told)
    assert last is not None, "a campaign ends with its summary"
    if options.corpus is not None and last.findings:
        _store(options.corpus, options)
    if json:
        print_json(last.to_json())
    else:
        show_summary(last)
        if statistics:
            show_statistics(last)
    if last.interrupted:
        raise typer.Exit(Exit.INTERRUPTED)
    raise typer.Exit(Exit.FINDINGS if last.findings else Exit.DONE)


def _store(corpus: Path, options: Options) -> None:
    """Put what was found into the corpus; the next part of the campaign does what is left."""
    from apifuzz.running.store_findings import store_findings

    try:
        store_findings(corpus, options.out, options.seed)
    except (CorpusError, OSError) as problem:
        say(f"findings are not in the corpus yet, the same command puts them there: {problem}")


def _setup(solver: str | None, cross_check: str | None, witnesses: bool) -> Setup:
    if solver is None:
        raise typer.BadParameter("name the solver with --solver")
    for spec in filter(None, (solver, cross_check)):
        if spec not in ENGINES and "=" not in spec:
            raise typer.BadParameter(
                f"no engine for {spec!r}; there are {', '.join(ENGINES)} and NAME=COMMAND"
            )
    return Setup(solver, cross_check, witnesses)


def _words(given: list[str] | None) -> tuple[str, ...]:
    return tuple(word.strip() for part in given or () for word in part.split(",") if word.strip())


def _settings(given: list[str] | None) -> tuple[tuple[str, str], ...]:
    pairs = []
    for text in given or ():
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise typer.BadParameter(f"{text}: write --option NAME=VALUE")
        pairs.append((name, value))
    return tuple(pairs)


def _check_theories(names: tuple[str, ...]) -> None:
    from smtlib import default_theories

    known = sorted(default_theories().theories)
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"there is no theory {name}; there are {', '.join(known)}")
