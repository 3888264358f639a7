"""A solver behind a simplifier answers as without."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule

WHY = (
    "Both scripts ask the same question; the second one behind the simplifier {}, which keeps satisfiability."
)


def _claims(case: Case) -> Iterator[Claim]:
    names = case.in_order(case.table.simplifiers)
    for name in names[:1]:
        line = f"(set-simplifier {name})"
        settings = [text for text in case.head if text.startswith("(set-")]
        rest = [text for text in case.head if not text.startswith("(set-")]
        yield Claim((case.text(head=[*settings, line, *rest]),), Rule.SAME, WHY.format(name))


RELATION = Relation("simplifier", "a simplifier changes the answer", _claims, command="set-simplifier")
