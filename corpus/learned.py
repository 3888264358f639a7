"""Stores skeletons, atoms and signatures of assertions, and rule sets.

Equal skeletons, atoms or signatures share one row; :func:`refresh_counts` updates the counts. A rule set that
equals the newest one is not stored again.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from base.version import VERSION
from corpus.records import Added
from corpus.store import Corpus, digest
from rules import Atom, RuleSet, Skeleton, Slot, decompose_script, operator_of
from smtlib import CheckedScript


class Decompositions:
    """Collects decomposed assertions; :meth:`flush` stores them, inside a transaction.

    Discard it if the transaction fails.
    """

    def __init__(self, corpus: Corpus) -> None:
        self.corpus = corpus
        self._skeletons: dict[str, int] = dict(corpus.rows("select text, id from skeleton"))
        self._atoms: dict[str, int] = dict(corpus.rows("select text, id from atom"))
        self._signatures: dict[tuple[bool, str], int] = {
            (coarse, text): ident
            for coarse, text, ident in corpus.rows("select coarse, text, id from signature")
        }
        self._rows: dict[str, list[tuple[object, ...]]] = {table: [] for table in _COLUMNS}
        self._formulas: list[int] = []

    def take(self, formula_id: int, checked: CheckedScript) -> None:
        """Decompose a formula and add its assertions, in order."""
        links = self._rows["assertion_atom"]
        for position, assertion in enumerate(decompose_script(checked)):
            ident = self.corpus.new_id("assertion")
            skeleton = None if assertion.skeleton is None else self._skeleton(assertion.skeleton)
            skipped = "; ".join(dict.fromkeys(assertion.reasons)) or None
            self._rows["assertion"].append((ident, formula_id, position, skeleton, skipped))
            for number, hole in enumerate(assertion.holes):
                if hole.atom is not None:
                    links.append((ident, number, self._atom(hole.atom)))
        self._formulas.append(formula_id)

    def _skeleton(self, skeleton: Skeleton) -> int:
        ident = self._skeletons.get(skeleton.text)
        if ident is None:
            ident = self._skeletons[skeleton.text] = self.corpus.new_id("skeleton")
            quantified = bool(skeleton.binders)
            counts = (skeleton.holes, skeleton.variables, quantified, 0, 0)
            self._rows["skeleton"].append((ident, digest(skeleton.text), skeleton.text, *counts))
        return ident

    def _atom(self, atom: Atom) -> int:
        ident = self._atoms.get(atom.text)
        if ident is None:
            ident = self._atoms[atom.text] = self.corpus.new_id("atom")
            coarse = self._signature(True, atom.coarse, None)
            fine = self._signature(False, atom.signature, coarse)
            slots = [[slot.params, slot.result, slot.was_bound] for slot in atom.slots]
            parts = [_json(part) for part in (atom.segments, atom.occurrences, slots, atom.prelude)]
            row = (ident, digest(atom.text), atom.text, *parts, sorted(atom.theories), atom.size)
            self._rows["atom"].append((*row, fine, coarse, 0, 0))
        return ident

    def _signature(self, coarse: bool, text: str, coarse_id: int | None) -> int:
        ident = self._signatures.get((coarse, text))
        if ident is None:
            ident = self._signatures[coarse, text] = self.corpus.new_id("signature")
            self._rows["signature"].append((ident, coarse, text, operator_of(text), coarse_id, 0, 0))
        return ident

    def flush(self) -> None:
        """Store what was added."""
        for table, rows in self._rows.items():
            self.corpus.insert(table, _COLUMNS[table], rows)
            rows.clear()
        self.corpus.execute(
            "update formula set decomposed = true"
            " where not decomposed and id in (select unnest(?::integer[]))",
            [self._formulas],
        )
        self._formulas.clear()


_COLUMNS = {
    "skeleton": ("id", "sha256", "text", "holes", "binders", "quantified", "assertions", "formulas"),
    "signature": ("id", "coarse", "text", "operator", "coarse_id", "atoms", "formulas"),
    "atom": (
        *("id", "sha256", "text", "segments", "occurrences", "slots", "prelude", "theories", "size"),
        *("signature_id", "coarse_signature_id", "uses", "formulas"),
    ),
    "assertion": ("id", "formula_id", "position", "skeleton_id", "skipped"),
    "assertion_atom": ("assertion_id", "hole", "atom_id"),
}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def atom_of(row: Sequence[Any]) -> Atom:
    """The atom of a row with text, segments, occurrences, slots, prelude, signatures, theories, size."""
    text, segments, occurrences, slots, prelude, signature, coarse, theories, size = row
    return Atom(
        text=text,
        segments=tuple(json.loads(segments)),
        occurrences=tuple(json.loads(occurrences)),
        slots=tuple(
            Slot(tuple(params), result, was_bound) for params, result, was_bound in json.loads(slots)
        ),
        prelude=tuple(json.loads(prelude)),
        signature=signature,
        coarse=coarse,
        theories=frozenset(theories),
        size=size,
    )


# Each statement counts over current formulas only, and updates only rows whose counts changed.
_REFRESH = (
    """
    with counted as (
        select skeleton_id as id, count(*) as n, count(distinct formula_id) as formulas
        from assertion join current_formula as f on f.id = formula_id
        where skeleton_id is not null group by all)
    update skeleton set assertions = coalesce(n, 0), formulas = coalesce(c.formulas, 0)
    from (select skeleton.id, n, counted.formulas from skeleton left join counted using (id)) as c
    where c.id = skeleton.id
        and (assertions, skeleton.formulas) is distinct from (coalesce(n, 0), coalesce(c.formulas, 0))
    """,
    """
    with counted as (
        select atom_id as id, sum(uses) as n, count(*) as formulas
        from atom_formula join current_formula as f on f.id = formula_id group by all)
    update atom set uses = coalesce(n, 0), formulas = coalesce(c.formulas, 0)
    from (select atom.id, n, counted.formulas from atom left join counted using (id)) as c
    where c.id = atom.id and (uses, atom.formulas) is distinct from (coalesce(n, 0), coalesce(c.formulas, 0))
    """,
    *(
        f"""
    with counted as (
        select {column} as id, count(distinct atom_id) as n, count(distinct formula_id) as formulas
        from atom_formula join current_formula as f on f.id = formula_id join atom on atom.id = atom_id
        group by all)
    update signature set atoms = coalesce(n, 0), formulas = coalesce(c.formulas, 0)
    from (select signature.id, n, counted.formulas from signature left join counted using (id)
        where signature.coarse = {coarse}) as c
    where c.id = signature.id
        and (atoms, signature.formulas) is distinct from (coalesce(n, 0), coalesce(c.formulas, 0))
    """
        for column, coarse in (("signature_id", "false"), ("coarse_signature_id", "true"))
    ),
)


def refresh_counts(corpus: Corpus) -> None:
    """Update the counts of skeletons, atoms and signatures, in one transaction."""
    with corpus.transaction():
        for statement in _REFRESH:
            corpus.execute(statement)


def transactions(corpus: Corpus, coarse: bool = False) -> dict[int, tuple[str, ...]]:
    """The sorted signatures of each current formula by formula id, without formulas that have none."""
    column = "coarse_signature_id" if coarse else "signature_id"
    rows = corpus.rows(
        f"""
        select formula_id, list_sort(list(distinct signature.text))
        from atom_formula
        join current_formula as f on f.id = formula_id
        join atom on atom.id = atom_id
        join signature on signature.id = {column}
        group by formula_id order by formula_id
        """
    )
    return {formula: tuple(texts) for formula, texts in rows}


def store_rule_set(
    corpus: Corpus,
    mined: RuleSet,
    baskets: Iterable[Sequence[str]],
    *,
    coarse: bool,
    min_support: int,
    min_confidence: float,
) -> Added:
    """Store the rules mined from ``baskets``, unless the newest rule set of this kind has the same input,
    parameters and rules.
    """
    rules = [(r.antecedent, r.consequent, r.support, r.confidence, r.lift) for r in mined]
    key = digest(_json([coarse, min_support, min_confidence, rules, [list(b) for b in baskets]]))
    newest = corpus.rows(
        "select id, fingerprint from rule_set where coarse = ? order by id desc limit 1", [coarse]
    )
    if newest and newest[0][1] == key:
        return Added(newest[0][0], False)
    with corpus.transaction():
        ident = corpus.new_id("rule_set")
        found = (mined.transactions, mined.itemsets, mined.max_length, mined.complete, len(mined))
        now = datetime.now(UTC).replace(tzinfo=None)
        row = (ident, coarse, min_support, min_confidence, *found, key, VERSION, now)
        corpus.insert("rule_set", _RULE_SET_COLUMNS, [row])
        signatures = dict(corpus.rows("select text, id from signature where coarse = ?", [coarse]))
        rows = [
            (
                corpus.new_id("rule"),
                ident,
                [signatures[text] for text in rule.antecedent],
                [signatures[text] for text in rule.consequent],
                rule.support,
                rule.confidence,
                rule.lift,
                rule.conviction if math.isfinite(rule.conviction) else None,
            )
            for rule in mined
        ]
        corpus.insert("rule", _RULE_COLUMNS, rows)
    return Added(ident, True)


_RULE_SET_COLUMNS = (
    *("id", "coarse", "min_support", "min_confidence", "transactions", "itemsets", "max_length"),
    *("complete", "rules", "fingerprint", "version", "created_at"),
)
_RULE_COLUMNS = "id rule_set_id antecedent consequent support confidence lift conviction".split()


_FINGERPRINT = (
    "select id, source from current_formula where decomposed order by id",
    "select id, formula_id, skeleton_id from assertion order by id",
    "select assertion_id, hole, atom_id from assertion_atom order by assertion_id, hole",
    "select id, sha256 from skeleton order by id",
    "select id, sha256, signature_id, coarse_signature_id from atom order by id",
    "select id, coarse, text from signature order by id",
    """select rule.id, coarse, antecedent, consequent, support, confidence
    from rule join rule_set on rule_set.id = rule_set_id
    where rule_set_id in (select max(id) from rule_set group by coarse) order by rule.id""",
    """select formula_id, spec, version, form, accepted
    from acceptance join solver on solver.id = solver_id order by formula_id, spec, version, form""",
)


def fingerprint(corpus: Corpus) -> str:
    """A hash of everything that generation depends on, including ids: skeletons, atoms, their occurrences and
    acceptance, current rules.
    """
    hashed = sha256()
    for sql in _FINGERPRINT:
        hashed.update(repr(corpus.rows(sql)).encode())
    return hashed.hexdigest()
