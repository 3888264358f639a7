"""Mining a tracker: its pages into the archive, then its issues into the corpus; or again, without a network.

First everything that changed is fetched and stored as it came. Then the issues that read otherwise than
before are extracted, classified and stored, by number. A run that was killed at any moment is gone on
with by the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING

from corpus.intake import Intake
from corpus.learned import refresh_counts
from corpus.records import Tracker
from corpus.store import Corpus
from miner.answers import Answer
from miner.archive import Archive
from miner.attachments import LIMITS, AttachedFile, Downloader, Limits, Link, links_of, texts_of
from miner.classify import is_wanted
from miner.crawl import COMMENTS, ISSUES, Crawler, Repository, RepositoryGone, find_repository
from miner.errors import BadInput, MinerError
from miner.solver_names import TRACKERS
from miner.storing import ISSUES_PER_TRANSACTION, Prepared, Storer, prepare

if TYPE_CHECKING:
    from miner.github import GitHubClient


class NothingStored(MinerError):
    """A replay of a tracker that was never mined."""


@dataclass(frozen=True, slots=True)
class MineOptions:
    """What to mine. ``everything`` takes issues that are open, or about no bug, too."""

    since: date | None = None
    everything: bool = False
    attachments: bool = False
    recheck: bool = False
    limits: Limits = LIMITS

    @property
    def since_text(self) -> str:
        """As the API and its records write it; empty without one."""
        return "" if self.since is None else f"{self.since.isoformat()}T00:00:00Z"


@dataclass(slots=True)
class TrackerReport:
    """What became of one tracker. ``problem`` says why it could not be fetched, where it could not."""

    tracker: str
    requests: int = 0
    not_modified: int = 0
    pages: int = 0
    issues_seen: int = 0
    issues_read: int = 0
    issues_stored: int = 0
    new_issues: int = 0
    formulas: int = 0
    new_formulas: int = 0
    attachments: int = 0
    deleted: int = 0
    renamed_to: str = ""
    problem: str = ""


@dataclass(slots=True)
class Listener:
    """Whom progress is told to: pages fetched (of what, pages, items), issues read (done, of how many)."""

    on_page: Callable[[str, int, int], None] = lambda what, pages, items: None
    on_issues: Callable[[int, int], None] = lambda done, total: None


def mine_tracker(
    corpus: Corpus,
    client: GitHubClient,
    name: str,
    options: MineOptions | None = None,
    listener: Listener | None = None,
    downloader: Downloader | None = None,
) -> TrackerReport:
    """Fetch what changed of a tracker, and read it.

    A repository that is gone is reported, and what is stored of it stays; one that is not known here
    either raises :class:`miner.crawl.RepositoryGone`. Raises :class:`miner.errors.GitHubError` where
    GitHub cannot be asked.
    """
    options, listener = options or MineOptions(), listener or Listener()
    sent, not_modified = client.sent, client.not_modified
    tracker_id, known = _known_tracker(corpus, name) or (0, name)
    report = TrackerReport(known)
    repository: Repository | None = None
    said: Answer
    try:
        repository = _find(client, known)
        said = repository.answer
    except RepositoryGone as gone:
        if not tracker_id:
            raise
        report.problem, said = str(gone), gone.answer
    if not tracker_id and repository is not None:
        # The name that was asked for may be an earlier one of a tracker that is here.
        tracker_id, known = _known_tracker(corpus, repository.name) or (0, repository.name)
        report.tracker = known
    tracker_id = _store_tracker(corpus, tracker_id, known, repository)
    archive = Archive(corpus, tracker_id, known, client.clock.now)
    archive.put(archive.prefix, said)
    if repository is not None:
        if repository.name.lower() != known.lower():
            report.renamed_to = repository.name
        _fetch(client, archive, repository.name, options, listener, report)
    reading = _Reading(corpus, archive, options, listener, downloader)
    reading.read(report)
    report.requests, report.not_modified = client.sent - sent, client.not_modified - not_modified
    return report


def replay_tracker(
    corpus: Corpus, name: str, options: MineOptions | None = None, listener: Listener | None = None
) -> TrackerReport:
    """Read everything that is stored of a tracker again, without a network."""
    found = _known_tracker(corpus, name)
    if found is None:
        raise NothingStored(f"{corpus.path} holds nothing of {name}: mine it first")
    archive = Archive(corpus, *found)
    report = TrackerReport(found[1])
    _Reading(corpus, archive, options or MineOptions(), listener or Listener(), None, again=True).read(report)
    return report


def mined_trackers(corpus: Corpus) -> list[str]:
    """The trackers that were mined from GitHub, by name."""
    return [n for (n,) in corpus.rows("select name from tracker where kind = 'github' order by name")]


def _find(client: GitHubClient, name: str) -> Repository:
    try:
        return find_repository(client, name)
    except RepositoryGone:
        # A server that stands in for GitHub may know lists only.
        answer = client.get(f"/repos/{name}{ISSUES.request()}")
        if answer.status != 200:
            raise
        return Repository(name, "", answer)


def _fetch(
    client: GitHubClient,
    archive: Archive,
    current: str,
    options: MineOptions,
    listener: Listener,
    report: TrackerReport,
) -> None:
    crawler = Crawler(client, archive, current, listener.on_page)
    try:
        crawler.crawl(ISSUES, options.since_text)
        crawler.crawl(COMMENTS, options.since_text)
        if options.recheck:
            crawler.check_deleted()
    except RepositoryGone as gone:
        report.problem = str(gone)
    report.pages = crawler.pages


def _known_tracker(corpus: Corpus, name: str) -> tuple[int, str] | None:
    """Id and name of a tracker by a name that it has or had."""
    rows = corpus.rows(
        """select id, name from tracker where kind = 'github' and
        (lower(name) = lower(?) or ends_with(lower(coalesce(url, '')), lower('/' || ?)))
        order by lower(name) = lower(?) desc, id limit 1""",
        [name, name, name],
    )
    return (int(rows[0][0]), str(rows[0][1])) if rows else None


def _store_tracker(corpus: Corpus, tracker_id: int, name: str, repository: Repository | None) -> int:
    url = repository.url if repository is not None else ""
    with corpus.transaction():
        if not tracker_id:
            solver = name.rpartition("/")[2].lower()
            row = Tracker(name, "github", url or None, solver if solver in TRACKERS else None)
            return Intake(corpus).add_tracker(row)
        if url:
            corpus.execute(
                "update tracker set url = ? where id = ? and url is distinct from ?", [url, tracker_id, url]
            )
    return tracker_id


@dataclass
class _Reading:
    """One reading of an archive: which issues, in which order, and storing them."""

    corpus: Corpus
    archive: Archive
    options: MineOptions
    listener: Listener
    downloader: Downloader | None
    again: bool = False
    _known: dict[int, tuple[str, bool, str]] = field(default_factory=dict)

    def read(self, report: TrackerReport) -> None:
        """Read the issues that changed, or all again, and store those that are wanted."""
        self._known = {
            number: (digest, stored, links)
            for number, digest, stored, links in self.corpus.rows(
                "select number, digest, stored, attachments from mined_issue where tracker_id = ?",
                [self.archive.tracker_id],
            )
        }
        numbers = self.archive.numbers()
        report.issues_seen = len(numbers)
        pending = [number for number in numbers if self._is_pending(number)]
        storer = Storer(self.corpus, self.archive.tracker_id)
        for start in range(0, len(pending), ISSUES_PER_TRANSACTION):
            self._read_batch(pending[start : start + ISSUES_PER_TRANSACTION], storer, report)
            self.listener.on_issues(min(start + ISSUES_PER_TRANSACTION, len(pending)), len(pending))
        refresh_counts(self.corpus)
        report.issues_read = len(pending)
        report.issues_stored = storer.report.issues
        report.new_issues = storer.report.new_issues
        report.formulas = storer.report.formulas
        report.new_formulas = storer.report.new_formulas
        report.deleted = len(self.archive.gone)

    def _is_pending(self, number: int) -> bool:
        thread = self.archive.thread(number)
        if thread.issue.updated_at < self.options.since_text:
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
        return thread.digest(self._attached(addresses)) != digest

    def _fetches(self, stored: bool) -> bool:
        return self.options.attachments and self.downloader is not None and stored

    def _attached(self, addresses: Iterable[str]) -> list[str]:
        return [address for address in addresses if address in self.archive.attached]

    def _read_batch(self, numbers: Sequence[int], storer: Storer, report: TrackerReport) -> None:
        batch: list[Prepared] = []
        rows: list[tuple[int, str, bool, str]] = []
        for number in numbers:
            thread = self.archive.thread(number)
            one = prepare(thread.issue, thread.record_id, thread.comment_records)
            # What was stored once stays, and is kept up to date.
            known = self._known.get(number)
            stored = (
                self.options.everything
                or is_wanted(thread.issue, one.classification)
                or (known is not None and known[1])
            )
            links = links_of(thread.issue, self.options.limits) if stored else []
            if stored:
                batch.append(self._with_files(one, links, report))
            addresses = [link.address for link in links]
            rows.append(
                (number, thread.digest(self._attached(addresses)), bool(stored), "\n".join(addresses))
            )
        with self.corpus.transaction():
            storer.store(batch)
            self._note(rows)

    def _with_files(self, one: Prepared, links: Sequence[Link], report: TrackerReport) -> Prepared:
        if self._fetches(True):
            self._download([link.address for link in links], report)
        return replace(one, attached=tuple(self._files(links)))

    def _download(self, addresses: Sequence[str], report: TrackerReport) -> None:
        assert self.downloader is not None
        for address in addresses:
            if (
                address in self.archive.attached
                or self.downloader.fetched >= self.options.limits.files_per_run
            ):
                continue
            answer = self.downloader.fetch(address)
            if answer is not None:
                self.archive.put(address, answer)
                report.attachments += answer.status == 200

    def _files(self, links: Sequence[Link]) -> list[AttachedFile]:
        stored = self._attached(link.address for link in links)
        if not stored:
            return []
        bodies = dict(
            self.corpus.rows(
                """select request, body from raw_record join text on text.id = text_id
                where tracker_id = ? and status = 200 and request in (select unnest(?::varchar[]))""",
                [self.archive.tracker_id, stored],
            )
        )
        return texts_of(links, bodies, self.options.limits)

    def _note(self, rows: Sequence[tuple[int, str, bool, str]]) -> None:
        """Note what was read of which issues."""
        tracker = self.archive.tracker_id
        columns = ("number", "digest", "stored", "attachments")
        new = [(tracker, *row) for row in rows if row[0] not in self._known]
        self.corpus.insert("mined_issue", ("tracker_id", *columns), new)
        changed = [row for row in rows if row[0] in self._known and self._known[row[0]] != row[1:]]
        if changed:
            self.corpus.execute(
                """update mined_issue
                set digest = now.digest, stored = now.stored, attachments = now.attachments
                from (select unnest(?::integer[]) as number, unnest(?::varchar[]) as digest,
                    unnest(?::boolean[]) as stored, unnest(?::varchar[]) as attachments) as now
                where mined_issue.tracker_id = ? and mined_issue.number = now.number""",
                [*(list(column) for column in zip(*changed, strict=True)), tracker],
            )


def parse_tracker(text: str) -> str:
    """``OWNER/NAME`` of what people write: that, or the repository's address. Raises BadInput."""
    name = text.strip().removeprefix("https://github.com/").removesuffix("/").removesuffix("/issues")
    owner, _, repository = name.removesuffix(".git").partition("/")
    for part in (owner, repository):
        if part in (".", "..") or not re.fullmatch(r"[A-Za-z0-9_.-]{1,100}", part):
            raise BadInput(f"{text} is no repository; write OWNER/NAME, such as Z3Prover/z3")
    return f"{owner}/{repository}"
