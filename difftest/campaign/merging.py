"""Findings of a campaign that turn out to have one cause are merged: folders, rows and counts.

Folders come first and the ledger follows them: a run that is killed in between leaves nothing that the next
one does not finish.
"""

from __future__ import annotations

from pathlib import Path

from difftest.campaign.state import CampaignState
from difftest.campaign.stored import FILE
from difftest.triage.store import findings_of, read_findings
from difftest.triage.twins import Merge, find_twins, merge, move_away


def merge_twins(out: Path) -> list[Merge]:
    """Merge the twins among the findings of the campaign in ``out``. InUse while a hunt works on it."""
    twins = find_twins(findings_of(out))
    if not twins or not (out / FILE).is_file():
        return []
    with CampaignState.open(out, {}, jobs=0) as state:
        for found in twins:
            merge(found)
        finish_merges(state, out / "findings")
    return twins


def finish_merges(state: CampaignState, folder: Path) -> None:
    """Move the folders and rows of findings that the document of another one says it took over."""
    records = list(read_findings(folder))
    paths = {record.id: record.path for record in records}
    for kept in records:
        for identity, key in kept.merged.items():
            if identity in paths:
                move_away(paths[identity])
            state.merge(kept.id, kept.key, identity, key)
