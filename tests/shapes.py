"""What commands print, by its shape: the words, with numbers, versions, names of findings and cells masked.

Documents show runs on formulas, trackers and machines that tests do not have. The shapes of such lines are
compared with what the same command prints in a smaller session: a changed word, column or order shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from solvers.running.outcomes import Outcome

_NUMBER = r"\d[\d,]*(?:\.\w+)*%?"
_MASKS = (
    (re.compile(r"\b[a-z-]+-[0-9a-f]{12}\b"), "FINDING"),
    (re.compile(rf"(?<![\w#]){_NUMBER}(?!\w)"), "#"),
    (re.compile(r"# of #"), "#"),
    (re.compile(r"# ((?:new )?\w{3,})s\b"), r"# \1"),
)
_VALUE = re.compile(rf"{_NUMBER}(?: to {_NUMBER})?|e-\d+")
_GAP = re.compile(r"\s{2,}")


def shapes(lines: Sequence[str]) -> list[str]:
    """The shape of each line; of lines in a row with one shape, the first. ``...`` stays what it is.

    Lines in columns are a table. Its first line is the header, where outcomes are one word. Of the others
    only the order of numbers and texts counts.
    """
    found: list[str] = []
    for shape in _each(lines):
        if not found or found[-1] != shape:
            found.append(shape)
    return found


def _each(lines: Sequence[str]) -> Iterator[str]:
    in_table = False
    for line in lines:
        cells = _GAP.split(line.strip())
        if not line.strip():
            in_table = False
        elif line.strip() == "...":
            yield "..."
        elif len(cells) == 1:
            in_table = False
            yield _masked(line.strip())
        elif in_table:
            yield " | ".join(_unrepeated("#" if _VALUE.fullmatch(cell) else "text" for cell in cells))
        else:
            in_table = True
            yield " | ".join(_unrepeated("outcome" if cell in set(Outcome) else cell for cell in cells))


def _masked(line: str) -> str:
    for pattern, mask in _MASKS:
        line = pattern.sub(mask, line)
    return line


def _unrepeated(cells: Iterator[str]) -> Iterator[str]:
    before = ""
    for cell in cells:
        if cell not in ("#", "text", "outcome") or cell != before:
            yield cell
        before = cell
