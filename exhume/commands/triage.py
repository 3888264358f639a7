"""Commands on what a campaign found: triage, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from apifuzz.running import calls as _calls  # noqa: F401 (the kind of their findings)
from corpus.store import Corpus
from difftest.triage.history import compare_with_history
from difftest.triage.overview import overview
from difftest.triage.store import FindingRecord, findings_of
from exhume.commands.options import Json
from exhume.screens.console import out, print_json, progress, say, show_table
from exhume.screens.summary import cause

_MOST_NAMED = 6
Campaign = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", help="What a hunt, or apifuzz, got as --out.", exists=True, file_okay=False
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
            "--corpus", metavar="FILE", help="Compare each finding with this corpus's issues.", exists=True
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Show a campaign's findings: the status of each, and the known issues that it resembles.

    With --corpus each is compared with the issues there first, and its report.md written anew.
    """
    found = list(findings_of(folder))
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
    for group, sign in groups:
        named = {row["id"]: Path(row["path"]).name for row in rows}
        names = [named[identity] for identity in group[:_MOST_NAMED]]
        names += [f"{len(group) - len(names)} more (--json names them)"] * (len(group) > len(names))
        out.print(f"maybe one cause, by {sign}: {', '.join(names)}")
    _say_what_is_left(rows)


def report_command(
    folder: Campaign,
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where the page goes; else DIR/report.html.")
    ] = None,
    json: Json = False,
) -> None:
    """Write one HTML page about a campaign.

    Its findings with their formulas and outputs, counts over time, outcomes per solver, strategy and
    theory, and the releases affected. The page needs no network and runs no script. It may be made while
    the hunt runs.
    """
    # Drawing takes a second to load; the other commands do without.
    from exhume.pages.report import write_page

    page = write_page(folder, findings_of(folder), out_file or folder / "report.html")
    if json:
        print_json(page.to_json())
        return
    out.print(f"{page.path}: {page.findings} findings, {page.size} bytes")
    for line in page.missing:
        say(f"not there, so not in it: {line}")


def _cells(record: FindingRecord, row: dict[str, Any]) -> list[str]:
    before, after = row["size"], row["reduced_size"]
    size = f"{before} to {after}" if after is not None else str(before)
    if not row["bisected"]:
        affected = "-"
    else:
        first = ("up to " if row["since_the_oldest"] else "") + str(row["first_affected"])
        affected = first + (f", fixed in {row['first_fixed']}" if row["first_fixed"] else " to newest")
    near = row["resembles"]
    resembles = "-" if near is None else ", ".join(r["issue"] for r in near[:2]) or "nothing known"
    solver = row["solver"] if row["guilty"] in (None, row["solver"]) else f"{row['solver']} ({row['guilty']})"
    return [row["class"], solver, cause(row["key"]), size, affected, resembles, record.path.name]


def _say_what_is_left(rows: list[dict[str, Any]]) -> None:
    for missing, what, command in (
        (sum(row["reduced_size"] is None for row in rows), "not reduced", "exhume reduce FINDING"),
        (
            sum(not row["complete"] for row in rows),
            "not minimised to the end",
            "exhume apifuzz minimise FINDING",
        ),
        (sum(not row["bisected"] for row in rows), "not bisected", "exhume bisect FINDING"),
        (
            sum(row["resembles"] is None for row in rows),
            "not compared with known issues",
            "exhume triage DIR --corpus FILE",
        ),
    ):
        if missing:
            say(f"{missing} {what}: {command}")
