"""A quantified formula is equivalent to what the solver makes of it without quantifiers."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.models.model_reader import NotCheckable
from difftest.relations.base import Case, Claim, Relation, Rule, has_command, listed
from difftest.relations.goals import formula_of
from smtlib.printer import print_term, sort_text
from smtlib.reader import sexp_text
from smtlib.terms import Term

INSTANCE = (
    "The second script asserts that constants satisfy what is below the quantifier and that the formula does "
    "not hold which the solver gives instead; for a universal quantifier, the reverse."
)
WHY = "The solver eliminates the quantifiers of one formula and gets the other, so they cannot differ."


def _eliminated(case: Case, text: str) -> str:
    if has_command(case.solver, "get-qe"):
        return sexp_text(case.printed(case.text((), f"(get-qe {text})"))[0])
    tactics = [tactic for tactic in case.table.first_tactics if tactic in ("qe", "qe2", "qe_rec")]
    if not tactics or not has_command(case.solver, "apply"):
        raise NotCheckable("it does not eliminate quantifiers")
    goals = case.printed(case.text([text], f"(apply {case.in_order(tactics)[0]})"))[0]
    return formula_of(listed(goals, "goals", 2)[1])


def _instance(case: Case, term: Term, free: str) -> Claim | None:
    """That constants instead of the variables do not contradict the result: often without quantifiers."""
    names = {variable.name for variable in term.variables}
    if names & {d.name for command in case.state.commands for d in command.declarations}:
        return None
    head = [*case.head, *(f"(declare-const {print_term(v)} {sort_text(v.sort)})" for v in term.variables)]
    body = print_term(term.args[0])
    sides = [body, f"(not {free})"] if term.name == "exists" else [f"(not {body})", free]
    return Claim((case.text(sides, head=head),), Rule.UNSAT, INSTANCE)


def _claims(case: Case) -> Iterator[Claim]:
    for term in case.subterms:
        if term.is_quantifier:
            text = print_term(term)
            free = _eliminated(case, text)
            if free != text:
                claims = [Claim((case.text([f"(distinct {text} {free})"]),), Rule.UNSAT, WHY)]
                claims += filter(None, [_instance(case, term, free)])
                yield from case.in_order(claims, lambda claim: claim.why)


RELATION = Relation("elimination", "quantifiers are eliminated wrongly", _claims, place="elimination")
