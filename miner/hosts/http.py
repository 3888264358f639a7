"""A client for REST APIs, one request at a time.

It waits for rate limits and retries after faults of the server or the network, and reports each wait to a
callback. A request returns an :class:`Answer` or raises a :class:`HostError` that says what to do. The token
is sent to the API only.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from base.text import counted
from miner.errors import BadInput, Denied, RateLimited, Unreachable

if TYPE_CHECKING:
    import requests

# Seconds. The limits of GitHub and GitLab end within an hour.
_LONGEST_WAIT = 2 * 3600.0
_LONGEST_BACKOFF = 60.0
_SECONDARY_WAIT = 60.0
_MOST_LIMITS = 20
LARGEST_ANSWER = 64 << 20
_CHUNK = 1 << 16
TOKEN = re.compile(r"[\x21-\x7e]{1,500}")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
GONE = frozenset({404, 410, 451})
"""Statuses of what does not exist (any more)."""
_NOT_FOUND = "the host's name cannot be resolved"
MOVED = frozenset({301, 302, 307, 308})


class Clock:
    """The system clock (seconds since the epoch), and waiting. Tests replace it."""

    now = staticmethod(time.time)
    sleep = staticmethod(time.sleep)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The client waits: why, for how many seconds, and until when (seconds since the epoch)."""

    why: str
    seconds: float
    until: float


OnWaiting = Callable[[Waiting], None]


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a request. ``status``: 200, 304, a redirection or one of ``GONE``. ``data``: the JSON."""

    status: int
    body: str = ""
    etag: str | None = None
    last_modified: str | None = None
    location: str = ""
    # The path of the next page, if any.
    next: str = ""
    data: Any = None


class Moved(Exception):
    """A redirection. It is never followed automatically."""

    def __init__(self, status: int, location: str) -> None:
        super().__init__(location)
        self.status = status
        self.location = location


def check_response(response: requests.Response, *_: object, **__: object) -> None:
    """A hook of requests: raise redirections, treat 202 as a fault, and do not guess the encoding."""
    if response.status_code in MOVED:
        raise Moved(response.status_code, response.headers.get("location", ""))
    if response.status_code == 202:  # not ready: ask again later
        response.status_code = 503
    response.encoding = "utf-8"


@dataclass(frozen=True, slots=True)
class Api:
    """What a client must know about a host. ``form``: the address of the API of a server called HOST."""

    title: str
    url: str
    form: str
    token_variable: str = ""
    token_advice: str = "check the token"


@dataclass
class Client:
    """Sends requests to one API. ``sent`` counts requests including retries, ``not_modified`` answers 304."""

    api: Api
    api_url: str
    token: str | None = field(default=None, repr=False)
    clock: Clock = field(default_factory=Clock)
    on_waiting: OnWaiting = lambda waiting: None
    timeout: int = 60
    tries: int = 8
    sent: int = 0
    not_modified: int = 0

    def __post_init__(self) -> None:
        self.api_url = self.api_url.rstrip("/")
        variable = self.api.token_variable
        parts = urlsplit(self.api_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise BadInput(f"{self.api_url} is not the address of an API; write {self.api.form}")
        if parts.username or parts.password:
            raise BadInput(f"the API's address contains a name or password: put the token into {variable}")
        if self.token is not None and not TOKEN.fullmatch(self.token):
            raise BadInput(f"the token contains invalid characters: check {variable}")
        if parts.scheme == "http" and parts.hostname not in LOOPBACK:
            self.token = None
        self._not_before = 0.0
        self._has_answered = False
        # After as many failed tries as are allowed, each further request is tried once until one succeeds.
        self._is_down = False
        self._connect()

    def _connect(self) -> None:
        import requests

        self._session = requests.Session()
        self._session.headers.update({"User-Agent": "exhume", "Accept": "application/json"})
        if self.token:
            self._session.headers["Authorization"] = f"Bearer {self.token}"
        # With this, requests does not search ~/.netrc for passwords.
        self._session.auth = lambda request: request
        self._session.hooks["response"].append(check_response)

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def _send(self, path: str, etag: str | None) -> tuple[int, Mapping[str, Any], str]:
        """Send one request; returns status, headers by lower-case name, body."""
        headers = {"If-None-Match": etag} if etag else {}
        url = self.api_url + path
        with self._session.get(
            url, headers=headers, timeout=self.timeout, allow_redirects=False, stream=True
        ) as response:
            body = bytearray()
            for part in response.iter_content(_CHUNK):
                body += part
                if len(body) > LARGEST_ANSWER:
                    raise Denied(
                        f"the answer of {url} exceeds {LARGEST_ANSWER >> 20} MiB: check the API's address"
                    )
            headers = {name.lower(): value for name, value in response.headers.items()}
            return response.status_code, headers, body.decode("utf-8", "replace")

    def get(self, path: str, etag: str | None = None) -> Answer:
        """Request ``path`` (starting with ``/``, including the query), with retries.

        With ``etag``, the answer may be 304: nothing changed. A host that cannot be found is not retried,
        unless it answered before. Raises a :class:`HostError`.
        """
        import requests

        failure = ""
        limited = tried = 0
        tries = 1 if self._is_down else self.tries
        while tried < tries:
            self._wait_for_limit()
            self.sent += 1
            try:
                status, headers, body = self._send(path, etag)
            except Moved as moved:
                return Answer(moved.status, location=self._path_of(moved.location))
            except (requests.RequestException, OSError) as error:
                failure = _plainly(error)
                if failure == _NOT_FOUND and not self._has_answered:
                    host = urlsplit(self.api_url).hostname
                    raise Unreachable(f"{host}: {failure}; check the network and the address") from error
                self._is_down = tried + 1 == tries
            else:
                self._has_answered, self._is_down = True, False
                self._note_limit(status, headers)
                wait = self._limit(status, headers, body, limited)
                if wait is not None:
                    limited += 1
                    if limited > _MOST_LIMITS:
                        raise RateLimited(f"{self.api.title}'s rate limit does not end: try again later")
                    self._wait(f"{self.api.title}'s rate limit is reached", wait)
                    continue
                answer = self._answer(path, status, headers, body)
                if isinstance(answer, Answer):
                    return answer
                failure = answer
            tried += 1
            if tried < tries:
                self._wait(
                    f"{failure} (attempt {tried} of {tries})", min(_LONGEST_BACKOFF, 2.0 ** (tried - 1))
                )
        raise Unreachable(
            f"{self.api_url} does not answer {path}: {failure} ({counted(tried, 'attempt')});"
            " earlier answers are stored, repeat the command to resume"
        )

    def _answer(self, path: str, status: int, headers: Mapping[str, Any], body: str) -> Answer | str:
        """The answer, or a problem that a retry may solve."""
        if status >= 500:
            return f"the server has an error ({status})"
        if status == 401:
            raise Denied(f"{self.api.title} does not accept the token (401): {self.api.token_advice}")
        if status not in (200, 304) and status not in GONE:
            raise Denied(f"{self.api.title} refuses {path} ({status}): {_message(body)}", status)
        if status == 304:
            self.not_modified += 1
        data = None
        if status == 200:
            if "html" in str(headers.get("content-type", "")):
                raise Denied(
                    f"{self.api_url} answers with a web page instead of JSON: check the API's address;"
                    f" that of {self.api.title} is {self.api.form}"
                )
            try:
                data = json.loads(body)
            except (ValueError, RecursionError):
                return "the answer is truncated or not JSON"
        return Answer(
            status,
            body,
            headers.get("etag"),
            headers.get("last-modified"),
            next=self._path_of(_next_link(str(headers.get("link", "")))),
            data=data,
        )

    def _note_limit(self, status: int, headers: Mapping[str, Any]) -> None:
        """Make the next request wait if this one used up the limit."""
        if status < 400 and _of_limit(headers, "remaining") == "0":
            reset = self._until_reset(headers)
            if reset is not None:
                self._not_before = self.clock.now() + reset

    def _wait_for_limit(self) -> None:
        left = self._not_before - self.clock.now()
        self._not_before = 0.0
        if left > 0:
            self._wait(f"{self.api.title}'s rate limit is used up", left)

    def _limit(self, status: int, headers: Mapping[str, Any], body: str, before: int) -> float | None:
        """How many seconds an answer says to wait; None if it is not about a limit."""
        if status not in (403, 429, 503):
            return None
        after = _retry_after(headers, self.clock.now())
        if after is not None or status == 503:
            return after
        if _of_limit(headers, "remaining") == "0":
            reset = self._until_reset(headers)
            return reset if reset is not None else _SECONDARY_WAIT
        if status == 429 or "rate limit" in body.lower() or "abuse detection" in body.lower():
            return float(min(_SECONDARY_WAIT * 2**before, 3600))
        return None

    def _until_reset(self, headers: Mapping[str, Any]) -> float | None:
        """Seconds until the limit ends, by the server's clock if it sends the date."""
        try:
            reset = float(_of_limit(headers, "reset"))
        except ValueError:
            return None
        server = _http_date(str(headers.get("date", "")))
        return max(0.0, reset - (self.clock.now() if server is None else server)) + 1.0

    def _wait(self, why: str, seconds: float) -> None:
        if not seconds <= _LONGEST_WAIT:
            raise RateLimited(
                f"{why}; it lasts {seconds / 3600:.1f} hours, which is too long to wait:"
                " earlier answers are stored, repeat the command then"
            )
        self.on_waiting(Waiting(why, seconds, self.clock.now() + seconds))
        self.clock.sleep(seconds)

    def _path_of(self, address: str) -> str:
        """The path of an address below the API; empty if it is on another host."""
        if not address:
            return ""
        base, given = urlsplit(self.api_url), urlsplit(address)
        if given.netloc and given.netloc.lower() != base.netloc.lower():
            return ""
        path = given.path.removeprefix(base.path)
        return path + ("?" + given.query if given.query else "")


def _next_link(header: str) -> str:
    from requests.utils import parse_header_links

    return next((link["url"] for link in parse_header_links(header) if link.get("rel") == "next"), "")


def _of_limit(headers: Mapping[str, Any], what: str) -> str:
    """A header of the rate limit: GitHub sends ``X-RateLimit-Reset``, GitLab ``RateLimit-Reset``."""
    return str(headers.get(f"x-ratelimit-{what}", headers.get(f"ratelimit-{what}", "")))


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
        return "a web page" if body.lstrip().startswith("<") else body[:200]
    return str(said.get("message") or said.get("error") or "")[:200] if isinstance(said, dict) else body[:200]


def _plainly(error: Exception) -> str:
    """A description of a network error, without addresses of objects."""
    import requests
    from urllib3.exceptions import NameResolutionError

    # requests wraps the error of urllib3, which wraps the cause.
    if isinstance(getattr(next(iter(error.args), None), "reason", None), NameResolutionError):
        return _NOT_FOUND
    known = {
        requests.Timeout: "the server does not answer in time",
        requests.exceptions.ChunkedEncodingError: "the answer is truncated",
        requests.exceptions.SSLError: "the TLS certificate is not trusted",
        requests.ConnectionError: "no connection",
    }
    unknown = f"no connection ({type(error).__name__})"
    return next((text for kind, text in known.items() if isinstance(error, kind)), unknown)
