"""The command replay: solvers on files, or on the formulas of a corpus."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from base.errors import Exit
from corpus.store import Corpus
from difftest import (
    Limits,
    Outcome,
    ReplayResult,
    Solver,
    find_files,
    find_solvers,
    replay,
)
from exhume.commands.options import Jobs, Json, SolverSpecs
from exhume.commands.oracle_options import Oracles, chosen_oracles
from exhume.screens.console import out, print_json, progress
from exhume.screens.summary import show_outcomes


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("replay")(replay_command)


def replay_command(
    solver: SolverSpecs,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH...", help="Files, or folders of .smt2 files.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option("--corpus", metavar="FILE", help="Replay this corpus's formulas.")
    ] = None,
    seconds: Annotated[float, typer.Option("--limit", help="Seconds per file and solver.", min=0.1)] = 10.0,
    jobs: Jobs = 1,
    oracles: Oracles = None,
    json: Json = False,
) -> None:
    """Run solvers on files, or on the formulas of a corpus.

    Says what is wrong: crashes, invalid models, answers that differ. Exit code 1 says that something is.
    """
    names = chosen_oracles(oracles)
    solvers = find_solvers(solver)
    if bool(paths) == bool(corpus):
        raise typer.BadParameter("name either files and folders, or a --corpus")
    if corpus is not None:
        with _corpus_files(corpus) as files:
            findings = _replay(files, solvers, seconds, jobs, names, json)
    else:
        findings = _replay(list(find_files(paths or [])), solvers, seconds, jobs, names, json)
    raise typer.Exit(Exit.FINDINGS if findings else Exit.DONE)


@contextmanager
def _corpus_files(corpus: Path) -> Iterator[list[Path]]:
    """The formulas of a corpus as files in a folder that lasts as long as the context."""
    with Corpus.open(corpus) as opened:
        rows = opened.rows(
            "select formula.id, body from current_formula as formula join text on text.id = text_id"
            " where commands > 0 order by formula.id"
        )
    with tempfile.TemporaryDirectory(prefix="exhume-replay-") as folder:
        files = []
        for identifier, body in rows:
            file = Path(folder) / f"formula-{identifier:06d}.smt2"
            file.write_text(body, encoding="utf-8")
            files.append(file)
        yield files


def _replay(
    files: list[Path], solvers: list[Solver], seconds: float, jobs: int, oracles: tuple[str, ...], json: bool
) -> int:
    """Replay and print; how many findings there were."""
    counts: dict[str, Counter[Outcome]] = {s.name: Counter() for s in solvers}
    rows: list[dict[str, object]] = []
    findings = 0
    if not files:
        raise typer.BadParameter("there is nothing to replay: no .smt2 file and no formula was found")
    with progress("replaying", json) as tick:
        results = replay(files, solvers, Limits(seconds=seconds), jobs, oracles=oracles)
        for number, result in enumerate(results, 1):
            tick(number, len(files))
            findings += len(result.findings)
            for row in result.rows:
                counts[row.solver][row.verdict.outcome] += 1
            if json:
                rows.extend(row.to_json() for row in result.rows)
            else:
                for line in _wrong_lines(result):
                    out.print(line)
    if json:
        print_json(rows)
    else:
        show_outcomes(counts)
        out.print(f"{len(files)} files, {findings} findings")
    return findings


def _wrong_lines(result: ReplayResult) -> Iterator[str]:
    for candidate in result.findings:
        answers = "; ".join(
            f"{r.solver}: {' '.join(map(str, r.verdict.answers)) or r.verdict.outcome}" for r in result.rows
        )
        yield f"{candidate.finding_class} {candidate.label} {result.file} ({answers})"
