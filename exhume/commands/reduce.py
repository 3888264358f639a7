"""Commands on findings: reduce, bisect."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from apifuzz.minimise.files import MinimisingOptions
from apifuzz.running import calls as _calls  # noqa: F401 (the kind of their findings)
from apifuzz.running.folder import CallsFolder
from apifuzz.running.runs import RUN_LIMITS
from base.errors import ExhumeError
from base.text import counted
from difftest import EnvironmentProblem, Solver, find_solvers
from difftest.errors import BadOutput
from difftest.reduction.ddsmt import is_installed
from difftest.reduction.text import Step
from difftest.triage.bisect import bisect
from difftest.triage.folder import DOCUMENT, REPORT, FindingFolder
from difftest.triage.reduce import ReductionReport, reduce
from difftest.triage.release_search import BisectReport
from difftest.triage.splitting import split
from difftest.triage.store import findings_of
from difftest.triage.transcribe import transcribe
from exhume.commands.options import Jobs, Json, parse_duration
from exhume.commands.traces import minimise_trace
from exhume.screens.console import out, print_json, print_text, progress, say, show_table
from exhume.screens.wording import command_line

Target = Annotated[
    Path,
    typer.Argument(
        metavar="FINDING|FILE",
        help="Folder of a finding, or an .smt2 file. With --all: folder of a campaign.",
        exists=True,
    ),
]
Solvers = Annotated[
    list[str] | None,
    typer.Option("--solver", metavar="SPEC", help="Only for a FILE: solver to run. Repeat for each solver."),
]
All = Annotated[bool, typer.Option("--all", help="Work on all findings of a campaign that need it.")]


def reduce_command(
    target: Target,
    solver: Solvers = None,
    all_: All = False,
    duration: Annotated[
        str,
        typer.Option("--time", metavar="DURATION", help="Time limit for each finding: 90s, 5m, 1h."),
    ] = "5m",
    tries: Annotated[
        int | None,
        typer.Option(
            help="For flaky bugs: run each step N times, and accept it if the bug shows at least twice."
            "  [default: 1]",
            min=1,
            max=100,
            show_default=False,
        ),
    ] = None,
    ddsmt: Annotated[bool, typer.Option(help="Use ddSMT if it is installed.")] = True,
    jobs: Jobs = 1,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Only for a FILE: output file for the reduced formula."),
    ] = None,
    json: Json = False,
) -> None:
    """Minimise the formula or the calls of a finding.

    The reduced formula shows the same bug: the same class, solvers, options, and crash place or answers. It
    is written to reduced.smt2 in the folder of the finding, or to NAME.reduced.smt2 beside a FILE; the
    original stays. For an API finding, the trace is minimised. Repeat the command to resume.
    """
    seconds = parse_duration(duration)
    if all_:
        _reject_for_all(solver, out_file)
        _for_all(
            target,
            lambda found: not found.is_small or _has_no_transcript(found),
            lambda path: _reduce_if_large(path, seconds, tries, ddsmt, jobs, json),
            then=command_line("bisect", "--all", target),
            json=json,
        )
        return
    _check_target(target, solver, out_file)
    if out_file is None:
        _check_writable(target if target.is_dir() else target.absolute().parent)
    solvers = find_solvers(solver or [], texts=True)
    document = _reduce(target, solvers, seconds, tries, ddsmt, jobs, out_file, json)
    if json:
        print_json(document)
    else:
        say(f"next: {command_line('bisect', target, *_given(solver))}")


def _has_no_transcript(found: FindingFolder) -> bool:
    return found.culprit is not None and found.transcript is None


def _reduce_if_large(
    path: Path, seconds: float, tries: int | None, ddsmt: bool, jobs: int, quiet: bool
) -> dict[str, Any]:
    """Reduce a finding; what a hunt made small is only run as a person does, for its report."""
    if FindingFolder.read(path).is_small:
        transcribe(path)
        return {}
    return _reduce(path, (), seconds, tries, ddsmt, jobs, None, quiet)


def _check_target(target: Path, solver: list[str] | None, out_file: Path | None = None) -> None:
    if target.is_dir() and solver:
        raise typer.BadParameter("--solver is only for a FILE; a finding names its solvers itself")
    if target.is_dir() and out_file:
        raise typer.BadParameter("--out is only for a FILE; the result of a finding is in its folder")
    if not target.is_dir() and not solver:
        raise typer.BadParameter("a FILE requires --solver: name the solvers that show the bug")
    if target.is_dir() and not (target / DOCUMENT).is_file() and (target / "findings").is_dir():
        raise typer.BadParameter(f"{target} is a campaign: name one of {target}/findings, or add --all")


def _check_writable(folder: Path) -> None:
    """BadOutput if the results of minutes of work could not be written."""
    if not os.access(folder, os.W_OK):
        raise BadOutput(f"{folder} cannot be written: give the right to write there, or work on a copy")


def _reject_for_all(solver: list[str] | None, out_file: Path | None = None) -> None:
    if solver or out_file:
        raise typer.BadParameter("--all cannot be used with --solver or --out")


def _for_all(
    campaign: Path,
    is_needed: Callable[[FindingFolder], bool],
    work: Callable[[Path], dict[str, Any]],
    then: str,
    json: bool,
    impossible: Callable[[FindingFolder], str] = lambda found: "",
) -> None:
    """Work on all findings of a campaign that need it; an error is printed, and the next finding follows.
    ``impossible`` says why there is nothing to do for a finding.

    At the end, the command ``then`` is suggested, and the exit code is that of the worst error.
    """
    found = [record.path for record in findings_of(campaign)]
    if not found:
        say(f"{campaign} has no findings: nothing to do")
        return
    folders = [FindingFolder.read(path) for path in found]
    reasons = [why for folder in folders if (why := impossible(folder))]
    left = [folder.path for folder in folders if not impossible(folder) and is_needed(folder)]
    for path in left:
        _check_writable(path)
    documents, codes = [], []
    for number, path in enumerate(left, 1):
        say(f"{number} of {len(left)}: {path.name}")
        try:
            documents.append({"finding": path.name, **work(path)})
        except EnvironmentProblem:
            raise
        except ExhumeError as problem:
            say(f"{path.name}: {problem}")
            documents.append({"finding": path.name, "error": str(problem)})
            codes.append(problem.exit_code)
    if json:
        print_json(documents)
    done = len(found) - len(left) - len(reasons)
    notes = [f"{len(codes)} failed"] if codes else []
    notes += [f"{done} done before"] if done else []
    notes += [f"{len(reasons)} not: {reasons[0]}"] if reasons else []
    say("; ".join((f"worked on {len(left)} of {counted(len(found), 'finding')}", *notes)))
    say(f"next: {then}")
    if codes:
        raise typer.Exit(max(codes))


def _reduce(
    target: Path,
    solvers: Sequence[Solver],
    seconds: float,
    tries: int | None,
    ddsmt: bool,
    jobs: int,
    out_file: Path | None,
    quiet: bool,
) -> dict[str, Any]:
    """Reduce a finding or a file. Returns the JSON document; prints the result unless ``quiet``."""
    if target.is_dir() and isinstance(FindingFolder.read(target), CallsFolder):
        return minimise_trace(target, None, MinimisingOptions(seconds, RUN_LIMITS, jobs), quiet)

    def tell(step: Step) -> None:
        if not quiet:
            say(f"{step.tool}: {step.size} bytes after {step.checks} checks, {step.seconds:.1f} s")

    report = reduce(target, solvers, seconds, None if ddsmt else False, out_file, tries=tries, on_step=tell)
    if not quiet:
        _show_reduction(report, ddsmt)
    return report.to_json()


def _show_reduction(report: ReductionReport, with_ddsmt: bool) -> None:
    print_text(report.text)
    out.print(
        f"{report.finding_class}: {report.size_before} to {report.size_after} bytes, "
        f"{report.commands_before} to {report.commands_after} commands, in {report.reduced}",
    )
    if with_ddsmt and not report.with_ddsmt and not is_installed():
        say("ddSMT is not installed (pip install 'exhume[reduce]'), so only exhume's own passes ran")
    if not report.complete:
        say("stopped at the time limit; repeat the command to resume, or give more time with --time")
    if report.shown is not None and report.shown < report.tries:
        say(f"flaky: {report.shown} of {report.tries} runs show the bug")
    if not report.confirmed:
        say("warning: a fresh process does not reproduce the bug; if it is flaky, try --tries 5")


def bisect_command(
    target: Target,
    solver: Solvers = None,
    all_: All = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Ignore bisect.json of an earlier run and test all releases again."),
    ] = False,
    json: Json = False,
) -> None:
    """Find the first affected and the first fixed release of a finding.

    Releases are fetched with pip into the cache. Results are kept in bisect.json in the folder of the
    finding. Duplicates that affect other releases have another cause; they become findings of their own.
    """
    if all_:
        _reject_for_all(solver)
        _for_all(
            target,
            lambda found: again or not found.bisection,
            lambda path: _bisect(path, again, json),
            then=f"{command_line('triage', target)}; {command_line('report', target)}",
            json=json,
            impossible=lambda found: found.unbisectable,
        )
        return
    _check_target(target, solver)
    if target.is_dir():
        _check_writable(target)
        document = _bisect(target, again, json)
        if json:
            print_json(document)
        else:
            say(f"next: read {target / REPORT}, then {command_line('report', 'check', target)}")
        return
    with progress("testing releases", json) as tick:
        report = bisect(target, find_solvers(solver or [], texts=True), on_try=tick)
    if json:
        print_json(report.to_json())
    else:
        _show_bisection(report)
        kept = command_line("replay", target, *_given(solver), "--out", "DIR")
        say(f"next: {kept}, to store it as a finding with a report")


def _given(solver: list[str] | None) -> list[str]:
    return [part for spec in solver or () for part in ("--solver", spec)]


def _bisect(target: Path, again: bool, quiet: bool) -> dict[str, Any]:
    """Bisect a finding. Returns the JSON document; prints the result unless ``quiet``."""
    with progress("testing releases", quiet) as tick:
        report = bisect(target, again=again, on_try=tick)
    if not quiet:
        _show_bisection(report)
    with progress("comparing duplicates", quiet) as tick:
        others = split(target, report, again=again, on_try=tick)
    if others.compared and not quiet:
        new = ", ".join(path.name for path in others.findings) or "none"
        out.print(f"{counted(others.compared, 'duplicate')} compared; findings with another cause: {new}")
    return report.to_json() | {"same_key": others.to_json()}


def _show_bisection(report: BisectReport) -> None:
    rows = [[release, str(state)] for release, state in report.tried]
    show_table(["release", "state"], rows)
    oldest = " or earlier (the oldest release that runs here)" if report.since_the_oldest else ""
    out.print(f"first affected release: {report.first_affected}{oldest}")
    out.print(f"first fixed release: {report.first_fixed or 'none; the newest release is affected'}")
