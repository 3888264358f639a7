"""From issues to the corpus: raw record first, then what extraction and classification read from it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from corpus.intake import Intake
from corpus.records import Block, Comment, FormulaSource, RawRecord, Reasoned, Tracker
from corpus.records import Issue as IssueRow
from corpus.store import Corpus
from miner.classify import Classification, Evidence, classify
from miner.extract import Extraction, Formula, LocatedBlock, extract_issue
from miner.records import Issue
from miner.starter import TRACKER, issue_of, read_records

_ISSUES_PER_TRANSACTION = 100

_PROSE = ("paragraph", "heading", "span", "html")

Sourced = tuple[RawRecord, Issue]
"""An issue and the raw record it was built from."""


@dataclass(slots=True)
class MiningReport:
    """What was mined: issues seen, formulas found and how many of them are new to the corpus."""

    issues: int = 0
    blocks: int = 0
    formulas: int = 0
    new_formulas: int = 0


def mine_starter(
    corpus: Corpus, progress: Callable[[int, int], None] = lambda done, total: None
) -> MiningReport:
    """Mine the bundled starter tracker, by the same path as a live one."""
    sourced = [(_raw(name, record), issue_of(record)) for name, record in read_records()]
    return store_issues(
        corpus, Tracker(TRACKER, "starter"), sourced, lambda done: progress(done, len(sourced))
    )


def _raw(name: str, record: dict[str, Any]) -> RawRecord:
    return RawRecord(f"starter/{name}", json.dumps(record, ensure_ascii=False, sort_keys=True))


def store_issues(
    corpus: Corpus,
    tracker: Tracker,
    sourced: Iterable[Sourced],
    progress: Callable[[int], None] = lambda done: None,
) -> MiningReport:
    """Store issues with their comments, blocks and formulas. What is known already is not stored again."""
    report = MiningReport()
    batch: list[Sourced] = []
    for item in sourced:
        batch.append(item)
        if len(batch) == _ISSUES_PER_TRANSACTION:
            _store_batch(corpus, tracker, batch, report)
            batch.clear()
            progress(report.issues)
    if batch:
        _store_batch(corpus, tracker, batch, report)
        progress(report.issues)
    return report


def _store_batch(corpus: Corpus, tracker: Tracker, batch: list[Sourced], report: MiningReport) -> None:
    with corpus.transaction():
        intake = Intake(corpus)
        tracker_id = intake.add_tracker(tracker)
        records = intake.add_raw_records(tracker_id, [raw for raw, _ in batch])
        for (_, issue), record in zip(batch, records, strict=True):
            _store_issue(intake, tracker_id, issue, record.id, report)


def _store_issue(intake: Intake, tracker_id: int, issue: Issue, record_id: int, report: MiningReport) -> None:
    extraction = extract_issue(issue)
    classification = classify(issue, extraction)
    issue_id = intake.add_issue(tracker_id, _issue_row(issue, classification, record_id)).id
    rows = [
        Comment(
            issue_id,
            position,
            comment.body,
            comment.id,
            comment.author_association or None,
            _time(comment.created_at),
            _time(comment.updated_at),
            record_id,
        )
        for position, comment in enumerate(issue.comments, 1)
    ]
    added = intake.add_comments(rows)
    comments = {f"comment:{c.id}": a.id for c, a in zip(issue.comments, added, strict=True)}
    blocks = _store_blocks(intake, issue_id, extraction, comments)
    sources = [
        _formula_source(issue, tracker_id, issue_id, formula, position, comments, blocks, classification)
        for position, formula in enumerate(extraction.formulas)
    ]
    stored = intake.add_formulas(sources)
    for formula, row in zip(extraction.formulas, stored, strict=True):
        if row.new and formula.duplicate_of is not None:
            intake.supersede(row.id, stored[formula.duplicate_of].id)
        elif row.new and formula.reduced_from is not None:
            intake.link_near_duplicate(row.id, stored[formula.reduced_from].id)
    report.issues += 1
    report.blocks += len(blocks)
    report.formulas += len(stored)
    report.new_formulas += sum(row.new for row in stored)


def _issue_row(issue: Issue, classification: Classification, record_id: int) -> IssueRow:
    return IssueRow(
        issue.number,
        issue.url or None,
        issue.title,
        issue.body,
        issue.author_association or None,
        issue.labels,
        issue.state or None,
        issue.state_reason or None,
        _time(issue.created_at),
        _time(issue.updated_at),
        _time(issue.closed_at),
        _reasoned(classification.bug_class),
        _reasoned(classification.severity),
        _reasoned(classification.areas[0] if classification.areas else None),
        _reasoned(classification.fixed_by),
        _reasoned(classification.version or classification.commit),
        record_id,
    )


def _store_blocks(
    intake: Intake, issue_id: int, extraction: Extraction, comments: dict[str, int]
) -> dict[tuple[str, int], int]:
    # Prose is in the issue's own text; of it, only what turned out to hold a formula is a block.
    formulas = {(f.where, index) for f in extraction.formulas for index in f.blocks}
    kept = [b for b in extraction.blocks if b.block.kind not in _PROSE or (b.where, b.index) in formulas]
    rows = [
        Block(
            issue_id,
            position,
            located.block.text,
            str(located.block.kind),
            comments.get(located.where),
            located.block.language or None,
            located.block.line,
            located.block.line + located.block.text.count("\n"),
            *_run_of(extraction, located),
        )
        for position, located in enumerate(kept)
    ]
    added = intake.add_blocks(rows)
    return {(b.where, b.index): a.id for b, a in zip(kept, added, strict=True)}


def _run_of(extraction: Extraction, located: LocatedBlock) -> tuple[str | None, str | None, str | None]:
    """Command line, output and expected answer of the formula that a block holds, where it holds one."""
    for formula in extraction.formulas:
        if formula.where == located.where and located.index in formula.blocks:
            command = formula.invocations[0].text if formula.invocations else None
            output = formula.outputs[0].text if formula.outputs else None
            return command, output, formula.expected.answer if formula.expected else None
    return None, None, None


def _formula_source(
    issue: Issue,
    tracker_id: int,
    issue_id: int,
    formula: Formula,
    position: int,
    comments: dict[str, int],
    blocks: dict[tuple[str, int], int],
    classification: Classification,
) -> FormulaSource:
    invocation = formula.invocations[0] if formula.invocations else None
    return FormulaSource(
        f"{issue.tracker}#{issue.number}/{formula.where}/{position}",
        formula.text,
        tracker_id,
        issue_id,
        comments.get(formula.where),
        blocks.get((formula.where, formula.blocks[0])) if formula.blocks else None,
        position,
        command_line=invocation.text if invocation else None,
        solver=(invocation.solver or None) if invocation else None,
        solver_version=(invocation.version or None) if invocation else None,
        expected=formula.expected.answer if formula.expected else None,
        bug_class=classification.bug_class.value or None,
    )


def _reasoned(evidence: Evidence | None) -> Reasoned | None:
    if evidence is None or not evidence.value:
        return None
    return Reasoned(evidence.value, evidence.text or None)


def _time(text: str) -> datetime | None:
    """A REST time as UTC without zone, None where there is none or it is malformed."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except ValueError:
        return None
