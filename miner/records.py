"""Issues and comments as values, built from the JSON objects of GitHub's REST interface.

Only what extraction and classification use is taken over; the raw record stays the source of truth.
Anything optional may be missing or null, as it is in old records and for deleted accounts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


class RecordError(ValueError):
    """A raw record that is no issue or comment."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an issue; ``id`` is GitHub's."""

    id: int
    body: str
    author: str = ""
    author_association: str = ""
    created_at: str = ""
    updated_at: str = ""
    url: str = ""

    @classmethod
    def from_rest(cls, record: Mapping[str, Any]) -> Comment:
        """Build a comment from a REST object; raises RecordError where it has no id."""
        number = record.get("id")
        if not isinstance(number, int) or isinstance(number, bool):
            raise RecordError(f"record has no comment id: {str(record)[:80]!r}")
        return cls(
            id=number,
            body=_text(record, "body"),
            author=_login(record),
            author_association=_text(record, "author_association"),
            created_at=_text(record, "created_at"),
            updated_at=_text(record, "updated_at"),
            url=_text(record, "html_url"),
        )


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue with its comments in the order they were written."""

    tracker: str
    number: int
    title: str
    body: str
    state: str = ""
    state_reason: str = ""
    labels: tuple[str, ...] = ()
    author: str = ""
    author_association: str = ""
    created_at: str = ""
    updated_at: str = ""
    closed_at: str = ""
    url: str = ""
    is_pull_request: bool = False
    comments: tuple[Comment, ...] = ()

    @classmethod
    def from_rest(
        cls, record: Mapping[str, Any], comments: Iterable[Mapping[str, Any]] = (), *, tracker: str = ""
    ) -> Issue:
        """Build an issue from REST objects; raises RecordError where ``record`` has no number."""
        number = record.get("number")
        if not isinstance(number, int) or isinstance(number, bool):
            raise RecordError(f"record has no issue number: {str(record)[:80]!r}")
        read = [Comment.from_rest(comment) for comment in comments if isinstance(comment, Mapping)]
        return cls(
            tracker=tracker or tracker_of(record),
            number=number,
            title=_text(record, "title"),
            body=_text(record, "body"),
            state=_text(record, "state"),
            state_reason=_text(record, "state_reason"),
            labels=tuple(_labels(record.get("labels"))),
            author=_login(record),
            author_association=_text(record, "author_association"),
            created_at=_text(record, "created_at"),
            updated_at=_text(record, "updated_at"),
            closed_at=_text(record, "closed_at"),
            url=_text(record, "html_url"),
            is_pull_request=record.get("pull_request") is not None,
            comments=tuple(sorted(read, key=lambda comment: (comment.created_at, comment.id))),
        )


def issue_number_of(comment: Mapping[str, Any]) -> int | None:
    """The issue a comment belongs to: repository-wide listings tell it by address only."""
    tail = _text(comment, "issue_url").rpartition("/")[2]
    return int(tail) if tail.isascii() and tail.isdigit() else None


def tracker_of(record: Mapping[str, Any]) -> str:
    """``owner/name``, read off the record's own addresses; empty where there are none."""
    api = _text(record, "repository_url")
    if api:
        return "/".join(api.rstrip("/").split("/")[-2:])
    parts = _text(record, "html_url").split("/")
    return "/".join(parts[3:5]) if len(parts) > 5 else ""


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _login(record: Mapping[str, Any]) -> str:
    user = record.get("user")
    return _text(user, "login") if isinstance(user, Mapping) else ""


def _labels(labels: object) -> list[str]:
    if not isinstance(labels, list):
        return []
    names = [_text(label, "name") if isinstance(label, Mapping) else label for label in labels]
    return [name for name in names if isinstance(name, str) and name]
