"""Campaigns of API fuzzing as earlier versions kept them: counts in ``apifuzz.json`` instead of in
``campaign.sqlite``.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from difftest.campaign.state import CampaignState
from difftest.campaign.stored import FILE as CAMPAIGN
from difftest.campaign.stored import (
    ArmState,
    Changes,
    FindingState,
    NoCampaign,
    StoredCampaign,
    read_campaign,
)
from difftest.triage.folder import FindingFolder
from difftest.triage.store import read_findings

FILE = "apifuzz.json"
_STRATEGY = "api"
_FORMAT = 1


def upgrade(out: Path) -> None:
    """Make the campaign in ``out`` one of this version, if an earlier one began it; ``apifuzz.json`` stays as
    it was. NoCampaign where that cannot be read.
    """
    if not (out / FILE).is_file() or (out / CAMPAIGN).exists():
        return
    with tempfile.TemporaryDirectory(prefix=".upgrade-", dir=out) as folder:
        _convert(out, Path(folder))
        Path(folder, CAMPAIGN).rename(out / CAMPAIGN)


def read_any(out: Path) -> StoredCampaign:
    """The campaign in ``out``, whatever version began it; NoCampaign without one."""
    if not (out / FILE).is_file() or (out / CAMPAIGN).exists():
        return read_campaign(out)
    with tempfile.TemporaryDirectory(prefix="exhume-campaign-") as folder:
        _convert(out, Path(folder))
        return read_campaign(Path(folder))


def _convert(out: Path, to: Path) -> None:
    """Write the counts in ``out`` as a campaign in ``to``."""
    file = out / FILE
    try:
        data = json.loads(file.read_text("utf-8"))
        if data["format"] != _FORMAT:
            raise ValueError(f"format {data['format']}")
        settings, counts = _settings(data["settings"]), data["counts"]
        done = {int(number) for number in counts["done"]}
        first = int(counts["first"])
        changes = _changes(out, counts, int(settings.get("seed", 0)))
        seconds, looks = float(counts["seconds"]), counts["looks"]
        for stem, key in counts["first_key"].items():
            changes.folded[str(stem)] = (str(key), int(looks.get(stem, 1)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        raise NoCampaign(f"{file}: no campaign can be read there: {problem}") from problem
    # Between two numbers that are done, those are left that lie there: they may be many.
    edges = sorted({first - 1, *(number for number in done if number >= first)})
    left = [(before + 1, after) for before, after in pairwise(edges) if after > before + 1]
    following = edges[-1] + 1
    spent = changes.solver_seconds
    arm = ArmState(_STRATEGY, "", following, False, changes.tests, 0, changes.findings, spent)
    with CampaignState.open(to, settings) as state:
        opened = [(_STRATEGY, "", start, stop) for start, stop in left]
        state.commit(changes, seconds, [arm], opened, (), "finished")


def _settings(old: Mapping[str, Any]) -> dict[str, Any]:
    """What the campaign was begun with, under the names of this version."""
    setup = old.get("setup") or {}
    renamed = {"setup", "version"}
    return {
        **{name: value for name, value in old.items() if name not in renamed},
        "strategy": [_STRATEGY],
        "setups": [setup],
        "versions": [old.get("version")],
    }


def _changes(out: Path, counts: Mapping[str, Any], seed: int) -> Changes:
    changes = Changes(
        tests=int(counts["runs"]),
        duplicates=int(counts["duplicates"]),
        unconfirmed=int(counts["unconfirmed"]),
        solver_seconds=float(counts["solver_seconds"]),
    )
    seen = Counter({str(key): int(count) for key, count in counts["seen"].items()})
    for record in read_findings(out / "findings"):
        index = FindingFolder.read(record.path).index
        found_at = record.path.stat().st_mtime
        row = (record.id, record.finding_class, record.solver, record.key, record.path.name)
        duplicates = max(0, seen.pop(record.key, 1) - 1)
        changes.new.append(FindingState(*row, _STRATEGY, index, seed, found_at, duplicates))
    changes.findings = len(changes.new)
    kinds = {"runs": counts["outcomes"], "errors": counts["errors"], "calls": {"calls": counts["calls"]}}
    # What was seen and is no finding was known before.
    for kind, found in {**kinds, **counts["statistics"], "known": seen}.items():
        changes.counted.update({(kind, str(name), ""): int(count) for name, count in found.items()})
    return changes
