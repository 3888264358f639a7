"""Learning: every well-sorted formula taken apart, then rules mined from their signatures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from corpus.examine import examine
from corpus.importer import MAX_BYTES, ImportReport, import_paths
from corpus.learned import Decompositions, refresh_counts
from corpus.store import Corpus
from rules import decompose_script
from smtlib import CheckedScript

_CHUNK = 500


@dataclass(frozen=True, slots=True)
class LearnReport:
    """Formulas taken apart in this run, and those that could not be."""

    decomposed: int
    failed: int


class Learner:
    """Takes formulas apart while they are added: its methods are the hooks of
    :meth:`corpus.intake.Intake.add_formulas` and :func:`corpus.importer.import_paths`, so that a
    formula is read once. :meth:`flush` is to be called inside the transaction."""

    def __init__(self, corpus: Corpus) -> None:
        self._decompositions = Decompositions(corpus)

    def take(self, formula_id: int, checked: CheckedScript) -> None:
        """Take a formula apart."""
        self._decompositions.add(formula_id, decompose_script(checked))

    def flush(self) -> None:
        """Store what was taken apart."""
        self._decompositions.flush()


def import_and_decompose(
    corpus: Corpus,
    paths: Iterable[Path | str],
    *,
    tracker: str | None = None,
    max_bytes: int = MAX_BYTES,
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """:func:`corpus.importer.import_paths`, with each formula taken apart in the same pass."""
    learner = Learner(corpus)
    report = import_paths(
        corpus,
        paths,
        tracker=tracker,
        max_bytes=max_bytes,
        on_well_sorted=learner.take,
        before_commit=learner.flush,
        progress=progress,
    )
    refresh_counts(corpus)
    return report


def decompose_pending(corpus: Corpus, progress: Callable[[int, int], None] | None = None) -> LearnReport:
    """Take apart every current well-sorted formula that was not yet, and refresh the counts.

    A formula that is well sorted no more (the checker changed) is left, and counted as failed.
    """
    pending = [
        ident
        for (ident,) in corpus.rows(
            "select id from current_formula where status = 'well-sorted' and not decomposed order by id"
        )
    ]
    learner = Learner(corpus)
    decomposed = 0
    for start in range(0, len(pending), _CHUNK):
        chunk = pending[start : start + _CHUNK]
        rows = corpus.rows(
            """select formula.id, body from formula join text on text.id = text_id
            where formula.id in (select unnest(?::integer[])) order by formula.id""",
            [chunk],
        )
        with corpus.transaction():
            for ident, body in rows:
                examined = examine(body)
                if examined.checked is not None and examined.checked.is_well_sorted:
                    learner.take(ident, examined.checked)
                    decomposed += 1
            learner.flush()
        if progress is not None:
            progress(start + len(chunk), len(pending))
    refresh_counts(corpus)
    return LearnReport(decomposed, len(pending) - decomposed)
