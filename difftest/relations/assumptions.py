"""Assumed propositions that stand for assertions answer as the assertions do."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule

WHY = (
    "The second script assumes propositions that are equal to the assertions of the first, so both ask the "
    "same question."
)
_MOST = 40


def _claims(case: Case) -> Iterator[Claim]:
    terms = case.asserted[:_MOST]
    names = [f"assumed!{number}" for number in range(len(terms))]
    declared = [f"(declare-const {name} Bool)" for name in names]
    connective = case.chance.choice(("=", "=>"))
    equations = [f"({connective} {name} {term})" for name, term in zip(names, terms, strict=True)]
    question = f"(check-sat-assuming ({' '.join(names)}))"
    if terms:
        yield Claim(
            (case.text([*case.asserted[_MOST:], *equations], question, head=[*case.head, *declared]),),
            Rule.SAME,
            WHY,
        )


RELATION = Relation("assumptions", "assumptions are answered otherwise than assertions", _claims)
