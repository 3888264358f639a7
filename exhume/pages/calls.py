"""What a campaign of API fuzzing puts on its page: counts of runs and calls, and the plots of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from apifuzz.running import tally
from apifuzz.running.tally import Tally
from exhume.pages.plots import Plot, stacked_bars

_MOST_BARS = 24
_SETTINGS = ("setup", "drawing", "limits")


@dataclass(frozen=True, slots=True)
class Counts:
    """What a campaign was begun with, and what it counted."""

    settings: Mapping[str, Any]
    tally: Tally

    def facts(self) -> list[tuple[str, str]]:
        """What made the runs, for a table."""
        told = {name: value for name, value in self.settings.items() if name not in _SETTINGS}
        for group in _SETTINGS:
            inner = self.settings.get(group)
            told |= inner if isinstance(inner, dict) else {}
        return [
            (name.replace("_", " "), ", ".join(map(str, value)) if isinstance(value, list) else str(value))
            for name, value in told.items()
            if value not in (None, [], "")
        ]

    def cards(self) -> list[tuple[str, str]]:
        """The few numbers on top."""
        seconds = self.tally.seconds
        cards = [("runs", f"{self.tally.runs:,}"), ("calls", f"{self.tally.calls:,}")]
        cards += [("errors", f"{self.tally.errors.total():,}")]
        cards += [("not seen again", f"{self.tally.unconfirmed:,}")] if self.tally.unconfirmed else []
        cards += [("of known errors", f"{self.tally.known:,}")] if self.tally.known else []
        return cards + ([("runs a second", f"{self.tally.runs / seconds:.1f}")] if seconds else [])

    def plots(self) -> Iterator[Plot]:
        """Runs by what became of them, calls by action, terms by theory."""
        counts = self.tally.statistics
        ends = Counter({name: count for name, count in self.tally.outcomes.items() if name != "fault"})
        ends.update(self.tally.errors)
        if ends:
            yield _bars("ends", "Runs", "What became of the runs, errors by kind.", {"runs": ends})
        if counts["answers"]:
            yield _bars("answers", "Answers", "Of all checks.", {"answers": counts["answers"]})
        if counts["tried"]:
            refused = counts["refused"]
            made = Counter({name: count - refused[name] for name, count in counts["tried"].items()})
            series = {"made": made, "refused": refused}
            note = "Calls by action: made, and refused by the engine, as the solver cannot do them."
            yield _bars("actions", "Calls", note, series)
        if counts["operators"]:
            theories: Counter[str] = Counter()
            for name, count in counts["operators"].items():
                theories[name.partition(" ")[0]] += count
            yield _bars(
                "theories", "Terms by theory", "By the theory file of their operator.", {"terms": theories}
            )


def read_counts(folder: Path) -> Counts | None:
    """The counts of the campaign in ``folder``; None if there is none of API fuzzing.

    NoCampaign where its file cannot be read.
    """
    if not (folder / tally.FILE).is_file():
        return None
    return Counts(*tally.read(folder))


def _bars(name: str, title: str, note: str, counts: Mapping[str, Mapping[str, int]]) -> Plot:
    """Bars of each place that is counted, those of the highest sums first."""
    total: Counter[str] = Counter()
    for series in counts.values():
        total.update(series)
    places = sorted(total, key=lambda place: (-total[place], place))
    drawn: Sequence[str] = places[:_MOST_BARS]
    if len(places) > len(drawn):
        note += f" The {_MOST_BARS} highest of {len(places)}."
    stacks = {title: [series.get(place, 0) for place in drawn] for title, series in counts.items()}
    return Plot(
        title,
        note,
        Markup(stacked_bars(f"calls-{name}", drawn, stacks, next(iter(counts)))),
        [name, *counts],
        [[place, *(str(series.get(place, 0)) for series in counts.values())] for place in places],
    )
