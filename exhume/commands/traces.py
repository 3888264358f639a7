"""Commands on traces: replay, minimise, to-smtlib; and the model that runs are drawn from."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from apifuzz.engine import Engine
from apifuzz.minimise.files import MinimisingOptions, TraceFile, minimise_file
from apifuzz.minimise.session import look
from apifuzz.running.runs import RUN_LIMITS, Runner, RunResult, last_action
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace, TraceError, print_trace
from base.documents import to_document
from base.errors import Exit
from difftest import Limits
from exhume.commands.options import Jobs, Json, RunLimit, parse_duration
from exhume.screens.console import out, print_json, print_text, say

ModelFormat = Literal["table", "dot"]
"""How the model is printed."""


TraceArgument = Annotated[
    Path, typer.Argument(metavar="TRACE", help="Trace file, or the folder of an API finding.")
]
OptionalSolver = Annotated[
    str | None,
    typer.Option("--solver", metavar="SPEC", help="Solver to use.  [default: the solver of the trace]"),
]
OptionalCrossCheck = Annotated[
    str | None,
    typer.Option(
        "--cross-check",
        metavar="SPEC",
        help="Second solver, to compare answers with.  [default: the one that the trace names]",
    ),
]
Older = Annotated[
    bool, typer.Option("--older/--no-older", help="Check which older releases (fetched with pip) also fail.")
]


def replay_command(
    file: TraceArgument,
    solver: OptionalSolver = None,
    cross_check: OptionalCrossCheck = None,
    limit: RunLimit = RUN_LIMITS.seconds,
    json: Json = False,
) -> None:
    """Repeat the calls of a trace or finding.

    Exit code 1: the calls end in an error.
    """
    source = TraceFile.read(file)
    setup = _setup_of(source, solver, cross_check)
    with Runner(setup) as runner:
        result = look(runner, print_trace(source.trace), limits_of(limit), source.kind, fresh=True)
    if result.outcome == "trace":
        raise TraceError(f"{file}: {result.detail}")
    if json:
        print_json(_replay_document(result, setup))
    else:
        _show_replay(result)
    raise typer.Exit(Exit.FINDINGS if result.fault else Exit.DONE)


def _setup_of(source: TraceFile, solver: str | None, cross_check: str | None) -> Setup:
    """The solvers that make the calls. Raises TraceError, and EngineMissing where one is missing."""
    if source.setup is not None:
        # A trace names no program, but its finding does, as one of a formula.
        solver = solver or (source.setup.solver if "=" in source.setup.solver else None)
        second = source.setup.cross_check or ""
        cross_check = cross_check or (second if "=" in second else None)
    try:
        setup = Setup.of_trace(source.trace, solver, cross_check)
    except TraceError as error:
        raise TraceError(f"{source.file}: {error}") from None
    # In the process of a run, a solver that is missing would look like one that crashes.
    setup.make()
    return setup


def limits_of(seconds: float) -> Limits:
    """The limits of a run with this time limit."""
    return Limits(seconds, RUN_LIMITS.memory, RUN_LIMITS.output)


def _replay_document(result: RunResult, setup: Setup) -> dict[str, Any]:
    return {
        "solver": setup.label,
        "outcome": result.outcome,
        "answers": list(result.answers),
        "calls": result.calls,
        "refused": [{"line": line, "reason": reason} for line, reason in result.refused],
        "fault": to_document(result.fault),
        "seconds": round(result.seconds, 3),
    }


def _show_replay(result: RunResult) -> None:
    for line, reason in result.refused:
        say(f"skipped{f' line {line}' if line else ''}: {reason}")
    if result.answers:
        out.print(" ".join(result.answers))
    if result.fault is None:
        where = "" if result.outcome == "done" else f" in {last_action(result.trace)}"
        out.print(f"{result.outcome}{where}: {result.calls} calls, no error")
        return
    if result.printed.strip():
        say(result.printed.strip()[-2000:])
    out.print(f"{result.fault.kind} in {result.fault.action}: {result.fault.detail}")


def minimise_command(
    target: TraceArgument,
    solver: OptionalSolver = None,
    cross_check: OptionalCrossCheck = None,
    duration: Annotated[
        str, typer.Option("--time", metavar="DURATION", help="Stop after this wall time: 90s, 5m, 1h.")
    ] = "5m",
    jobs: Jobs = 1,
    limit: RunLimit = RUN_LIMITS.seconds,
    older: Older = True,
    json: Json = False,
) -> None:
    """Minimise a trace or finding: keep only the calls that the error needs.

    The result is TRACE.min.trace beside the trace, or minimised.trace in the folder of the finding. If
    SMT-LIB text shows the error as well, a script is written too. Repeat the command to resume.
    """
    options = MinimisingOptions(parse_duration(duration), limits_of(limit), jobs, older)
    document = minimise_trace(target, solver, options, json, cross_check)
    if json:
        print_json(document)


def minimise_trace(
    target: Path,
    solver: str | None,
    options: MinimisingOptions,
    quiet: bool,
    cross_check: str | None = None,
) -> dict[str, Any]:
    """Minimise a trace, beside the file or in the finding's folder; then its script, if that shows the
    error. Returns the JSON document; prints the result unless ``quiet``.
    """
    source = TraceFile.read(target)
    shortest = math.inf

    def tell(smaller: Trace, checks: int) -> None:
        # One line for each 10 % removed.
        nonlocal shortest
        if not quiet and len(smaller.lines) <= 0.9 * shortest:
            shortest = len(smaller.lines)
            say(f"{shortest} calls after {checks} checks")

    setup = _setup_of(source, solver, cross_check)
    report, script = minimise_file(source, setup, options, tell)
    document = {**report.to_json(), "result": str(source.result), "script": script and str(script)}
    if quiet:
        return document
    print_text(print_trace(report.trace))
    (lines, left), (size, small) = report.lines, report.size
    out.print(
        f"{report.fault.kind}: {lines} to {left} calls, {size} to {small} bytes, in {source.result}",
    )
    if script:
        out.print(f"in SMT-LIB: {script}")
    if not report.complete:
        say("stopped at the time limit; repeat the command to resume, or give more time with --time")
    if not report.confirmed:
        say("warning: a fresh process does not reproduce the error with the result; it may be flaky")
    return document


def to_smtlib_command(file: TraceArgument) -> None:
    """Print a trace as an SMT-LIB script.

    Calls that SMT-LIB cannot express are listed on standard error.
    """
    from apifuzz.engines.text import translate

    source = TraceFile.read(file)
    try:
        translation = translate(source.trace)
    except TraceError as error:
        raise TraceError(f"{source.file}: {error}") from None
    for line, reason in translation.refused:
        say(f"skipped{f' line {line}' if line else ''}: {reason}")
    print_text(translation.script)


def model_command(
    solver: Annotated[
        str, typer.Option("--solver", metavar="SPEC", help="Include the actions that only this solver has.")
    ] = "smtlib",
    form: Annotated[ModelFormat, typer.Option("--format", help="Table, or dot for Graphviz.")] = "table",
) -> None:
    """Print the state machine that runs are drawn from."""
    from apifuzz.model import default_model
    from exhume.pages.model import dot, table

    engine: Engine = Setup(solver).make()
    model = default_model(engine)
    print_text(dot(model) if form == "dot" else table(model))
