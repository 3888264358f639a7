"""The command apifuzz: campaigns of API fuzzing, and what one does with a trace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from apifuzz.interface import Wrapper
from apifuzz.minimise.session import Minimised, minimise
from apifuzz.running.campaign import Options, Summary, campaign
from apifuzz.running.describing import describe
from apifuzz.running.findings import MINIMISED, TRACE, Finding, read_document, update_finding
from apifuzz.running.runs import RUN_LIMITS, Drawing, Runner, RunResult
from apifuzz.running.setup import Setup
from apifuzz.trace import MAX_TEXT, Trace, TraceError, print_trace, read_trace
from apifuzz.wrappers import WRAPPERS, WrapperMissing
from difftest import EnvironmentProblem, Limits
from exhume.apifuzz_screen import ApifuzzScreen, show_statistics, show_summary
from exhume.campaign import stop_on_interrupt
from exhume.exits import Exit
from exhume.hunt_commands import parse_duration
from exhume.options import Jobs, Json
from exhume.screen import out, print_json, say

_DEFAULT_RUNS = 1000
_MINIMISE_TIME = "5m"


class ModelFormat(StrEnum):
    """How the model is printed."""

    TABLE = "table"
    DOT = "dot"


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("apifuzz")(apifuzz_command)


def apifuzz_command(
    solver: Annotated[
        str | None,
        typer.Option(
            "--solver",
            metavar="SPEC",
            help="z3, cvc5, bitwuzla, smtlib (prints SMT-LIB), or NAME=COMMAND that reads SMT-LIB.",
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
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Counts per state, action, operator, sort and option.")
    ] = False,
    replay: Annotated[
        Path | None, typer.Option(metavar="TRACE", help="Make the calls of a trace (or finding) again.")
    ] = None,
    minimise_trace: Annotated[
        Path | None,
        typer.Option(
            "--minimise", metavar="TRACE", help="Make a trace, or a finding's, as small as it gets."
        ),
    ] = None,
    to_smtlib: Annotated[
        Path | None, typer.Option(metavar="TRACE", help="Print a trace as an SMT-LIB script.")
    ] = None,
    print_model: Annotated[
        bool, typer.Option("--print-model", help="Print the model that runs are drawn from.")
    ] = False,
    model_format: Annotated[
        ModelFormat, typer.Option("--format", help="Of the model: a table, or Graphviz's dot.")
    ] = ModelFormat.TABLE,
    json: Json = False,
) -> None:
    """Draw valid call sequences and make them on a solver's own interface.

    Errors that a fresh process shows again end up as folders in DIR/findings. The same command on the same
    DIR goes on where it was. Ctrl-C ends it cleanly: what runs is finished, the summary shown. Without --runs
    and --time: 1000 runs. Exit code 1: something was found, or a trace that is replayed ends in an error.
    """
    modes = {"--replay": replay, "--minimise": minimise_trace, "--to-smtlib": to_smtlib}
    asked = [name for name, value in {**modes, "--print-model": print_model or None}.items() if value]
    if len(asked) > 1:
        raise typer.BadParameter(f"{asked[0]} and {asked[1]}: one thing at a time")
    limits = Limits(limit, RUN_LIMITS.memory, RUN_LIMITS.output)
    with _plain_errors():
        if replay is not None:
            _replay(replay, solver, limits, json)
        elif minimise_trace is not None:
            seconds = parse_duration(duration or _MINIMISE_TIME)
            _minimise(minimise_trace, solver, jobs, seconds, limits, json)
        elif to_smtlib is not None:
            _translate(to_smtlib)
        elif print_model:
            _print_model(_setup(solver or "smtlib", cross_check, check_witnesses), model_format)
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
                describe=describe,
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
            if isinstance(told, Finding):
                screen.found(told)
            else:
                last = told
                screen.update(told)
    assert last is not None, "a campaign ends with its summary"
    if json:
        print_json(last.to_json())
    else:
        show_summary(last)
        if statistics:
            show_statistics(last)
    if last.interrupted:
        raise typer.Exit(Exit.INTERRUPTED)
    raise typer.Exit(Exit.FINDINGS if last.findings else Exit.DONE)


def _setup(solver: str | None, cross_check: str | None, witnesses: bool) -> Setup:
    if solver is None:
        raise typer.BadParameter("name the solver with --solver")
    for spec in filter(None, (solver, cross_check)):
        if spec not in WRAPPERS and "=" not in spec:
            raise typer.BadParameter(
                f"no wrapper for {spec!r}; there are {', '.join(WRAPPERS)} and NAME=COMMAND"
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

    known = sorted(default_theories().about)
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"there is no theory {name}; there are {', '.join(known)}")


# What one does with a trace


def _replay(file: Path, solver: str | None, limits: Limits, json: bool) -> None:
    trace, _ = _read(file)
    setup = Setup.of_trace(trace, solver)
    with Runner(setup) as runner:
        result = runner.replay_fresh(print_trace(trace), limits)
    if result.outcome == "trace":
        raise TraceError(f"{file}: {result.detail}")
    if json:
        print_json(_replay_document(result, setup))
    else:
        _show_replay(result)
    raise typer.Exit(Exit.FINDINGS if result.fault else Exit.DONE)


def _replay_document(result: RunResult, setup: Setup) -> dict[str, Any]:
    return {
        "solver": setup.label,
        "outcome": result.outcome,
        "answers": list(result.answers),
        "calls": result.calls,
        "refused": [{"line": line, "reason": reason} for line, reason in result.refused],
        "fault": result.fault.to_json() if result.fault else None,
        "seconds": round(result.seconds, 3),
    }


def _show_replay(result: RunResult) -> None:
    for line, reason in result.refused:
        say(f"left out{f' line {line}' if line else ''}: {reason}")
    if result.answers:
        out.print(" ".join(result.answers), markup=False)
    if result.fault is None:
        out.print(f"{result.outcome}: {result.calls} calls, no error", markup=False)
        return
    if result.printed.strip():
        say(result.printed.strip()[-2000:])
    out.print(f"{result.fault.kind} in {result.fault.action}: {result.fault.detail}", markup=False)


def _minimise(
    target: Path, solver: str | None, jobs: int, seconds: float, limits: Limits, json: bool
) -> None:
    trace, folder = _read(target)
    result = folder / MINIMISED if folder else target.with_name(f"{target.stem}.min.trace")
    if result.exists() and result.samefile(folder / TRACE if folder else target):
        raise typer.BadParameter(f"{result}: the result would overwrite the original")

    def tell(smaller: Trace, checks: int) -> None:
        if not json:
            say(f"{len(smaller.lines)} calls after {checks} checks")

    report = minimise(
        trace,
        Setup.of_trace(trace, solver),
        jobs=jobs,
        seconds=seconds,
        limits=limits,
        result=result,
        on_step=_seldom(tell),
    )
    if folder:
        _update(folder, report)
    if json:
        print_json({**report.to_json(), "result": str(result)})
        return
    out.print(print_trace(report.trace), markup=False, end="")
    (lines, left), (size, small) = report.lines, report.size
    out.print(
        f"{report.fault.kind}: {lines} to {left} calls, {size} to {small} bytes, in {result}", markup=False
    )
    if not report.complete:
        say("stopped for lack of time; start it again to go on, or give it more with --time")
    if not report.confirmed:
        say("warning: a fresh process does not show it with the result; is it a matter of chance?")


def _seldom(tell: Callable[[Trace, int], None]) -> Callable[[Trace, int], None]:
    """Tell only when the trace has got shorter by a tenth."""
    last = [0]

    def told(trace: Trace, checks: int) -> None:
        if not last[0] or len(trace.lines) <= 0.9 * last[0]:
            last[0] = len(trace.lines)
            tell(trace, checks)

    return told


def _update(folder: Path, report: Minimised) -> None:
    """What a finding's folder says of its minimised trace."""
    with Runner(Setup(**read_document(folder)["setup"])) as runner:
        texts = describe(runner, report.trace, report.fault)
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    update_finding(folder, {"lines": list(report.lines), "complete": report.complete})


def _translate(file: Path) -> None:
    from apifuzz.wrappers.text import translate

    trace, _ = _read(file)
    translation = translate(trace)
    for line, reason in translation.refused:
        say(f"left out{f' line {line}' if line else ''}: {reason}")
    out.print(translation.script, markup=False, end="")


def _print_model(setup: Setup, wanted: ModelFormat) -> None:
    from apifuzz.model import default_model

    wrapper: Wrapper = setup.make()
    model = default_model(wrapper)
    out.print(model.dot() if wanted is ModelFormat.DOT else model.table(), markup=False, end="")


def _read(file: Path) -> tuple[Trace, Path | None]:
    """The trace in a file, or a finding's with its folder."""
    folder = file if file.is_dir() else None
    source = file / TRACE if folder else file
    try:
        with source.open("rb") as handle:
            data = handle.read(MAX_TEXT + 1)
    except OSError as problem:
        raise TraceError(f"{source}: cannot be read: {problem.strerror or problem}") from problem
    try:
        return read_trace(data.decode("utf-8", "replace")), folder
    except TraceError as error:
        raise TraceError(f"{source}: {error}") from None


@contextmanager
def _plain_errors() -> Iterator[None]:
    """What is wrong with a trace or a spec, as usage errors; a missing wheel is the environment's."""
    try:
        yield
    except TraceError as error:
        raise typer.BadParameter(str(error)) from error
    except WrapperMissing as error:
        if "not installed" in str(error):
            raise EnvironmentProblem(str(error)) from error
        raise typer.BadParameter(str(error)) from error
