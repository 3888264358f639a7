"""Keeping a corpus fresh: mine, extract and learn for all trackers that ``exhume.toml`` names."""

from __future__ import annotations

import time
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from base.nearest import did_you_mean, nearest
from corpus.learn import learn
from corpus.store import Corpus
from miner.attachments import Downloader
from miner.crawl import TrackerGone
from miner.errors import BadInput, HostError
from miner.hosts import Place, locate
from miner.hosts.http import Client
from miner.mining import Listener, Live, MineOptions, mine_tracker
from miner.storing import TrackerReport
from rules import MIN_CONFIDENCE, MIN_SUPPORT
from solvers.registry import TRACKER

CONFIG = "exhume.toml"

_ASKED = ("host", "api-url", "since", "all", "attachments")
_TOP = ("corpus", "trackers", "tracker", *_ASKED, "learn")
_TRACKER = ("name", *_ASKED)
_LEARN = ("min-support", "min-confidence")


@dataclass(frozen=True, slots=True)
class TrackerConfig:
    """One tracker of the configuration."""

    place: Place
    options: MineOptions


@dataclass(frozen=True, slots=True)
class Config:
    """What ``exhume.toml`` says; ``corpus`` is relative to its folder."""

    corpus: Path
    trackers: tuple[TrackerConfig, ...]
    min_support: int = MIN_SUPPORT
    min_confidence: float = MIN_CONFIDENCE


def read_config(path: Path) -> Config:
    """Read a configuration. Raises BadInput with the place of what is wrong."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(
            f'there is no {path}: write one, such as\n  corpus = "corpus.duckdb"\n  trackers = ["{TRACKER}"]'
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
    said = _Table(path, "", data, _TOP)
    corpus = said.text("corpus")
    if not corpus:
        raise BadInput(f'{path}: corpus is missing; name the file, such as corpus = "corpus.duckdb"')
    options = said.options(MineOptions())
    found = [TrackerConfig(said.place(name), options) for name in said.texts("trackers")]
    for place, table in enumerate(said.tables("tracker")):
        one = _Table(path, f"tracker {place + 1}, ", table, _TRACKER)
        name = one.text("name")
        if not name:
            raise BadInput(f"{path}: {one.where}name is missing")
        found.append(TrackerConfig(said.place(name, one), one.options(options)))
    if not found:
        raise BadInput(f'{path} names no trackers; write trackers = ["{TRACKER}"]')
    names = [tracker.place.name.lower() for tracker in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise BadInput(f"{path} names {', '.join(sorted(twice))} twice")
    learning = _Table(path, "learn: ", said.table("learn"), _LEARN)
    support = learning.number("min-support", MIN_SUPPORT, 1, 1e9)
    confidence = learning.number("min-confidence", MIN_CONFIDENCE, 0.0, 1.0)
    return Config(path.parent / corpus, tuple(found), int(support), float(confidence))


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of the file, read with its own complaints."""

    path: Path
    where: str
    data: Mapping[str, Any]
    known: tuple[str, ...]

    def __post_init__(self) -> None:
        for key in self.data:
            if key not in self.known:
                hint = did_you_mean(nearest(key, self.known)) or f"; it may hold {', '.join(self.known)}"
                raise BadInput(f"{self.path}: {self.where}{key} is not known{hint}")

    def _value(self, key: str, kind: type | tuple[type, ...], name: str) -> Any:
        value = self.data.get(key)
        if value is not None and not isinstance(value, kind):
            raise BadInput(f"{self.path}: {self.where}{key} is {value!r}, not {name}")
        return value

    def text(self, key: str) -> str:
        return self._value(key, str, "a text") or ""

    def texts(self, key: str) -> list[str]:
        values = self._value(key, list, "a list of texts") or []
        for value in values:
            if not isinstance(value, str):
                raise BadInput(f"{self.path}: {self.where}{key} holds {value!r}, not only texts")
        return values

    def table(self, key: str) -> Mapping[str, Any]:
        return self._value(key, dict, "a table") or {}

    def tables(self, key: str) -> list[Mapping[str, Any]]:
        values = self._value(key, list, "written as [[tracker]]") or []
        if not all(isinstance(value, dict) for value in values):
            raise BadInput(f"{self.path}: {self.where}{key} is not written as [[{key}]]")
        return values

    def number(self, key: str, default: float, least: float, most: float) -> float:
        value = self._value(key, (int, float), "a number")
        if value is None:
            return default
        if isinstance(value, bool) or not least <= value <= most:
            raise BadInput(f"{self.path}: {self.where}{key} is {value}, not between {least:g} and {most:g}")
        return float(value)

    def flag(self, key: str, default: bool) -> bool:
        value = self._value(key, bool, "true or false")
        return default if value is None else bool(value)

    def place(self, name: str, own: _Table | None = None) -> Place:
        """Where a tracker is: as its ``own`` table says, or its address, or else this table."""
        host, api_url = (
            (own.text(key) if own is not None else "") or ("" if "://" in name else self.text(key))
            for key in ("host", "api-url")
        )
        return locate(name, host or None, api_url or None)

    def options(self, default: MineOptions) -> MineOptions:
        since = self._value("since", (str, date), "a date") if "since" in self.known else None
        return replace(
            default,
            since=default.since if since is None else parse_date(since),
            everything=self.flag("all", default.everything),
            attachments=self.flag("attachments", default.attachments),
        )


def parse_date(value: str | date) -> date:
    """A date as TOML and people write it, 2024-05-31. Raises BadInput."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value.strip()[:10])
    except ValueError:
        raise BadInput(f"{value} is no date; write 2024-05-31") from None


@dataclass(slots=True)
class RefreshReport:
    """What a refresh brought. ``problems`` are trackers that could not be fetched, with the reason."""

    new_issues: int = 0
    new_formulas: int = 0
    new_skeletons: int = 0
    rules_gained: int = 0
    rules_lost: int = 0
    rules: int = 0
    requests: int = 0
    seconds: float = 0.0
    trackers: list[TrackerReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    exit_code: int = 0

    def to_json(self) -> dict[str, object]:
        """All fields, as JSON has them."""
        return asdict(self)

    def summary(self) -> str:
        """The one line."""
        line = (
            f"{self.new_issues} new issues, {self.new_formulas} new formulas,"
            f" {self.new_skeletons} new skeletons;"
            f" rules: {self.rules_gained} gained, {self.rules_lost} lost, {self.rules} now"
            f" ({len(self.trackers)} trackers, {self.requests} requests, {self.seconds:.1f} s)"
        )
        return line if not self.problems else f"{line}; {len(self.problems)} problems"


def refresh(
    corpus: Corpus,
    config: Config,
    clients: Mapping[str, Client],
    listener: Listener | None = None,
    downloader: Downloader | None = None,
) -> RefreshReport:
    """Mine all trackers of a configuration, then learn. A second run changes nothing.

    ``clients`` are by the address of their API. A tracker that cannot be fetched is a problem of the report:
    the others are mined, and what is stored is learned from.
    """
    start = time.monotonic()
    report = RefreshReport()
    skeletons, before = _skeletons(corpus), _rules(corpus)
    for tracker in config.trackers:
        place = tracker.place
        live = Live(place.host, clients[place.api_url], downloader)
        try:
            done = mine_tracker(corpus, live, place.name, tracker.options, listener)
        except HostError as error:
            report.problems.append(f"{place.name}: {error}")
            report.exit_code = max(report.exit_code, error.exit_code)
            continue
        report.trackers.append(done)
        report.new_issues += done.new_issues
        report.new_formulas += done.new_formulas
        if done.problem:
            report.problems.append(f"{place.name}: {done.problem}")
            report.exit_code = max(report.exit_code, TrackerGone.exit_code)
    for client in clients.values():
        report.requests += client.sent
        client.close()
    learn(corpus, config.min_support, config.min_confidence)
    after = _rules(corpus)
    report.rules, report.rules_gained, report.rules_lost = (
        len(after),
        len(after - before),
        len(before - after),
    )
    report.new_skeletons = len(_skeletons(corpus) - skeletons)
    report.seconds = round(time.monotonic() - start, 3)
    return report


def _skeletons(corpus: Corpus) -> set[int]:
    return {ident for (ident,) in corpus.rows("select id from skeleton where assertions > 0")}


def _rules(corpus: Corpus) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The rules over full signatures that are in use."""
    rows = corpus.rows("select antecedent, consequent from current_rule where not coarse")
    return {(tuple(sorted(a)), tuple(sorted(c))) for a, c in rows}
