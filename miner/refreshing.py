"""Refreshes a corpus: mines all trackers of ``exhume.toml``, then learns."""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated

import msgspec

from base.errors import problem_of
from base.nearest import did_you_mean, nearest
from base.text import counted
from corpus.learn import learn
from corpus.store import Corpus
from miner.attachments import Downloader
from miner.crawl import TrackerGone
from miner.errors import BadInput, MinerError
from miner.hosts import Place, locate
from miner.hosts.http import Client
from miner.mining import Listener, Live, MineOptions, mine_tracker
from miner.storing import TrackerReport
from rules import MIN_CONFIDENCE, MIN_SUPPORT
from solvers.registry import TRACKER

CONFIG = "exhume.toml"


class _Asked(msgspec.Struct, rename="kebab", forbid_unknown_fields=True, kw_only=True):
    """The keys of ``exhume.toml`` that may stand at its top, for all trackers, and in a ``[[tracker]]``."""

    host: str = ""
    api_url: str = ""
    since: date | None = None
    all: bool | None = None
    attachments: bool | None = None
    fix_files: bool | None = None

    def options(self, default: MineOptions) -> MineOptions:
        return MineOptions(
            since=default.since if self.since is None else self.since,
            everything=default.everything if self.all is None else self.all,
            attachments=default.attachments if self.attachments is None else self.attachments,
            fix_files=default.fix_files if self.fix_files is None else self.fix_files,
        )


class _Tracker(_Asked):
    name: Annotated[str, msgspec.Meta(min_length=1)]


class _Learn(msgspec.Struct, rename="kebab", forbid_unknown_fields=True):
    min_support: Annotated[int, msgspec.Meta(ge=1)] = MIN_SUPPORT
    min_confidence: Annotated[float, msgspec.Meta(ge=0, le=1)] = MIN_CONFIDENCE


class _File(_Asked):
    corpus: Annotated[str, msgspec.Meta(min_length=1)]
    trackers: list[str] = []
    tracker: list[_Tracker] = []
    learn: _Learn = msgspec.field(default_factory=_Learn)


@dataclass(frozen=True, slots=True)
class TrackerConfig:
    """One tracker of the configuration."""

    place: Place
    options: MineOptions


@dataclass(frozen=True, slots=True)
class Config:
    """The content of ``exhume.toml``. ``corpus``: the path of the corpus file."""

    corpus: Path
    trackers: tuple[TrackerConfig, ...]
    min_support: int = MIN_SUPPORT
    min_confidence: float = MIN_CONFIDENCE


def read_config(path: Path) -> Config:
    """Read a configuration. Raises BadInput, which says where the mistake is."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(
            f'there is no {path}: write one, such as\n  corpus = "corpus.duckdb"\n  trackers = ["{TRACKER}"]'
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {problem_of(error)}") from error
    try:
        file = msgspec.convert(data, _File)
    except msgspec.ValidationError as error:
        raise BadInput(f"{path}: {_in_words(str(error))}") from None
    default = file.options(MineOptions())
    try:
        trackers = [TrackerConfig(_place(name, file, _Asked()), default) for name in file.trackers]
        trackers += [TrackerConfig(_place(one.name, file, one), one.options(default)) for one in file.tracker]
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    if not trackers:
        raise BadInput(f'{path} names no trackers; write trackers = ["{TRACKER}"]')
    names = [tracker.place.name.lower() for tracker in trackers]
    if twice := {name for name in names if names.count(name) > 1}:
        raise BadInput(f"{path} names {', '.join(sorted(twice))} twice")
    learn = file.learn
    return Config(path.parent / file.corpus, tuple(trackers), learn.min_support, learn.min_confidence)


_TYPES = {
    "object": "a table",
    "array": "a list",
    "str": "a text in quotes",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
}
_MISSING = {"corpus": 'corpus = "corpus.duckdb"', "name": f'name = "{TRACKER}"'}


def _in_words(message: str) -> str:
    """A message of msgspec in the words of TOML: where, what, and what to write.

    >>> _in_words("Expected `array`, got `str` - at `$.trackers`")
    'trackers: expected a list, got a text in quotes'
    """
    said, _, place = message.partition(" - at `$.")
    place = f"{place.removesuffix('`')}: " if place else ""
    if unknown := re.search(r"unknown field `(.*?)`", said):
        known = {key for kind in (_File, _Tracker, _Learn) for key in kind.__struct_encode_fields__}
        return f"{place}there is no key {unknown[1]}{did_you_mean(nearest(unknown[1], sorted(known)))}"
    if missing := re.search(r"missing required field `(.*?)`", said):
        return f"{place}the key {missing[1]} is missing; write {_MISSING[missing[1]]}"
    if said.startswith("Invalid"):
        return f"{place}expected a date such as 2024-05-31"
    said = re.sub(r"`(\w+)(?: \| null)?`", lambda name: _TYPES.get(name[1], name[1]), said)
    advice = ""
    if re.fullmatch(r"tracker(\[\d+\])?: ", place):
        advice = f'; write trackers = ["{TRACKER}"], or a table [[tracker]] with a name'
    return f"{place}{said[0].lower()}{said[1:]}{advice}"


def _place(name: str, file: _Asked, own: _Asked) -> Place:
    """The location of a tracker: from its ``own`` table, else its address, else the top of the file."""
    outer = _Asked() if "://" in name else file
    return locate(name, own.host or outer.host or None, own.api_url or outer.api_url or None)


def parse_date(text: str) -> date:
    """A date such as 2024-05-31; a time after it is ignored. Raises BadInput."""
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        raise BadInput(f"{text} is not a date; write 2024-05-31") from None


@dataclass(slots=True)
class RefreshReport:
    """The result of a refresh. ``problems``: the trackers that could not be fetched, with the reason."""

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

    def summary(self) -> str:
        """The report in one line."""
        line = (
            f"{counted(self.new_issues, 'new issue')}, {counted(self.new_formulas, 'new formula')},"
            f" {counted(self.new_skeletons, 'new skeleton')};"
            f" rules: {self.rules_gained} gained, {self.rules_lost} lost, {self.rules} now"
            f" ({counted(len(self.trackers), 'tracker')}, {counted(self.requests, 'request')},"
            f" {self.seconds:.1f} s)"
        )
        return line if not self.problems else f"{line}; {counted(len(self.problems), 'problem')}"


def refresh(
    corpus: Corpus,
    config: Config,
    clients: Mapping[str, Client],
    listener: Listener | None = None,
    downloader: Downloader | None = None,
) -> RefreshReport:
    """Mine all trackers of a configuration, then learn. Running it again changes nothing.

    ``clients``: by the address of their API. A tracker that cannot be fetched becomes a problem in the
    report; the others are still mined, and learning uses everything that is stored.
    """
    start = time.monotonic()
    report = RefreshReport()
    skeletons, before = _skeletons(corpus), _rules(corpus)
    for tracker in config.trackers:
        place = tracker.place
        live = Live(place.host, clients[place.api_url], downloader)
        try:
            done = mine_tracker(corpus, live, place.name, tracker.options, listener)
        except MinerError as error:
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
    report.rules = len(after)
    report.rules_gained, report.rules_lost = len(after - before), len(before - after)
    report.new_skeletons = len(_skeletons(corpus) - skeletons)
    report.seconds = round(time.monotonic() - start, 3)
    return report


def _skeletons(corpus: Corpus) -> set[int]:
    return set(corpus.values("select id from skeleton where assertions > 0"))


def _rules(corpus: Corpus) -> set[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The current rules over full signatures."""
    rows = corpus.rows("select antecedent, consequent from current_rule where not coarse")
    return {(tuple(sorted(a)), tuple(sorted(c))) for a, c in rows}
