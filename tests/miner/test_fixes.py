"""Which files fixes changed: requests, records, the table and the named query."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus.query import find_query, run_query
from corpus.store import Corpus
from miner.archive import Archive
from miner.dumps import mine_files
from miner.errors import Denied, Unreachable
from miner.fixes import fetch_files
from miner.hosts import host_named
from miner.mining import MineOptions, find_tracker, replay_tracker
from tests.miner.github_server import FakeGitHub, FakeTracker, serving
from tests.miner.gitlab_server import FakeGitLab, FakeProject
from tests.miner.mining_help import client_of, contents, mine

OPTIONS = MineOptions(fix_files=True)
COMMIT, ABSENT = "1f2e3d4a", "0badc0de1"
SOLVER = "/repos/ada/solver"


def commented(tracker: FakeTracker) -> None:
    """Comments that name a commit, a pull request, a commit of another tracker, and one that is not there."""
    said = (
        f"Fixed in {COMMIT}.",
        f"Fixed by #900. Fixed in {ABSENT}.",
        f"Fixed by https://github.com/eve/other/commit/{COMMIT}",
    )
    for number, text in enumerate(said, 1):
        tracker.add_comment(number, f"2030-01-0{number}T00:00:00Z", text)


@pytest.fixture
def hub() -> Iterator[FakeGitHub]:
    tracker = FakeTracker(issues=4, comments=0)
    commented(tracker)
    with serving(tracker) as running:
        changed = [{"filename": "src/sat.cpp", "patch": "+ a"}, {"filename": "src/sat/gc.cpp"}, {"size": 3}]
        running.files[f"{SOLVER}/commits/{COMMIT}"] = json.dumps({"sha": COMMIT, "files": changed}).encode()
        running.files[f"{SOLVER}/pulls/900/files"] = json.dumps([{"filename": "src/sat.cpp"}]).encode()
        running.files[f"{SOLVER}/commits/{ABSENT}"] = (422, {})
        yield running


def requests_of(hub: FakeGitHub) -> list[str]:
    return [path for path in hub.log if "/commits/" in path or "/pulls/" in path]


def stored(path: Path) -> list[tuple[object, ...]]:
    with Corpus.open(path) as corpus:
        return corpus.rows("select target, file from fix_file order by all")


FILES = [
    ("ada/solver#900", "src/sat.cpp"),
    (f"ada/solver@{COMMIT}", "src/sat.cpp"),
    (f"ada/solver@{COMMIT}", "src/sat/gc.cpp"),
]


def test_each_fix_is_requested_once_and_only_of_this_tracker(hub: FakeGitHub, tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    assert mine(path, hub.url).fixes == 0
    assert requests_of(hub) == []
    assert mine(path, hub.url, options=OPTIONS).fixes == 2
    assert sorted(requests_of(hub)) == [
        f"{SOLVER}/commits/{ABSENT}",
        f"{SOLVER}/commits/{COMMIT}",
        f"{SOLVER}/pulls/900/files?per_page=100",
    ]
    assert stored(path) == FILES
    before = contents(path)
    assert not any("patch" in str(row) for row in before["text"])
    assert mine(path, hub.url, options=OPTIONS).fixes == 0
    assert len(requests_of(hub)) == 3
    assert contents(path) == before
    with Corpus.open(path, write=True) as corpus:
        with corpus.transaction():
            corpus.execute("delete from fix_file")
        replay_tracker(corpus, "ada/solver")
    assert stored(path) == FILES
    with Corpus.open(tmp_path / "copy.duckdb", write=True) as corpus:
        mine_files(corpus, path)
    assert stored(tmp_path / "copy.duckdb") == FILES


def test_a_run_makes_a_bounded_number_of_requests(hub: FakeGitHub, tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    mine(path, hub.url)
    client, _, _ = client_of(hub.url)
    with Corpus.open(path, write=True) as corpus:
        known = find_tracker(corpus, "ada/solver", ["github"])
        assert known is not None
        archive = Archive(corpus, host_named("github"), known.id, known.name)
        fetch_files(archive, client, "ada/solver", most=2)
        assert len(requests_of(hub)) == 2
        fetch_files(archive, client, "ada/solver", most=2)
    assert len(set(requests_of(hub))) == 3
    client.close()


def test_a_refusal_ends_the_run_with_its_reason(hub: FakeGitHub, tmp_path: Path) -> None:
    hub.files[f"{SOLVER}/pulls/900/files"] = (403, {})
    with pytest.raises(Denied, match="403"):
        mine(tmp_path / "c.duckdb", hub.url, options=OPTIONS)


def test_a_request_that_fails_ends_the_run_after_the_others(hub: FakeGitHub, tmp_path: Path) -> None:
    hub.files[f"{SOLVER}/pulls/900/files"] = (500, {})
    with pytest.raises(Unreachable, match="pulls/900"):
        mine(tmp_path / "c.duckdb", hub.url, options=OPTIONS)
    assert stored(tmp_path / "c.duckdb") == FILES[1:]


def test_requests_stop_after_three_failures_in_a_row(hub: FakeGitHub, tmp_path: Path) -> None:
    fixes = [f"{SOLVER}/commits/{'1f2e3d4b' + str(place)}" for place in range(5)]
    hub.files |= dict.fromkeys(fixes, (500, {}))
    for place in range(5):
        hub.trackers["ada/solver"].add_comment(4, f"2030-01-1{place}T00:00:00Z", f"Fixed in 1f2e3d4b{place}.")
    with pytest.raises(Unreachable):
        mine(tmp_path / "c.duckdb", hub.url, options=OPTIONS)
    assert len(set(requests_of(hub))) == 3


def test_the_query_counts_issues_by_file_and_by_folder(hub: FakeGitHub, tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    mine(path, hub.url, options=OPTIONS)
    query = find_query("fix-files")
    rows = run_query(path, query, {}).rows
    assert [row[:3] for row in rows] == [("src/sat.cpp", 2, 1.0), ("src/sat/gc.cpp", 1, 0.5)]
    assert rows[0][-1] == "ada/solver#1"
    folders = run_query(path, query, {"by": "folder", "theory": "Reals"}).rows
    assert [row[:2] for row in folders] == [("src", 1), ("src/sat", 1)]


def test_files_of_fixes_on_gitlab(tmp_path: Path) -> None:
    project = FakeProject("ada/solver", issues=2, comments=0)
    project.edit_issue(1, "2030-01-01T00:00:00Z", body=f"Fixed by !7 and fixed in {COMMIT}.")
    with serving(project, kind=FakeGitLab) as hub:
        base = "/api/v4/projects/ada%2Fsolver"
        hub.files[f"{base}/merge_requests/7/diffs"] = b'[{"new_path": "a.c", "old_path": "b.c"}]'
        hub.files[f"{base}/repository/commits/{COMMIT}/diff"] = b'[{"new_path": "c.c"}]'
        path = tmp_path / "c.duckdb"
        assert mine(path, hub.url, host=host_named("gitlab"), options=OPTIONS).fixes == 2
    assert stored(path) == [("ada/solver!7", "a.c"), (f"ada/solver@{COMMIT}", "c.c")]
