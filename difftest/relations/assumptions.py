"""Assumed propositions that stand for assertions answer as the assertions do."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule

WHY = (
    "The second script assumes propositions that are equal to the assertions of the first, so both ask the "
    "same question."
)
_MOST = 40


def assumed(case: Case) -> tuple[list[str], list[str], list[str]]:
    """Propositions that stand for assertions: their names, the script's head with them, its assertions."""
    terms = case.asserted[:_MOST]
    names = [f"assumed!{number}" for number in range(len(terms))]
    declared = [f"(declare-const {name} Bool)" for name in names]
    connective = case.chance.choice(("=", "=>"))
    equations = [f"({connective} {name} {term})" for name, term in zip(names, terms, strict=True)]
    return names, [*case.head, *declared], [*case.asserted[_MOST:], *equations]


def _claims(case: Case) -> Iterator[Claim]:
    names, head, asserted = assumed(case)
    if names:
        question = f"(check-sat-assuming ({' '.join(names)}))"
        yield Claim((case.text(asserted, question, head=head),), Rule.SAME, WHY)


RELATION = Relation("assumptions", "assumptions are answered differently from assertions", _claims)
