"""Signatures of one assertion's holes."""

from __future__ import annotations

import pytest

from rules import Decomposer, operator_of
from smtlib import check_script, read_script


@pytest.mark.parametrize(
    ("atom", "coarse"),
    [
        ("(> r 1)", "(> var_Real const_Real)"),
        ("(> r 1.0)", "(> var_Real const_Real)"),
        ("(> r (- 5))", "(> var_Real const_Real)"),
        ("(> r (/ 1 2.0))", "(> var_Real const_Real)"),
        ("(> (+ r 1) 0.5)", "(> var_Real const_Real)"),
        ("(= i 3)", "(= var_Int const_Int)"),
        ("(= a ((as const (Array Int Real)) 0))", "(= var_Array const_Array)"),
        ("b", "var_Bool"),
        ("(h r)", "(fun var_Real)"),
        ("(fp.lt (fp #b0 #b11 #b000) x)", "(fp.lt const_FloatingPoint var_FloatingPoint)"),
    ],
)
def test_known_signatures(atom: str, coarse: str) -> None:
    script = check_script(
        read_script(
            "(declare-const r Real)(declare-const i Int)(declare-const b Bool)(declare-fun h (Real) Bool)"
            "(declare-const a (Array Int Real))(declare-const x (_ FloatingPoint 2 4))"
            f"(assert {atom})"
        )
    )
    assert not script.errors
    decomposer = Decomposer(script)
    (hole,) = decomposer.decompose(script.assertions[0]).holes
    assert hole.atom is not None and hole.atom.coarse == coarse


def test_nested_sorts_are_written_without_blanks() -> None:
    script = check_script(
        read_script(
            "(declare-const a (Array (Array Int (_ BitVec 3)) (_ FloatingPoint 8 24)))(assert (= a a))"
        )
    )
    (hole,) = Decomposer(script).decompose(script.assertions[0]).holes
    sort = "Array<Array<Int,BitVec_3>,FloatingPoint_8_24>"
    assert hole.atom is not None and hole.atom.signature == f"(= var_{sort} var_{sort})"


def test_operator_of_a_signature() -> None:
    assert operator_of("(> const_Real var_Real)") == ">"
    assert operator_of("((_ divisible 3) var_Int)") == "(_ divisible 3)"
    assert operator_of("var_Bool") == ""
