"""Makes a smaller corpus: the formulas over some theories, with all that is known of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from base.files import new_file
from base.nearest import did_you_mean, nearest
from corpus.errors import CorpusError
from corpus.learned import refresh_counts
from corpus.store import Corpus, require_new
from corpus.vacuum import copy_to, vacuum

CORE = "Core"
"""The theory that every formula may use."""


@dataclass(frozen=True, slots=True)
class Selected:
    """How many formulas were kept, of how many."""

    formulas: int
    of: int


def select_theories(corpus: Corpus, theories: Sequence[str], path: Path) -> Selected:
    """Write a new corpus ``path`` of the formulas of ``corpus`` that use the first of these theories and,
    besides it, only the others and Core.

    All that is known of these formulas and their issues is kept; rules are not, since they are about all
    formulas. Raises :class:`CorpusError`.
    """
    _require_known(corpus, theories)
    require_new(path)
    allowed = [*theories, CORE]
    kept = corpus.values(
        "select id from current_formula where list_contains(theories, ?) and list_has_all(?, theories)",
        [theories[0], allowed],
    )
    if not kept:
        others = f" and at most {', '.join(allowed[1:])} besides"
        raise CorpusError(
            f"{corpus.path}: no formula uses {theories[0]}{others}; see 'exhume query theories'"
        )
    with new_file(path) as draft:
        copy_to(corpus, draft)
        with Corpus.open(draft, write=True) as smaller, smaller.transaction():
            _keep(smaller, kept)
        vacuum(draft)
    return Selected(len(kept), int(corpus.scalar("select count(*) from current_formula")))


def _require_known(corpus: Corpus, theories: Sequence[str]) -> None:
    known = corpus.values("select distinct unnest(theories) as theory from current_formula order by theory")
    for name in theories:
        if name not in known:
            near = did_you_mean(nearest(name, known)) or f"; it has {', '.join(known) or 'none'}"
            raise CorpusError(f"{corpus.path} has no theory {name!r}{near}")


def _keep(corpus: Corpus, formulas: Sequence[int]) -> None:
    """Delete all other formulas and their issues, what refers to them, and the rules."""
    corpus.execute("delete from formula where id not in (select unnest(?::integer[]))", [formulas])
    corpus.execute(
        "delete from issue where id not in (select issue_id from formula where issue_id is not null)"
    )
    for target in ("formula", "assertion", "issue"):
        for table, column in [(r.table, r.column) for r in corpus.references() if r.target == target]:
            verb = f"update {table} set {column} = null" if table == target else f"delete from {table}"
            corpus.execute(f"{verb} where {column} not in (select id from {target})")
    corpus.clear("rule")
    corpus.clear("rule_set")
    refresh_counts(corpus)
