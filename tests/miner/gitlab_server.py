"""A GitLab of our own on loopback: a project's issues by page, the notes of each issue, faults on demand."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from tests.miner.github_server import FakeGitHub, FakeTracker, Handler


class FakeProject(FakeTracker):
    """The same issues and comments as a repository's, in GitLab's shape."""

    def __init__(self, name: str = "ada/tools/solver", **settings: Any) -> None:
        super().__init__(name, **settings)
        self.system_notes: dict[int, str] = {}

    def issue(self, number: int) -> dict[str, Any]:
        there = super().issue(number)
        return {
            "id": there["id"],
            "iid": number,
            "project_id": self.id,
            "title": there["title"],
            "description": there["body"],
            "state": "opened" if there["state"] == "open" else "closed",
            **{key: _milliseconds(there[key]) for key in ("created_at", "updated_at", "closed_at")},
            "labels": [label["name"] for label in there["labels"]],
            "author": {"username": there["user"]["login"]},
            "user_notes_count": sum(n == number for _, _, n in self._comments),
            "web_url": f"https://gitlab.com/{self.name}/-/issues/{number}",
            "references": {"short": f"#{number}", "full": f"{self.name}#{number}"},
        }

    def notes(self, number: int) -> list[dict[str, Any]]:
        """All notes of an issue, oldest first."""
        found = [self.comment(place) for place, (_, _, n) in enumerate(self._comments) if n == number]
        made = [
            {
                "id": there["id"],
                "body": there["body"],
                "author": {"username": there["user"]["login"]},
                "created_at": _milliseconds(there["created_at"]),
                "updated_at": _milliseconds(there["updated_at"]),
                "system": False,
                "noteable_type": "Issue",
                "noteable_iid": number,
                "project_id": self.id,
            }
            for there in found
        ]
        if number in self.system_notes:
            for ident, body in enumerate(("changed the description", self.system_notes[number]), 1):
                made.append({**made[0], "id": 500_000 + 10 * number + ident, "body": body, "system": True})
        return sorted(made, key=lambda note: (note["created_at"], note["id"]))


class FakeGitLab(FakeGitHub):
    """The server; ``page_mark`` is the parameter by which it names the page after one."""

    page_mark = "page"

    def handler(self) -> type[Handler]:
        return _Handler

    @property
    def url(self) -> str:
        return super().url + "/api/v4"


class _Handler(Handler):
    def _find(self) -> tuple[int, bytes, dict[str, str]]:
        parts = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        hub = self.hub
        if parts.path in hub.files:
            file = hub.files[parts.path]
            return (200, file, {}) if isinstance(file, bytes) else (file[0], b"", file[1])
        words = parts.path.removeprefix("/api/v4").strip("/").split("/")
        name = unquote(words[1]).lower() if len(words) > 1 and words[0] == "projects" else ""
        if name in hub.renamed:
            place = "/".join([f"{hub.url}/projects/{hub.trackers[hub.renamed[name]].id}", *words[2:]])
            return 302, b"", {"Location": f"{place}?{parts.query}"}
        project = next((p for p in hub.trackers.values() if name in (p.name.lower(), str(p.id))), None)
        if project is None or name in hub.gone:
            return hub.gone.get(name, 404), b'{"message": "404 Project Not Found"}', {}
        assert isinstance(project, FakeProject)
        return self._of_project(project, words[2:], query)

    def _of_project(
        self, project: FakeProject, rest: list[str], query: dict[str, str]
    ) -> tuple[int, bytes, dict[str, str]]:
        hub = self.hub
        assert isinstance(hub, FakeGitLab)
        if not rest:
            about = {"path_with_namespace": project.called, "web_url": f"https://gitlab.com/{project.called}"}
            return 200, json.dumps(about).encode(), {}
        number = int(rest[1]) if len(rest) > 1 else 0
        if number in project.deleted:
            return 404, b'{"message": "404 Not found"}', {}
        if len(rest) == 2:
            return 200, json.dumps(project.issue(number)).encode(), {}
        size = min(int(query.get("per_page", "20")), hub.most_per_page)
        asked = {"page": query.get(hub.page_mark, "1").removeprefix("mark-")}
        if number:
            start = (int(asked["page"]) - 1) * size
            notes = project.notes(number)
            items, more = notes[start : start + size], len(notes) > start + size
        else:
            asked |= {"sort": query["order_by"].removesuffix("_at"), "direction": query["sort"]}
            asked |= {"since": query["updated_after"]} if "updated_after" in query else {}
            items, more = project.page("issues", asked, size)
        headers = {}
        if more:
            mark = "mark-" if hub.page_mark != "page" else ""
            following = query | {hub.page_mark: mark + str(int(asked["page"]) + 1)}
            place = f"{hub.url}/projects/{project.id}/{'/'.join(rest)}?{urlencode(following)}"
            headers["Link"] = f'<{place}>; rel="next", <{place}>; rel="first"'
        return 200, json.dumps(items).encode(), headers


def _milliseconds(date: str | None) -> str | None:
    return None if date is None else date.replace("Z", ".000Z")


def encoded(name: str) -> str:
    """A project's path as the API's addresses have it."""
    return quote(name, safe="")
