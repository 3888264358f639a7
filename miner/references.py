"""Finds the commits, issues and pull requests that an issue refers to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from corpus.records import Issue
from miner.hosts.host import Host

_MOST_PER_TEXT = 200
_LONGEST_TEXT = 200_000

_FIXES = re.compile(
    r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|solved|addressed|corrected)\b"
    r"[\s:]*(?:(?:it|this|the issue|now|already|with|by|in|via|at|pr|pull request|commit|master|main)\b"
    r"[\s:,`(<]*){0,5}$",
    re.IGNORECASE,
)
_REPEATS = re.compile(
    r"\b(?:duplicates?|dupe?|same(?: (?:issue|bug|problem|(?:root )?cause|fault|as|with))|in favou?r"
    r"|merged into)\b[\s:]*(?:(?:as|of|in|issue|bug|the)\b[\s:,`(<]*){0,4}$",
    re.IGNORECASE,
)
# Before words that call two issues the same: it is only a guess.
_MAY = re.compile(r"\b(?:may|might|could|maybe|perhaps|possibly)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_FENCED = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference in the text ``where`` (``body`` or ``comment:<id>``). ``text``: the words around it.

    ``fixes``: said to fix the issue; ``duplicate``: said to be the same issue.
    """

    where: str
    kind: str
    target: str
    fixes: bool
    text: str
    duplicate: bool = False


def references_of(issue: Issue, host: Host) -> list[Reference]:
    """The references in an issue's texts outside of code, each once per text."""
    found: dict[tuple[str, str], Reference] = {}
    for where, text in issue.texts():
        for reference in _in_text(where, text, issue.tracker, host):
            known = found.get((where, reference.target))
            if known is None or (reference.fixes, reference.duplicate) > (known.fixes, known.duplicate):
                found[where, reference.target] = reference
    own = f"{issue.tracker}#{issue.number}"
    return [reference for reference in found.values() if reference.target != own]


def _in_text(where: str, text: str, tracker: str, host: Host) -> Iterator[Reference]:
    prose = _FENCED.sub("\n", text[:_LONGEST_TEXT])
    for match in islice(host.reference.finditer(prose), _MOST_PER_TEXT):
        parts = {name.rstrip("0123456789"): part for name, part in match.groupdict().items() if part}
        kind, target = _target(parts, tracker, host)
        begin = match.start() + len(parts.get("lead", ""))
        before = prose[max(0, match.start() - 80) : begin]
        fixes = _FIXES.search(before) is not None
        said = _REPEATS.search(before) if kind != "commit" else None
        repeats = said is not None and not _MAY.search(before[: said.start()])
        line = prose[max(0, match.start() - 60) : match.end() + 20]
        yield Reference(where, kind, target, fixes, " ".join(line.split()), repeats)


def _target(parts: Mapping[str, str], tracker: str, host: Host) -> tuple[str, str]:
    repository = parts.get("repo", tracker)
    if "sha" in parts:
        return "commit", f"{repository}@{parts['sha']}"
    kind, sign = host.kinds[parts["kind"]]
    return kind, f"{repository}{sign}{int(parts['number'])}"
