"""A script with ``push`` and ``pop`` answers as one without."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import QUESTION, Case, Claim, Relation, Rule
from smtlib.printer import print_term
from smtlib.terms import unannotated

FLAT = "The second script asserts what is in force at the question of the first, without levels."
DEEP = (
    "What is asserted between push and pop is gone after pop, so the last question of the second script is "
    "that of the first."
)


def _claims(case: Case) -> Iterator[Claim]:
    if case.script.is_incremental:
        yield Claim((case.text(),), Rule.SAME, FLAT)
    terms = case.asserted
    if not terms:
        return
    # Names may not be given again.
    gone = print_term(unannotated(case.state.table, case.in_order(case.state.terms, print_term)[0]))
    for cut in case.in_order(range(len(terms))):
        before, after = [[f"(assert {term})" for term in part] for part in (terms[:cut], terms[cut:])]
        inner = ["(push 1)", f"(assert (not {gone}))", QUESTION, "(pop 1)"]
        second = ["(push 1)", *after, QUESTION] if case.salt % 2 else [*after, QUESTION]
        yield Claim(("\n".join([*case.head, *before, *inner, *second]) + "\n",), Rule.SAME, DEEP)


RELATION = Relation("levels", "a script with push and pop is answered differently from one without", _claims)
