"""Options that several commands share, each described once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

import typer

from solvers.registry import OLD_RELEASE, PROFILES, REFERENCES

CorpusFile = Annotated[
    Path, typer.Option("--corpus", metavar="FILE", help="The corpus, a DuckDB file.", dir_okay=True)
]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON document on standard output, nothing else there.")
]
Seed = Annotated[int, typer.Option(help="Same corpus, seed and version: same tests.", min=0)]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Processes at once.", min=1)]
OutFolder = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="A new or empty folder for what is made.")
]
SOLVER_HELP = (
    f"{', '.join(PROFILES)}; a release like {OLD_RELEASE}; with options {REFERENCES[0]}[NAME=VALUE,...];"
    " or NAME=COMMAND LINE. Give it once per solver."
)
SolverSpecs = Annotated[
    list[str],
    typer.Option(
        "--solver",
        metavar="SPEC",
        help=SOLVER_HELP,
    ),
]
OptionalCorpus = Annotated[
    Path | None, typer.Option("--corpus", metavar="FILE", help="The corpus, a DuckDB file.", dir_okay=True)
]
StrategyName = Annotated[str, typer.Option("--strategy", metavar="NAME", help="See 'exhume strategies'.")]
RulesOption = Annotated[
    Literal["full", "coarse", "off"],
    typer.Option("--rules", help="Rules over full or coarse signatures, or none."),
]
Incremental = Annotated[bool, typer.Option(help="Tests with push, pop and several check-sat.")]
SkeletonsFrom = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Take the skeletons from this corpus instead.")
]
Seeds = Annotated[
    str | None,
    typer.Option(
        "--seeds",
        metavar="DIR",
        help="Where a strategy that changes formulas takes them from: a folder of .smt2 files, 'corpus' (the"
        " default) or a strategy, such as 'skeletons'.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A setting of the strategy; see 'exhume strategies'."),
]

_DURATION = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)\Z")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def parse_duration(text: str) -> float:
    """Seconds of ``90``, ``90s``, ``10m``, ``8h``, ``2d``."""
    match = _DURATION.match(text)
    if match is None:
        raise typer.BadParameter(f"{text} is no duration; write 90s, 10m, 8h or 2d")
    seconds = float(match[1]) * _SECONDS[match[2]]
    if seconds == 0:
        raise typer.BadParameter(f"{text} leaves no time; write 90s, 10m, 8h or 2d")
    return seconds
