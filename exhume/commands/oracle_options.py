"""The option of hunt and replay that says what counts as wrong."""

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
