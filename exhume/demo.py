"""The demo: the main job on the starter tracker that ships with exhume."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Annotated

import typer

from corpus.learn import learn
from corpus.probing import probe_formulas
from corpus.stats import stats
from corpus.store import Corpus
from difftest import EnvironmentProblem, HuntOptions, Solver, Stage, find_solver, find_solvers
from exhume.campaign import run_plain
from exhume.corpus_commands import show_learned
from exhume.hunt_screen import HuntScreen
from exhume.options import Jobs
from exhume.recording import record_findings
from exhume.screen import out, progress, say
from exhume.strategy_options import Rules, build_strategy
from exhume.summary import show_summary
from generator import StrategySettings, write_batch
from generator.text import VERSION
from miner.dumps import mine_starter

TESTS = 300
OLD_RELEASE = "z3==4.8.5"

_MIN_SUPPORT = 4
"""The starter tracker is small: rules from four formulas on, where a real corpus takes nine."""

_STAGES = (Stage(0.3, 1.0), Stage(1.0, 0.1))
"""Time limits that let 300 tests on three solvers end in a minute or so."""

_SECONDS = 120.0


def register(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("demo")(demo_command)


def demo_command(
    folder: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Where to put things; a number is added if it is taken."),
    ] = Path("exhume-demo"),
    jobs: Jobs = 2,
) -> None:
    """Do it all once, on a small tracker that comes with exhume.

    Mines that tracker, learns, generates 300 tests and runs z3, cvc5 and an old z3 on them.
    Ends with what was found and where the files are. Takes about a minute.
    """
    folder = _free(folder)
    folder.mkdir(parents=True)
    corpus = folder / "corpus.duckdb"
    _mine_and_learn(corpus)
    settings = StrategySettings(seed=1)
    strategy = build_strategy(corpus, "skeletons", ["z3", "cvc5"], Rules.FULL, None, settings)
    description: dict[str, object] = {"exhume": VERSION, "corpus": strategy.fingerprint, "seed": 1}
    report = write_batch(strategy, TESTS, folder / "tests", description)
    out.print(
        f"[bold]3. generate[/bold]: {report.written} tests in {report.seconds:.2f} s,"
        f" {report.distinct} distinct"
    )
    solvers = _solvers()
    out.print(f"[bold]4. hunt[/bold]: {', '.join(s.name for s in solvers)}")
    options = HuntOptions(folder / "hunt", jobs, 1, TESTS, _SECONDS, _STAGES)
    screen = HuntScreen("exhume demo: hunting", f" of {TESTS} tests", tell=False)
    summary, found = run_plain(strategy.generate(0, TESTS), solvers, options, screen)
    named = {solver.name: solver for solver in solvers}
    record_findings(corpus, {strategy.name: strategy}, 1, named, found, wait=30.0)
    show_summary(summary)
    out.print(
        f"\ncorpus {corpus}\ntests  {folder / 'tests'}\nfound  {folder / 'hunt' / 'findings'}", markup=False
    )


def _mine_and_learn(corpus: Path) -> None:
    with Corpus.open(corpus, write=True) as opened:
        with progress("mining") as tick:
            mined = mine_starter(opened, tick)
        out.print(
            f"[bold]1. mine[/bold]: {mined.issues_stored} issues of the starter tracker,"
            f" {mined.formulas} formulas"
        )
        with progress("learning") as tick:
            learned = learn(opened, _MIN_SUPPORT, progress=tick)
        with progress("asking solvers") as tick:
            probe_formulas(opened, progress=tick)
        totals = stats(opened)
    out.print("[bold]2. learn[/bold]: ", end="")
    show_learned(learned, totals, json=False)


def _solvers() -> list[Solver]:
    """z3, cvc5 and an old z3; without the old one where it cannot be fetched."""
    solvers = find_solvers(["z3", "cvc5"])
    try:
        solvers.append(find_solver(OLD_RELEASE))
    except EnvironmentProblem as problem:
        say(f"without {OLD_RELEASE}: {problem}")
    return solvers


def _free(folder: Path) -> Path:
    """``folder``, or the first of ``folder-2``, ``folder-3`` ... that does not exist."""
    if not folder.exists():
        return folder
    return next(f for n in itertools.count(2) if not (f := folder.with_name(f"{folder.name}-{n}")).exists())
