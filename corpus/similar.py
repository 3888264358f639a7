"""Finds formulas of a corpus that are similar to a given one: they share rare signatures with it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from base.files import read_at_most
from corpus.errors import QueryError
from corpus.examine import examine
from corpus.importer import MAX_BYTES, decode
from corpus.store import Corpus
from rules import decompose_script


@dataclass(frozen=True, slots=True)
class Similar:
    """A similar formula of the corpus. ``likeness``: from 0 to 1. ``shared``: the common signatures."""

    formula: int
    likeness: float
    shared: tuple[str, ...]
    tracker: str
    issue: int | None
    title: str | None
    bug_class: str | None
    url: str | None
    source: str


def signatures_of(text: str) -> frozenset[tuple[bool, str]]:
    """The signatures of a script's atoms as ``(coarse, text)``. Raises QueryError if there are none."""
    examined = examine(text)
    if examined.checked is None:
        place = f", line {examined.line}" if examined.line else ""
        raise QueryError(f"the formula cannot be read: {examined.error}{place}")
    found = {
        pair
        for assertion in decompose_script(examined.checked)
        for hole in assertion.holes
        if hole.atom is not None
        for pair in ((False, hole.atom.signature), (True, hole.atom.coarse))
    }
    if not found:
        why = f" ({examined.error})" if examined.error else ""
        raise QueryError(f"the formula has no assertion that can be compared{why}")
    return frozenset(found)


def similar_to_file(corpus: Corpus, file: Path, limit: int = 10, least: float = 0.0) -> list[Similar]:
    """The ``limit`` formulas nearest to the SMT-LIB script in ``file``; see :func:`similar_to`."""
    try:
        data = read_at_most(file, MAX_BYTES)
    except OSError as error:
        raise QueryError(f"cannot read {file}: {error.strerror or error}") from error
    if data is None:
        raise QueryError(f"{file} is larger than {MAX_BYTES} bytes")
    try:
        text = decode(data)
    except UnicodeError as error:
        raise QueryError(f"cannot read {file}: {error}") from error
    try:
        return similar_to(corpus, text, limit, least)
    except QueryError as error:
        raise QueryError(f"{file}: {error}") from error


def similar_to_formula(corpus: Corpus, ident: int, limit: int = 10, least: float = 0.0) -> list[Similar]:
    """The ``limit`` other formulas nearest to the formula ``ident`` of the corpus; see :func:`similar_to`."""
    text = corpus.scalar(
        "select body from formula join text on text.id = text_id where formula.id = ?", [ident]
    )
    if text is None:
        raise QueryError(f"the corpus has no formula {ident}")
    found = similar_to(corpus, text, limit + 1, least)
    return [one for one in found if one.formula != ident][:limit]


def similar_to(corpus: Corpus, text: str, limit: int = 10, least: float = 0.0) -> list[Similar]:
    """The ``limit`` formulas of ``corpus`` nearest to ``text``, nearest first.

    Likeness is the Jaccard index of the full and coarse signatures, weighted by rarity:
    ``ln(1 + formulas / formulas that have it)``. A signature that the corpus does not have weighs as much as
    one that a single formula has. Formulas without a common signature are left out.
    """
    signatures = sorted(signatures_of(text))
    rows = corpus.rows(
        _NEAREST,
        {
            "coarse": [coarse for coarse, _ in signatures],
            "texts": [signature for _, signature in signatures],
            "limit": limit,
            "least": least,
        },
    )
    return [Similar(ident, likeness, tuple(shared), *rest) for ident, likeness, shared, *rest in rows]


_NEAREST = """
with held as (
    select distinct
        formula.id as formula_id, unnest([atom.signature_id, atom.coarse_signature_id]) as signature_id
    from assertion_atom
    join assertion on assertion.id = assertion_atom.assertion_id
    join atom on atom.id = assertion_atom.atom_id
    join current_formula as formula on formula.id = assertion.formula_id
),
size as (
    select count(distinct formula_id) as formulas from held
),
weight as (
    select signature_id, ln(1 + any_value(formulas) / count(*)) as weight
    from held, size group by signature_id
),
given as (
    select signature.id as signature_id, coalesce(weight.weight, ln(1 + greatest(size.formulas, 1))) as weight
    from (select unnest($coarse::boolean[]) as coarse, unnest($texts::varchar[]) as text) as own
    cross join size
    left join signature on signature.coarse = own.coarse and signature.text = own.text
    left join weight on weight.signature_id = signature.id
),
shared as (
    select formula_id, sum(given.weight) as weight, list(signature_id) as signatures
    from given join held using (signature_id) group by formula_id
),
total as (
    select formula_id, sum(weight) as weight from held join weight using (signature_id) group by formula_id
),
nearest as (
    select
        shared.formula_id, shared.signatures,
        -- Rounded: sums differ in their last bits with the order of rows, and so would the result.
        round(
            shared.weight / (total.weight + (select sum(weight) from given) - shared.weight), 12
        ) as likeness
    from shared join total using (formula_id)
    where likeness >= $least
    order by likeness desc, shared.formula_id
    limit $limit
),
named as (
    select nearest.formula_id, list(signature.text order by signature.text) as texts
    from (select formula_id, unnest(signatures) as signature_id from nearest) as nearest
    join signature on signature.id = nearest.signature_id and not signature.coarse
    group by nearest.formula_id
)
select
    formula_id, least(1, likeness), coalesce(texts, []), tracker, issue, title, bug_class, url, source
from nearest
join formula_provenance using (formula_id)
left join named using (formula_id)
order by likeness desc, formula_id
"""
