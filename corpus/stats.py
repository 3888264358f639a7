"""Counts of what a corpus contains."""

from __future__ import annotations

from corpus.store import Corpus

# Superseded formulas and their assertions do not count.
_COUNTS = """
select
    (select count(*) from issue) as issues,
    (select count(*) from block) as blocks,
    (select count(*) from current_formula) as formulas,
    (select count(*) from current_formula where status in ('read', 'well-sorted')) as formulas_read,
    (select count(*) from current_formula where status = 'well-sorted') as formulas_well_sorted,
    (select coalesce(sum(assertions), 0) from current_formula where status <> 'error') as assertions,
    (select count(*) from skeleton where assertions > 0) as skeletons,
    (select count(*) from atom where uses > 0) as atoms,
    (select count(*) from signature where not coarse and atoms > 0) as signatures,
    (select coalesce(sum(rules), 0) from rule_set
        where id = (select max(id) from rule_set where not coarse)) as rules
"""


def stats(corpus: Corpus) -> dict[str, int]:
    """The counts that ``exhume stats`` shows. ``rules``: of the newest fine rule set."""
    with corpus.explained():
        cursor = corpus.connection.execute(_COUNTS)
        (row,) = cursor.fetchall()
    return {name: int(count) for (name, *_), count in zip(cursor.description or (), row, strict=True)}
