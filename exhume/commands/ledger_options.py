"""Options about the ledger of findings, of hunt, regress and triage."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from difftest.triage.ledger import LEDGER

LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        help=f"Ledger of findings; what it lists is counted and not reported.  [default: {LEDGER}, if it is"
        " there]",
        show_default=False,
    ),
]
Earlier = Annotated[
    list[Path] | None,
    typer.Option(
        "--earlier",
        metavar="DIR",
        help="Also count and do not report what earlier campaigns found: the folder of one, or of several."
        " Repeat for more.",
        exists=True,
        file_okay=False,
    ),
]


def ledger_file(given: Path | None) -> Path | None:
    """The ledger: the file that is named, else that of the current folder, if there is one."""
    return given or (Path(LEDGER) if Path(LEDGER).is_file() else None)
