"""A quantified formula is equivalent to what the solver makes of it without quantifiers."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.models.model_reader import NotCheckable
from difftest.relations.base import Case, Claim, Relation, Rule, listed
from difftest.relations.goals import formula_of
from smtlib.printer import print_term
from smtlib.reader import sexp_text
from smtlib.sorts import BOOL
from solvers.options import option_table

WHY = "The solver eliminates the quantifiers of one formula and gets the other, so they cannot differ."


def _eliminated(case: Case, text: str) -> str:
    if case.knows("get-qe"):
        return sexp_text(case.printed(case.text((), f"(get-qe {text})"))[0])
    tactics = [
        tactic
        for tactic in option_table(case.solver.family).first_tactics
        if tactic in ("qe", "qe2", "qe_rec")
    ]
    if not tactics or not case.knows("apply"):
        raise NotCheckable("it does not eliminate quantifiers")
    goals = case.printed(case.text([text], f"(apply {case.in_order(tactics)[0]})"))[0]
    return formula_of(listed(goals, "goals", 2)[1])


def _claims(case: Case) -> Iterator[Claim]:
    for term in case.subterms:
        if term.sort is BOOL and term.name in ("forall", "exists") and term.variables:
            text = print_term(term)
            free = _eliminated(case, text)
            if free != text:
                yield Claim((case.text([f"(distinct {text} {free})"]),), Rule.UNSAT, WHY)


RELATION = Relation("elimination", "quantifiers are eliminated wrongly", _claims, place="elimination")
