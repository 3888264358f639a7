"""What people and machines see: results on standard output, progress and messages on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

out = Console(soft_wrap=True, highlight=False)
"""Results. No colour where standard output is no terminal."""

err = Console(stderr=True, soft_wrap=True, highlight=False)
"""Messages and progress."""


def print_json(document: object) -> None:
    """The one document of ``--json``."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n")


def say(message: str) -> None:
    """A line for people, on standard error."""
    err.print(message, markup=False)


def table(
    title: str, columns: list[str], rows: list[list[str]], right: frozenset[int] = frozenset()
) -> Table:
    """A plain table; ``right`` names the columns aligned to the right, from 0."""
    made = Table(title=title or None, box=None, pad_edge=False, title_justify="left", header_style="bold")
    for number, column in enumerate(columns):
        made.add_column(column, justify="right" if number in right else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


@contextmanager
def progress(what: str, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal, nothing elsewhere. Yields a function of how many are done, of how many."""
    if quiet or not err.is_terminal:
        yield lambda done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
