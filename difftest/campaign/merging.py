"""Findings of a campaign that turn out to have one cause are merged: folders, rows and counts.

Folders come first and the ledger follows them: a run that is killed in between leaves nothing that the next
one does not finish.
"""

from __future__ import annotations

from pathlib import Path

from difftest.campaign.state import CampaignState
from difftest.campaign.stored import FILE
from difftest.triage.merges import Merge, find_merges, merge, move_away
from difftest.triage.store import findings_of, read_findings


def merge_findings(out: Path) -> list[Merge]:
    """Merge the findings with one cause of the campaign in ``out``. InUse while a hunt works on it."""
    merges = find_merges(findings_of(out))
    if not merges or not (out / FILE).is_file():
        return []
    with CampaignState.open(out, {}, jobs=0) as state:
        for found in merges:
            merge(found)
        finish_merges(state, out / "findings")
    return merges


def finish_merges(state: CampaignState, folder: Path) -> None:
    """Move the folders and rows of findings that the document of another one says it took over."""
    records = list(read_findings(folder))
    paths = {record.id: record.path for record in records}
    for kept in records:
        for identity, key in kept.merged.items():
            if identity in paths:
                move_away(paths[identity])
            state.merge(kept, identity, key)
