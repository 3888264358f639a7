"""Untrusted text in Markdown: it cannot end a block, start a tag or move the cursor."""

from __future__ import annotations

import re

from base.text import CONTROLS, without_controls

_MOST_LINES = 60
_MOST_LETTERS = 400
_BACKTICKS = re.compile(r"`+")


def plain(text: str) -> str:
    """Text for a line of prose: one line, no control characters, nothing that starts a comment or a tag.

    What stands between two backticks shows as it is, so it stays. Where it is not certain which backticks
    are a pair, they become apostrophes.
    """
    text = " ".join(CONTROLS.sub("", text).split())
    if text.count("`") % 2 or "``" in text or "\\`" in text:
        text = text.replace("`", "'")
    parts = text.split("`")
    return "`".join(part if number % 2 else part.replace("<", "&lt;") for number, part in enumerate(parts))


def sentence(text: str) -> str:
    """Text as a sentence of prose: with a full stop, and a capital letter but for a solver's name."""
    text = plain(text).strip().rstrip(".")
    named = any(c.isdigit() for c in text.partition(" ")[0])
    return (text if named else text[:1].upper() + text[1:]) + "." if text else ""


def inline(text: str) -> str:
    """Text as code within a line."""
    text = " ".join(CONTROLS.sub("", text).split())[:_MOST_LETTERS]
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    blank = " " if longest else ""
    return f"{fence}{blank}{text}{blank}{fence}" if text else ""


def printable(text: str) -> str:
    """Text without control characters, line ends and tabs apart."""
    return without_controls(text).encode("utf-8", "replace").decode("utf-8")


def fenced(text: str, language: str) -> str:
    """A code block that nothing in ``text`` can end."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def clipped(text: str) -> list[str]:
    """The first lines of a text, each cut where it gets long, and a line that says how many are left out."""
    found = [line[:_MOST_LETTERS] for line in text.split("\n")]
    left = len(found) - _MOST_LINES
    return found if left <= 0 else [*found[:_MOST_LINES], f"... ({left} more lines)"]
