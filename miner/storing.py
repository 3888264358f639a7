"""From issues to the corpus: raw record first, then what extraction and classification read from it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from corpus.intake import Intake, identity
from corpus.learn import Learner
from corpus.learned import refresh_counts
from corpus.records import Block, Comment, FormulaSource, RawRecord, Reasoned, Tracker
from corpus.records import Issue as IssueRow
from corpus.store import Corpus, storable
from miner.attachments import AttachedFile
from miner.classify import Classification, Evidence, classify
from miner.extract import Extraction, Formula, LocatedBlock, extract_file, extract_issue
from miner.records import Issue
from miner.references import references_of
from miner.starter import TRACKER, issue_of, read_records

ISSUES_PER_TRANSACTION = 200

_PROSE = ("paragraph", "heading", "span", "html")

Sourced = tuple[RawRecord, Issue]
"""An issue and the raw record it was built from."""


@dataclass(slots=True)
class MiningReport:
    """What was mined: issues seen, formulas found and how many of each are new to the corpus."""

    issues: int = 0
    blocks: int = 0
    formulas: int = 0
    new_formulas: int = 0
    new_issues: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """An issue that was read, ready to be stored. ``comment_records`` has raw records by comment id."""

    issue: Issue
    extraction: Extraction
    classification: Classification
    record_id: int
    comment_records: Mapping[int, int] = field(default_factory=dict)
    attached: tuple[AttachedFile, ...] = ()


def prepare(
    issue: Issue,
    record_id: int,
    comment_records: Mapping[int, int] | None = None,
    attached: Sequence[AttachedFile] = (),
) -> Prepared:
    """Extract and classify an issue."""
    extraction = extract_issue(issue)
    classification = classify(issue, extraction)
    return Prepared(issue, extraction, classification, record_id, comment_records or {}, tuple(attached))


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
    items = list(sourced)
    with corpus.transaction():
        intake = Intake(corpus)
        tracker_id = intake.add_tracker(tracker)
        records = intake.add_raw_records(tracker_id, [raw for raw, _ in items])
    storer = Storer(corpus, tracker_id)
    for start in range(0, len(items), ISSUES_PER_TRANSACTION):
        batch = items[start : start + ISSUES_PER_TRANSACTION]
        prepared = [
            prepare(issue, record.id, {comment.id: record.id for comment in issue.comments})
            for (_, issue), record in zip(batch, records[start:], strict=False)
        ]
        with corpus.transaction():
            storer.store(prepared)
        progress(storer.report.issues)
    refresh_counts(corpus)
    return storer.report


class Storer:
    """Stores batches of issues of one tracker, each formula taken apart in the same pass.

    Call :meth:`store` inside a transaction; after one that failed, a storer is thrown away.
    """

    def __init__(self, corpus: Corpus, tracker_id: int) -> None:
        self.corpus = corpus
        self.tracker_id = tracker_id
        self.report = MiningReport()
        self._intake = Intake(corpus)
        self._learner = Learner(corpus)

    def store(self, batch: Sequence[Prepared]) -> None:
        """Store some issues with all that was read from them."""
        if not batch:
            return
        rows = [_issue_row(one) for one in batch]
        added = self._intake.add_issues(self.tracker_id, rows)
        issues = [_Stored(one, row.id) for one, row in zip(batch, added, strict=True)]
        self._store_comments(issues)
        self._store_blocks(issues)
        self._store_formulas(issues)
        self._store_references(issues)
        self._learner.flush()
        self.report.issues += len(batch)
        self.report.new_issues += sum(row.new for row in added)

    def _store_comments(self, issues: Sequence[_Stored]) -> None:
        rows = [row for issue in issues for row in issue.comment_rows()]
        ids = iter(self._intake.add_comments(rows))
        for issue in issues:
            issue.comments = {f"comment:{comment.id}": next(ids).id for comment in issue.of.issue.comments}

    def _store_blocks(self, issues: Sequence[_Stored]) -> None:
        rows: list[Block] = []
        names: list[tuple[_Stored, tuple[str, int]]] = []
        for issue in issues:
            for name, row in issue.block_rows():
                rows.append(row)
                names.append((issue, name))
        for (issue, name), added in zip(names, self._intake.add_blocks(rows), strict=True):
            issue.blocks[name] = added.id
        self.report.blocks += len(rows)

    def _store_formulas(self, issues: Sequence[_Stored]) -> None:
        sources: list[FormulaSource] = []
        for issue in issues:
            issue.sources = issue.formula_sources(self.tracker_id)
            sources += issue.sources
        added = self._intake.add_formulas(sources, self._learner.take)
        self._update_known([(row.id, s) for row, s in zip(added, sources, strict=True) if not row.new])
        ids = iter(added)
        for issue in issues:
            issue.number_formulas([next(ids).id for _ in issue.sources])
        self._link_formulas(issues)
        self._drop_stale_blocks(issues)
        self.report.formulas += len(added)
        self.report.new_formulas += sum(row.new for row in added)

    def _update_known(self, known: Sequence[tuple[int, FormulaSource]]) -> None:
        """What is said around a formula may have changed since it was stored."""
        if not known:
            return
        stored = {
            row[0]: row[1:]
            for row in self.corpus.rows(
                f"select id, {', '.join(_SAID)} from formula where id in (select unnest(?::integer[]))",
                [[ident for ident, _ in known]],
            )
        }
        changed: list[tuple[object, ...]] = []
        for ident, source in known:
            values = tuple(_storable(getattr(source, column)) for column in _SAID)
            if stored[ident] != values:
                changed.append((ident, *values))
        self._update("formula", _SAID, changed)

    def _link_formulas(self, issues: Sequence[_Stored]) -> None:
        """Say which formulas repeat or reduce others, and which have taken the place of earlier ones."""
        rows = self.corpus.rows(
            """select id, issue_id, source, sha256, superseded_by, near_duplicate_of, block_id
            from formula where issue_id in (select unnest(?::integer[])) order by id""",
            [[issue.id for issue in issues]],
        )
        by_issue = {issue.id: issue for issue in issues}
        changed = []
        for ident, issue_id, source, sha256, *links in rows:
            wanted = by_issue[issue_id].links_of(ident, source, sha256, *links)
            if wanted != tuple(links):
                changed.append((ident, *wanted))
        self._update("formula", ("superseded_by", "near_duplicate_of", "block_id"), changed)

    def _drop_stale_blocks(self, issues: Sequence[_Stored]) -> None:
        """An edited issue may have fewer blocks than before."""
        self.corpus.execute(
            """delete from block
            using (select unnest(?::integer[]) as issue, unnest(?::integer[]) as blocks) as now
            where block.issue_id = now.issue and position >= blocks""",
            [[issue.id for issue in issues], [len(issue.blocks) for issue in issues]],
        )

    def _store_references(self, issues: Sequence[_Stored]) -> None:
        wanted = {row for issue in issues for row in issue.reference_rows()}
        ids = [issue.id for issue in issues]
        columns = ("issue_id", "comment_id", "kind", "target", "fixes", "text")
        stored = self.corpus.rows(
            f"select {', '.join(columns)} from issue_link where issue_id in (select unnest(?::integer[]))",
            [ids],
        )
        stale = {row[0] for row in set(stored) - wanted}
        if stale:
            self.corpus.execute(
                "delete from issue_link where issue_id in (select unnest(?::integer[]))", [sorted(stale)]
            )
        kept = {row for row in stored if row[0] not in stale}
        rows = [row for issue in issues for row in issue.reference_rows() if row not in kept]
        self.corpus.insert("issue_link", columns, rows)

    def _update(self, table: str, columns: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
        """Set columns of many rows, each given as its id and the values."""
        if not rows:
            return
        names = ("id", *columns)
        lists = ", ".join(f"unnest(?::{self.corpus.type_of(table, c)}[]) as {c}" for c in names)
        settings = ", ".join(f"{c} = said.{c}" for c in columns)
        self.corpus.execute(
            f"update {table} set {settings} from (select {lists}) as said where said.id = {table}.id",
            [list(column) for column in zip(*rows, strict=True)],
        )


_SAID = (
    *("issue_id", "comment_id", "block_id", "position", "command_line", "solver", "solver_version"),
    *("expected", "bug_class"),
)
"""Columns of a formula that may change while its text and place stay."""


@dataclass(slots=True)
class _Stored:
    """An issue while it is stored: its rows, and the ids they got."""

    of: Prepared
    id: int
    comments: dict[str, int] = field(default_factory=dict)
    blocks: dict[tuple[str, int], int] = field(default_factory=dict)
    sources: list[FormulaSource] = field(default_factory=list)
    formulas: list[int] = field(default_factory=list)
    # Of each formula, as positions: the one that it repeats, the one that it was reduced from.
    repeats: list[int | None] = field(default_factory=list)
    reduced: list[int | None] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    by_source: dict[str, int] = field(default_factory=dict)
    by_hash: dict[str, int] = field(default_factory=dict)

    def comment_rows(self) -> Iterable[Comment]:
        for position, comment in enumerate(self.of.issue.comments, 1):
            yield Comment(
                self.id,
                position,
                comment.body,
                comment.id,
                comment.author_association or None,
                _time(comment.created_at),
                _time(comment.updated_at),
                self.of.comment_records.get(comment.id, self.of.record_id),
            )

    def block_rows(self) -> Iterable[tuple[tuple[str, int], Block]]:
        """The blocks that are stored: code, attached files, and prose that turned out to hold a formula."""
        extraction = self.of.extraction
        formulas = {(f.where, index) for f in extraction.formulas for index in f.blocks}
        runs = _runs(extraction)
        position = 0
        for located in extraction.blocks:
            name = (located.where, located.index)
            if located.block.kind in _PROSE and name not in formulas:
                continue
            yield name, self._block_row(located, position, runs.get(name, (None, None, None)))
            position += 1
        for index, file in enumerate(self.of.attached):
            comment = self.comments.get(file.where)
            lines = file.text.count("\n") + 1
            row = Block(self.id, position, file.text, "attachment", comment, file.name, 1, lines)
            yield (_attached(file), index), row
            position += 1

    def _block_row(
        self, located: LocatedBlock, position: int, run: tuple[str | None, str | None, str | None]
    ) -> Block:
        block = located.block
        return Block(
            self.id,
            position,
            block.text,
            str(block.kind),
            self.comments.get(located.where),
            block.language or None,
            block.line,
            block.line + block.text.count("\n"),
            *run,
        )

    def formula_sources(self, tracker_id: int) -> list[FormulaSource]:
        """The formulas of the texts, then those of attached files."""
        sources: list[FormulaSource] = []
        counted: Counter[str] = Counter()
        for formula in self.of.extraction.formulas:
            block = self.blocks.get((formula.where, formula.blocks[0])) if formula.blocks else None
            comment = self.comments.get(formula.where)
            sources.append(
                self._source(tracker_id, formula, formula.where, counted, comment, block, len(sources))
            )
            self.repeats.append(formula.duplicate_of)
            self.reduced.append(formula.reduced_from)
        first = {f.fingerprint: place for place, f in reversed(list(enumerate(self.of.extraction.formulas)))}
        for index, file in enumerate(self.of.attached):
            where = _attached(file)
            for formula in extract_file(file.text, self.of.issue.tracker):
                block, comment = self.blocks.get((where, index)), self.comments.get(file.where)
                place = len(sources)
                sources.append(
                    self._source(tracker_id, formula, where, counted, comment, block, place, file.name)
                )
                earlier = first.setdefault(formula.fingerprint, place)
                self.repeats.append(earlier if earlier != place else None)
                self.reduced.append(None)
        return sources

    def _source(
        self,
        tracker_id: int,
        formula: Formula,
        where: str,
        counted: Counter[str],
        comment: int | None,
        block: int | None,
        position: int,
        path: str | None = None,
    ) -> FormulaSource:
        issue = self.of.issue
        number = counted[where]
        counted[where] += 1
        invocation = formula.invocations[0] if formula.invocations else None
        return FormulaSource(
            f"{issue.tracker}#{issue.number}/{where}/{number}",
            formula.text,
            tracker_id,
            self.id,
            comment,
            block,
            position,
            path,
            command_line=invocation.text if invocation else None,
            solver=(invocation.solver or None) if invocation else None,
            solver_version=(invocation.version or None) if invocation else None,
            expected=formula.expected.answer if formula.expected else None,
            bug_class=self.of.classification.bug_class.value or None,
        )

    def links_of(
        self,
        ident: int,
        source: str,
        sha256: str,
        superseded: int | None,
        near: int | None,
        block: int | None,
    ) -> tuple[int | None, int | None, int | None]:
        """What a stored formula of this issue should name: successor, the formula it is a form of, block."""
        place = self.places.get(ident)
        if place is not None:
            repeats, reduced = self.repeats[place], self.reduced[place]
            return (
                None if repeats is None else self.formulas[repeats],
                None if reduced is None else self.formulas[reduced],
                block,
            )
        if not source.startswith(f"{self.of.issue.tracker}#{self.of.issue.number}/"):
            return superseded, near, block  # imported from a folder
        # Another text stands in its place now, or the text stands elsewhere.
        successor = self.by_source.get(source, self.by_hash.get(sha256))
        return (superseded if successor is None else successor), near, None

    def number_formulas(self, ids: list[int]) -> None:
        """Note the ids that the formulas got."""
        self.formulas = ids
        self.places = {ident: place for place, ident in enumerate(ids)}
        for ident, source in zip(ids, self.sources, strict=True):
            self.by_source.setdefault(storable(source.source), ident)
            self.by_hash.setdefault(identity(source.text), ident)

    def reference_rows(self) -> list[tuple[object, ...]]:
        return [
            (
                self.id,
                self.comments.get(reference.where),
                reference.kind,
                storable(reference.target),
                reference.fixes,
                storable(reference.text),
            )
            for reference in references_of(self.of.issue)
        ]


def _attached(file: AttachedFile) -> str:
    return f"attachment:{file.name}"


def _issue_row(one: Prepared) -> IssueRow:
    issue, classification = one.issue, one.classification
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
        one.record_id,
    )


def _runs(extraction: Extraction) -> dict[tuple[str, int], tuple[str | None, str | None, str | None]]:
    """Command line, output and expected answer of the first formula that each block holds."""
    found: dict[tuple[str, int], tuple[str | None, str | None, str | None]] = {}
    for formula in extraction.formulas:
        command = formula.invocations[0].text if formula.invocations else None
        output = formula.outputs[0].text if formula.outputs else None
        expected = formula.expected.answer if formula.expected else None
        for index in formula.blocks:
            found.setdefault((formula.where, index), (command, output, expected))
    return found


def _reasoned(evidence: Evidence | None) -> Reasoned | None:
    if evidence is None or not evidence.value:
        return None
    return Reasoned(evidence.value, evidence.text or None)


def _storable(value: object) -> object:
    return storable(value) if isinstance(value, str) else value


def _time(text: str) -> datetime | None:
    """A REST time as UTC without zone, None where there is none or it is malformed."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
