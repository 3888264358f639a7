"""What one does with a trace: make its calls again, make it small, say it in SMT-LIB; and the model."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any, NoReturn

import typer

from apifuzz.engine import Engine
from apifuzz.minimise.session import Minimised, minimise
from apifuzz.minimise.text import reduce_script
from apifuzz.running.describing import describe, smtlib_script
from apifuzz.running.findings import FORMULA, MINIMISED, REDUCED, TRACE, read_document, update_finding
from apifuzz.running.runs import Runner, RunResult
from apifuzz.running.setup import Setup
from apifuzz.trace import MAX_TEXT, Trace, TraceError, print_trace, read_trace
from difftest import Limits
from exhume.exits import Exit
from exhume.screen import out, print_json, say

_SCRIPT_SECONDS = 60.0


class ModelFormat(StrEnum):
    """How the model is printed."""

    TABLE = "table"
    DOT = "dot"


def replay_trace(file: Path, solver: str | None, limits: Limits, json: bool) -> NoReturn:
    """Make the calls of a trace, or of a finding's, again; exit code 1 says that it ends in an error."""
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


def minimise_trace(
    target: Path, solver: str | None, jobs: int, seconds: float, limits: Limits, older: bool, json: bool
) -> None:
    """Make a trace small, beside the file or in the finding's folder; then its script, if that shows it."""
    trace, folder = _read(target)
    result = folder / MINIMISED if folder else target.with_name(f"{target.stem}.min.trace")
    if result.exists() and result.samefile(folder / TRACE if folder else target):
        raise typer.BadParameter(f"{result}: the result would overwrite the original")

    def tell(smaller: Trace, checks: int) -> None:
        if not json:
            say(f"{len(smaller.lines)} calls after {checks} checks")

    setup = Setup.of_trace(trace, solver)
    report = minimise(
        trace,
        setup,
        jobs=jobs,
        seconds=seconds,
        limits=limits,
        result=result,
        on_step=_seldom(tell),
    )
    reduced = _reduce(report, setup, folder, result, min(seconds, _SCRIPT_SECONDS))
    if folder:
        _update(folder, report, older)
    if json:
        print_json({**report.to_json(), "result": str(result), "script": reduced and str(reduced)})
        return
    out.print(print_trace(report.trace), markup=False, end="")
    (lines, left), (size, small) = report.lines, report.size
    out.print(
        f"{report.fault.kind}: {lines} to {left} calls, {size} to {small} bytes, in {result}", markup=False
    )
    if reduced:
        out.print(f"in SMT-LIB: {reduced}", markup=False)
    if not report.complete:
        say("stopped for lack of time; start it again to go on, or give it more with --time")
    if not report.confirmed:
        say("warning: a fresh process does not show it with the result; is it a matter of chance?")


def _reduce(
    report: Minimised, setup: Setup, folder: Path | None, result: Path, seconds: float
) -> Path | None:
    """The calls that are left as an SMT-LIB script, reduced; None where that does not show the error."""
    script = smtlib_script(report.trace)
    if script is None:
        return None
    formula = folder / FORMULA if folder else result.with_suffix(".smt2")
    formula.write_text(script, "utf-8")
    reduced = folder / REDUCED if folder else result.with_suffix(".reduced.smt2")
    if reduce_script(formula, setup, seconds, reduced) is None:
        if folder is None:
            formula.unlink()
        return None
    return reduced


def _seldom(tell: Callable[[Trace, int], None]) -> Callable[[Trace, int], None]:
    """Tell only when the trace has got shorter by a tenth."""
    last = [0]

    def told(trace: Trace, checks: int) -> None:
        if not last[0] or len(trace.lines) <= 0.9 * last[0]:
            last[0] = len(trace.lines)
            tell(trace, checks)

    return told


def _update(folder: Path, report: Minimised, older: bool) -> None:
    """What a finding's folder says of its minimised trace."""
    with Runner(Setup(**read_document(folder)["setup"])) as runner:
        texts = describe(runner, report.trace, report.fault, older)
    update_finding(folder, texts, {"lines": list(report.lines), "complete": report.complete})


def translate_trace(file: Path) -> None:
    """Print a trace as an SMT-LIB script; what cannot be said goes to standard error."""
    from apifuzz.engines.text import translate

    trace, _ = _read(file)
    translation = translate(trace)
    for line, reason in translation.refused:
        say(f"left out{f' line {line}' if line else ''}: {reason}")
    out.print(translation.script, markup=False, end="")


def print_model(setup: Setup, wanted: ModelFormat) -> None:
    """Print the model that runs of an engine are drawn from."""
    from apifuzz.model import default_model

    engine: Engine = setup.make()
    model = default_model(engine)
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
