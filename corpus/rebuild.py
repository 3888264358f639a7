"""Derives everything again from the stored texts, after the language layer changed.

The ids of formulas, skeletons, atoms and signatures stay the same, because tests and findings refer to them;
assertions get new ids. Skeletons and atoms that no longer occur keep their row with count 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from corpus.examine import WELL_SORTED, examine
from corpus.intake import TRAIT_COLUMNS, trait_values
from corpus.learn import Progress
from corpus.learned import Decompositions, refresh_counts
from corpus.store import Corpus

_CHUNK = 500
_COLUMNS = ("status", "error", "error_line", "error_column", *TRAIT_COLUMNS, "decomposed")


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """How many formulas were read again, and how many became well sorted or no longer are."""

    formulas: int
    gained: int
    lost: int


def rebuild(corpus: Corpus, progress: Progress | None = None) -> RebuildReport:
    """Read, check and decompose every formula again, in one transaction.

    The solvers' acceptance of printed formulas is deleted, as they may be printed differently now:
    :func:`corpus.probing.probe_formulas` asks again. Rules are mined by the next :func:`corpus.learn.learn`.
    """
    known = corpus.rows("select id, status from formula where text_id is not null order by id")
    gained = lost = 0
    with corpus.transaction():
        corpus.clear("assertion_atom")
        corpus.clear("assertion")
        corpus.execute("delete from acceptance where form = 'printed'")
        learner = Decompositions(corpus)
        for start in range(0, len(known), _CHUNK):
            chunk = known[start : start + _CHUNK]
            statuses = _rebuild_chunk(corpus, learner, [ident for ident, _ in chunk])
            for ident, before in chunk:
                gained += before != WELL_SORTED and statuses[ident] == WELL_SORTED
                lost += before == WELL_SORTED and statuses[ident] != WELL_SORTED
            if progress is not None:
                progress(start + len(chunk), len(known))
        corpus.execute(
            """delete from acceptance where form = 'written' and formula_id in (
                select id from formula where status = 'well-sorted')"""
        )
        refresh_counts(corpus)
    return RebuildReport(len(known), gained, lost)


def _rebuild_chunk(corpus: Corpus, learner: Decompositions, formulas: list[int]) -> dict[int, str]:
    """Read these formulas again; returns their new statuses."""
    texts = corpus.rows(
        """select formula.id, body, superseded_by is null from formula join text on text.id = text_id
        where formula.id in (select unnest(?::integer[])) order by formula.id""",
        [formulas],
    )
    rows: list[tuple[object, ...]] = []
    statuses = {}
    for ident, body, current in texts:
        examined = examine(body)
        taken = current and examined.checked is not None
        if taken and examined.checked is not None:
            learner.take(ident, examined.checked)
        statuses[ident] = examined.status
        error = (examined.status, examined.error, examined.line, examined.column)
        rows.append((ident, *error, *trait_values(examined), taken))
    corpus.update("formula", _COLUMNS, rows)
    learner.flush()
    return statuses
