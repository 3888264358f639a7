"""Assertions taken apart: known answers, and properties over generated assertions."""

from __future__ import annotations

import re
import time
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import Atom, Decomposer, Decomposition, decompose_script
from smtlib import CheckedScript, check_script, read_script

DECLARATIONS = """
(declare-const p Bool) (declare-const q Bool)
(declare-const i Int) (declare-const j Int) (declare-const r Real)
(declare-const v (_ BitVec 8)) (declare-const s String)
(declare-sort U 0) (declare-sort P 2)
(declare-const u U) (declare-const w (P U Int))
(declare-fun f (Int Real) Int) (declare-fun g (U) Bool)
(declare-datatypes ((Tree 0) (Chain 1)) (
  ((leaf (value U)) (node (children (Chain Tree))))
  (par (X) ((nil) (cons (head X) (tail (Chain X)))))))
(declare-const t Tree) (declare-const l (Chain Int))
"""


def check(text: str) -> CheckedScript:
    checked = check_script(read_script(text))
    assert not checked.errors, [str(e) for e in checked.errors]
    return checked


def taken_apart(assertion: str, declarations: str = DECLARATIONS) -> Decomposition:
    checked = check(f"{declarations}\n(assert {assertion})")
    return Decomposer(checked).decompose(checked.assertions[0])


def only_atom(assertion: str, declarations: str = DECLARATIONS) -> Atom:
    (atom,) = taken_apart(assertion, declarations).atoms
    return atom


def body(atom: Atom) -> str:
    return atom.join([f"x{i}" for i in range(len(atom.slots))])


SKELETONS = [
    ("p", "(hole 0)"),
    ("(and p (or q (not p)))", "(and (hole 0) (or (hole 1) (not (hole 2))))"),
    ("(=> p q p)", "(=> (hole 0) (hole 1) (hole 2))"),
    ("(implies p q)", "(=> (hole 0) (hole 1))"),
    ("(xor p q)", "(xor (hole 0) (hole 1))"),
    ("(= p (and q p))", "(hole 0)"),
    ("(ite p (and p q) q)", "(hole 0)"),
    ("(iff p q)", "(hole 0)"),
    ("(! (not (! p :named n)) :named m)", "(not (hole 0))"),
    ("(let ((a (and p q))) (or a a))", "(or (and (hole 0) (hole 1)) (and (hole 2) (hole 3)))"),
    ("(forall ((x Int) (y Real)) (exists ((z Int)) (= z x)))", "(forall 2 (exists 1 (hole 0)))"),
    ("(g (as u U))", "(hole 0)"),
    ("(distinct p (forall ((x Int)) (= x 0)))", "(hole 0)"),
]


@pytest.mark.parametrize(("assertion", "skeleton"), SKELETONS)
def test_known_skeletons(assertion: str, skeleton: str) -> None:
    found = taken_apart(assertion).skeleton
    assert found is not None and found.text == skeleton


ATOMS = [
    ("(> i 1)", "(lambda ((x0 Int)) (> x0 1))", "(> var_Int const_Int)", {"Core", "Ints"}),
    ("(> r 1)", "(lambda ((x0 Real)) (> x0 1.0))", "(> var_Real const_Real)", {"Core", "Reals"}),
    (
        "(= i j i)",
        "(lambda ((x0 Int) (x1 Int)) (= x0 x1 x0))",
        "(= var_Int var_Int var_Int)",
        {"Core", "Ints"},
    ),
    ("p", "(lambda ((x0 Bool)) x0)", "var_Bool", {"Core"}),
    ("true", "(lambda () true)", "const_Bool", {"Core"}),
    (
        "(= (f i 2.) (- 3))",
        "(lambda ((x0 (-> Int Real Int)) (x1 Int)) (= (x0 x1 2.0) (- 3)))",
        "(= var_Int const_Int)",
        {"Core", "Ints", "Reals", "UF"},
    ),
    (
        "(bvult ((_ zero_extend 4) ((_ extract 3 0) v)) #x0f)",
        "(lambda ((x0 (_ BitVec 8))) (bvult ((_ zero_extend 4) ((_ extract 3 0) x0)) #x0f))",
        "(bvult var_BitVec_8 const_BitVec_8)",
        {"Core", "FixedSizeBitVectors"},
    ),
    ("(g u)", "(lambda ((x0 (-> S0 Bool)) (x1 S0)) (x0 x1))", "(fun var_S0)", {"Core", "UF"}),
    (
        "((_ divisible 3) i)",
        "(lambda ((x0 Int)) ((_ divisible 3) x0))",
        "((_ divisible 3) var_Int)",
        {"Core", "Ints"},
    ),
    (
        "(= ((as const (Array U (_ BitVec 8))) v) ((as const (Array U (_ BitVec 8))) #x00))",
        "(lambda ((x0 (_ BitVec 8))) "
        "(= ((as const (Array S0 (_ BitVec 8))) x0) ((as const (Array S0 (_ BitVec 8))) #x00)))",
        "(= var_Array<S0,BitVec_8> const_Array<S0,BitVec_8>)",
        {"ArraysEx", "Core", "FixedSizeBitVectors", "UF"},
    ),
    (
        "(= w w)",
        "(lambda ((x0 (S0_2 S1 Int))) (= x0 x0))",
        "(= var_S0_2<S1,Int> var_S0_2<S1,Int>)",
        {"Core", "Ints", "UF"},
    ),
    (
        "(= true (exists ((a Int)) (forall ((b Int) (c U)) (> a b i))))",
        "(lambda ((x0 Int)) (= true (exists ((b0 Int)) (forall ((b1 Int) (b2 S0)) (> b0 b1 x0)))))",
        "(= const_Bool var_Bool)",
        {"Core", "Ints"},
    ),
]


@pytest.mark.parametrize(("assertion", "text", "signature", "theories"), ATOMS)
def test_known_atoms(assertion: str, text: str, signature: str, theories: set[str]) -> None:
    atom = only_atom(assertion)
    assert atom.text == text
    assert atom.signature == signature
    assert atom.theories == theories
    assert text == f"(lambda ({' '.join(f'(x{i} {s.sort})' for i, s in enumerate(atom.slots))}) {body(atom)})"


def test_coarse_signatures_leave_out_widths_and_arguments() -> None:
    assert only_atom("(bvult v #x0f)").coarse == "(bvult var_BitVec const_BitVec)"
    assert only_atom("(g u)").coarse == "(fun var_Uninterpreted)"
    assert only_atom("((_ is leaf) t)").coarse == "(is var_Datatype)"
    assert only_atom("((_ divisible 3) i)").coarse == "(divisible var_Int)"
    assert only_atom("(= l (as nil (Chain Int)))").coarse == "(= var_Datatype const_Datatype)"


def test_variables_of_the_skeleton_are_slots_that_were_bound() -> None:
    (atom,) = taken_apart("(forall ((x Int)) (< x i))").atoms
    assert [slot.was_bound for slot in atom.slots] == [True, False]
    assert atom == only_atom("(< j i)")


def test_a_sort_in_an_index_is_declared() -> None:
    atom = only_atom("(_ fmf.card U 3)")
    assert (atom.text, atom.prelude) == ("(lambda () (_ fmf.card S0 3))", ("(declare-sort S0 0)",))


def test_datatypes_come_with_the_atom_and_equal_structures_share_names() -> None:
    atom = only_atom("(= t (node (cons t (as nil (Chain Tree)))))")
    assert len(atom.prelude) == 2 and atom.prelude[0] == "(declare-sort S0 0)"
    other = only_atom(
        "(= a (branch (add a (as none (Seq2 T)))))",
        "(declare-sort E 0)(declare-datatypes ((T 0) (Seq2 1)) (((tip (content E)) (branch (all (Seq2 T))))"
        " (par (Y) ((none) (add (first Y) (rest (Seq2 Y)))))))(declare-const a T)",
    )
    assert atom == other and atom.prelude == other.prelude
    third = only_atom("(= x (d 1))", "(declare-datatype D ((c) (d (e Int))))(declare-const x D)")
    assert not set(third.prelude) & set(atom.prelude)
    assert re.search(r"D[0-9a-f]{10}_0c1", third.text)


def test_match_is_canonical() -> None:
    atom = only_atom("(match t (((leaf a) (g a)) (other (= other t))))")
    again = only_atom("(match t (((leaf other) (g other)) (a (= a t))))")
    assert atom == again and "b0" in atom.text and "other" not in atom.text


def test_defined_functions_are_expanded_without_capture() -> None:
    found = taken_apart(
        "(forall ((y Int)) (over (+ y 1)))",
        "(define-fun large ((x Int)) Bool (> x 9))"
        "(define-fun over ((x Int)) Bool (exists ((y Int)) (and (> y x) (large y))))",
    )
    assert found.skeleton is not None
    assert found.skeleton.text == "(forall 1 (exists 1 (and (hole 0) (hole 1))))"
    first, second = found.atoms
    assert body(first) == "(> x0 (+ x1 1))" and body(second) == "(> x0 9)"


def test_no_name_in_a_script_is_that_of_an_expanded_variable() -> None:
    (atom,) = taken_apart(
        "(forall ((y!d0 Int) (y!0 Int)) (g y!d0 y!0))",
        "(define-fun g ((x Int) (z Int)) Bool (exists ((y Int)) (> y x z)))",
    ).atoms
    assert body(atom) == "(> x0 x1 x2)"


def test_recursive_functions_come_with_the_atom() -> None:
    recursive = """(declare-fun h (Int) Int)
        (define-fun-rec sum ((n Int)) Int (ite (<= n 0) (h 0) (+ n (sum (- n 1)))))
        (define-funs-rec ((ev ((n Int)) Bool) (od ((n Int)) Bool))
          ((ite (= n 0) true (od (- n 1))) (ite (= n 0) false (ev (- n 1)))))
        (declare-const k Int)"""
    atom = only_atom("(= (sum k) (h 1))", recursive)
    assert len(atom.slots) == 1 and len(atom.prelude) == 2
    assert atom.prelude[0].startswith("(declare-fun F") and "define-fun-rec" in atom.prelude[1]
    mutual = only_atom("(od k)", recursive)
    assert len(mutual.prelude) == 1 and mutual.prelude[0].startswith("(define-funs-rec ((F")
    for found in (atom, mutual):
        check(found.script())


def test_large_definitions_call_each_other_by_name() -> None:
    terms = " ".join(f"(* n (f (- n {k})))" for k in range(60))
    declared = f"(declare-const c Int)(define-fun-rec f ((n Int)) Int (ite (< n c) 1 (+ {terms})))"
    atom = only_atom("(> (f 9) 3)", declared)
    assert "\0" not in "".join(atom.prelude)
    check(atom.script())


def test_explosive_definitions_stay_functions() -> None:
    doubling = "(define-fun f0 ((x Int)) Int (+ x x))" + "".join(
        f"(define-fun f{n + 1} ((x Int)) Int (f{n} (f{n} (+ x {n}))))" for n in range(40)
    )
    atom = only_atom("(= 0 (f40 1))", doubling)
    assert len(atom.prelude) == 41
    check(atom.script())


def test_map_over_a_symbol_is_a_slot() -> None:
    atom = only_atom("(= ((_ map h) a) a)", "(declare-fun h (Int) Int)(declare-const a (Array Int Int))")
    assert body(atom) == "(= ((_ map x0) x1) x1)"
    assert atom.slots[0].params == ("Int",)


def test_a_sort_declared_twice_with_two_meanings_is_skipped() -> None:
    checked = check(
        "(push 1)(declare-datatype D ((a)))(assert (= a a))(pop 1)"
        "(declare-datatype D ((b) (c)))(assert (= b c))"
    )
    reasons = [d.reasons for d in decompose_script(checked)]
    assert reasons == [("a sort is declared twice with different meanings",)] * 2


def test_redeclared_symbols_are_distinguished() -> None:
    checked = check(
        "(push 1)(declare-const x Int)(assert (= x 0))(pop 1)(declare-const x Real)(assert (= x 0.0))"
    )
    sorts = [d.atoms[0].slots[0].result for d in decompose_script(checked)]
    assert sorts == ["Int", "Real"]


# Limits


def timed(text: str) -> tuple[Decomposition, float]:
    checked = check(text)
    start = time.process_time()
    found = Decomposer(checked).decompose(checked.assertions[0])
    return found, time.process_time() - start


@pytest.mark.slow
def test_a_deep_skeleton_is_skipped_quickly_with_a_reason() -> None:
    found, seconds = timed(
        "(declare-const a Bool)(assert " + "(not (and a " * 50_000 + "a" + "))" * 50_000 + ")"
    )
    assert found.skeleton is None and found.skipped == "skeleton too large" and found.atoms == ()
    assert found.reasons == ("skeleton too large",)
    assert seconds < 20


def test_shared_connectives_are_skipped_quickly_with_a_reason() -> None:
    lets = "".join(f"(let ((x{n + 1} (and x{n} (not x{n})))) " for n in range(60))
    found, seconds = timed(f"(declare-const x0 Bool)(assert {lets}x60{')' * 60})")
    assert found.skipped == "skeleton too large" and seconds < 20


def test_a_shared_atom_is_small() -> None:
    lets = "".join(f"(let ((x{n + 1} (+ x{n} x{n}))) " for n in range(60))
    found, seconds = timed(f"(declare-const x0 Int)(assert (= 0 {lets}x60{')' * 61})")
    (atom,) = found.atoms
    assert len(atom.text) < 3000 and seconds < 20
    check(atom.script())


@pytest.mark.slow
def test_a_deep_atom_is_skipped_quickly_with_a_reason() -> None:
    found, seconds = timed("(declare-const a Int)(assert (= 0 " + "(- " * 50_000 + "a" + ")" * 50_002)
    assert found.skeleton is not None and found.atoms == () and found.reasons == ("atom too large",)
    assert seconds < 20


def unrolled(steps: int) -> str:
    """A loop as bounded model checkers write it: all that comes before is in each assertion."""
    lines = ["(declare-const y Int)"]
    for step in range(steps):
        before = f"d{step - 1}" if step else "y"
        lines += [f"(declare-const x{step} Int)(define-fun d{step} () Int (+ (* 3 {before}) x{step} y))"]
    return "".join([*lines, *(f"(assert (> d{step} 0))" for step in range(steps)), "(assert (> y 7))"])


def test_the_large_atoms_of_a_script_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rules.decompose.MAX_SCRIPT", 2_000)
    *steps, last = decompose_script(check(unrolled(100)))
    kept = [bool(found.atoms) for found in steps]
    assert 60 < sum(kept) < 90
    assert kept == sorted(kept, reverse=True)
    assert {found.reasons for found in steps if not found.atoms} == {("atom too large",)}
    assert last.atoms


def test_an_unrolled_loop_ends_quickly() -> None:
    checked = check(unrolled(500))
    start = time.process_time()
    assert len(list(decompose_script(checked))) == 501
    assert time.process_time() - start < 4


def test_many_nested_binders_in_an_atom_end_quickly() -> None:
    opened = "".join(f"(forall ((x{n} Int)) (=> (= x{n} {n}) " for n in range(1500))
    found, seconds = timed(f"(assert (= true {opened}true{'))' * 1500}))")
    assert found.reasons == ("binders nested too deep",) and seconds < 20


# Properties


@st.composite
def assertions(draw: st.DrawFn) -> str:
    """A well-sorted assertion over DECLARATIONS, with quantifiers, let and annotations."""

    def integer(depth: int, bound: tuple[str, ...]) -> str:
        leaves = ["i", "j", "0", "7", *bound]
        if depth <= 0 or draw(st.integers(0, 2)) == 0:
            return draw(st.sampled_from(leaves))
        kind = draw(st.integers(0, 4))
        a = integer(depth - 1, bound)
        if kind == 0:
            return f"(f {a} r)"
        if kind == 1:
            return f"(let ((z {a})) (* z (+ z z)))"
        if kind == 2:
            return f"(ite {formula(depth - 1, bound)} {a} 2)"
        return f"(+ {a} {integer(depth - 1, bound)})"

    def formula(depth: int, bound: tuple[str, ...]) -> str:
        kind = draw(st.integers(0, 9)) if depth > 0 else draw(st.integers(0, 3))
        if kind == 0:
            return draw(
                st.sampled_from(["p", "q", "(g u)", "true", "(= v #x01)", '(= s "a""b")', "((_ is leaf) t)"])
            )
        if kind <= 3:
            return f"(< {integer(depth, bound)} {integer(depth, bound)})"
        a = formula(depth - 1, bound)
        if kind == 4:
            return f"(not (! {a} :weight 3))"
        if kind == 5:
            name = draw(st.sampled_from(["y", "y2", "i"]))
            quantifier = draw(st.sampled_from(["forall", "exists"]))
            return f"({quantifier} (({name} Int)) {formula(depth - 1, (*bound, name))})"
        if kind == 6:
            return f"(= p {a})"
        b = formula(depth - 1, bound)
        return f"({draw(st.sampled_from(['and', 'or', 'xor', '=>']))} {a} {b})"

    return formula(draw(st.integers(1, 5)), ())


RENAMED = {
    name: f"{name}_renamed_{n}"
    for n, name in enumerate(["p", "q", "i", "j", "r", "v", "s", "U", "P", "u", "w", "f", "g", "t", "y", "z"])
} | {
    n: n + "x" for n in ("Tree", "Chain", "leaf", "node", "nil", "cons", "value", "children", "head", "tail")
}


def renamed(text: str) -> str:
    return re.sub(r'"(?:[^"]|"")*"|:[a-z]+|[A-Za-z_][A-Za-z0-9_.]*', lambda m: RENAMED.get(m[0], m[0]), text)


@given(assertions())
def test_renaming_symbols_changes_nothing(assertion: str) -> None:
    original = taken_apart(assertion)
    other = taken_apart(renamed(assertion), renamed(DECLARATIONS))
    assert original.skeleton == other.skeleton
    assert original.atoms == other.atoms
    assert [asdict(a) for a in original.atoms] == [asdict(a) for a in other.atoms]


@given(assertions())
def test_atoms_check_by_themselves_and_are_their_own_atoms(assertion: str) -> None:
    for atom in taken_apart(assertion).atoms:
        checked = check(atom.script())
        again = Decomposer(checked).decompose(checked.assertions[0])
        assert again.atoms == (atom,)
        assert (again.atoms[0].signature, again.atoms[0].theories) == (atom.signature, atom.theories)


@given(assertions())
def test_refilling_the_skeleton_gives_the_assertion_back(assertion: str) -> None:
    found = taken_apart(assertion)
    assert found.skeleton is not None and not found.reasons
    # Inside an atom, sorts and datatypes have other names: the properties are about the others here.
    holes = [h.atom.join(h.names) if h.atom and not h.atom.prelude else "true" for h in found.holes]
    binders = [" ".join(f"({name} {sort})" for name, sort in binder) for binder in found.binders]
    again = taken_apart(found.skeleton.fill(holes, binders))
    assert again.skeleton == found.skeleton
    kept = [i for i, h in enumerate(found.holes) if h.atom and not h.atom.prelude]
    assert [again.holes[i].atom for i in kept] == [found.holes[i].atom for i in kept]
    assert [again.holes[i].names for i in kept] == [found.holes[i].names for i in kept]
    assert again.binders == found.binders


@pytest.mark.slow
@given(assertions(), st.integers(0, 3))
@pytest.mark.thorough
def test_large_atoms_do_not_depend_on_how_they_were_shared(assertion: str, copies: int) -> None:
    same = "(= " + " ".join([assertion] * (copies + 2) * 8) + ")"
    shared = f"(let ((shared {assertion})) (= " + " ".join(["shared"] * (copies + 2) * 8) + "))"
    assert taken_apart(same).atoms == taken_apart(shared).atoms
    other = taken_apart(renamed(shared), renamed(DECLARATIONS)).atoms
    assert other == taken_apart(same).atoms
    for atom in other:
        check(atom.script())


def test_large_atoms_with_binders_are_equal_up_to_names() -> None:
    one = "(exists ((a Int)) (forall ((b Int)) (> (+ a b i) (* a a b))))"
    two = "(exists ((m Int)) (forall ((n Int)) (> (+ m n i) (* m m n))))"
    mixed = "(= " + " ".join([one, two] * 20) + ")"
    plain = "(= " + " ".join([one] * 40) + ")"
    assert only_atom(mixed) == only_atom(plain)
    text = only_atom(plain).text
    assert "(let " in text and "(b0 Int)" in text
    large_match = "(= " + " ".join(["(match t (((leaf a) (g a)) ((node c) (= (head c) t))))"] * 30) + ")"
    check(only_atom(large_match).script())
