"""GitLab (gitlab.com or other servers), through its REST API v4; and the output of ``glab api``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote, urlsplit

from corpus.records import Comment, Issue
from miner.hosts.host import SHA, Host, Item, Listing, moment, names_in, text_in
from miner.hosts.http import Api

_NAME = r"[A-Za-z0-9_][\w.-]{0,100}(?:/[\w.-]{1,100}){1,5}"


class GitLab(Host):
    """Issues are one list; comments (notes) are a list per issue, fetched again after its updates."""

    name = "gitlab"
    site = "gitlab.com"
    api = Api(
        "GitLab",
        "https://gitlab.com/api/v4",
        "https://HOST/api/v4",
        "GITLAB_TOKEN",
        "renew GITLAB_TOKEN, or run 'glab auth login'",
    )
    tracker_name = re.compile(_NAME, re.ASCII)
    example = "GROUP/PROJECT"
    token_command = ("glab", "config", "get", "token", "--host")
    lists = (Listing("/issues", (("order_by", "updated_at"), ("sort", "asc")), since="updated_after"),)
    census = Listing("/issues", (("order_by", "created_at"), ("sort", "asc")))
    commit_files = "/repository/commits/{}/diff?per_page=100"
    request_files = "/merge_requests/{}/diffs?per_page=100"
    file_key = "new_path"
    reference = re.compile(
        rf"""
        https://(?!github\.com/)[\w.-]{{1,100}}/(?P<repo>{_NAME})/-/
            (?:(?P<kind>issues|work_items|merge_requests)/(?P<number>\d{{1,9}})
            |commit/(?P<sha>[0-9a-f]{{7,40}}))(?![\w-])
        | (?<![\w./-])(?P<repo2>{_NAME})
            (?:(?P<kind2>[\#!])(?P<number2>\d{{1,9}})|@(?P<sha2>[0-9a-f]{{7,40}}))\b
        | (?<![\w&\#!/=-])(?P<kind3>[\#!])(?P<number3>\d{{1,9}})\b
        | (?<![\w./\#@-])(?P<sha3>{SHA}{{40}})\b
        | (?P<lead>\b(?:commit|revision|rev|in|by|with|at)\s+`?)(?P<sha4>{SHA}{{7,39}})\b
        """,
        re.VERBOSE,
    )
    kinds: ClassVar[Mapping[str, tuple[str, str]]] = {
        "#": ("issue", "#"),
        "issues": ("issue", "#"),
        "work_items": ("issue", "#"),
        "!": ("pull-request", "!"),
        "merge_requests": ("pull-request", "!"),
    }
    file_link = re.compile(
        r"(?:https://[\w.-]{1,100}(?:/[\w.-]{1,100}){1,7})?/uploads/[0-9a-f]{32}/[\w.%+~-]{1,200}"
    )

    def path(self, name: str) -> str:
        return f"/projects/{quote(name, safe='')}"

    def repository(self, data: Mapping[str, Any]) -> tuple[str, str]:
        return text_in(data, "path_with_namespace"), text_in(data, "web_url")

    def tracker_of(self, item: Mapping[str, Any]) -> str | None:
        if item.get("noteable_type") == "Issue":
            return ""
        if not {"iid", "title", "description"} <= item.keys() or _is_merge_request(item):
            return None
        references = item.get("references")
        full = text_in(references, "full") if isinstance(references, Mapping) else ""
        address = urlsplit(text_in(item, "web_url")).path.partition("/-/")[0].strip("/")
        return re.split("[#!]", full)[0] or address

    def read(self, item: Mapping[str, Any], tracker: str) -> Iterator[Item]:
        if item.get("noteable_type") == "Issue":
            number, ident = item.get("noteable_iid"), item.get("id")
            # Of GitLab's automatic notes, only those about closing the issue are useful.
            is_worth = not item.get("system") or text_in(item, "body").startswith("closed via")
            if type(number) is int and type(ident) is int and is_worth:
                times = moment(item, "created_at"), moment(item, "updated_at")
                yield number, Comment(ident, text_in(item, "body"), "", *times)
            return
        number, count = item.get("iid"), item.get("user_notes_count")
        if type(number) is not int or _is_merge_request(item):
            return
        page, state = text_in(item, "web_url"), text_in(item, "state")
        yield (
            number,
            Issue(
                tracker,
                number,
                text_in(item, "title"),
                text_in(item, "description"),
                url=page,
                labels=names_in(item.get("labels")),
                state="open" if state == "opened" else state,
                state_reason="transferred" if item.get("moved_to_id") else "",
                created_at=moment(item, "created_at"),
                updated_at=moment(item, "updated_at"),
                closed_at=moment(item, "closed_at"),
                comment_count=count if type(count) is int else 0,
            ),
        )

    def comments_of(self, issue: Issue) -> Listing | None:
        return Listing(f"/issues/{issue.number}/notes", (("order_by", "created_at"), ("sort", "asc")))

    def file_address(self, link: str, issue: Issue) -> str:
        """Texts refer to uploads by their path below the project."""
        if link.startswith("https://"):
            return link
        project = issue.url.partition("/-/")[0]
        return project + link if project.startswith("https://") else ""

    def file_sites(self, api_url: str) -> frozenset[str]:
        return frozenset({urlsplit(api_url).hostname or ""})


def _is_merge_request(item: Mapping[str, Any]) -> bool:
    """Merge requests have numbers of their own: an issue can have the same number."""
    return "source_branch" in item


HOST = GitLab()
