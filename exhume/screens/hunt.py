"""Progress of a hunt: a live screen on a terminal, lines elsewhere."""

from __future__ import annotations

from collections import Counter, deque
from typing import NamedTuple, Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from base.text import counted
from difftest import Event, FindingConfirmed, FindingRecord, Progress, WorkerNotice
from exhume.screens.console import Pace, err, printable, say
from exhume.screens.summary import calls_line, finding_line, known_count, outcome_rows
from exhume.screens.wording import size, span

_ARMS = 10
_TESTS_TO_WARN = 20
"""After this many refused tests and no accepted one, the screen warns."""
# Rates are those of the last minute.
_WINDOW = 60.0
_LATEST = 5


class Goal(NamedTuple):
    """The end of a run: a number of ``tests`` ("1000 tests"), a ``time`` ("10m"), or what comes first."""

    tests: str = ""
    time: str = ""


_ENDLESS = Goal()


class HuntScreen:
    """Shows the progress of a hunt on standard error; use under ``with``.

    ``title`` is the first line, ``goal`` the end of the run. ``quiet`` shows nothing.
    With ``tell``, a terminal shows findings as they are confirmed.
    """

    def __init__(self, title: str, goal: Goal = _ENDLESS, quiet: bool = False, tell: bool = True) -> None:
        self._title = title
        self._goal = goal
        self._quiet = quiet
        self._tell = tell
        self._past: deque[tuple[float, int, int]] = deque()
        self._pace = Pace()
        self._live: Live | None = None
        self._latest: deque[str] = deque(maxlen=_LATEST)

    def __enter__(self) -> Self:
        if not self._quiet and err.is_terminal:
            tests = f"of {self._goal.tests}" if self._goal.tests else "tests"
            first = Text(f"{printable(self._title)}\nmaking the first {tests}")
            self._live = Live(first, console=err, transient=True, refresh_per_second=4, redirect_stderr=False)
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def show(self, event: Event) -> None:
        """Update the screen after an event."""
        if isinstance(event, FindingConfirmed):
            self.found(event.record)
        elif isinstance(event, WorkerNotice):
            say(f"exhume: {event.text}")
        elif isinstance(event, Progress):
            self.update(event)

    def found(self, record: FindingRecord) -> None:
        """Add a confirmed finding to the latest ones."""
        if self._live is not None and self._tell and not record.known:
            self._latest.append(finding_line(record))

    def update(self, progress: Progress) -> None:
        """Show the current progress."""
        self._past.append((progress.now, progress.tests, progress.decided))
        while len(self._past) > 2 and self._past[1][0] <= self._past[-1][0] - _WINDOW:
            self._past.popleft()
        if self._live is not None:
            self._live.update(self.render(progress))
        elif not self._quiet and self._pace.is_due():
            say(self.line(progress))

    def rates(self) -> tuple[float, float]:
        """Tests and decided tests, per second over the last minute."""
        if len(self._past) < 2:
            return 0.0, 0.0
        (start, *before), (end, *after) = self._past[0], self._past[-1]
        seconds = max(end - start, 1e-9)
        first, second = (now - then for then, now in zip(before, after, strict=True))
        return first / seconds, second / seconds

    def line(self, progress: Progress) -> str:
        """One line, for a log."""
        tests, decided = self.rates()
        findings = f"{counted(len(progress.findings), 'finding')} ({progress.new_in_hour} in the last hour)"
        return (
            f"{span(progress.seconds)}: {counted(progress.tests, 'test')} ({tests:.1f}/s),"
            f" {progress.decided} decided ({decided:.1f}/s), {findings}, {size(progress.memory)}"
        )

    def render(self, progress: Progress) -> RenderableType:
        """The screen: counts, outcomes per solver, findings, results of each arm."""
        title = Text(printable(self._title), style="bold")
        parts: list[RenderableType] = [title, self._heads(progress), _outcomes(progress)]
        if progress.tests >= _TESTS_TO_WARN:
            parts += [Text(printable(f"warning: {refusal}"), style="bold") for refusal in progress.refusals]
        parts.append(self._findings(progress))
        if len(progress.arms) > 1 and any(arm.tests for arm in progress.arms):
            parts.append(_arms(progress))
        hint = "Ctrl-C finishes the running tests and shows the summary; twice stops immediately"
        return Group(*parts, Text(hint, style="dim"))

    def _heads(self, progress: Progress) -> RenderableType:
        tests, decided = self.rates()
        done = f"{progress.tests} of {self._goal.tests}, " if self._goal.tests else ""
        clock = span(progress.seconds) + (f" of {self._goal.time}" if self._goal.time else "")
        lines = [
            f"{done}{clock}, {counted(progress.jobs, 'job')}, {size(progress.memory)}",
            f"{counted(progress.tests, 'test')} ({tests:.1f}/s),"
            f" {progress.decided} decided ({decided:.1f}/s), {progress.waiting} waiting for a longer run",
        ]
        if calls := sum(progress.statistics.get("calls", {}).values()):
            lines.append(f"API fuzzing: {counted(calls, 'call')}; {calls_line(progress.statistics)}")
        return Text("\n".join(lines) + "\n")

    def _findings(self, progress: Progress) -> RenderableType:
        counts = Counter(record.finding_class for record in progress.findings)
        classes = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
        text = Text(f"\n{counted(len(progress.findings), 'finding')}", style="bold")
        rest = (
            f"{': ' * bool(classes)}{classes}; {progress.new_in_hour} in the last hour"
            f"\n{counted(progress.duplicates, 'duplicate')}, {progress.confirming} being confirmed,"
            f" {progress.unconfirmed} not confirmed, {known_count(progress.statistics)} known\n"
        )
        latest = (f"  {printable(line)}\n" for line in self._latest)
        text.append("".join((rest, *latest)), style="not bold")
        text.no_wrap, text.overflow = True, "ellipsis"
        return text


def _outcomes(progress: Progress) -> Table:
    outcomes, rows = outcome_rows(progress.outcomes)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("solver", no_wrap=True, overflow="ellipsis")
    for outcome in outcomes:
        table.add_column(outcome, justify="right")
    for name, *counts in rows:
        table.add_row(Text(name), *counts)
    return table


def _arms(progress: Progress) -> Table:
    """The arms with the largest shares of the time, then those with the most findings."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("strategy", no_wrap=True, overflow="ellipsis")
    for name in ("share", "tests", "decided/s", "findings", "per hour"):
        table.add_column(name, justify="right")
    ranked = sorted(progress.arms, key=lambda arm: (-arm.share, -arm.findings, -arm.tests))
    for arm in ranked[:_ARMS]:
        spent = max(arm.solver_seconds, 1e-9)
        table.add_row(
            Text(f"{arm.strategy} {arm.test_class}".rstrip()),
            f"{arm.share:.0%}" if arm.share else "-",
            str(arm.tests),
            f"{arm.decided / spent:.1f}",
            str(arm.findings),
            f"{3600 * arm.findings / spent:.1f}" if arm.findings else "0",
        )
    if len(ranked) > _ARMS:
        table.add_row(Text(f"and {len(ranked) - _ARMS} more", style="dim"))
    return table
