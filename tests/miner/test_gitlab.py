"""GitLab: its pages, its limits and faults, what its texts name, and the commands that mine it."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from base.errors import Exit
from corpus.records import Comment, Issue
from corpus.store import Corpus
from exhume.cli import run
from miner.attachments import Downloader, links_of
from miner.crawl import TrackerGone
from miner.errors import BadInput, Denied, Unreachable
from miner.hosts import host_named, locate
from miner.mining import MineOptions
from miner.references import references_of
from tests.miner.github_server import FakeTracker, Fault, serving
from tests.miner.gitlab_server import FakeGitLab, FakeProject, encoded
from tests.miner.mining_help import TestClock, client_of, contents, mine, one
from tests.sizes import size

GITLAB = host_named("gitlab")
NAME = "ada/tools/solver"
LATER = "2030-05-05T05:05:05Z"
SCRIPT = "```\n(declare-const q Int)\n(assert (> q 41))\n(check-sat)\n```"
ROOT = Path(__file__).resolve().parents[2]
SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITLAB_TOKEN", raising=False)


@pytest.fixture
def project() -> FakeProject:
    return FakeProject(issues=30, comments=45)


@pytest.fixture
def hub(project: FakeProject) -> Iterator[FakeGitLab]:
    with serving(project, kind=FakeGitLab) as running:
        assert isinstance(running, FakeGitLab)
        running.most_per_page = 8
        yield running


def mined(path: Path, hub: FakeGitLab, **settings: object) -> int:
    """Mine all of it; how many requests that took."""
    asked = len(hub.log)
    mine(path, hub.url, NAME, MineOptions(everything=True), host=GITLAB, **settings)
    return len(hub.log) - asked


def test_a_project_gives_what_the_same_repository_on_github_gives(hub: FakeGitLab, tmp_path: Path) -> None:
    mined(tmp_path / "c", hub)
    with serving(FakeTracker(NAME.replace("/tools", ""), issues=30, comments=45)) as github:
        mine(tmp_path / "d", github.url, "ada/solver", MineOptions(everything=True))
    asked = """select split_part(source, '#', 2) as place, sha256, command_line, expected, formula.bug_class
        from formula join issue on issue.id = issue_id where number % 11 <> 0 order by place"""
    said = """select number, title, state, labels, issue.created_at, issue.updated_at, closed_at,
        count(comment.id) from issue left join comment on comment.issue_id = issue.id where number % 11 <> 0
        group by all order by 1"""
    with Corpus.open(tmp_path / "c") as corpus, Corpus.open(tmp_path / "d") as other:
        assert len(corpus.rows(asked)) > 30
        assert corpus.rows(asked) == other.rows(asked)
        assert corpus.rows(said) == other.rows(said)
        assert corpus.verify() == []
        assert corpus.rows("select name, kind, url from tracker") == [
            (NAME, "gitlab", f"https://gitlab.com/{NAME}")
        ]


@pytest.mark.parametrize("mark", ["page", "cursor"])
@pytest.mark.few(1)
def test_pages_are_followed_by_number_or_by_the_servers_mark(
    hub: FakeGitLab, project: FakeProject, tmp_path: Path, mark: str
) -> None:
    hub.page_mark = mark
    for number in range(1, 31):  # all of one second: no date tells where to resume
        project.edit_issue(number, "2020-01-01T00:00:00Z")
    for place in range(20):
        project.add_comment(7, "2020-01-01T00:00:00Z", f"again {place}")
    mined(tmp_path / "c", hub)
    assert one(tmp_path / "c", "select count(*) from issue") == 30
    assert one(tmp_path / "c", "select count(*) from comment") == 65
    assert any(f"&{mark}=" in path for path in hub.log)


@pytest.mark.thorough
def test_the_next_run_fetches_only_threads_that_changed(
    hub: FakeGitLab, project: FakeProject, tmp_path: Path
) -> None:
    mined(tmp_path / "c", hub)
    before = contents(tmp_path / "c")
    assert mined(tmp_path / "c", hub) == 2  # the project and the last page of issues
    assert hub.statuses[-1] == 304
    assert contents(tmp_path / "c") == before
    assert one(tmp_path / "c", f"select count(*) from formula where source like '{NAME}#4/comment:%'") == 1
    project.add_comment(4, LATER, "And this:\n" + SCRIPT)
    asked = len(hub.log)
    mined(tmp_path / "c", hub)
    assert [path for path in hub.log[asked:] if "/notes" in path] == [
        f"/api/v4/projects/{encoded(NAME)}/issues/4/notes?order_by=created_at&sort=asc&per_page=100"
    ]
    assert (
        one(
            tmp_path / "c",
            f"select count(*) from formula where source like '{NAME}#4/comment:%' and block_id is not null",
        )
        == 2
    )


def test_limits_are_waited_out(hub: FakeGitLab) -> None:
    client, clock, said = client_of(hub.url, host=GITLAB)
    hub.faults = [Fault(429, {"Retry-After": "17"}, "Retry later\n")]
    assert client.get(GITLAB.path(NAME)).status == 200
    assert clock.slept == [17.0]
    assert said[0].why == "GitLab's rate limit is reached"
    hub.faults = [Fault(429, {"RateLimit-Remaining": "0", "RateLimit-Reset": str(int(clock.time) + 30)})]
    hub.faults[0].headers["Date"] = ""
    client.get(GITLAB.path(NAME))
    assert len(clock.slept) == 2


@pytest.mark.parametrize("kind", [500, 503, "cut", "junk", "close"])
def test_faults_are_waited_out(hub: FakeGitLab, kind: int | str) -> None:
    hub.faults = [Fault(kind), Fault(kind)]
    client, clock, _ = client_of(hub.url, host=GITLAB)
    assert client.get(GITLAB.path(NAME) + "/issues?order_by=updated_at&sort=asc").status == 200
    assert clock.slept == [1.0, 2.0]


def test_an_answer_without_end_is_not_read_to_the_end(
    hub: FakeGitLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("miner.hosts.http.LARGEST_ANSWER", 1 << 10)
    client, _, _ = client_of(hub.url, host=GITLAB)
    with pytest.raises(Denied, match="check the API's address"):
        client.get(GITLAB.path(NAME) + "/issues?order_by=updated_at&sort=asc")


def test_a_web_page_instead_of_json_is_one_line_and_loses_nothing(
    hub: FakeGitLab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mined(tmp_path / "c", hub)
    before = contents(tmp_path / "c")
    page = Fault(200, {"Content-Type": "text/html"}, "<!DOCTYPE html><title>Sign in</title>")
    hub.faults = [None, page]
    arguments = ["mine", "--host", "gitlab", NAME, "--corpus", str(tmp_path / "c"), "--api-url", hub.url]
    assert run(arguments) == Exit.ENVIRONMENT
    reported = capsys.readouterr().err
    assert reported.count("\n") == 1
    assert (
        "a web page instead of JSON: check the API's address; that of GitLab is https://HOST/api/v4"
        in reported
    )
    assert contents(tmp_path / "c") == before


def test_a_refusal_tells_whose_token_to_renew(hub: FakeGitLab) -> None:
    client, _, _ = client_of(hub.url, "glpat-secret", host=GITLAB)
    hub.faults = [Fault(401, {}, '{"message": "401 Unauthorized"}')]
    with pytest.raises(Denied, match=r"GITLAB_TOKEN.*glab auth login") as caught:
        client.get(GITLAB.path(NAME))
    assert "secret" not in str(caught.value)
    hub.faults = [Fault(403, {}, '{"error": "insufficient_scope"}')]
    with pytest.raises(Denied, match="insufficient_scope"):
        client.get(GITLAB.path(NAME))


def test_the_token_is_sent_and_never_written_or_shown(
    hub: FakeGitLab,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("GITLAB_TOKEN", "glpat-secret")
    hub.faults = [Fault(429, {"Retry-After": "1"}, "Retry later\n")]
    arguments = ["mine", "--host", "gitlab", NAME, "--corpus", str(tmp_path / "c"), "--api-url", hub.url]
    assert run(arguments) == Exit.DONE
    assert all(headers["authorization"] == "Bearer glpat-secret" for headers in hub.headers)
    assert "secret" not in "".join(capfd.readouterr()) + caplog.text
    for file in tmp_path.iterdir():
        assert b"glpat-secret" not in file.read_bytes()
    with Corpus.open(tmp_path / "c") as corpus:
        assert corpus.scalar("select count(*) from text where contains(body, 'secret')") == 0
    assert GITLAB.connect("http://git.example.org/api/v4", "glpat-secret").token is None


def test_passwords_of_other_programs_are_not_sent(
    hub: FakeGitLab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    client, _, _ = client_of(hub.url, host=GITLAB)
    client.get(GITLAB.path(NAME))
    assert "authorization" not in hub.headers[0]


@pytest.mark.thorough
def test_a_run_that_gives_up_is_resumed(hub: FakeGitLab, tmp_path: Path) -> None:
    mined(tmp_path / "calm", hub)
    given_up = 0
    for good in range(1, 30, size(8, 4)):
        hub.faults = [*([None] * good), *([Fault(500)] * 8)]
        try:
            mined(tmp_path / "c", hub)
        except Unreachable:
            given_up += 1
    assert given_up >= 2
    hub.faults = []
    mined(tmp_path / "c", hub)
    assert contents(tmp_path / "c") == contents(tmp_path / "calm")


@pytest.mark.slow
@pytest.mark.thorough
def test_a_killed_run_is_resumed_by_the_next(hub: FakeGitLab, tmp_path: Path) -> None:
    whole = mined(tmp_path / "calm", hub)
    command = [sys.executable, "-m", "exhume", "mine", "--all"]
    command += ["--host", "gitlab", NAME, "--corpus", str(tmp_path / "c"), "--api-url", hub.url]
    for at_request in (4, 9, 8, 8)[size(2, 0) :]:
        victims: list[subprocess.Popen[bytes]] = []
        last = len(hub.log) + at_request

        def kill(number: int, last: int = last, victims: list[subprocess.Popen[bytes]] = victims) -> None:
            if number == last:
                victims[0].send_signal(signal.SIGKILL)

        hub.on_request = kill
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        victims.append(subprocess.Popen(command, env=environment))
        assert victims[0].wait() == -signal.SIGKILL
    hub.on_request = lambda number: None
    assert 0 < mined(tmp_path / "c", hub) < whole - size(6, 10)
    assert contents(tmp_path / "c") == contents(tmp_path / "calm")


def test_a_renamed_project_is_followed(hub: FakeGitLab, project: FakeProject, tmp_path: Path) -> None:
    mined(tmp_path / "c", hub)
    project.called = "ada/prover"
    project.name = "ada/prover"
    hub.renamed[NAME] = NAME
    report = mine(tmp_path / "c", hub.url, NAME, host=GITLAB)
    assert (report.tracker, report.renamed_to) == (NAME, "ada/prover")
    assert one(tmp_path / "c", "select url from tracker") == "https://gitlab.com/ada/prover"


def test_vanished_projects_and_issues_keep_what_was_stored(
    hub: FakeGitLab, project: FakeProject, tmp_path: Path
) -> None:
    mined(tmp_path / "c", hub)
    project.delete(3)
    project.add_comment(5, LATER, "x")
    hub.on_request = lambda number: project.deleted.add(5) if "/5/notes" in hub.log[-1] else None
    # The project, the list, the notes, the project again as they are missing, the issue.
    assert mined(tmp_path / "c", hub) == 5
    assert mined(tmp_path / "c", hub) == 2
    options = MineOptions(everything=True, recheck=True)
    assert mine(tmp_path / "c", hub.url, NAME, options, host=GITLAB).deleted == 2
    with Corpus.open(tmp_path / "c") as corpus:
        assert corpus.rows("select number from issue where state_reason = 'deleted' order by 1") == [
            (3,),
            (5,),
        ]
    hub.gone[NAME] = 404
    assert "404" in mine(tmp_path / "c", hub.url, NAME, host=GITLAB).problem
    assert one(tmp_path / "c", "select count(*) from issue") == 30
    with pytest.raises(TrackerGone, match="GitLab has no no/such"):
        mine(tmp_path / "c", hub.url, "no/such", host=GITLAB)


def test_uploads_are_fetched_from_the_projects_own_server(hub: FakeGitLab, project: FakeProject) -> None:
    upload = f"/uploads/{'0a' * 16}/small.smt2"
    body = f"See [small.smt2]({upload}) and https://evil.example/g/p{upload}"
    number = project.add_issue("2029-01-01T00:00:00Z", title="soundness bug", body=body, state="closed")
    script = "(declare-const z Int)\n(assert (> z 100))\n(check-sat)\n"
    hub.files[f"/{NAME}{upload}"] = script.encode()
    links = links_of(Issue(NAME, number, "", body, url=f"https://gitlab.com/{NAME}/-/issues/1"), GITLAB)
    assert [link.address for link in links] == [
        f"https://gitlab.com/{NAME}{upload}",
        f"https://evil.example/g/p{upload}",
    ]
    downloader = Downloader(hosts={"gitlab.com": hub.url.removesuffix("/api/v4")}, clock=TestClock())
    sites = GITLAB.file_sites(GITLAB.api.url)
    taken, left = (downloader.fetch(link.address, sites) for link in links)
    assert taken is not None
    assert left is not None
    assert (taken.status, left.status) == (200, 0)
    assert "away from the tracker's host, to evil.example" in left.body
    assert not any("authorization" in headers for headers in hub.headers)


@pytest.mark.parametrize(
    ("text", "kind", "target", "fixes"),
    [
        ("see #12", "issue", "g/p#12", False),
        ("Fixed by !12.", "pull-request", "g/p!12", True),
        ("same as ada/tools/solver#7", "issue", "ada/tools/solver#7", False),
        ("ada/tools/solver!7", "pull-request", "ada/tools/solver!7", False),
        ("https://gitlab.com/g/s/p/-/issues/7#note_1", "issue", "g/s/p#7", False),
        ("closed in https://git.example.org/a/b/-/merge_requests/9", "pull-request", "a/b!9", True),
        (f"https://gitlab.com/c/d/-/commit/{SHA}", "commit", f"c/d@{SHA}", False),
        (f"Fixed in {SHA}", "commit", f"g/p@{SHA}", True),
        ("This is fixed in commit `0a1b2c3d`.", "commit", "g/p@0a1b2c3d", True),
    ],
)
def test_what_people_write_is_read(text: str, kind: str, target: str, fixes: bool) -> None:
    found = references_of(Issue("g/p", 1, "", text), GITLAB)
    assert [(one.kind, one.target, one.fixes) for one in found] == [(kind, target, fixes)]


@pytest.mark.parametrize(
    "text", ["#1", "(! x :named y)", "a!=12", "#b0101", "https://github.com/a/b/-/issues/3"]
)
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert references_of(Issue("g/p", 1, "", text), GITLAB) == []


def test_what_closed_an_issue_is_read_from_gitlabs_own_notes(
    hub: FakeGitLab, project: FakeProject, tmp_path: Path
) -> None:
    number = next(n for n in range(1, 30) if project.notes(n))
    project.system_notes[number] = f"closed via commit {SHA}"
    mined(tmp_path / "c", hub)
    with Corpus.open(tmp_path / "c") as corpus:
        found = corpus.rows("select target from issue_link where kind = 'commit' and fixes")
        assert (f"{NAME}@{SHA}",) in found
        texts = corpus.values("select body from comment join text on text.id = text_id")
        assert "changed the description" not in texts


def test_names_and_addresses_say_where_to_mine() -> None:
    place = locate("https://gitlab.com/group/sub/project/-/issues")
    assert (place.host.name, place.api_url, place.name) == (
        *("gitlab", "https://gitlab.com/api/v4"),
        "group/sub/project",
    )
    assert locate("https://gitlab.example.org/g/p").api_url == "https://gitlab.example.org/api/v4"
    assert locate("https://git.example.org/g/p", "gitlab").api_url == "https://git.example.org/api/v4"
    assert locate("g/p", "gitlab", "http://127.0.0.1:1/api/v4").api_url == "http://127.0.0.1:1/api/v4"
    with pytest.raises(BadInput, match="--host: github, gitlab"):
        locate("https://git.example.org/g/p")
    with pytest.raises(BadInput, match="choose one of github, gitlab"):
        locate("g/p", "gitlub")
    with pytest.raises(BadInput, match="GROUP/PROJECT"):
        locate("g/../p", "gitlab")


@pytest.mark.thorough
def test_two_hosts_share_a_corpus_but_not_a_name(
    hub: FakeGitLab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = str(tmp_path / "c")
    with serving(FakeTracker(issues=5, comments=0), FakeTracker(NAME, issues=5, comments=0)) as github:
        assert run(["mine", "ada/solver", "--corpus", corpus, "--api-url", github.url]) == Exit.DONE
    assert run(["mine", NAME, "--host", "gitlab", "--corpus", corpus, "--api-url", hub.url]) == Exit.DONE
    capsys.readouterr()
    assert run(["mine", "--replay", "--corpus", corpus, "--json"]) == Exit.DONE
    said = json.loads(capsys.readouterr().out)
    assert [report["tracker"] for report in said["trackers"]] == ["ada/solver", NAME]
    project = FakeProject("ada/solver", issues=2, comments=0)
    with serving(project, kind=FakeGitLab) as other:
        arguments = ["mine", "ada/solver", "--host", "gitlab", "--corpus", corpus, "--api-url", other.url]
        assert run(arguments) == Exit.USAGE
    assert "mine into another corpus" in capsys.readouterr().err


def test_a_tracker_of_another_server_or_group_is_not_the_same(tmp_path: Path) -> None:
    inner = FakeProject("tools/solver", issues=3, comments=0)
    with serving(FakeProject(issues=3, comments=0), inner, kind=FakeGitLab) as hub:
        for name in (NAME, "tools/solver"):
            assert mine(tmp_path / "c", hub.url, name, host=GITLAB).tracker == name
        with Corpus.open(tmp_path / "c", write=True) as corpus, corpus.transaction():
            corpus.execute("update tracker set url = replace(url, 'gitlab.com', 'gitlab.example.org')")
        before = contents(tmp_path / "c")
        with pytest.raises(BadInput, match=r"has a tracker tools/solver of gitlab\.example\.org: mine into"):
            mine(tmp_path / "c", hub.url, "tools/solver", host=GITLAB)
    assert contents(tmp_path / "c") == before


def test_a_refresh_takes_trackers_of_both_hosts(
    hub: FakeGitLab, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(FakeTracker(issues=20, comments=5)) as github:
        (tmp_path / "exhume.toml").write_text(
            f'corpus = "c"\napi-url = "{github.url}"\ntrackers = ["ada/solver"]\n'
            f'[[tracker]]\nname = "{NAME}"\nhost = "gitlab"\napi-url = "{hub.url}"\n'
        )
        assert run(["refresh", "--config", str(tmp_path / "exhume.toml"), "--json"]) == Exit.DONE
    said = json.loads(capsys.readouterr().out)
    assert [report["tracker"] for report in said["trackers"]] == ["ada/solver", NAME]
    assert said["requests"] == sum(report["requests"] for report in said["trackers"])
    assert all(report["new_formulas"] for report in said["trackers"])


def test_times_in_another_zone_are_taken_as_they_are_meant() -> None:
    item = {"iid": 1, "title": "", "description": "", "updated_at": "2024-05-31T01:00:00.123+02:00"}
    [(_, issue)] = GITLAB.read(item, "g/p")
    assert str(issue.updated_at) == "2024-05-30 23:00:00.123000"
    assert isinstance(issue, Issue)
    assert issue.comments == ()
    note = {"noteable_type": "Issue", "noteable_iid": 1, "id": 5, "body": "x", "created_at": "?"}
    assert list(GITLAB.read(note, "g/p")) == [(1, Comment(5, "x"))]
