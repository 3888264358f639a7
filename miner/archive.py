"""A tracker's raw records in the corpus, and the newest version of each issue and comment in them.

A record is one answer of GitHub, keyed by its request: ``/repos/OWNER/NAME/issues?...``, where
OWNER/NAME is what the corpus calls the tracker, even when GitHub has renamed it since.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

from corpus.intake import Intake
from corpus.records import RawRecord
from corpus.store import Corpus
from miner.answers import GONE, Answer
from miner.errors import GitHubError
from miner.records import Comment, Issue, RecordError, issue_number_of

_PAGES_AT_ONCE = 16
# What the corpus has room for.
_LARGEST_NUMBER = 2**31 - 1
_LARGEST_ID = 2**63 - 1

# Which version of an item is newer: by its own date, then whether its page is current, then its page.
Rank = tuple[str, int, str, int]


@dataclass(frozen=True, slots=True)
class Page:
    """What is known of a stored page."""

    record_id: int
    etag: str | None
    next: str | None


@dataclass(frozen=True, slots=True)
class KeptIssue:
    """The newest version of an issue, and the raw record that holds it."""

    issue: Issue
    record_id: int
    rank: Rank


@dataclass(frozen=True, slots=True)
class KeptComment:
    """The newest version of a comment."""

    comment: Comment
    record_id: int
    rank: Rank


@dataclass(frozen=True, slots=True)
class Thread:
    """An issue with its comments, as the raw records tell it now."""

    issue: Issue
    record_id: int
    # Per comment id the raw record that holds it.
    comment_records: Mapping[int, int]

    def digest(self, attached: Iterable[str] = ()) -> str:
        """What a reading of the issue depends on, as a hash."""
        records = sorted(self.comment_records.items())
        told = repr((self.issue, self.record_id, records, tuple(attached)))
        return sha256(told.encode("utf-8", "backslashreplace")).hexdigest()


class Archive:
    """The raw records of one tracker. What is put in is in the corpus when :meth:`put` returns."""

    def __init__(
        self, corpus: Corpus, tracker_id: int, name: str, now: Callable[[], float] | None = None
    ) -> None:
        self.corpus = corpus
        self.tracker_id = tracker_id
        self.name = name
        self.prefix = f"/repos/{name}"
        self.pages: dict[str, Page] = {}
        self.issues: dict[int, KeptIssue] = {}
        self._comments: dict[int, dict[int, KeptComment]] = {}
        # Issues that GitHub says are gone, by number: "deleted" or "transferred".
        self.gone: dict[int, str] = {}
        self.attached: set[str] = set()
        self._intake = Intake(corpus)
        self._now = now
        self._load()

    def _load(self) -> None:
        rows = self.corpus.rows(
            "select id, request, status, etag, next from raw_record where tracker_id = ? order by id",
            [self.tracker_id],
        )
        for start in range(0, len(rows), _PAGES_AT_ONCE):
            chunk = rows[start : start + _PAGES_AT_ONCE]
            bodies = dict(
                self.corpus.rows(
                    """select raw_record.id, body from raw_record join text on text.id = text_id
                    where raw_record.id in (select unnest(?::integer[])) and request not like 'https://%'""",
                    [[ident for ident, *_ in chunk]],
                )
            )
            for ident, request, status, etag, following in chunk:
                data = _decoded(bodies[ident]) if status == 200 and ident in bodies else None
                self._index(request, status or 200, Page(ident, etag, following), data)

    def put(self, request: str, answer: Answer) -> None:
        """Store an answer, whatever it is, and index it."""
        self.put_all([(request, answer)])

    def put_all(self, answers: Iterable[tuple[str, Answer]]) -> None:
        """Store several answers in one transaction."""
        answers = list(answers)
        fetched = datetime.fromtimestamp(self._now(), UTC).replace(tzinfo=None) if self._now else None
        records, lost = [], []
        for request, answer in answers:
            kept = self._lost(request, answer)
            if kept is not None:
                lost.append(kept)
            following = (
                self.prefix + answer.next.partition("#")[0] if answer.next.startswith("/issues") else None
            )
            records.append(
                RawRecord(
                    request,
                    answer.body or answer.location,
                    answer.status,
                    answer.etag,
                    answer.last_modified,
                    fetched,
                    following,
                )
            )
        with self.corpus.transaction():
            for record in lost:
                self._intake.add_raw_records(self.tracker_id, [record])
            added = self._intake.add_raw_records(self.tracker_id, records)
        for record in lost:
            self._forget(self.pages[record.request.partition("~")[0]].record_id)
            ident = self.corpus.scalar(
                "select id from raw_record where tracker_id = ? and request = ?",
                [self.tracker_id, record.request],
            )
            self._index(record.request, 200, Page(ident, None, None), _decoded(record.body))
        for (request, answer), row, record in zip(answers, added, records, strict=True):
            self._index(request, answer.status, Page(row.id, record.etag, record.next), answer.data)

    def _lost(self, request: str, answer: Answer) -> RawRecord | None:
        """A page's earlier answer, under another name, where it holds items that the new one does not."""
        known = self.pages.get(request)
        if known is None or answer.status != 200 or not _is_list(request):
            return None
        row = self.corpus.rows(
            """select body, etag, fetched_at from raw_record join text on text.id = text_id
            where raw_record.id = ?""",
            [known.record_id],
        )
        before = _decoded(row[0][0]) if row else None
        if not isinstance(before, list) or not isinstance(answer.data, list):
            return None
        still = {item.get("id") for item in answer.data if isinstance(item, dict)}
        if all(item.get("id") in still for item in before if isinstance(item, dict)):
            return None
        place = 1
        while f"{request}~{place}" in self.pages:
            place += 1
        return RawRecord(f"{request}~{place}", row[0][0], 200, row[0][1], None, row[0][2])

    def _forget(self, record_id: int) -> None:
        """Let go of the items that a record held, before it holds others."""
        for number in [n for n, kept in self.issues.items() if kept.record_id == record_id]:
            del self.issues[number]
        for thread in self._comments.values():
            for ident in [i for i, kept in thread.items() if kept.record_id == record_id]:
                del thread[ident]

    def _index(self, request: str, status: int, page: Page, data: Any) -> None:
        self.pages[request] = page
        if request.startswith("https://"):
            self.attached.add(request)
            return
        below = request.removeprefix(self.prefix)
        path = urlsplit(below).path
        if path.startswith("/issues/") and path[8:].isdigit():
            number = int(path[8:])
            self.gone.pop(number, None)
            if status in GONE or status in (301, 302, 307, 308):
                self.gone[number] = "deleted" if status in GONE else "transferred"
            elif isinstance(data, dict):
                self._take_issue(data, page.record_id, ("", 0, 0))
            return
        if not isinstance(data, list) or status != 200:
            return
        where = _place(request)
        take = self._take_comment if path == "/issues/comments" else self._take_issue
        for item in data:
            if isinstance(item, dict):
                take(item, page.record_id, where)

    def _take_issue(self, item: Mapping[str, Any], record_id: int, where: tuple[str, int, int]) -> None:
        try:
            issue = Issue.from_rest(item, tracker=self.name)
        except RecordError:
            return
        rank = (issue.updated_at, where[2], where[0], where[1])
        known = self.issues.get(issue.number)
        if 0 < issue.number <= _LARGEST_NUMBER and (known is None or known.rank <= rank):
            self.issues[issue.number] = KeptIssue(issue, record_id, rank)

    def _take_comment(self, item: Mapping[str, Any], record_id: int, where: tuple[str, int, int]) -> None:
        number = issue_number_of(item)
        try:
            comment = Comment.from_rest(item)
        except RecordError:
            return
        if number is None or abs(comment.id) > _LARGEST_ID:
            return
        rank = (comment.updated_at, where[2], where[0], where[1])
        thread = self._comments.setdefault(number, {})
        known = thread.get(comment.id)
        if known is None or known.rank <= rank:
            thread[comment.id] = KeptComment(comment, record_id, rank)

    def thread(self, number: int) -> Thread:
        """An issue with all its comments. Raises KeyError where there is no such issue."""
        kept = self.issues[number]
        comments = self._comments.get(number, {})
        ordered = sorted(
            (one.comment for one in comments.values()), key=lambda comment: (comment.created_at, comment.id)
        )
        issue = replace(kept.issue, comments=tuple(ordered))
        if number in self.gone:
            issue = replace(issue, state_reason=self.gone[number])
        return Thread(issue, kept.record_id, {ident: one.record_id for ident, one in comments.items()})

    def numbers(self) -> list[int]:
        """The issues, in order; pull requests left out."""
        return sorted(n for n, kept in self.issues.items() if not kept.issue.is_pull_request)


def _decoded(body: str) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _is_list(request: str) -> bool:
    return "?" in request and not request.startswith("https://")


def _place(request: str) -> tuple[str, int, int]:
    """Where a page stands among the pages of its list: start, number, whether it is the current answer."""
    address, mark, _ = request.partition("~")
    asked = parse_qs(urlsplit(address).query)
    number = asked.get("page", ["1"])[0]
    # A list by creation is only asked for to see what is missing.
    behind = mark or asked.get("sort") == ["created"]
    since = asked.get("since", [""])[0]
    return ("" if behind else since), int(number) if number.isdecimal() else 1, 0 if behind else 1


def require_list(request: str, answer: Answer) -> list[Any]:
    """The items of a page. Raises GitHubError where the answer is none."""
    if not isinstance(answer.data, list):
        raise GitHubError(f"{request} was answered with something else than a list: is this GitHub's API?")
    return answer.data
