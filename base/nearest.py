"""Suggestions for misspelt names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], most: int = 1, least: float = 0.6) -> tuple[str, ...]:
    """Up to ``most`` of the ``known`` names that resemble ``name``, most similar first.

    ``least``: the minimum similarity, from 0 (anything) to 1 (equal).
    """
    return tuple(difflib.get_close_matches(name, tuple(known), most, least))


def did_you_mean(names: Iterable[str]) -> str:
    """``; did you mean a or b?`` for the end of a message; empty without names."""
    offered = " or ".join(names)
    return f"; did you mean {offered}?" if offered else ""
