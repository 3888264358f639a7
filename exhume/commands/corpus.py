"""Commands for a corpus file: corpus export, import, select, verify, vacuum."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from base.errors import Exit
from corpus.parquet import export_parquet, import_parquet
from corpus.select import select_theories
from corpus.store import Corpus
from corpus.vacuum import vacuum
from exhume.commands.help import PlainGroup
from exhume.commands.options import CorpusFile, Json, comma_separated, existing
from exhume.screens.console import out, print_json, say
from exhume.screens.wording import command_line

group = typer.Typer(
    cls=PlainGroup,
    help="Maintain a corpus file: export, import, select, verify, vacuum.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@group.command("export")
def export_command(
    corpus: CorpusFile,
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="Output folder; must be new.")],
    json: Json = False,
) -> None:
    """Export a corpus to Parquet, one file per table."""
    with Corpus.open(corpus) as opened:
        manifest = export_parquet(opened, folder)
    rows = sum(manifest.tables.values())
    if json:
        print_json({"path": str(folder), "schema": manifest.schema, "tables": manifest.tables})
    else:
        out.print(f"{len(manifest.tables)} tables, {rows} rows written to {folder}")


@group.command("import")
def import_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder made by 'exhume corpus export'.")],
    corpus: CorpusFile,
    json: Json = False,
) -> None:
    """Create a corpus file from an export."""
    manifest = import_parquet(folder, corpus)
    rows = sum(manifest.tables.values())
    if json:
        print_json({"path": str(corpus), "schema": manifest.schema, "tables": manifest.tables})
    else:
        out.print(f"{corpus}: {len(manifest.tables)} tables, {rows} rows imported")


@group.command("select")
def select_command(
    corpus: CorpusFile,
    theories: Annotated[
        list[str],
        typer.Option(
            "--theories",
            metavar="NAME,NAME",
            help="Theories: the first is required in every formula; the others, and Core, are allowed. See"
            " 'exhume query theories'.",
        ),
    ],
    out_file: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="The new corpus; must not exist yet.")
    ],
    json: Json = False,
) -> None:
    """Copy the formulas over some theories to a new corpus.

    Tests that are made from the new corpus stay near these theories. The formulas' issues are kept; rules are
    not, so run 'exhume learn' on it.
    """
    names = comma_separated(theories)
    if not names:
        raise typer.BadParameter("name a theory with --theories; 'exhume query theories' lists them")
    with Corpus.open(corpus) as opened:
        report = select_theories(opened, names, out_file)
    if json:
        print_json({"path": str(out_file), **asdict(report)})
    else:
        out.print(f"{out_file}: {report.formulas} of {report.of} formulas")
        say(f"next: {command_line('learn', '--corpus', out_file)}")


@group.command("verify")
def verify_command(corpus: CorpusFile, json: Json = False) -> None:
    """Check that all references between tables and all text hashes are valid.

    Exit code 1 if there are problems.
    """
    with Corpus.open(corpus) as opened:
        problems = opened.verify()
    if json:
        print_json({"path": str(corpus), "problems": problems})
    else:
        out.print("\n".join(problems) or f"{corpus}: no problems found")
    if problems:
        raise typer.Exit(Exit.FINDINGS)


@group.command("vacuum")
def vacuum_command(corpus: CorpusFile, json: Json = False) -> None:
    """Remove unused texts and rewrite the file to save space."""
    report = vacuum(existing(corpus))
    if json:
        print_json({"path": str(corpus), **asdict(report)})
    else:
        out.print(
            f"{corpus}: {report.before} bytes before, {report.after} after; {report.texts} texts removed",
        )
