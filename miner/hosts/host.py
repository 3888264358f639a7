"""The interface of a tracker's host. Each kind of host is a subclass in a file of this folder."""

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
"""A pattern that never matches."""
SHA = r"(?=[0-9a-f]{0,39}[a-f])(?=[0-9a-f]{0,39}\d)[0-9a-f]"
"""Pattern of a digit of a commit hash, with a check that the hash has both letters and digits."""

PAGES = ("page", "cursor", "after")
"""The names of the parameter for pages after the first."""

Item = tuple[int, Issue | Comment]
"""An issue's number, with the issue itself or one of its comments."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A list of a tracker, oldest update first. ``since``: the parameter for the earliest update."""

    path: str
    query: tuple[tuple[str, str], ...]
    what: str = "issues"
    since: str = "since"

    def request(self, since: str = "", page: tuple[str, str] | None = None) -> str:
        """Path and query of one page, below the tracker's path. ``page``: parameter and value."""
        asked = [*self.query, ("per_page", str(_PER_PAGE))]
        if since:
            asked.append((self.since, since))
        if page is not None:
            asked.append(page)
        return f"{self.path}?{urlencode(asked, safe=':')}"

    def since_of(self, request: str) -> str:
        """The earliest update that a request of this list includes; empty for all."""
        return request.partition(f"&{self.since}=")[2].partition("&")[0]


class Host:
    """A kind of host: how trackers are named and requested, and what their raw objects mean.

    A subclass sets the attributes and overrides the methods that differ; its module has an instance as
    ``HOST``.
    """

    # Its name in --host and in the corpus, and its public server.
    name = ""
    site = ""
    api: Api
    client = Client
    tracker_name = re.compile(r"[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}")
    example = "OWNER/NAME"
    # A command that prints the token; the server is appended as its last argument.
    token_command: tuple[str, ...] = ()
    # The lists of a tracker to fetch. Comments are fetched per issue if `comments_of` is overridden.
    lists: tuple[Listing, ...] = ()
    # The list of all existing issues, which serves to find deleted ones.
    census = Listing("/issues", ())
    # The path of an issue, before its number.
    issue_path = "/issues/"
    # The paths of the files that a commit and a pull request changed, and the key of a file's name.
    commit_files = ""
    request_files = ""
    file_key = ""
    # References in texts, with the groups repo, sha, number and kind (or repo2, ...), and `lead` for words
    # before the reference. `kinds` maps a kind to its name in the corpus and the sign before its number.
    reference = NOTHING
    kinds: ClassVar[Mapping[str, tuple[str, str]]] = {}
    # Links to attached files in a text.
    file_link = NOTHING

    def api_of(self, site: str) -> str:
        """The address of a server's API."""
        return self.api.url if site == self.site else self.api.form.replace("HOST", site)

    def connect(self, api_url: str | None = None, token: str | None = None, **settings: Any) -> Client:
        """A client of an API, by default the public one. Raises BadInput."""
        return self.client(self.api, self.api.url if api_url is None else api_url, token, **settings)

    def path(self, name: str) -> str:
        """The API's path of a tracker."""
        raise NotImplementedError

    def repository(self, data: Mapping[str, Any]) -> tuple[str, str]:
        """Name and address of a tracker from the API's description of it; empty if missing."""
        return "", ""

    def tracker_of(self, item: Mapping[str, Any]) -> str | None:
        """The tracker of a raw object, empty if it names none; None if it is neither issue nor comment."""
        return None

    def read(self, item: Mapping[str, Any], tracker: str) -> Iterator[Item]:
        """The issue and comments in a raw object; nothing if it is something else."""
        raise NotImplementedError

    def comments_of(self, issue: Issue) -> Listing | None:
        """The list of an issue's comments, if the API has no list of all comments of a tracker."""
        return None

    def file_address(self, link: str, issue: Issue) -> str:
        """The complete address of an attached file."""
        return link

    def file_sites(self, api_url: str) -> frozenset[str]:
        """The servers that attached files may be fetched from, including redirections."""
        return frozenset()

    def find_token(self, api_url: str) -> str | None:
        """The token from the environment, or the output of ``token_command``; None without either."""
        if given := os.environ.get(self.api.token_variable, "").strip():
            return given
        server = urlsplit(api_url).hostname or ""
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
        """The name of a tracker from its name or the address of its page. Raises BadInput."""
        path = urlsplit(text.strip()).path if "://" in text else text.strip()
        name = re.sub(r"(?:/-)?/issues$", "", path.strip("/")).removesuffix(".git")
        is_file = text.strip().startswith("/")
        if is_file or not self.tracker_name.fullmatch(name) or {".", ".."} & set(name.split("/")):
            raise BadInput(f"{text} is not a tracker of {self.api.title}; write {self.example}")
        return name


def moment(record: Mapping[str, Any], *keys: str) -> datetime | None:
    """The time under the first of some keys that has one, as naive UTC; None if it is not a valid time.

    A time without a zone is UTC.
    """
    text = text_in(record, *keys)
    try:
        found = datetime.fromisoformat(text.removesuffix("Z"))
        return found if found.tzinfo is None else found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def text_in(record: Mapping[str, Any], *keys: str) -> str:
    """The first string under some keys; empty if there is none."""
    for key in keys:
        if isinstance(value := record.get(key), str):
            return value
    return ""


def names_in(labels: object) -> tuple[str, ...]:
    """The names of labels, which are strings or objects with a name."""
    found = labels if isinstance(labels, list) else []
    names = [text_in(label, "name") if isinstance(label, Mapping) else label for label in found]
    return tuple(name for name in names if isinstance(name, str) and name)
