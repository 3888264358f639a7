"""The command bugs site."""

from __future__ import annotations

import shlex
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from base.text import counted
from corpus.store import Corpus
from difftest.bugs.records import BUNDLED, Benchmark
from difftest.errors import DifftestError
from exhume.commands.options import BenchmarkFolder, Json, OptionalCorpus
from exhume.screens.console import out, print_json, progress, say
from solvers.errors import EnvironmentProblem


def site_command(
    target: Annotated[
        Path,
        typer.Option(
            "--out", metavar="DIR", help="New folder, or that of an earlier site, which is replaced."
        ),
    ],
    folder: BenchmarkFolder = BUNDLED,
    corpus: OptionalCorpus = None,
    sql: Annotated[
        bool,
        typer.Option(
            "--sql/--no-sql",
            help="Bundle the SQL engine (DuckDB-WASM, 19 MB), which npm fetches once into the cache.",
        ),
    ] = True,
    engine: Annotated[
        list[Path] | None,
        typer.Option(
            "--duckdb-wasm",
            metavar="FILE",
            help="Take the SQL engine from these tarballs of npm packages instead: one of @duckdb/duckdb-wasm"
            " 1.28.0 and one of apache-arrow 13.0.0.",
        ),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Then serve the site on 127.0.0.1 until Ctrl-C.")
    ] = False,
    port: Annotated[
        int, typer.Option(help="Port of --serve; 0 takes any free one.", min=0, max=65535, metavar="N")
    ] = 8765,
    json: Json = False,
) -> None:
    """Write a static site of the bugs: plots, search, a page per bug, SQL.

    The pages load nothing from elsewhere and open from disk or from any host; only SQL needs a host. With
    --corpus, the page of a bug has the skeletons, atoms and rules that were learned from its formula.
    """
    # Pages and plots take a second to load; the other commands do without.
    from exhume.pages.site.building import write_site
    from exhume.pages.site.engine import find_engine

    benchmark = Benchmark(folder)
    if not benchmark.bugs:
        raise DifftestError(f"{folder} holds no bug: build some with exhume bugs build")
    option = "" if folder == BUNDLED else f" --bugs {shlex.quote(folder.resolve().name)}"
    tarballs: list[Path] = []
    if sql or engine:
        try:
            tarballs = find_engine(engine or (), say)
        except EnvironmentProblem as problem:
            say(f"without SQL in the page: {problem}")
    opened = nullcontext(None) if corpus is None else Corpus.open(corpus)
    with opened as known, progress("writing", json) as tick:
        site = write_site(benchmark, target, option, known, tarballs, tick)
    if json:
        print_json({**asdict(site), "folder": str(site.folder)})
    else:
        rest = "" if site.has_sql else ", without SQL"
        out.print(
            f"{counted(site.bugs, 'bug')} in {site.folder}, {counted(site.files, 'file')}{rest}:"
            f" open {target / 'index.html'}"
        )
    if serve:
        _serve(target, port)


def _serve(folder: Path, port: int) -> None:
    from exhume.pages.site.serving import ADDRESS, make_server

    with make_server(folder, port) as server:
        say(f"serving on http://{ADDRESS}:{server.server_port}/ until Ctrl-C")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say("stopped")
