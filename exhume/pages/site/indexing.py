"""What the page of all bugs searches: a row per bug with its facets, and the words of each.

Both are JavaScript files that assign one value each, since a page that was opened from disk may load scripts
but not read files.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from difftest.bugs.describing import by_age, title_of
from difftest.bugs.records import Bug
from difftest.triage.classes import class_of

_WORD = re.compile(r"[^\s()\";|,]+")
_LONGEST_WORD = 48
MOST_WORDS = 4_000
"""Different words of a bug that the search knows; those of its record come before those of its formula."""
_LONGEST_TEXT = 1 << 20
_OPERATORS = 6
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_DAYS = ((7, "within a week"), (30, "within a month"), (365, "within a year"), (10**9, "later"))
_SIZES = ((200, "up to 200 bytes"), (1_000, "up to 1 kB"), (5_000, "up to 5 kB"), (1 << 60, "larger"))


@dataclass(frozen=True, slots=True)
class Facet:
    """A way to narrow down a list of bugs. ``values``: those of a bug; ``ordered``: the order of values, else
    the most frequent come first.
    """

    key: str
    title: str
    values: Callable[[Bug], Iterable[str]]
    ordered: Callable[[str], Any] | None = None


def _bucket(number: int | None, buckets: Sequence[tuple[int, str]]) -> list[str]:
    return [] if number is None else [next(name for most, name in buckets if number <= most)]


def _place(buckets: Sequence[tuple[int, str]]) -> Callable[[str], int]:
    return [name for _, name in buckets].index


def theories_of(bug: Bug) -> Sequence[str]:
    """The theories of a bug; Core, which all have, only if there is no other."""
    return [theory for theory in bug.theories if theory != "Core"] or bug.theories


def _forms(bug: Bug) -> list[str]:
    forms = {"incremental": bug.incremental, "with options": bug.options, "flaky": bug.flaky}
    return [name for name, holds in forms.items() if holds]


def year_of(bug: Bug) -> str:
    """The year of the report, in digits; formulas that were imported from files have no date."""
    return bug.reported[:4] if bug.reported else "unknown"


def _folders(bug: Bug) -> list[str]:
    """The folders of the files of the fixing commit."""
    return sorted({file.rpartition("/")[0] or file for file in bug.component})


def _age(name: str) -> Any:
    """Sorts ``z3 4.8.5`` by solver and age of the release."""
    solver, _, release = name.rpartition(" ")
    return solver, by_age(release)


FACETS = (
    Facet("class", "Class", lambda bug: [bug.finding_class]),
    Facet("solver", "Solver", lambda bug: [bug.solver]),
    Facet("theory", "Theory", theories_of),
    Facet("year", "Year of the report", lambda bug: [year_of(bug)], str),
    Facet("fixed", "First good release", lambda bug: [f"{bug.solver} {bug.first_good}"], _age),
    Facet("days", "Days to fix", lambda bug: _bucket(bug.days_to_fix, _DAYS), _place(_DAYS)),
    Facet("size", "Size", lambda bug: _bucket(bug.bytes, _SIZES), _place(_SIZES)),
    Facet("logic", "Logic", lambda bug: [bug.logic] if bug.logic else []),
    Facet("form", "Form", _forms),
    Facet("component", "Component", _folders),
    Facet("tool", "Reporter's tool", lambda bug: bug.tools),
    Facet("tracker", "Tracker", lambda bug: [bug.origin.partition("#")[0]]),
)


def rows_of(bugs: Sequence[Bug]) -> dict[str, Any]:
    """The document of all bugs: facets with the names of their values; a row per bug: id, title, class, last
    bad and first good release, report, days, bytes, issue, its rarest operators, and per facet the numbers of
    its values.
    """
    spread = Counter(operator for bug in bugs for operator in bug.operators)
    facets, numbers = [], []
    for facet in FACETS:
        held = [list(dict.fromkeys(facet.values(bug))) for bug in bugs]
        counts = Counter(value for values in held for value in values)
        names = sorted(sorted(counts), key=facet.ordered or (lambda name: -counts[name]))  # noqa: B023
        place = {name: number for number, name in enumerate(names)}
        facets.append({"key": facet.key, "title": facet.title, "names": names})
        numbers.append([[place[value] for value in values] for values in held])
    rows = [
        [
            *(bug.id, title_of(bug), bug.finding_class, bug.last_bad, bug.first_good, bug.reported or ""),
            *(-1 if bug.days_to_fix is None else bug.days_to_fix, bug.bytes, bug.origin),
            ", ".join(sorted(bug.operators, key=lambda name: (spread[name], name))[:_OPERATORS]),
            [held[number] for held in numbers],
        ]
        for number, bug in enumerate(bugs)
    ]
    colours = {name: class_of(name).colour for name in sorted({bug.finding_class for bug in bugs})}
    return {"facets": facets, "colours": colours, "rows": rows}


def words_of(bugs: Sequence[Bug]) -> dict[str, str]:
    """The document of all words: ``words``, one a line, and ``places``, per word the rows of the bugs that
    have it: in base 36, each but the first as the difference to the one before.
    """
    found: dict[str, list[int]] = {}
    for number, bug in enumerate(bugs):
        for word in _words(bug):
            found.setdefault(word, []).append(number)
    words = sorted(found)
    places = [" ".join(_base36(b - a) for a, b in zip([0, *found[w]], found[w], strict=False)) for w in words]
    return {"words": "\n".join(words), "places": "\n".join(places)}


def _words(bug: Bug) -> Iterable[str]:
    """The different words of a bug, in lower case."""
    bad = bug.seen(bug.last_bad)
    record = [bug.id, title_of(bug), bug.finding_class, bug.direction, bug.bug_key, bug.issue, *bug.sources]
    record += [bug.last_bad, bug.first_good, *bug.options, *bug.tools, *bug.theories, *bug.operators]
    record += [*bug.evidence, bug.logic, bug.reported, bug.fixed_by]
    record += [bad.outcome, bad.detail, bad.location, bug.text[:_LONGEST_TEXT]]
    words: dict[str, None] = {}
    for match in _WORD.finditer(" ".join(filter(None, record)).lower()):
        if len(match[0]) <= _LONGEST_WORD:
            words[match[0]] = None
            if len(words) == MOST_WORDS:
                break
    return words


def _base36(number: int) -> str:
    digits = ""
    while number >= 36:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return _DIGITS[number] + digits


def script(name: str, document: object) -> bytes:
    """A JavaScript file that assigns a document; ASCII, so that no encoding can change it."""
    text = json.dumps(document, separators=(",", ":"))
    return f"window.{name} = {text};\n".encode("ascii")
