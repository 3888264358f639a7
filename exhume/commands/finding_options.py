"""Options of the commands that look for findings or list them: about the ledger, and the oracles."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypedDict

import typer

from difftest.triage.ledger import LEDGER, Ledger

LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FILE",
        help="Ledger of findings: what was reported before, and what became of it."
        f"  [default: {LEDGER}, if it exists]",
        show_default=False,
    ),
]
Earlier = Annotated[
    list[Path] | None,
    typer.Option(
        "--earlier",
        metavar="DIR",
        help="Also count but do not report what earlier campaigns found: the folder of one, or of several."
        " Repeat for more.",
        exists=True,
        file_okay=False,
    ),
]
Oracles = Annotated[
    list[str] | None,
    typer.Option(
        "--oracles",
        metavar="NAME,NAME",
        help="Oracles and relations to use, as docs/oracles.md describes them; an unknown name lists them."
        " --oracles=-NAME,-NAME removes some from the default.  [default: all that the solvers support]",
        show_default=False,
    ),
]


class KnownBefore(TypedDict):
    """The settings of a campaign about what is known before; see ``CampaignSettings``."""

    ledger: str | None
    earlier: tuple[str, ...]


def known_before(ledger: Path | None, earlier: list[Path] | None) -> KnownBefore:
    """The settings that ``--ledger`` and ``--earlier`` stand for."""
    file = ledger_file(ledger)
    return {
        "ledger": str(file.absolute()) if file else None,
        "earlier": tuple(str(folder.absolute()) for folder in earlier or ()),
    }


def ledger_file(given: Path | None) -> Path | None:
    """The ledger: the file that is named, else that of the current folder, if there is one."""
    return given or (Path(LEDGER) if Path(LEDGER).is_file() else None)


def read_ledger(given: Path | None) -> Ledger:
    """What the ledger lists (see :func:`ledger_file`); nothing if there is none."""
    file = ledger_file(given)
    return Ledger.read(file) if file else Ledger()
