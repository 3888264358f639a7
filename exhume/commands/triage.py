"""Commands on all findings of a campaign: triage, report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from apifuzz.running import calls as _calls  # noqa: F401 (the kind of their findings)
from corpus.store import Corpus
from difftest import HuntFinished, HuntOptions, Stage, find_solvers, hunt
from difftest.campaign.files import FileTests
from difftest.campaign.merging import merge_findings
from difftest.campaign.state import lock_campaign
from difftest.campaign.stored import InUse, read_campaign
from difftest.triage.filing import FindingRecord
from difftest.triage.folder import FindingFolder
from difftest.triage.history import compare_with_history
from difftest.triage.merges import Merge
from difftest.triage.overview import overview, still_to_do
from difftest.triage.report import since
from difftest.triage.store import findings_of
from exhume.commands.options import Json
from exhume.commands.replay import files_in
from exhume.screens.console import out, print_json, progress, say, show_table
from exhume.screens.hunt import HuntScreen
from exhume.screens.interrupt import stop_on_interrupt
from exhume.screens.summary import cause

_MOST_NAMED = 6
_IMPORT_SECONDS = 10.0
Campaign = Annotated[
    Path,
    typer.Argument(
        metavar="DIR",
        help="Folder of the campaign: --out of hunt, replay or apifuzz.",
        exists=True,
        file_okay=False,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("triage")(triage_command)
    app.command("report")(report_command)


def triage_command(
    folder: Campaign,
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus",
            metavar="FILE",
            help="Compare each finding with the issues of this corpus.",
            exists=True,
        ),
    ] = None,
    import_folder: Annotated[
        Path | None,
        typer.Option(
            "--import", metavar="FOLDER", help="First run the formulas of FOLDER and add their findings."
        ),
    ] = None,
    solver: Annotated[
        list[str] | None,
        typer.Option(
            "--solver",
            metavar="SPEC",
            help="Only for --import: solver to run. Repeat for each solver.  [default: those of the"
            " campaign]",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """List the findings of a campaign and what remains to be done.

    With --corpus, each finding is first compared with the known issues there, and its report.md is updated.
    With --import, formulas that another fuzzer found are first confirmed and added as findings. Findings
    with the same cause, by their reduced formulas and affected releases, are merged.
    """
    if import_folder is not None:
        _import(import_folder, folder, solver, json)
    merged = _merge(folder)
    found = findings_of(folder)
    if corpus is not None:
        with Corpus.open(corpus) as opened, progress("comparing", json) as tick:
            for number, record in enumerate(found, 1):
                compare_with_history(opened, [record.path])
                tick(number, len(found))
    rows, groups = overview(found)
    if json:
        print_json(rows)
        return
    if not rows:
        out.print("no findings")
        return
    show_table(
        [
            "class",
            "solver",
            "where",
            " or ".join(sorted({row["unit"] for row in rows})),
            "affected",
            "resembles",
            "folder",
        ],
        [_cells(record, row) for record, row in zip(found, rows, strict=True)],
        frozenset({3}),
        shrink=2,
    )
    out.print(f"{len(rows)} finding{'s' * (len(rows) > 1)} in {found[0].path.parent}")
    for merge in merged:
        out.print(f"merged (same key and releases): {merge.gone.path.name} into {merge.kept.path.name}")
    for group, sign in groups:
        named = {row["id"]: Path(row["path"]).name for row in rows}
        names = [named[identity] for identity in group[:_MOST_NAMED]]
        names += [f"{len(group) - len(names)} more (see --json)"] * (len(group) > len(names))
        out.print(f"may have the same cause, by {sign}: {', '.join(names)}")
    for line in still_to_do([FindingFolder.read(record.path) for record in found], str(folder)):
        say(line)
    say(f"next: exhume report {folder}")


def _import(source: Path, folder: Path, solver: list[str] | None, json: bool) -> None:
    """Run the formulas of a folder as tests of a campaign, and file their findings there."""
    specs = solver
    if not specs:
        given = read_campaign(folder).settings.get("given")
        specs = list(given.get("solver") or ()) if isinstance(given, dict) else []
    if not specs:
        raise typer.BadParameter(f"{folder} does not name its solvers: give them with --solver")
    tests = FileTests(files_in([source]))
    options = HuntOptions(folder, stages=(Stage(_IMPORT_SECONDS, 1.0),), warm=False)
    merged = 0
    lock = lock_campaign(folder)
    try:
        with (
            stop_on_interrupt() as stop,
            HuntScreen(f"exhume triage: importing {source}", f" of {len(tests)} files", json) as screen,
        ):
            for event in hunt(tests.generate(0, len(tests)), find_solvers(specs, texts=True), options, stop):
                screen.show(event)
                merged += isinstance(event, Merge)
                if isinstance(event, HuntFinished):
                    summary = event.summary
    finally:
        os.close(lock)
    new = sum(not record.known for record in summary.findings)
    seen = len(summary.findings) - new + summary.duplicates + merged
    say(
        f"imported {summary.tests} files: {new} new findings, {seen} duplicates, "
        f"{summary.unconfirmed} not confirmed, "
        f"{max(0, summary.tests - new - seen - summary.unconfirmed)} without a bug"
    )
    if skipped := str(tests.found):
        say(skipped)


def _merge(folder: Path) -> list[Merge]:
    try:
        return merge_findings(folder)
    except (InUse, OSError) as problem:
        say(f"findings with the same cause were not merged: {problem}")
        return []


def report_command(
    folder: Campaign,
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Output file.  [default: DIR/report.html]")
    ] = None,
    json: Json = False,
) -> None:
    """Write an HTML page about a campaign.

    The page shows the findings with their formulas and outputs, counts over time, outcomes per solver,
    strategy and theory, and the affected releases. It is one file that needs no network and no scripts. It
    can be written while the hunt runs.
    """
    # Drawing takes a second to load; the other commands do without.
    from exhume.pages.report import write_page

    page = write_page(folder, findings_of(folder), out_file or folder / "report.html")
    if json:
        print_json(page.to_json())
        return
    plural = "s" * (page.findings != 1)
    out.print(f"{page.path}: {page.findings} finding{plural}, {page.size} bytes")
    for line in page.missing:
        # The page may be moved: there the campaign is DIR.
        say(f"still to do: {line.replace(' DIR', f' {folder}')}")


def _cells(record: FindingRecord, row: dict[str, Any]) -> list[str]:
    before, after = row["size"], row["reduced_size"]
    size = f"{before} to {after}" if after is not None else str(before)
    if not row["bisected"]:
        affected = "-"
    else:
        fixed = f", fixed in {row['first_fixed']}" if row["first_fixed"] else ", not fixed"
        affected = f"since {since(row)}{fixed}"
    near = row["resembles"]
    resembles = "-" if near is None else ", ".join(r["issue"] for r in near[:2]) or "nothing known"
    solver = row["solver"] if row["guilty"] in (None, row["solver"]) else f"{row['solver']} ({row['guilty']})"
    return [row["class"], solver, cause(row["key"]), size, affected, resembles, record.path.name]
