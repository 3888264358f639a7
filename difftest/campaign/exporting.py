"""Writes a campaign's findings for continuous integration; the formats are in ``difftest.triage.exports``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from base.files import put_text
from base.text import counted
from difftest.campaign.stored import FILE as CAMPAIGN
from difftest.campaign.stored import StoredCampaign
from difftest.campaign.upgrading import FILE as OF_CALLS
from difftest.campaign.upgrading import read_any
from difftest.errors import writing
from difftest.triage.exports import to_junit, to_markdown, to_sarif
from difftest.triage.newness import NOT_NEW, ONLY_BASE, REFUSED_FILES
from difftest.triage.store import folders_of


def export(
    folder: Path, sarif: Path | None = None, junit: Path | None = None, summary: Path | None = None
) -> list[Path]:
    """Write the findings of the campaign in ``folder``, or of a folder of findings, to the files that are
    named, each in one step; which these are. Raises BadOutput, also for a damaged campaign.
    """
    found = folders_of(folder)
    has_campaign = any((folder / name).is_file() for name in (CAMPAIGN, OF_CALLS))
    campaign = read_any(folder) if has_campaign and (sarif or junit or summary) else None
    title = _title(campaign)
    refused = refused_files(campaign)
    texts: dict[Path | None, Callable[[], str]] = {
        sarif: lambda: to_sarif(folder, found, refused),
        junit: lambda: to_junit(title, found, campaign.seconds if campaign else 0.0, refused),
        summary: lambda: to_markdown(title, _facts(campaign, refused), found, folder),
    }
    written = []
    for file, text in texts.items():
        if file is not None:
            with writing(file):
                put_text(file, text())
            written.append(file)
    return written


def _title(campaign: StoredCampaign | None) -> str:
    return "exhume regress" if campaign is not None and campaign.given.get("base") else "exhume"


def refused_files(campaign: StoredCampaign | None) -> list[str]:
    """The files that only the new build of ``exhume regress`` refuses."""
    return sorted(campaign.statistics.get(REFUSED_FILES, {})) if campaign is not None else []


def _facts(campaign: StoredCampaign | None, refused: Sequence[str]) -> list[tuple[str, str]]:
    """What ran, for how long, and what was counted and is not new."""
    if campaign is None:
        return []
    given = campaign.given
    solvers = [str(spec) for spec in given.get("solver") or campaign.settings.get("solvers") or ()]
    base = given.get("base")
    facts = [("new", solvers[0]), ("base", str(base))] if base and solvers else []
    facts = facts or [("solvers", ", ".join(solvers))]
    facts += [
        ("tests", f"{campaign.tests} in {campaign.seconds:.0f} s, {campaign.decided} decided by every solver")
    ]
    if base:
        counts = campaign.statistics
        old, gone = (sum(counts.get(kind, {}).values()) for kind in (NOT_NEW, ONLY_BASE))
        facts.append(("also in the base", str(old)))
        facts.append(("only in the base (fixed, or hidden)", str(gone)))
    if refused:
        facts.append(
            (f"**{counted(len(refused), 'file')} that only the new build refuses**", ", ".join(refused))
        )
    return facts
