"""The raw records of a tracker in the corpus, and the newest version of each issue and comment in them.

A record is one of: an answer of the tracker's API, keyed by its request (``/repos/OWNER/NAME/issues?...``,
where OWNER/NAME is the name in the corpus, even after a rename); an attached file, keyed by its address; an
object of a dump, keyed ``dump:issues/12`` or ``dump:comments/34``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from typing import Any
from urllib.parse import parse_qs, urlsplit

from corpus.intake import Intake
from corpus.records import Comment, Issue, RawRecord
from corpus.store import Corpus
from miner.hosts.host import Host, Item
from miner.hosts.http import GONE, MOVED, Answer

_PAGES_AT_ONCE = 16
# The largest values of the columns.
_LARGEST_NUMBER = 2**31 - 1
_LARGEST_ID = 2**63 - 1

# Orders versions of an item: by its date, then whether its page is current, then the page's position.
Rank = tuple[datetime, int, str, int]
_Place = tuple[int, str, int]


@dataclass(frozen=True, slots=True)
class Page:
    """The metadata of a stored record. ``next``: the request for the page after it."""

    record_id: int
    etag: str | None
    last_modified: str | None
    next: str | None


class Archive:
    """The raw records of one tracker. A record is stored in the corpus when :meth:`put` returns."""

    def __init__(
        self, corpus: Corpus, host: Host, tracker_id: int, name: str, now: Callable[[], float] | None = None
    ) -> None:
        self.corpus = corpus
        self.host = host
        self.tracker_id = tracker_id
        self.name = name
        self.prefix = host.path(name)
        self.pages: dict[str, Page] = {}
        self.issues: dict[int, Issue] = {}
        # Issues that no longer exist, by number: "deleted" or "transferred".
        self.gone: dict[int, str] = {}
        self.attached: set[str] = set()
        self._comments: dict[int, dict[int, Comment]] = {}
        # Rank and record of each item: of issues by number, of comments by issue and id.
        self._versions: dict[int | tuple[int, int], tuple[Rank, int]] = {}
        self._intake = Intake(corpus)
        self._now = now
        self._load()

    def _load(self) -> None:
        rows = self.corpus.rows(
            """select id, request, status, etag, last_modified, next from raw_record
            where tracker_id = ? order by id""",
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
            for ident, request, status, *page in chunk:
                data = decoded(bodies[ident]) if status == 200 and ident in bodies else None
                self._index(request, status or 200, Page(ident, *page), data)

    def put(self, request: str, answer: Answer) -> None:
        """Store and index an answer of any status. ``answer.next``: a path below the tracker's."""
        fetched = datetime.fromtimestamp(self._now(), UTC).replace(tzinfo=None) if self._now else None
        record = RawRecord(
            request,
            answer.body or answer.location,
            answer.status,
            answer.etag,
            answer.last_modified,
            fetched,
            self.prefix + answer.next if answer.next else None,
        )
        self.put_records([record], [answer.data])

    def put_records(self, records: Sequence[RawRecord], data: Sequence[Any]) -> None:
        """Store several records, each with its decoded body, in one transaction, and index them."""
        taken = {record.request for record in records}
        replaced = [self._lost(record, one, taken) for record, one in zip(records, data, strict=True)]
        lost = [record for record in replaced if record is not None]
        with self.corpus.transaction():
            kept = self._intake.add_raw_records(self.tracker_id, lost)
            added = self._intake.add_raw_records(self.tracker_id, records)
        for record, row in zip(lost, kept, strict=True):
            self._forget(self.pages[record.request.rpartition("~")[0]].record_id)
            self._index(record.request, 200, Page(row.id, None, None, None), decoded(record.body))
        for record, row, one in zip(records, added, data, strict=True):
            page = Page(row.id, record.etag, record.last_modified, record.next)
            self._index(record.request, record.status or 200, page, one)

    def _lost(self, record: RawRecord, data: Any, taken: Set[str]) -> RawRecord | None:
        """The earlier answer to a request, under a name that is not in ``taken``, if it has items that the
        new one lacks.
        """
        request = record.request
        if request not in self.pages or record.status != 200 or request.startswith("https://"):
            return None
        body, etag, fetched = self._stored(request)
        if self._items(decoded(body)) <= self._items(data):
            return None
        names = (f"{request}~{place}" for place in count(1) if f"{request}~{place}" not in taken)
        # An equal answer may be kept already.
        name = next(name for name in names if name not in self.pages or self._stored(name)[0] == body)
        return RawRecord(name, body, 200, etag, None, fetched)

    def _stored(self, request: str) -> tuple[str, str | None, datetime | None]:
        """The body of a stored record, its ETag, and when it was fetched."""
        [row] = self.corpus.rows(
            """select coalesce(body, ''), etag, fetched_at from raw_record left join text on text.id = text_id
            where raw_record.id = ?""",
            [self.pages[request].record_id],
        )
        return row[0], row[1], row[2]

    def _items(self, data: Any) -> set[int | tuple[int, int]]:
        """The keys of the issues and comments in an answer."""
        return {_key(item) for raw in _objects(data) for item in self.host.read(raw, self.name)}

    def _forget(self, record_id: int) -> None:
        """Remove the items of a record whose content is replaced."""
        for key in [key for key, (_, holder) in self._versions.items() if holder == record_id]:
            del self._versions[key]
            if isinstance(key, int):
                del self.issues[key]
            else:
                del self._comments[key[0]][key[1]]

    def _index(self, request: str, status: int, page: Page, data: Any) -> None:
        self.pages[request] = page
        if request.startswith("https://"):
            self.attached.add(request)
            return
        path = urlsplit(request.removeprefix(self.prefix)).path
        number = path.removeprefix(self.host.issue_path)
        if path.startswith(self.host.issue_path) and number.isdigit():
            self.gone.pop(int(number), None)
            if status in GONE or status in MOVED:
                self.gone[int(number)] = "deleted" if status in GONE else "transferred"
        if status == 200:
            place = self._place(request)
            for raw in _objects(data):
                self._take(raw, page.record_id, place)

    def _take(self, raw: Mapping[str, Any], record_id: int, place: _Place) -> None:
        """Index the issues and comments of a raw object that are newer than the known versions."""
        for item in self.host.read(raw, self.name):
            (number, found), key = item, _key(item)
            rank = (found.updated_at or datetime.min, *place)
            if not 0 < number <= _LARGEST_NUMBER or self._versions.get(key, (rank, 0))[0] > rank:
                continue
            if isinstance(found, Issue):
                self.issues[number] = found
                self._versions[key] = rank, record_id
            elif abs(found.id) <= _LARGEST_ID:
                self._comments.setdefault(number, {})[found.id] = found
                self._versions[key] = rank, record_id

    def _place(self, request: str) -> _Place:
        """The position of a page in its list: whether it is a current answer (-1 if a newer one replaced it),
        start date, page number.
        """
        address, mark, _ = request.partition("~")
        asked = parse_qs(urlsplit(address).query)
        since = next((asked[one.since][0] for one in self.host.lists if one.since in asked), "")
        number = asked.get("page", ["1"])[0]
        # The census only serves to find deleted issues.
        behind = mark or "?" not in address or address.startswith(self.prefix + self.host.census.request())
        current = -1 if mark else 0 if behind else 1
        return current, "" if behind else since, int(number) if number.isdecimal() else 1

    def thread(self, number: int) -> Issue:
        """An issue with all its comments. Raises KeyError if there is no such issue."""
        issue = self.issues[number]
        # Not `replace`, which is slow: every refresh does this for all comments.
        comments = [
            Comment(ident, one.body, one.author_association, one.created_at, one.updated_at, record_id)
            for ident, one in self._comments.get(number, {}).items()
            for record_id in [self._versions[number, ident][1]]
        ]
        comments.sort(key=lambda comment: (comment.created_at or datetime.min, comment.id))
        return replace(
            issue,
            state_reason=self.gone.get(number, issue.state_reason),
            raw_record_id=self._versions[number][1],
            comments=tuple(comments),
        )

    def numbers(self) -> list[int]:
        """The numbers of the issues, sorted, without pull requests."""
        return sorted(number for number, issue in self.issues.items() if not issue.is_pull_request)

    def following(self, request: str) -> str | None:
        """The request (below the tracker's path) for the page after a stored one."""
        page = self.pages.get(self.prefix + request)
        return None if page is None or page.next is None else page.next.removeprefix(self.prefix)


def digest_of(issue: Issue, attached: Iterable[str] = ()) -> str:
    """A hash of everything that reading an issue depends on."""
    content = repr((issue, tuple(attached)))
    return sha256(content.encode("utf-8", "backslashreplace")).hexdigest()


def _key(item: Item) -> int | tuple[int, int]:
    number, found = item
    return number if isinstance(found, Issue) else (number, found.id)


def _objects(data: Any) -> list[Mapping[str, Any]]:
    """The raw objects of an answer: one, or a list of them."""
    return [one for one in (data if isinstance(data, list) else [data]) if isinstance(one, dict)]


def decoded(body: str) -> Any:
    """The JSON value of a stored body; None if it is not JSON."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
