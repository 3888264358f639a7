"""The HTML page of a campaign: its findings and its counts.

The page is self-contained (plots as SVG, styles) and runs no script; its content policy forbids scripts and
external resources. Text from formulas, solvers and folders is escaped by Jinja. Only the plots are inserted
unescaped; matplotlib escapes their labels.
"""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from apifuzz.running.folder import CallsFolder
from base.text import counted
from difftest.campaign.events import cpu_seconds
from difftest.campaign.exporting import refused_files
from difftest.campaign.files import STRATEGY as FILES
from difftest.campaign.refusals import refusals_of
from difftest.campaign.stored import FindingState, NoCampaign, StoredCampaign
from difftest.campaign.upgrading import read_any
from difftest.regress import STRATEGY as REPLAY
from difftest.triage.classes import class_of_finding
from difftest.triage.filing import FindingRecord
from difftest.triage.folder import REPORT, FindingFolder
from difftest.triage.kinds import title_of
from difftest.triage.overview import still_to_do
from difftest.triage.report import since, until
from exhume.pages.calls import call_cards, call_plots
from exhume.pages.campaign import Affected, campaign_plots, release_plots
from exhume.pages.rendering import link_to, write_html

MAX_BYTES = 5_000_000
"""Maximum size of the page for a thousand findings; formulas and outputs are cut to fit."""
_FOR_TEXTS = 3_000_000
_LONGEST_FORMULA = 20_000
_LONGEST_PRINTED = 6_000
_NOTHING: tuple[Any, ...] = (None, "", [], {})
# Options whose name differs from the name of the setting.
_OPTIONS = {"duration": "time", "settings": "set"}
# Settings that an option turns off.
_UNSET = {"bandit": "--no-bandit", "directed": "--undirected"}
# Settings that are options of "exhume regress".
_OF_REGRESS = (
    *("base", "corpus", "tests", "duration", "seed", "regressions", "rlimit", "directed", "ledger"),
    "earlier",
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was written: its path, its size in bytes, and what is still missing in it."""

    path: Path
    size: int
    findings: int
    missing: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The document that ``report --json`` prints."""
        return {
            "path": str(self.path),
            "bytes": self.size,
            "findings": self.findings,
            "missing": list(self.missing),
        }


def write_page(folder: Path, records: Sequence[FindingRecord], out: Path) -> Page:
    """Write the page of the campaign in ``folder``, in one step. Raises BadOutput."""
    missing: list[str] = []
    campaign = None
    try:
        campaign = read_any(folder)
    except NoCampaign as problem:
        missing.append(f"counts of tests and outcomes: {problem}")
    counts = campaign.statistics if campaign else {}
    found = [_Finding(record, _state_of(record, campaign)) for record in records]
    found.sort(key=lambda f: f.order)
    missing += still_to_do([f.folder for f in found], "DIR")
    size = write_html(
        out,
        "campaign.html",
        name=folder.resolve().name,
        folder=str(folder),
        top=_top(campaign),
        facts=_facts(campaign),
        cards=_cards(campaign, found) + call_cards(counts),
        warnings=_warnings(campaign),
        missing=missing,
        plots=[
            *campaign_plots(campaign),
            *call_plots(counts),
            *release_plots([Affected.by(f.folder) for f in found]),
        ],
        findings=[f.shown(len(found), out) for f in found],
        strategies=_strategy_table(campaign),
    )  # fmt: skip
    return Page(out, size, len(found), tuple(missing))


# Findings


class _Finding:
    """One finding, as the page shows it."""

    def __init__(self, record: FindingRecord, state: FindingState | None) -> None:
        self.record = record
        self.state = state
        self.folder = FindingFolder.read(record.path)

    @property
    def order(self) -> tuple[bool, int, int, str]:
        rank = class_of_finding(self.folder).rank
        return self.record.is_young, rank, -self.duplicates, self.record.id

    @property
    def duplicates(self) -> int:
        if self.state is not None:
            return self.state.duplicates
        return self.folder.duplicates

    @property
    def strategy(self) -> str:
        test = self.folder.data.get("test")
        named = test.get("strategy") if isinstance(test, dict) else None
        return self.state.strategy if self.state else str(named or "")

    def shown(self, of: int, out: Path) -> dict[str, Any]:
        """The values for the template of the page ``out``. The more of ``of`` findings there are, the shorter
        the texts are cut.
        """
        room = max(800, min(_LONGEST_FORMULA + _LONGEST_PRINTED, _FOR_TEXTS // max(1, of)))
        folder, bisected = self.folder, self.folder.bisection
        first = since(bisected) if bisected and bisected.get("first_affected") else ""
        reduced = folder.data["reduced"] if folder.is_reduced else None
        file, text = folder.reproduction
        return {
            "id": self.record.id,
            "class": self.record.finding_class,
            "colour": class_of_finding(folder).colour,
            "solver": self.record.solver,
            "young": self.record.is_young,
            "title": title_of(folder),
            "key": folder.key,
            "cause": folder.key.split("|", 2)[-1].replace("|", ", "),
            "folder": self.record.path.name,
            "report": link_to(self.record.path / REPORT, out),
            "origin": folder.origin,
            "duplicates": self.duplicates,
            "found": _time(self.state.found_at) if self.state else None,
            "strategy": self.strategy,
            "reason": str(folder.weighed("reason") or ""),
            "evidence": folder.evidence,
            "sizes": (reduced["size_before"], reduced["size_after"]) if reduced else None,
            "releases": f"since {first}; {until(bisected)}" if first else None,
            "since": first,
            "fixed": str(bisected.get("first_fixed") or "not fixed") if first else "",
            "resembles": [row for row in folder.data.get("resembles") or () if isinstance(row, dict)][:3],
            "compared": folder.data.get("resembles") is not None,
            "file": file,
            "formula": _cut(text, room * 2 // 3),
            "calls": folder.size if isinstance(folder, CallsFolder) else None,
            "runs": [
                {
                    "command": folder.command(str(entry.get("name"))),
                    "name": str(entry.get("name")),
                    "version": str(entry.get("version", "")),
                    "seconds": folder.seconds(str(entry.get("name"))),
                    "printed": _cut(printed, room // 3 // max(1, len(folder.solvers))),
                    "ending": ending,
                }
                for entry in folder.solvers
                for printed, ending in [folder.printed(str(entry.get("name")))]
            ],
        }


def _state_of(record: FindingRecord, campaign: StoredCampaign | None) -> FindingState | None:
    rows = campaign.findings if campaign is not None else ()
    return next((row for row in rows if row.folder == record.path.name), None)


def _cut(text: str, room: int) -> str:
    text = text.rstrip("\n")
    return text if len(text) <= room else f"{text[:room]}\n... ({len(text) - room} more characters)"


# Facts and counts


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _top(campaign: StoredCampaign | None) -> list[tuple[str, str]]:
    """The first facts of the page: solvers with versions, seed, strategies, command, time."""
    if campaign is None:
        return []
    settings = campaign.settings
    given = campaign.given
    top = [("solvers", _fact(settings.get("versions") or settings.get("solvers") or ""))]
    top += [("seed", _fact(settings.get("seed", ""))), ("strategies", _fact(settings.get("strategy") or ""))]
    # What "exhume apifuzz run" draws from is in the facts: it is more than these settings.
    if given and given.get("strategy") != [FILES] and "drawing" not in settings:
        top += [("command", _command(given))]
    if isinstance(created := settings.get("created"), int | float):
        top += [("started", f"{_time(created)} UTC"), ("duration", _span(campaign.seconds))]
    return [(label, value) for label, value in top if value]


def _command(given: Mapping[str, Any]) -> str:
    """The settings as options of the command line."""
    words = ["exhume", "hunt"]
    if base := given.get("base"):
        words = ["exhume", "regress"]
        for spec in given.get("solver") or ():
            words += [] if spec == base else ["--new", str(spec)]
        strategies = [name for name in given.get("strategy") or () if name != REPLAY]
        given = {name: given.get(name) for name in _OF_REGRESS} | {"strategy": strategies}
    for name, value in given.items():
        option = f"--{_OPTIONS.get(name, name.replace('_', '-'))}"
        if isinstance(value, bool):
            words += [option] if value else [_UNSET[name]] if name in _UNSET else []
        elif name == "strategy":
            words += [option, ",".join(map(str, value))] if value else []
        elif isinstance(value, list):
            words += [word for one in value for word in (option, str(one))]
        elif value is not None:
            words += [option, str(value)]
    return shlex.join(words)


def _facts(campaign: StoredCampaign | None) -> list[tuple[str, str]]:
    """The settings of the campaign and its runs."""
    if campaign is None:
        return []
    facts = [
        (name.replace("_", " "), _fact(value))
        for name, value in campaign.settings.items()
        if name not in ("created", "format", "given") and value not in _NOTHING
    ]
    if isinstance(created := campaign.settings.get("created"), int | float):
        facts.insert(0, ("started", _time(created) + " UTC"))
    for run in campaign.runs:
        ending = run.ending or "running, or killed"
        facts.append(
            (
                f"run on {run.host}",
                f"{_time(run.started)} to {_time(run.seen)}, {counted(run.jobs, 'job')}"
                f" ({run.executor}): {ending}",
            )
        )
    return facts


def _warnings(campaign: StoredCampaign | None) -> list[str]:
    """What a reader has to know before the findings."""
    warnings = [str(refusal) for refusal in refusals_of(campaign)] if campaign else []
    if refused := refused_files(campaign):
        warnings.append(
            f"{counted(len(refused), 'file')} that only the new build refuses: {', '.join(refused)}"
        )
    return warnings


def _fact(value: Any) -> str:
    if isinstance(value, dict):
        named = {str(key).replace("_", " "): inner for key, inner in value.items()}
        return ", ".join(f"{key}: {_fact(inner)}" for key, inner in named.items() if inner not in _NOTHING)
    if isinstance(value, list):
        return ", ".join(map(_fact, value))
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _cards(campaign: StoredCampaign | None, found: Sequence[_Finding]) -> list[tuple[str, str]]:
    """The numbers at the top of the page."""
    counts = Counter(f.record.finding_class for f in found)
    cards = [("findings", str(len(found)))]
    cards += [(name, str(count)) for name, count in sorted(counts.items())]
    if campaign is not None:
        tests = campaign.tests
        cards += [("tests", f"{tests:,}"), ("decided", f"{campaign.decided:,}")]
        cards += [("wall time", _span(campaign.seconds))]
        if spent := cpu_seconds(campaign.statistics):
            cards += [("processor time", _span(spent))]
        cards += [("tests a second", f"{tests / campaign.seconds:.1f}")] if campaign.seconds else []
    return cards


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def _strategy_table(campaign: StoredCampaign | None) -> list[dict[str, Any]]:
    """Counts per strategy, summed over its classes."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for arm in campaign.arms if campaign is not None else ():
        rows[arm.strategy].update(
            tests=arm.tests, decided=arm.decided, findings=arm.findings, seconds=round(arm.solver_seconds)
        )
    return [{"name": name, **counts} for name, counts in sorted(rows.items())]
