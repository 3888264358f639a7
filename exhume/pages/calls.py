"""The page of an API fuzzing campaign: counts and plots of runs and calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from exhume.pages.plots import Plot, bar_plot


def call_cards(counts: Mapping[str, Counter[str]]) -> list[tuple[str, str]]:
    """The numbers at the top of the page."""
    if not counts.get("calls"):
        return []
    cards = [("calls", f"{counts['calls'].total():,}"), ("errors", f"{counts['errors'].total():,}")]
    return cards + ([("known errors", f"{counts['known'].total():,}")] if counts["known"] else [])


def call_plots(counts: Mapping[str, Counter[str]]) -> Iterator[Plot]:
    """Plots of runs by their end, answers, calls by action, terms by theory; empty without calls."""
    if counts.get("calls"):
        ends = Counter({name: count for name, count in counts["runs"].items() if name != "fault"})
        ends.update(counts["errors"])
        if ends:
            yield _bars("ends", "Runs", "How runs ended; errors by kind.", {"runs": ends})
        if counts["answers"]:
            yield _bars(
                "answers", "Answers", "Answers of all satisfiability checks.", {"answers": counts["answers"]}
            )
        if counts["tried"]:
            refused = counts["refused"]
            made = Counter({name: count - refused[name] for name, count in counts["tried"].items()})
            series = {"made": made, "refused": refused}
            note = "Calls by action: made, or refused because the solver does not support them."
            yield _bars("actions", "Calls", note, series)
        if counts["operators"]:
            theories: Counter[str] = Counter()
            for name, count in counts["operators"].items():
                theories[name.partition(" ")[0]] += count
            yield _bars(
                "theories", "Terms by theory", "Terms by the theory of their operator.", {"terms": theories}
            )


def _bars(name: str, title: str, note: str, counts: Mapping[str, Mapping[str, int]]) -> Plot:
    """A bar per counted name, the highest sums first."""
    places: dict[str, Counter[str]] = defaultdict(Counter)
    for text, found in counts.items():
        for place, count in found.items():
            places[place][text] = count
    return bar_plot(
        f"calls {name}", title, note, "the {} highest of {}", places, [*counts], next(iter(counts))
    )
