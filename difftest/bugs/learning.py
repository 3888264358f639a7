"""What a corpus learned from the formulas of bugs: skeletons, atoms, rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from corpus.store import Corpus
from difftest.bugs.records import Bug

MOST = 12
"""Rows of each kind that are kept for a bug."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What a formula was learned into, the most particular first: each text with the number of formulas that
    have it. ``more``: how many were left out, by kind.

    Rules are those whose antecedent and consequent the formula has: ``(antecedent, consequent, support,
    confidence)``, those with the highest lift first.
    """

    skeletons: list[tuple[str, int]] = field(default_factory=list)
    atoms: list[tuple[str, int]] = field(default_factory=list)
    rules: list[tuple[str, str, int, float]] = field(default_factory=list)
    more: dict[str, int] = field(default_factory=dict)


def learned_from(corpus: Corpus, bugs: Iterable[Bug]) -> dict[str, Learned]:
    """By the SHA-256 of a bug's text, what the corpus has of it; texts that it does not have are left out."""
    hashes = sorted({bug.sha256 for bug in bugs})
    found: dict[str, Learned] = {}
    for sql, kind in ((_SKELETONS, "skeletons"), (_ATOMS, "atoms")):
        for sha256, text, formulas in corpus.rows(sql, {"hashes": hashes}):
            _add(found.setdefault(sha256, Learned()), kind, (text, formulas))
    signatures: dict[str, set[str]] = {}
    for sha256, text in corpus.rows(_SIGNATURES, {"hashes": hashes}):
        signatures.setdefault(sha256, set()).add(text)
    for antecedent, consequent, support, confidence in corpus.rows(_RULES):
        needed = {*antecedent, *consequent}
        row = (", ".join(sorted(antecedent)), ", ".join(sorted(consequent)), support, confidence)
        for sha256, held in signatures.items():
            if needed <= held:
                _add(found.setdefault(sha256, Learned()), "rules", row)
    return found


def _add(learned: Learned, kind: str, row: tuple[object, ...]) -> None:
    rows = getattr(learned, kind)
    if len(rows) < MOST:
        rows.append(row)
    else:
        learned.more[kind] = learned.more.get(kind, 0) + 1


_OWN = """
with own as (
    select formula.id, text.sha256
    from current_formula as formula
    join text on text.id = coalesce(formula.script_text_id, formula.text_id)
    where text.sha256 in (select unnest($hashes::varchar[]))
)
"""
_SKELETONS = f"""{_OWN}
select own.sha256, skeleton.text, skeleton.formulas
from own join assertion on assertion.formula_id = own.id join skeleton on skeleton.id = skeleton_id
group by own.sha256, skeleton.id, skeleton.text, skeleton.formulas
order by own.sha256, skeleton.formulas, skeleton.id
"""
_ATOMS = f"""{_OWN}
select own.sha256, atom.text, atom.formulas
from own join atom_formula on atom_formula.formula_id = own.id join atom on atom.id = atom_id
group by own.sha256, atom.id, atom.text, atom.formulas
order by own.sha256, atom.formulas, atom.id
"""
_SIGNATURES = f"""{_OWN}
select distinct own.sha256, signature.text
from own join atom_formula on atom_formula.formula_id = own.id join atom on atom.id = atom_id
join signature on signature.id = atom.signature_id
"""
_RULES = """
select antecedent, consequent, support, confidence from current_rule where not coarse
order by lift desc, support desc, rule_id
"""
