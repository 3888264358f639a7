"""What a campaign of API fuzzing shows: a screen while it runs, a summary and counts at its end."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from apifuzz.running.campaign import Summary
from apifuzz.running.findings import Finding
from exhume.live import span
from exhume.screen import err, out, say, show_table

_QUIET_SECONDS = 60.0
_WINDOW = 60.0
_LATEST = 5
_ROWS = 20
_DETAIL = 60
_ANSWERS = ("sat", "unsat", "unknown")


class ApifuzzScreen:
    """Shows progress on standard error, a line a minute where that is no terminal; use under ``with``."""

    def __init__(self, title: str, goal: str = "", quiet: bool = False) -> None:
        self._title = title
        self._goal = goal
        self._quiet = quiet
        self._past: deque[tuple[float, int, int]] = deque()
        self._latest: deque[str] = deque(maxlen=_LATEST)
        self._said = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        if not self._quiet and err.is_terminal:
            self._live = Live(console=err, transient=True, refresh_per_second=4, redirect_stderr=False)
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def found(self, finding: Finding) -> None:
        """A finding was filed."""
        self._latest.append(f"{finding.kind} {_where(finding)} ({finding.path.name})")

    def update(self, summary: Summary) -> None:
        """Where the campaign stands now."""
        self._past.append((summary.seconds, summary.here, summary.tally.calls))
        while len(self._past) > 2 and self._past[1][0] <= summary.seconds - _WINDOW:
            self._past.popleft()
        if self._live is not None:
            self._live.update(self.render(summary))
        elif not self._quiet and time.monotonic() - self._said >= _QUIET_SECONDS:
            self._said = time.monotonic()
            say(self.line(summary))

    def rates(self) -> tuple[float, float]:
        """Runs and calls a second, over the last minute."""
        if len(self._past) < 2:
            return 0.0, 0.0
        (start, runs, calls), (end, runs_now, calls_now) = self._past[0], self._past[-1]
        seconds = max(end - start, 1e-9)
        return (runs_now - runs) / seconds, (calls_now - calls) / seconds

    def line(self, summary: Summary) -> str:
        """One line, for a log."""
        runs, calls = self.rates()
        return (
            f"{span(summary.tally.seconds)}: {summary.tally.runs} runs ({runs:.1f}/s, {calls:.0f} calls/s),"
            f" {_answers(summary)}, {_ends(summary)}, {len(summary.findings)} findings"
        )

    def render(self, summary: Summary) -> RenderableType:
        """The screen."""
        tally = summary.tally
        runs, calls = self.rates()
        text = Text(
            f"{span(tally.seconds)}{self._goal}\n"
            f"{tally.runs} runs ({runs:.1f}/s), {tally.calls} calls ({calls:.0f}/s)\n"
            f"{_answers(summary)}\n{_ends(summary)}\n"
        )
        errors = ", ".join(f"{count} {kind}" for kind, count in sorted(tally.errors.items()))
        found = Text(f"\n{len(summary.findings)} findings", style="bold")
        found.append(
            f"; errors: {errors or 'none'}\n{tally.duplicates} showed them again, {tally.known} known,"
            f" {tally.unconfirmed} not confirmed\n",
            style="not bold",
        )
        for line in self._latest:
            found.append(f"  {line}\n", style="not bold")
        found.no_wrap, found.overflow = True, "ellipsis"
        hint = Text("Ctrl-C finishes what runs and shows the summary; twice stops at once", style="dim")
        return Group(Text(self._title, style="bold"), text, found, hint)


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
    out.print(f"\n[bold]{len(summary.findings)} finding{'s' * (len(summary.findings) > 1)}[/bold]{told}")
    rows = [
        [f.kind, _where(f), f"{f.lines[0]} to {f.lines[1]}", str(max(tally.seen[f.key], 1)), f.path.name]
        for f in summary.findings
    ]
    show_table(["class", "where", "calls", "runs", "folder"], rows[:_ROWS], frozenset({2, 3}), shrink=1)
    folder = summary.findings[0].path.parent
    more = len(summary.findings) - _ROWS
    out.print(f"{f'and {more} more' if more > 0 else 'all'} in {folder}", markup=False)


def _where(finding: Finding) -> str:
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
    for title in ("states", "sorts", "operators", "options"):
        _show_counts(title, statistics[title])


def _show_counts(title: str, counts: Mapping[str, int]) -> None:
    if counts:
        out.print()
        rows = [[name, str(count)] for name, count in Counter(counts).most_common()]
        show_table([title.removesuffix("s"), "count"], rows, frozenset({1}))
