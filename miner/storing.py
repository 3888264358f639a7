"""Stores issues with the results of extraction and classification in the corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from corpus.intake import Intake, clean, identity
from corpus.records import Block, FormulaSource, Issue, Reasoned, SolverRun
from corpus.store import Corpus, storable
from miner.attachments import AttachedFile
from miner.classify import Classification, classify
from miner.commandline import Invocation
from miner.crashes import Crash, crash_of
from miner.extract import ATTACHMENT, Extraction, extract_issue
from miner.failing import FormulaRun
from miner.hosts.host import Host
from miner.references import Reference, references_of

ISSUES_PER_TRANSACTION = 200

_LINK_COLUMNS = ("kind", "target", "fixes", "text", "duplicate")
_PROSE = ("paragraph", "heading", "span", "html")


@dataclass(slots=True)
class TrackerReport:
    """The result of mining one tracker. ``problem``: why it could not be fetched completely; else empty."""

    tracker: str
    requests: int = 0
    not_modified: int = 0
    pages: int = 0
    # Objects in a dump that are neither issues nor comments.
    skipped: int = 0
    issues_seen: int = 0
    issues_read: int = 0
    issues_stored: int = 0
    new_issues: int = 0
    formulas: int = 0
    new_formulas: int = 0
    attachments: int = 0
    # Fixes whose changed files were fetched.
    fixes: int = 0
    deleted: int = 0
    renamed_to: str = ""
    problem: str = ""


@dataclass(slots=True)
class Prepared:
    """An extracted and classified issue, ready to be stored."""

    issue: Issue
    extraction: Extraction
    classification: Classification
    attached: Sequence[AttachedFile] = ()


def prepare(issue: Issue, attached: Sequence[AttachedFile] = ()) -> Prepared:
    """Extract and classify an issue."""
    extraction = extract_issue(issue, {file.name: file.text for file in attached})
    return Prepared(issue, extraction, classify(issue, extraction), attached)


class Storer:
    """Stores batches of issues of one tracker, with their formulas and the parts of these.

    Call :meth:`store` inside a transaction. Discard the storer if the transaction fails.
    """

    def __init__(self, corpus: Corpus, host: Host, tracker_id: int, report: TrackerReport) -> None:
        self.corpus = corpus
        self.host = host
        self.tracker_id = tracker_id
        self.report = report
        self._intake = Intake(corpus)

    def store(self, batch: Sequence[Prepared]) -> None:
        """Store issues with everything extracted from them."""
        if not batch:
            return
        named = [references_of(one.issue, self.host) for one in batch]
        rows = [_classified(one, references) for one, references in zip(batch, named, strict=True)]
        added = self._intake.add_issues(self.tracker_id, rows)
        issues = [_Stored(*stored) for stored in zip(batch, named, (row.id for row in added), strict=True)]
        self._store_comments(issues)
        self._store_blocks(issues)
        self._store_formulas(issues)
        self._store_references(issues)
        self.report.issues_stored += len(batch)
        self.report.new_issues += sum(row.new for row in added)

    def _store_comments(self, issues: Sequence[_Stored]) -> None:
        threads = [(issue.id, issue.of.issue.comments) for issue in issues]
        ids = iter(self._intake.add_comments(threads))
        for issue in issues:
            issue.comments = {f"comment:{comment.id}": next(ids).id for comment in issue.of.issue.comments}

    def _store_blocks(self, issues: Sequence[_Stored]) -> None:
        named = [(issue, name, row) for issue in issues for name, row in issue.block_rows()]
        rows = self._intake.add_blocks([row for *_, row in named])
        for (issue, name, _), added in zip(named, rows, strict=True):
            issue.blocks[name] = added.id

    def _store_formulas(self, issues: Sequence[_Stored]) -> None:
        sources: list[FormulaSource] = []
        for issue in issues:
            issue.sources = issue.formula_sources(self.tracker_id)
            sources += issue.sources
        added = self._intake.add_formulas(sources)
        self._update_known([(row.id, s) for row, s in zip(added, sources, strict=True) if not row.new])
        self._intake.store_runs([(row.id, source.runs) for row, source in zip(added, sources, strict=True)])
        ids = iter(added)
        for issue in issues:
            issue.number_formulas([next(ids).id for _ in issue.sources])
        self._link_formulas(issues)
        self._drop_stale_blocks(issues)
        self.report.formulas += len(added)
        self.report.new_formulas += sum(row.new for row in added)

    def _update_known(self, known: Sequence[tuple[int, FormulaSource]]) -> None:
        """Update the columns of stored formulas that depend on the text around them."""
        if not known:
            return
        columns = (*_VOLATILE, "script_text_id")
        scripts = self._intake.script_ids([source for _, source in known])
        stored = {
            row[0]: row[1:]
            for row in self.corpus.rows(
                f"select id, {', '.join(columns)} from formula where id in (select unnest(?::integer[]))",
                [[ident for ident, _ in known]],
            )
        }
        changed: list[tuple[object, ...]] = []
        for (ident, source), script in zip(known, scripts, strict=True):
            values = (*(clean(getattr(source, column)) for column in _VOLATILE), script)
            if stored[ident] != values:
                changed.append((ident, *values))
        self.corpus.update("formula", columns, changed)

    def _link_formulas(self, issues: Sequence[_Stored]) -> None:
        """Store which formulas are near duplicates of others, and which superseded earlier ones."""
        rows = self.corpus.rows(
            """select id, issue_id, source, sha256, superseded_by, near_duplicate_of, block_id
            from formula where issue_id in (select unnest(?::integer[])) order by id""",
            [[issue.id for issue in issues]],
        )
        by_issue = {issue.id: issue for issue in issues}
        changed = []
        for ident, issue_id, source, sha256, *links in rows:
            current = by_issue[issue_id].links_of(ident, source, sha256, *links)
            if current != tuple(links):
                changed.append((ident, *current))
        self.corpus.update("formula", ("superseded_by", "near_duplicate_of", "block_id"), changed)

    def _drop_stale_blocks(self, issues: Sequence[_Stored]) -> None:
        """Delete the blocks that an edited issue no longer has."""
        self.corpus.execute(
            """delete from block
            using (select unnest(?::integer[]) as issue, unnest(?::integer[]) as blocks) as now
            where block.issue_id = now.issue and position >= blocks""",
            [[issue.id for issue in issues], [len(issue.blocks) for issue in issues]],
        )

    def _store_references(self, issues: Sequence[_Stored]) -> None:
        current = dict.fromkeys(row for issue in issues for row in issue.reference_rows())
        ids = [issue.id for issue in issues]
        columns = ("issue_id", "comment_id", *_LINK_COLUMNS)
        stored = self.corpus.rows(
            f"select {', '.join(columns)} from issue_link where issue_id in (select unnest(?::integer[]))",
            [ids],
        )
        stale = {row[0] for row in stored if row not in current}
        if stale:
            self.corpus.execute(
                "delete from issue_link where issue_id in (select unnest(?::integer[]))", [sorted(stale)]
            )
        kept = {row for row in stored if row[0] not in stale}
        self.corpus.insert("issue_link", columns, [row for row in current if row not in kept])


_VOLATILE = (
    *("issue_id", "comment_id", "block_id", "position", "command_line", "solver", "solver_version"),
    *("expected", "bug_class", "actual", "flags"),
)
"""The columns of a formula that may change while its text and position stay the same."""


@dataclass(slots=True)
class _Stored:
    """An issue that is being stored: its rows and their ids."""

    of: Prepared
    references: Sequence[Reference]
    id: int
    comments: dict[str, int] = field(default_factory=dict)
    blocks: dict[tuple[str, int], int] = field(default_factory=dict)
    sources: list[FormulaSource] = field(default_factory=list)
    formulas: list[int] = field(default_factory=list)
    # For each formula, the positions of the one that it repeats and the one that it was reduced from.
    repeats: list[int | None] = field(default_factory=list)
    reduced: list[int | None] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)
    by_source: dict[str, int] = field(default_factory=dict)
    by_hash: dict[str, int] = field(default_factory=dict)

    def block_rows(self) -> Iterable[tuple[tuple[str, int], Block]]:
        """The blocks to store: code, attached files, and prose that contains a formula."""
        extraction = self.of.extraction
        formulas = {(f.where, index) for f in extraction.formulas for index in f.blocks}
        runs = _runs(extraction)
        position = 0
        for located in extraction.blocks:
            name = (located.where, located.index)
            if located.block.kind in _PROSE and name not in formulas and not located.written_in:
                continue
            block, comment = located.block, self.comments.get(located.where)
            last = block.line + block.text.count("\n")
            given = (comment, block.language or None, block.line, last)
            said = runs.get(name, (None, None, None))
            written_in = located.written_in or None
            yield name, Block(self.id, position, block.text, block.kind, *given, *said, written_in)
            position += 1
        for file in self.of.attached:
            comment = self.comments.get(file.where)
            given = (comment, file.name, 1, file.text.count("\n") + 1)
            written_in = file.written_in or None
            row = Block(self.id, position, file.text, "attachment", *given, written_in=written_in)
            yield (f"{ATTACHMENT}{file.name}", 0), row
            position += 1

    def formula_sources(self, tracker_id: int) -> list[FormulaSource]:
        """The formulas of the texts, then those of attached files. Also sets ``repeats`` and ``reduced``."""
        issue, formulas = self.of.issue, self.of.extraction.formulas
        self.repeats = [formula.duplicate_of for formula in formulas]
        self.reduced = [formula.reduced_from for formula in formulas]
        files = {f"{ATTACHMENT}{file.name}": file for file in self.of.attached}
        counted: Counter[str] = Counter()
        sources = []
        for position, formula in enumerate(formulas):
            where, file = formula.where, files.get(formula.where)
            comment = self.comments.get(file.where if file else where)
            block = self.blocks.get((where, formula.blocks[0]))
            failing = formula.failing
            run = (failing and failing.invocation) or next(iter(formula.invocations), None)
            sources.append(
                FormulaSource(
                    f"{issue.tracker}#{issue.number}/{where}/{counted[where]}",
                    formula.text,
                    tracker_id,
                    self.id,
                    comment,
                    block,
                    position,
                    file.name if file else None,
                    command_line=run.text if run else None,
                    solver=(run.solver or None) if run else None,
                    solver_version=(run.version or None) if run else None,
                    expected=formula.expected.answer if formula.expected else None,
                    bug_class=self.of.classification.bug_class.value or None,
                    script=formula.script,
                    actual=" ".join(failing.answers) or None if failing else None,
                    flags=formula.flags or None,
                    runs=tuple(_solver_run(run) for run in formula.runs),
                )
            )
            counted[where] += 1
        return sources

    def links_of(
        self, ident: int, source: str, sha256: str, *links: int | None
    ) -> tuple[int | None, int | None, int | None]:
        """The superseded_by, near_duplicate_of and block_id (now ``links``) that a formula should have."""
        superseded, near, block = links
        place = self.places.get(ident)
        if place is not None:
            repeats, reduced = self.repeats[place], self.reduced[place]
            return (
                None if repeats is None else self.formulas[repeats],
                None if reduced is None else self.formulas[reduced],
                block,
            )
        if not source.startswith(f"{self.of.issue.tracker}#{self.of.issue.number}/"):
            return superseded, near, block  # was imported from a folder
        # Another text is in its place now, or the text has moved.
        successor = self.by_source.get(source, self.by_hash.get(sha256))
        return (superseded if successor is None else successor), near, None

    def number_formulas(self, ids: list[int]) -> None:
        """Record the ids of the formulas."""
        self.formulas = ids
        self.places = {ident: place for place, ident in enumerate(ids)}
        for ident, source in zip(ids, self.sources, strict=True):
            self.by_source.setdefault(storable(source.source), ident)
            self.by_hash.setdefault(identity(source.text), ident)

    def reference_rows(self) -> list[tuple[object, ...]]:
        return [
            (self.id, self.comments.get(r.where), *(clean(getattr(r, column)) for column in _LINK_COLUMNS))
            for r in self.references
        ]


def _solver_run(run: FormulaRun) -> SolverRun:
    invocation, output = run.invocation or Invocation("", "", ""), run.output
    crash = crash_of(output.text) if output and run.symptom in ("crash", "leak") else None
    return SolverRun(
        invocation.text or None,
        run.solver or None,
        invocation.version or None,
        invocation.options,
        run.answers,
        run.symptom or None,
        run.failing,
        **_crash_columns(crash),
        output=output.text if output else None,
    )


def _crash_columns(crash: Crash | None) -> dict[str, Any]:
    """The columns ``crash_*`` of an issue or a run."""
    return {f"crash_{name}": value or None for name, value in asdict(crash).items()} if crash else {}


# Who speaks for a tracker, by GitHub's association of an author.
_MAINTAINERS = ("OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR")


def _duplicate(issue: Issue, references: Sequence[Reference]) -> Reasoned | None:
    """The issue that this one is said to repeat, by a maintainer if one says so."""
    said = [r for r in references if r.duplicate]
    by_maintainers = {f"comment:{c.id}" for c in issue.comments if c.author_association in _MAINTAINERS}
    said.sort(key=lambda r: by_maintainers.isdisjoint({r.where}))
    return Reasoned(said[0].target, said[0].text, said[0].where) if said else None


def _classified(one: Prepared, references: Sequence[Reference]) -> Issue:
    """An issue with its classification."""
    found = one.classification
    return replace(
        one.issue,
        bug_class=_if_found(found.bug_class),
        severity=_if_found(found.severity),
        area=_if_found(found.areas[0] if found.areas else None),
        fixed_by=_if_found(found.fixed_by),
        affected=_if_found(found.version or found.commit),
        affected_commit=_if_found(found.commit),
        last_good=_if_found(found.last_good),
        fixed_in=_if_found(found.fixed_in),
        introduced_by=_if_found(found.introduced_by),
        duplicate_of=_duplicate(one.issue, references),
        tools=found.tools or None,
        **_crash_columns(found.crash),
    )


def _if_found(value: Reasoned | None) -> Reasoned | None:
    return value if value is not None and value.value else None


def _runs(extraction: Extraction) -> dict[tuple[str, int], tuple[str | None, str | None, str | None]]:
    """Command line, output and expected answer of the first formula in each block."""
    found: dict[tuple[str, int], tuple[str | None, str | None, str | None]] = {}
    for formula in extraction.formulas:
        command = formula.invocations[0].text if formula.invocations else None
        output = formula.outputs[0].text if formula.outputs else None
        expected = formula.expected.answer if formula.expected else None
        for index in formula.blocks:
            found.setdefault((formula.where, index), (command, output, expected))
    return found
