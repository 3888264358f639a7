"""Decides which pages of a tracker to request, and in which order.

Lists are sorted by update, oldest first. The next page is requested by the date of the last item rather than
by number: an item that is updated during the crawl moves to the end of the list, and with page numbers the
items after it would move up and be missed. Only the last page of a list changes later; the next run requests
it with its ETag and continues there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from base.errors import Exit
from corpus.records import Issue
from miner.archive import Archive
from miner.errors import HostError
from miner.hosts.host import PAGES, Host, Listing, moment
from miner.hosts.http import GONE, Answer, Client

# Dates are whole seconds. If more items than this are of the last two, the page number is used instead.
_MOST_REPEATED = 10
_MOST_MOVES = 5
_MOST_CHECKED = 200


class TrackerGone(HostError):
    """The tracker does not exist (any more), or not for this token. ``answer``: the host's response."""

    exit_code = Exit.USAGE

    def __init__(self, message: str, answer: Answer) -> None:
        super().__init__(message)
        self.answer = answer


class PageGone(HostError):
    """The tracker exists, but one of its lists does not."""


@dataclass(slots=True)
class Crawler:
    """Fetches the pages of one tracker into its archive. ``on_page`` gets the pages and items so far."""

    client: Client
    archive: Archive
    # The current name of the tracker on its host.
    current: str
    on_page: Callable[[str, int, int], None] = lambda what, pages, items: None
    pages: int = 0

    def crawl_all(self, since: str = "", recheck: bool = False) -> None:
        """Update all lists. What was never fetched is fetched from ``since`` on."""
        for listing in self.archive.host.lists:
            self.crawl(listing, since)
        self._crawl_threads(since)
        if recheck:
            self.check_deleted()

    def crawl(self, listing: Listing, since: str = "", by_date: bool = True) -> None:
        """Fetch what is new in one list of the tracker, page by page, and store it."""
        request: str | None = self._start(listing, since) if by_date else listing.request()
        pages = items = 0
        while request is not None:
            known = self.archive.pages.get(self.archive.prefix + request)
            answer = self._get(request, known.etag if known else None)
            if answer.status == 304 and known is not None:
                request = self.archive.following(request)
                continue
            found = _items(request, answer)
            following = _following(listing, request, answer, found, by_date)
            self.archive.put(self.archive.prefix + request, replace(answer, next=following or ""))
            request = following
            pages += 1
            self.pages += 1
            items += len(found)
            self.on_page(listing.what, pages, items)

    def _crawl_threads(self, since: str) -> None:
        """Fetch the comments of changed issues, if the host lists comments per issue."""
        pending = [
            (issue, listing)
            for issue in self.archive.issues.values()
            if issue.comment_count and issue.number not in self.archive.gone
            if (listing := self.archive.host.comments_of(issue)) is not None
            if not since or str(issue.updated_at or "")[:10] >= since[:10]
            if not self._is_current(issue, listing)
        ]
        for done, (issue, listing) in enumerate(pending, 1):
            try:
                self._crawl_thread(issue, listing)
            except PageGone:
                self._check(issue.number)
            self.on_page(f"of {len(pending)} threads", self.pages, done)

    def _crawl_thread(self, issue: Issue, listing: Listing) -> None:
        request: str | None = listing.request()
        while request is not None:
            answer = self._get(request, None)
            following = _following(listing, request, answer, _items(request, answer), by_date=False)
            stamped = replace(answer, next=following or "", last_modified=str(issue.updated_at))
            self.archive.put(self.archive.prefix + request, stamped)
            request = following
            self.pages += 1

    def _is_current(self, issue: Issue, listing: Listing) -> bool:
        """Whether the comments were fetched after the last update of the issue."""
        request: str | None = listing.request()
        while request is not None:
            page = self.archive.pages.get(self.archive.prefix + request)
            if page is None or page.last_modified != str(issue.updated_at):
                return False
            request = self.archive.following(request)
        return True

    def _start(self, listing: Listing, since: str) -> str:
        """The first request: the last stored page that is not numbered, else the beginning of the list."""
        roots = self._roots(listing, since)
        request = min(roots, key=listing.since_of) if roots else listing.request(since)
        window = request
        while (following := self.archive.following(request)) is not None:
            request = following
            if _page_of(request) is None:
                window = request
        return window

    def _roots(self, listing: Listing, since: str) -> list[str]:
        """The stored first pages of a list that start at ``since`` or earlier."""
        prefix = self.archive.prefix
        head = prefix + listing.request()
        stored = [key for key in self.archive.pages if key.startswith(head) and "~" not in key]
        reached = {page.next for page in self.archive.pages.values()}
        starts = [key.removeprefix(prefix) for key in stored if key not in reached]
        return [start for start in starts if _page_of(start) is None and listing.since_of(start) <= since]

    def _get(self, request: str, etag: str | None) -> Answer:
        """Request one page, from the new address if the tracker has moved."""
        for _ in range(_MOST_MOVES):
            answer = self.client.get(self.archive.host.path(self.current) + request, etag)
            if answer.status in (200, 304):
                return answer
            name = find_repository(self.client, self.archive.host, self.current).name
            if name == self.current:
                break
            self.current = name
        raise PageGone(f"it exists, but {request.partition('?')[0]} does not: {answer.status}")

    def check_deleted(self) -> int:
        """Request each issue that is missing in the list of all issues; returns how many are gone."""
        host, archive = self.archive.host, self.archive
        self.crawl(host.census, by_date=False)
        named: set[int] = set()
        request: str | None = host.census.request()
        while request is not None and (page := archive.pages.get(archive.prefix + request)) is not None:
            named |= self._numbers_on(page.record_id)
            request = archive.following(request)
        missing = [n for n in archive.issues if n not in named and n not in archive.gone]
        for number in sorted(missing)[:_MOST_CHECKED]:
            self._check(number)
        return len(archive.gone)

    def _check(self, number: int) -> None:
        """Request an issue that may be gone, and store the answer."""
        host, archive = self.archive.host, self.archive
        request = f"{host.issue_path}{number}"
        answer = self.client.get(host.path(self.current) + request)
        archive.put(archive.prefix + request, replace(answer, next=""))

    def _numbers_on(self, record_id: int) -> set[int]:
        rows = self.archive.corpus.rows(
            "select body from raw_record join text on text.id = text_id where raw_record.id = ?", [record_id]
        )
        items = (item for raw in json.loads(rows[0][0]) for item in self.archive.host.read(raw, ""))
        return {number for number, found in items if isinstance(found, Issue)}


def _items(request: str, answer: Answer) -> list[Any]:
    """The items of a page. Raises HostError if the answer is not a list."""
    if not isinstance(answer.data, list):
        raise HostError(f"the answer to {request} is not a list: check the API's address")
    return answer.data


def _following(listing: Listing, request: str, answer: Answer, items: list[Any], by_date: bool) -> str | None:
    """The request for the next page, or None at the end."""
    if not answer.next or not items:
        return None
    since = listing.since_of(request)
    dates = [_date(item) for item in items]
    # Some servers do not sort the list, or ignore the parameter for the date: use page numbers then.
    if by_date and dates == sorted(dates) and dates[0] >= since:
        start = _date(items[-1], timedelta(seconds=-1))
        repeated = sum(date >= start for date in dates)
        if start > since and repeated <= _MOST_REPEATED:
            return listing.request(start)
    _, number = _page_of(request) or ("page", "1")
    numbered = ("page", str(int(number) + 1) if number.isdecimal() else "1")
    return listing.request(since, _page_of(answer.next) or numbered)


def _date(item: object, offset: timedelta = timedelta()) -> str:
    """The time of an item's update as a request parameter; empty if the item has none."""
    updated = moment(item, "updated_at") if isinstance(item, dict) else None
    try:
        return "" if updated is None else (updated + offset).strftime("%Y-%m-%dT%H:%M:%SZ")
    except OverflowError:
        return ""


def _page_of(request: str) -> tuple[str, str] | None:
    """The page parameter of a request (a number or a cursor); None for the first page."""
    asked = parse_qsl(urlsplit(request).query)
    pages = [one for one in asked if one[0] in PAGES and one != ("page", "1")]
    return pages[0] if pages else None


@dataclass(frozen=True, slots=True)
class Repository:
    """A tracker's current name and address, and the answer that contained them."""

    name: str
    url: str
    answer: Answer


def find_repository(client: Client, host: Host, name: str) -> Repository:
    """Request a tracker's description, following redirections after a rename. Raises TrackerGone."""
    path = host.path(name)
    for _ in range(_MOST_MOVES):
        answer = client.get(path)
        if not answer.location or answer.status in GONE:
            break
        path = answer.location
    if answer.status in GONE:
        why = {404: "deleted, private or misspelt", 410: "deleted", 451: "blocked for legal reasons"}
        raise TrackerGone(f"{host.api.title} has no {name} ({answer.status}: {why[answer.status]})", answer)
    found: Mapping[str, Any] = answer.data if isinstance(answer.data, dict) else {}
    current, url = host.repository(found)
    return Repository(current if host.tracker_name.fullmatch(current) else name, url, answer)
