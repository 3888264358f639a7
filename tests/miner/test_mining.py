"""Mining a tracker: what is asked, what is stored, and what an edit, a fault or a kill changes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corpus.records import Comment, Issue, RawRecord
from corpus.store import Corpus
from miner.archive import Archive
from miner.attachments import AttachedFile
from miner.crawl import Crawler, TrackerGone
from miner.errors import BadInput, Unreachable
from miner.hosts import locate
from miner.mining import (
    Listener,
    MineOptions,
    NothingStored,
    mined_trackers,
    replay_tracker,
    store_tracker,
)
from miner.storing import Storer, TrackerReport, prepare
from tests.miner.github_server import FakeGitHub, FakeTracker, Fault, serving
from tests.miner.mining_help import GITHUB, client_of, contents, mine, one
from tests.miner.test_hostile import TEXTS
from tests.sizes import size

ROOT = Path(__file__).resolve().parents[2]
LATER = "2030-05-05T05:05:05Z"
SCRIPT = "```\n(declare-const q Int)\n(assert (> q 41))\n(check-sat)\n```"


@pytest.fixture
def hub() -> Iterator[FakeGitHub]:
    with serving(FakeTracker()) as running:
        running.most_per_page = 20
        yield running


@pytest.fixture
def tracker(hub: FakeGitHub) -> FakeTracker:
    return hub.trackers["ada/solver"]


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    with Corpus.open(path) as corpus:
        return corpus.rows(sql)


def test_a_tracker_is_mined_by_pages(hub: FakeGitHub, tmp_path: Path) -> None:
    report = mine(tmp_path / "c", hub.url, "Ada/Solver")
    assert report.tracker == "ada/solver"
    assert report.issues_seen == 55  # of 60, five are pull requests
    assert 0 < report.new_issues < 55
    assert report.new_formulas == one(tmp_path / "c", "select count(*) from formula")
    assert len(hub.log) == report.requests <= 14
    assert not any("/issues/1" in path for path in hub.log)
    with Corpus.open(tmp_path / "c") as corpus:
        assert corpus.verify() == []
        assert corpus.scalar("select count(*) from issue where state <> 'closed' or bug_class = 'none'") == 0
        assert (
            corpus.scalar("select count(*) from formula where not decomposed and status = 'well-sorted'") == 0
        )
        assert corpus.scalar("select sum(assertions) from skeleton") > 0
        assert mined_trackers(corpus) == ["ada/solver"]
        urls = corpus.rows("select url, solver from tracker")
        assert urls == [("https://github.com/ada/solver", None)]


def test_mining_again_asks_for_the_last_pages_only_and_changes_nothing(
    hub: FakeGitHub, tmp_path: Path
) -> None:
    mine(tmp_path / "c", hub.url)
    before = contents(tmp_path / "c")
    asked = len(hub.log)
    report = mine(tmp_path / "c", hub.url)
    assert len(hub.log) - asked == report.requests == 3
    assert (report.not_modified, report.pages, report.issues_read) == (2, 0, 0)
    assert hub.statuses[-2:] == [304, 304]
    assert contents(tmp_path / "c") == before


def test_everything_is_kept_with_where_it_came_from(hub: FakeGitHub, tmp_path: Path) -> None:
    mine(tmp_path / "c", hub.url)
    with Corpus.open(tmp_path / "c") as corpus:
        for number, title, labels, body, association, record in corpus.rows(
            """select number, title, labels, t.body, author_association, raw.body from issue
            join text t on t.id = issue.text_id join raw_record on raw_record.id = raw_record_id
            join text raw on raw.id = raw_record.text_id"""
        ):
            raw = next(item for item in json.loads(record) if item["number"] == number)
            assert (title, body, association) == (raw["title"], raw["body"], raw["author_association"])
            assert labels == [label["name"] for label in raw["labels"]]
        for remote, body, record in corpus.rows(
            """select remote_id, t.body, raw.body from comment join text t on t.id = comment.text_id
            join raw_record on raw_record.id = raw_record_id join text raw on raw.id = raw_record.text_id"""
        ):
            assert body == next(item["body"] for item in json.loads(record) if item["id"] == remote)
        kinds = dict(corpus.rows("select kind, count(*) from issue_link group by kind"))
        assert kinds["commit"] > 0
        assert kinds["number"] > 0
        assert corpus.scalar("select count(*) from issue_link where fixes and kind = 'commit'") > 0
        assert corpus.scalar("select count(*) from issue where fixed_by is not null") > 0


def test_a_new_comment_and_an_edit_cost_two_pages(
    hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path
) -> None:
    mine(tmp_path / "c", hub.url)
    number = one(tmp_path / "c", "select min(number) from issue")
    assert isinstance(number, int)
    tracker.add_comment(number, LATER, "And this:\n" + SCRIPT)
    report = mine(tmp_path / "c", hub.url)
    assert (report.requests, report.pages) == (3, 2)
    assert (report.issues_read, report.new_issues, report.new_formulas) == (1, 0, 1)
    assert one(tmp_path / "c", "select count(*) from formula where source like '%comment:%/0'") is not None


@pytest.mark.thorough
def test_an_edited_formula_takes_the_place_of_the_old_one(
    hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path
) -> None:
    number = tracker.add_issue("2029-01-01T00:00:00Z", title="soundness bug", body=SCRIPT, state="closed")
    if number % 11 == 0:
        pytest.fail("this number is a pull request")
    mine(tmp_path / "c", hub.url)
    place = f"source = 'ada/solver#{number}/body/0'"
    tracker.edit_issue(number, LATER, body=SCRIPT.replace("41", "42"))
    assert mine(tmp_path / "c", hub.url).new_formulas == 1
    old, new = rows(
        tmp_path / "c", f"select id, superseded_by, block_id from formula where {place} order by id"
    )
    assert (old[1], old[2], new[1]) == (new[0], None, None)
    assert one(tmp_path / "c", f"select count(*) from current_formula where {place}") == 1
    # And back again: the first counts again, the second no more.
    tracker.edit_issue(number, "2030-06-01T00:00:00Z", body=SCRIPT)
    assert mine(tmp_path / "c", hub.url).new_formulas == 0
    old, new = rows(tmp_path / "c", f"select id, superseded_by from formula where {place} order by id")
    assert (old[1], new[1]) == (None, old[0])
    # A formula that moves is the same formula elsewhere.
    tracker.edit_issue(number, "2030-07-01T00:00:00Z", body=SCRIPT.replace("41", "7") + "\n\n" + SCRIPT)
    mine(tmp_path / "c", hub.url)
    current = rows(
        tmp_path / "c", f"select source from current_formula where source like 'ada/solver#{number}/body%'"
    )
    assert sorted(current) == [(f"ada/solver#{number}/body/0",), (f"ada/solver#{number}/body/1",)]
    tracker.edit_issue(number, "2030-08-01T00:00:00Z", body="segfault, see elsewhere")
    mine(tmp_path / "c", hub.url)
    with Corpus.open(tmp_path / "c") as corpus:
        assert corpus.verify() == []
        assert (
            corpus.scalar(
                f"select count(*) from block join issue on issue.id = issue_id where number = {number}"
            )
            == 0
        )


@pytest.mark.thorough
def test_a_reopened_issue_is_kept_up_to_date(hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path) -> None:
    mine(tmp_path / "c", hub.url)
    number = one(tmp_path / "c", "select min(number) from issue")
    assert isinstance(number, int)
    tracker.edit_issue(number, LATER, state="open", state_reason="reopened", closed_at=None)
    mine(tmp_path / "c", hub.url)
    found = rows(tmp_path / "c", f"select state, state_reason, closed_at from issue where number = {number}")
    assert found == [("open", "reopened", None)]


@pytest.mark.thorough
def test_a_corpus_of_an_earlier_version_is_resumed(hub: FakeGitHub, tmp_path: Path) -> None:
    mine(tmp_path / "c", hub.url)
    # As the first version wrote them.
    issues = "/repos/ada/solver/issues?state=all&sort=updated&direction=asc&per_page=100"
    comments = "/repos/ada/solver/issues/comments?sort=updated&direction=asc&per_page=100"
    found = dict(rows(tmp_path / "c", "select request, next from raw_record"))
    assert {"/repos/ada/solver", issues, comments} <= found.keys()
    assert str(found[issues]).startswith(issues + "&since=2015-01-")
    before = contents(tmp_path / "c")
    with Corpus.open(tmp_path / "c", write=True) as corpus, corpus.transaction():
        corpus.execute("update mined_issue set digest = 'of another version'")
    report = mine(tmp_path / "c", hub.url)
    assert (report.requests, report.issues_read, report.new_formulas) == (3, 55, 0)
    assert contents(tmp_path / "c") == before


@pytest.mark.thorough
def test_all_takes_the_rest_without_asking_again(hub: FakeGitHub, tmp_path: Path) -> None:
    mine(tmp_path / "c", hub.url)
    report = mine(tmp_path / "c", hub.url, options=MineOptions(everything=True))
    assert report.requests == 3
    assert one(tmp_path / "c", "select count(*) from issue") == 55
    mine(tmp_path / "d", hub.url, options=MineOptions(everything=True))
    assert one(tmp_path / "d", "select count(*) from issue") == 55


def test_since_asks_for_what_is_newer_only(hub: FakeGitHub, tmp_path: Path) -> None:
    report = mine(tmp_path / "c", hub.url, options=MineOptions(date(2015, 1, 20), everything=True))
    assert all("since=2015-01-" in path for path in hub.log[1:])
    assert 0 < report.new_issues < 30
    assert one(tmp_path / "c", "select count(*) from issue where updated_at < '2015-01-20'") == 0
    # Without it, what is older comes too; then everything is known.
    mine(tmp_path / "c", hub.url, options=MineOptions(everything=True))
    assert one(tmp_path / "c", "select count(*) from issue") == 55
    asked = len(hub.log)
    mine(tmp_path / "c", hub.url, options=MineOptions(date(2015, 1, 20)))
    assert len(hub.log) - asked == 3


def test_what_moves_while_pages_are_read_is_not_missed(
    hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path
) -> None:
    def edit(number: int) -> None:
        if 2 <= number <= 5:  # an issue of the first page moves to the end
            tracker.edit_issue(number, f"2030-01-0{number}T00:00:00Z")

    hub.on_request = edit
    mine(tmp_path / "c", hub.url, options=MineOptions(everything=True))
    assert one(tmp_path / "c", "select count(*) from issue") == 55


def test_hundreds_of_items_of_one_second_are_read(tmp_path: Path) -> None:
    tracker = FakeTracker(issues=60, comments=0)
    for number in range(1, 61):
        tracker.edit_issue(number, "2020-01-01T00:00:00Z")
    with serving(tracker) as hub:
        hub.most_per_page = 10
        report = mine(tmp_path / "c", hub.url, options=MineOptions(everything=True))
        assert report.new_issues == 55
        assert report.requests < 12


def test_a_server_that_does_not_sort_by_update_is_read_page_by_page(tmp_path: Path) -> None:
    tracker = FakeTracker(issues=60, comments=0)
    ordinary = tracker.page
    tracker.page = lambda what, query, size: ordinary(  # type: ignore[method-assign]
        what, {k: v for k, v in query.items() if k not in ("since", "sort", "direction")}, size
    )
    with serving(tracker) as hub:
        hub.most_per_page = 20
        report = mine(tmp_path / "c", hub.url, options=MineOptions(everything=True))
        assert (report.new_issues, report.requests) == (55, 5)


def test_faults_on_the_way_change_no_row(hub: FakeGitHub, tmp_path: Path) -> None:
    mine(tmp_path / "calm", hub.url)
    hub.faults = [None, Fault(502), Fault("cut"), None, Fault("junk"), Fault("close"), None, Fault(500)]
    hub.faults += [Fault(403, {"Retry-After": "5"}), None, Fault(429, {}, '{"message": "rate limit"}')]
    mine(tmp_path / "rough", hub.url)
    assert contents(tmp_path / "rough") == contents(tmp_path / "calm")


def test_a_renamed_repository_is_followed_and_stays_one_tracker(
    hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path
) -> None:
    mine(tmp_path / "c", hub.url)
    before = one(tmp_path / "c", "select count(*) from formula")
    hub.renamed["ada/solver"] = "bob/prover"
    hub.trackers = {"bob/prover": tracker}
    tracker.called = "bob/prover"
    for name in ("ada/solver", "bob/prover"):
        report = mine(tmp_path / "c", hub.url, name)
        assert (report.tracker, report.renamed_to) == ("ada/solver", "bob/prover")
    assert rows(tmp_path / "c", "select name, url from tracker") == [
        ("ada/solver", "https://github.com/bob/prover")
    ]
    assert one(tmp_path / "c", "select count(*) from formula") == before


def test_a_repository_renamed_while_it_is_mined_is_followed(
    hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path
) -> None:
    mine(tmp_path / "calm", hub.url)

    def rename(number: int) -> None:
        if number == len_before + 4:
            tracker.called = "bob/prover"
            hub.trackers = {"bob/prover": tracker}
            hub.renamed["ada/solver"] = "bob/prover"

    len_before = len(hub.log)
    hub.on_request = rename
    mine(tmp_path / "c", hub.url)
    assert contents(tmp_path / "c") == contents(tmp_path / "calm")


@pytest.mark.parametrize("status", [404, 410, 451])
@pytest.mark.few(1)
def test_a_vanished_repository_is_recorded_and_what_was_stored_stays(
    hub: FakeGitHub, tmp_path: Path, status: int
) -> None:
    mine(tmp_path / "c", hub.url)
    before = contents(tmp_path / "c", frozenset({"raw_record", "text"}))
    hub.gone["ada/solver"] = status
    report = mine(tmp_path / "c", hub.url)
    assert str(status) in report.problem
    assert contents(tmp_path / "c", frozenset({"raw_record", "text"})) == before
    assert one(tmp_path / "c", "select status from raw_record where request = '/repos/ada/solver'") == status
    with pytest.raises(TrackerGone, match="private or misspelt"):
        mine(tmp_path / "c", hub.url, "no/such")
    assert one(tmp_path / "c", "select count(*) from tracker") == 1


def test_a_repository_that_vanishes_on_the_way_keeps_what_came(hub: FakeGitHub, tmp_path: Path) -> None:
    hub.on_request = lambda number: hub.gone.update({"ada/solver": 404}) if number == 4 else None
    report = mine(tmp_path / "c", hub.url)
    assert "404" in report.problem
    assert report.new_issues > 0


def test_deleted_and_transferred_issues_are_found_by_a_recheck(
    hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path
) -> None:
    everything = MineOptions(everything=True)
    mine(tmp_path / "c", hub.url, options=everything)
    tracker.delete(3)
    tracker.transferred.add(5)
    tracker.sorted.clear()
    mine(tmp_path / "c", hub.url, options=everything)
    report = mine(tmp_path / "c", hub.url, options=MineOptions(everything=True, recheck=True))
    assert report.deleted == 2
    found = rows(tmp_path / "c", "select number, state_reason from issue where number in (3, 5) order by 1")
    assert found == [(3, "deleted"), (5, "transferred")]
    asked = len(hub.log)
    mine(tmp_path / "c", hub.url, options=MineOptions(everything=True, recheck=True))
    assert "/issues/3" not in "".join(hub.log[asked:])


def test_an_item_lost_from_the_last_page_stays_in_the_raw_records(
    hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path
) -> None:
    mine(tmp_path / "c", hub.url, options=MineOptions(everything=True))
    last = max(range(1, 61), key=lambda n: (tracker.issue(n)["updated_at"], n))
    tracker.delete(last)
    mine(tmp_path / "c", hub.url, options=MineOptions(everything=True))
    kept = rows(tmp_path / "c", "select request from raw_record where request like '%~1'")
    assert len(kept) == 2  # of issues and of comments
    before = contents(tmp_path / "c")
    replay(tmp_path / "c", everything=True)
    assert contents(tmp_path / "c") == before


def test_lost_items_are_kept_beside_and_in_older_answers(tmp_path: Path) -> None:
    def issues(*numbers: int) -> list[dict[str, object]]:
        return [{"number": n, "title": str(n), "updated_at": f"2024-01-0{n}T00:00:00Z"} for n in numbers]

    def put(archive: Archive, answers: dict[str, list[dict[str, object]]]) -> None:
        records = [RawRecord(name, json.dumps(data), 200) for name, data in answers.items()]
        archive.put_records(records, list(answers.values()))

    with Corpus.open(tmp_path / "c", write=True) as corpus:
        tracker_id = store_tracker(corpus, None, "ada/solver", GITHUB)
        archive = Archive(corpus, GITHUB, tracker_id, "ada/solver")
        request = archive.prefix + GITHUB.lists[0].request()
        older = f"{request}~1"
        put(archive, {request: issues(1, 2)})
        put(archive, {request: issues(1, 3), older: issues(4)})  # as another corpus has them
        put(archive, {older: issues(5)})
        assert archive.numbers() == [1, 2, 3, 4, 5]
        assert Archive(corpus, GITHUB, tracker_id, "ada/solver").issues == archive.issues


def replay(path: Path, everything: bool = False) -> int:
    with Corpus.open(path, write=True) as corpus:
        return replay_tracker(corpus, "ada/solver", MineOptions(everything=everything)).issues_read


def test_a_replay_is_equal_to_the_live_run(hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path) -> None:
    mine(tmp_path / "c", hub.url)
    live = contents(tmp_path / "c")
    assert replay(tmp_path / "c") == 55
    assert contents(tmp_path / "c") == live
    # From the raw records alone, too: ids and all.
    columns = "id, tracker_id, request, status, etag, last_modified, fetched_at, text_id, next"
    with (
        Corpus.open(tmp_path / "c") as old,
        Corpus.open(tmp_path / "bare", write=True) as new,
        new.transaction(),
    ):
        new.insert(
            "tracker", ("id", "name", "kind", "url"), old.rows("select id, name, kind, url from tracker")
        )
        raw = old.rows(f"select {columns} from raw_record order by id")
        new.insert("raw_record", columns.split(", "), raw)
        texts = old.rows("select * from text where id in (select text_id from raw_record) order by id")
        new.insert("text", ("id", "sha256", "bytes", "body"), texts)
    replay(tmp_path / "bare")
    assert contents(tmp_path / "bare") == live


@pytest.mark.thorough
def test_a_replay_after_many_refreshes_changes_nothing(
    hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path
) -> None:
    chance = random.Random(3)
    mine(tmp_path / "c", hub.url)
    for day in range(1, size(4, 8)):
        moment = f"2030-03-0{day}T00:00:00Z"
        number = chance.randrange(1, 60)
        if day % 3 == 0:
            tracker.add_issue(moment, title="segfault", body=SCRIPT.replace("41", str(day)))
        elif day % 3 == 1:
            tracker.add_comment(number, moment, SCRIPT.replace("41", str(day)))
        else:
            tracker.edit_issue(number, moment, body=f"soundness bug {day}\n\n" + SCRIPT)
            tracker.edit_comment(1000 + day, moment, SCRIPT.replace("q", f"r{day}"))
        assert mine(tmp_path / "c", hub.url).requests <= 5
    before = contents(tmp_path / "c")
    replay(tmp_path / "c")
    assert contents(tmp_path / "c") == before
    # What counts is what a first mining finds now.
    mine(tmp_path / "d", hub.url)
    current = "select source, sha256 from current_formula order by all"
    assert rows(tmp_path / "c", current) == rows(tmp_path / "d", current)
    said = "select number, title, state, updated_at, bug_class from issue order by 1"
    assert rows(tmp_path / "c", said) == rows(tmp_path / "d", said)


def test_a_replay_of_nothing_is_reported(tmp_path: Path) -> None:
    with (
        Corpus.open(tmp_path / "c", write=True) as corpus,
        pytest.raises(NothingStored, match="mine it first"),
    ):
        replay_tracker(corpus, "ada/solver")


def test_a_run_that_gives_up_is_resumed(hub: FakeGitHub, tmp_path: Path) -> None:
    mine(tmp_path / "calm", hub.url)
    for good in range(1, 12, size(2, 1)):
        hub.faults = [*([None] * good), *([Fault(500)] * 8)]
        try:
            mine(tmp_path / "c", hub.url)
        except Unreachable:
            continue
    hub.faults = []
    mine(tmp_path / "c", hub.url)
    assert contents(tmp_path / "c") == contents(tmp_path / "calm")


def test_progress_is_reported(hub: FakeGitHub, tmp_path: Path) -> None:
    pages: list[tuple[str, int, int]] = []
    read: list[tuple[int, int]] = []
    reported = Listener(lambda *said: pages.append(said), lambda *said: read.append(said))
    mine(tmp_path / "c", hub.url, listener=reported)
    assert {what for what, _, _ in pages} == {"issues", "comments"}
    assert max(items for what, _, items in pages if what == "comments") >= 120
    assert read[-1] == (55, 55)


def test_two_trackers_share_a_corpus(tmp_path: Path) -> None:
    with serving(FakeTracker(), FakeTracker("bob/z3", issues=20, comments=10, number=78)) as hub:
        mine(tmp_path / "c", hub.url)
        mine(tmp_path / "c", hub.url, "bob/z3")
        assert rows(tmp_path / "c", "select name, solver from tracker order by 1") == [
            ("ada/solver", None),
            ("bob/z3", "z3"),
        ]
        before = contents(tmp_path / "c")
        assert mine(tmp_path / "c", hub.url).requests == 3
        assert contents(tmp_path / "c") == before


@pytest.mark.parametrize(
    "text",
    [
        "Z3Prover/z3",
        "https://github.com/Z3Prover/z3",
        "https://github.com/Z3Prover/z3/issues/",
        " Z3Prover/z3.git ",
    ],
)
def test_trackers_are_named_as_people_name_them(text: str) -> None:
    assert locate(text).name == "Z3Prover/z3"


@pytest.mark.parametrize(
    "text", ["", "z3", "a/b/c", "a/..", "../b", "a/b c", "https://github.com/a", "a/b?x", "/a/b"]
)
def test_what_is_no_repository_is_reported(text: str) -> None:
    with pytest.raises(BadInput, match="OWNER/NAME"):
        locate(text)


@settings(max_examples=size(25, 60), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=4))
def test_any_text_is_stored(issues: list[tuple[str, str, str]]) -> None:
    assert _ANY is not None
    batch = [
        prepare(
            Issue("o/n", number, title, body, labels=(title[:9],), comments=(Comment(number * 10, comment),)),
            attached=[AttachedFile("a.smt2", comment, "body")],
        )
        for number, (title, body, comment) in enumerate(issues, 1)
    ]
    with _ANY.transaction():
        Storer(_ANY, GITHUB, 1, TrackerReport("o/n")).store(batch)
        assert _ANY.scalar("select count(*) from issue") >= len(issues)


_ANY: Corpus | None = None


@pytest.fixture(autouse=True, scope="module")
def any_corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    global _ANY
    folder = tmp_path_factory.mktemp("any")
    with Corpus.open(folder / "c", write=True) as corpus:
        _ANY = corpus
        with corpus.transaction():
            corpus.insert("tracker", ("id", "name", "kind"), [(1, "o/n", "github")])
        yield
        assert not [p for p in corpus.verify() if "raw_record" not in p]
    _ANY = None
    # Nothing was written beside the corpus.
    assert {p.name.split(".")[0] for p in folder.iterdir()} == {"c"}


# Forks a miner for each line it gets, tells its process id, kills it after the time given, tells its end.
KILLED = """
import os, signal, sys, time, traceback
from pathlib import Path
from corpus.records import Issue
from miner.storing import prepare
from tests.miner.mining_help import client_of, mine
# What a miner imports and compiles once, so that it is killed at work.
prepare(Issue("o/n", 1, "crash", "```\\n(declare-const x Int)\\n(assert (> x 0))\\n(check-sat)\\n```"))
client_of("http://127.0.0.1:1")[0].close()
print("ready", flush=True)
for line in sys.stdin:
    path, url, delay = line.split()
    child = os.fork()
    if child == 0:
        try:
            mine(Path(path), url)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    print(child, flush=True)
    if float(delay):
        time.sleep(float(delay))
        os.kill(child, signal.SIGKILL)
    print(os.waitpid(child, 0)[1], flush=True)
"""

KILLS = size(5, 52)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_kills_at_any_request_and_at_any_moment_end_in_the_same_corpus(tmp_path: Path) -> None:
    # Small pages: as many requests, transactions and moments to be killed at as of a larger tracker.
    with serving(FakeTracker(issues=16, comments=20)) as hub:
        hub.most_per_page = 4
        kill_often(hub, tmp_path)


def kill_often(hub: FakeGitHub, tmp_path: Path) -> None:
    mine(tmp_path / "calm", hub.url)
    calm = contents(tmp_path / "calm")
    chance = random.Random(7)
    code = [sys.executable, "-c", KILLED]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    outcomes: Counter[str] = Counter()
    with subprocess.Popen(
        code, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as nursery:
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        assert nursery.stdout.readline() == "ready\n"
        finished = 0
        while outcomes["killed"] < KILLS:
            path = tmp_path / f"killed{finished}"
            victims: list[int] = []
            start = len(hub.log)
            at_request = chance.randrange(1, 12) if chance.random() < 0.5 else 0
            delay = 0.0 if at_request else chance.uniform(0.01, 0.25)

            def kill(number: int) -> None:
                if at_request and number == start + at_request:  # noqa: B023
                    while not victims:  # noqa: B023
                        time.sleep(0.001)
                    os.kill(victims[0], signal.SIGKILL)  # noqa: B023

            hub.on_request = kill
            nursery.stdin.write(f"{path} {hub.url} {delay}\n")
            nursery.stdin.flush()
            victims.append(int(nursery.stdout.readline()))
            status = int(nursery.stdout.readline())
            outcomes["killed" if status == signal.SIGKILL else "ended"] += 1
            assert status in (0, signal.SIGKILL)
            if chance.random() < 0.15:
                hub.on_request = lambda number: None
                mine(path, hub.url)
                assert contents(path) == calm
                finished += 1
        nursery.stdin.close()
    hub.on_request = lambda number: None
    mine(tmp_path / f"killed{finished}", hub.url)
    assert contents(tmp_path / f"killed{finished}") == calm
    assert finished >= 3


@pytest.mark.slow
@pytest.mark.thorough
def test_a_large_tracker_takes_few_requests(tmp_path: Path) -> None:
    count = size(1_600, 8_000)
    tracker = FakeTracker(issues=count, comments=count)
    with serving(tracker) as hub, Corpus.open(tmp_path / "c", write=True) as corpus:
        with corpus.transaction():
            corpus.insert("tracker", ("id", "name", "kind"), [(1, "ada/solver", "github")])

        def fetch() -> Archive:
            client, _, _ = client_of(hub.url)
            archive = Archive(corpus, GITHUB, 1, "ada/solver")
            Crawler(client, archive, "ada/solver").crawl_all()
            client.close()
            return archive

        archive = fetch()
        assert len(hub.log) <= count // 50 + 5
        assert len(archive.issues) == count
        assert sum(len(archive.thread(number).comments) for number in archive.issues) == count
        for number in range(100, 130):
            tracker.add_comment(number, f"2030-01-01T00:{number - 100:02}:00Z", SCRIPT)
        asked = len(hub.log)
        archive = fetch()
        assert len(hub.log) - asked <= 4
        assert all(SCRIPT in archive.thread(number).comments[-1].body for number in range(100, 130))
