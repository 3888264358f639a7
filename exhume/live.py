"""What a hunt shows while it runs: a screen on a terminal, a line a minute elsewhere."""

from __future__ import annotations

import time
from collections import deque
from types import TracebackType
from typing import Self

from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from difftest import FindingRecord, Outcome, Progress
from exhume.screen import err, say
from exhume.summary import finding_line

_QUIET_SECONDS = 60.0
# Rates are those of the last minute.
_WINDOW = 60.0
_ARMS = 10
_LATEST = 5


class LiveScreen:
    """Shows progress on standard error; use under ``with``.

    ``title`` is its first line, ``goal`` says how far the hunt goes ("of 1000", "of 10m"). ``quiet`` shows
    nothing at all. ``tell`` shows findings as they turn up, on a terminal.
    """

    def __init__(self, title: str, goal: str = "", quiet: bool = False, tell: bool = True) -> None:
        self._title = title
        self._goal = goal
        self._quiet = quiet
        self._tell = tell
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

    def found(self, record: FindingRecord) -> None:
        """A finding turned up."""
        if self._live is not None and self._tell and not record.known:
            self._latest.append(finding_line(record))

    def told(self, text: str) -> None:
        """Something to be said once."""
        say(f"exhume: {text}")

    def update(self, progress: Progress) -> None:
        """Where the hunt stands now."""
        self._past.append((progress.now, progress.tests, progress.decided))
        while len(self._past) > 2 and self._past[1][0] <= progress.now - _WINDOW:
            self._past.popleft()
        if self._live is not None:
            self._live.update(self.render(progress))
        elif not self._quiet and time.monotonic() - self._said >= _QUIET_SECONDS:
            self._said = time.monotonic()
            say(self.line(progress))

    def rates(self) -> tuple[float, float]:
        """Tests and decided tests a second, over the last minute."""
        if len(self._past) < 2:
            return 0.0, 0.0
        (start, tests, decided), (end, tests_now, decided_now) = self._past[0], self._past[-1]
        seconds = max(end - start, 1e-9)
        return (tests_now - tests) / seconds, (decided_now - decided) / seconds

    def line(self, progress: Progress) -> str:
        """One line, for a log."""
        tests, decided = self.rates()
        return (
            f"{span(progress.seconds)}: {progress.tests} tests ({tests:.1f}/s), {progress.decided} decided"
            f" ({decided:.1f}/s), {progress.findings} findings ({progress.new_in_hour} in the last hour),"
            f" {size(progress.memory)}"
        )

    def render(self, progress: Progress) -> RenderableType:
        """The screen."""
        parts: list[RenderableType] = [Text(self._title, style="bold"), self._heads(progress)]
        parts += [_outcomes(progress), self._findings(progress)]
        arms = [arm for arm in progress.arms if arm.tests]
        if len(progress.arms) > 1 and arms:
            parts.append(_arms(progress))
        parts.append(
            Text("Ctrl-C finishes what runs and shows the summary; twice stops at once", style="dim")
        )
        return Group(*parts)

    def _heads(self, progress: Progress) -> RenderableType:
        tests, decided = self.rates()
        lines = [
            f"{span(progress.seconds)}{self._goal}, {progress.jobs} job{'s' * (progress.jobs != 1)},"
            f" {size(progress.memory)}",
            f"{progress.tests} tests ({tests:.1f}/s), {progress.decided} decided ({decided:.1f}/s),"
            f" {progress.waiting} set aside for more time",
        ]
        return Text("\n".join(lines) + "\n")

    def _findings(self, progress: Progress) -> RenderableType:
        classes = ", ".join(f"{count} {name}" for name, count in sorted(progress.classes.items()))
        text = Text(f"\n{progress.findings} findings", style="bold")
        text.append(
            f"{': ' * bool(classes)}{classes}; {progress.new_in_hour} in the last hour", style="not bold"
        )
        text.append(
            f"\n{progress.duplicates} tests showed them again, {progress.confirming} in confirmation,"
            f" {progress.unconfirmed} not confirmed\n",
            style="not bold",
        )
        for line in self._latest:
            text.append(f"  {line}\n", style="not bold")
        text.no_wrap, text.overflow = True, "ellipsis"
        return text


def _outcomes(progress: Progress) -> Table:
    seen = [o for o in Outcome if any(counts.get(o) for counts in progress.outcomes.values())]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("solver", no_wrap=True, overflow="ellipsis")
    for outcome in seen:
        table.add_column(str(outcome), justify="right")
    for name, counts in progress.outcomes.items():
        table.add_row(Text(name), *(str(counts.get(outcome, 0)) for outcome in seen))
    return table


def _arms(progress: Progress) -> Table:
    """What pays: the arms with the largest shares of the time, then those that found most."""
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


def span(seconds: float) -> str:
    """``75`` as ``1:15``, days and all.

    >>> span(75), span(3675), span(90000)
    ('1:15', '1:01:15', '1d 1:00:00')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    clock = f"{hours}:{minutes:02}:{rest:02}" if hours or days else f"{minutes}:{rest:02}"
    return f"{days}d {clock}" if days else clock


def size(count: int) -> str:
    """Bytes for people.

    >>> size(3 << 20), size(5 << 30)
    ('3 MB', '5.0 GB')
    """
    return f"{count / (1 << 30):.1f} GB" if count >= 1 << 30 else f"{count >> 20} MB"
