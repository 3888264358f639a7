"""The command triage: all findings of a campaign."""

from __future__ import annotations

import datetime
import hashlib
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from apifuzz.running import calls as _calls  # noqa: F401 (the kind of their findings)
from base.text import counted
from corpus.store import Corpus
from difftest import find_solvers
from difftest.campaign.files import FileTests
from difftest.campaign.merging import merge_findings
from difftest.campaign.state import campaign_claimed
from difftest.campaign.stored import read_campaign
from difftest.errors import InUse
from difftest.triage.filing import FindingRecord
from difftest.triage.folder import FindingFolder
from difftest.triage.history import compare_with_history
from difftest.triage.ledger import LEDGER, MOST_A_WEEK, Became, add_entry, queue
from difftest.triage.merges import Merge
from difftest.triage.overview import overview, still_to_do
from difftest.triage.report import since
from difftest.triage.store import findings_of
from exhume.commands.campaigns import leave
from exhume.commands.finding_options import (
    Earlier,
    KnownBefore,
    LedgerFile,
    known_before,
    ledger_file,
    read_ledger,
)
from exhume.commands.options import Json, OfCampaign, comma_separated
from exhume.commands.replay import NO_BUG, files_in, options_for_files, run_files, shortest, without_bug
from exhume.screens.console import out, print_json, progress, say, show_table
from exhume.screens.summary import cause
from exhume.screens.wording import command_line, some

_IMPORT_SECONDS = 10.0
# Below the folder of a campaign: the states of runs of --import.
_IMPORTS = "imports"


def triage_command(
    folder: OfCampaign,
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
    ledger: LedgerFile = None,
    earlier: Earlier = None,
    mark: Annotated[
        str | None,
        typer.Option("--mark", metavar="ID", help="Record in the ledger what became of the finding ID."),
    ] = None,
    became: Annotated[
        Literal["reported", "duplicate", "fixed", "wont-fix"],
        typer.Option("--as", help="Only for --mark: what became of it."),
    ] = "reported",
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="TEXT",
            help="Only for --mark: the address of the report, the issue that it is a duplicate of, or the"
            " release that fixed it.",
        ),
    ] = "",
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--names",
            metavar="NAME,NAME",
            help="Only for --mark: record the cause, shared by all findings of the same class and solver"
            " whose reduced formulas or options mention these names.",
        ),
    ] = None,
    per_week: Annotated[
        int,
        typer.Option(
            metavar="N", help="Reports to one tracker in a week, unless the tracker takes fewer.", min=0
        ),
    ] = MOST_A_WEEK,
    json: Json = False,
) -> None:
    """List the findings of a campaign and what remains to be done.

    With --corpus, each finding is first compared with the known issues there, and its report.md is updated.
    With --import, formulas that another fuzzer found are first confirmed and added as findings. Findings
    with the same cause, by their reduced formulas and affected releases, are merged. The worst come first,
    with what the ledger says about them, or whether they may be reported now.
    """
    if import_folder is not None:
        _import(import_folder, folder, solver, known_before(ledger, earlier), json)
    elif earlier or solver:
        raise typer.BadParameter(f"{'--earlier' if earlier else '--solver'} is only for --import")
    if mark is None and (became != "reported" or at or names):
        raise typer.BadParameter("--as, --at and --names are only for --mark")
    merged = _merge(folder)
    found = findings_of(folder)
    if corpus is not None:
        with Corpus.open(corpus) as opened, progress("comparing", json) as tick:
            for number, record in enumerate(found, 1):
                compare_with_history(opened, [record.path])
                tick(number, len(found))
    if mark is not None:
        file = ledger_file(ledger) or Path(LEDGER)
        _mark(found, mark, file, Became(became), at, comma_separated(names))
    folders = [FindingFolder.read(record.path) for record in found]
    due = queue(folders, read_ledger(ledger), per_week, datetime.date.today())
    folders = [one.folder for one in due]
    rows, groups = overview(folders)
    for row, one in zip(rows, due, strict=True):
        entry = None if one.entry is None else {"state": str(one.entry.state), "at": one.entry.at}
        row |= {"tracker": one.tracker, "ledger": entry, "report_now": one.now, "private": one.private}
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
            "report",
            "folder",
        ],
        [_cells(row, one.words) for row, one in zip(rows, due, strict=True)],
        frozenset({3}),
        shrink=2,
    )
    out.print(f"{counted(len(rows), 'finding')} in {folders[0].path.parent}")
    for row in rows:
        if row["file"]:
            out.print(f"{Path(row['path']).name} is from {shortest(row['file'])}")
    for merge in merged:
        out.print(f"merged (same key and releases): {merge.gone.path.name} into {merge.kept.path.name}")
    for group, sign in groups:
        named = {row["id"]: Path(row["path"]).name for row in rows}
        out.print(f"may have the same cause, by {sign}: {some([named[identity] for identity in group])}")
    for line in still_to_do(folders, str(folder)):
        say(line)
    say(f"next: {command_line('report', folder)}")


def _mark(
    found: list[FindingRecord], identity: str, file: Path, became: Became, at: str, names: tuple[str, ...]
) -> None:
    """Note in a ledger what became of a finding, by the beginning of its id or its folder's name."""
    named = [r for r in found if identity and (r.id.startswith(identity) or r.path.name == identity)]
    if len(named) != 1:
        many = "several ids begin with it" if named else "no finding has this id"
        raise typer.BadParameter(f"--mark {identity}: {many}; see the column folder of exhume triage")
    if became in (Became.DUPLICATE, Became.FIXED) and not at:
        what = "the release that fixed it" if became is Became.FIXED else "the issue"
        raise typer.BadParameter(f"--as {became}: name {what} with --at")
    entry = add_entry(file, FindingFolder.read(named[0].path), became, at, datetime.date.today(), names)
    say(f"{file}: {entry.key}: {entry}")


def _import(source: Path, folder: Path, solver: list[str] | None, known: KnownBefore, json: bool) -> None:
    """Run the formulas of a folder as tests of a campaign, and file their findings there."""
    specs = solver
    if not specs:
        specs = list(read_campaign(folder).given.get("solver") or ())
    if not specs:
        raise typer.BadParameter(f"{folder} does not name its solvers: give them with --solver")
    solvers = find_solvers(specs, texts=True)
    found = files_in([source], json)
    digest = FileTests(found).fingerprint
    versions = "\0".join(f"{solver.spec} {solver.version()}" for solver in solvers)
    state = folder / _IMPORTS / f"{digest[:8]}-{hashlib.sha256(versions.encode()).hexdigest()[:8]}"
    # Its tests are not those of another run of files into the same folder.
    tests = FileTests(found, f"import-{state.name}")
    with campaign_claimed(folder):
        options = options_for_files(tests, folder, _IMPORT_SECONDS)
        end = run_files(tests, solvers, options, state, f"exhume triage: importing {source}", json, known)
        rows = read_campaign(state).findings
        new = sum(row.strategy == tests.name for row in rows)
        _, line = without_bug(tests, end, folder, state / NO_BUG)
    say(
        f"imported {counted(end.summary.tests, 'file')}: {counted(new, 'new finding')},"
        f" {counted(sum(row.duplicates for row in rows), 'duplicate')},"
        f" {end.summary.unconfirmed} not confirmed"
    )
    say(line)
    if skipped := str(found):
        say(skipped)
    if end.error or end.summary.interrupted:
        raise leave(end)


def _merge(folder: Path) -> list[Merge]:
    try:
        return merge_findings(folder)
    except (InUse, OSError) as problem:
        say(f"findings with the same cause were not merged: {problem}")
        return []


def _cells(row: dict[str, Any], report: str) -> list[str]:
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
    where, name = cause(row["key"]), Path(row["path"]).name
    return [row["class"], solver, where, size, affected, resembles, report, name]
