"""What differs between kinds of trackers: a subclass of :class:`Host` each, in a file of this folder."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit

from corpus.records import Comment, Issue
from miner.errors import BadInput
from miner.hosts.http import LOOPBACK, TOKEN, Api, Client

_PER_PAGE = 100
NOTHING = re.compile(r"(?!)")
"""The pattern that matches nowhere."""
SHA = r"(?=[0-9a-f]{0,39}[a-f])(?=[0-9a-f]{0,39}\d)[0-9a-f]"
"""Pattern of one digit of a commit's hash, where it is no number and no word."""

PAGES = ("page", "cursor", "after")
"""How servers name the parameter that asks for a page after the first."""

Item = tuple[int, Issue | Comment]
"""What a raw object holds: an issue or a comment, after the issue's number."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of a tracker, oldest update first; ``since`` is the parameter that leaves out what is older."""

    path: str
    query: tuple[tuple[str, str], ...]
    what: str = "issues"
    since: str = "since"

    def request(self, since: str = "", page: tuple[str, str] | None = None) -> str:
        """Path and query of one page, below the tracker's path; ``page`` is as the page before it said."""
        asked = [*self.query, ("per_page", str(_PER_PAGE))]
        if since:
            asked.append((self.since, since))
        if page is not None:
            asked.append(page)
        return f"{self.path}?{urlencode(asked, safe=':')}"

    def since_of(self, request: str) -> str:
        """The date that a request of this list starts at; empty where it starts at the beginning."""
        return request.partition(f"&{self.since}=")[2].partition("&")[0]


class Host:
    """A kind of tracker: how trackers are named and asked, and what their raw objects mean.

    A subclass sets the attributes and overrides the methods that differ; its module has one as ``HOST``.
    """

    # What --host and the corpus call it, and its public server.
    name = ""
    site = ""
    api: Api
    client = Client
    tracker_name = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
    example = "OWNER/NAME"
    # A program that prints the token for the server named after it.
    token_command: tuple[str, ...] = ()
    # What is asked of a tracker; then of each issue with comments, where `comments_of` says so.
    lists: tuple[Listing, ...] = ()
    # All issues that are still there, to find deleted ones by.
    census = Listing("/issues", ())
    # The address of one issue is this and its number.
    issue_path = "/issues/"
    # What texts name: the groups repo, sha, number and kind (or repo2, ...) are its parts, `lead` the words
    # before it. `kinds` has what a kind is called, and the sign before its number.
    reference = NOTHING
    kinds: ClassVar[Mapping[str, tuple[str, str]]] = {}
    # The addresses of attached files in a text.
    file_link = NOTHING

    def api_of(self, site: str) -> str:
        """The API of a server."""
        return self.api.url if site == self.site else self.api.form.replace("HOST", site)

    def connect(self, api_url: str | None = None, token: str | None = None, **settings: Any) -> Client:
        """A client of an API, the public one where none is named. Raises BadInput."""
        return self.client(self.api, self.api.url if api_url is None else api_url, token, **settings)

    def path(self, name: str) -> str:
        """Where the API has a tracker."""
        raise NotImplementedError

    def repository(self, data: Mapping[str, Any]) -> tuple[str, str]:
        """Name and page of a tracker, as the API describes it; empty where it does not say."""
        return "", ""

    def tracker_of(self, item: Mapping[str, Any]) -> str | None:
        """The tracker of a raw object, empty where it does not say; None for what is no issue or comment."""
        return None

    def read(self, item: Mapping[str, Any], tracker: str) -> Iterator[Item]:
        """The issue and comments that a raw object holds; nothing for what is neither."""
        raise NotImplementedError

    def comments_of(self, issue: Issue) -> Listing | None:
        """The list of an issue's comments, where the API has no list of all comments of a tracker."""
        return None

    def file_address(self, link: str, issue: Issue) -> str:
        """The whole address of an attached file."""
        return link

    def file_sites(self, api_url: str) -> frozenset[str]:
        """The servers that attached files may come from, redirections included."""
        return frozenset()

    def find_token(
        self, api_url: str | None = None, environment: Mapping[str, str] | None = None
    ) -> str | None:
        """The token of the environment, or what ``token_command`` prints; None without either."""
        environment = os.environ if environment is None else environment
        if given := environment.get(self.api.token_variable, "").strip():
            return given
        server = urlsplit(api_url or self.api.url).hostname or ""
        if server in LOOPBACK or not self.token_command:
            return None
        command = [*self.token_command, self.site if server == urlsplit(self.api.url).hostname else server]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
        except (OSError, subprocess.TimeoutExpired, UnicodeError):
            return None
        token = done.stdout.strip()
        return token if done.returncode == 0 and TOKEN.fullmatch(token) else None

    def parse(self, text: str) -> str:
        """A tracker's name out of what people write: the name, or the address of a page. Raises BadInput."""
        path = urlsplit(text.strip()).path if "://" in text else text.strip()
        name = re.sub(r"(?:/-)?/issues$", "", path.strip("/")).removesuffix(".git")
        if not self.tracker_name.fullmatch(name) or {".", ".."} & set(name.split("/")):
            raise BadInput(f"{text} is not a tracker of {self.api.title}; write {self.example}")
        return name


def moment(record: Mapping[str, Any], *keys: str) -> datetime | None:
    """The time under the first of some keys, as UTC without zone; None where none can be read."""
    text = text_in(record, *keys)
    try:
        found = datetime.fromisoformat(text.removesuffix("Z"))
        if text.endswith("Z") and found.tzinfo is None:
            return found
        return found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def text_in(record: Mapping[str, Any], *keys: str) -> str:
    """The first text under some keys; empty where there is none."""
    for key in keys:
        if isinstance(value := record.get(key), str):
            return value
    return ""


def names_in(labels: object) -> tuple[str, ...]:
    """Names of labels, which are texts or objects with a name."""
    found = labels if isinstance(labels, list) else []
    names = [text_in(label, "name") if isinstance(label, Mapping) else label for label in found]
    return tuple(name for name in names if isinstance(name, str) and name)
