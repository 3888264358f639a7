"""Options that several commands share, each described once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from difftest.oracles import ORACLES, select

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
    "z3, cvc5, bitwuzla, yices; a release like z3==4.8.5; with options z3[NAME=VALUE,...];"
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
Oracles = Annotated[
    list[str] | None,
    typer.Option(
        "--oracles",
        metavar="NAME,NAME",
        help=f"What counts as wrong: {', '.join(ORACLES)}; --oracles=-NAME,-NAME: the default without these."
        "  [default: those that fit the solvers]",
        show_default=False,
    ),
]


def chosen_oracles(named: Sequence[str] | None) -> tuple[str, ...]:
    """The oracles named on the command line, on or off, none for the defaults; UnknownOracle for a name that
    is none.
    """
    return select(named) if named else ()
