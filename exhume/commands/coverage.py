"""The command solvers coverage."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from base.errors import Exit
from difftest.directed.coverage import CoverageMap, Totals
from difftest.directed.measuring import Progress, measure
from difftest.regress import formulas_in
from exhume.commands.options import Jobs, Json, OptionalCorpus, RunLimit
from exhume.screens.console import out, print_json, progress, say
from exhume.screens.interrupt import stop_on_interrupt
from solvers.lookup import find_solver
from solvers.sources import sources_of_program


def coverage_command(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            help="A build with coverage: the spec that 'exhume solvers build --coverage' printed.",
        ),
    ],
    target: Annotated[
        Path,
        typer.Option("--out", metavar="MAP", help="The coverage map, a DuckDB file; an existing one grows."),
    ],
    corpus: OptionalCorpus = None,
    formulas: Annotated[
        list[Path] | None,
        typer.Option(
            "--formulas",
            metavar="PATH",
            help="Also run this .smt2 file, or those of this folder. Repeat for more.",
            exists=True,
        ),
    ] = None,
    sources: Annotated[
        Path | None,
        typer.Option(
            "--sources",
            metavar="DIR",
            help="Checkout that the solver was built from.  [default: the one that its build names]",
            exists=True,
            file_okay=False,
            show_default=False,
        ),
    ] = None,
    seconds: RunLimit = 10.0,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Measure which functions and lines of a solver each formula runs.

    Runs the files of --formulas, and the formulas that 'exhume regress' replays for --corpus, each once, and
    stores the lines that it ran. Prints how many lines and functions all formulas of the map run together.
    'exhume regress --coverage MAP' replays formulas that run changed functions first. To resume after a
    stop, repeat the command.
    """
    if corpus is None and not formulas:
        raise typer.BadParameter("name --corpus, --formulas or both")
    solver = find_solver(spec)
    known = formulas_in(corpus, formulas or [], solver.kin)
    folder = sources_of_program(solver, sources)
    count = Progress()
    with (
        CoverageMap(target, solver, folder) as store,
        stop_on_interrupt() as stop,
        progress("measuring", json) as tick,
    ):
        for count in measure(store, solver, known.formulas(), seconds, jobs, stop):
            tick(count.done + count.known, len(known))
        totals = store.totals()
    _show(totals, count, len(known), target, json)
    if stop.is_set():
        raise typer.Exit(Exit.INTERRUPTED)


def _show(totals: Totals, count: Progress, formulas: int, target: Path, json: bool) -> None:
    left = formulas - count.done - count.known
    if json:
        print_json({**asdict(totals), **asdict(count), "left": left})
        return
    lines = _share(totals.lines_run, totals.lines, "lines")
    functions = _share(totals.functions_run, totals.functions, "functions")
    out.print(f"{totals.formulas} formulas in {target} run {lines} and {functions}")
    if totals.lost:
        listed = ", ".join(f"{name} {number}" for name, number in totals.lost.items())
        out.print(f"{sum(totals.lost.values())} formulas left no counts ({listed})")
    if left:
        say(f"{left} formulas are left; repeat the command to resume")


def _share(part: int, whole: int, what: str) -> str:
    return f"{part:,} of {whole:,} {what}" + (f" ({100 * part / whole:.1f} %)" if whole else "")
