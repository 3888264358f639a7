"""Commits, issues and pull requests that an issue's text names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from miner.records import Issue

_MOST_PER_TEXT = 200
_LONGEST_TEXT = 200_000

_NAME = r"[A-Za-z0-9][\w.-]{0,60}/[\w.-]{1,100}"
_SHA = r"(?=[0-9a-f]{0,39}[a-f])(?=[0-9a-f]{0,39}\d)[0-9a-f]"
_REFERENCE = re.compile(
    rf"""
    https://github\.com/(?P<repo>{_NAME})/
        (?:(?P<kind>issues|pull)/(?P<number>\d{{1,9}})|commit/(?P<sha>[0-9a-f]{{7,40}}))(?![\w-])
    | (?<![\w./-])(?P<there>{_NAME})(?:\#(?P<n2>\d{{1,9}})|@(?P<s2>[0-9a-f]{{7,40}}))\b
    | (?<![\w&#/=-])\#(?P<n3>\d{{1,9}})\b
    | (?<![\w./#@-])(?P<s3>{_SHA}{{40}})\b
    | \b(?:commit|revision|rev|in|by|with|at)\s+`?(?P<s4>{_SHA}{{7,39}})\b
    """,
    re.VERBOSE,
)
_FIXES = re.compile(
    r"\b(?:fix(?:e[sd])?|close[sd]?|resolve[sd]?|solved|addressed|corrected)\b"
    r"[\s:]*(?:(?:it|this|the issue|now|already|with|by|in|via|at|pr|pull request|commit|master|main)\b"
    r"[\s:,`(<]*){0,5}$",
    re.IGNORECASE,
)
_FENCED = re.compile(r"^ {0,3}(```|~~~).*?^ {0,3}\1", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reference:
    """What a text names. ``where`` is ``body`` or ``comment:<id>``; ``text`` the words that name it."""

    where: str
    kind: str
    target: str
    fixes: bool
    text: str


def references_of(issue: Issue) -> list[Reference]:
    """All that the texts of an issue name outside of code, each once per text."""
    found: dict[tuple[str, str], Reference] = {}
    texts = [("body", issue.body), *((f"comment:{comment.id}", comment.body) for comment in issue.comments)]
    for where, text in texts:
        if "#" not in text and "/" not in text and not re.search(r"[0-9a-f]{7}", text):
            continue
        for reference in _in_text(where, text, issue.tracker):
            known = found.get((where, reference.target))
            if known is None or (reference.fixes and not known.fixes):
                found[where, reference.target] = reference
    own = f"{issue.tracker}#{issue.number}"
    return [reference for reference in found.values() if reference.target != own]


def _in_text(where: str, text: str, tracker: str) -> list[Reference]:
    prose = _FENCED.sub("\n", text[:_LONGEST_TEXT])
    found: list[Reference] = []
    for match in _REFERENCE.finditer(prose):
        kind, target = _target(match, tracker)
        before = prose[max(0, match.start() - 80) : match.start("s4") if match["s4"] else match.start()]
        fixes = _FIXES.search(before) is not None
        line = prose[max(0, match.start() - 60) : match.end() + 20]
        found.append(Reference(where, kind, target, fixes, " ".join(line.split())))
        if len(found) == _MOST_PER_TEXT:
            break
    return found


def _target(match: re.Match[str], tracker: str) -> tuple[str, str]:
    repository = match["repo"] or match["there"] or tracker
    commit = match["sha"] or match["s2"] or match["s3"] or match["s4"]
    if commit:
        return "commit", f"{repository}@{commit}"
    number = int(match["number"] or match["n2"] or match["n3"])
    kind = {"issues": "issue", "pull": "pull-request", None: "number"}[match["kind"]]
    return kind, f"{repository}#{number}"
