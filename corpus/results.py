"""Stores the results of hunts: the batch, the findings, and the tests that they refer to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from corpus.probing import solver_id
from corpus.store import Corpus, digest


@dataclass(frozen=True, slots=True)
class BatchRecord:
    """How the tests of a hunt were generated."""

    strategy: str
    seed: int
    version: str
    fingerprint: str
    solvers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundRecord:
    """A confirmed finding: the test and what it was made from, the affected solver, and the folder."""

    finding_class: str
    spec: str
    solver_version: str
    key: str
    index: int
    text: str
    skeletons: tuple[int, ...]
    atoms: tuple[int, ...]
    rules: tuple[int, ...]
    command_line: str
    path: str


def store_hunt(corpus: Corpus, batch: BatchRecord, found: Sequence[FoundRecord]) -> int:
    """Store a hunt's batch and findings in one transaction; returns how many findings were new.

    A finding with a known class, solver and key is not stored again, and an equal batch is reused, so that a
    campaign can store its findings one by one. Findings with the same index must have the same text.
    """
    now = datetime.now(UTC).replace(tzinfo=None)
    solvers = {f: solver_id(corpus, f.spec, f.solver_version) for f in found}
    known = set(corpus.rows("select class, solver_id, key from finding"))
    new = [f for f in found if (f.finding_class, solvers[f], f.key) not in known]
    with corpus.transaction():
        batch_id = _batch_id(corpus, batch, new, now)
        texts = corpus.add_texts([f.text for f in new])
        tests: dict[int, int] = dict(corpus.rows("select index, id from test where batch_id = ?", [batch_id]))
        rows = []
        for record, text_id in zip(new, texts, strict=True):
            if record.index not in tests:
                tests[record.index] = corpus.new_id("test")
                bones = (list(record.skeletons), list(record.atoms), list(record.rules))
                rows.append(
                    (tests[record.index], batch_id, record.index, text_id, digest(record.text), *bones)
                )
        corpus.insert(
            "test", ("id", "batch_id", "index", "text_id", "sha256", "skeletons", "atoms", "rules"), rows
        )
        columns = (
            *("id", "class", "solver_id", "key", "test_id", "original_text_id", "command_line", "path"),
            *("seed", "found_at"),
        )
        corpus.insert(
            "finding",
            columns,
            [
                (
                    *(corpus.new_id("finding"), f.finding_class, solvers[f], f.key, tests[f.index]),
                    *(text_id, f.command_line, f.path, batch.seed, now),
                )
                for f, text_id in zip(new, texts, strict=True)
            ],
        )
    return len(new)


def _batch_id(corpus: Corpus, batch: BatchRecord, new: Sequence[FoundRecord], now: datetime) -> int:
    """The id of the batch, which is added unless an equal one is stored.

    A batch that has another test at the index of a finding is of a hunt with other options, and not equal.
    """
    solvers = list(batch.solvers)
    said = [batch.strategy, batch.seed, batch.version, batch.fingerprint, solvers]
    found = corpus.scalar(
        "select max(id) from batch where strategy = ? and seed = ? and version = ?"
        " and corpus_fingerprint = ? and solvers = ? and id not in (select batch_id from test join"
        " (select unnest(?::integer[]) as place, unnest(?::varchar[]) as hash) on place = index"
        " where sha256 <> hash)",
        [*said, [f.index for f in new], [digest(f.text) for f in new]],
    )
    if found is not None:
        return int(found)
    made = corpus.new_id("batch")
    columns = ("id", "strategy", "seed", "version", "corpus_fingerprint", "solvers", "created_at")
    corpus.insert("batch", columns, [(made, *said, now)])
    return made
