"""Adds trackers, issues, comments, blocks and formulas to the corpus.

Every ``add_*`` method takes many records and returns the id of each and whether it is new. Known records are
found by their natural key and updated if they changed. New formulas are decomposed in the same pass. Call the
methods inside ``Corpus.transaction``, and discard the :class:`Intake` if the transaction fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from hashlib import sha256
from typing import Any

from corpus.examine import Examination, Traits, examine
from corpus.learned import Decompositions
from corpus.records import (
    Added,
    Block,
    Comment,
    FormulaSource,
    Issue,
    RawRecord,
    Reasoned,
    SolverRun,
    Tracker,
)
from corpus.store import Corpus, digest, storable

_FORMULA_COLUMNS = """
id tracker_id issue_id comment_id block_id position source path sha256 bytes text_id status error error_line
error_column logic commands assertions check_sats pushes quantifiers terms theories operators command_line
solver solver_version expected bug_class decomposed script_text_id actual flags
""".split()
_ISSUE_COLUMNS = [
    field.name
    for field in fields(Issue)
    if field.name not in ("tracker", "body", "is_pull_request", "comment_count", "comments")
]
_RUN_COLUMNS = (
    *("formula_id", "position", "command_line", "solver", "solver_version", "options", "answers", "symptom"),
    *("failing", "crash_file", "crash_line", "crash_function", "crash_message", "output_text_id"),
)
_COMMENT_COLUMNS = ("author_association", "created_at", "updated_at", "raw_record_id")


class Intake:
    """Adds records to an open corpus. Caches the identities of the stored formulas and of their parts."""

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._formulas: dict[tuple[str, str], int] | None = None
        self._learner: Decompositions | None = None

    def add_tracker(self, tracker: Tracker) -> int:
        """The id of the tracker with this name, which is added if it is missing."""
        found = self.corpus.scalar("select id from tracker where name = ?", [tracker.name])
        if found is not None:
            return int(found)
        ident = self.corpus.new_id("tracker")
        row = (ident, tracker.name, tracker.kind, tracker.url, tracker.solver)
        self.corpus.insert("tracker", ("id", "name", "kind", "url", "solver"), [row])
        return ident

    def add_raw_records(self, tracker_id: int, records: Sequence[RawRecord]) -> list[Added]:
        """Store answers of a tracker's API. A newer answer to the same request replaces the old one."""
        texts = self.corpus.add_texts(record.body for record in records)
        rows = [
            {"tracker_id": tracker_id, "text_id": text}
            | {f.name: getattr(record, f.name) for f in fields(record) if f.name != "body"}
            for record, text in zip(records, texts, strict=True)
        ]
        return self._upsert("raw_record", ("tracker_id", "request"), rows)

    def add_issues(self, tracker_id: int, issues: Sequence[Issue]) -> list[Added]:
        """Store issues, keyed by number."""
        bodies = iter(self.corpus.add_texts(issue.body for issue in issues if issue.body))
        reasons = [column for column in self.corpus.columns("issue") if column.endswith("_reason")]
        rows = []
        for issue in issues:
            row: dict[str, object] = {"tracker_id": tracker_id} | dict.fromkeys(reasons)
            for column in _ISSUE_COLUMNS:
                value = getattr(issue, column)
                if isinstance(value, Reasoned):
                    row[column], row[column + "_reason"] = value.value, value.reason or None
                else:
                    row[column] = list(value) if isinstance(value, tuple) else _known(value)
            rows.append(row | {"text_id": next(bodies) if issue.body else None})
        return self._upsert("issue", ("tracker_id", "number"), rows)

    def add_comments(self, threads: Sequence[tuple[int, Sequence[Comment]]]) -> list[Added]:
        """Store comments, given per issue id in chronological order; keyed by issue and position."""
        texts = iter(self.corpus.add_texts(comment.body for _, comments in threads for comment in comments))
        rows = [
            {"issue_id": issue_id, "position": position, "remote_id": comment.id}
            | {column: _known(getattr(comment, column)) for column in _COMMENT_COLUMNS}
            | {"text_id": next(texts)}
            for issue_id, comments in threads
            for position, comment in enumerate(comments, 1)
        ]
        return self._upsert("comment", ("issue_id", "position"), rows)

    def add_blocks(self, blocks: Sequence[Block]) -> list[Added]:
        """Store code blocks, keyed by issue and position."""
        texts = self.corpus.add_texts(block.text for block in blocks)
        outputs = iter(self.corpus.add_texts(block.output for block in blocks if block.output is not None))
        rows = []
        for block, text in zip(blocks, texts, strict=True):
            row = {f.name: getattr(block, f.name) for f in fields(block) if f.name not in ("text", "output")}
            row["text_id"] = text
            row["output_text_id"] = None if block.output is None else next(outputs)
            rows.append(row)
        return self._upsert("block", ("issue_id", "position"), rows)

    def add_formulas(self, sources: Sequence[FormulaSource]) -> list[Added]:
        """Read, check, decompose and store formulas, keyed by source and hash; known ones are not read again.

        :func:`corpus.learned.refresh_counts` is left to the caller.
        """
        if self._learner is None:
            self._learner = Decompositions(self.corpus)
        known = self._known_formulas()
        added, new = [], []
        for source in sources:
            key = (storable(source.source), source.sha256 or identity(source.text))
            found = known.get(key)
            if found is None:
                known[key] = ident = self.corpus.new_id("formula")
                new.append((ident, key[1], source))
                added.append(Added(ident, True))
            else:
                added.append(Added(found, False))
        texts = iter(self.corpus.add_texts(s.text for _, _, s in new if s.text is not None))
        scripts = self.script_ids([source for _, _, source in new])
        rows = []
        for (ident, key_hash, source), script_id in zip(new, scripts, strict=True):
            examined = Examination("error", source.failure) if source.text is None else examine(source.text)
            text_id = None if source.text is None else next(texts)
            rows.append(_formula_row(ident, key_hash, source, examined, (text_id, script_id)))
            if examined.checked is not None:
                self._learner.take(ident, examined.checked)
        self.corpus.insert("formula", _FORMULA_COLUMNS, rows)
        self._learner.flush()
        return added

    def script_ids(self, sources: Sequence[FormulaSource]) -> list[int | None]:
        """The text ids of the formulas' whole scripts; None without one."""
        ids = iter(self.corpus.add_texts(s.script for s in sources if s.script is not None))
        return [None if source.script is None else next(ids) for source in sources]

    def store_runs(self, formulas: Sequence[tuple[int, Sequence[SolverRun]]]) -> None:
        """Store the runs of formulas, given by id, in place of the stored ones."""
        texts = [run.output for _, runs in formulas for run in runs if run.output is not None]
        outputs = iter(self.corpus.add_texts(texts))
        rows = []
        for ident, runs in formulas:
            for position, run in enumerate(runs):
                values = [getattr(run, column) for column in _RUN_COLUMNS[2:-1]]
                output = None if run.output is None else next(outputs)
                rows.append((ident, position, *(clean(value) for value in values), output))
        ids = [ident for ident, _ in formulas]
        stored = self.corpus.rows(
            f"select {', '.join(_RUN_COLUMNS)} from formula_run"
            " where formula_id in (select unnest(?::integer[])) order by all",
            [ids],
        )
        if stored != sorted(rows, key=lambda row: row[:2]):
            self.corpus.execute(
                "delete from formula_run where formula_id in (select unnest(?::integer[]))", [ids]
            )
            self.corpus.insert("formula_run", _RUN_COLUMNS, rows)

    def _known_formulas(self) -> dict[tuple[str, str], int]:
        if self._formulas is None:
            rows = self.corpus.rows("select source, sha256, id from formula")
            self._formulas = {(source, key): ident for source, key, ident in rows}
        return self._formulas

    def _upsert(self, table: str, key: tuple[str, str], rows: Sequence[dict[str, Any]]) -> list[Added]:
        """Insert new rows and update changed ones; returns the ids in the given order."""
        columns = list(dict.fromkeys(column for row in rows for column in row))
        if not rows:
            return []
        # Reads only rows that may match, however large the table is.
        narrowed = " and ".join(f"{c} in (select unnest(?::{self.corpus.columns(table)[c]}[]))" for c in key)
        stored = self.corpus.rows(
            f"select id, {', '.join(columns)} from {table} where {narrowed}",
            [list({clean(row[c]) for row in rows}) for c in key],
        )
        known = {tuple(r[1 + columns.index(c)] for c in key): r for r in stored}
        added: list[Added] = []
        inserts: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        updates: dict[int, tuple[Any, ...]] = {}
        for row in rows:
            values = tuple(clean(row.get(column)) for column in columns)
            name = tuple(clean(row[column]) for column in key)
            old = known.get(name)
            if old is None:
                ident = self.corpus.new_id(table)
                known[name] = inserts[name] = (ident, *values)
                added.append(Added(ident, True))
                continue
            added.append(Added(old[0], False))
            if old[1:] != values:
                if name in inserts:
                    inserts[name] = (old[0], *values)
                else:
                    updates[old[0]] = values
                known[name] = (old[0], *values)
        self.corpus.insert(table, ["id", *columns], list(inserts.values()))
        changing = [(i, column) for i, column in enumerate(columns) if column not in key]
        rows_to_set = [(ident, *(values[i] for i, _ in changing)) for ident, values in updates.items()]
        self.corpus.update(table, [column for _, column in changing], rows_to_set)
        return added


def identity(text: str | None) -> str:
    """The hash in a formula's identity."""
    return digest(storable(text)) if text is not None else sha256(b"").hexdigest()


def _known(value: Any) -> Any:
    """A value for a column: None instead of an empty text."""
    return None if value == "" else value


def clean(value: Any) -> Any:
    """A value as a column holds it: texts without lone surrogates, tuples as lists."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, (list, tuple)):
        return [clean(item) for item in value]
    return value


def _formula_row(
    ident: int,
    key_hash: str,
    source: FormulaSource,
    examined: Examination,
    text_ids: tuple[int | None, int | None],
) -> tuple[object, ...]:
    size = source.bytes if source.bytes is not None else len(storable(source.text or "").encode())
    text_id, script_id = text_ids
    derived: dict[str, object] = {
        **{"id": ident, "sha256": key_hash, "bytes": size, "text_id": text_id, "script_text_id": script_id},
        **{"status": examined.status, "error": examined.error, "decomposed": examined.checked is not None},
        **{"error_line": examined.line, "error_column": examined.column},
        **{trait.name: getattr(examined.traits, trait.name, None) for trait in fields(Traits)},
    }
    return tuple(clean(derived[c] if c in derived else getattr(source, c)) for c in _FORMULA_COLUMNS)
