"""Values and their forms: all forms of a value are equal, and values said to differ do."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from generator.strategies.congruence.values import Pen, Value, Values
from generator.strategies.mutation.operators import operators_for
from smtlib import Declaration, Sort, Term, TermTable, check_script, print_term, read_script
from smtlib.commands import print_declaration
from tests.generator.strategies.weaken.proving import ask_cvc5, ask_z3

DATATYPES = "(declare-datatypes ((T 0)) (((leaf) (node (left T) (tag (Array Int Bool)) (right T)))))"
SHARED = (
    *("Bool", "Int", "Real", "(_ BitVec 1)", "(_ BitVec 7)", "String", "RegLan", "(_ FloatingPoint 8 24)"),
    *("RoundingMode", "(Array Int Int)", "(Array Bool (_ BitVec 2))", "(Array (_ BitVec 2) String)"),
    *("(Seq Int)", "(Seq (Seq Bool))", "(Seq (Array Int Int))", "T", "U", "(Array String (Seq Real))"),
)
OWN = {
    "z3": ("(_ FloatingPoint 5 11)", "(FiniteSet Int)", "(Array (Array Int Bool) (_ FloatingPoint 3 4))"),
    "cvc5": ("(Set Int)", "(Set (Set String))", "(Bag Int)", "(Bag (Seq Int))", "(_ FiniteField 7)"),
}
CASES = [(solver, sort) for solver in OWN for sort in (*SHARED, *OWN[solver])]


class Drawn:
    """Values of one sort for a solver, with what they declare."""

    def __init__(self, solver: str, sort: str) -> None:
        declared = f"(declare-sort U 0){DATATYPES}(declare-fun f ({sort}) Bool)"
        checked = check_script(read_script(declared))
        assert checked.errors == []
        (function,) = [d for c in checked.commands for d in c.declarations if d.name == "f"]
        self.prelude = f"(set-logic ALL)(declare-sort U 0){DATATYPES}"
        self.sort: Sort = function.params[0]
        self.declared: list[Declaration] = []
        self.chance = random.Random(sort)
        self.pen = Pen(TermTable(), operators_for((solver,)), self.chance)
        self._values = Values(self.pen, checked.datatypes, lambda sort: (), self._new)

    def _new(self, sort: Sort) -> Declaration:
        self.declared.append(Declaration(f"new{len(self.declared)}", (), sort))
        return self.declared[-1]

    def values(self, count: int) -> Iterator[Value]:
        for _ in range(count):
            value = self._values.draw(self.sort)
            if value is not None:
                yield value

    def script(self, relation: str, one: Term, other: Term) -> str:
        declared = "".join(map(print_declaration, self.declared))
        return (
            f"{self.prelude}{declared}(assert ({relation} {print_term(one)} {print_term(other)}))(check-sat)"
        )


def ask(solver: str, text: str) -> str:
    return ask_z3(text, 3000) if solver == "z3" else ask_cvc5(text, 3000)


@pytest.mark.parametrize(("solver", "sort"), CASES)
@pytest.mark.few(15)
def test_two_forms_of_a_value_are_equal(solver: str, sort: str) -> None:
    drawn = Drawn(solver, sort)
    different = 0
    for value in drawn.values(12):
        one, other = value.form(drawn.pen), value.form(drawn.pen)
        different += one is not other
        text = drawn.script("distinct", one, other)
        assert check_script(read_script(text)).errors == []
        assert ask(solver, text) == "unsat", text
    assert different > 0 or sort == "U"


@pytest.mark.parametrize(("solver", "sort"), CASES)
@pytest.mark.few(11)
def test_values_that_differ_are_not_equal(solver: str, sort: str) -> None:
    drawn = Drawn(solver, sort)
    differ = 0
    for one, other in zip(drawn.values(50), drawn.values(50), strict=False):
        assert not one.differs(one)
        assert one.differs(other) == other.differs(one)
        if one.differs(other):
            differ += 1
            text = drawn.script("=", one.form(drawn.pen), other.form(drawn.pen))
            assert ask(solver, text) == "unsat", text
    assert differ > 1 or sort == "U"
