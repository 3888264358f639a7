"""The live screen of a hunt."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from difftest import Event, FindingConfirmed, FindingRecord, Outcome, Progress, WorkersTold
from exhume.screens.console import printable, say
from exhume.screens.live import LiveScreen, size, span
from exhume.screens.summary import calls_line, finding_line

_ARMS = 10
_TESTS_TO_WARN = 20
"""After this many refused tests and no accepted one, the screen warns."""


class HuntScreen(LiveScreen[Progress]):
    """Progress of a hunt. With ``tell``, a terminal shows findings as they are confirmed."""

    def __init__(self, title: str, goal: str = "", quiet: bool = False, tell: bool = True) -> None:
        super().__init__(title, goal, quiet)
        self._tell = tell

    def show(self, event: Event) -> None:
        """Update the screen after an event."""
        if isinstance(event, FindingConfirmed):
            self.found(event.record)
        elif isinstance(event, WorkersTold):
            say(f"exhume: {event.text}")
        elif isinstance(event, Progress):
            self.update(event)

    def found(self, record: FindingRecord) -> None:
        """Add a confirmed finding to the latest ones."""
        if self.is_shown and self._tell and not record.known:
            self.latest.append(finding_line(record))

    def counted(self, progress: Progress) -> tuple[float, int, int]:
        """Tests and decided tests."""
        return progress.now, progress.tests, progress.decided

    def line(self, progress: Progress) -> str:
        """One line, for a log."""
        tests, decided = self.rates()
        return (
            f"{span(progress.seconds)}: {progress.tests} tests ({tests:.1f}/s), {progress.decided} decided"
            f" ({decided:.1f}/s), {progress.findings} findings ({progress.new_in_hour} in the last hour),"
            f" {size(progress.memory)}"
        )

    def parts(self, progress: Progress) -> list[RenderableType]:
        """Counts, outcomes per solver, findings, results of each arm."""
        parts: list[RenderableType] = [self._heads(progress), _outcomes(progress)]
        if progress.tests >= _TESTS_TO_WARN:
            parts += [Text(printable(f"warning: {refusal}"), style="bold") for refusal in progress.refusals]
        parts.append(self._findings(progress))
        if len(progress.arms) > 1 and any(arm.tests for arm in progress.arms):
            parts.append(_arms(progress))
        return parts

    def _heads(self, progress: Progress) -> RenderableType:
        tests, decided = self.rates()
        lines = [
            f"{span(progress.seconds)}{self.goal}, {progress.jobs} job{'s' * (progress.jobs != 1)},"
            f" {size(progress.memory)}",
            f"{progress.tests} tests ({tests:.1f}/s), {progress.decided} decided ({decided:.1f}/s),"
            f" {progress.waiting} waiting for a longer run",
        ]
        if calls := sum(progress.statistics.get("calls", {}).values()):
            lines.append(f"{calls} calls; {calls_line(progress.statistics)}")
        return Text("\n".join(lines) + "\n")

    def _findings(self, progress: Progress) -> RenderableType:
        classes = ", ".join(f"{count} {name}" for name, count in sorted(progress.classes.items()))
        return self.latest_below(
            f"\n{progress.findings} findings",
            f"{': ' * bool(classes)}{classes}; {progress.new_in_hour} in the last hour"
            f"\n{progress.duplicates} duplicates, {progress.confirming} being confirmed,"
            f" {progress.unconfirmed} not confirmed\n",
        )


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
