"""Dumps: every form that people have them in, what is wrong with them, and that nothing is lost."""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import shutil
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from base.errors import Exit
from corpus.parquet import export_parquet
from corpus.store import Corpus
from exhume.cli import run
from miner import json_stream
from miner.dumps import mine_files
from miner.errors import BadInput
from miner.hosts import locate
from miner.json_stream import objects_in
from miner.mining import MineOptions, replay_tracker
from miner.storing import TrackerReport
from tests.miner.github_server import FakeGitHub, FakeTracker, Fault, serving
from tests.miner.gitlab_server import FakeProject
from tests.miner.mining_help import contents, mine
from tests.sizes import size

ALL = MineOptions(everything=True)
SCRIPT = "```\n(declare-const q Int)\n(assert (> q 41))\n(check-sat)\n```"


@pytest.fixture
def tracker() -> FakeTracker:
    return FakeTracker(issues=30, comments=40)


@pytest.fixture
def hub(tracker: FakeTracker) -> Iterator[FakeGitHub]:
    with serving(tracker) as running:
        running.most_per_page = 10
        yield running


def pages(tracker: FakeTracker, what: str, size: int = 10) -> list[list[dict[str, Any]]]:
    """What the REST interface gives, page by page."""
    found, more, number = [], True, 1
    while more:
        page, more = tracker.page(what, {"page": str(number), "direction": "asc"}, size)
        found.append(page)
        number += 1
    return found


def printed_by_gh(tracker: FakeTracker) -> list[dict[str, Any]]:
    """What ``gh issue list --json ...`` prints; it leaves pull requests out."""
    comments = [one for page in pages(tracker, "comments") for one in page]

    def comment(one: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": f"IC_{one['id']}",
            "author": {"login": one["user"]["login"]},
            "authorAssociation": one["author_association"],
            "body": one["body"],
            "createdAt": one["created_at"],
            "url": one["html_url"],
        }

    return [
        {
            "number": issue["number"],
            "title": issue["title"],
            "body": issue["body"],
            "state": issue["state"].upper(),
            "stateReason": (issue["state_reason"] or "").upper(),
            "labels": issue["labels"],
            "createdAt": issue["created_at"],
            "updatedAt": issue["updated_at"],
            "closedAt": issue["closed_at"],
            "url": issue["html_url"],
            "comments": [comment(one) for one in comments if one["issue_url"] == issue["url"]],
        }
        for page in pages(tracker, "issues")
        for issue in page
        if "pull_request" not in issue
    ]


def take(
    path: Path, source: Path, options: MineOptions = ALL, place: str | None = None, host: str = "github"
) -> list[TrackerReport]:
    """Mine a dump into a corpus."""
    with Corpus.open(path, write=True) as corpus:
        return mine_files(corpus, source, options, place=locate(place, host) if place else None)


def read(path: Path) -> dict[str, list[tuple[object, ...]]]:
    """What is known of issues, comments and formulas, and how they are linked."""
    with Corpus.open(path) as corpus:
        assert corpus.verify() == []
        return {
            "issue": corpus.rows(
                """select number, title, body, labels, state, state_reason, bug_class, updated_at, closed_at
                from issue left join text on text.id = text_id order by 1"""
            ),
            "comment": corpus.rows(
                """select number, position, remote_id, body, comment.created_at, comment.author_association
                from comment join issue on issue.id = issue_id join text on text.id = comment.text_id
                order by 1, 2"""
            ),
            "formula": corpus.rows(
                """select source, sha256, command_line, expected, superseded_by is null,
                near_duplicate_of is null from formula order by 1, 2"""
            ),
            "issue_link": corpus.rows(
                """select number, kind, target, fixes from issue_link join issue on issue.id = issue_id
                order by all"""
            ),
        }


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[tuple[object, ...]]]:
    """What live mining of the tracker stores."""
    path = tmp_path_factory.mktemp("live") / "c"
    with serving(FakeTracker(issues=30, comments=40)) as running:
        running.most_per_page = 10
        mine(path, running.url, options=ALL)
    return read(path)


FORMS = ["one list", "pages", "slurp", "lines", "objects", "utf-8-sig", "utf-16"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.few(2)
def test_what_gh_api_prints_gives_what_live_mining_gives(
    live: dict[str, Any], tracker: FakeTracker, tmp_path: Path, form: str
) -> None:
    lists = [*pages(tracker, "issues"), *pages(tracker, "comments")]
    items = [item for page in lists for item in page]
    encoding = form if form.startswith("utf") else "utf-8"
    text = {
        "pages": "".join(json.dumps(page) for page in lists),  # gh api --paginate, of older versions
        "slurp": json.dumps(lists, indent=2),
        "lines": "".join(json.dumps(item) + "\n" for item in items),
        "objects": "\n\n".join(json.dumps(item, indent=1) for item in items),
    }.get(form, json.dumps(items))
    (tmp_path / "dump.json").write_text(text, encoding=encoding)
    [report] = take(tmp_path / "c", tmp_path / "dump.json")
    assert (report.tracker, report.problem, report.issues_seen, report.skipped) == ("ada/solver", "", 28, 0)
    assert read(tmp_path / "c") == live


def test_what_gh_issue_list_prints_gives_what_live_mining_gives(
    live: dict[str, Any], tracker: FakeTracker, tmp_path: Path
) -> None:
    (tmp_path / "issues.json").write_text(json.dumps(printed_by_gh(tracker)))
    take(tmp_path / "c", tmp_path / "issues.json")
    assert read(tmp_path / "c") == live


def test_a_folder_of_the_apis_json_is_read_and_other_json_counted(
    hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path
) -> None:
    mine(tmp_path / "live", hub.url, options=ALL)
    folder = tmp_path / "dump"
    for what in ("comments", "issues"):
        (folder / what).mkdir(parents=True)
        for number, page in enumerate(pages(tracker, what)):
            (folder / what / f"{number}.json").write_text(json.dumps(page))
    (folder / "labels.json").write_text('[{"name": "bug"}, {"name": "crash"}]')
    (folder / "README.md").write_text("not JSON")
    [report] = take(tmp_path / "c", folder)
    assert report.skipped == 2
    assert read(tmp_path / "c") == read(tmp_path / "live")


def test_gitlabs_objects_are_read_too_and_notes_belong_to_the_only_project(tmp_path: Path) -> None:
    project = FakeProject(issues=9, comments=12)
    issues = [project.issue(number) for number in range(1, 10)]
    notes = [note for number in range(1, 10) for note in project.notes(number)]
    (tmp_path / "dump.json").write_text(json.dumps(issues) + json.dumps(notes))
    [report] = take(tmp_path / "c", tmp_path / "dump.json")
    assert (report.tracker, report.issues_stored) == (project.name, 9)
    with Corpus.open(tmp_path / "c") as corpus:
        assert corpus.scalar("select kind from tracker") == "gitlab"
        assert corpus.scalar("select count(*) from comment") == 12
    (tmp_path / "notes.json").write_text(json.dumps(notes))
    with pytest.raises(BadInput, match=r"notes.json, object 1: .* which tracker"):
        take(tmp_path / "d", tmp_path / "notes.json")
    take(tmp_path / "d", tmp_path / "notes.json", place=project.name, host="gitlab")


def test_a_merge_request_is_skipped_and_does_not_replace_the_issue_of_its_number(tmp_path: Path) -> None:
    project = FakeProject(issues=1, comments=0)
    request = project.issue(1) | {"source_branch": "fix", "updated_at": "2030-01-01T00:00:00.000Z"}
    (tmp_path / "dump.json").write_text(json.dumps([project.issue(1), request]))
    [report] = take(tmp_path / "c", tmp_path / "dump.json")
    assert (report.issues_stored, report.skipped) == (1, 1)


def test_objects_that_do_not_name_their_tracker_take_the_one_that_was_requested(tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_text(json.dumps([{"number": 3, "title": "segfault", "body": SCRIPT}]))
    with pytest.raises(BadInput, match="which tracker it is from; add OWNER/NAME"):
        take(tmp_path / "c", tmp_path / "dump.json")
    [report] = take(tmp_path / "c", tmp_path / "dump.json", place="ada/solver")
    assert (report.tracker, report.new_formulas) == ("ada/solver", 1)


def test_a_dump_under_another_name_of_a_tracker_belongs_to_it(tmp_path: Path) -> None:
    def issue(number: int, name: str = "") -> dict[str, Any]:
        named = {"html_url": f"https://github.com/{name}/issues/{number}"} if name else {}
        return {"number": number, "title": "segfault", "body": SCRIPT, **named}

    (tmp_path / "old.json").write_text(json.dumps([issue(1, "Ada/old")]))
    take(tmp_path / "c", tmp_path / "old.json")
    with Corpus.open(tmp_path / "c", write=True) as corpus, corpus.transaction():
        corpus.execute("update tracker set url = 'https://github.com/ada/new'")
    names = ("ada/new", "Ada/old", "ada/OLD")
    (tmp_path / "new.json").write_text(json.dumps([issue(n, name) for n, name in enumerate(names, 2)]))
    [report] = take(tmp_path / "c", tmp_path / "new.json")
    assert (report.tracker, report.issues_seen) == ("Ada/old", 4)
    (tmp_path / "bare.json").write_text(json.dumps([issue(5)]))
    [report] = take(tmp_path / "c", tmp_path / "bare.json", place="ada/old")
    assert (report.tracker, report.issues_seen) == ("Ada/old", 5)
    assert len(read(tmp_path / "c")["issue"]) == 5


def test_taking_a_dump_twice_changes_nothing_and_an_older_one_neither(
    tracker: FakeTracker, tmp_path: Path
) -> None:
    (tmp_path / "old.json").write_text(json.dumps(printed_by_gh(tracker)))
    tracker.edit_issue(7, "2030-01-01T00:00:00Z", body=SCRIPT, state="open")
    tracker.add_comment(8, "2030-01-02T00:00:00Z", SCRIPT.replace("41", "42"))
    (tmp_path / "new.json").write_text(json.dumps(printed_by_gh(tracker)))
    take(tmp_path / "c", tmp_path / "old.json")
    [report] = take(tmp_path / "c", tmp_path / "new.json")
    assert (report.issues_read, report.new_formulas) == (2, 2)
    before = contents(tmp_path / "c")
    for name in ("new.json", "old.json"):
        [report] = take(tmp_path / "c", tmp_path / name)
        assert report.issues_read == 0
        assert contents(tmp_path / "c") == before
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        replay_tracker(corpus, "ada/solver", ALL)
    assert contents(tmp_path / "c") == before


def test_of_two_versions_in_one_file_the_newer_counts_and_no_comment_is_lost(
    tracker: FakeTracker, tmp_path: Path
) -> None:
    whole = printed_by_gh(tracker)
    older = [one | {"updatedAt": "2001-01-01T00:00:00Z", "title": "older"} for one in whole]
    bare = [one | {"comments": []} for one in whole]
    (tmp_path / "one.json").write_text(json.dumps(whole))
    (tmp_path / "all.json").write_text(json.dumps([*whole, *older, *bare]))
    for name in ("one", "all"):
        take(tmp_path / name, tmp_path / f"{name}.json")
        with Corpus.open(tmp_path / name, write=True) as corpus:
            replay_tracker(corpus, "ada/solver", ALL)
    assert read(tmp_path / "all") == read(tmp_path / "one")


def test_two_dumps_in_turn_keep_each_version_once(tracker: FakeTracker, tmp_path: Path) -> None:
    whole = printed_by_gh(tracker)
    (tmp_path / "whole.json").write_text(json.dumps(whole))
    (tmp_path / "bare.json").write_text(json.dumps([one | {"comments": []} for one in whole]))
    kept = []
    for name in ("whole.json", "bare.json") * 2:
        take(tmp_path / "c", tmp_path / name)
        kept.append(len(contents(tmp_path / "c")["raw_record"]))
    assert kept == [28, 56, 56, 56]


def test_a_dump_with_fewer_fields_takes_no_comments_away(tracker: FakeTracker, tmp_path: Path) -> None:
    whole = printed_by_gh(tracker)
    (tmp_path / "dump.json").write_text(json.dumps(whole))
    take(tmp_path / "c", tmp_path / "dump.json")
    before = read(tmp_path / "c")
    (tmp_path / "dump.json").write_text(json.dumps([one | {"comments": []} for one in whole]))
    take(tmp_path / "c", tmp_path / "dump.json")
    assert read(tmp_path / "c") == before
    stored = contents(tmp_path / "c")
    with Corpus.open(tmp_path / "c", write=True) as corpus:
        replay_tracker(corpus, "ada/solver", ALL)
    assert contents(tmp_path / "c") == stored


@pytest.mark.thorough
def test_live_mining_resumes_after_a_dump(hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path) -> None:
    (tmp_path / "dump.json").write_text(json.dumps(printed_by_gh(tracker)))
    take(tmp_path / "c", tmp_path / "dump.json")
    tracker.edit_issue(7, "2030-01-01T00:00:00Z", body=SCRIPT)
    assert mine(tmp_path / "c", hub.url, options=ALL).new_formulas == 1
    mine(tmp_path / "live", hub.url, options=ALL)
    with Corpus.open(tmp_path / "c") as corpus, Corpus.open(tmp_path / "live") as live:
        current = "select source, sha256 from current_formula order by all"
        assert corpus.rows(current) == live.rows(current)


@pytest.mark.parametrize("form", ["corpus", pytest.param("parquet", marks=pytest.mark.thorough)])
@pytest.mark.thorough
def test_the_archive_of_an_earlier_refresh_is_mined_again(hub: FakeGitHub, tmp_path: Path, form: str) -> None:
    mine(tmp_path / "old", hub.url, options=ALL)
    before = contents(tmp_path / "old")
    source = tmp_path / "old"
    if form == "parquet":
        source = tmp_path / "exported"
        with Corpus.open(tmp_path / "old") as corpus:
            export_parquet(corpus, source)
    [report] = take(tmp_path / "c", source)
    assert (report.tracker, report.new_issues) == ("ada/solver", 28)
    assert read(tmp_path / "c") == read(tmp_path / "old")
    assert contents(tmp_path / "c")["raw_record"] == before["raw_record"]
    # A refresh resumes where the archive ends, and the archive does not undo it.
    asked = len(hub.log)
    mine(tmp_path / "c", hub.url, options=ALL)
    assert len(hub.log) - asked == 3
    hub.trackers["ada/solver"].edit_issue(7, "2030-01-01T00:00:00Z", body=SCRIPT)
    mine(tmp_path / "c", hub.url, options=ALL)
    newest = read(tmp_path / "c")
    assert take(tmp_path / "c", source)[0].issues_read == 0
    assert read(tmp_path / "c") == newest


def test_a_tracker_is_the_same_in_a_corpus_that_knows_it_by_another_name(tmp_path: Path) -> None:
    options = MineOptions(recheck=True)
    tracker = FakeTracker(issues=3, comments=0)
    known = """select name, url, (select count(*) from issue where state_reason = 'deleted') from tracker"""
    with serving(tracker) as hub:
        mine(tmp_path / "old", hub.url)
        hub.trackers["eve/solver"] = hub.trackers.pop("ada/solver")
        hub.renamed["ada/solver"] = tracker.called = "eve/solver"
        mine(tmp_path / "new", hub.url, "eve/solver")
        tracker.delete(2)
        mine(tmp_path / "new", hub.url, "eve/solver", options)
    with Corpus.open(tmp_path / "old", write=True) as corpus:
        with corpus.transaction():
            corpus.execute("update tracker set url = 'https://github.com/eve/solver'")
        mine_files(corpus, tmp_path / "new")
        assert corpus.rows(known) == [("ada/solver", "https://github.com/eve/solver", 1)]
        assert corpus.scalar("select count(*) from raw_record where request like '%eve/solver%'") == 0
    for source in ("old", "new"):
        take(tmp_path / "copy", tmp_path / source, MineOptions())
    with Corpus.open(tmp_path / "copy") as corpus:
        assert corpus.rows(known) == [("ada/solver", "https://github.com/eve/solver", 1)]


@functools.cache
def damaged() -> dict[str, tuple[bytes, str]]:
    """Damaged dumps of a tracker, and the words that the error has."""
    whole = json.dumps(printed_by_gh(FakeTracker(issues=30, comments=40)), indent=1).encode()
    head = b'{"number": 1, "title": "", "body": "", "url": "https://github.com/a/b/issues/1", "labels": '
    return {
        "cut.json": (whole[: len(whole) * 2 // 3], "is cut off after 18 objects; those are stored"),
        "between.json": (whole[: whole.index(b"\n },\n") + 4], "is cut off after 1 objects"),
        "latin.json": (whole[:9000] + whole[9000:].replace(b"wrong", b"wr\xf6ng"), "is not UTF-8 text after"),
        "page.json": (b"<!DOCTYPE html>\n<title>Sign in</title>", "is not JSON after 0 objects"),
        "prose.json": (whole[:-2] + b"\n,oops]", "is not JSON after 28 objects"),
        "numbers.json": (b"[1, 2]", "has 1 after 0 objects: expected a list of objects"),
        "comma.json": (whole.replace(b'"body"', b'"body', 1), "is not JSON"),
        "deep.json": (head + b"[" * 100_000 + b"]" * 100_000 + b"}", "object 1: nested too deeply"),
        "digits.json": (
            b'{"number": ' + b"9" * 5000 + b"}",
            "has a number that is too large after 0 objects",
        ),
        "float.json": (b'{"number": 1e999}', "has a number that is too large"),
        "empty.json": (
            b"",
            "contains no issues or comments of GitHub or GitLab; create it with, e.g., gh issue",
        ),
        "other.json": (b'{"message": "Not Found"}', "contains no issues or comments"),
        "binary.json": (b"\0\1\2", "is not JSON"),
        "wide.json": (whole.decode().encode("utf-16") + b"\x00\xd8a\0", "is not JSON after 28 objects"),
    }


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of another tracker's dump; not to be written to."""
    folder = tmp_path_factory.mktemp("filled")
    earlier = FakeTracker("bob/z3", issues=9, comments=3, number=78)
    (folder / "good.json").write_text(json.dumps(printed_by_gh(earlier)))
    command = ["mine", "--all", "--corpus", str(folder / "c"), "--from", str(folder / "good.json")]
    assert run(command) == Exit.DONE
    return folder / "c"


@pytest.mark.parametrize("name", sorted(damaged()))
@pytest.mark.few(5)
def test_a_damaged_dump_is_one_line_and_loses_nothing(
    filled: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    data, words = damaged()[name]
    (tmp_path / name).write_bytes(data)
    corpus = shutil.copy(filled, tmp_path / "c")
    before = read(tmp_path / "c")
    capsys.readouterr()
    assert run(["mine", "--all", "--corpus", str(corpus), "--from", str(tmp_path / name)]) == Exit.USAGE
    reported = [line for line in capsys.readouterr().err.splitlines() if line.startswith("exhume: ")]
    assert len(reported) == 1
    assert words in reported[0]
    assert reported[0].count(str(tmp_path / name)) == 1
    after = read(tmp_path / "c")
    assert all(set(map(repr, rows)) <= set(map(repr, after[table])) for table, rows in before.items())
    if name in ("cut.json", "prose.json", "latin.json", "wide.json"):
        assert len(after["issue"]) > len(before["issue"])  # what came before the damage


def test_a_damaged_file_does_not_keep_the_others_of_its_folder_from_being_read(tmp_path: Path) -> None:
    issue = json.dumps([printed_by_gh(FakeTracker(issues=1, comments=0))[0]])
    folder = tmp_path / "dump"
    folder.mkdir()
    for name, text in {"a": issue[:-9], "b": "{", "c": issue}.items():
        (folder / f"{name}.json").write_text(text)
    [report] = take(tmp_path / "c", folder)
    assert report.issues_stored == 1
    assert report.problem.startswith(f"{folder}/a.json is cut off after 0 objects; create the dump again")
    assert report.problem.endswith("; 1 more file cannot be read completely")


def test_other_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = str(tmp_path / "c")
    folder, outside = tmp_path / "dump", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.json").write_text("[]")

    def reported(source: Path) -> str:
        assert run(["mine", "--corpus", corpus, "--from", str(source)]) == Exit.USAGE
        line = capsys.readouterr().err
        assert line.count("\n") == 1
        return line

    for name in ("nothing.json", "x" * 300):
        assert "there is no file or folder" in reported(tmp_path / name)
    assert not Path(corpus).exists()
    (tmp_path / "nameless.json").write_text('{"number": 1, "title": "", "body": ""}')
    start = f"exhume: {tmp_path}/nameless.json, object 1: the object does not say which tracker it is from"
    assert reported(tmp_path / "nameless.json").startswith(start)
    assert "contains no files ending in .json" in reported(folder)
    (folder / "linked").symlink_to(outside)
    assert "contains no files ending in .json" in reported(folder)
    (folder / "linked.json").symlink_to(outside / "secret.json")
    assert "linked.json is not a regular file" in reported(folder)
    assert "is the corpus itself" in reported(tmp_path / "c")
    (tmp_path / "broken.duckdb").write_bytes(b"12345678DUCK" + bytes(5000))
    assert "broken.duckdb" in reported(tmp_path / "broken.duckdb")
    (folder / "raw_record.parquet").write_bytes(b"PAR1")
    assert "is not a complete export of a corpus" in reported(folder)
    with Corpus.open(tmp_path / "bare", write=True):
        pass
    assert "contains no mined tracker" in reported(tmp_path / "bare")


def test_a_large_dump_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "big.json").open("w") as file:
        file.write("[")
        for number in range(1, 400):
            file.write(json.dumps({"number": number, "title": "x", "body": "y" * 200_000}) + ",\n")
        file.write("{}]")
    with (tmp_path / "big.json").open("rb") as opened:
        tracemalloc.start()
        count = sum(1 for _ in objects_in(opened, "big.json"))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert count == 400
    assert peak < 16 << 20


def test_an_object_without_end_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LARGEST_OBJECT", 1 << 20)

    source, sink = os.pipe()

    def fill() -> None:
        with contextlib.suppress(OSError), os.fdopen(sink, "wb") as file:
            file.write(b'{"a": "')
            while True:
                file.write(b"x" * 4096)

    writer = threading.Thread(target=fill)
    writer.start()
    with os.fdopen(source, "rb") as file, pytest.raises(BadInput, match="over 1 MiB in one object, after 0"):
        next(objects_in(file, "pipe"))
    writer.join()


# ijson refuses the integer -(2**63); no tracker numbers anything so.
@settings(max_examples=size(60, 200), deadline=None)
@given(
    st.lists(st.dictionaries(st.text(), st.text() | st.integers(1 - 2**63, 2**63 - 1)), max_size=5),
    st.integers(0, 400),
)
def test_whatever_is_cut_off_gives_whole_objects_first(items: list[dict[str, object]], cut: int) -> None:
    data = json.dumps(items, ensure_ascii=False).encode("utf-8", "replace")
    found: list[object] = []
    try:
        found.extend(objects_in(io.BufferedReader(io.BytesIO(data[:cut])), "x"))
        assert cut >= len(data) or not data[:cut].strip()
    except BadInput as error:
        # In the middle of "\\u001f", and behind a minus sign, the parser cannot tell.
        assert "cut off" in str(error) or "\\u" in json.dumps(items) or data[:cut].endswith(b"-")
        assert cut < len(data)
    clean = json.loads(data.decode())
    assert found == clean[: len(found)]


def test_a_dump_is_no_reason_to_ask_a_host(
    hub: FakeGitHub, tracker: FakeTracker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.faults = [Fault(500)] * 9
    (tmp_path / "dump.json").write_text(json.dumps(printed_by_gh(tracker)))
    words = ["mine", "ada/solver", "--corpus", str(tmp_path / "c"), "--api-url", hub.url]
    assert run([*words, "--from", str(tmp_path / "dump.json"), "--json"]) == Exit.DONE
    said = json.loads(capsys.readouterr().out)
    assert (said["trackers"][0]["tracker"], said["problems"]) == ("ada/solver", [])
    assert hub.log == []
    assert run([*words, "bob/z3", "--from", str(tmp_path / "dump.json")]) == Exit.USAGE
    assert "at most one TRACKER" in " ".join(capsys.readouterr().err.split())
