"""The command dashboard: one page about many campaigns."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from apifuzz.running import calls as _calls  # noqa: F401 (the kind of their findings)
from base.text import counted
from difftest.campaign.nights import read_history
from exhume.commands.finding_options import LedgerFile, read_ledger
from exhume.commands.options import Json
from exhume.screens.console import out, print_json, say


def dashboard_command(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR",
            help="Folders of campaigns, or folders that hold some.",
            exists=True,
            file_okay=False,
        ),
    ],
    ledger: LedgerFile = None,
    out_file: Annotated[Path, typer.Option("--out", metavar="FILE", help="Output file.")] = Path(
        "dashboard.html"
    ),
    json: Json = False,
) -> None:
    """Write an HTML page about many campaigns, such as one a night.

    It shows the causes with their age and state (by the ledger, where that lists them), what was new and
    fixed each night, the time in solvers, causes per solver hour for each strategy, and the affected
    releases. Like the page of a campaign, it needs no network and no scripts.
    """
    from exhume.pages.dashboard import write_dashboard

    history = read_history(folders, read_ledger(ledger))
    size = write_dashboard(history, out_file)
    if json:
        print_json(
            {
                "path": str(out_file), "bytes": size, "nights": len(history.nights),
                "causes": len(history.causes),
                "states": Counter(map(history.state, history.causes)),
                "problems": list(history.problems),
            }
        )  # fmt: skip
        return
    for line in history.problems:
        say(line)
    causes = counted(len(history.causes), "cause")
    out.print(f"{out_file}: {causes} in {counted(len(history.nights), 'campaign')}, {size} bytes")
