"""What a solver lists as following from a formula does follow from it.

cvc5 lists literals (``get-learned-literals``), z3 the values that assumptions fix (``get-consequences``).
"""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.assumptions import assumed
from difftest.relations.base import Case, Claim, Relation, Rule, has_command, listed
from smtlib.printer import print_term
from smtlib.reader import sexp_text
from smtlib.terms import Kind

WHY = "The second script asserts the formula and the negation of what the solver lists as following from it."
_LITERALS, _CONSEQUENCES = "get-learned-literals", "get-consequences"
# Those of the type "internal" have symbols that no script can have.
_TYPES = ("input", "solvable", "constant_prop", "preprocess", "preprocess_solved")
_OPTION = "(set-option :produce-learned-literals true)"
_MOST = 12


def _claims(case: Case) -> Iterator[Claim]:
    if has_command(case.solver, _LITERALS):
        head, asserted = case.head, case.asserted
        questions = "".join(f"({_LITERALS} :{kind})" for kind in _TYPES)
        script = case.text(question=case.question(questions), before=[_OPTION])
        entailed = [literal for literals in case.printed(script, "sat") for literal in listed(literals)]
    else:
        names, head, asserted = assumed(case)
        symbols = [t for t in case.subterms if t.kind is Kind.SYMBOL and not t.sort.is_function]
        fixed = " ".join(map(print_term, symbols[:_MOST]))
        script = case.text(asserted, f"({_CONSEQUENCES} ({' '.join(names)}) ({fixed}))", head=head)
        entailed = case.printed(script, "sat")
    for term in case.in_order(map(sexp_text, entailed)):
        yield Claim((case.text([*asserted, f"(not {term})"], head=head),), Rule.UNSAT, WHY)


RELATION = Relation(
    "entailed",
    "what is listed as following from a formula does not follow",
    _claims,
    ("sat",),
    "entailed",
    fits=lambda solver: has_command(solver, _LITERALS) or has_command(solver, _CONSEQUENCES),
)
