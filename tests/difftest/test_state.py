"""The campaign's state: what is stored comes back, stays small, and survives what happens to files."""

from __future__ import annotations

import errno
import itertools
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difftest import Limits, Outcome
from difftest.campaign import state as state_module
from difftest.campaign.state import CampaignState, ranges
from difftest.campaign.stored import (
    FILE,
    MAX_BUCKETS,
    Again,
    ArmState,
    ArmWeights,
    Changes,
    FindingState,
    NoCampaign,
    SettingsDiffer,
    read_campaign,
)
from difftest.campaign.tally import Tally
from difftest.campaign.tasks import RunResult, RunTask, TestName
from difftest.errors import BadOutput, InUse
from solvers.running.outcomes import Verdict

FOUND = FindingState("id1", "crash", "z3", "crash|z3|a.cpp:1", "crash-id1", "skeletons", 7, 1, 1000.0)


def changes(**counts: int) -> Changes:
    outcomes = Counter({("strategy", "skeletons", "z3", "ok"): 3, ("theory", "Ints", "z3", "ok"): 2})
    return Changes(outcomes=outcomes, **counts)  # type: ignore[arg-type]


def test_what_is_committed_is_read_again(tmp_path: Path) -> None:
    arm = ArmState("skeletons", "Ints", 9, False, 3, 2, 1, 0.5, 0.25, ArmWeights(1.5))
    again = Again("skeletons", "Ints", 4, 1, {"z3": "timeout"}, "later")
    with CampaignState.open(tmp_path, {"seed": 1}, "dask", 4) as opened:
        reported = changes(tests=3, decided=2, findings=1, duplicates=4, unconfirmed=1)
        reported.new.append(FOUND)
        reported.again_seen["id1"] += 4
        reported.folded["first"] = ("folded", 2)
        opened.commit(reported, 12.5, [arm], [("skeletons", "Ints", 5, 8)], [again])
        opened.mark_stored(["id1"])
        seen = read_campaign(tmp_path)
    assert seen == read_campaign(tmp_path)
    assert seen.settings["seed"] == 1
    assert (seen.arms, seen.again) == ((arm,), (again,))
    assert seen.open == (("skeletons", "Ints", 5, 8),)
    assert (seen.runs[0].executor, seen.runs[0].jobs, seen.seconds) == ("dask", 4, 12.5)
    (bucket,) = seen.buckets
    assert (bucket.tests, bucket.decided, bucket.findings, bucket.duplicates, bucket.unconfirmed) == (
        3,
        2,
        1,
        4,
        1,
    )
    assert {(o.kind, o.name, o.count) for o in seen.outcomes} == {
        ("strategy", "skeletons", 3),
        ("theory", "Ints", 2),
    }
    (found,) = seen.findings
    assert (found.id, found.duplicates, found.stored, found.earlier) == ("id1", 4, True, False)
    assert seen.folded == {"first": ("folded", 2)}


def test_counts_add_up_over_runs_and_what_is_handed_out_is_replaced(tmp_path: Path) -> None:
    for number in range(3):
        with CampaignState.open(tmp_path, {"seed": 1}) as opened:
            opened.commit(changes(tests=3), 1.0, handed_out=[("s", "", number, number + 1)])
    seen = read_campaign(tmp_path)
    assert seen.tests == 9
    assert sum(row.count for row in seen.outcomes if row.kind == "strategy") == 9
    assert seen.open == (("s", "", 2, 3),)
    assert [run.ending for run in seen.runs] == [None, None, None]
    assert seen.seconds == 3.0


def test_a_switch_that_differs_is_on_or_off(tmp_path: Path) -> None:
    CampaignState.open(tmp_path, {"bandit": True}).close()
    with pytest.raises(SettingsDiffer, match="started with bandit on, not bandit off; use the same"):
        CampaignState.open(tmp_path, {"bandit": False})


def test_of_nested_settings_only_what_differs_is_named(tmp_path: Path) -> None:
    setup = {"solver": "z3", "factory": None, "path": None, "witnesses": True}
    CampaignState.open(tmp_path, {"setups": [setup], "corpus": {"replay": "ab", "skeletons": "cd"}}).close()
    with pytest.raises(SettingsDiffer, match="started with setups witnesses on, not setups witnesses off;"):
        CampaignState.open(tmp_path, {"setups": [{**setup, "witnesses": False}]})
    with pytest.raises(SettingsDiffer, match='started with corpus replay "ab", not corpus replay "ef";'):
        CampaignState.open(tmp_path, {"corpus": {"replay": "ef", "skeletons": "cd"}})
    with pytest.raises(SettingsDiffer, match='started with corpus replay "ab", not corpus replay null;'):
        CampaignState.open(tmp_path, {"corpus": {"skeletons": "cd"}})


def test_other_settings_are_one_clear_line(tmp_path: Path) -> None:
    CampaignState.open(tmp_path, {"seed": 1, "solvers": ["z3"]}).close()
    with pytest.raises(SettingsDiffer, match=r"started with seed 1, not seed 2; use the same") as caught:
        CampaignState.open(tmp_path, {"seed": 2, "solvers": ["z3"]})
    assert "\n" not in str(caught.value)
    CampaignState.open(tmp_path, {"seed": 1, "solvers": ["z3"]}, notes={"given": 2}).close()
    assert read_campaign(tmp_path).settings["given"] == 2


def test_two_hunts_do_not_share_a_folder_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from difftest.campaign.state import CampaignState\n"
        "held = CampaignState.open(Path(sys.argv[1]), {}); print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(InUse, match=rf"another campaign uses this folder \(process {holder.pid} on "):
        CampaignState.open(tmp_path, {})
    holder.kill()
    holder.wait()
    holder.stdout.close()
    CampaignState.open(tmp_path, {}).close()
    assert {path.name for path in tmp_path.iterdir()} == {FILE}


def test_no_campaign_or_a_damaged_one_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NoCampaign, match="no campaign there"):
        read_campaign(tmp_path)
    (tmp_path / FILE).write_bytes(os.urandom(5000))
    for look in (lambda: read_campaign(tmp_path), lambda: CampaignState.open(tmp_path, {})):
        with pytest.raises(NoCampaign, match="cannot be read as a campaign"):
            look()
    (tmp_path / "file").write_text("")
    with pytest.raises(BadOutput, match="file: it is not a folder"):
        CampaignState.open(tmp_path / "file", {})


@pytest.mark.parametrize(
    "damage",
    [
        "update setting set value = 'x' where name = 'created'",
        "delete from setting where name = 'bucket_seconds'",
        "insert into outcome values (0, 'strategy', 's', 'z3', 'nonsense', 1)",
        "insert into arm values ('s', '', 1, 0, 0, 0, 0, 0, 0, '[')",
        "insert into arm values ('s', '', 1, 0, 0, 0, 0, 0, 0, '[]')",
        "insert into arm values ('s', '', 1, 0, 0, 0, 0, 0, 0, '{\"strategy\": {\"found\": NaN}}')",
        "update run set started = 'soon'",
    ],
)
def test_a_damaged_value_is_reported_with_the_file(tmp_path: Path, damage: str) -> None:
    CampaignState.open(tmp_path, {}).close()
    with sqlite3.connect(tmp_path / FILE) as opened:
        opened.execute(damage)
    opened.close()
    for look in (lambda: read_campaign(tmp_path), lambda: CampaignState.open(tmp_path, {})):
        with pytest.raises(NoCampaign, match=rf"{FILE}: a value is missing or damaged .*another folder$"):
            look()


def test_a_newer_format_is_reported(tmp_path: Path) -> None:
    CampaignState.open(tmp_path, {}).close()
    with sqlite3.connect(tmp_path / FILE) as opened:
        opened.execute("update setting set value = '99' where name = 'format'")
    opened.close()
    said = rf"{FILE}: the campaign has format 99, and this version reads format \d+\. Use another folder\.$"
    with pytest.raises(NoCampaign, match=said):
        read_campaign(tmp_path)


def test_further_counts_of_tests_under_options_are_those_of_the_solver() -> None:
    """Else a hunt would add rows for each set of options that it tries."""
    tally = Tally(["z3"])
    for options in ("", "[a=1]", "[b=2]"):
        verdicts = {f"z3{options}": Verdict(Outcome.OK, ("sat",), 0.1)}
        task = RunTask(TestName("s", "", 0), 0, Limits())
        counts = {"relation core": {"held": 1}}
        tally.count(RunResult(task, verdicts, 0.1, counts=counts, bases={f"z3{options}": "z3"}), True)
    assert tally.take().counted == {("relation core", "held", "z3"): 3}


def test_it_stays_small_however_long_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_700_000_000.0
    monkeypatch.setattr(state_module.time, "time", lambda: now)
    with CampaignState.open(tmp_path, {}) as opened:
        for _ in range(3 * MAX_BUCKETS):
            now += 61
            opened.commit(changes(tests=1, decided=1), 1.0)
        seen = read_campaign(tmp_path)
    assert len(seen.buckets) <= MAX_BUCKETS
    assert seen.bucket_seconds == 256
    assert seen.tests == 3 * MAX_BUCKETS
    assert sum(row.count for row in seen.outcomes if row.kind == "theory") == 6 * MAX_BUCKETS
    assert (tmp_path / FILE).stat().st_size < 1 << 20


def test_what_was_not_committed_is_as_if_it_had_not_been(tmp_path: Path) -> None:
    def begin() -> None:
        opened = CampaignState.open(tmp_path, {})
        opened.commit(changes(tests=5), 1.0)
        opened._opened.execute("begin immediate")
        opened._opened.execute("delete from bucket")
        os.kill(os.getpid(), 9)

    process = multiprocessing.get_context("fork").Process(target=begin)
    process.start()
    process.join()
    with CampaignState.open(tmp_path, {}) as opened:
        assert opened.loaded.tests == 5


def test_a_campaign_is_read_in_a_folder_that_is_read_only() -> None:
    def read() -> None:
        own = os.geteuid()
        if own == 0:
            os.seteuid(65534)  # root may write anywhere
        read_campaign(out)
        os.seteuid(own)  # coverage writes its file

    # Not below tmp_path, which only its owner may enter.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        out = Path(folder, "out")
        CampaignState.open(out, {}).close()
        out.chmod(0o555)
        process = multiprocessing.get_context("fork").Process(target=read)
        process.start()
        process.join()
        out.chmod(0o755)
    assert process.exitcode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a file system of its own, which only root may mount")
def test_a_full_disk_is_an_error_and_loses_nothing(tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(small)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here")
    try:
        with CampaignState.open(small, {"seed": 1}) as opened:
            opened.commit(changes(tests=5), 1.0)
            (small / "filler").write_bytes(b"x" * (os.statvfs(small).f_bavail * 4096))
            many = [Again("s", "", index, 1, {"z3": "timeout"}, "later") for index in range(1000)]
            with pytest.raises(OSError, match="No space left") as caught:
                opened.commit(changes(tests=7), 2.0, again=many)
            assert caught.value.errno == errno.ENOSPC
            (small / "filler").unlink()
        with CampaignState.open(small, {"seed": 1}) as opened:
            assert opened.loaded.tests == 5
    finally:
        subprocess.run(["umount", str(small)], check=True)


@given(st.sets(st.integers(0, 300)))
def test_ranges_hold_exactly_what_they_are_made_of(indices: set[int]) -> None:
    found = list(ranges(indices))
    assert {index for start, stop in found for index in range(start, stop)} == indices
    assert all(stop < start for (_, stop), (start, _) in itertools.pairwise(found))
