"""An interpolant follows from one part of an unsatisfiable formula and contradicts the other."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule
from smtlib.reader import sexp_text

FOLLOWS = (
    "The second script asserts the first part of the formula and the negation of the interpolant, which "
    "follows from that part."
)
CONTRADICTS = (
    "The second script asserts the interpolant and the second part of the formula, which contradict each "
    "other."
)
_OPTION = "(set-option :produce-interpolants true)"


def _claims(case: Case) -> Iterator[Claim]:
    terms = case.asserted
    for cut in case.in_order(range(1, len(terms))):
        first, second = terms[:cut], terms[cut:]
        question = f"(get-interpolant interpolant! (not (and true {' '.join(second)})))"
        found = sexp_text(case.printed(case.text(first, question, [_OPTION]))[0])
        head = [*case.head, found]
        claims = [
            Claim((case.text([*first, "(not interpolant!)"], head=head),), Rule.UNSAT, FOLLOWS),
            Claim((case.text(["interpolant!", *second], head=head),), Rule.UNSAT, CONTRADICTS),
        ]
        yield from case.in_order(claims, lambda claim: claim.why)


RELATION = Relation(
    "interpolant",
    "an interpolant does not follow, or contradicts nothing",
    _claims,
    ("unsat",),
    "interpolant",
    "get-interpolant-next",
)
