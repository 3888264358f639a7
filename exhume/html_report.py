"""One page for a campaign: what was found, and how the tests went, to be kept and passed on as a file.

The page holds everything itself (plots as SVG, styles) and runs no script; its content policy forbids both
scripts and anything from outside. Whatever comes from formulas, solvers and folders is escaped: Jinja does so
by itself, and only the plots, whose labels matplotlib escapes, are taken as they are.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from apifuzz.running.folder import CallsFolder
from difftest import BadOutput, Outcome
from difftest.campaign.stored import CROSSING, Campaign, FindingState, NoCampaign, read_campaign
from difftest.files import put_bytes
from difftest.triage.folders import FindingRecord
from exhume.calls_page import read_counts
from exhume.finding_folders import read_folder, title_of
from exhume.plots import Plot, columns, lines_over_time, stacked_bars
from generator.text import VERSION

MAX_BYTES = 5_000_000
"""The page's size for a thousand findings; formulas and outputs are cut so that they fit."""
_FOR_TEXTS = 3_000_000
_LONGEST_FORMULA = 20_000
_LONGEST_PRINTED = 6_000
_MOST_BARS = 24
_MINUTES_FROM, _HOURS_FROM = 5 * 60, 2 * 3600
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_CLASSES = (
    *("soundness", "answer", "invalid-model", "model", "core", "assumptions", "crash", "value"),
    *("sort", "term", "print", "rejected", "leak", "incompleteness", "slowdown", "internal"),
)
# Those of their labels in the template's style.
_CLASS_COLOURS = {
    **{"soundness": 5, "invalid-model": 2, "crash": 6, "incompleteness": 3, "slowdown": 1},
    **{
        "answer": 5,
        "model": 2,
        "core": 2,
        "assumptions": 2,
        "value": 2,
        "rejected": 3,
        "leak": 1,
        "internal": 4,
    },
    **dict.fromkeys(("sort", "term", "print"), 7),
}
_OUTCOMES = [str(outcome) for outcome in Outcome]


@dataclass(frozen=True, slots=True)
class Page:
    """What was written: where, its size, and what the page could not tell because it is not there."""

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
    """Write the page of the campaign in ``folder``, whole or not at all; BadOutput where that cannot be."""
    missing: list[str] = []
    campaign, counts = None, None
    try:
        counts = read_counts(folder)
        campaign = None if counts else read_campaign(folder)
    except NoCampaign as problem:
        missing.append(f"counts of tests and outcomes: {problem}")
    found = [_Finding(record, _state_of(record, campaign)) for record in records]
    found.sort(key=lambda f: f.order)
    missing += _not_worked_off(found)
    text = _environment().get_template("campaign.html").render(
        name=folder.resolve().name,
        folder=str(folder),
        version=VERSION,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        facts=counts.facts() if counts else _facts(campaign),
        cards=_cards(campaign, found) + (counts.cards() if counts else []),
        missing=missing,
        plots=[*(counts.plots() if counts else _campaign_plots(campaign)), *_release_plots(found)],
        findings=[f.shown(len(found)) for f in found],
        strategies=_strategy_table(campaign),
    )  # fmt: skip
    data = text.encode("utf-8", "replace")
    try:
        put_bytes(out, data)
    except OSError as problem:
        raise BadOutput(f"cannot write {out}: {problem.strerror or problem}") from problem
    return Page(out, len(data), len(found), tuple(missing))


def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printable(value: Any) -> Any:
    """What a template shows, without control characters."""
    return _CONTROLS.sub("�", value) if type(value) is str else value


# Findings


class _Finding:
    """One finding with all that the page says of it."""

    def __init__(self, record: FindingRecord, state: FindingState | None) -> None:
        self.record = record
        self.state = state
        self.folder = read_folder(record.path)

    @property
    def order(self) -> tuple[int, int, str]:
        kind = str(self.record.finding_class)
        place = _CLASSES.index(kind) if kind in _CLASSES else len(_CLASSES)
        return place, -self.duplicates, self.record.id

    @property
    def duplicates(self) -> int:
        if self.state is not None:
            return self.state.duplicates
        try:
            return (self.record.path / "duplicates.txt").read_bytes().count(b"\n")
        except OSError:
            return 0

    @property
    def strategy(self) -> str:
        test = self.folder.data.get("test")
        told = test.get("strategy") if isinstance(test, dict) else None
        return self.state.strategy if self.state else str(told or "")

    @property
    def family(self) -> str:
        entry = self.folder.guilty or {}
        return str(entry.get("family") or re.split(r"[=\[-]", self.record.solver)[0])

    def shown(self, of: int) -> dict[str, Any]:
        """For the template; the more findings there are, the less of each one's texts."""
        room = max(800, min(_LONGEST_FORMULA + _LONGEST_PRINTED, _FOR_TEXTS // max(1, of)))
        folder, told = self.folder, self.folder.bisection
        reduced = folder.data["reduced"] if folder.is_reduced else None
        file, text = folder.reproduction
        return {
            "id": self.record.id,
            "class": str(self.record.finding_class),
            "solver": self.record.solver,
            "title": title_of(folder),
            "key": folder.key,
            "folder": self.record.path.name,
            "duplicates": self.duplicates,
            "found": _time(self.state.found_at) if self.state else None,
            "strategy": self.strategy,
            "reason": str(folder.data.get("reason") or ""),
            "evidence": _evidence(folder.data.get("evidence")),
            "sizes": (reduced["size_before"], reduced["size_after"]) if reduced else None,
            "releases": _releases(told) if told else None,
            "resembles": [row for row in folder.data.get("resembles") or () if isinstance(row, dict)][:3],
            "compared": folder.data.get("resembles") is not None,
            "file": file,
            "formula": _cut(text, room * 2 // 3),
            "calls": folder.lines if isinstance(folder, CallsFolder) else None,
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


def _state_of(record: FindingRecord, campaign: Campaign | None) -> FindingState | None:
    rows = campaign.findings if campaign is not None else ()
    return next((row for row in rows if row.folder == record.path.name), None)


def _evidence(told: Any) -> list[str]:
    rows = told if isinstance(told, list) else []
    lines = [str(row.get("text", "")) if isinstance(row, dict) else str(row) for row in rows]
    return [line for line in lines if line]


def _releases(told: Mapping[str, Any]) -> str:
    first = told.get("first_affected")
    oldest = " (the oldest that runs here)" if told.get("since_the_oldest") else ""
    last = f"fixed in {told['first_fixed']}" if told.get("first_fixed") else "the newest has it"
    return f"first affected: {first}{oldest}; {last}"


def _cut(text: str, room: int) -> str:
    text = text.rstrip("\n")
    return text if len(text) <= room else f"{text[:room]}\n... ({len(text) - room} more characters)"


def _not_worked_off(found: Sequence[_Finding]) -> list[str]:
    told = []
    of_calls = [f.folder for f in found if isinstance(f.folder, CallsFolder)]
    if left := sum(not f.data.get("complete", True) for f in of_calls):
        told.append(
            f"the smallest traces of {left} of {len(found)} findings: exhume apifuzz --minimise FINDING"
        )
    if left := sum(not f.folder.is_reduced for f in found) - len(of_calls):
        told.append(f"reduced formulas of {left} of {len(found)} findings: exhume reduce FINDING")
    if left := sum(not f.folder.bisection for f in found):
        told.append(f"affected releases of {left} of {len(found)} findings: exhume bisect FINDING")
    if left := sum(f.folder.data.get("resembles") is None for f in found):
        told.append(f"known issues like {left} of {len(found)} findings: exhume triage DIR --corpus FILE")
    return told


# Facts and counts


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def _facts(campaign: Campaign | None) -> list[tuple[str, str]]:
    """What made the tests, and who worked on them."""
    if campaign is None:
        return []
    facts = [
        (name.replace("_", " "), _fact(value))
        for name, value in campaign.settings.items()
        if name not in ("created", "format")
    ]
    if isinstance(created := campaign.settings.get("created"), int | float):
        facts.insert(0, ("began", _time(created) + " UTC"))
    for run in campaign.runs:
        ending = run.ending or "running, or killed"
        facts.append(
            (
                f"run on {run.host}",
                f"{_time(run.started)} to {_time(run.seen)}, {run.jobs} jobs ({run.executor}): {ending}",
            )
        )
    return facts


def _fact(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_fact(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(_fact, value))
    return str(value)


def _cards(campaign: Campaign | None, found: Sequence[_Finding]) -> list[tuple[str, str]]:
    """The few numbers on top."""
    counts = Counter(str(f.record.finding_class) for f in found)
    cards = [("findings", str(len(found)))]
    cards += [(name, str(counts[name])) for name in sorted(counts, key=lambda n: (n not in _CLASSES, n))]
    if campaign is not None:
        tests = sum(bucket.tests for bucket in campaign.buckets)
        decided = sum(bucket.decided for bucket in campaign.buckets)
        cards += [("tests", f"{tests:,}"), ("decided", f"{decided:,}")]
        cards += [("wall time", _span(campaign.seconds))]
        cards += [("tests a second", f"{tests / campaign.seconds:.1f}")] if campaign.seconds else []
    return cards


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


def _strategy_table(campaign: Campaign | None) -> list[dict[str, Any]]:
    """What each strategy came to; a row per strategy, its classes added up."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for arm in campaign.arms if campaign is not None else ():
        rows[arm.strategy].update(
            tests=arm.tests, decided=arm.decided, findings=arm.findings, seconds=round(arm.solver_seconds)
        )
    return [{"name": name, **counts} for name, counts in sorted(rows.items())]


# Plots


def _campaign_plots(campaign: Campaign | None) -> Iterable[Plot]:
    if campaign is None or not campaign.buckets:
        return []
    plots = [_over_time(campaign)]
    per_solver: dict[str, Counter[str]] = defaultdict(Counter)
    by_kind: dict[str, dict[str, Counter[str]]] = {"strategy": {}, "theory": {}}
    crossed: dict[str, Counter[str]] = defaultdict(Counter)
    for row in campaign.outcomes:
        if row.kind == CROSSING:
            crossed[row.outcome][row.solver] += row.count
            continue
        if row.kind == "strategy":
            per_solver[row.solver][row.outcome] += row.count
        by_kind.setdefault(row.kind, {}).setdefault(row.name, Counter())[row.outcome] += row.count
    # The same outcomes everywhere, so that a colour means the same in all plots.
    seen = {o for counts in per_solver.values() for o in counts}
    outcomes = [*(o for o in _OUTCOMES if o in seen), *sorted(seen - set(_OUTCOMES))]
    if per_solver:
        note = "One run per test and solver."
        plots.append(_outcome_plot("solver", "Outcomes per solver", note, per_solver, outcomes))
    if by_kind["strategy"]:
        note = "Runs of all solvers on the tests of a strategy."
        plots.append(_outcome_plot("strategy", "Outcomes by strategy", note, by_kind["strategy"], outcomes))
    if by_kind["theory"]:
        note = "Runs of all solvers on tests with a theory; a test of two theories counts in both."
        plots.append(_outcome_plot("theory", "Outcomes by theory", note, by_kind["theory"], outcomes))
    if crossed:
        note = (
            "Models of each solver that another one confirmed or refuted, and why it is not known of others."
        )
        plots.append(
            _outcome_plot("model", "Models put into another solver", note, crossed, list(per_solver))
        )
    return plots


def _over_time(campaign: Campaign) -> Plot:
    """Tests and findings added up over time, from the buckets."""
    begin = min(run.started for run in campaign.runs)
    last = max(run.seen for run in campaign.runs)
    # What a bucket counts is drawn where it ends; the last one ends with the campaign.
    ends = [0.0, *(min(b.start + campaign.bucket_seconds, last) - begin for b in campaign.buckets)]
    unit, seconds = ("seconds", 1) if ends[-1] < _MINUTES_FROM else ("minutes", 60)
    if ends[-1] >= _HOURS_FROM:
        unit, seconds = "hours", 3600
    times = [end / seconds for end in ends]
    sums = {
        name: [0, *accumulate(getattr(bucket, name) for bucket in campaign.buckets)]
        for name in ("tests", "decided", "findings", "duplicates")
    }
    upper, lower = {name: sums[name] for name in ("tests", "decided")}, {"findings": sums["findings"]}
    drawing = lines_over_time("time", times, f"{unit} since the campaign began", upper, lower)
    shown = sorted({*range(0, len(times), max(1, len(times) // 24)), len(times) - 1})
    return Plot(
        "Over time",
        "Tests, those that every solver decided, and distinct findings, added up.",
        Markup(drawing),
        [unit, *sums],
        [[f"{times[i]:.2f}", *(str(values[i]) for values in sums.values())] for i in shown],
    )


def _outcome_plot(
    name: str, title: str, note: str, counts: Mapping[str, Counter[str]], outcomes: Sequence[str]
) -> Plot:
    places = sorted(counts, key=lambda place: (-counts[place].total(), place))
    drawn = places[:_MOST_BARS]
    if len(places) > len(drawn):
        note += f" The {_MOST_BARS} with most runs of {len(places)}."
    series = {o: [counts[p][o] for p in drawn] for o in outcomes}
    return Plot(
        title,
        note,
        Markup(stacked_bars(f"by-{name}", drawn, series, "runs")),
        [name, *outcomes],
        [[p, *(str(counts[p][o]) for o in outcomes)] for p in places],
    )


def _release_plots(found: Sequence[_Finding]) -> Iterable[Plot]:
    """Per solver, how many findings affect each release, as Figure 4 of the HistFuzz paper has it."""
    families: dict[str, list[_Finding]] = defaultdict(list)
    for finding in found:
        if finding.folder.bisection.get("first_affected"):
            families[finding.family].append(finding)
    for number, (family, members) in enumerate(sorted(families.items())):
        releases = sorted({r for f in members for r in _tried(f.folder.bisection)}, key=_version)
        classes = [c for c in _CLASSES if any(str(f.record.finding_class) == c for f in members)]
        series = {
            name: [
                sum(_affects(f.folder.bisection, r) for f in members if str(f.record.finding_class) == name)
                for r in releases
            ]
            for name in classes
        }
        colours = [_CLASS_COLOURS.get(name, 4) for name in classes]
        left = sum(f.family == family for f in found) - len(members)
        note = (
            f"Findings that affect each release of {family} that was tried, from the first affected release"
            f" to the last. {len(members)} findings are bisected" + (f", {left} not yet." if left else ".")
        )
        yield Plot(
            f"Affected releases of {family}",
            note,
            Markup(columns(f"releases-{number}", releases, series, "findings", colours)),
            ["release", *classes],
            [[r, *(str(series[c][i]) for c in classes)] for i, r in enumerate(releases)],
        )


def _tried(told: Mapping[str, Any]) -> list[str]:
    entries = [entry for entry in told.get("tried", ()) if isinstance(entry, dict)]
    return [str(entry["release"]) for entry in entries if entry.get("state") != "skipped"]


def _affects(told: Mapping[str, Any], release: str) -> bool:
    first, last = str(told["first_affected"]), str(told.get("last_affected"))
    return _version(first) <= _version(release) <= _version(last)


def _version(release: str) -> tuple[tuple[int, ...], str]:
    """Releases in their order; 4.8.5 and 4.8.5.0 are one."""
    numbers = [int(part) for part in re.findall(r"\d+", release)[:6]]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), "" if re.fullmatch(r"[\d.]+", release) else release
