"""``exhume refresh`` and ``exhume mine``, from the command line's point of view."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from base.errors import Exit
from corpus.intake import Intake
from corpus.records import Tracker
from corpus.store import Corpus
from exhume.cli import run
from miner.errors import BadInput
from miner.refreshing import RefreshReport, parse_date, read_config
from tests.miner.github_server import FakeGitHub, FakeTracker, Fault, serving
from tests.miner.mining_help import contents

SCRIPT = "```\n(declare-const q Int)\n(assert (or (> q 41) (< q 7)))\n(check-sat)\n```"


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_TOKEN", raising=False)


@pytest.fixture
def hub() -> Iterator[FakeGitHub]:
    with serving(FakeTracker(), FakeTracker("bob/z3", issues=20, comments=10, number=78)) as running:
        yield running


@pytest.fixture
def config(hub: FakeGitHub, tmp_path: Path) -> Path:
    path = tmp_path / "exhume.toml"
    path.write_text(
        f'corpus = "c.duckdb"\napi-url = "{hub.url}"\ntrackers = ["ada/solver"]\n'
        '[[tracker]]\nname = "bob/z3"\nall = true\nsince = 2015-01-02\n[learn]\nmin-support = 5\n'
    )
    return path


def test_a_refresh_mines_and_learns_and_says_so_in_one_line(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["refresh", "--config", str(config)]) == Exit.DONE
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert "new issues" in line
    assert "rules: " in line
    before = contents(config.parent / "c.duckdb")
    assert before["rule"]
    assert run(["refresh", "--config", str(config), "--json"]) == Exit.DONE
    said = json.loads(capsys.readouterr().out)
    counts = ("new_issues", "new_formulas", "new_skeletons", "rules_gained", "rules_lost")
    assert [said[name] for name in counts] == [0, 0, 0, 0, 0]
    assert said["rules"] > 0
    assert said["requests"] == 6
    assert contents(config.parent / "c.duckdb") == before


def test_one_of_a_thing_is_not_many() -> None:
    line = RefreshReport(new_issues=1, new_formulas=2, new_skeletons=1, requests=1).summary()
    assert line.startswith("1 new issue, 2 new formulas, 1 new skeleton;")
    assert "(0 trackers, 1 request, " in line


@pytest.mark.thorough
def test_what_is_new_is_counted(hub: FakeGitHub, config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["refresh", "--config", str(config)])
    for number in range(6):
        body = SCRIPT.replace("41", str(50 + number))
        moment = f"2030-01-01T00:00:0{number}Z"
        hub.trackers["ada/solver"].add_issue(moment, title="segfault", body=body, state="closed")
    capsys.readouterr()
    run(["refresh", "--config", str(config), "--json"])
    said = json.loads(capsys.readouterr().out)
    assert said["new_issues"] == said["new_formulas"] == 5  # one of the six numbers is a pull request's
    assert said["new_skeletons"] == 1
    assert said["rules_gained"] > 0


def test_a_tracker_that_is_gone_does_not_stop_the_others(
    hub: FakeGitHub, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.gone["ada/solver"] = 404
    assert run(["refresh", "--config", str(config)]) == Exit.USAGE
    reported = capsys.readouterr()
    assert "1 problem" in reported.out
    assert "ada/solver" in reported.err
    with Corpus.open(config.parent / "c.duckdb") as corpus:
        assert corpus.scalar("select count(*) from issue") > 0


def test_a_name_that_the_corpus_has_for_a_folder_does_not_stop_the_others(
    config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Corpus.open(config.parent / "c.duckdb", write=True) as corpus, corpus.transaction():
        Intake(corpus).add_tracker(Tracker("ada/solver", "folder", "/x"))
    assert run(["refresh", "--config", str(config)]) == Exit.USAGE
    assert "ada/solver" in capsys.readouterr().err
    with Corpus.open(config.parent / "c.duckdb") as corpus:
        assert corpus.scalar("select count(*) from issue") > 0


def test_github_out_of_reach_is_its_own_exit_code(
    hub: FakeGitHub, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.faults = [Fault(401)] * 4
    assert run(["refresh", "--config", str(config)]) == Exit.ENVIRONMENT
    assert "gh auth login" in capsys.readouterr().err


@pytest.mark.thorough
def test_mine_tells_what_it_did(hub: FakeGitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = str(tmp_path / "c")
    hub.faults = [Fault(429, {"Retry-After": "1"})]
    assert run(["mine", "ada/solver", "--corpus", corpus, "--api-url", hub.url]) == Exit.DONE
    reported = capsys.readouterr()
    assert "ada/solver: " in reported.out
    assert "resumes at" in reported.err
    assert "exhume learn" in reported.err
    assert run(["mine", "--replay", "--corpus", corpus, "--json"]) == Exit.DONE
    said = json.loads(capsys.readouterr().out)
    assert said["trackers"][0]["issues_read"] == 55
    assert said["trackers"][0]["new_formulas"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mine", "--corpus", "c"], "give a tracker"),
        (["mine", "z3", "--corpus", "c"], "OWNER/NAME"),
        (["mine", "a/b", "--corpus", "c", "--since", "May"], "2024-05-31"),
        (["mine", "a/b", "--corpus", "c", "--api-url", "x"], "address of an API"),
        (["mine", "a/b", "--corpus", "c", "--replay"], "no corpus"),
        (["refresh"], "exhume.toml"),
        (["corpus", "vacuum", "--corpus", "c"], "no corpus"),
        (["corpus", "verify", "--corpus", "c"], "no corpus"),
    ],
)
def test_mistakes_are_reported(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == Exit.USAGE
    assert words in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_repository_is_reported(
    hub: FakeGitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["mine", "no/such", "ada/solver", "--corpus", str(tmp_path / "c"), "--api-url", hub.url]
    assert run(arguments) == Exit.USAGE
    reported = capsys.readouterr()
    assert "no/such" in reported.err
    assert "ada/solver: " in reported.out


def test_a_missing_list_is_reported_with_the_tracker_named_once(
    hub: FakeGitHub, config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mining = ["mine", "ada/solver", "--corpus", str(tmp_path / "c"), "--api-url", hub.url]
    for arguments in (mining, ["refresh", "--config", str(config)]):
        hub.faults = [None, Fault(404)]
        assert run(arguments) == Exit.ENVIRONMENT
        assert (
            "exhume: ada/solver: it exists, but /issues does not: 404" in capsys.readouterr().err.splitlines()
        )


def test_a_corpus_is_exported_imported_verified_and_vacuumed(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["refresh", "--config", str(config)])
    corpus, folder, again = str(tmp_path / "c.duckdb"), str(tmp_path / "p"), str(tmp_path / "d.duckdb")
    before = contents(tmp_path / "c.duckdb")
    assert run(["corpus", "verify", "--corpus", corpus]) == Exit.DONE
    assert run(["corpus", "export", "--corpus", corpus, "--out", folder]) == Exit.DONE
    assert run(["corpus", "import", folder, "--corpus", again]) == Exit.DONE
    assert contents(tmp_path / "d.duckdb") == before
    with Corpus.open(again, write=True) as opened, opened.transaction():
        opened.add_texts(["named by nothing" * 10_000])
    capsys.readouterr()
    assert run(["corpus", "vacuum", "--corpus", again, "--json"]) == Exit.DONE
    assert json.loads(capsys.readouterr().out)["texts"] == 1
    assert contents(tmp_path / "d.duckdb") == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
    with Corpus.open(again, write=True) as opened, opened.transaction():
        opened.execute("update formula set text_id = 999999 where id = 1")
    assert run(["corpus", "verify", "--corpus", again]) == Exit.FINDINGS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 'the key corpus is missing; write corpus = "corpus.duckdb"'),
        ('corpus = "c"', "names no trackers"),
        ('corpus = "c"\ntrakers = []', "did you mean trackers"),
        ('corpus = "c"\ntrackers = ["z3"]', "OWNER/NAME"),
        ('corpus = "c"\ntrackers = ["a/b", "A/B"]', "twice"),
        ('corpus = "c"\ntrackers = "a/b"', "trackers: expected a list, got a text in quotes"),
        ('corpus = "c"\ntrackers = [1]', "trackers[0]: expected a text in quotes, got a whole number"),
        ('corpus = "c"\n[[tracker]]\nall = true', "tracker[0]: the key name is missing; write name = "),
        ('corpus = "c"\n[[tracker]]\nname = "a/b"\nx = 1', "tracker[0]: there is no key x"),
        (
            'corpus = "c"\n[tracker]\nname = "a/b"',
            "tracker: expected a list, got a table; write trackers = [",
        ),
        (
            'corpus = "c"\ntracker = ["a/b"]',
            "tracker[0]: expected a table, got a text in quotes; write trackers = [",
        ),
        ('corpus = "c"\ntrackers = ["a/b"]\nall = 1', "all: expected true or false, got a whole number"),
        ('corpus = "c"\ntrackers = ["a/b"]\nsince = "x"', "since: expected a date such as 2024-05-31"),
        (
            'corpus = "c"\ntrackers = ["a/b"]\n[learn]\nmin-support = 0',
            "learn.min-support: expected a whole number >= 1",
        ),
        (
            'corpus = "c"\ntrackers = ["a/b"]\n[learn]\nmin-support = true',
            "learn.min-support: expected a whole number, got true or false",
        ),
        ("corpus = ", "cannot be read"),
    ],
)
def test_a_wrong_configuration_is_reported(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "exhume.toml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_config(path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(str(path))


def test_a_folder_is_no_configuration(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r" cannot be read: Is a directory\Z"):
        read_config(tmp_path)


def test_a_dump_that_is_named_as_a_tracker_is_recognised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "issues.json").write_text("[]")
    assert run(["mine", str(tmp_path / "issues.json"), "--corpus", str(tmp_path / "c")]) == Exit.USAGE
    said = f"exhume: {tmp_path}/issues.json is a file or folder, not a tracker: name it with --from\n"
    assert (capsys.readouterr().err, (tmp_path / "c").exists()) == (said, False)


def test_a_configuration_is_read(config: Path) -> None:
    reported = read_config(config)
    assert reported.corpus == config.parent / "c.duckdb"
    assert [tracker.place.name for tracker in reported.trackers] == ["ada/solver", "bob/z3"]
    assert [tracker.options.everything for tracker in reported.trackers] == [False, True]
    assert reported.trackers[1].options.since == date(2015, 1, 2)
    assert reported.min_support == 5
    assert parse_date("2024-05-31T01:02:03") == date(2024, 5, 31)
