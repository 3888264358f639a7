"""A term is equal to what the solver simplifies it to."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule
from smtlib.printer import print_term
from smtlib.reader import sexp_text
from smtlib.terms import Kind

WHY = "The solver simplifies one of the two terms to the other, so they cannot differ."


def _claims(case: Case) -> Iterator[Claim]:
    for term in case.subterms:
        if not term.args or term.kind is Kind.ANNOTATION:
            continue
        text = print_term(term)
        simple = sexp_text(case.printed(case.text((), f"(simplify {text})"))[0])
        if simple != text:
            yield Claim((case.text([f"(distinct {text} {simple})"]),), Rule.UNSAT, WHY)


RELATION = Relation(
    "simplify", "a term differs from what the solver simplifies it to", _claims, place="simplify"
)
