"""The option --oracles of hunt and replay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from difftest.oracles import ORACLES, select

Oracles = Annotated[
    list[str] | None,
    typer.Option(
        "--oracles",
        metavar="NAME,NAME",
        help=f"Oracles to use, out of {', '.join(ORACLES)}. --oracles=-NAME,-NAME removes some from the"
        " default.  [default: all that the solvers support]",
        show_default=False,
    ),
]


def chosen_oracles(named: Sequence[str] | None) -> tuple[str, ...]:
    """The oracles chosen on the command line; empty for the default. Raises UnknownOracle."""
    return select(named) if named else ()
