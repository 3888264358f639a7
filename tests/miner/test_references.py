"""What an issue's text names: commits, issues, pull requests."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings

from corpus.records import Comment, Issue
from miner.references import references_of
from tests.miner.mining_help import GITHUB
from tests.miner.test_hostile import SIZE, TEXTS
from tests.sizes import size

SHA = "0123456789abcdef0123456789abcdef01234567"


def named(text: str) -> list[tuple[str, str, bool]]:
    return [(r.kind, r.target, r.fixes) for r in references_of(Issue("a/b", 1, "", text), GITHUB)]


@pytest.mark.parametrize(
    ("text", "kind", "target", "fixes"),
    [
        ("see #12", "number", "a/b#12", False),
        ("Fixed by #12.", "number", "a/b#12", True),
        ("fixes #12", "number", "a/b#12", True),
        ("same as Z3Prover/z3#7", "number", "Z3Prover/z3#7", False),
        ("https://github.com/Z3Prover/z3/issues/7#issuecomment-1", "issue", "Z3Prover/z3#7", False),
        ("closed in https://github.com/a/b/pull/9", "pull-request", "a/b#9", True),
        (f"https://github.com/c/d/commit/{SHA}", "commit", f"c/d@{SHA}", False),
        (f"Fixed in {SHA}", "commit", f"a/b@{SHA}", True),
        ("This is fixed in commit `0a1b2c3d`.", "commit", "a/b@0a1b2c3d", True),
        ("c/d@0a1b2c3d", "commit", "c/d@0a1b2c3d", False),
    ],
)
def test_what_people_write_is_read(text: str, kind: str, target: str, fixes: bool) -> None:
    assert named(text) == [(kind, target, fixes)]


@pytest.mark.parametrize(
    "text",
    [
        "#1",  # itself
        "#b0101 and #x1f",
        "&#123;",
        "```\n(assert (= x #12))\n```",
        "page#12",
        "commit message",
        "in 20240101",
        "in deadbeef",  # a word, as far as anyone can tell
    ],
)
def test_what_only_looks_like_it_is_not(text: str) -> None:
    assert named(text) == []


def test_each_is_reported_once_a_text_and_with_its_words() -> None:
    issue = Issue("a/b", 1, "", "see #2 and #2, later fixed by #2", comments=(Comment(7, "duplicate of #2"),))
    found = references_of(issue, GITHUB)
    assert [(r.where, r.fixes) for r in found] == [("body", True), ("comment:7", False)]
    assert "duplicate of #2" in found[1].text


@settings(max_examples=size(50, 150))
@given(TEXTS)
def test_any_text_is_read(text: str) -> None:
    references_of(Issue("a/b", 1, "", text), GITHUB)


@pytest.mark.parametrize(
    "piece", ["#", "#1 ", "a/", "a/b@", "0a", "fixed in ", "in ", "```", "~~~\n```\n", "1", "fix "]
)
def test_a_megabyte_is_read_within_a_second(piece: str) -> None:
    text = piece * (SIZE // len(piece))
    start = time.process_time()
    references_of(Issue("a/b", 1, "", text), GITHUB)
    assert time.process_time() - start < 4.0
