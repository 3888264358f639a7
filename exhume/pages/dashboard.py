"""The dashboard of many campaigns: causes by age and state, what is new and fixed, what finding them took."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from difftest.campaign.nights import FIXED, NEW, OPEN, QUIET, Cause, History, Night
from difftest.triage.classes import class_of_finding
from difftest.triage.kinds import title_of
from difftest.triage.ledger import Became
from difftest.triage.report import since, until
from exhume.pages.campaign import Affected, release_plots
from exhume.pages.plots import Plot, bar_plot, columns
from exhume.pages.rendering import link_to, write_html

_AGES = ((1, "a day or less"), (7, "a week or less"), (30, "a month or less"), (1 << 30, "older"))
_STATES = {NEW: 5, OPEN: 6, QUIET: 4, FIXED: 0} | {
    str(state): colour
    for state, colour in (
        (Became.REPORTED, 3), (Became.DUPLICATE, 2), (Became.WONT_FIX, 7), (Became.FIXED, 0),
    )
}  # fmt: skip
_MOST_NIGHTS = 60
_HOUR = 3600


def write_dashboard(history: History, out: Path) -> int:
    """Write the page; its size in bytes. Raises BadOutput."""
    nights = history.nights
    hours = _hours(sum(night.solver_seconds for night in nights))
    states = Counter(map(history.state, history.causes))
    cards = [("nights", str(len(nights))), ("causes", str(len(history.causes)))]
    cards += [(state, str(states[state])) for state in _STATES if states[state]]
    cards += [("solver hours", hours), ("tests", f"{sum(night.tests for night in nights):,}")]
    return write_html(
        out,
        "dashboard.html",
        span=" to ".join(dict.fromkeys((str(nights[0].day), str(nights[-1].day)))),
        cards=cards,
        warnings=list(history.problems),
        causes=[_cause(history, cause, out) for cause in _ordered(history)],
        plots=list(_plots(history)),
        strategies=[_strategy(*row) for row in history.strategies()],
        nights=[_night(history, number, out) for number in reversed(range(len(nights)))],
    )


def _ordered(history: History) -> list[Cause]:
    """New and open ones first, then the gravest class, then the oldest."""
    places = {state: place for place, state in enumerate(_STATES)}

    def order(cause: Cause) -> tuple[int, int, int, str]:
        rank = class_of_finding(cause.folder).rank
        return places[history.state(cause)], rank, -history.age(cause), cause.key

    return sorted(history.causes, key=order)


def _cause(history: History, cause: Cause, out: Path) -> dict[str, Any]:
    data, bisection = cause.folder.data, cause.folder.bisection
    entry = cause.entry
    return {
        "class": str(data["class"]),
        "colour": class_of_finding(cause.folder).colour,
        "title": title_of(cause.folder),
        "key": cause.key,
        "state": history.state(cause),
        "state_colour": _STATES[history.state(cause)],
        "at": entry.at if entry else "",
        "age": history.age(cause),
        "nights": len(cause.nights),
        "strategy": cause.strategy,
        "releases": f"{since(bisection)}; {until(bisection)}" if bisection.get("first_affected") else "",
        "report": link_to(cause.folder.path / "report.md", out),
    }


def _plots(history: History) -> Iterator[Plot]:
    states = [state for state in _STATES if any(history.state(cause) == state for cause in history.causes)]
    ages: dict[str, Counter[str]] = {name: Counter() for _, name in _AGES}
    for cause in history.causes:
        age = next(name for most, name in _AGES if history.age(cause) <= most)
        ages[age][history.state(cause)] += 1
    if history.causes:
        yield bar_plot(
            "by age", "Causes by age and state", "Age: from the first night that found it to the last one.",
            "", ages, states, "causes", [_STATES[state] for state in states], list(ages),
        )  # fmt: skip
    numbers = range(max(0, len(history.nights) - _MOST_NIGHTS), len(history.nights))
    places = _names([history.nights[number] for number in numbers])
    series = {
        "new": [float(len(history.first_seen(number))) for number in numbers],
        "seen again": [float(_again(history, number)) for number in numbers],
        "fixed": [float(history.fixed_in(number)) for number in numbers],
    }
    yield _nightly(
        "causes", "New, seen again and fixed", "Fixed: according to the ledger.", places, series, [5, 6, 0]
    )
    hours = {"solver hours": [history.nights[number].solver_seconds / _HOUR for number in numbers]}
    yield _nightly("hours", "Solver hours per night", "Time that solvers ran.", places, hours, [3])
    yield from release_plots([Affected.by(cause.folder) for cause in history.causes])


def _names(nights: Sequence[Night]) -> list[str]:
    """The folders of nights, with the day where several have one name."""
    named = Counter(night.folder.name for night in nights)
    return [n.folder.name if named[n.folder.name] == 1 else f"{n.day} {n.folder.name}" for n in nights]


def _hours(seconds: float) -> str:
    """Hours, of short nights with two digits that say something."""
    hours = seconds / _HOUR
    return f"{hours:.2f}" if hours >= 0.1 else f"{hours:.2g}"


def _again(history: History, night: int) -> int:
    return sum(night in cause.nights[1:] for cause in history.causes)


def _nightly(
    name: str, title: str, note: str, places: list[str], series: dict[str, list[float]], colours: list[int]
) -> Plot:
    drawing = columns(f"night-{name}", places, series, name, colours)
    if len(places) == _MOST_NIGHTS:
        note += f" The last {_MOST_NIGHTS} nights."
    rows = [[place, *(f"{values[at]:g}" for values in series.values())] for at, place in enumerate(places)]
    return Plot(title, note, Markup(drawing), ["night", *series], rows)


def _strategy(name: str, tests: int, seconds: float, causes: int) -> dict[str, Any]:
    hours = seconds / _HOUR
    rate = f"{causes / hours:.2f}" if hours else "–"
    return {"name": name or "–", "tests": tests, "hours": _hours(seconds), "causes": causes, "rate": rate}


def _night(history: History, number: int, out: Path) -> dict[str, Any]:
    night: Night = history.nights[number]
    return {
        "name": night.folder.name,
        "day": f"{night.began:%Y-%m-%d %H:%M}",
        "page": link_to(night.folder / "report.html", out),
        "tests": night.tests,
        "hours": _hours(night.solver_seconds),
        "new": len(history.first_seen(number)),
        "again": _again(history, number),
        "versions": ", ".join(f"{name} ({version})" for name, version in night.versions.items()),
    }
