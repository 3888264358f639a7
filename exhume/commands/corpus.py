"""Commands that look after a corpus file: corpus export, import, verify, vacuum."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from base.errors import Exit
from corpus.parquet import export_parquet, import_parquet
from corpus.store import Corpus
from corpus.vacuum import vacuum
from exhume.commands.options import CorpusFile, Json
from exhume.screens.console import out, print_json


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    keep = typer.Typer(
        help="Look after a corpus file: export, import, verify, vacuum.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    keep.command("export")(export_command)
    keep.command("import")(import_command)
    keep.command("verify")(verify_command)
    keep.command("vacuum")(vacuum_command)
    app.add_typer(keep, name="corpus")


def export_command(
    corpus: CorpusFile,
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="A new folder.")],
    json: Json = False,
) -> None:
    """Write a corpus as Parquet, a file per table, for other tools and for publishing."""
    with Corpus.open(corpus) as opened:
        manifest = export_parquet(opened, folder)
    rows = sum(manifest.tables.values())
    if json:
        print_json({"path": str(folder), "schema": manifest.schema, "tables": manifest.tables})
    else:
        out.print(f"{len(manifest.tables)} tables, {rows} rows written to {folder}")


def import_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder made by 'exhume corpus export'.")],
    corpus: CorpusFile,
    json: Json = False,
) -> None:
    """Make a new corpus file of exported Parquet."""
    manifest = import_parquet(folder, corpus)
    rows = sum(manifest.tables.values())
    if json:
        print_json({"path": str(corpus), "schema": manifest.schema, "tables": manifest.tables})
    else:
        out.print(f"{corpus} made of {len(manifest.tables)} tables, {rows} rows")


def verify_command(corpus: CorpusFile, json: Json = False) -> None:
    """Check that every reference names a row and every text has its hash. Exit code 1 where not."""
    with Corpus.open(corpus) as opened:
        problems = opened.verify()
    if json:
        print_json({"path": str(corpus), "problems": problems})
    else:
        out.print("\n".join(problems) or f"{corpus} is whole")
    if problems:
        raise typer.Exit(Exit.FINDINGS)


def vacuum_command(corpus: CorpusFile, json: Json = False) -> None:
    """Drop texts that nothing names, and write the file anew, smaller."""
    if not corpus.exists():
        raise typer.BadParameter(f"there is no corpus {corpus}")
    report = vacuum(corpus)
    if json:
        print_json({"path": str(corpus), **asdict(report)})
    else:
        out.print(
            f"{corpus}: {report.before} bytes before, {report.after} now; {report.texts} texts dropped",
        )
