"""What a campaign of API fuzzing shows: a screen while it runs, a summary and counts at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rich.console import RenderableType
from rich.text import Text

from apifuzz.running.campaign import Summary
from difftest import FindingRecord
from difftest.triage.folder import FindingFolder
from exhume.screens.console import headline, out, show_table
from exhume.screens.live import LiveScreen, span

_ROWS = 20
_DETAIL = 60
_TITLES = {"fed": "terms of the corpus"}
_ANSWERS = ("sat", "unsat", "unknown")


class ApifuzzScreen(LiveScreen[Summary]):
    """Progress of a campaign of API fuzzing."""

    def found(self, finding: FindingRecord) -> None:
        """A finding was filed."""
        self.latest.append(f"{finding.finding_class} {_where(finding)} ({finding.path.name})")

    def counted(self, summary: Summary) -> tuple[float, int, int]:
        """Runs and calls."""
        return summary.seconds, summary.here, summary.tally.calls

    def line(self, summary: Summary) -> str:
        """One line, for a log."""
        runs, calls = self.rates()
        return (
            f"{span(summary.tally.seconds)}: {summary.tally.runs} runs ({runs:.1f}/s, {calls:.0f} calls/s),"
            f" {_answers(summary)}, {_ends(summary)}, {len(summary.findings)} findings"
        )

    def parts(self, summary: Summary) -> list[RenderableType]:
        """Counts, answers, limits met, findings."""
        tally = summary.tally
        runs, calls = self.rates()
        text = Text(
            f"{span(tally.seconds)}{self.goal}\n"
            f"{tally.runs} runs ({runs:.1f}/s), {tally.calls} calls ({calls:.0f}/s)\n"
            f"{_answers(summary)}\n{_ends(summary)}\n"
        )
        errors = ", ".join(f"{count} {kind}" for kind, count in sorted(tally.errors.items()))
        found = self.latest_below(
            f"\n{len(summary.findings)} findings",
            f"; errors: {errors or 'none'}\n{tally.duplicates} showed them again, {tally.known} known,"
            f" {tally.unconfirmed} not confirmed\n",
        )
        return [text, found]


def _answers(summary: Summary) -> str:
    answers = summary.tally.statistics["answers"]
    return ", ".join(f"{answers[name]} {name}" for name in _ANSWERS)


def _ends(summary: Summary) -> str:
    outcomes = summary.tally.outcomes
    return (
        ", ".join(f"{outcomes[name]} {name}" for name in ("timeout", "memout") if name in outcomes)
        or "no limit met"
    )


def show_summary(summary: Summary) -> None:
    """Print what a campaign came to."""
    tally = summary.tally
    seconds = max(tally.seconds, 1e-9)
    out.print(
        f"{tally.runs} runs in {tally.seconds:.1f} s ({tally.runs / seconds:.1f} a second),"
        f" {tally.calls} calls ({tally.calls / seconds:.0f} a second)"
    )
    out.print(f"{_answers(summary)}; {_ends(summary)}")
    for name, count in (
        ("of known errors", tally.known),
        ("not confirmed", tally.unconfirmed),
        ("of findings seen again", tally.duplicates),
    ):
        if count:
            out.print(f"{count} runs {name}")
    if not summary.findings:
        out.print("\nno findings")
        return
    old = len(summary.findings) - summary.new
    told = f", {old} of them from an earlier campaign" if old else ""
    headline(f"\n{len(summary.findings)} finding{'s' * (len(summary.findings) > 1)}", told)
    rows = [
        [f.finding_class, _where(f), _calls(f), str(max(tally.seen[f.key], 1)), f.path.name]
        for f in summary.findings
    ]
    show_table(["class", "where", "calls", "runs", "folder"], rows[:_ROWS], frozenset({2, 3}), shrink=1)
    folder = summary.findings[0].path.parent
    more = len(summary.findings) - _ROWS
    out.print(f"{f'and {more} more' if more > 0 else 'all'} in {folder}")


def _calls(finding: FindingRecord) -> str:
    before, after = FindingFolder.read(finding.path).size
    return f"{before} to {after}"


def _where(finding: FindingRecord) -> str:
    text = finding.key.split("|", 2)[-1].replace("|", ", ")
    return text if len(text) <= _DETAIL else text[: _DETAIL - 3] + "..."


def show_statistics(summary: Summary) -> None:
    """Print the counts of a campaign: the most frequent first."""
    statistics = summary.tally.statistics
    tried, refused, idle = statistics["tried"], statistics["refused"], statistics["idle"]
    actions = sorted({**tried, **idle}, key=lambda name: (-tried[name], name))
    rows = [[name, str(tried[name]), str(refused[name]), str(idle[name])] for name in actions]
    out.print()
    show_table(["action", "calls", "refused", "nothing drawn"], rows, frozenset({1, 2, 3}))
    for title in ("states", "sorts", "operators", "options", "fed"):
        _show_counts(title, statistics[title])


def _show_counts(title: str, counts: Mapping[str, int]) -> None:
    if counts:
        out.print()
        rows = [[name, str(count)] for name, count in Counter(counts).most_common()]
        show_table([_TITLES.get(title, title.removesuffix("s")), "count"], rows, frozenset({1}))
