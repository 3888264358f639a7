"""What the tests of mining share: texts as issues, a clock that does not wait, corpora compared by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from corpus.records import Comment, Issue
from corpus.store import Corpus
from miner.attachments import Downloader
from miner.extract import Extraction, Formula, extract_issue
from miner.hosts import host_named
from miner.hosts.host import Host
from miner.hosts.http import Client, Clock, Waiting
from miner.mining import Live, MineOptions, mine_tracker, store_tracker
from miner.storing import Storer, TrackerReport, prepare

GITHUB = host_named("github")

TIMES = {"fetched_at", "applied_at"}
"""Columns that tell when something was done here."""


def extract_text(text: str) -> Extraction:
    """What a text gives as the body of an issue."""
    return extract_issue(Issue(tracker="", number=0, title="", body=text))


def issue_of(
    title: str, body: str = "", *comments: str, tracker: str = "Z3Prover/z3", labels: tuple[str, ...] = ()
) -> Issue:
    """A closed issue with comments of a member."""
    said = tuple(Comment(number, text, "MEMBER") for number, text in enumerate(comments, 1))
    return Issue(tracker, 1, title, body, labels=labels, state="closed", comments=said)


def only_formula(title: str, body: str, *comments: str, tracker: str = "Z3Prover/z3") -> Formula:
    """The only formula of an issue."""
    (formula,) = extract_issue(issue_of(title, body, *comments, tracker=tracker)).formulas
    return formula


def expected_of(formula: Formula) -> str | None:
    """The answer that an issue says is right for a formula."""
    return formula.expected.answer if formula.expected else None


def store_issues(corpus: Corpus, *issues: Issue) -> None:
    """Store issues of one tracker as mining does."""
    tracker = store_tracker(corpus, None, issues[0].tracker, GITHUB)
    with corpus.transaction():
        storer = Storer(corpus, GITHUB, tracker, TrackerReport(issues[0].tracker))
        storer.store([prepare(issue) for issue in issues])


class TestClock(Clock):
    """Time that passes only by sleeping; keeps what was slept."""

    __test__ = False

    def __init__(self, start: float = 1_700_000_000.0) -> None:
        self.time = start
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:  # type: ignore[override]
        self.slept.append(seconds)
        self.time += seconds


def client_of(
    url: str, token: str | None = None, host: Host = GITHUB, **settings: Any
) -> tuple[Client, TestClock, list[Waiting]]:
    """A client that never really waits, its clock, and what it said of waiting."""
    clock = TestClock()
    said: list[Waiting] = []
    return host.connect(url, token, clock=clock, on_waiting=said.append, **settings), clock, said


def mine(
    path: Path,
    url: str,
    name: str = "ada/solver",
    options: MineOptions | None = None,
    downloader: Downloader | None = None,
    host: Host = GITHUB,
    **settings: Any,
) -> TrackerReport:
    """Mine into a corpus file, with a client of its own."""
    client, _, _ = client_of(url, host=host)
    try:
        with Corpus.open(path, write=True) as corpus:
            return mine_tracker(corpus, Live(host, client, downloader), name, options, **settings)
    finally:
        client.close()


Contents = dict[str, list[tuple[object, ...]]]


def rows_of(corpus: Corpus, leave_out: frozenset[str] = frozenset()) -> Contents:
    """Every row of every table, times of day apart."""
    columns = {
        table: ", ".join(f'"{column}"' for column in corpus.columns(table) if column not in TIMES)
        for table in corpus.tables()
        if table not in leave_out
    }
    return {
        table: sorted(corpus.rows(f"select {names} from {table}"), key=repr)
        for table, names in columns.items()
    }


def contents(path: Path, leave_out: frozenset[str] = frozenset()) -> Contents:
    """Every row of every table of a corpus file."""
    with Corpus.open(path) as corpus:
        return rows_of(corpus, leave_out)


def one(path: Path, sql: str) -> object:
    """The first value that a query of a corpus gives."""
    with Corpus.open(path) as corpus:
        return corpus.scalar(sql)
