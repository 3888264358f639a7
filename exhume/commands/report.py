"""The commands of report: the page of a campaign; checks, forms and regression tests of reports."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from apifuzz.running import calls as _calls  # noqa: F401 (the kind of their findings)
from base.errors import Exit
from base.files import put_text
from base.text import counted
from corpus.store import Corpus
from difftest.campaign.exporting import export
from difftest.errors import writing
from difftest.triage.checking import family_of
from difftest.triage.folder import DOCUMENT, FindingFolder
from difftest.triage.regression_files import regression_files
from difftest.triage.sending import check_reports, reports_in
from difftest.triage.store import findings_of
from difftest.triage.transcribe import transcribe
from difftest.triage.written import Written
from exhume.commands.finding_options import LedgerFile, read_ledger
from exhume.commands.help import PlainGroup
from exhume.commands.options import Json, OfCampaign
from exhume.screens.console import out, print_json, print_text, progress, say
from solvers.registry import form_of

_PAGE = "page"
Reports = Annotated[
    list[Path],
    typer.Argument(
        metavar="FOLDER|FILE",
        help="Reports, folders of findings, or folders (also campaigns) of such folders.",
        exists=True,
    ),
]


class _Group(PlainGroup):
    """The commands of report; ``exhume report DIR`` is ``usual``: it writes the page of a campaign."""

    usual = _PAGE

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line, as the base class does."""
        if args and args[0] not in self.commands and args[0] not in ("--help", "-h"):
            args = [self.usual, *args]
        return super().parse_args(ctx, args)


group = typer.Typer(
    cls=_Group,
    help="Write the page of a campaign; check reports before they are sent.\n\n"
    "'exhume report DIR' writes the page. Nothing is ever sent: a person checks a report and pastes it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@group.command(_PAGE)
def page_command(
    folder: OfCampaign,
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Output file.  [default: DIR/report.html]")
    ] = None,
    sarif: Annotated[
        Path | None, typer.Option("--sarif", metavar="FILE", help="Also write the findings as SARIF 2.1.0.")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", metavar="FILE", help="Also write the findings as JUnit XML.")
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option("--summary", metavar="FILE", help="Also write a summary in Markdown, for a CI job."),
    ] = None,
    json: Json = False,
) -> None:
    """Write an HTML page about a campaign.

    The page shows the findings with their formulas and outputs, counts over time, outcomes per solver,
    strategy and theory, and the affected releases. It is one file that needs no network and no scripts. It
    can be written while the hunt runs. For continuous integration, the findings can also be written as
    SARIF, JUnit XML and Markdown.
    """
    # Drawing takes a second to load; the other commands do without.
    from exhume.pages.report import write_page

    written = export(folder, sarif, junit, summary)
    page = write_page(folder, findings_of(folder), out_file or folder / "report.html")
    if json:
        print_json({**page.to_json(), **({"written": list(map(str, written))} if written else {})})
        return
    out.print(f"{page.path}: {counted(page.findings, 'finding')}, {page.size} bytes")
    for file in written:
        out.print(str(file))
    for line in page.missing:
        # The page may be moved: there the campaign is DIR.
        say(f"still to do: {line.replace(' DIR', f' {shlex.quote(str(folder))}')}")


@group.command("check")
def check_command(
    paths: Reports,
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus", metavar="FILE", help="Also look for known issues in this corpus.", exists=True
        ),
    ] = None,
    ledger: LedgerFile = None,
    json: Json = False,
) -> None:
    """Check reports before they are sent.

    Prints a line for each problem: what is missing or wrong in the form of a report, policies of the
    solver's maintainers, probable duplicates in the ledger, the corpus and among the given reports, and
    more reports than a tracker takes in a week. Exit code 1: there is something to do.
    """
    known = read_ledger(ledger)
    with Corpus.open(corpus) if corpus is not None else nullcontext() as opened:
        checked = check_reports(reports_in(paths), known, opened)
    count = sum(len(report.complaints) for report in checked)
    if json:
        print_json(
            [
                {"file": str(report.file), "complaints": [asdict(one) for one in report.complaints]}
                for report in checked
            ]
        )
    else:
        for report in checked:
            for one in report.complaints:
                out.print(f"{report.file}: {one.rule}: {one.what}")
        wrong = sum(bool(report.complaints) for report in checked)
        say(f"{counted(len(checked), 'report')}, {wrong} with problems")
    raise typer.Exit(Exit.FINDINGS if count else Exit.DONE)


@group.command("form")
def form_command(paths: Reports) -> None:
    """Print reports with the fields of their trackers' own forms.

    Each field of the form is a heading, followed by its content.
    """
    for file in reports_in(paths):
        report = Written.read(file)
        print_text(report.in_form(form_of(family_of(report))))


@group.command("rerun")
def rerun_command(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FINDING", help="Folders of findings, or campaigns.", exists=True, file_okay=False
        ),
    ],
    json: Json = False,
) -> None:
    """Run the commands of reports as they are printed, and write the reports again.

    The output goes into the section "Actual"; for a crash, gdb also prints the stack, if gdb is installed.
    'exhume reduce' does this at its end.
    """
    found = [path for folder in folders for path in _findings_in(folder)]
    rows = []
    with progress("running", json) as tick:
        for number, folder in enumerate(found, 1):
            made = transcribe(folder)
            rows.append({"path": str(folder), "command": made.command if made else None})
            tick(number, len(found))
    if json:
        print_json(rows)
        return
    for row in rows:
        out.print(f"{row['path']}: {row['command'] or 'no command could be run'}")


def _findings_in(folder: Path) -> list[Path]:
    """The finding in a folder, or those of a campaign."""
    if (folder / DOCUMENT).is_file():
        return [folder]
    return [record.path for record in findings_of(folder)]


@group.command("test")
def test_command(
    finding: Annotated[
        Path, typer.Argument(metavar="FINDING", help="Folder of a finding.", exists=True, file_okay=False)
    ],
    issue: Annotated[
        str, typer.Option(metavar="NUMBER", help="Number of the issue, for the names of files.")
    ] = "N",
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Also write the files below this folder, such as a checkout."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Print a finding as a regression test in the layout of the solver's project.

    The expected answers are those of other solvers, if they agree.
    """
    if not issue.isalnum():
        raise typer.BadParameter(f"--issue {issue}: a number")
    made = regression_files(FindingFolder.read(finding), issue)
    if folder is not None:
        for path, text in made.files.items():
            with writing(folder / path):
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                put_text(folder / path, text)
    if json:
        print_json({"files": dict(made.files), "answers": made.answers, "then": made.then})
        return
    for path, text in made.files.items():
        out.print(f"==> {path} <==")
        print_text(text)
    if made.answers is None:
        say("the expected answers are not known: add them")
    if made.then:
        say(f"next: {made.then}")
