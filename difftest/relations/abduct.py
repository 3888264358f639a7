"""An abduct is consistent with the axioms and implies the goal with them."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule
from smtlib.reader import sexp_text

CONSISTENT = (
    "The second script asserts the axioms and the abduct that the solver gives for them, which has to be "
    "consistent with them."
)
IMPLIES = (
    "The second script asserts the axioms, the abduct and the negation of the goal, which follows from both."
)
_OPTION = "(set-option :produce-abducts true)"


def _claims(case: Case) -> Iterator[Claim]:
    terms = case.asserted
    for goal in case.in_order(terms):
        axioms = [term for term in terms if term != goal]
        found = sexp_text(case.printed(case.text(axioms, f"(get-abduct abduct! {goal})", [_OPTION]))[0])
        head = [*case.head, found]
        claims = [
            Claim((case.text([*axioms, "abduct!"], head=head),), Rule.SAT, CONSISTENT),
            Claim((case.text([*axioms, "abduct!", f"(not {goal})"], head=head),), Rule.UNSAT, IMPLIES),
        ]
        yield from case.in_order(claims, lambda claim: claim.why)


RELATION = Relation(
    "abduct",
    "an abduct is inconsistent, or does not imply its goal",
    _claims,
    ("sat",),
    "abduct",
    "get-abduct",
)
