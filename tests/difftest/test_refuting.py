"""Formulas that are false whatever functions mean, since two forms of a value are equal."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from difftest.models.refuting import is_refuted
from generator import StrategySettings, make_strategy
from solvers.running.script import Script
from tests.generator.small import formulas, seeds_of
from tests.generator.strategies.weaken.proving import ask_cvc5, ask_z3
from tests.sizes import size

K = "((as const (Array Int Int)) 0)"
B = "((as const (Array Bool Int)) 0)"
CONST_BITS = "((as const (Array (_ BitVec 1) Int)) 0)"
N = "(_ NaN 5 11)"
DECLARED = """
(declare-const a Int) (declare-const b Int) (declare-fun f (Int) Int) (declare-const x (Array Int Int))
(declare-fun g ((Array Int Int)) Bool) (declare-fun h ((Seq Int)) Int) (declare-const s (Seq Int))
(declare-const p Bool) (declare-const u (_ BitVec 1)) (declare-const r Real)
(declare-const y (Array Bool Int)) (declare-const z (Array (_ BitVec 1) Int))
"""
EQUAL = [
    ("(+ 1 2)", "3"),
    ("(- 4 (- 1))", "5"),
    ("(to_real 2)", "2.0"),
    ("(concat #b0 #b111)", "#x7"),
    ("(bvnot #b01)", "(_ bv2 2)"),
    ('(str.++ "a" "" "b")', '"\\u{61}b"'),
    ("(f (+ 1 1))", "(f 2)"),
    ("(ite (= 1 1) a b)", "a"),
    ("(and (< a b) true)", "(< a b)"),
    (N, "(fp #b1 #b11111 #b0000000001)"),
    ("((_ to_fp 5 11) #x3c00)", "(fp.neg (fp #b1 #b01111 #b0000000000))"),
    ("RNE", "roundNearestTiesToEven"),
    ("(/ 2.0 4.0)", "0.5"),
    ("(/ (- 1.0) (+ 1.0 1.0))", "(- (/ 2.0 4.0))"),
    ("(/ 4.0 2.0)", "2.0"),
    (f"(store (store {K} 0 1) 2 3)", f"(store (store {K} 2 3) 0 1)"),
    (f"(store (store {K} 0 1) 0 0)", K),
    ("(store (store x 0 1) 2 3)", "(store (store (store x 2 4) 0 1) 2 3)"),
    ("(store x 5 (select x 5))", "x"),
    (f"(select (store {K} 1 7) (- 2 1))", "7"),
    (f"(select (store {B} p 1) p)", "1"),
    (f"(select (store {CONST_BITS} u 1) u)", "1"),
    (f"(store (store {B} true 1) false 1)", "((as const (Array Bool Int)) 1)"),
    (f"(g (store {K} 0 0))", f"(g {K})"),
    (
        "(seq.++ (seq.unit 1) (as seq.empty (Seq Int)) (seq.++ s (seq.unit 2)))",
        "(seq.++ (seq.unit 1) s (seq.unit 2))",
    ),
    (
        "(set.insert 1 2 (set.singleton 1))",
        "(set.union (set.singleton 2) (set.singleton 1) (set.singleton 2))",
    ),
    ("(set.union (set.range 1 3) (set.range 2 5))", "(set.range 1 5)"),
    ("(bag.union_disjoint (bag a 1) (bag b 2) (bag a 1))", "(bag.union_disjoint (bag b 2) (bag a 2))"),
    ('(re.union (str.to_re "ab") (re.++ (str.to_re "a") (str.to_re "b")))', '(str.to_re "ab")'),
    ("(ff.add #f2m5 #f4m5)", "#f1m5"),
    ("#f3m7", "#f10m7"),
    ("#f6m7", "#f-1m7"),
]
DIFFERENT = [
    ("1", "2"),
    ("(fp #b0 #b00000 #b0000000000)", "(fp #b1 #b00000 #b0000000000)"),
    (f"(store {K} 0 1)", f"(store {K} 0 2)"),
    (f"(store {K} 0 1)", K),
    ("(seq.unit 1)", "(as seq.empty (Seq Int))"),
    ("(seq.++ (seq.unit 1) (seq.unit 2))", "(seq.++ (seq.unit 2) (seq.unit 1))"),
    ("(set.singleton 1)", "(set.singleton 2)"),
    ("(bag 1 2)", "(bag 1 3)"),
]
OPEN = [
    ("a", "b"),
    ("(store x a 1)", "(store x b 1)"),
    ("(store (store x a 1) b 2)", "(store (store x b 2) a 1)"),
    ("(store (store x a 1) b 2)", "(store x a 2)"),
    ("(select (store (store x a 1) b 2) a)", "1"),
    ("(seq.unit a)", "(seq.unit b)"),
    ('"é"', '"\\u{e9}"'),
    ("(/ 1.0 0.0)", "0.0"),
    ("(div 1 0)", "0"),
    ("(bvudiv #b1 #b0)", "#b1"),
    ("(set.singleton a)", "(set.singleton b)"),
    ("(select x 0)", "(select x 1)"),
    ("(bag a (- 1))", "(as bag.empty (Bag Int))"),
    ("((_ to_fp 5 11) RNE 1.0)", "((_ to_fp 5 11) RNE 1.5)"),
]

# Terms at random: for each sort, the terms without arguments, then the others.
RANDOM = {
    "Int": (
        "a b 0 1 2",
        "(+ $Int $Int);(f $Int);(select $Ints $Int);(select $Bools $Truth);(select $Bits $Bit);"
        "(ite $Truth $Int $Int)",
    ),
    "Real": ("r 0.5 2.0 4.0", "(- $Real);(+ $Real $Real);(/ 2.0 4.0);(/ $Real 4.0);(/ $Real $Real)"),
    "Bit": ("u #b0 #b1", "(bvnot $Bit);(bvadd $Bit $Bit)"),
    "Ints": ("x", f"{K};(store $Ints $Int $Int)"),
    "Bools": ("y", f"{B};(store $Bools $Truth $Int);(store $Bools p $Int)"),
    "Bits": ("z", f"{CONST_BITS};(store $Bits $Bit $Int)"),
    "Ordered": ("s", "(seq.unit $Int);(seq.++ $Ordered $Ordered);(as seq.empty (Seq Int))"),
    "Truth": (
        "p true false",
        "(= $Int $Int);(= $Real $Real);(< $Real $Real);(= $Bit $Bit);(= $Ints $Ints);(= $Bools $Bools);"
        "(= $Bits $Bits);(= $Ordered $Ordered);(not $Truth);(and $Truth $Truth);(or $Truth $Truth);"
        "(exists ((a Int)) (and (= a $Int) $Truth));(forall ((p Bool)) (=> (= $Truth p) $Truth))",
    ),
}


def refuted(*assertions: str) -> bool:
    commands = "".join(f"(assert {text})" for text in assertions)
    return is_refuted(Script.of(f"{DECLARED}{commands}(check-sat)"), 0)


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_forms_of_one_value_do_not_differ(one: str, other: str) -> None:
    assert refuted(f"(distinct {one} {other})")
    assert refuted(f"(not (= {other} {one}))")
    assert not refuted(f"(= {one} {other})")


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_values_that_differ_are_not_equal(one: str, other: str) -> None:
    assert refuted(f"(= {one} {other})")
    assert not refuted(f"(distinct {one} {other})")


@pytest.mark.parametrize(("one", "other"), OPEN)
def test_of_what_is_not_known_nothing_is_said(one: str, other: str) -> None:
    assert not refuted(f"(= {one} {other})")
    assert not refuted(f"(distinct {one} {other})")


def test_of_too_many_digits_nothing_is_said() -> None:
    number, bits = "9" * 3000, "#b" + "1" * 8000
    assert not refuted(f"(= (* {number} {number}) 0)")
    assert not refuted(f"(= (concat {bits} {bits}) (concat {bits} {bits}))")


def test_constants_and_variables_are_what_an_equation_says() -> None:
    assert refuted("(= a 3)", "(= b (+ 1 2))", "(distinct (f a) (f b))")
    assert refuted("(and (= a b) (distinct (f b) (f a)))")
    assert refuted(f"(exists ((v (Array Int Int))) (and (= v (store {K} 1 0)) (distinct (g v) (g {K}))))")
    assert refuted(f"(not (forall ((v (Array Int Int))) (=> (= {K} v) (= (g v) (g (store {K} 3 0))))))")
    assert not refuted("(= a (f a))", "(distinct (f a) (f b))")
    assert not refuted("(forall ((v Int)) (and (= v 1) (= (f v) (f 1))))")
    assert not refuted("(exists ((v Int)) (=> (= v 1) (distinct (f v) (f 1))))")


def test_clauses_derive_what_follows() -> None:
    one, other = f"(store {K} 0 0)", K
    declared = "(declare-fun p ((Array Int Int) (Array Int Int)) Bool)(declare-fun q ((Array Int Int)) Bool)"
    fact = f"(assert (forall ((k (Array Int Int))) (p {one} k)))"
    step = "(assert (forall ((v (Array Int Int)) (w (Array Int Int))) (=> (p v w) (q v))))"
    same = "(assert (forall ((v (Array Int Int))) (=> (p v v) (q v))))"
    goal = f"(assert (forall ((v (Array Int Int))) (=> (and (q v) (= v {other})) false)))"

    def is_false(*clauses: str) -> bool:
        return is_refuted(Script.of(f"{declared}{''.join(clauses)}(check-sat)"), 0)

    assert is_false(fact, step, goal)
    assert is_false(goal, step, fact)
    assert not is_false(fact, step)
    assert not is_false(step, goal)
    assert not is_false(fact, same, goal)
    assert not is_false(fact, step, goal.replace("(= v", "(= (store v 1 1)"))


def test_only_what_holds_at_a_question_counts() -> None:
    text = "(push 1)(assert false)(check-sat)(pop 1)(check-sat)(check-sat-assuming ((not true)))"
    assert [is_refuted(Script.of(text), check) for check in range(4)] == [True, False, True, False]
    assert not is_refuted(Script.of("(assert (= 1"), 0)
    assert not is_refuted(Script.of("(declare-const store Bool)(assert store)(check-sat)"), 0)


def test_what_is_refuted_is_unsatisfiable_for_solvers(tmp_path: Path) -> None:
    source = seeds_of(formulas(), tmp_path)
    count = {True: 0, False: 0}
    for test in make_strategy("congruence", None, StrategySettings(seed=2), source).generate(
        0, size(70, 200)
    ):
        if is_refuted(Script.of(test.text), 0):
            count[True] += 1
            assert test.known == ("unsat",)
        else:
            count[False] += test.known == ("unsat",)
    assert count[True] > size(40, 120)
    assert count[False] < size(4, 10)
    for text in formulas():
        if is_refuted(Script.of(text + "(check-sat)"), 0):
            ask = ask_cvc5 if "set." in text or "bag" in text else ask_z3
            assert ask(text + "(check-sat)", 2000) == "unsat"


def random_term(choose: random.Random, sort: str, depth: int) -> str:
    simple, larger = RANDOM[sort]
    shape = choose.choice(larger.split(";") if depth else simple.split())
    return re.sub(r"\$(\w+)", lambda found: random_term(choose, found[1], depth - 1), shape)


def test_no_satisfiable_formula_is_refuted() -> None:
    choose = random.Random(3)
    count = 0
    for _ in range(size(50, 2000)):
        formula = f"(not {random_term(choose, 'Truth', choose.choice((2, 3)))})"
        if refuted(formula):
            count += 1
            assert ask_z3(f"{DECLARED}(assert {formula})", 1000) != "sat", formula
    assert count > size(5, 250)
