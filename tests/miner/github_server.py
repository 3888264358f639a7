"""A GitHub of our own on loopback: lists with pages by Link header, ETags, limits, faults on demand."""

from __future__ import annotations

import contextlib
import email.utils
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

START = datetime(2015, 1, 1, tzinfo=UTC)
BUGS = ("soundness bug", "segfault", "invalid model", "assertion violation", "feature request", "question")


def stamp(moment: datetime) -> str:
    """A date as the API writes it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class Fault:
    """What a request gets instead of its answer. ``kind`` is a status, or cut, junk, close, silent."""

    kind: int | str
    headers: dict[str, str] = field(default_factory=dict)
    body: str = '{"message": "synthetic"}'


class FakeTracker:
    """Issues and comments of a repository; made when requested."""

    def __init__(
        self, name: str = "ada/solver", issues: int = 60, comments: int = 120, size: int = 1, number: int = 77
    ) -> None:
        self.name = name
        # What the repository says that it is called; the addresses of its issues stay.
        self.called = name
        self.id = number
        self.size = size
        self.edits: dict[str, dict[str, Any]] = {}
        self.deleted: set[int] = set()
        self.transferred: set[int] = set()
        self._issues: list[tuple[str, int]] = []
        self._comments: list[tuple[str, int, int]] = []
        self.sorted: dict[str, list[Any]] = {}
        per_issue = comments / max(1, issues)
        made = 0.0
        for number in range(1, issues + 1):
            created = START + timedelta(hours=9 * number, seconds=number % 50)
            made += per_issue
            last = created
            while len(self._comments) < int(made):
                last += timedelta(hours=5, seconds=len(self._comments) % 7)
                self._comments.append((stamp(last), 1000 + len(self._comments), number))
            self._issues.append((stamp(last), number))

    def issue(self, number: int) -> dict[str, Any]:
        """An issue as the API shows it."""
        created = stamp(START + timedelta(hours=9 * number, seconds=number % 50))
        updated = self._issues[number - 1][0]
        closed = number % 9 != 0
        record: dict[str, Any] = {
            "url": f"https://api.github.com/repos/{self.name}/issues/{number}",
            "repository_url": f"https://api.github.com/repos/{self.name}",
            "html_url": f"https://github.com/{self.name}/issues/{number}",
            "id": 900_000 + number,
            "number": number,
            "title": f"{BUGS[number % len(BUGS)]} with option {number % 13}",
            "user": {"login": f"user{number % 40}", "id": number % 40, "type": "User"},
            "labels": [{"id": 1, "name": "bug", "color": "ee0701"}] if number % 3 == 0 else [],
            "state": "closed" if closed else "open",
            "state_reason": "completed" if closed else None,
            "locked": False,
            "comments": 0,
            "created_at": created,
            "updated_at": updated,
            "closed_at": updated if closed else None,
            "author_association": "CONTRIBUTOR" if number % 2 else "NONE",
            "body": self._body(number),
            "reactions": {"total_count": 0},
        }
        if number % 11 == 0:
            record["pull_request"] = {"url": f"https://api.github.com/repos/{self.name}/pulls/{number}"}
        record.update(self.edits.get(f"issue:{number}", {}))
        return record

    def _body(self, number: int) -> str:
        sort = ("Int", "Real", "(_ BitVec 8)")[number % 3]
        value = ("0", "1.5", "#x0f")[number % 3]
        lines = [f"(declare-const a{k} {sort})\n(assert (distinct a{k} {value}))" for k in range(self.size)]
        script = "\n".join(lines)
        return (
            f"Hi,\nz3 says sat for the following, which is wrong. See #{max(1, number - 1)}.\n\n"
            f"```\n$ z3 model_validate=true small.smt2\nsat\n$ cat small.smt2\n(set-logic ALL)\n{script}\n"
            f"(assert (= a0 a{self.size - 1}))\n(check-sat)\n$\n```\n\nCommit: 4{number:07x}\n"
        )

    def comment(self, place: int) -> dict[str, Any]:
        """A comment as the API shows it."""
        updated, ident, number = self._comments[place]
        body = (
            f"Fixed in 0{ident:06x}a. Thanks, user{number % 40}!"
            if ident % 4 == 0
            else f"I see it too ({ident})."
        )
        if ident % 5 == 0:
            body = f"Smaller:\n```smt2\n(declare-const b Int)\n(assert (> b {ident}))\n(check-sat)\n```\n"
        record: dict[str, Any] = {
            "url": f"https://api.github.com/repos/{self.name}/issues/comments/{ident}",
            "html_url": f"https://github.com/{self.name}/issues/{number}#issuecomment-{ident}",
            "issue_url": f"https://api.github.com/repos/{self.name}/issues/{number}",
            "id": ident,
            "user": {"login": f"user{ident % 40}", "id": ident % 40, "type": "User"},
            "created_at": updated,
            "updated_at": updated,
            "author_association": "MEMBER",
            "body": body,
        }
        record.update(self.edits.get(f"comment:{ident}", {}))
        return record

    def add_issue(self, moment: str, **fields: Any) -> int:
        """A new issue; its number."""
        number = len(self._issues) + 1
        self._issues.append((moment, number))
        self.edit_issue(number, moment, created_at=moment, **fields)
        return number

    def edit_issue(self, number: int, moment: str, **fields: Any) -> None:
        """Change an issue, and its date."""
        self._issues[number - 1] = (moment, number)
        self.edits.setdefault(f"issue:{number}", {}).update(fields, updated_at=moment)
        self.sorted.clear()

    def add_comment(self, number: int, moment: str, body: str) -> int:
        """A new comment, which updates its issue; its id."""
        ident = 1000 + len(self._comments)
        self._comments.append((moment, ident, number))
        self.edits[f"comment:{ident}"] = {"body": body}
        self.edit_issue(number, moment)
        return ident

    def edit_comment(self, ident: int, moment: str, body: str) -> None:
        """Change a comment, and its date."""
        place = ident - 1000
        created = self.comment(place)["created_at"]
        self._comments[place] = (moment, ident, self._comments[place][2])
        self.edits.setdefault(f"comment:{ident}", {}).update(body=body, updated_at=moment, created_at=created)
        self.sorted.clear()

    def delete(self, number: int) -> None:
        """Delete an issue with its comments."""
        self.deleted.add(number)
        self.sorted.clear()

    def page(self, what: str, query: dict[str, str], size: int) -> tuple[list[dict[str, Any]], bool]:
        """One page of a list, and whether there are more."""
        by = "created" if query.get("sort", "created") == "created" else "updated"
        key = f"{what}:{by}"
        if key not in self.sorted:
            self.sorted[key] = self._listed(what, by)
        items = self.sorted[key]
        since = query.get("since", "")
        if since:
            items = [item for item in items if item[0] >= since]
        if query.get("direction", "desc") == "desc":
            items = items[::-1]
        start = (int(query.get("page", "1")) - 1) * size
        make = self.issue if what == "issues" else self.comment
        chosen = [make(item[1]) for item in items[start : start + size]]
        return chosen, len(items) > start + size

    def _listed(self, what: str, by: str) -> list[tuple[str, int]]:
        if what == "issues":
            alive = [(u, n) for u, n in self._issues if n not in self.deleted | self.transferred]
            return sorted(alive, key=lambda item: (item[0] if by == "updated" else "", item[1]))
        comments = [(u, place) for place, (u, _, n) in enumerate(self._comments) if n not in self.deleted]
        return sorted(comments)


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients are killed here: a broken line is no news."""


class FakeGitHub:
    """The server. ``faults`` are used up one a request; ``on_request`` gets each one's number."""

    def __init__(self, *trackers: FakeTracker) -> None:
        self.trackers = {tracker.name.lower(): tracker for tracker in trackers}
        self.renamed: dict[str, str] = {}
        self.gone: dict[str, int] = {}
        self.files: dict[str, bytes | tuple[int, dict[str, str]]] = {}
        self.faults: list[Fault | None] = []
        self.log: list[str] = []
        self.statuses: list[int] = []
        self.headers: list[dict[str, str]] = []
        self.most_per_page = 100
        self.limit: int | None = None
        self.reset_after = 30
        self.on_request: Callable[[int], None] = lambda number: None
        self._lock = threading.Lock()
        handler = type("Handler", (self.handler(),), {"hub": self})
        self.http = _Quiet(("127.0.0.1", 0), handler)

    def handler(self) -> type[BaseHTTPRequestHandler]:
        """What answers requests."""
        return Handler

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}"

    def next_fault(self, path: str, headers: dict[str, str]) -> Fault | None:
        with self._lock:
            self.log.append(path)
            self.headers.append(headers)
            number = len(self.log)
            fault = self.faults.pop(0) if self.faults else None
        self.on_request(number)
        return fault


@contextlib.contextmanager
def serving(*trackers: FakeTracker, kind: type[FakeGitHub] = FakeGitHub) -> Iterator[FakeGitHub]:
    """A running server."""
    hub = kind(*trackers)
    thread = threading.Thread(target=hub.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        hub.http.shutdown()
        hub.http.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    """Finds the answer to a request, or lets it fail."""

    hub: FakeGitHub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_GET(self) -> None:
        with contextlib.suppress(ConnectionError):
            self._answer()

    def _answer(self) -> None:
        fault = self.hub.next_fault(self.path, {k.lower(): v for k, v in self.headers.items()})
        if fault is not None and isinstance(fault.kind, int):
            self._send(fault.kind, fault.body.encode(), fault.headers)
            return
        status, body, headers = self._find()
        if fault is None:
            self._send(status, body, headers)
        elif fault.kind == "junk":
            self._send(200, body[: len(body) // 2], headers)
        elif fault.kind == "cut":
            self._send(status, body[: len(body) // 2], headers, length=len(body))
            self.close_connection = True
        elif fault.kind == "close":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif fault.kind == "silent":
            time.sleep(1.5)
            self.close_connection = True

    def _find(self) -> tuple[int, bytes, dict[str, str]]:
        parts = urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(parts.query).items()}
        if parts.path in self.hub.files:
            file = self.hub.files[parts.path]
            return (200, file, {}) if isinstance(file, bytes) else (file[0], b"", file[1])
        words = parts.path.strip("/").split("/")
        hub = self.hub
        if words[0] == "repositories":
            tracker = next((t for t in hub.trackers.values() if str(t.id) == words[1]), None)
            rest = words[2:]
        else:
            name = "/".join(words[1:3]).lower()
            if name in hub.gone:
                return hub.gone[name], b'{"message": "gone"}', {}
            if name in hub.renamed:
                target = hub.trackers[hub.renamed[name].lower()]
                place = "/".join([f"{hub.url}/repositories/{target.id}", *words[3:]])
                return 301, b'{"message": "Moved Permanently"}', {"Location": _with(place, parts.query)}
            tracker = hub.trackers.get(name) if words[0] == "repos" else None
            rest = words[3:]
        if tracker is None:
            return 404, b'{"message": "Not Found"}', {}
        return self._of_tracker(tracker, rest, query)

    def _of_tracker(
        self, tracker: FakeTracker, rest: list[str], query: dict[str, str]
    ) -> tuple[int, bytes, dict[str, str]]:
        if not rest:
            about = {
                "id": tracker.id,
                "full_name": tracker.called,
                "html_url": f"https://github.com/{tracker.called}",
            }
            return 200, json.dumps(about).encode(), {}
        if len(rest) == 2 and rest[1].isdigit():
            number = int(rest[1])
            if number in tracker.deleted:
                return 410, b'{"message": "This issue was deleted"}', {}
            if number in tracker.transferred:
                return 301, b"{}", {"Location": f"{self.hub.url}/repositories/5/issues/1"}
            return 200, json.dumps(tracker.issue(number)).encode(), {}
        size = min(int(query.get("per_page", "30")), self.hub.most_per_page)
        items, more = tracker.page("issues" if rest == ["issues"] else "comments", query, size)
        headers = {}
        if more:
            asked = query | {"page": str(int(query.get("page", "1")) + 1)}
            place = f"{self.hub.url}/repositories/{tracker.id}/{'/'.join(rest)}?{urlencode(asked)}"
            headers["Link"] = f'<{place}>; rel="next", <{place}9>; rel="last"'
        return 200, json.dumps(items).encode(), headers

    def _send(self, status: int, body: bytes, headers: dict[str, str], length: int | None = None) -> None:
        hub = self.hub
        headers = dict(headers)
        if hub.limit is not None and status < 400:
            with hub._lock:
                hub.limit -= 1
                left = hub.limit
            if left < 0:
                status, body = 403, b'{"message": "API rate limit exceeded for 127.0.0.1."}'
            headers |= {
                "X-RateLimit-Limit": "60",
                "X-RateLimit-Remaining": str(max(0, left)),
                "X-RateLimit-Reset": str(int(time.time()) + hub.reset_after),
            }
        etag = f'W/"{sha256(body).hexdigest()}"'
        if status == 200 and self.headers.get("If-None-Match") == etag:
            status, body = 304, b""
        hub.statuses.append(status)
        self.send_response_only(status)
        self.send_header("Date", email.utils.formatdate(usegmt=True))
        self.send_header("Content-Type", "application/json; charset=utf-8")
        if status in (200, 304):
            self.send_header("ETag", etag)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


def _with(place: str, query: str) -> str:
    return f"{place}?{query}" if query else place
