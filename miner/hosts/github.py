"""GitHub and GitHub Enterprise, through PyGithub; and the output of ``gh``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from corpus.records import Comment, Issue
from miner.hosts.host import SHA, Host, Item, Listing, moment, names_in, text_in
from miner.hosts.http import Api, Client, check_response
from solvers.registry import TRACKER

_NAME = r"[A-Za-z0-9][\w.-]{0,60}/[\w.-]{1,100}"


class _Client(Client):
    """Sends requests through PyGithub, but does not let it follow redirections, as it drops the query."""

    def _connect(self) -> None:
        # Importing it takes 0.25 s.
        import github
        from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass

        parts = urlsplit(self.api_url)
        kind = HTTPSRequestsConnectionClass if parts.scheme == "https" else HTTPRequestsConnectionClass
        self._connection: Any = kind(parts.hostname or "", parts.port, timeout=self.timeout, retry=None)
        self._session = self._connection.session
        self._session.hooks["response"].append(check_response)
        self._requester = github.Github(
            auth=github.Auth.Token(self.token) if self.token else None,
            base_url=self.api_url,
            retry=None,
            timeout=self.timeout,
            user_agent="exhume",
            seconds_between_requests=None,
            seconds_between_writes=None,
        ).requester

    def close(self) -> None:
        super().close()
        self._requester.close()

    def _send(self, path: str, etag: str | None) -> tuple[int, Mapping[str, Any], str]:
        headers = {"Accept": "application/vnd.github+json"} | ({"If-None-Match": etag} if etag else {})
        return self._requester.requestJson("GET", path, headers=headers, cnx=self._connection)


class GitHub(Host):
    """Issues and comments are two lists per repository."""

    name = "github"
    site = "github.com"
    api = Api(
        "GitHub",
        "https://api.github.com",
        "https://HOST/api/v3",
        "GITHUB_TOKEN",
        "renew GITHUB_TOKEN, or run 'gh auth login'",
    )
    client = _Client
    example = f"OWNER/NAME, such as {TRACKER}"
    token_command = ("gh", "auth", "token", "--hostname")
    lists = (
        Listing("/issues", (("state", "all"), ("sort", "updated"), ("direction", "asc"))),
        Listing("/issues/comments", (("sort", "updated"), ("direction", "asc")), "comments"),
    )
    census = Listing("/issues", (("state", "all"), ("sort", "created"), ("direction", "asc")))
    commit_files = "/commits/{}"
    request_files = "/pulls/{}/files?per_page=100"
    file_key = "filename"
    reference = re.compile(
        rf"""
        https://github\.com/(?P<repo>{_NAME})/
            (?:(?P<kind>issues|pull)/(?P<number>\d{{1,9}})|commit/(?P<sha>[0-9a-f]{{7,40}}))(?![\w-])
        | (?<![\w./-])(?P<repo2>{_NAME})(?:(?P<kind2>\#)(?P<number2>\d{{1,9}})|@(?P<sha2>[0-9a-f]{{7,40}}))\b
        | (?<![\w&#/=-])(?P<kind3>\#)(?P<number3>\d{{1,9}})\b
        | (?<![\w./#@-])(?P<sha3>{SHA}{{40}})\b
        | (?P<lead>\b(?:commit|revision|rev|in|by|with|at)\s+`?)(?P<sha4>{SHA}{{7,39}})\b
        """,
        re.VERBOSE,
    )
    kinds: ClassVar = {"issues": ("issue", "#"), "pull": ("pull-request", "#"), "#": ("number", "#")}
    file_link = re.compile(
        r"https://(?:github\.com/(?:[\w.-]+/[\w.-]+/files/\d+|user-attachments/files/\d+)"
        r"|user-images\.githubusercontent\.com/\d+)/[\w.%+~-]{1,200}"
        r"|https://gist\.github(?:usercontent)?\.com/[\w-]{1,60}/[0-9a-f]{20,40}(?:/raw/[\w./%+~-]{1,200})?(?![\w/])"
    )

    def path(self, name: str) -> str:
        return f"/repos/{name}"

    def repository(self, data: Mapping[str, Any]) -> tuple[str, str]:
        return text_in(data, "full_name"), text_in(data, "html_url")

    def file_address(self, link: str, issue: Issue) -> str:
        """The page of a gist has the text of its first file below ``/raw``."""
        if "/gist.github" not in link:
            return link
        link = link.replace("//gist.github.com/", "//gist.githubusercontent.com/")
        return link if "/raw/" in link else f"{link}/raw"

    def file_sites(self, api_url: str) -> frozenset[str]:
        """GitHub's servers, and the two object stores that it redirects attachments to."""
        return frozenset(
            {
                "github.com",
                "gist.githubusercontent.com",
                "user-images.githubusercontent.com",
                "raw.githubusercontent.com",
                "objects.githubusercontent.com",
                "release-assets.githubusercontent.com",
                "github-production-user-asset-6210df.s3.amazonaws.com",
                "github-production-repository-file-5c1aeb.s3.amazonaws.com",
            }
        )

    def tracker_of(self, item: Mapping[str, Any]) -> str | None:
        is_issue = "number" in item and "title" in item and "body" in item
        if not is_issue and not ("issue_url" in item and "body" in item):
            return None
        api = text_in(item, "repository_url") or text_in(item, "issue_url").partition("/issues/")[0]
        if api:
            return "/".join(api.rstrip("/").split("/")[-2:])
        parts = text_in(item, "html_url", "url").split("/")
        return "/".join(parts[3:5]) if len(parts) > 5 else ""

    def read(self, item: Mapping[str, Any], tracker: str) -> Iterator[Item]:
        """Read objects of the REST API (with an issue's comments in ``comments_list``, if present), and of
        ``gh issue list --json``.
        """
        number = item.get("number")
        if type(number) is not int:
            tail = text_in(item, "issue_url").rpartition("/")[2]
            if tail.isascii() and tail.isdigit() and (comment := _comment(item)):
                yield int(tail), comment
            return
        page = text_in(item, "html_url", "url")
        issue = Issue(
            tracker,
            number,
            text_in(item, "title"),
            text_in(item, "body"),
            url=page,
            author_association=text_in(item, "author_association", "authorAssociation"),
            labels=names_in(item.get("labels")),
            state=text_in(item, "state").lower(),
            state_reason=text_in(item, "state_reason", "stateReason").lower(),
            created_at=moment(item, "created_at", "createdAt"),
            updated_at=moment(item, "updated_at", "updatedAt"),
            closed_at=moment(item, "closed_at", "closedAt"),
            is_pull_request=item.get("pull_request") is not None or "/pull/" in page,
        )
        yield number, issue
        for listed in (item.get("comments_list"), item.get("comments")):
            for one in listed if isinstance(listed, list) else ():
                if isinstance(one, Mapping) and (comment := _comment(one)):
                    yield number, comment


def _comment(item: Mapping[str, Any]) -> Comment | None:
    """A comment. In the output of ``gh``, its id in the REST API is only in the address."""
    ident = item.get("id")
    if isinstance(ident, str):
        tail = text_in(item, "url").rpartition("#issuecomment-")[2]
        ident = int(tail) if tail.isascii() and tail.isdigit() else None
    if type(ident) is not int:
        return None
    return Comment(
        ident,
        text_in(item, "body"),
        text_in(item, "author_association", "authorAssociation"),
        moment(item, "created_at", "createdAt"),
        moment(item, "updated_at", "updatedAt"),
    )


HOST = GitHub()
