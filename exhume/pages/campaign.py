"""The plots of a campaign's page: tests, outcomes and affected releases."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from markupsafe import Markup

from difftest import Outcome
from difftest.bugs.describing import by_age
from difftest.campaign.stored import CROSSING, StoredCampaign
from difftest.triage.classes import class_of, class_of_finding
from difftest.triage.classes.base import FindingClass
from difftest.triage.folder import FindingFolder
from exhume.pages.plots import Plot, bar_plot, columns, lines_over_time

_OUTCOMES = [str(outcome) for outcome in Outcome]
_COLOURS = {
    **{"ok": 0, "timeout": 1, "memout": 7, "unknown": 3, "refused": 4},
    **{name: class_of(name).colour for name in ("crash", "invalid-model")},
}
# The plots of outcomes: titles and notes.
_BY = {
    "solver": ("Outcomes per solver", "One run per test and solver."),
    "strategy": ("Outcomes by strategy", "Runs of all solvers on the tests of a strategy."),
    "theory": (
        "Outcomes by theory",
        "Runs of all solvers on tests with a theory; a test of two theories counts in both.",
    ),
}
_MINUTES_FROM, _HOURS_FROM = 5 * 60, 2 * 3600


def campaign_plots(campaign: StoredCampaign | None) -> list[Plot]:
    """Plots of tests over time and of outcomes per solver, strategy and theory; empty without a campaign."""
    if campaign is None or not campaign.buckets or not campaign.runs:
        return []
    counts: dict[str, dict[str, Counter[str]]] = {kind: defaultdict(Counter) for kind in _BY}
    checked_models: dict[str, Counter[str]] = defaultdict(Counter)
    for row in campaign.outcomes:
        if not row.outcome:
            continue  # a row of another kind
        if row.kind == CROSSING:
            checked_models[row.outcome][row.solver] += row.count
        elif row.kind in counts:
            counts[row.kind][row.name][row.outcome] += row.count
            if row.kind == "strategy":
                counts["solver"][row.solver][row.outcome] += row.count
    # The same outcomes everywhere, so that a colour means the same in all plots.
    seen = {outcome for found in counts["solver"].values() for outcome in found}
    outcomes = [*(o for o in _OUTCOMES if o in seen), *sorted(seen - set(_OUTCOMES))]
    plots = [_over_time(campaign)]
    plots += [_outcome_plot(by, *_BY[by], found, outcomes) for by, found in counts.items() if found]
    if checked_models:
        note = "Models that another solver confirmed or refuted, and why others could not be checked."
        title = "Models checked by another solver"
        plots.append(_outcome_plot("model", title, note, checked_models, list(counts["solver"])))
    return plots


def _over_time(campaign: StoredCampaign) -> Plot:
    """Cumulative tests and findings over time, from the buckets."""
    begin = min(run.started for run in campaign.runs)
    last = max(run.seen for run in campaign.runs)
    # The count of a bucket is drawn at its end; the last one ends with the campaign.
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
    drawing = lines_over_time("time", times, f"{unit} since the campaign started", upper, lower)
    shown = sorted({*range(0, len(times), max(1, len(times) // 24)), len(times) - 1})
    return Plot(
        "Over time",
        "Cumulative numbers of tests, of tests that every solver decided, and of findings.",
        Markup(drawing),
        [unit, *sums],
        [[f"{times[i]:.2f}", *(str(values[i]) for values in sums.values())] for i in shown],
    )


def _outcome_plot(
    name: str, title: str, note: str, counts: Mapping[str, Counter[str]], outcomes: Sequence[str]
) -> Plot:
    # The same colours as the labels of findings.
    colours = [_COLOURS[o] for o in outcomes] if all(o in _COLOURS for o in outcomes) else None
    cut = "the {} of {} with the most runs"
    return bar_plot(f"by {name}", title, note, cut, counts, outcomes, "runs", colours)


@dataclass(frozen=True, slots=True)
class Affected:
    """A finding in the plot of releases: the solver's family, the class, the bisection (or an empty one), and
    the releases that it tried.
    """

    family: str
    finding_class: FindingClass
    bisection: Mapping[str, Any]
    tried: Sequence[str]

    @classmethod
    def by(cls, found: FindingFolder) -> Affected:
        """A finding."""
        tried = [release for release, _ in found.tried]
        return cls(found.family, class_of_finding(found), found.bisection, tried)


def release_plots(found: Sequence[Affected], what: str = "findings") -> Iterable[Plot]:
    """Per solver, the number of findings (or ``what`` they are) that affect each release, as in Figure 4 of
    the HistFuzz paper.
    """
    families: dict[str, list[Affected]] = defaultdict(list)
    for finding in found:
        if finding.bisection.get("first_affected") and finding.tried:
            families[finding.family].append(finding)
    for number, (family, members) in enumerate(sorted(families.items())):
        releases = sorted({r for f in members for r in f.tried}, key=by_age)
        classes = {f.finding_class.name: f.finding_class for f in members}
        classes = dict(sorted(classes.items(), key=lambda pair: pair[1].rank))
        series = {
            name: [
                sum(_affects(f.bisection, r) for f in members if f.finding_class.name == name)
                for r in releases
            ]
            for name in classes
        }
        colours = [found.colour for found in classes.values()]
        left = sum(f.family == family for f in found) - len(members)
        note = (
            f"Number of {what} that affect each tested release of {family}."
            f" Bisected {what}: {len(members)}" + (f"; not bisected: {left}." if left else ".")
        )
        yield Plot(
            f"Affected releases of {family}",
            note,
            Markup(columns(f"releases-{number}", releases, series, what, colours)),
            ["release", *classes],
            [[r, *(str(series[c][i]) for c in classes)] for i, r in enumerate(releases)],
        )


def _affects(bisection: Mapping[str, Any], release: str) -> bool:
    first, last = str(bisection["first_affected"]), str(bisection.get("last_affected"))
    return by_age(first)[0] <= by_age(release)[0] <= by_age(last)[0]
