"""The command query: named queries and SQL."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from typing import Annotated, Literal

import typer

from corpus.query import (
    NamedQuery,
    Result,
    as_table,
    find_query,
    formatted,
    named_queries,
    parse_parameters,
    run_query,
    write_result,
)
from exhume.commands.options import Json
from exhume.screens.console import print_json, say, show, show_table

Format = Literal["table", "json", "ndjson", "csv", "parquet"]
"""How a result is shown."""


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("query")(query_command)


def query_command(
    query: Annotated[str, typer.Argument(metavar="NAME|SQL", help="A named query, or SQL of your own.")] = "",
    values: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE", help="A named query's parameters.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", metavar="FILE", help="The corpus, a DuckDB file.")
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="KEY=VALUE", help="The same as an option; repeat for more."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the named queries.")] = False,
    form: Annotated[Format, typer.Option("--format", help="How to show the result.")] = "table",
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write there; needed for parquet.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Rows shown at the most.", min=1)] = 10_000,
    deadline: Annotated[float, typer.Option(help="Seconds a query may take.", min=0.1)] = 30.0,
    json: Json = False,
) -> None:
    """Ask a corpus: a named query (see --list) or SQL.

    It can change nothing: the corpus is opened for reading.
    """
    if listing:
        _list_queries(json)
        return
    if not query or corpus is None:
        raise typer.BadParameter("name a query (or write SQL) and a --corpus; --list shows the named ones")
    chosen: NamedQuery | str = query if " " in query.strip() else find_query(query)
    form = "json" if json else form
    # DuckDB hears no Ctrl-C while it computes, and a question can lose nothing: let the signal end us.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    result = run_query(
        corpus,
        chosen,
        parse_parameters([*(values or []), *(parameter or [])]),
        deadline=deadline,
        max_rows=limit,
    )
    _show(result, form, out_file)
    if result.truncated:
        say(f"stopped after {limit} rows; raise --limit for more")


def _list_queries(json: bool) -> None:
    queries = named_queries()
    if json:
        print_json(
            [
                {
                    "name": q.name,
                    "about": q.about,
                    "parameters": [p.name for p in q.parameters],
                    "example": q.example,
                }
                for q in queries
            ]
        )
        return
    rows = [[q.name, " ".join(p.name for p in q.parameters), q.about] for q in queries]
    show_table(["name", "parameters", "about"], rows)


def _show(result: Result, form: Format, out_file: Path | None) -> None:
    if form == "parquet":
        if out_file is None:
            raise typer.BadParameter("parquet is no text: name a file with --out")
        write_result(result, out_file, form)
    elif form == "table":
        if out_file is not None:
            raise typer.BadParameter(
                "a table goes to the screen; choose json, ndjson, csv or parquet with --out"
            )
        show(as_table(result))
    elif out_file is not None:
        write_result(result, out_file, form)
    else:
        sys.stdout.writelines(formatted(result, form))
