"""The command query: named queries and SQL."""

from __future__ import annotations

import signal
import sys
import threading
from pathlib import Path
from typing import Annotated

import typer

from base.text import counted
from corpus.query import (
    Format,
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
from exhume.commands.options import MOST, Json, OptionalCorpus
from exhume.screens.console import print_json, say, show, show_table


def query_command(
    query: Annotated[str, typer.Argument(metavar="NAME|SQL", help="Named query, or SQL.")] = "",
    values: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE", help="Parameters of the query.")
    ] = None,
    corpus: OptionalCorpus = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="KEY=VALUE", help="Same as KEY=VALUE. Repeat for more."),
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="List the named queries.")] = False,
    form: Annotated[Format, typer.Option("--format", help="Output format.")] = "table",
    out_file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Output file; required for parquet.")
    ] = None,
    limit: Annotated[int, typer.Option(help="Maximum number of rows.", min=1, max=MOST)] = 10_000,
    deadline: Annotated[
        float, typer.Option(metavar="SECONDS", help="Time limit of the query.", min=0.1, max=86_400)
    ] = 30.0,
    json: Json = False,
) -> None:
    """Run a named query (see --list) or SQL on a corpus.

    The corpus is opened read-only. "show tables" lists its tables, "describe TABLE" the columns of one.
    """
    if listing:
        _list_queries(json)
        return
    if not query:
        raise typer.BadParameter("give the name of a query (--list shows them) or SQL")
    if corpus is None:
        raise typer.BadParameter("give a corpus with --corpus FILE")
    chosen: NamedQuery | str = query if len(query.split()) > 1 else find_query(query)
    form = "json" if json else form
    # DuckDB does not react to Ctrl-C while it computes. A query changes nothing, so let the signal kill us.
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
    if result.hint:
        say(result.hint)
    if result.truncated:
        say(f"stopped after {counted(limit, 'row')}; raise --limit for more")


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
            raise typer.BadParameter("parquet is a binary format: name a file with --out")
        write_result(result, out_file, form)
    elif form == "table":
        if out_file is not None:
            raise typer.BadParameter(
                "--out does not write tables; choose --format json, ndjson, csv or parquet"
            )
        if result.rows or not result.hint:
            show(as_table(result))
    elif out_file is not None:
        write_result(result, out_file, form)
    else:
        sys.stdout.writelines(formatted(result, form))
