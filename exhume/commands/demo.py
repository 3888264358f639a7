"""The command demo: mine, learn, generate and hunt on the bundled starter tracker."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from base.version import VERSION
from corpus.stats import stats
from corpus.store import Corpus
from difftest import EnvironmentProblem, Stage, find_solver
from difftest.campaign.campaign import Campaign, CampaignSettings
from difftest.campaign.modes import ModeKind
from difftest.errors import writing
from difftest.triage.store import findings_of
from exhume.commands.campaigns import run_campaign
from exhume.commands.learn import show_learned
from exhume.commands.options import Jobs
from exhume.screens.console import headline, out, progress, say
from exhume.screens.hunt import Goal, HuntScreen
from exhume.screens.summary import show_summary
from exhume.screens.wording import command_line
from generator import write_batch
from miner.starter import make_starter
from solvers.registry import OLD_RELEASE, REFERENCES

TESTS = 300

_STAGES = (Stage(0.3, 1.0), Stage(1.0, 0.1))
"""Time limits with which 300 tests on three solvers take about a minute."""

_SECONDS = 120.0


def demo_command(
    folder: Annotated[
        Path,
        typer.Option("--out", metavar="DIR", help="Output folder; a number is added if it exists."),
    ] = Path("exhume-demo"),
    jobs: Jobs = 2,
) -> None:
    """Run the whole pipeline once on a small bundled tracker.

    Mines the tracker, learns, generates 300 tests, and runs z3, cvc5 and an old release of z3 on them. At the
    end it lists the findings and the files. This takes one to two minutes.
    """
    folder = _free(folder)
    with writing(folder):
        folder.mkdir(parents=True)
    corpus = folder / "corpus.duckdb"
    _mine_and_learn(corpus)
    settings = CampaignSettings(
        _solvers(), str(corpus.absolute()), TESTS, bandit=False, modes=ModeKind.DEFAULT
    )
    campaign = Campaign.of(settings)
    _generate(campaign, folder / "tests")
    _hunt(campaign, folder / "hunt", jobs)
    hunt = folder / "hunt"
    # Drawing takes a second to load.
    from exhume.pages.report import write_page

    page = write_page(hunt, findings_of(hunt), hunt / "report.html")
    named = {"corpus": corpus, "tests": folder / "tests", "findings": hunt / "findings", "report": page.path}
    out.print("\n" + "\n".join(f"{name:8} {path}" for name, path in named.items()))
    say(f"next: open {page.path}; {command_line('reduce', '--all', hunt)}")


def _mine_and_learn(corpus: Path) -> None:
    with Corpus.open(corpus, write=True) as opened:
        mined, learned = make_starter(opened, progress)
        totals = stats(opened)
    headline("1. mine", f": {mined.issues_stored} issues of the starter tracker, {mined.formulas} formulas")
    headline("2. learn", ": ", end="")
    show_learned(learned, totals, json=False)


def _solvers() -> tuple[str, ...]:
    """The references and an old release, if it can be fetched."""
    try:
        find_solver(OLD_RELEASE)
    except EnvironmentProblem as problem:
        say(f"continuing without {OLD_RELEASE}: {problem}")
        return REFERENCES
    return (*REFERENCES, OLD_RELEASE)


def _generate(campaign: Campaign, folder: Path) -> None:
    """Write the tests of the hunt to files as well."""
    [strategy] = campaign.strategies
    description = {"exhume": VERSION, "corpus": strategy.fingerprint, "seed": campaign.settings.seed}
    report = write_batch(strategy, TESTS, folder, description)
    made = f": {report.written} tests in {report.seconds:.2f} s, {report.distinct} distinct"
    headline("3. generate", made)


def _hunt(campaign: Campaign, folder: Path, jobs: int) -> None:
    headline("4. hunt", f": {', '.join(solver.name for solver in campaign.solvers)}")
    options = replace(campaign.settings.options(folder, jobs, _SECONDS), stages=_STAGES, paced=False)
    screen = HuntScreen("exhume demo: hunting", Goal(f"{TESTS} tests"), tell=False)
    end = run_campaign(campaign, options, screen)
    show_summary(end.summary)
    if end.error:
        raise end.error


def _free(folder: Path) -> Path:
    """``folder``, or the first of ``folder-2``, ``folder-3`` ... that does not exist."""
    if not folder.exists():
        return folder
    return next(f for n in itertools.count(2) if not (f := folder.with_name(f"{folder.name}-{n}")).exists())
