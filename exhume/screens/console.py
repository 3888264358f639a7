"""Output: results on standard output, progress and messages on standard error."""

from __future__ import annotations

import io
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from base.steps import Tick, nothing
from base.text import without_controls
from exhume.screens.wording import span

_NO_LIMIT = 100_000
_NARROWEST = 8
_GAP = 2


class PlainConsole(Console):
    """Prints text without rich's markup and emoji codes: it comes from issues, solvers and files. Tabs become
    spaces: formulas are for :func:`print_text`.

    Control characters are removed for a terminal. Bold text is passed as a ``Text``.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(soft_wrap=True, highlight=False, markup=False, emoji=False, **given)

    def on_broken_pipe(self) -> None:
        """Called by rich. Nobody has to read messages; without a reader of results the command ends."""
        self.quiet = True
        if not self.stderr:
            raise BrokenPipeError

    def render_str(self, text: str, **given: Any) -> Text:
        """Called by rich for each string."""
        return super().render_str(printable(text) if self.is_terminal else text, **given)


def printable(text: str) -> str:
    """``text`` without control characters."""
    return without_controls(text.replace("\r\n", "\n"))


out = PlainConsole()
"""Results. No colour unless standard output is a terminal."""

err = PlainConsole(stderr=True)
"""Messages and progress."""


def print_json(document: object) -> None:
    """Print the document of ``--json``."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n")


def print_text(text: str) -> None:
    """Print a formula or another text of a file as it is, and end its last line."""
    ended = text if text.endswith("\n") else text + "\n"
    sys.stdout.write(printable(ended) if out.is_terminal else ended)


def say(message: str) -> None:
    """Print a message on standard error."""
    err.print(message)


def headline(head: str, rest: str = "", end: str = "\n") -> None:
    """Print a result that starts in bold."""
    out.print(Text.assemble((printable(head), "bold"), printable(rest)), end=end)


def show_table(
    columns: list[str],
    rows: list[list[str]],
    right: frozenset[int] = frozenset(),
    shrink: int | None = None,
) -> None:
    """Print a plain table. ``right`` has the indices of right-aligned columns.

    If the terminal is too narrow, the cells of column ``shrink`` are cut; without it, long cells are wrapped.
    """
    made = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        if number == shrink:
            shown = zip(columns, *rows, strict=True)
            widths = [max(map(len, cells)) + _GAP for n, cells in enumerate(shown) if n != shrink]
            left = max(_NARROWEST, out.width - sum(widths)) if out.is_terminal else _NO_LIMIT
            made.add_column(column, overflow="ellipsis", no_wrap=True, max_width=left)
        else:
            side: Literal["left", "right"] = "right" if number in right else "left"
            made.add_column(column, justify=side, overflow="fold")
    for row in rows:
        made.add_row(*(Text(printable(cell)) for cell in row))
    show(made)


def show(made: Table) -> None:
    """Print a table as wide as the terminal; elsewhere at its full width, for programs to read."""
    if out.is_terminal:
        out.print(made, soft_wrap=False)
        return
    text = io.StringIO()
    PlainConsole(file=text, width=_NO_LIMIT).print(made)
    sys.stdout.writelines(line.rstrip() + "\n" for line in text.getvalue().splitlines())


class Pace:
    """When a line of progress is due where no bar can be shown: soon, so that one sees that the command works
    and at what, then rarely.
    """

    FIRST = 3.0
    EVERY = 30.0

    def __init__(self) -> None:
        self._due = time.monotonic() + self.FIRST

    @property
    def left(self) -> float:
        """Seconds until a line is due."""
        return max(0.0, self._due - time.monotonic())

    def is_due(self) -> bool:
        """Whether a line is due; the next one is then due after a while."""
        if self.left:
            return False
        self._due = time.monotonic() + self.EVERY
        return True


@contextmanager
def progress(what: str, quiet: bool = False) -> Iterator[Tick]:
    """A progress bar on a terminal, a line at times elsewhere. Yields a function of the number done and the
    total (0 if unknown).
    """
    if quiet:
        yield nothing
        return
    if not err.is_terminal:
        with _lines(what) as tick:
            yield tick
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total or None)


@contextmanager
def _lines(what: str) -> Iterator[Tick]:
    # Lines come from a thread: some steps take long before the first tick.
    started, ended, pace, counts = time.monotonic(), threading.Event(), Pace(), [""]

    def tick(done: int, total: int) -> None:
        counts[0] = f": {done} of {total}" if total else f": {done}"

    def tell() -> None:
        while not ended.wait(pace.left):
            if pace.is_due():
                say(f"{what}{counts[0]}, {span(time.monotonic() - started)}")

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield tick
    finally:
        ended.set()
        teller.join()
