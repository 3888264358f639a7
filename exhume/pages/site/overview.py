"""The plots of the site's first page."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from difftest.bugs.describing import strip_of
from difftest.bugs.records import Bug
from difftest.triage.classes import class_of
from difftest.triage.kinds import State
from exhume.pages.campaign import Affected, release_plots
from exhume.pages.plots import Plot, bar_plot
from exhume.pages.site.indexing import theories_of, year_of

_DAYS = ((1, "0 to 1"), (7, "2 to 7"), (30, "8 to 30"), (90, "31 to 90"), (365, "91 to 365"))
_MORE_DAYS = "more than 365"
_CUT = "the first {} of {}"

_Places = Callable[[Bug], Iterable[str]]
# Title, note, what a place is called, the places of a bug, and whether places are sorted by name.
_PLOTS: tuple[tuple[str, str, str, _Places, bool], ...] = (
    (
        "Bugs by solver",
        "The parts of a bar are in the order of the legend, here and below.",
        "solver",
        lambda bug: [bug.solver],
        False,
    ),
    ("Bugs by year", "By year of the report.", "year", lambda bug: [year_of(bug)], True),
    ("Bugs by theory", "A bug of two theories counts in both.", "theory", theories_of, False),
)


def overview_plots(bugs: Sequence[Bug]) -> Iterator[Plot]:
    """Bugs by solver, year, theory and days to fix, and per solver the bugs that each release shows; a colour
    per class.
    """
    classes = sorted({bug.finding_class for bug in bugs}, key=lambda name: (class_of(name).rank, name))
    colours = [class_of(name).colour for name in classes]
    for title, note, word, places, by_name in _PLOTS:
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for bug in bugs:
            for place in places(bug):
                counts[place][bug.finding_class] += 1
        if counts:
            order = sorted(counts) if by_name else ()
            yield bar_plot(f"by {word}", title, note, _CUT, counts, classes, "bugs", colours, order)
    if plot := _days_plot(bugs, classes, colours):
        yield plot
    yield from release_plots([_affected(bug) for bug in bugs], "bugs")


def _days_plot(bugs: Sequence[Bug], classes: Sequence[str], colours: Sequence[int]) -> Plot | None:
    names = [name for _, name in _DAYS] + [_MORE_DAYS]
    counts: dict[str, Counter[str]] = {name: Counter() for name in names}
    known = [bug for bug in bugs if bug.days_to_fix is not None]
    for bug in known:
        place = next((name for most, name in _DAYS if (bug.days_to_fix or 0) <= most), _MORE_DAYS)
        counts[place][bug.finding_class] += 1
    if not known:
        return None
    note = f"From the report to the closing of the issue; known of {len(known)} bugs."
    return bar_plot("by days", "Days to fix", note, _CUT, counts, classes, "bugs", colours, names)


def _affected(bug: Bug) -> Affected:
    """The bug for the plot of releases: it affects those from the first that shows it to the last."""
    shown = (seen.release for seen, state in strip_of(bug) if state is State.AFFECTED)
    first = next(shown, bug.last_bad)
    bisection = {"first_affected": first, "last_affected": bug.last_bad}
    return Affected(bug.solver, class_of(bug.finding_class), bisection, [seen.release for seen in bug.strip])
