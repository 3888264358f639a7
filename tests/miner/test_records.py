"""Issues and comments as GitHub's REST interface and ``gh`` show them."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from datetime import datetime
from importlib import resources
from typing import Any

import pytest

from corpus.records import Comment, Issue
from miner.extract import extract_issue
from miner.hosts.host import moment
from tests.miner.mining_help import GITHUB

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


def read(record: dict[str, Any]) -> Issue:
    """The issue of a raw record, with the comments in it."""
    items = [found for _, found in GITHUB.read(record, GITHUB.tracker_of(record) or "")]
    [issue] = [item for item in items if isinstance(item, Issue)]
    return replace(issue, comments=tuple(item for item in items if isinstance(item, Comment)))


def test_issue_is_built_from_a_record() -> None:
    issue = read({**RECORD, "comments_list": COMMENTS})
    assert issue.tracker == "Z3Prover/z3"
    assert issue.labels == ("bug", "major")
    assert (issue.created_at, issue.closed_at) == (datetime(2024, 1, 2, 3, 4, 5), None)
    assert [comment.id for comment in issue.comments] == [2, 1]
    assert issue.comments[1].body == ""
    assert not issue.is_pull_request
    assert len(extract_issue(issue).formulas) == 1


def test_what_gh_prints_is_the_same_issue() -> None:
    printed = {
        "number": 12,
        "title": "Wrong answer",
        "body": RECORD["body"],
        "state": "CLOSED",
        "stateReason": "COMPLETED",
        "labels": [{"id": "x", "name": "bug"}, {"name": "major"}],
        "author": {"login": "ada"},
        "createdAt": "2024-01-02T03:04:05Z",
        "closedAt": None,
        "url": "https://github.com/Z3Prover/z3/issues/12",
        "comments": [
            {
                "id": "IC_kwDO",
                "url": "https://github.com/Z3Prover/z3/issues/12#issuecomment-2",
                "body": "later",
                "createdAt": "2024-02-01T00:00:00Z",
                "authorAssociation": "NONE",
            },
            {"id": "IC_kwDO", "body": "of no address"},
        ],
    }
    issue, rest = read(printed), read(RECORD)
    assert replace(issue, comments=(), author_association="NONE") == rest
    assert issue.comments == (Comment(2, "later", "NONE", datetime(2024, 2, 1)),)


def test_pull_request_is_marked() -> None:
    assert read({**RECORD, "pull_request": {"url": "x"}}).is_pull_request
    assert read({**RECORD, "html_url": "https://github.com/Z3Prover/z3/pull/12"}).is_pull_request


@pytest.mark.parametrize("record", [{}, {"number": None}, {"number": "12"}, {"number": True}, {"body": "x"}])
def test_what_is_no_issue_or_comment_is_read_as_nothing(record: dict[str, Any]) -> None:
    assert list(GITHUB.read(record, "a/b")) == []
    assert GITHUB.tracker_of(record) is None


def test_odd_types_are_read_as_absent() -> None:
    issue = read({"number": 1, "title": 3, "body": ["x"], "labels": "bug", "created_at": "yesterday"})
    assert (issue.title, issue.body, issue.labels, issue.created_at, issue.tracker) == ("", "", (), None, "")


@pytest.mark.parametrize(
    ("written", "hour"), [("10:00:00", 10), ("10:00:00Z", 10), ("10:00:00.250Z", 10), ("10:00:00+02:00", 8)]
)
def test_times_are_utc_whatever_the_zone_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, written: str, hour: int
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    found = moment({"created_at": f"2024-05-31T{written}"}, "created_at")
    monkeypatch.undo()
    time.tzset()
    assert found is not None
    assert (found.tzinfo, found.hour) == (None, hour)


def test_a_comment_of_a_list_tells_its_issue_by_address() -> None:
    comment = {"id": 7, "body": "x", "issue_url": "https://api.github.com/repos/a/b/issues/77"}
    assert GITHUB.tracker_of(comment) == "a/b"
    assert [(number, found.body) for number, found in GITHUB.read(comment, "a/b")] == [(77, "x")]
    assert list(GITHUB.read({**comment, "issue_url": "x"}, "a/b")) == []


def test_every_bundled_issue_gives_a_formula() -> None:
    for file in (resources.files("corpus") / "starter" / "issues").iterdir():
        issue = read(json.loads(file.read_text(encoding="utf-8")))
        assert extract_issue(issue).formulas, issue.number
