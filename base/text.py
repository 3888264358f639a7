"""Text from strangers, for terminals, pages and reports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters, tabs and line ends apart."""


def without_controls(text: str) -> str:
    """``text`` with U+FFFD in the places of control characters, which could steer a terminal."""
    return CONTROLS.sub("\ufffd", text)


def counted(count: int, noun: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def first_of(names: Sequence[str], most: int, between: str = ", ") -> str:
    """The first of many names, and how many more there are: ``a, b and 2 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{between.join(names[:most])}{more}"
