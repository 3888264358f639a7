"""Fetches files attached to issues, and unpacks archives among them.

Files are fetched only from the host's own servers (also after redirections), and without the token.
Everything happens in memory and within limits; names in an archive are never used as paths.
"""

from __future__ import annotations

import base64
import bz2
import http.client
import io
import json
import lzma
import re
import ssl
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from corpus.importer import decode
from corpus.records import Issue
from miner.hosts.host import Host
from miner.hosts.http import GONE, MOVED, Answer, Clock, OnWaiting, Waiting
from miner.languages import SMT_LIB, language_of

_TEXTS = tuple(".smt2 .smt .sl .sy .ys .p .tptp .btor2 .py .cpp .cc .c .cs .java .ml .txt .log .md".split())
_SUFFIXES = (*_TEXTS, ".zip", ".gz", ".tgz", ".tar", ".bz2", ".xz")
# What archives may contain.
_ARCHIVED_SUFFIXES = (".zip", ".gz", ".tgz", ".tar", ".bz2", ".tbz2", ".xz", ".txz")
_CHUNK = 1 << 16
_MOST_REDIRECTS = 5
_TRIES = 4


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper limits for attachments."""

    # Bytes of one download.
    bytes: int = 8 << 20
    # Files fetched for one issue, and in one run.
    files: int = 12
    files_per_run: int = 2_000
    # Of one archive: number of members, unpacked bytes, levels of nested archives.
    members: int = 200
    unpacked: int = 48 << 20
    depth: int = 2
    # Maximum ratio of unpacked to packed bytes, not counting the first megabyte.
    ratio: int = 150
    # Bytes of one text.
    text: int = 4 << 20


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class AttachedFile:
    """An attached text, or a text in an attached archive. ``name`` is a label, not a path."""

    name: str
    text: str
    where: str

    @property
    def written_in(self) -> str:
        """Its language, by its text, else by its name; empty if unknown (``.txt``)."""
        return language_of(self.text) or (SMT_LIB if ".smt2" in self.name.lower() else "")


@dataclass(frozen=True, slots=True)
class Link:
    """The address of an attached file, and the text that links to it: ``body`` or ``comment:<id>``."""

    address: str
    where: str


def links_of(issue: Issue, host: Host, limits: Limits = LIMITS) -> list[Link]:
    """The links to attached files of an issue that may be fetched, without duplicates."""
    found: dict[str, Link] = {}
    for where, text in issue.texts():
        for link in host.file_link.findall(text):
            address = host.file_address(link.rstrip("."), issue)
            if address.lower().endswith((*_SUFFIXES, "/raw")):
                found.setdefault(address, Link(address, where))
    return list(found.values())[: limits.files]


class TooMuch(Exception):
    """A limit was exceeded; the message says which."""


@dataclass
class Downloader:
    """Fetches attached files. ``hosts``: servers that replace hosts, for tests. ``fetched`` counts
    the requested files, also those that could not be fetched.
    """

    limits: Limits = LIMITS
    hosts: Mapping[str, str] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    on_waiting: OnWaiting = lambda waiting: None
    timeout: float = 60.0
    fetched: int = 0
    # After a file that could not be fetched, each further one is tried once until one can be fetched.
    is_down: bool = False

    def fetch(self, address: str, sites: frozenset[str]) -> Answer | None:
        """Fetch a file from one of the servers ``sites``.

        Returns a record: JSON with the bytes in base 64, or with the reason why the file was not stored
        (status 0 if a limit was exceeded). None if the server cannot be reached, or refuses it now.
        """
        self.fetched += 1
        why = ""
        tries = 1 if self.is_down else _TRIES
        for attempt in range(tries):
            try:
                status, data = self._follow(address, sites)
            except (OSError, http.client.HTTPException) as error:
                why = f"no connection ({type(error).__name__})"
            except TooMuch as limit:
                return _record(0, why=str(limit))
            else:
                why = f"status {status}"
                if status < 500 and status not in (408, 429):
                    self.is_down = False
                    if status == 200:
                        return _record(200, data)
                    return _record(status, why=why) if status in GONE else None
            if attempt + 1 < tries:
                tried = f"attempt {attempt + 1} of {tries}"
                self._wait(f"an attachment cannot be fetched: {why} ({tried})", 2.0 ** (2 * attempt))
        self.is_down = True
        return None

    def _wait(self, why: str, seconds: float) -> None:
        self.on_waiting(Waiting(why, seconds, self.clock.now() + seconds))
        self.clock.sleep(seconds)

    def _follow(self, address: str, sites: frozenset[str]) -> tuple[int, bytes]:
        for _ in range(_MOST_REDIRECTS):
            status, location, data = self._request(address, sites)
            if status not in (*MOVED, 303):
                return status, data
            address = urljoin(address, location)
        raise TooMuch(f"more than {_MOST_REDIRECTS} redirections")

    def _request(self, address: str, sites: frozenset[str]) -> tuple[int, str, bytes]:
        parts = urlsplit(address)
        host = (parts.hostname or "").lower()
        if parts.scheme != "https" or host not in sites or parts.port not in (None, 443):
            raise TooMuch(f"redirects away from the tracker's host, to {host or 'nowhere'}")
        path = quote(parts.path, safe="/%+~-._") + ("?" + parts.query if parts.query else "")
        if re.search(r"[\x00-\x20\x7f-\U0010ffff]", path):
            raise TooMuch("a malformed address")
        connection = self._connect(host)
        try:
            connection.request("GET", path, headers={"User-Agent": "exhume", "Accept": "*/*"})
            response = connection.getresponse()
            location = response.headers.get("Location", "")
            data = b"" if response.status != 200 else self._read(response)
            return response.status, location, data
        finally:
            connection.close()

    def _connect(self, host: str) -> http.client.HTTPConnection:
        replaced = self.hosts.get(host)
        if replaced is not None:
            parts = urlsplit(replaced)
            return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=self.timeout)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(host, timeout=self.timeout, context=context)

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        if (response.length or 0) > self.limits.bytes:
            raise TooMuch(f"{response.length} bytes, more than {self.limits.bytes}")
        data = response.read(self.limits.bytes + 1)
        if len(data) > self.limits.bytes:
            raise TooMuch(f"more than {self.limits.bytes} bytes")
        if response.length:
            raise http.client.IncompleteRead(data, response.length)
        return data


def _record(status: int, data: bytes | None = None, why: str = "") -> Answer:
    if data is None:
        return Answer(status, json.dumps({"not_taken": why}))
    return Answer(status, json.dumps({"bytes": len(data), "base64": base64.b64encode(data).decode()}))


def files_of(link: Link, body: str, limits: Limits = LIMITS) -> list[AttachedFile]:
    """The texts in a stored attachment, without binary files and those beyond the limits."""
    try:
        data = base64.b64decode(json.loads(body)["base64"], validate=True)
    except (ValueError, KeyError, TypeError):
        return []
    name = _plain(unquote(_named(urlsplit(link.address).path)))
    found: list[AttachedFile] = []
    budget = _Budget(limits, len(data))
    try:
        for inner, content in _unpacked(name, data, budget, limits.depth):
            text = _text(content, limits)
            if text is not None:
                found.append(AttachedFile(inner, text, link.where))
    except TooMuch:
        pass  # the texts before the limit are kept
    return found


def _named(path: str) -> str:
    """The file's name in the path of an address; the first file of a gist is named by the gist."""
    before, _, name = path.rpartition("/")
    return f"gist-{before.rpartition('/')[2][:12]}.txt" if name == "raw" else name


@dataclass(slots=True)
class _Budget:
    """Counts what unpacking an attachment has used of the limits."""

    limits: Limits
    packed: int
    members: int = 0
    unpacked: int = 0

    def member(self) -> None:
        self.members += 1
        if self.members > self.limits.members:
            raise TooMuch("too many files in an archive")

    def take(self, count: int) -> None:
        self.unpacked += count
        if self.unpacked > min(self.limits.unpacked, (1 << 20) + self.packed * self.limits.ratio):
            raise TooMuch("an archive unpacks to too many bytes")


def _unpacked(name: str, data: bytes, budget: _Budget, depth: int) -> Iterator[tuple[str, bytes]]:
    """The file itself, or the files in it if it is an archive."""
    kind = _kind(data)
    if kind is None:
        if name.lower().endswith(_TEXTS):
            yield name, data
        return
    if depth <= 0:
        return
    for inner, content in _members(kind, name, data, budget):
        yield from _unpacked(f"{name}/{_plain(inner)}", content, budget, depth - 1)


def _kind(data: bytes) -> str | None:
    if data[257:262] == b"ustar":
        return "tar"
    return next((kind for kind, mark in _MARKS.items() if data.startswith(mark)), None)


_MARKS = {"zip": b"PK\x03\x04", "gz": b"\x1f\x8b", "bz2": b"BZh", "xz": b"\xfd7zXZ\0"}


def _members(kind: str, name: str, data: bytes, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    """The names and contents of the files in an archive, or of the only one in a compressed file; those
    before a place where it is broken.
    """
    try:
        if kind == "zip":
            yield from _zip(data, budget)
        elif kind == "tar":
            yield from _tar(data, budget)
        else:
            yield _unpacked_name(name, kind), _inflated(kind, data, budget)
    except TooMuch:
        raise
    except Exception:  # noqa: BLE001 - readers of archives raise all kinds of exceptions on hostile input
        return


def _zip(data: bytes, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.infolist():
            budget.member()
            # zipfile unpacks the other methods without a limit on the output.
            plain = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
            if member.is_dir() or member.flag_bits & 1 or not plain or not _is_worth(member.filename):
                continue
            try:
                with archive.open(member) as file:
                    content = _drain(file.read, budget)
            except (zipfile.BadZipFile, zlib.error, EOFError):
                continue  # the others may be whole
            yield member.filename, content


def _tar(data: bytes, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for member in archive:
            budget.member()
            file = archive.extractfile(member) if member.isreg() and _is_worth(member.name) else None
            if file is not None:
                yield member.name, _drain(file.read, budget)


def _drain(read: Callable[[int], bytes], budget: _Budget) -> bytes:
    parts = []
    while part := read(_CHUNK):
        budget.take(len(part))
        parts.append(part)
    return b"".join(parts)


def _unpacked_name(name: str, kind: str) -> str:
    """The name of what a compressed file holds."""
    base = name.rpartition("/")[2]
    for suffix, other in ((".tgz", ".tar"), (".tbz2", ".tar"), (".txz", ".tar"), (f".{kind}", "")):
        if base.lower().endswith(suffix):
            return base[: -len(suffix)] + other
    return base


def _inflated(kind: str, data: bytes, budget: _Budget) -> bytes:
    """The content of all compressed streams in a file, one after the other; each counts as a member."""
    parts: list[bytes] = []
    rest = data
    while rest.startswith(_MARKS[kind]):
        budget.member()
        inflater: Any = _INFLATERS[kind]()
        while not inflater.eof:
            part = inflater.decompress(rest, _CHUNK)
            # zlib returns the input that it has not read yet; the others keep it.
            rest = getattr(inflater, "unconsumed_tail", b"")
            if not part and not rest:
                break
            budget.take(len(part))
            parts.append(part)
        # Zeros may fill up a stream.
        rest = inflater.unused_data.lstrip(b"\0")
    return b"".join(parts)


_INFLATERS: Mapping[str, Callable[[], object]] = {
    "gz": lambda: zlib.decompressobj(wbits=31),
    "bz2": bz2.BZ2Decompressor,
    "xz": lambda: lzma.LZMADecompressor(memlimit=128 << 20),
}


def _is_worth(name: str) -> bool:
    return name.lower().endswith((*_TEXTS, *_ARCHIVED_SUFFIXES))


def _plain(name: str) -> str:
    """A name as a label: without its path and special characters."""
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w.+~-]", "_", last, flags=re.ASCII).lstrip(".")[-80:] or "file"


def _text(data: bytes, limits: Limits) -> str | None:
    if len(data) > limits.text:
        return None
    try:
        return decode(data)
    except UnicodeError:
        if b"\0" in data[:4096]:
            return None
    try:
        return data.decode("utf-8-sig")  # with a byte 0 further down, as logs may have
    except UnicodeDecodeError:
        return data.decode("latin-1")


def texts_of(links: Sequence[Link], bodies: Mapping[str, str], limits: Limits = LIMITS) -> list[AttachedFile]:
    """The texts of all stored attachments of an issue, with distinct names."""
    found: list[AttachedFile] = []
    seen: dict[str, int] = {}
    for link in links:
        body = bodies.get(link.address)
        for file in files_of(link, body, limits) if body is not None else ():
            seen[file.name] = seen.get(file.name, 0) + 1
            name = file.name if seen[file.name] == 1 else f"{file.name}~{seen[file.name]}"
            found.append(AttachedFile(name, file.text, file.where))
    return found
