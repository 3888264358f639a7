"""Findings of one cause merge: folders, rows and counts."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from difftest import FindingConfirmed, HuntOptions, Limits, Stage, hunt
from difftest.campaign import book
from difftest.campaign.merging import finish_merges, merge_findings
from difftest.campaign.schedule import Schedule
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import Changes, FindingState, read_campaign
from difftest.triage import merges
from difftest.triage.folder import FindingFolder
from difftest.triage.merges import Merge, find_merges
from difftest.triage.store import findings_of
from difftest.triage.triggers import Trigger, keep_trigger, read_triggers
from generator.strategy import GeneratedTest
from tests.difftest.hunts import summary_of
from tests.difftest.test_reports import bisect, write
from tests.shell import shell_solver


def finding(
    out: Path, name: str, key: str, reduced: str, releases: tuple[str, str] | None = None, **more: Any
) -> Path:
    """A finding with a key of its own, and the one of its reduced formula."""
    reported = {"confirmed": True, "key": reduced, "size_before": 90, "size_after": 40, "theories": ["Ints"]}
    folder = write(out / "findings" / name, id=name, key=key, reduced=reported, **more)
    (folder / "reduced.smt2").write_text("(check-sat)\n")
    if releases:
        bisect(folder, *releases, {}, last_affected="9")
    return folder


def campaign(out: Path) -> None:
    finding(out, "a", "invalid-model|z3|Ints|div", "invalid-model|z3|Ints|div")
    alike = finding(
        out, "b", "invalid-model|z3|Ints+Reals|div,mod", "invalid-model|z3|Ints|div", test={"index": 8}
    )
    (alike / "duplicates.txt").write_text("9\n10\n")
    finding(out, "c", "invalid-model|z3|Ints|mod", "invalid-model|z3|Ints|mod")


def with_rows(tmp_path: Path) -> dict[str, str]:
    """The campaign with its ledger; the keys of its merges."""
    campaign(tmp_path)
    keys = {"a": "invalid-model|z3|Ints|div", "b": "invalid-model|z3|Ints+Reals|div,mod"}
    rows = [
        FindingState(name, "invalid-model", "z3", key, name, "s", 1, 1, 0.0, duplicates)
        for (name, key), duplicates in zip(keys.items(), (0, 2), strict=True)
    ]
    changes = Changes(new=rows, folded={"invalid-model|z3|Ints+UF": (keys["a"], 1)})
    with CampaignState.open(tmp_path, {"seed": 1}) as state:
        state.commit(changes, 1.0)
    return keys


def test_one_key_after_reduction_is_one_finding(tmp_path: Path) -> None:
    keys = with_rows(tmp_path)
    for number in range(20, 30):
        trigger = Trigger(GeneratedTest(number, "(check-sat)", "s"), f"(check-sat) ; {number}")
        keep_trigger(tmp_path / "findings" / "a", trigger)
    (merged,) = merge_findings(tmp_path)
    # The one that was seen most stays.
    assert (merged.kept.id, merged.gone.id) == ("b", "a")
    assert [record.id for record in findings_of(tmp_path)] == ["b", "c"]
    kept = FindingFolder.read(tmp_path / "findings" / "b")
    assert kept.data["merged"] == [{"id": "a", "key": keys["a"]}]
    assert (kept.path / "duplicates.txt").read_text().split() == ["9", "10", "7"]
    assert (tmp_path / "merged" / "a" / "finding.json").is_file()
    stored = read_campaign(tmp_path)
    assert [(row.id, row.duplicates) for row in stored.findings] == [("b", 3)]
    assert stored.folded["invalid-model|z3|Ints+UF"][0] == keys["b"]
    assert stored.folded[keys["a"]][0] == keys["b"]
    # Its own test, and some of those that were kept with it.
    assert [trigger.test.index for trigger in read_triggers(kept.path)] == [7, *range(20, 27)]
    assert merge_findings(tmp_path) == []
    assert len(stored.runs) == 1


def test_a_merge_that_is_repeated_keeps_each_test_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign(tmp_path)
    (found,) = find_merges(findings_of(tmp_path))
    keep_trigger(found.gone.path, Trigger(GeneratedTest(20, "(check-sat)", "s"), "(check-sat) ; 20"))
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(merges, "move_away", lambda gone: None)  # killed before
            merges.merge(found)
    assert [trigger.test.index for trigger in read_triggers(found.kept.path)] == [7, 20]


def test_a_folder_without_a_row_takes_over_that_of_the_other_one(tmp_path: Path) -> None:
    # exhume bisect made the folder b.
    campaign(tmp_path)
    row = FindingState("a", "invalid-model", "z3", "invalid-model|z3|Ints|div", "a", "s", 1, 1, 0.0, 5)
    with CampaignState.open(tmp_path, {"seed": 1}) as state:
        state.commit(Changes(new=[row]), 1.0)
        state.mark_stored(["a"])
    (merged,) = merge_findings(tmp_path)
    assert (merged.kept.id, merged.gone.id) == ("b", "a")
    (left,) = read_campaign(tmp_path).findings
    assert left == replace(row, id="b", key=merged.kept.key, folder="b", duplicates=6)


@pytest.mark.parametrize("done", ["nothing", "document", "folder"])
def test_a_merge_that_was_killed_is_finished_by_the_next_run(tmp_path: Path, done: str) -> None:
    keys = with_rows(tmp_path)
    (found,) = find_merges(findings_of(tmp_path))
    child = os.fork()
    if child == 0:
        if done == "document":
            merges.move_away = lambda gone: os.kill(os.getpid(), signal.SIGKILL)
        if done != "nothing":
            merges.merge(found)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    with CampaignState.open(tmp_path, {"seed": 1}) as state:
        finish_merges(state, tmp_path / "findings")
        left = [(row.id, row.duplicates) for row in state.loaded.findings]
        folded = {first: key for first, (key, _) in state.loaded.folded.items()}
    if done == "nothing":
        assert (len(left), len(findings_of(tmp_path))) == (2, 3)
        return
    assert left == [("b", 3)]
    assert folded == {"invalid-model|z3|Ints+UF": keys["b"], keys["a"]: keys["b"]}
    assert [record.id for record in findings_of(tmp_path)] == ["b", "c"]
    assert (tmp_path / "merged" / "a" / "finding.json").is_file()


class Divisions:
    """Tests that all divide: two, then others of the same two kinds."""

    name = "divisions"
    fingerprint = "none"

    def generate(self, start: int, stop: int) -> Any:
        others = (
            '(declare-const s String)(assert (= (str.++ s "b") "ab"))',
            "(declare-const v (_ BitVec 4))(assert (= (bvadd #x1 v) #x2))",
        )
        for index in range(start, min(stop, 8)):
            text = f"(declare-const x Int)(assert (= (div x 3) {index})){others[index % 2]}(check-sat)\n"
            yield GeneratedTest(index, text, self.name)


def test_twins_merge_while_the_hunt_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "_REDUCTION", Limits(seconds=20.0))
    monkeypatch.setattr(book, "_REDUCTION_SHARE", 1e9)
    liar = 'case "$text" in *"(div "*) echo unsat;; *) echo sat;; esac'
    solvers = [shell_solver(tmp_path, "honest", "echo sat"), shell_solver(tmp_path, "liar", liar)]
    out = tmp_path / "out"
    # Without a quick reduction the key is that of all theories.
    options = HuntOptions(out, reduction=0.0, stages=(Stage(5.0, 1.0),))
    with CampaignState.open(out, {"seed": 1}) as state:
        schedule = Schedule([Divisions()], 1, False, 6, state.loaded)
        events = list(hunt(schedule, solvers, options, state=state))
    assert sum(isinstance(event, FindingConfirmed) for event in events) == 2
    (merged,) = (event for event in events if isinstance(event, Merge))
    (left,) = summary_of(events).findings
    assert left.id == merged.kept.id
    assert [record.id for record in findings_of(out)] == [left.id]
    # Six tests showed it, before the merge and after.
    (row,) = read_campaign(out).findings
    assert (row.id, row.duplicates) == (left.id, 5)
    with CampaignState.open(out, {"seed": 1}) as state:
        schedule = Schedule([Divisions()], 1, False, 8, state.loaded)
        events = list(hunt(schedule, solvers, options, state=state))
    assert not any(isinstance(event, FindingConfirmed) for event in events)
    (row,) = read_campaign(out).findings
    assert (row.id, row.duplicates) == (left.id, 7)


def test_what_releases_tell_apart_or_is_not_reduced_stays(tmp_path: Path) -> None:
    key = "invalid-model|z3|Ints|div"
    finding(tmp_path, "a", key, key, ("4.7", "4.9"))
    finding(tmp_path, "b", f"{key}|fixed in 4.8", f"{key}", ("4.7", "4.8"))
    write(tmp_path / "findings" / "c", id="c", key=key)
    assert find_merges(findings_of(tmp_path)) == []


def test_a_split_finding_merges_with_one_of_its_key_and_releases(tmp_path: Path) -> None:
    # Split off by its releases from a finding of another key, whose duplicate its test was.
    finding(tmp_path, "a", "invalid-model|z3|Ints|mod", "invalid-model|z3|Ints|mod", ("4.7", "4.8"))
    split = "invalid-model|z3|Ints|div|fixed in 4.8"
    finding(tmp_path, "b", split, "invalid-model|z3|Ints|mod|fixed in 4.8", ("4.7", "4.8"))
    finding(tmp_path, "c", "invalid-model|z3|Ints|div", "invalid-model|z3|Ints|div", ("4.7", "4.9"))
    (found,) = find_merges(findings_of(tmp_path))
    assert {found.kept.id, found.gone.id} == {"a", "b"}
