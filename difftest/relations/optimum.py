"""An optimum is attained and not exceeded."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.models.model_reader import NotCheckable
from difftest.relations.base import Case, Claim, Relation, Rule, listed
from smtlib.printer import print_term
from smtlib.reader import SExp, sexp_text
from smtlib.terms import Kind

ATTAINED = "The second script asserts that the term has the {} that the solver gives for it."
EXCEEDED = "The second script asserts that the term is beyond the {} that the solver gives for it."
_BEYOND = {"Int": (">", "<"), "Real": (">", "<"), "BitVec": ("bvugt", "bvult")}
_NO_NUMBER = ("oo", "epsilon", "interval")


def _value(printed: SExp) -> str:
    value = sexp_text(listed(listed(printed, "objectives", 2)[1], length=2)[1])
    if any(word in value for word in _NO_NUMBER):
        raise NotCheckable("an optimum that is no number")
    return value


def _claims(case: Case) -> Iterator[Claim]:
    case.require_exact()
    for term in case.subterms:
        if term.sort.name not in _BEYOND or term.kind not in (Kind.SYMBOL, Kind.OPERATOR):
            continue
        lowest = case.salt % 2
        goal, noun = ("minimize", "minimum") if lowest else ("maximize", "maximum")
        text = print_term(term)
        value = _value(
            case.printed(case.text(question=f"({goal} {text})(check-sat)(get-objectives)"), "sat")[0]
        )
        beyond = _BEYOND[term.sort.name][lowest]
        claims = [
            Claim((case.text([*case.asserted, f"(= {text} {value})"]),), Rule.SAT, ATTAINED.format(noun)),
            Claim(
                (case.text([*case.asserted, f"({beyond} {text} {value})"]),),
                Rule.UNSAT,
                EXCEEDED.format(noun),
            ),
        ]
        yield from case.in_order(claims, lambda claim: claim.why)


RELATION = Relation(
    "optimum", "an optimum is not attained, or exceeded", _claims, ("sat",), "optimum", "maximize"
)
