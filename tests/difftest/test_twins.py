"""Findings of one cause merge: folders, rows and counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from difftest.campaign.merging import merge_twins
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import Changes, FindingState, read_campaign
from difftest.triage.folder import FindingFolder
from difftest.triage.store import findings_of
from difftest.triage.twins import find_twins
from tests.difftest.test_reports import write


def finding(
    out: Path, name: str, key: str, reduced: str, releases: tuple[str, str] | None = None, **more: Any
) -> Path:
    """A finding with a key of its own, and the one of its reduced formula."""
    told = {"confirmed": True, "key": reduced, "size_before": 90, "size_after": 40, "theories": ["Int"]}
    folder = write(out / "findings" / name, id=name, key=key, reduced=told, **more)
    (folder / "reduced.smt2").write_text("(check-sat)\n")
    if releases:
        report = {
            "first_affected": releases[0],
            "first_fixed": releases[1],
            "last_affected": "9",
            "tried": [],
        }
        (folder / "bisect.json").write_text(json.dumps({"complete": True, "report": report}))
    return folder


def campaign(out: Path) -> None:
    finding(out, "a", "invalid-model|z3|Int|div", "invalid-model|z3|Int|div")
    twin = finding(
        out, "b", "invalid-model|z3|Int+Real|div,mod", "invalid-model|z3|Int|div", test={"index": 8}
    )
    (twin / "duplicates.txt").write_text("9\n10\n")
    finding(out, "c", "invalid-model|z3|Int|mod", "invalid-model|z3|Int|mod")


def test_one_key_after_reduction_is_one_finding(tmp_path: Path) -> None:
    campaign(tmp_path)
    keys = {"a": "invalid-model|z3|Int|div", "b": "invalid-model|z3|Int+Real|div,mod"}
    rows = [
        FindingState(name, "invalid-model", "z3", key, name, "s", 1, 1, 0.0, duplicates)
        for (name, key), duplicates in zip(keys.items(), (0, 2), strict=True)
    ]
    changes = Changes(new=rows, folded={"invalid-model|z3|Int+UF": (keys["a"], 1)})
    with CampaignState.open(tmp_path, {"seed": 1}) as state:
        state.commit(changes, 1.0)
    (merged,) = merge_twins(tmp_path)
    # The one that was seen most stays.
    assert (merged.kept.id, merged.gone.id) == ("b", "a")
    assert [record.id for record in findings_of(tmp_path)] == ["b", "c"]
    kept = FindingFolder.read(tmp_path / "findings" / "b")
    assert kept.data["merged"] == [{"id": "a", "key": keys["a"]}]
    assert (kept.path / "duplicates.txt").read_text().split() == ["9", "10", "7"]
    assert (tmp_path / "merged" / "a" / "finding.json").is_file()
    stored = read_campaign(tmp_path)
    assert [(row.id, row.duplicates) for row in stored.findings] == [("b", 3)]
    assert stored.folded["invalid-model|z3|Int+UF"][0] == keys["b"]
    assert stored.folded[keys["a"]][0] == keys["b"]
    assert merge_twins(tmp_path) == []


def test_what_releases_tell_apart_or_is_not_reduced_stays(tmp_path: Path) -> None:
    key = "invalid-model|z3|Int|div"
    finding(tmp_path, "a", key, key, ("4.7", "4.9"))
    finding(tmp_path, "b", f"{key}|fixed in 4.8", f"{key}", ("4.7", "4.8"))
    write(tmp_path / "findings" / "c", id="c", key=key)
    assert find_twins(findings_of(tmp_path)) == []
