"""The records of trackers and of the corpus: one dataclass per kind."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Tracker:
    """A source of issues. ``kind``: ``folder``, ``starter`` or the host's name (``github``, ``gitlab``)."""

    name: str
    kind: str = "folder"
    url: str | None = None
    solver: str | None = None


@dataclass(frozen=True, slots=True)
class RawRecord:
    """An unmodified answer of a tracker. ``request``: without host and token. ``next``: of the next page."""

    request: str
    body: str
    status: int | None = None
    etag: str | None = None
    last_modified: str | None = None
    fetched_at: datetime | None = None
    next: str | None = None


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A value derived from text, with the words that it is derived from.

    ``where``: the text of the issue with these words. ``rule``: the id of the rule that matched.
    """

    value: str
    reason: str | None = None
    where: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an issue. ``id``: the tracker's."""

    id: int
    body: str
    author_association: str = ""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    raw_record_id: int | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue with its comments in chronological order; an empty text is an unknown one.

    ``tracker``: a name such as ``Z3Prover/z3``. The :class:`Reasoned` values come from the miner.
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
    affected_commit: Reasoned | None = None
    last_good: Reasoned | None = None
    fixed_in: Reasoned | None = None
    introduced_by: Reasoned | None = None
    duplicate_of: Reasoned | None = None
    tools: tuple[str, ...] | None = None
    crash_file: str | None = None
    crash_line: int | None = None
    crash_function: str | None = None
    crash_message: str | None = None
    raw_record_id: int | None = None
    is_pull_request: bool = False
    # The number of comments according to the tracker, if it is part of the issue.
    comment_count: int = 0
    comments: tuple[Comment, ...] = ()

    def texts(self) -> list[tuple[str, str]]:
        """The body and the comments, each with its place: ``body`` or ``comment:<id>``."""
        return [("body", self.body), *((f"comment:{comment.id}", comment.body) for comment in self.comments)]


@dataclass(frozen=True, slots=True)
class Block:
    """A code block in an issue (``comment_id`` is None) or in a comment."""

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
    written_in: str | None = None


@dataclass(frozen=True, slots=True)
class SolverRun:
    """A run of a solver on a formula, as its issue shows it. See the table ``formula_run``."""

    command_line: str | None = None
    solver: str | None = None
    solver_version: str | None = None
    options: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    symptom: str | None = None
    failing: bool = False
    crash_file: str | None = None
    crash_line: int | None = None
    crash_function: str | None = None
    crash_message: str | None = None
    output: str | None = None


@dataclass(frozen=True, slots=True)
class FormulaSource:
    """An SMT-LIB script and its origin.

    ``source``: the place; together with the hash of the text it identifies the formula. ``text``: None if the
    file could not be read as text; ``failure`` then says why. ``script``: the whole script, if ``text`` is
    only what learning uses. ``actual``: the answers of the failing run.
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
    script: str | None = None
    actual: str | None = None
    flags: tuple[str, ...] | None = None
    runs: tuple[SolverRun, ...] = ()


@dataclass(frozen=True, slots=True)
class Added:
    """The id of a row, and whether it is new."""

    id: int
    new: bool
