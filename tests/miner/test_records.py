"""Records of GitHub's REST interface, and the starter tracker in the same shape."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from miner.extract import extract_issue
from miner.records import Comment, Issue, RecordError, issue_number_of, tracker_of
from miner.starter import TRACKER, read_issues, read_records

RECORD: dict[str, Any] = {
    "number": 12,
    "title": "Wrong answer",
    "body": "```\n(assert true)\n(check-sat)\n```",
    "state": "closed",
    "state_reason": "completed",
    "labels": [{"name": "bug"}, "major", {"name": None}, 3],
    "user": {"login": "ada"},
    "author_association": "NONE",
    "created_at": "2024-01-02T03:04:05Z",
    "closed_at": None,
    "repository_url": "https://api.github.com/repos/Z3Prover/z3",
    "html_url": "https://github.com/Z3Prover/z3/issues/12",
}
COMMENTS: list[dict[str, Any]] = [
    {"id": 2, "body": "later", "created_at": "2024-02-01T00:00:00Z", "user": None},
    {"id": 1, "body": None, "created_at": "2024-01-03T00:00:00Z", "user": {"login": "bob"}},
]


def test_issue_is_built_from_a_record() -> None:
    issue = Issue.from_rest(RECORD, COMMENTS)
    assert issue.tracker == "Z3Prover/z3"
    assert issue.labels == ("bug", "major")
    assert issue.author == "ada"
    assert issue.closed_at == ""
    assert [comment.id for comment in issue.comments] == [1, 2]
    assert issue.comments[0].body == ""
    assert not issue.is_pull_request
    assert len(extract_issue(issue).formulas) == 1


def test_pull_request_is_marked() -> None:
    assert Issue.from_rest({**RECORD, "pull_request": {"url": "x"}}).is_pull_request


@pytest.mark.parametrize("record", [{}, {"number": None}, {"number": "12"}, {"number": True}])
def test_record_without_a_number_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(RecordError):
        Issue.from_rest(record)


def test_comment_without_an_id_is_refused() -> None:
    with pytest.raises(RecordError, match="no comment id"):
        Comment.from_rest({"body": "x"})


def test_odd_types_are_read_as_absent() -> None:
    issue = Issue.from_rest({"number": 1, "title": 3, "body": ["x"], "labels": "bug", "user": "me"})
    assert (issue.title, issue.body, issue.labels, issue.author, issue.tracker) == ("", "", (), "", "")


def test_addresses_tell_tracker_and_issue() -> None:
    assert tracker_of({"html_url": "https://github.com/cvc5/cvc5/issues/9"}) == "cvc5/cvc5"
    assert tracker_of({"html_url": "nowhere"}) == ""
    assert issue_number_of({"issue_url": "https://api.github.com/repos/a/b/issues/77"}) == 77
    assert issue_number_of({"issue_url": "x"}) is None


def test_starter_records_are_read_by_number(tmp_path: Path) -> None:
    for number in (11, 2):
        record = {**RECORD, "number": number, "comments_list": COMMENTS, "exhume": {"ignored": 1}}
        (tmp_path / f"{number:04}.json").write_text(json.dumps(record), encoding="utf-8")
    (tmp_path / "README.md").write_text("not an issue", encoding="utf-8")
    issues = read_issues(tmp_path)
    assert [issue.number for issue in issues] == [2, 11]
    assert {issue.tracker for issue in issues} == {TRACKER}
    assert len(issues[0].comments) == 2


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_broken_starter_record_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "0001.json").write_text(text, encoding="utf-8")
    with pytest.raises(RecordError, match=r"0001\.json"):
        list(read_records(tmp_path))


def test_a_missing_starter_folder_is_empty(tmp_path: Path) -> None:
    assert read_issues(tmp_path / "none") == []


def test_every_bundled_issue_gives_a_formula() -> None:
    for issue in read_issues():
        assert extract_issue(issue).formulas, issue.number
