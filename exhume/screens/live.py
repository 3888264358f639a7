"""Progress of long commands: a live screen on a terminal, a line per minute elsewhere."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import deque
from types import TracebackType
from typing import Generic, Self, TypeVar

from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from exhume.screens.console import err, printable, say

_QUIET_SECONDS = 60.0
# Rates are those of the last minute.
_WINDOW = 60.0
_LATEST = 5

_Progress = TypeVar("_Progress")


class LiveScreen(ABC, Generic[_Progress]):
    """Shows progress on standard error; use under ``with``.

    ``title`` is the first line, ``goal`` the end of the run ("of 1000", "of 10m"). ``quiet`` shows nothing.
    ``latest`` holds the last lines about findings.
    """

    def __init__(self, title: str, goal: str = "", quiet: bool = False) -> None:
        self._title = title
        self._quiet = quiet
        self._past: deque[tuple[float, int, int]] = deque()
        self._said = time.monotonic()
        self._live: Live | None = None
        self.goal = goal
        self.latest: deque[str] = deque(maxlen=_LATEST)

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

    @property
    def is_shown(self) -> bool:
        """Whether the screen is active."""
        return self._live is not None

    def update(self, progress: _Progress) -> None:
        """Show the current progress."""
        self._past.append(self.counted(progress))
        while len(self._past) > 2 and self._past[1][0] <= self._past[-1][0] - _WINDOW:
            self._past.popleft()
        if self._live is not None:
            self._live.update(self.render(progress))
        elif not self._quiet and time.monotonic() - self._said >= _QUIET_SECONDS:
            self._said = time.monotonic()
            say(self.line(progress))

    def rates(self) -> tuple[float, float]:
        """The growth of the two counts, per second over the last minute."""
        if len(self._past) < 2:
            return 0.0, 0.0
        (start, *before), (end, *after) = self._past[0], self._past[-1]
        seconds = max(end - start, 1e-9)
        first, second = (now - then for then, now in zip(before, after, strict=True))
        return first / seconds, second / seconds

    def render(self, progress: _Progress) -> RenderableType:
        """The screen."""
        hint = Text(
            "Ctrl-C finishes the running tests and shows the summary; twice stops immediately", style="dim"
        )
        return Group(Text(printable(self._title), style="bold"), *self.parts(progress), hint)

    def latest_below(self, head: str, rest: str) -> Text:
        """The paragraph on findings: ``head`` in bold, then ``rest`` and the latest findings."""
        text = Text(head, style="bold")
        text.append(rest, style="not bold")
        for line in self.latest:
            text.append(f"  {printable(line)}\n", style="not bold")
        text.no_wrap, text.overflow = True, "ellipsis"
        return text

    @abstractmethod
    def counted(self, progress: _Progress) -> tuple[float, int, int]:
        """Seconds since the start, and the two counts whose rates are shown."""

    @abstractmethod
    def line(self, progress: _Progress) -> str:
        """One line, for a log."""

    @abstractmethod
    def parts(self, progress: _Progress) -> list[RenderableType]:
        """The parts between the title and the hint."""


def span(seconds: float) -> str:
    """Seconds as hours, minutes and seconds, with days.

    >>> span(75), span(3675), span(90000)
    ('1:15', '1:01:15', '1d 1:00:00')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    clock = f"{hours}:{minutes:02}:{rest:02}" if hours or days else f"{minutes}:{rest:02}"
    return f"{days}d {clock}" if days else clock


def size(count: int) -> str:
    """A number of bytes, readable.

    >>> size(3 << 20), size(5 << 30)
    ('3 MB', '5.0 GB')
    """
    return f"{count / (1 << 30):.1f} GB" if count >= 1 << 30 else f"{count >> 20} MB"
