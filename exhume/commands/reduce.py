"""Commands on findings: reduce, bisect."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from apifuzz.running import calls as _calls  # noqa: F401 (the kind of their findings)
from apifuzz.running.folder import CallsFolder
from difftest import DifftestError, find_solvers
from difftest.reduction.text import Step
from difftest.triage.bisect import BisectReport, bisect
from difftest.triage.folder import FindingFolder
from difftest.triage.reduce import ReductionReport, reduce
from difftest.triage.splitting import split
from exhume.commands.options import Json, parse_duration
from exhume.screens.console import out, print_json, progress, say, show_table

Finding = Annotated[
    Path, typer.Argument(metavar="FINDING|FILE", help="A finding's folder, or a formula.", exists=True)
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("reduce")(reduce_command)
    app.command("bisect")(bisect_command)


def reduce_command(
    target: Finding,
    solver: Annotated[
        list[str] | None,
        typer.Option("--solver", metavar="SPEC", help="For a FILE: a solver to run; once per solver."),
    ] = None,
    duration: Annotated[str, typer.Option("--time", help="Stop after this time: 90s, 5m, 1h.")] = "5m",
    tries: Annotated[
        int | None,
        typer.Option(
            help="For what is a matter of chance: it has to show in two of so many runs.  [default: 1]",
            min=1,
            max=100,
            show_default=False,
        ),
    ] = None,
    ddsmt: Annotated[bool, typer.Option(help="Use ddSMT where it is installed.")] = True,
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the reduced formula goes.")
    ] = None,
    json: Json = False,
) -> None:
    """Make the formula of a finding as small as it gets.

    The same class, solvers, options, place or answers are kept. The original stays as it is; the result is
    reduced.smt2 in the finding's folder, or NAME.reduced.smt2 beside a FILE. Started again, it goes on.
    """
    seconds = parse_duration(duration)
    if target.is_dir() and solver:
        raise typer.BadParameter("a finding says itself which solvers it takes; --solver is for a FILE")
    if not target.is_dir() and not solver:
        raise typer.BadParameter("name the solvers that go wrong on the file with --solver")
    if target.is_dir() and isinstance(FindingFolder.read(target), CallsFolder):
        raise DifftestError(f"{target}: its trace is made small by exhume apifuzz minimise {target}")
    solvers = find_solvers(solver or [])

    def tell(step: Step) -> None:
        if not json:
            say(f"{step.tool}: {step.size} bytes after {step.checks} checks, {step.seconds:.1f} s")

    report = reduce(target, solvers, seconds, None if ddsmt else False, out_file, tries=tries, on_step=tell)
    if json:
        print_json(report.to_json())
        return
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
        say("stopped for lack of time; start it again to go on, or give it more with --time")
    if report.shown is not None and report.shown < report.tries:
        say(f"a matter of chance: of {report.tries} runs {report.shown} showed it")
    if not report.confirmed:
        say("warning: fresh processes do not show it with the result; if that is chance, try --tries 5")


def bisect_command(
    target: Annotated[
        Path, typer.Argument(metavar="FINDING", help="A finding's folder.", exists=True, file_okay=False)
    ],
    again: Annotated[bool, typer.Option("--again", help="Do not use what an earlier run found.")] = False,
    json: Json = False,
) -> None:
    """Find the first affected and the first fixed release of a finding's solver.

    Releases are fetched through pip into the cache, as z3==4.8.5 is; what was tried is kept in bisect.json.
    Tests that a hunt counted under the same key become findings of their own if the releases tell them apart.
    """
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
        out.print(
            f"{others.compared} tests of the same key compared; with causes of their own: {told}",
        )


def _show_bisection(report: BisectReport) -> None:
    rows = [[release, str(state)] for release, state in report.tried]
    show_table(["release", "state"], rows)
    out.print(f"first affected: {report.first_affected or 'not known'}{_bound(report)}")
    out.print(f"first fixed: {report.first_fixed or 'none: the newest is affected'}")


def _bound(report: BisectReport) -> str:
    return " (the oldest that runs here)" if report.since_the_oldest else ""
