"""Commands that fill a corpus from files and learn from it: import, learn, stats."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from base.text import counted
from corpus.importer import import_paths, require_files
from corpus.learn import LearnReport, learn
from corpus.probing import probe_formulas
from corpus.stats import stats
from corpus.store import Corpus
from exhume.commands.options import CorpusFile, Jobs, Json, existing
from exhume.screens.console import out, print_json, progress, say, show_table
from exhume.screens.wording import command_line
from rules import MAX_RULES, MIN_CONFIDENCE, MIN_SUPPORT
from solvers.registry import REFERENCES


def import_command(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help=".smt2 files, or folders of them.", exists=True)
    ],
    corpus: CorpusFile,
    tracker: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Tracker that the files come from, whatever their paths say."),
    ] = None,
    json: Json = False,
) -> None:
    """Import .smt2 files into a corpus.

    The tracker and the issue number are taken from the path or the file name (z3/1014/a.smt2,
    z3_1014_0.smt2). Importing a file twice changes nothing. A file that cannot be parsed is stored with its
    error. Of a formula with a sort error, only the well-sorted assertions are used.
    """
    require_files(paths)  # before a corpus is made
    with Corpus.open(corpus, write=True) as opened, progress("importing", json) as tick:
        report = import_paths(opened, paths, tracker=tracker, progress=tick)
    if json:
        print_json(
            {
                "files": report.files,
                "new": report.new,
                "known": report.known,
                "well_sorted": report.well_sorted,
                "ill_sorted": report.read,
                "errors": report.errors,
                "skipped": [{"path": path, "why": why} for path, why in report.skipped],
            }
        )
        return
    for path, why in report.skipped[:10]:
        say(f"skipped {path}: {why}")
    for source, error in report.first_errors[:10]:
        say(f"cannot parse {source}: {error}")
    out.print(
        f"{counted(report.files, 'file')}: {report.new} new ({report.well_sorted} well sorted,"
        f" {report.read} with a sort error, {report.errors} not readable), {report.known} already imported"
    )
    if report.read or report.errors:
        say(f"where the errors are: {command_line('query', 'unreadable', '--corpus', corpus)}")
    if report.new:
        say(f"next: {command_line('learn', '--corpus', corpus)}")


def learn_command(
    corpus: CorpusFile,
    min_support: Annotated[
        int, typer.Option(help="Keep a rule only if at least N formulas contain both of its sides.", min=1)
    ] = MIN_SUPPORT,
    min_confidence: Annotated[
        float,
        typer.Option(
            help="Keep a rule only if at least this share of the formulas with its left side also have"
            " its right side.",
            min=0,
            max=1,
        ),
    ] = MIN_CONFIDENCE,
    probe: Annotated[
        bool, typer.Option(help=f"Check which formulas {' and '.join(REFERENCES)} accept.")
    ] = True,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Learn skeletons, atoms and rules from a corpus.

    Also checks which formulas z3 and cvc5 accept, without solving them: tests are built only from accepted
    formulas.
    """
    with Corpus.open(existing(corpus), write=True) as opened:
        with progress("learning", json) as tick:
            report = learn(opened, min_support, min_confidence, progress=tick)
        if probe:
            with progress("checking which formulas solvers accept", json) as tick:
                probe_formulas(opened, jobs=jobs, progress=tick)
        totals = stats(opened)
    show_learned(report, totals, json)
    if json:
        return
    if report.left_out:
        say(
            f"{counted(report.left_out, 'rule')} left out: of each kind,"
            f" the {MAX_RULES} with the highest support are kept; a higher --min-support finds fewer"
        )
    if not totals["skeletons"]:
        say(
            "there is nothing to make tests from: import formulas with assertions; those with errors:"
            f" {command_line('query', 'unreadable', '--corpus', corpus)}"
        )
        return
    if not report.rules:
        _say_why_no_rules(report, min_support, min_confidence)
    solvers = [word for name in REFERENCES for word in ("--solver", name)]
    then = command_line("hunt", "--corpus", corpus, *solvers, "--time", "10m", "--out", "hunt")
    say(f"next: {then}")


def _say_why_no_rules(report: LearnReport, min_support: int, min_confidence: float) -> None:
    if report.has_pairs:
        say(
            f"no rules: signatures occur together in {min_support} formulas, but none implies another in"
            f" {min_confidence:.0%} of its formulas; try a lower --min-confidence"
        )
    else:
        say(
            f"no rules: no two signatures occur together in {min_support} formulas; try a lower --min-support"
        )


def show_learned(report: LearnReport, totals: dict[str, int], json: bool) -> None:
    """Print what was learned."""
    if json:
        print_json({**totals, **asdict(report)})
        return
    out.print(
        f"{counted(totals['skeletons'], 'skeleton')}, {counted(totals['atoms'], 'atom')},"
        f" {counted(totals['signatures'], 'signature')} from {counted(totals['assertions'], 'assertion')}"
    )
    out.print(
        f"{counted(report.rules, 'rule')} over full signatures (with widths),"
        f" {report.coarse_rules} over coarse ones (without)"
    )
    for reason, count in sorted(report.skipped.items(), key=lambda item: -item[1]):
        say(f"skipped {counted(count, 'assertion')}: {reason}")


def stats_command(
    corpus: CorpusFile,
    page: Annotated[
        Path | None, typer.Option("--page", metavar="FILE", help="Also write an HTML page with plots.")
    ] = None,
    json: Json = False,
) -> None:
    """Count what a corpus holds."""
    with Corpus.open(corpus) as opened:
        totals = stats(opened)
        if page is not None:
            # Drawing takes a second to load.
            from exhume.pages.corpus import write_corpus_page

            write_corpus_page(opened, totals, corpus.name, page)
    if json:
        print_json(totals)
    else:
        show_table(
            ["what", "count"], [[k.replace("_", " "), str(v)] for k, v in totals.items()], frozenset({1})
        )
