"""Commands on what a campaign found: triage, report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from apifuzz.running.finding_folders import findings_of, read_folder, rewrite_report, title_of
from apifuzz.running.folder import CallsFolder
from corpus.store import Corpus
from difftest.triage.fingerprint import count_under, grown
from difftest.triage.folders import FindingRecord
from difftest.triage.history import compare_with_history
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
    """Show a campaign's findings: how far each is worked off, and which known issues it resembles.

    With --corpus each is compared with the issues there first, and its report.md written anew.
    """
    found = list(findings_of(folder))
    if corpus is not None:
        with Corpus.open(corpus) as opened, progress("comparing", json) as tick:
            for number, record in enumerate(found, 1):
                compare_with_history(opened, [record.path], read_folder, rewrite_report)
                tick(number, len(found))
    rows = [finding_row(record) for record in found]
    groups = [(group, "key") for group in one_key(rows)]
    groups += [(group, "class, theories and releases") for group in maybe_one_cause(rows)]
    groups += [(group, "operators (all have those of the first)") for group in grown_from_one(rows)]
    for row in rows:
        others = {identity for group, _ in groups if row["id"] in group for identity in group}
        row["maybe_same_as"] = sorted(others - {row["id"]})
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
            "calls" if all(row["calls"] for row in rows) else "bytes",
            "affected",
            "resembles",
            "folder",
        ],
        [_cells(record, row) for record, row in zip(found, rows, strict=True)],
        frozenset({3}),
        shrink=2,
    )
    out.print(f"{len(rows)} finding{'s' * (len(rows) > 1)} in {found[0].path.parent}", markup=False)
    for group, sign in groups:
        named = {row["id"]: Path(row["path"]).name for row in rows}
        names = [named[identity] for identity in group[:_MOST_NAMED]]
        names += [f"{len(group) - len(names)} more (--json names them)"] * (len(group) > len(names))
        out.print(f"maybe one cause, by {sign}: {', '.join(names)}", markup=False)
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
    out.print(f"{page.path}: {page.findings} findings, {page.size} bytes", markup=False)
    for line in page.missing:
        say(f"not there, so not in it: {line}")


def finding_row(record: FindingRecord) -> dict[str, Any]:
    """One finding as ``triage --json`` lists it; what is not known is null."""
    found = read_folder(record.path)
    calls = found.lines if isinstance(found, CallsFolder) else None
    reduced = found.data["reduced"] if found.is_reduced else {}
    told = found.bisection
    resembles = found.data.get("resembles")
    return {
        "id": record.id,
        "class": str(record.finding_class),
        "solver": record.solver,
        "key": found.key,
        "title": title_of(found),
        "theories": list(found.theories),
        "size": _size(record.path / ("trace.txt" if calls else "original.smt2")),
        "reduced_size": _size(record.path / "minimised.trace") if calls else reduced.get("size_after"),
        "calls": calls and list(calls),
        "complete": bool(found.data.get("complete", True)),
        "guilty": found.data.get("guilty"),
        "reason": str(found.data.get("reason") or ""),
        "first_affected": told.get("first_affected"),
        "since_the_oldest": told.get("since_the_oldest"),
        "first_fixed": told.get("first_fixed"),
        "bisected": bool(told),
        "duplicates": _lines(record.path / "duplicates.txt"),
        "resembles": resembles,
        "path": str(record.path),
    }


def one_key(rows: list[dict[str, Any]]) -> list[list[str]]:
    """The ids of findings of hunts whose keys, by their reduced formulas, fold into one as a hunt would fold
    them.
    """
    alike: dict[str, list[str]] = {}
    for row in sorted((row for row in rows if not row["calls"]), key=lambda row: len(row["key"])):
        alike.setdefault(count_under(row["key"], alike), []).append(row["id"])
    return [group for group in alike.values() if len(group) > 1]


def maybe_one_cause(rows: list[dict[str, Any]]) -> list[list[str]]:
    """The ids of findings with different keys that bisection does not tell apart: the same class, solver and
    theories, the same first affected and first fixed release. Where the releases differ, so do the causes.
    """
    alike: dict[tuple[object, ...], list[str]] = {}
    for row in rows:
        if row["bisected"] and not (row["since_the_oldest"] and row["first_fixed"] is None):
            mark = (row["class"], row["solver"], *row["theories"], row["first_affected"], row["first_fixed"])
            alike.setdefault(mark, []).append(row["id"])
    return [group for group in alike.values() if len(group) > 1]


def grown_from_one(rows: list[dict[str, Any]]) -> list[list[str]]:
    """The ids of findings of hunts whose operators hold all of another one's, that one first; not of those
    that releases tell apart.
    """
    of_key = {row["key"]: row for row in reversed(rows) if not row["calls"]}
    groups = []
    for root, keys in grown(of_key).items():
        near = [of_key[key]["id"] for key in keys if not _releases_differ(of_key[root], of_key[key])]
        groups.append([of_key[root]["id"], *near])
    return [group for group in groups if len(group) > 1]


def _releases_differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether bisection tells two findings apart."""
    marks = [(row["first_affected"], row["first_fixed"]) for row in (one, other)]
    return one["bisected"] and other["bisected"] and marks[0] != marks[1]


def _size(file: Path) -> int | None:
    try:
        return file.stat().st_size
    except OSError:
        return None


def _lines(file: Path) -> int:
    try:
        with file.open("rb") as handle:
            return sum(1 for _ in handle)
    except OSError:
        return 0


def _cells(record: FindingRecord, row: dict[str, Any]) -> list[str]:
    before, after = row["calls"] or (row["size"], row["reduced_size"])
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
            "exhume apifuzz --minimise FINDING",
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
