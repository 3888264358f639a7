"""Split by a cube: a formula is satisfiable if and only if it is with some condition or with its negation."""

from __future__ import annotations

from collections.abc import Iterator

from difftest.relations.base import Case, Claim, Relation, Rule
from smtlib.printer import print_term
from smtlib.sorts import BOOL
from smtlib.terms import Kind, Term, without_annotations
from smtlib.values import simple_values

WHY = (
    "Every model of the formula satisfies the condition or its negation, so the formula is satisfiable if "
    "and only if it is with one of them."
)
_CONNECTIVES = frozenset(("and", "or", "not", "=>", "xor", "ite", "true", "false"))
# The relation of each sort that bounds a domain.
_BOUNDS = {"Int": "<=", "Real": "<=", "BitVec": "bvule", "String": "str.<=", "FloatingPoint": "fp.leq"}


def _conditions(case: Case) -> Iterator[tuple[Term, str, str]]:
    """Terms that are conditions, or that a relation to a value makes one."""
    asserted = set(map(without_annotations, case.state.assertions))
    for term in case.subterms:
        if term.sort is BOOL and _is_atom(term) and term not in asserted:
            yield term, "", ""
        values = (
            simple_values(term.sort)
            if term.kind in (Kind.SYMBOL, Kind.OPERATOR) and term.sort is not BOOL
            else ()
        )
        for value in case.in_order(values)[:1]:
            yield term, "=", value
            if (bound := _BOUNDS.get(term.sort.name)) is not None:
                yield term, bound, value


def _is_atom(term: Term) -> bool:
    return term.kind in (Kind.SYMBOL, Kind.OPERATOR) and term.name not in _CONNECTIVES


def _claims(case: Case) -> Iterator[Claim]:

    def text(condition: tuple[Term, str, str]) -> str:
        term, relation, value = condition
        return f"{case.digests[term]} {relation} {value}"

    for term, relation, value in case.in_order(_conditions(case), text):
        printed = print_term(term)
        condition = f"({relation} {printed} {value})" if relation else printed
        sides = (condition, f"(not {condition})")
        yield Claim(tuple(case.text([*case.asserted, side]) for side in sides), Rule.SAME, WHY)


RELATION = Relation(
    "cube", "an answer contradicts those to the formula with a condition, and with its negation", _claims
)
