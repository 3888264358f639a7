"""Which solver a spec is about."""

from __future__ import annotations

import pytest

from generator.families import family_of


@pytest.mark.parametrize(
    ("spec", "family"),
    [
        ("z3", "z3"),
        ("z3==4.8.5", "z3"),
        ("z3==4.8.5[smt.relevancy=0]", "z3"),
        ("cvc5[a=b,c=d]", "cvc5"),
        ("old=/usr/bin/cvc5 {} --check-models", "cvc5"),
        ("cvc4-1.8=/opt/solver {}", "cvc5"),
        ("x=/usr/bin/CVC4", "cvc5"),
        ("mine=./solver --like z3", "mine"),
        ("yices2=yices-smt2 {}", "yices"),
    ],
)
def test_the_family_of_a_spec(spec: str, family: str) -> None:
    assert family_of(spec) == family
