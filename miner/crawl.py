"""Which pages of a tracker to ask for, and in which order.

Lists are sorted by update, oldest first. A page is followed by one that starts at its last item's
date: what is updated meanwhile moves to the end of the list, and with numbered pages everything after
it would move up by one, past our eyes. Only the last page of a list ever changes; the next run asks
for it again, with its ETag, and goes on from there.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from base.errors import Exit
from miner.answers import GONE, Answer
from miner.archive import Archive, require_list
from miner.errors import GitHubError

if TYPE_CHECKING:
    from miner.github import GitHubClient

_PER_PAGE = 100
# Dates are whole seconds. With more items than this in the last two, the next numbered page is asked for.
_MOST_REPEATED = 10
_MOST_MOVES = 5
_MOST_CHECKED = 200


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of a repository: its path below it, and what is asked of it."""

    path: str
    query: tuple[tuple[str, str], ...]
    follows_dates: bool = True

    def request(self, since: str = "", page: int = 1) -> str:
        """The path and query of one page, below the repository."""
        asked = [*self.query, ("per_page", str(_PER_PAGE))]
        if since:
            asked.append(("since", since))
        if page > 1:
            asked.append(("page", str(page)))
        return f"{self.path}?{urlencode(asked, safe=':')}"


ISSUES = Listing("/issues", (("state", "all"), ("sort", "updated"), ("direction", "asc")))
COMMENTS = Listing("/issues/comments", (("sort", "updated"), ("direction", "asc")))
CENSUS = Listing("/issues", (("state", "all"), ("sort", "created"), ("direction", "asc")), False)
"""All issues that are still there: the list to find deleted ones by."""


class RepositoryGone(GitHubError):
    """The repository is not there (any more), or not for this token; ``answer`` is what GitHub said."""

    exit_code = Exit.USAGE

    def __init__(self, message: str, answer: Answer) -> None:
        super().__init__(message)
        self.answer = answer


@dataclass(slots=True)
class Crawler:
    """Fetches one tracker's pages into its archive. ``on_page`` gets the pages and items so far."""

    client: GitHubClient
    archive: Archive
    # What GitHub calls the repository now.
    current: str
    on_page: Callable[[str, int, int], None] = lambda what, pages, items: None
    pages: int = 0

    def crawl(self, listing: Listing, since: str = "") -> None:
        """Bring a list up to date, from ``since`` on where nothing was fetched before that."""
        request: str | None = self._start(listing, since)
        pages = items = 0
        while request is not None:
            key = self.archive.prefix + request
            known = self.archive.pages.get(key)
            answer = self._get(request, known.etag if known else None)
            if answer.status == 304 and known is not None:
                request = None if known.next is None else known.next.removeprefix(self.archive.prefix)
                continue
            found = require_list(key, answer)
            request = _following(listing, request, answer, found)
            self.archive.put(key, replace(answer, next=request or ""))
            pages += 1
            self.pages += 1
            items += len(found)
            self.on_page("comments" if listing is COMMENTS else "issues", pages, items)

    def _start(self, listing: Listing, since: str) -> str:
        """Where to begin: at the last window of pages that are stored, else at the beginning."""
        first = listing.request(since)
        if not listing.follows_dates:
            return first
        prefix = self.archive.prefix
        roots = self._roots(listing, since)
        request = min(roots, key=_since_of) if roots else first
        window = request
        while (page := self.archive.pages.get(prefix + request)) is not None and page.next is not None:
            request = page.next.removeprefix(prefix)
            if _page_of(request) == 1:
                window = request
        return window

    def _roots(self, listing: Listing, since: str) -> list[str]:
        """Stored pages that begin a list at ``since`` or before."""
        prefix = self.archive.prefix
        head = prefix + listing.request()
        stored = [key for key in self.archive.pages if key.startswith(head) and "~" not in key]
        reached = {page.next for page in self.archive.pages.values()}
        starts = [key.removeprefix(prefix) for key in stored if key not in reached]
        return [
            start
            for start in starts
            if _page_of(start) == 1 and (not _since_of(start) or _since_of(start) <= since)
        ]

    def _get(self, request: str, etag: str | None) -> Answer:
        """One page; where the repository has moved, from its new place."""
        for _ in range(_MOST_MOVES):
            answer = self.client.get(f"/repos/{self.current}{request}", etag)
            if answer.status in (200, 304):
                return answer
            self.current = find_repository(self.client, self.current).name
        raise GitHubError(f"{self.current} is there, but {request.partition('?')[0]} is not: {answer.status}")

    def check_deleted(self) -> int:
        """Ask for each issue that the list of all issues does not name any more; how many are gone."""
        self.crawl(CENSUS)
        named: set[int] = set()
        request: str | None = CENSUS.request()
        while request is not None:
            page = self.archive.pages.get(self.archive.prefix + request)
            if page is None:
                break
            named.update(self._numbers_on(page.record_id))
            request = None if page.next is None else page.next.removeprefix(self.archive.prefix)
        missing = [n for n in self.archive.issues if n not in named and n not in self.archive.gone]
        for number in sorted(missing)[:_MOST_CHECKED]:
            request = f"/issues/{number}"
            answer = self.client.get(f"/repos/{self.current}{request}")
            self.archive.put(self.archive.prefix + request, answer)
        return len(self.archive.gone)

    def _numbers_on(self, record_id: int) -> set[int]:
        rows = self.archive.corpus.rows(
            "select body from raw_record join text on text.id = text_id where raw_record.id = ?", [record_id]
        )
        items = json.loads(rows[0][0]) if rows else []
        return {item["number"] for item in items if isinstance(item, dict) and "number" in item}


def _following(listing: Listing, request: str, answer: Answer, items: list[Any]) -> str | None:
    """The request for what comes after a page, or None at the end."""
    if not answer.next or not items:
        return None
    since, page = _since_of(request), _page_of(request)
    dates = [str(item.get("updated_at", "")) if isinstance(item, dict) else "" for item in items]
    # Not in order, or before the time asked for: a server that has its own idea of the list.
    if listing.follows_dates and dates == sorted(dates) and (not since or dates[0] >= since):
        start = _second_before(dates[-1])
        repeated = sum(date >= start for date in dates)
        if start > since and repeated <= _MOST_REPEATED:
            return listing.request(start)
    return listing.request(since, page + 1)


def _second_before(date: str) -> str:
    try:
        moment = datetime.fromisoformat(date).astimezone(UTC) - timedelta(seconds=1)
    except (ValueError, OverflowError):
        return ""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _since_of(request: str) -> str:
    return request.partition("&since=")[2].partition("&")[0]


def _page_of(request: str) -> int:
    number = request.partition("&page=")[2]
    return int(number) if number.isdecimal() else 1


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository as GitHub names it now, and the answer that says so."""

    name: str
    url: str
    answer: Answer


def find_repository(client: GitHubClient, name: str, etag: str | None = None) -> Repository:
    """Ask for a repository, following it where it was renamed. Raises RepositoryGone."""
    path = f"/repos/{name}"
    for _ in range(_MOST_MOVES):
        answer = client.get(path, etag)
        if answer.location and answer.status not in GONE:
            path, etag = answer.location, None
            continue
        break
    if answer.status in GONE:
        why = {404: "deleted, private or misspelt", 410: "deleted", 451: "blocked for legal reasons"}
        raise RepositoryGone(f"there is no repository {name} ({answer.status}: {why[answer.status]})", answer)
    if answer.status == 304:
        return Repository(name, "", answer)
    found = answer.data if isinstance(answer.data, dict) else {}
    said = found.get("full_name")
    return Repository(
        said if isinstance(said, str) and said.count("/") == 1 else name,
        str(found.get("html_url") or ""),
        answer,
    )
