"""Findings of a campaign that turn out to have one cause are merged: folders, rows and counts."""

from __future__ import annotations

from pathlib import Path

from difftest.campaign.state import CampaignState
from difftest.campaign.stored import FILE
from difftest.triage.store import findings_of
from difftest.triage.twins import Merge, find_twins, merge


def merge_twins(out: Path) -> list[Merge]:
    """Merge the twins among the findings of the campaign in ``out``. InUse while a hunt works on it."""
    twins = find_twins(findings_of(out))
    if not twins or not (out / FILE).is_file():
        return []
    with CampaignState.open(out, {}) as state:
        rows = {row.id: row for row in state.loaded.findings}
        for found in twins:
            merge(found)
            if found.kept.id in rows and found.gone.id in rows:
                state.merge(rows[found.kept.id], rows[found.gone.id])
    return twins
