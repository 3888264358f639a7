"""Mines a tracker: fetches its pages into the archive, then reads the issues into the corpus.

First, everything that changed is fetched and archived unmodified. Then the issues whose content changed are
extracted, classified and stored, ordered by number. A run that was killed at any time can be resumed.
:func:`replay_tracker` reads an archive again without a network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from urllib.parse import urlsplit

from base.steps import Tick, nothing
from corpus.intake import Intake
from corpus.learned import refresh_counts
from corpus.records import Tracker
from corpus.store import Corpus
from miner.archive import Archive, digest_of
from miner.attachments import LIMITS, AttachedFile, Downloader, Limits, Link, links_of, texts_of
from miner.classify import is_mined_by_default
from miner.crawl import Crawler, Repository, TrackerGone, find_repository
from miner.errors import BadInput, MinerError
from miner.fixes import fetch_files, store_files
from miner.hosts import known_hosts
from miner.hosts.host import Host
from miner.hosts.http import Answer, Client
from miner.storing import ISSUES_PER_TRANSACTION, Prepared, Storer, TrackerReport, prepare
from solvers.registry import named_solver


class NothingStored(MinerError):
    """A replay of a tracker that was never mined."""


@dataclass(frozen=True, slots=True)
class MineOptions:
    """What to mine. ``everything`` includes open issues and issues that are not bugs."""

    since: date | None = None
    everything: bool = False
    attachments: bool = False
    recheck: bool = False
    fix_files: bool = False
    limits: Limits = LIMITS

    @property
    def since_text(self) -> str:
        """``since`` in the format of the API; empty if it is None."""
        return "" if self.since is None else f"{self.since.isoformat()}T00:00:00Z"


@dataclass(slots=True)
class Listener:
    """Callbacks for progress: pages fetched (of what, pages, items) and issues read (done, total)."""

    on_page: Callable[[str, int, int], None] = lambda what, pages, items: None
    on_issues: Tick = nothing


@dataclass(slots=True)
class Live:
    """How to fetch a tracker: its host, a client of the API, and a downloader of attached files."""

    host: Host
    client: Client
    downloader: Downloader | None = None


def mine_tracker(
    corpus: Corpus,
    live: Live,
    name: str,
    options: MineOptions | None = None,
    listener: Listener | None = None,
) -> TrackerReport:
    """Fetch what changed in a tracker, and read it.

    If the tracker no longer exists, the report says so and the stored records stay. Raises
    :class:`miner.crawl.TrackerGone` if nothing is stored, and :class:`miner.errors.HostError` if the host
    cannot be reached.
    """
    options, listener = options or MineOptions(), listener or Listener()
    host, client = live.host, live.client
    sent, not_modified = client.sent, client.not_modified
    known = find_tracker(corpus, name, [host.name])
    report = TrackerReport(known.name if known else name)
    repository: Repository | None = None
    said: Answer
    try:
        repository = find_repository(client, host, report.tracker)
        said = repository.answer
    except TrackerGone as gone:
        if known is None:
            raise
        report.problem, said = str(gone), gone.answer
    if known is None and repository is not None:
        # The given name may be a former name of a stored tracker.
        known = find_tracker(corpus, repository.name, [host.name])
        report.tracker = known.name if known else repository.name
    tracker_id = store_tracker(corpus, known, report.tracker, host, repository.url if repository else "")
    archive = Archive(corpus, host, tracker_id, report.tracker, client.clock.now)
    archive.put(archive.prefix, said)
    if repository is not None:
        if repository.name.lower() != report.tracker.lower():
            report.renamed_to = repository.name
        crawler = Crawler(client, archive, repository.name, listener.on_page)
        try:
            crawler.crawl_all(options.since_text, options.recheck)
        except TrackerGone as gone:
            report.problem = str(gone)
        report.pages = crawler.pages
    Reading(archive, options, listener, live).read(report)
    try:
        if options.fix_files and repository is not None and not report.problem:
            report.fixes = fetch_files(archive, client, repository.name)
    finally:
        store_files(archive)
    report.requests, report.not_modified = client.sent - sent, client.not_modified - not_modified
    return report


def replay_tracker(
    corpus: Corpus, name: str, options: MineOptions | None = None, listener: Listener | None = None
) -> TrackerReport:
    """Read all stored records of a tracker again, without a network."""
    hosts = known_hosts()
    found = find_tracker(corpus, name, hosts)
    if found is None:
        raise NothingStored(f"{corpus.path} has no records of {name}: mine it first")
    archive = Archive(corpus, hosts[found.kind], found.id, found.name)
    report = TrackerReport(found.name)
    Reading(archive, options or MineOptions(), listener or Listener(), again=True).read(report)
    store_files(archive)
    return report


def mined_trackers(corpus: Corpus) -> list[str]:
    """The names of the trackers that were mined from a host or from dumps, sorted."""
    return corpus.values(
        "select name from tracker where kind in (select unnest(?::varchar[])) order by name",
        [list(known_hosts())],
    )


@dataclass(frozen=True, slots=True)
class StoredTracker:
    """A tracker in the corpus. ``kind``: the name of its host. ``url``: its page when it was last mined."""

    id: int
    name: str
    kind: str
    url: str


def find_tracker(corpus: Corpus, name: str, kinds: Iterable[str]) -> StoredTracker | None:
    """The tracker with this current or former name, among the hosts ``kinds``."""
    rows = corpus.rows(
        """select id, name, kind, coalesce(url, '') from tracker
        where kind in (select unnest(?::varchar[])) and
        (lower(name) = lower(?) or lower(regexp_replace(url, '^[a-z]+://[^/]+/', '')) = lower(?))
        order by lower(name) = lower(?) desc, id limit 1""",
        [list(kinds), name, name, name],
    )
    return StoredTracker(*rows[0]) if rows else None


def store_tracker(
    corpus: Corpus,
    known: StoredTracker | None,
    name: str,
    host: Host,
    url: str = "",
    is_newest: bool = True,
) -> int:
    """The id of a tracker, which is added or updated. ``url`` replaces a stored one if it is the newest.

    Raises BadInput if a tracker of another kind or server has the name.
    """
    with corpus.transaction():
        if known is None:
            taken = corpus.scalar("select kind from tracker where name = ?", [name])
            if taken is not None and taken != host.name:
                raise BadInput(
                    f"{corpus.path} has a tracker {name} of kind {taken}: mine into another corpus"
                )
            row = Tracker(name, host.name, url or None, named_solver(name.rpartition("/")[2]))
            return Intake(corpus).add_tracker(row)
        if url:
            server = urlsplit(known.url).hostname
            if server not in (None, urlsplit(url).hostname):
                raise BadInput(f"{corpus.path} has a tracker {name} of {server}: mine into another corpus")
            if url != known.url and (is_newest or not known.url):
                corpus.execute("update tracker set url = ? where id = ?", [url, known.id])
    return known.id


@dataclass
class Reading:
    """One pass over an archive: selects the issues to read, and stores them."""

    archive: Archive
    options: MineOptions
    listener: Listener
    live: Live | None = None
    again: bool = False
    _known: dict[int, tuple[str, bool, str]] = field(default_factory=dict)

    def read(self, report: TrackerReport) -> None:
        """Read the issues that changed, or all of them again, and store those that belong into the corpus."""
        rows = self.archive.corpus.rows(
            "select number, digest, stored, attachments from mined_issue where tracker_id = ?",
            [self.archive.tracker_id],
        )
        self._known = {number: (digest, stored, links) for number, digest, stored, links in rows}
        numbers = self.archive.numbers()
        report.issues_seen = len(numbers)
        pending = [number for number in numbers if self._is_pending(number)]
        storer = Storer(self.archive.corpus, self.archive.host, self.archive.tracker_id, report)
        for start in range(0, len(pending), ISSUES_PER_TRANSACTION):
            self._read_batch(pending[start : start + ISSUES_PER_TRANSACTION], storer, report)
            self.listener.on_issues(min(start + ISSUES_PER_TRANSACTION, len(pending)), len(pending))
        refresh_counts(self.archive.corpus)
        report.issues_read = len(pending)
        report.deleted = len(self.archive.gone)

    def _is_pending(self, number: int) -> bool:
        issue = self.archive.thread(number)
        if self.options.since and (issue.updated_at or datetime.min).date() < self.options.since:
            return False
        known = self._known.get(number)
        if self.again or known is None:
            return True
        digest, stored, links = known
        if self.options.everything and not stored:
            return True
        addresses = links.split("\n") if links else []
        if self._fetches(stored) and any(link not in self.archive.attached for link in addresses):
            return True
        return digest_of(issue, self._attached(addresses)) != digest

    def _fetches(self, stored: bool) -> bool:
        return stored and self.options.attachments and self.live is not None and bool(self.live.downloader)

    def _attached(self, addresses: Iterable[str]) -> list[str]:
        return [address for address in addresses if address in self.archive.attached]

    def _read_batch(self, numbers: Sequence[int], storer: Storer, report: TrackerReport) -> None:
        batch: list[Prepared] = []
        rows: list[tuple[int, str, bool, str]] = []
        for number in numbers:
            issue = self.archive.thread(number)
            # An issue that was stored once stays in the corpus and is kept up to date.
            known = self._known.get(number)
            stored = self.options.everything or (known is not None and known[1])
            one = None if stored else prepare(issue)
            if one is not None:
                stored = is_mined_by_default(issue, one.classification)
            links = links_of(issue, self.archive.host, self.options.limits) if stored else []
            addresses = [link.address for link in links]
            if stored:
                if self._fetches(True):
                    self._download(addresses, report)
                files = self._files(links)
                batch.append(prepare(issue, files) if one is None or files else one)
            digest = digest_of(issue, self._attached(addresses))
            rows.append((number, digest, stored, "\n".join(addresses)))
        with self.archive.corpus.transaction():
            storer.store(batch)
            self._note(rows)

    def _download(self, addresses: Sequence[str], report: TrackerReport) -> None:
        assert self.live is not None
        downloader = self.live.downloader
        assert downloader is not None
        sites = self.archive.host.file_sites(self.live.client.api_url)
        for address in addresses:
            if address in self.archive.attached or downloader.fetched >= self.options.limits.files_per_run:
                continue
            answer = downloader.fetch(address, sites)
            if answer is not None:
                self.archive.put(address, answer)
                report.attachments += answer.status == 200

    def _files(self, links: Sequence[Link]) -> list[AttachedFile]:
        stored = self._attached(link.address for link in links)
        if not stored:
            return []
        bodies = dict(
            self.archive.corpus.rows(
                """select request, body from raw_record join text on text.id = text_id
                where tracker_id = ? and status = 200 and request in (select unnest(?::varchar[]))""",
                [self.archive.tracker_id, stored],
            )
        )
        return texts_of(links, bodies, self.options.limits)

    def _note(self, rows: Sequence[tuple[int, str, bool, str]]) -> None:
        """Record which version of each issue was read."""
        tracker = self.archive.tracker_id
        columns = ("number", "digest", "stored", "attachments")
        changed = [(tracker, *row) for row in rows if self._known.get(row[0]) != row[1:]]
        self.archive.corpus.insert("mined_issue", ("tracker_id", *columns), changed, replace=True)
