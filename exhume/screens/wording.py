"""Parts of messages: counts, spans of time, sizes, commands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from base.text import first_of


def command_line(*words: object) -> str:
    """A command of exhume as a user can paste it.

    >>> command_line("report", "my hunt")
    "exhume report 'my hunt'"
    """
    return shlex.join(["exhume", *map(str, words)])


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


def some(names: Sequence[str], most: int = 6) -> str:
    """The first of many names, and how many more there are.

    >>> some("abcd", 2)
    'a, b and 2 more (see --json)'
    """
    return first_of(names, most) + " (see --json)" * (len(names) > most)


def size(count: int) -> str:
    """A number of bytes, readable.

    >>> size(3 << 20), size(5 << 30)
    ('3 MB', '5.0 GB')
    """
    return f"{count / (1 << 30):.1f} GB" if count >= 1 << 30 else f"{count >> 20} MB"
