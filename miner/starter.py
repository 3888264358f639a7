"""The bundled starter tracker, read by the same path as a live one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from miner.records import Issue, RecordError

TRACKER = "exhume/starter"


def read_records(folder: Traversable | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The raw records, by file name: one JSON object per issue, ``comments_list`` holding its comments."""
    place = folder if folder is not None else resources.files("corpus") / "starter" / "issues"
    if not place.is_dir():
        return
    for file in sorted(place.iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".json"):
            continue
        try:
            record = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise RecordError(f"{file.name}: not JSON: {error}") from error
        if not isinstance(record, dict):
            raise RecordError(f"{file.name}: not an issue record")
        yield file.name, record


def issue_of(record: dict[str, Any]) -> Issue:
    """The issue of one starter record."""
    comments = record.get("comments_list")
    return Issue.from_rest(record, comments if isinstance(comments, list) else (), tracker=TRACKER)


def read_issues(folder: Traversable | None = None) -> list[Issue]:
    """All starter issues, by number."""
    issues = [issue_of(record) for _, record in read_records(folder)]
    return sorted(issues, key=lambda issue: issue.number)
