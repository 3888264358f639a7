"""What trackers hold and what is put into the corpus: one dataclass per kind of record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Tracker:
    """Where issues come from. ``kind``: ``folder``, ``starter`` or a host's name (``github``, ``gitlab``)."""

    name: str
    kind: str = "folder"
    url: str | None = None
    solver: str | None = None


@dataclass(frozen=True, slots=True)
class RawRecord:
    """One answer of a tracker, as it came; ``request`` without host and token, ``next`` the page after it."""

    request: str
    body: str
    status: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    fetched_at: datetime | None = None
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A value that was read out of text, and the words that gave it.

    ``where`` is the place of the issue that has them, ``rule`` the id of the rule that found them.
    """

    value: str
    reason: str | None = None
    where: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Comment:
    """An answer to an issue; ``id`` is the tracker's own."""

    id: int
    body: str
    author_association: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    raw_record_id: int | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """A bug report with its comments, in the order they were written; empty texts are unknown ones.

    ``tracker`` is a name such as ``Z3Prover/z3``. Values with a reason are those that the miner classified.
    """

    tracker: str
    number: int
    title: str = ""
    body: str = ""
    url: str = ""
    author_association: str = ""
    labels: tuple[str, ...] = ()
    state: str = ""
    state_reason: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    closed_at: datetime | None = None
    bug_class: Reasoned | None = None
    severity: Reasoned | None = None
    area: Reasoned | None = None
    fixed_by: Reasoned | None = None
    affected: Reasoned | None = None
    raw_record_id: int | None = None
    is_pull_request: bool = False
    # How many comments the tracker counts, where the issue itself says so.
    comment_count: int = 0
    comments: tuple[Comment, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of code in an issue (``comment_id`` is None) or in a comment."""

    issue_id: int
    position: int
    text: str
    kind: str = "fenced"
    comment_id: int | None = None
    language: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    command_line: str | None = None
    output: str | None = None
    expected: str | None = None


@dataclass(frozen=True, slots=True)
class FormulaSource:
    """An SMT-LIB script and where it came from.

    ``source`` tells the place and, with the text's hash, is the formula's identity. ``text`` is
    None where the bytes could not be had as text; then ``failure`` says why.
    """

    source: str
    text: str | None
    tracker_id: int
    issue_id: int | None = None
    comment_id: int | None = None
    block_id: int | None = None
    position: int = 0
    path: str | None = None
    sha256: str | None = None
    bytes: int | None = None
    failure: str | None = None
    command_line: str | None = None
    solver: str | None = None
    solver_version: str | None = None
    expected: str | None = None
    bug_class: str | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """The id of a row, and whether it is new."""

    id: int
    new: bool
