"""Commands on findings: reduce, bisect."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from apifuzz.minimise.files import MinimisingOptions
from apifuzz.running import calls as _calls  # noqa: F401 (the kind of their findings)
from apifuzz.running.folder import CallsFolder
from apifuzz.running.runs import RUN_LIMITS
from base.errors import ExhumeError
from difftest import EnvironmentProblem, Solver, find_solvers
from difftest.reduction.text import Step
from difftest.triage.bisect import BisectReport, bisect, bisect_file
from difftest.triage.folder import DOCUMENT, REPORT, FindingFolder
from difftest.triage.reduce import ReductionReport, reduce
from difftest.triage.splitting import split
from difftest.triage.store import findings_of
from exhume.commands.options import Jobs, Json, parse_duration
from exhume.commands.traces import minimise_trace
from exhume.screens.console import out, print_json, progress, say, show_table

Target = Annotated[
    Path,
    typer.Argument(
        metavar="FINDING|FILE", help="A finding's folder, or a formula; with --all a campaign.", exists=True
    ),
]
Solvers = Annotated[
    list[str] | None,
    typer.Option("--solver", metavar="SPEC", help="For a FILE: a solver to run; once per solver."),
]
All = Annotated[bool, typer.Option("--all", help="All findings of a campaign that need it.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("reduce")(reduce_command)
    app.command("bisect")(bisect_command)


def reduce_command(
    target: Target,
    solver: Solvers = None,
    all_: All = False,
    duration: Annotated[
        str, typer.Option("--time", help="Stop after this time, for each: 90s, 5m, 1h.")
    ] = "5m",
    tries: Annotated[
        int | None,
        typer.Option(
            help="For flaky findings: it has to show in two of so many runs.  [default: 1]",
            min=1,
            max=100,
            show_default=False,
        ),
    ] = None,
    ddsmt: Annotated[bool, typer.Option(help="Use ddSMT where it is installed.")] = True,
    jobs: Jobs = 1,
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the reduced formula goes.")
    ] = None,
    json: Json = False,
) -> None:
    """Make the formula of a finding as small as it gets.

    The same class, solvers, options, place or answers are kept. The original stays as it is; the result is
    reduced.smt2 in the finding's folder, or NAME.reduced.smt2 beside a FILE. Of calls it is the trace that
    gets small. Started again, it resumes.
    """
    seconds = parse_duration(duration)
    if all_:
        _reject_for_all(solver, out_file)
        _for_all(
            target, _is_not_small, lambda path: _reduce(path, (), seconds, tries, ddsmt, jobs, None, json)
        )
        say(f"next: exhume bisect --all {target}")
        return
    _check_target(target, solver)
    _reduce(target, find_solvers(solver or []), seconds, tries, ddsmt, jobs, out_file, json)
    if not json:
        given = [part for spec in solver or [] for part in ("--solver", spec)]
        say(f"next: {shlex.join(['exhume', 'bisect', str(target), *given])}")


def _check_target(target: Path, solver: list[str] | None) -> None:
    if target.is_dir() and solver:
        raise typer.BadParameter("a finding says itself which solvers it takes; --solver is for a FILE")
    if not target.is_dir() and not solver:
        raise typer.BadParameter("name the solvers that go wrong on the file with --solver")
    if target.is_dir() and not (target / DOCUMENT).is_file() and (target / "findings").is_dir():
        raise typer.BadParameter(f"{target} is a campaign: name one of {target}/findings, or give --all")


def _reject_for_all(solver: list[str] | None, out_file: Path | None = None) -> None:
    if solver or out_file:
        raise typer.BadParameter("--all takes a campaign: no --solver and no --out")


def _for_all(
    campaign: Path, is_needed: Callable[[FindingFolder], bool], work: Callable[[Path], None]
) -> None:
    """Do it with all findings of a campaign that need it; what cannot be done is said, and goes on."""
    found = [record.path for record in findings_of(campaign)]
    left = [path for path in found if is_needed(FindingFolder.read(path))]
    for number, path in enumerate(left, 1):
        say(f"{number} of {len(left)}: {path.name}")
        try:
            work(path)
        except EnvironmentProblem:
            raise
        except ExhumeError as problem:
            say(f"{path.name}: {problem}")
    say(f"{len(left)} of {len(found)} findings were worked on")


def _is_not_small(found: FindingFolder) -> bool:
    if isinstance(found, CallsFolder):
        return not found.data.get("complete", True)
    return not found.is_reduced


def _reduce(
    target: Path,
    solvers: Sequence[Solver],
    seconds: float,
    tries: int | None,
    ddsmt: bool,
    jobs: int,
    out_file: Path | None,
    json: bool,
) -> None:
    if target.is_dir() and isinstance(FindingFolder.read(target), CallsFolder):
        minimise_trace(target, None, MinimisingOptions(seconds, RUN_LIMITS, jobs), json)
        return

    def tell(step: Step) -> None:
        if not json:
            say(f"{step.tool}: {step.size} bytes after {step.checks} checks, {step.seconds:.1f} s")

    report = reduce(target, solvers, seconds, None if ddsmt else False, out_file, tries=tries, on_step=tell)
    if json:
        print_json(report.to_json())
    else:
        _show_reduction(report, ddsmt)


def _show_reduction(report: ReductionReport, wanted_ddsmt: bool) -> None:
    out.print(report.text, end="" if report.text.endswith("\n") else "\n")
    out.print(
        f"{report.finding_class}: {report.size_before} to {report.size_after} bytes, "
        f"{report.commands_before} to {report.commands_after} commands, in {report.reduced}",
    )
    if wanted_ddsmt and not report.with_ddsmt:
        say("ddSMT is not installed (pip install 'exhume[reduce]'): by our own passes only")
    if not report.complete:
        say("stopped for lack of time; start it again to resume, or give it more with --time")
    if report.shown is not None and report.shown < report.tries:
        say(f"a matter of chance: of {report.tries} runs {report.shown} showed it")
    if not report.confirmed:
        say("warning: fresh processes do not show it with the result; if that is chance, try --tries 5")


def bisect_command(
    target: Target,
    solver: Solvers = None,
    all_: All = False,
    again: Annotated[bool, typer.Option("--again", help="Do not use what an earlier run found.")] = False,
    json: Json = False,
) -> None:
    """Find the first affected and the first fixed release of a finding's solver.

    Releases are fetched through pip into the cache, as z3==4.8.5 is; what was tried is kept in bisect.json.
    Tests that a hunt counted under the same key become findings of their own if the releases tell them apart.
    """
    if all_:
        _reject_for_all(solver)
        _for_all(target, lambda found: again or not found.bisection, lambda path: _bisect(path, again, json))
        say(f"next: exhume triage {target}; exhume report {target}")
        return
    _check_target(target, solver)
    if target.is_dir():
        _bisect(target, again, json)
        if not json:
            say(f"next: read {target / REPORT}, and send it")
        return
    with progress("trying releases", json) as tick:
        report = bisect_file(target, find_solvers(solver or []), tick)
    if json:
        print_json(report.to_json())
    else:
        _show_bisection(report)


def _bisect(target: Path, again: bool, json: bool) -> None:
    with progress("trying releases", json) as tick:
        report = bisect(target, again=again, on_try=tick)
    if not json:
        _show_bisection(report)
    with progress("comparing tests of the same key", json) as tick:
        others = split(target, report, again=again, on_try=tick)
    if json:
        print_json(report.to_json() | {"same_key": others.to_json()})
    elif others.compared:
        told = ", ".join(path.name for path in others.findings) or "none"
        out.print(f"{others.compared} tests of the same key compared; with causes of their own: {told}")


def _show_bisection(report: BisectReport) -> None:
    rows = [[release, str(state)] for release, state in report.tried]
    show_table(["release", "state"], rows)
    out.print(f"first affected: {report.first_affected or 'not known'}{_bound(report)}")
    out.print(f"first fixed: {report.first_fixed or 'none: the newest is affected'}")


def _bound(report: BisectReport) -> str:
    return " (the oldest that runs here)" if report.since_the_oldest else ""
