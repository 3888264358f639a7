"""The values that a solver gives for terms satisfy the formula together."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.models.cross_check import own_spelling
from difftest.relations.base import Case, Claim, Relation, Rule, listed
from smtlib.printer import print_term
from smtlib.reader import sexp_text
from smtlib.terms import Kind

WHY = (
    "The second script asserts the formula and the values that the solver gives for terms of it in one model."
)
_OPTION = "(set-option :produce-models true)"
_MOST = 12


def _claims(case: Case) -> Iterator[Claim]:
    case.require_exact()
    terms = [t for t in case.subterms if t.kind in (Kind.SYMBOL, Kind.OPERATOR) and not t.sort.is_function]
    texts = [print_term(term) for term in sorted(terms, key=lambda t: bool(t.args))[:_MOST]]
    if not texts:
        return
    printed = case.printed(
        case.text(question=case.question(f"(get-value ({' '.join(texts)}))"), before=[_OPTION]), "sat"
    )[0]
    values = [sexp_text(listed(pair, length=2)[1]) for pair in listed(printed)]
    if len(values) == len(texts):
        equations = [f"(= {term} {value})" for term, value in zip(texts, values, strict=True)]
        yield Claim((own_spelling(case.solver, case.text([*case.asserted, *equations])),), Rule.SAT, WHY)


RELATION = Relation("values", "values of terms do not satisfy the formula", _claims, ("sat",), "values")
