"""What one does with a trace: make its calls again, make it small, say it in SMT-LIB; and the model."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal, NoReturn

import typer

from apifuzz.engine import Engine
from apifuzz.minimise.files import MinimisingOptions, TraceFile, minimise_file
from apifuzz.running.runs import Runner, RunResult
from apifuzz.running.setup import Setup
from apifuzz.trace import Trace, TraceError, print_trace
from base.documents import to_document
from base.errors import Exit
from difftest import Limits
from exhume.screens.console import out, print_json, say

ModelFormat = Literal["table", "dot"]
"""How the model is printed."""


def replay_trace(file: Path, solver: str | None, limits: Limits, json: bool) -> NoReturn:
    """Make the calls of a trace, or of a finding's, again; exit code 1 says that it ends in an error."""
    trace = TraceFile.read(file).trace
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
        "fault": to_document(result.fault),
        "seconds": round(result.seconds, 3),
    }


def _show_replay(result: RunResult) -> None:
    for line, reason in result.refused:
        say(f"left out{f' line {line}' if line else ''}: {reason}")
    if result.answers:
        out.print(" ".join(result.answers))
    if result.fault is None:
        out.print(f"{result.outcome}: {result.calls} calls, no error")
        return
    if result.printed.strip():
        say(result.printed.strip()[-2000:])
    out.print(f"{result.fault.kind} in {result.fault.action}: {result.fault.detail}")


def minimise_trace(target: Path, solver: str | None, options: MinimisingOptions, json: bool) -> None:
    """Make a trace small, beside the file or in the finding's folder; then its script, if that shows it."""
    source = TraceFile.read(target)
    shortest = math.inf

    def tell(smaller: Trace, checks: int) -> None:
        # One line per tenth that is gone.
        nonlocal shortest
        if not json and len(smaller.lines) <= 0.9 * shortest:
            shortest = len(smaller.lines)
            say(f"{shortest} calls after {checks} checks")

    report, script = minimise_file(source, Setup.of_trace(source.trace, solver), options, tell)
    if json:
        print_json({**report.to_json(), "result": str(source.result), "script": script and str(script)})
        return
    out.print(print_trace(report.trace), end="")
    (lines, left), (size, small) = report.lines, report.size
    out.print(
        f"{report.fault.kind}: {lines} to {left} calls, {size} to {small} bytes, in {source.result}",
    )
    if script:
        out.print(f"in SMT-LIB: {script}")
    if not report.complete:
        say("stopped for lack of time; start it again to go on, or give it more with --time")
    if not report.confirmed:
        say("warning: a fresh process does not show it with the result; is it a matter of chance?")


def translate_trace(file: Path) -> None:
    """Print a trace as an SMT-LIB script; what cannot be said goes to standard error."""
    from apifuzz.engines.text import translate

    trace = TraceFile.read(file).trace
    translation = translate(trace)
    for line, reason in translation.refused:
        say(f"left out{f' line {line}' if line else ''}: {reason}")
    out.print(translation.script, end="")


def print_model(setup: Setup, wanted: ModelFormat) -> None:
    """Print the model that runs of an engine are drawn from."""
    from apifuzz.model import default_model

    engine: Engine = setup.make()
    model = default_model(engine)
    out.print(model.dot() if wanted == "dot" else model.table(), end="")
