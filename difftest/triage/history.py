"""Compares a finding with the issues of the corpus, so that known bugs are not reported again.

Three things are compared, each giving a score from 0 to 1: where a crash is (the place that an issue's text
names: 0.9 for the same line, 0.6 for a function or the same file, as lines move from commit to commit), what
the solver said (the shape of a message, without what changes from run to run: 0.8), and the formula (the
geometric mean of how like its signatures are, see ``corpus.similar``, and its operators: a signature does not
see below an atom's own operands). A resemblance is a hint for a person, never a verdict: nothing is dropped
because of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from corpus.errors import QueryError
from corpus.examine import examine
from corpus.similar import similar_to
from corpus.store import Corpus
from difftest.triage.facts import telling_options
from difftest.triage.folder import FindingFolder
from difftest.triage.store import update_finding
from smtlib import default_theories
from solvers.option_file import split_option
from solvers.running.crash_places import file_of
from solvers.running.outcomes import message_shape

# Below this a formula shares no more with the finding's than any other of its theory.
LEAST_LIKENESS = 0.25
_MOST = 5
# The formulas nearest by their signatures that are compared.
_CANDIDATES = 100
_SAME_LINE = 0.9
_SAME_FILE = 0.6
_SAME_MESSAGE = 0.8
# A crash's message says what went wrong; these say only that something did.
_TELLS_NOTHING = re.compile(
    r"invalid model|^signal |^exit status|segmentation fault|^abort|^killed|^assertion violation$"
    r"|sanitizer: |^$",
    re.I,
)
# No part can match in more than one way, so that time is linear in hostile texts.
_PLACE = re.compile(
    r"File: (\S+)[^\S\n]*\n\s*Line: (\d+)|(?<![\w./+-])([\w./+-]+\.(?:cpp|cc|c|h|hpp|rs)):(\d+)"
)
_SHORTEST_MESSAGE = 12
_OTHER_SOLVER = 0.5
# Less: a wrong model and a wrong answer may have one cause.
_OTHER_CLASS = 0.8
_SAME_OPTION = 0.4
_MOST_WITH_OPTION = 10
# Of an option, or of a function without a class.
_SHORTEST_NAME = 5
_MOST_TEXTS = 200


@dataclass(frozen=True, slots=True)
class Resemblance:
    """An issue that a finding resembles: ``tracker#number``, why, and how much (0 to 1)."""

    issue: str
    why: str
    score: float
    title: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for: the solver's ``family``, where it crashes (``place``) and what it said
    (``message``), the formula (``text``), options that it takes, the class of the fault, and issues that
    parts of the formula are from.
    """

    family: str
    place: str | None
    message: str
    crashed: bool
    text: str
    options: tuple[str, ...] = ()
    bug_class: str = ""
    own: frozenset[str] = frozenset()

    @classmethod
    def of(cls, found: FindingFolder) -> Sought:
        """That of a finding."""
        entry = found.culprit or {}
        message = str(entry.get("detail") or "").partition("\n")[0]
        return cls(
            str(entry.get("family") or ""),
            found.crash_place or None,
            message,
            entry.get("outcome") == "crash",
            found.formula,
            tuple(split_option(option.lstrip("-"))[0] for option in telling_options(found)),
            own=frozenset(found.test.get("issues") or ()),
        )


def resembled(corpus: Corpus, sought: Sought) -> list[Resemblance]:
    """The issues of ``corpus`` that a finding or report resembles, the nearest first.

    An issue that resembles it in several ways stands there once, with all of them.
    """
    rows = [*_by_crash(corpus, sought), *_by_options(corpus, sought), *_by_formula(corpus, sought)]
    return _merged([_weighed(*row, sought.family or None) for row in rows])[:_MOST]


def compare_with_history(corpus: Corpus, folders: Iterable[Path]) -> int:
    """Write into each finding which issues it resembles, and rewrite its report; how many resemble any.

    DifftestError where a folder holds no finding.
    """
    count = 0
    for folder in folders:
        rows = resembled(corpus, Sought.of(FindingFolder.read(folder)))
        count += bool(rows)
        update_finding(folder, {"resembles": [{**asdict(row), "score": round(row.score, 3)} for row in rows]})
    return count


_Row = tuple[Resemblance, str | None]
"""A resemblance before it is weighed, and whose bug the issue is about, where that is known."""


def _by_crash(corpus: Corpus, sought: Sought) -> Iterator[_Row]:
    """Issues whose text names the place of the crash, or holds its message."""
    location = sought.place
    shape = message_shape(sought.message)
    if location and location == file_of(location):
        if len(location) >= _SHORTEST_NAME or "::" in location:
            for row in _issues_naming(corpus, location, _MOST_TEXTS):
                yield _row(row, f"it names the function of the crash, {location}", _SAME_FILE)
    elif location:
        file = file_of(location)
        line = location.removeprefix(f"{file}:")
        for row, text in _texts_with(corpus, file):
            places = _places(text)
            if location in places:
                yield _row(row, f"crash at the same place, {location}", _SAME_LINE)
            elif any(place.startswith(f"{file}:") for place in places):
                yield _row(row, f"crash in the same file, {file} (line {line} here)", _SAME_FILE)
    tells = len(shape) >= _SHORTEST_MESSAGE and not _TELLS_NOTHING.search(shape)
    if tells and sought.crashed:
        # The longest word between numbers and paths finds the candidates; the shape decides.
        word = max(re.findall(r"[A-Za-z_][\w.:]*", sought.message), key=len, default="")
        for row, text in _texts_with(corpus, word) if word else ():
            if any(message_shape(line) == shape for line in text.splitlines()):
                yield _row(row, f"the same message: {shape[:80]}", _SAME_MESSAGE)


def _by_options(corpus: Corpus, sought: Sought) -> Iterator[_Row]:
    """Issues whose text names one of the options, where few do."""
    for option in sought.options:
        if len(option) >= _SHORTEST_NAME:
            rows = _issues_naming(corpus, option, _MOST_WITH_OPTION + 1)
            if len(rows) <= _MOST_WITH_OPTION:
                yield from (_row(row, f"it names the option {option}", _SAME_OPTION) for row in rows)


def _by_formula(corpus: Corpus, sought: Sought) -> Iterator[_Row]:
    """Issues with a formula like the finding's."""
    try:
        near = similar_to(corpus, sought.text, _CANDIDATES, LEAST_LIKENESS)
    except QueryError:
        return
    neutral = default_theories().marked(":neutral")
    mine = telling_operators(sought.text)
    known = {
        formula: (solver, {*operators} - neutral)
        for formula, solver, operators in corpus.rows(_FORMULAS, {"formulas": [row.formula for row in near]})
    }
    for row in near:
        solver, theirs = known[row.formula]
        likeness = math.sqrt(row.likeness * _overlap(mine, theirs))
        if row.issue is None or likeness < LEAST_LIKENESS:
            continue
        name = f"{row.tracker}#{row.issue}"
        what = f", {row.bug_class}" if row.bug_class else ""
        if row.bug_class and sought.bug_class and row.bug_class != sought.bug_class:
            likeness *= _OTHER_CLASS
        shared = sorted(mine & theirs)[:4] or sorted(row.shared, key=len, reverse=True)[:1]
        with_ = f", both with {', '.join(f'`{text}`' for text in shared)}" if shared else ""
        parts = "; parts of the test come from it" if name in sought.own else ""
        why = f"a formula like it{what} (likeness {likeness:.2f}{with_}{parts})"
        yield Resemblance(name, why, likeness, row.title, row.url), solver


def telling_operators(text: str) -> set[str]:
    """The operators of a formula that say something of a fault: none of the Boolean connectives."""
    traits = examine(text).traits
    return {*(traits.operators if traits else ())} - default_theories().marked(":neutral")


def _overlap(mine: set[str], theirs: set[str]) -> float:
    """Jaccard's likeness of two sets; 1 where both are empty."""
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0


def _texts_with(corpus: Corpus, word: str) -> Iterator[tuple[Sequence[Any], str]]:
    """The issues one of whose texts holds ``word``: posts, answers, and what solvers printed."""
    yield from (
        (row[:4], str(row[4]))
        for row in corpus.rows(_TEXTS, {"word": word, "limit": _MOST_TEXTS})
        if row[4] is not None
    )


def _issues_naming(corpus: Corpus, name: str, most: int) -> list[Sequence[Any]]:
    """The first issues one of whose texts has ``name``, not as a part of another word."""
    pattern = rf"(^|[^\w.-]){re.escape(name)}($|[^\w-])"
    return list(corpus.rows(_NAMED, {"word": name, "pattern": pattern, "limit": most}))


def _places(text: str) -> set[str]:
    """All ``file:line`` that a text names, without their folders."""
    named = ((a or c, b or d) for a, b, c, d in _PLACE.findall(text))
    return {f"{PurePosixPath(file).name}:{line}" for file, line in named}


_FORMULAS = """
select formula.id, coalesce(formula.solver, tracker.solver), coalesce(formula.operators, [])
from formula join tracker on tracker.id = formula.tracker_id
where list_contains($formulas::integer[], formula.id)
"""

_SAID = """
from (
    select id as issue_id, text_id from issue
    union select issue_id, text_id from comment
    union select issue_id, text_id from block
    union select issue_id, output_text_id from block
) said
join text on text.id = said.text_id
join issue on issue.id = said.issue_id
join tracker on tracker.id = issue.tracker_id
where contains(text.body, $word)
"""

_TEXTS = f"""
select tracker.name || '#' || issue.number, issue.title, issue.url, tracker.solver, text.body
{_SAID}
order by tracker.name, issue.number, text.id
limit $limit
"""

_NAMED = f"""
select distinct tracker.name || '#' || issue.number as name, issue.title, issue.url, tracker.solver
{_SAID} and regexp_matches(text.body, $pattern)
order by name
limit $limit
"""


def _row(row: Sequence[Any], why: str, score: float) -> _Row:
    issue, title, url, solver = row
    return Resemblance(issue, why, score, title, url), solver


def _weighed(found: Resemblance, solver: str | None, family: str | None) -> Resemblance:
    """An issue about another solver tells less."""
    other = family is not None and solver is not None and not solver.startswith(family)
    return replace(found, score=found.score * _OTHER_SOLVER) if other else found


def _merged(rows: Iterable[Resemblance]) -> list[Resemblance]:
    """One row per issue: the reasons joined, the scores as of independent signs."""
    merged: dict[str, Resemblance] = {}
    for row in rows:
        known = merged.get(row.issue)
        if known is None:
            merged[row.issue] = row
        elif row.why not in known.why and row.why.partition(" (")[0] not in known.why:
            both = 1 - (1 - known.score) * (1 - row.score)
            merged[row.issue] = replace(known, why=f"{known.why}; {row.why}", score=both)
        elif row.score > known.score:
            merged[row.issue] = row
    return sorted(merged.values(), key=lambda row: (-row.score, row.issue))
