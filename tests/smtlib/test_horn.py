"""Reading Horn clauses."""

from __future__ import annotations

import pytest

from smtlib import check_script, read_script
from smtlib.horn import Clause, NotHorn, read_clauses
from smtlib.printer import print_term

DECLARED = "(declare-fun p (Int) Bool)(declare-fun q (Int) Bool)(declare-const a Bool)(declare-const x Int)"


def clause(formula: str) -> Clause:
    script = check_script(read_script(f"{DECLARED}(assert {formula})"))
    predicates = {d for c in script.commands for d in c.declarations if d.params}
    (found,) = read_clauses(script.assertions, predicates)
    return found


def parts(formula: str) -> tuple[list[str], str | None]:
    """The body and the head as text."""
    found = clause(formula)
    body = [f"(not {print_term(term)})" if negated else print_term(term) for term, negated in found.body]
    return body, print_term(found.head) if found.head else None


@pytest.mark.parametrize(
    ("formula", "body", "head"),
    [
        ("(forall ((y Int)) (=> (and (q y) (> y 0)) a (p y)))", ["(q y)", "(> y 0)", "a"], "(p y)"),
        ("(or (not (q x)) (not a) (< x 1) (p x) false)", ["(q x)", "a", "(not (< x 1))"], "(p x)"),
        ("(=> (and a a) (q x) a (or (p x) (p x)))", ["a", "(q x)"], "(p x)"),
        ("(not (and (q x) (exists ((y Int)) (p y))))", ["(q x)", "(exists ((y Int)) (p y))"], None),
    ],
)
def test_a_clause_has_each_premise_once_and_in_order(formula: str, body: list[str], head: str | None) -> None:
    assert parts(formula) == (body, head)


@pytest.mark.parametrize(
    ("formula", "cause"),
    [
        ("(or (p x) (q x))", "two conclusions"),
        ("(=> a (and (p x) (q x)))", "a predicate within a conclusion"),
        ("(=> (or a (not (p x))) (q x))", "a predicate within a premise"),
    ],
)
def test_what_is_no_clause_says_why(formula: str, cause: str) -> None:
    with pytest.raises(NotHorn, match=cause):
        clause(formula)


@pytest.mark.parametrize(
    "formula",
    [
        "(let ((v0 (and a (q x)))) "
        + "".join(f"(let ((v{i + 1} (and v{i} v{i}))) " for i in range(60))
        + "(=> v60 (p x))"
        + ")" * 61,
        "(=> a " * 2000 + "(=> (q x) (p x))" + ")" * 2000,
        "(=> " + "(and a " * 2000 + "(q x)" + ")" * 2000 + " (p x))",
    ],
    ids=["doublings", "implications", "conjunctions"],
)
def test_clauses_may_double_and_nest(formula: str) -> None:
    assert parts(formula) == (["a", "(q x)"], "(p x)")
