"""Commands that make tests: generate, strategies."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from corpus.store import Corpus
from difftest import parse_spec
from exhume.options import CorpusFile, Jobs, Json, OutFolder, Seed
from exhume.screen import out, print_json, progress, show_table
from generator import (
    STRATEGIES,
    Strategy,
    StrategySettings,
    load_library,
    make_strategy,
    write_batch,
)
from generator.text import VERSION


class Rules(StrEnum):
    """Which rules guide the filling of skeletons."""

    FULL = "full"
    COARSE = "coarse"
    OFF = "off"


StrategyName = Annotated[str, typer.Option("--strategy", metavar="NAME", help="See 'exhume strategies'.")]
RulesOption = Annotated[Rules, typer.Option("--rules", help="Rules over full or coarse signatures, or none.")]
Incremental = Annotated[bool, typer.Option(help="Tests with push, pop and several check-sat.")]
SkeletonsFrom = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Take the skeletons from this corpus instead.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("generate")(generate_command)
    app.command("strategies")(strategies_command)


def build_strategy(
    corpus: Path,
    name: str,
    solvers: list[str],
    rules: Rules,
    skeletons_from: Path | None,
    settings: StrategySettings,
) -> Strategy:
    """The strategy of this name over a corpus file."""
    with Corpus.open(corpus) as opened:
        if skeletons_from is None:
            library = load_library(opened, solvers, rules.value)
        else:
            with Corpus.open(skeletons_from) as donor:
                library = load_library(opened, solvers, rules.value, donor)
    return make_strategy(name, library, settings)


def generate_command(
    corpus: CorpusFile,
    out_folder: OutFolder,
    count: Annotated[int, typer.Option(help="How many tests.", min=1)] = 1000,
    seed: Seed = 1,
    strategy: StrategyName = "skeletons",
    solvers: Annotated[
        str, typer.Option(help="Draw only on what all of these accept.", metavar="A,B")
    ] = "z3,cvc5",
    rules: RulesOption = Rules.FULL,
    incremental: Incremental = False,
    skeletons_from: SkeletonsFrom = None,
    skeleton: Annotated[int, typer.Option(help="For 'enumerate': the skeleton's id.", min=0)] = 0,
    start: Annotated[
        int, typer.Option(help="Number of the first test; to go on where a batch ended.", min=0)
    ] = 0,
    jobs: Jobs = 1,
    json: Json = False,
) -> None:
    """Write a batch of tests in the likeness of past bugs."""
    settings = StrategySettings(seed=seed, incremental=incremental, skeleton=skeleton)
    targets = [parse_spec(name).text for name in solvers.split(",") if name.strip()]
    made = build_strategy(corpus, strategy, targets, rules, skeletons_from, settings)
    description: dict[str, object] = {
        "exhume": VERSION,
        "corpus": made.fingerprint,
        "strategy": strategy,
        "seed": seed,
        "solvers": targets,
        "rules": rules.value,
        "incremental": incremental,
        "skeleton": skeleton,
        "start": start,
    }
    with progress("generating", json) as tick:
        report = write_batch(
            made, count, out_folder, description, jobs, lambda done: tick(done, count), start
        )
    if json:
        print_json(
            {"written": report.written, "distinct": report.distinct, "seconds": round(report.seconds, 3)}
        )
    else:
        rate = report.written / max(report.seconds, 1e-9)
        out.print(
            f"{report.written} tests in {out_folder}, {report.distinct} distinct,"
            f" {report.seconds:.1f} s ({rate:.0f} a second)"
        )


def strategies_command(json: Json = False) -> None:
    """List the ways to make tests."""
    if json:
        print_json(
            [
                {"name": s.name, "about": s.about, "takes": s.takes, "knows": s.knows}
                for s in STRATEGIES.values()
            ]
        )
        return
    rows = [[s.name, s.about, s.takes, s.knows] for s in STRATEGIES.values()]
    show_table(["name", "about", "takes", "knows of the answer"], rows)
