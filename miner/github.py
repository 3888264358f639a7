"""GitHub's REST interface through PyGithub: one request at a time, every answer a value.

Rate limits, faults of the server and of the line are waited out here, and told to whoever listens.
What stays is an :class:`Answer`, or a :class:`GitHubError` that says what to do. The token is given to
PyGithub and to nothing else.
"""

from __future__ import annotations

import email.utils
import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import github
import requests
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, RequestsResponse

from miner.answers import API_URL, GONE, Answer, Clock, OnWaiting, SystemClock, Waiting
from miner.errors import BadInput, Denied, RateLimited, Unreachable

_TIMEOUT = 60
_TRIES = 8
# Longer than any limit of GitHub's, which end within the hour.
_LONGEST_WAIT = 2 * 3600.0
_LONGEST_BACKOFF = 60.0
_SECONDARY_WAIT = 60.0
_TOKEN = re.compile(r"[\x21-\x7e]{1,500}")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MOVED = frozenset({301, 302, 307, 308})
_USABLE = frozenset({200, 304}) | GONE | _MOVED


class _Http(HTTPRequestsConnectionClass):
    """PyGithub's connection, with redirections left to us: PyGithub drops what stands after the ``?``."""

    def getresponse(self) -> RequestsResponse:
        return _checked(super().getresponse())


class _Https(HTTPSRequestsConnectionClass):
    """The same over TLS."""

    def getresponse(self) -> RequestsResponse:
        return _checked(super().getresponse())


class _Moved(Exception):
    def __init__(self, status: int, location: str) -> None:
        super().__init__(location)
        self.status = status
        self.location = location


def _checked(response: RequestsResponse) -> RequestsResponse:
    if response.status in _MOVED:
        raise _Moved(response.status, response.headers.get("location", ""))
    if response.status == 202:  # PyGithub would ask again by itself, for ever
        response.status = 503
    # Where the server does not say so, requests would guess. (Older PyGithub has read the text by now.)
    inner = getattr(response, "response", None)
    if inner is not None:
        inner.encoding = "utf-8"
    return response


@dataclass
class GitHubClient:
    """Asks one API. ``sent`` counts requests, retries included; ``not_modified`` the answers 304."""

    api_url: str = API_URL
    token: str | None = field(default=None, repr=False)
    clock: Clock = field(default_factory=SystemClock)
    on_waiting: OnWaiting = lambda waiting: None
    timeout: int = _TIMEOUT
    tries: int = _TRIES
    sent: int = 0
    not_modified: int = 0

    def __post_init__(self) -> None:
        self.api_url = self.api_url.rstrip("/")
        parts = urlsplit(self.api_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(f"{self.api_url} is no address of an API; write https://HOST/api/v3")
        if parts.username or parts.password:
            raise BadInput("the API's address holds a name or password: put the token into GITHUB_TOKEN")
        if self.token is not None and not _TOKEN.fullmatch(self.token):
            raise BadInput("the token holds characters that none has: look at GITHUB_TOKEN")
        secure = parts.scheme == "https"
        if not secure and parts.hostname not in _LOOPBACK:
            self.token = None
        kind = _Https if secure else _Http
        self._connection = kind(parts.hostname, parts.port, timeout=self.timeout, retry=None)
        auth = github.Auth.Token(self.token) if self.token else None
        client = github.Github(
            auth=auth,
            base_url=self.api_url,
            retry=None,
            timeout=self.timeout,
            user_agent="exhume",
            per_page=100,
            seconds_between_requests=None,
            seconds_between_writes=None,
        )
        self._requester = client.requester
        self._not_before = 0.0

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
        self._requester.close()

    def get(self, path: str, etag: str | None = None) -> Answer:
        """Ask for ``path`` (from ``/`` on, with its query) until there is an answer.

        With ``etag``, the answer may be 304: nothing changed. Raises a :class:`GitHubError`.
        """
        failure = ""
        limited = 0
        tried = 0
        while tried < self.tries:
            self._wait_for_limit()
            try:
                status, headers, body = self._send(path, etag)
            except _Moved as moved:
                return Answer(moved.status, location=self._path_of(moved.location))
            except (requests.RequestException, OSError) as error:
                failure = _plainly(error)
            else:
                self._note_limit(status, headers)
                wait = self._limit(status, headers, body, limited)
                if wait is not None:
                    limited += 1
                    if limited > 20:
                        raise RateLimited("GitHub's rate limit does not end: try again later", wait)
                    self._wait("GitHub's rate limit is reached", wait)
                    continue
                answer = self._answer(path, status, headers, body)
                if isinstance(answer, Answer):
                    return answer
                failure = answer
            tried += 1
            if tried < self.tries:
                self._wait(failure, min(_LONGEST_BACKOFF, 2.0 ** (tried - 1)))
        raise Unreachable(
            f"{self.api_url} gives no answer to {path}: {failure} ({tried} tries);"
            " what came before is stored, run the same command again to go on"
        )

    def _send(self, path: str, etag: str | None) -> tuple[int, dict[str, Any], str]:
        self.sent += 1
        headers = {"Accept": "application/vnd.github+json"}
        if etag:
            headers["If-None-Match"] = etag
        return self._requester.requestJson("GET", path, headers=headers, cnx=self._connection)

    def _answer(self, path: str, status: int, headers: Mapping[str, Any], body: str) -> Answer | str:
        """The answer, or what is wrong with it where asking again may help."""
        if status >= 500:
            return f"the server has an error ({status})"
        if status == 401:
            raise Denied("GitHub does not take the token (401): renew GITHUB_TOKEN, or run 'gh auth login'")
        if status not in _USABLE:
            raise Denied(f"GitHub refuses {path} ({status}): {_message(body)}")
        if status == 304:
            self.not_modified += 1
        data = None
        if status == 200:
            try:
                data = json.loads(body)
            except (ValueError, RecursionError):
                return "the answer is cut short or no JSON"
        return Answer(
            status,
            body,
            headers.get("etag"),
            headers.get("last-modified"),
            next=self._path_of(_next_link(str(headers.get("link", "")))),
            data=data,
        )

    def _note_limit(self, status: int, headers: Mapping[str, Any]) -> None:
        """After the last request that the limit allows, the next waits for its end."""
        if status < 400 and str(headers.get("x-ratelimit-remaining", "")) == "0":
            reset = self._until_reset(headers)
            if reset is not None:
                self._not_before = self.clock.now() + reset

    def _wait_for_limit(self) -> None:
        left = self._not_before - self.clock.now()
        self._not_before = 0.0
        if left > 0:
            self._wait("GitHub's rate limit is used up", left)

    def _limit(self, status: int, headers: Mapping[str, Any], body: str, before: int) -> float | None:
        """How long an answer says to wait; None where it speaks of no limit."""
        if status not in (403, 429, 503):
            return None
        after = _retry_after(headers, self.clock.now())
        if after is not None:
            return after
        if status == 503:
            return None
        if str(headers.get("x-ratelimit-remaining", "")) == "0":
            reset = self._until_reset(headers)
            return reset if reset is not None else _SECONDARY_WAIT
        if status == 429 or "rate limit" in body.lower() or "abuse detection" in body.lower():
            return float(min(_SECONDARY_WAIT * 2**before, 3600))
        return None

    def _until_reset(self, headers: Mapping[str, Any]) -> float | None:
        """Seconds until the limit is lifted, by the server's own clock where it tells."""
        try:
            reset = float(headers.get("x-ratelimit-reset", ""))
        except ValueError:
            return None
        server = _http_date(str(headers.get("date", "")))
        return max(0.0, reset - (self.clock.now() if server is None else server)) + 1.0

    def _wait(self, why: str, seconds: float) -> None:
        if not seconds <= _LONGEST_WAIT:
            raise RateLimited(
                f"{why}; it lasts {seconds / 3600:.1f} hours, which is too long to wait:"
                " what came before is stored, run the same command again then",
                seconds,
            )
        self.on_waiting(Waiting(why, seconds, self.clock.now() + seconds))
        self.clock.sleep(seconds)

    def _path_of(self, address: str) -> str:
        """The path below the API of an address that the server gave; empty where it is another host's."""
        if not address:
            return ""
        base, given = urlsplit(self.api_url), urlsplit(address)
        if given.netloc and given.netloc.lower() != base.netloc.lower():
            return ""
        path = given.path.removeprefix(base.path)
        return path + ("?" + given.query if given.query else "")


_NEXT = re.compile(r'<([^<>]{1,2000})>[^,<]{0,200}?rel="?next"?')


def _next_link(header: str) -> str:
    found = _NEXT.search(header)
    return found[1] if found else ""


def _retry_after(headers: Mapping[str, Any], now: float) -> float | None:
    said = str(headers.get("retry-after", "")).strip()
    if not said:
        return None
    if re.fullmatch(r"\d{1,12}(\.\d{1,9})?", said):
        return float(said)
    date = _http_date(said)
    return None if date is None else max(0.0, date - now)


def _http_date(text: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None


def _message(body: str) -> str:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        return body[:200]
    return str(said.get("message", ""))[:200] if isinstance(said, dict) else body[:200]


def _plainly(error: Exception) -> str:
    """What went wrong on the line, without addresses of objects."""
    if isinstance(error, requests.Timeout):
        return "the server is silent"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the answer is cut short"
    if isinstance(error, requests.exceptions.SSLError):
        return "no trusted connection (TLS)"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return f"no connection ({type(error).__name__})"


def find_token(api_url: str = API_URL, environment: Mapping[str, str] | None = None) -> str | None:
    """The token of ``GITHUB_TOKEN``, or of ``gh auth token``; None without either."""
    given = (os.environ if environment is None else environment).get("GITHUB_TOKEN", "").strip()
    if given:
        return given
    host = urlsplit(api_url).hostname or ""
    if host in _LOOPBACK:
        return None
    host = "github.com" if host == "api.github.com" else host
    command = ["gh", "auth", "token", "--hostname", host]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired, UnicodeError):
        return None
    token = done.stdout.strip()
    return token if done.returncode == 0 and _TOKEN.fullmatch(token) else None
