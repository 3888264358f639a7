"""The command replay: run solvers on files or on the formulas of a corpus."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from base.errors import Exit
from corpus.store import Corpus
from difftest import (
    FoundFiles,
    HuntOptions,
    HuntSummary,
    Limits,
    Outcome,
    ReplayResult,
    Solver,
    Stage,
    Verdict,
    find_solvers,
    replay,
)
from difftest.campaign.campaign import Campaign, CampaignSettings
from difftest.campaign.files import FileTests
from difftest.campaign.modes import ModeKind
from difftest.campaign.stored import read_campaign
from exhume.commands.campaigns import leave, run_campaign
from exhume.commands.options import Jobs, Json, SolverSpecs
from exhume.commands.oracle_options import Oracles, chosen_oracles
from exhume.screens.console import out, print_json, progress, say
from exhume.screens.hunt import HuntScreen
from exhume.screens.summary import show_outcomes, show_summary


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("replay")(replay_command)


def replay_command(
    solver: SolverSpecs,
    paths: Annotated[
        list[Path] | None, typer.Argument(metavar="PATH", help=".smt2 files, or folders of them.")
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option("--corpus", metavar="FILE", help="Use the formulas of this corpus instead of files."),
    ] = None,
    seconds: Annotated[
        float, typer.Option("--limit", metavar="SECONDS", help="Time limit per file and solver.", min=0.1)
    ] = 10.0,
    jobs: Jobs = 1,
    oracles: Oracles = None,
    out_folder: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Store findings in this folder, as a hunt does."),
    ] = None,
    json: Json = False,
) -> None:
    """Run solvers on existing files or on the formulas of a corpus.

    Reports crashes, invalid models and disagreements. With --out, findings are confirmed in a fresh
    process, deduplicated and stored as folders in DIR/findings, so that they can be reduced, bisected and
    reported. Exit code 1: there are findings.
    """
    names = chosen_oracles(oracles)
    solvers = find_solvers(solver, texts=True)
    if bool(paths) == bool(corpus):
        raise typer.BadParameter("give either files and folders, or a --corpus")
    with _corpus_files(corpus) if corpus is not None else nullcontext(paths or []) as files:
        found = files_in(files)
        if out_folder is not None:
            keep_findings(found, solver, out_folder, seconds, jobs, names, json)
        findings = _replay(found, solvers, seconds, jobs, names, json)
    raise typer.Exit(Exit.FINDINGS if findings else Exit.DONE)


def keep_findings(
    found: FoundFiles,
    specs: list[str],
    folder: Path,
    seconds: float,
    jobs: int,
    oracles: tuple[str, ...],
    json: bool,
) -> NoReturn:
    """Run solvers on files, as a hunt runs them on its tests; findings go to ``folder``."""
    tests = FileTests(found)
    settings = CampaignSettings(tuple(specs), tests=len(tests), strategy=(tests.name,), bandit=False)
    campaign = Campaign(settings, find_solvers(specs), [tests])
    options = HuntOptions(
        *(folder, jobs),
        tests=len(tests),
        oracles=oracles,
        stages=(Stage(seconds, 1.0),),
        warm=False,
        modes=ModeKind.DEFAULT,
    )
    screen = HuntScreen(f"exhume replay: findings in {folder}", f" of {len(tests)} files", json)
    end = run_campaign(campaign, options, screen)
    finish_import(end.summary, tests, folder, json)
    raise leave(end)


def files_in(paths: list[Path]) -> FoundFiles:
    """The formulas at these paths; without any, a usage error."""
    found = FoundFiles(paths)
    if not found.files:
        skipped = str(found)
        raise typer.BadParameter(f"no .smt2 file found{skipped and f' ({skipped})'}")
    return found


def finish_import(summary: HuntSummary, tests: FileTests, folder: Path, json: bool) -> None:
    """Print the summary of a replay or an import."""
    # In all runs of the campaign, also by tests whose findings were merged.
    shown = sum(row.duplicates + (not row.earlier) for row in read_campaign(folder).findings)
    quiet = max(0, summary.tests - shown - summary.unconfirmed)
    if json:
        print_json({**summary.to_json(), "nothing_wrong": quiet, "skipped": +tests.found.skipped})
        return
    show_summary(summary)
    out.print(f"{quiet} of {summary.tests} files show no bug")
    if skipped := str(tests.found):
        say(skipped)
    if summary.findings:
        say(f"next: exhume reduce --all {folder}")


@contextmanager
def _corpus_files(corpus: Path) -> Iterator[list[Path]]:
    """The formulas of a corpus as files in a temporary folder, deleted at the end of the context."""
    with Corpus.open(corpus) as opened:
        rows = opened.rows(
            "select formula.id, body from current_formula as formula"
            " join text on text.id = coalesce(script_text_id, text_id)"
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
    found: FoundFiles, solvers: list[Solver], seconds: float, jobs: int, oracles: tuple[str, ...], json: bool
) -> int:
    """Run solvers on files and print the findings. Returns their number."""
    counts: dict[str, Counter[Outcome]] = {s.name: Counter() for s in solvers}
    rows: list[dict[str, object]] = []
    findings = 0
    files = found.files
    with progress("replaying", json) as tick:
        limits = Limits(seconds=seconds)
        results = replay(map(Path, files), solvers, limits, jobs, warm=False, oracles=oracles)
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
        if skipped := str(found):
            say(skipped)
        if findings:
            say("next: repeat with --out DIR to store the findings, then reduce, bisect and report them")
    return findings


def _wrong_lines(result: ReplayResult) -> Iterator[str]:
    for candidate in result.findings:
        said = "; ".join(f"{row.solver}: {_answers(row.verdict)}" for row in result.rows)
        reason = f"; {candidate.reason}" if candidate.reason else ""
        yield f"{candidate.finding_class} {candidate.label} {result.file} ({said}{reason})"


def _answers(verdict: Verdict) -> str:
    """The answers of a solver; without one, how its run ended."""
    return " ".join(answer or str(verdict.outcome) for answer in verdict.answers) or str(verdict.outcome)
