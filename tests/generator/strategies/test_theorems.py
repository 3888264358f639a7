"""The strategy theorems: contradictions over a formula's terms, where they change nothing."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from generator import GenerationError, SeedSource, StrategySettings, make_strategy, seeds_of_folder
from smtlib import read_sexps
from tests.generator.small import formulas, is_shared, known_answers
from tests.generator.strategies.weaken.proving import ask_z3
from tests.sizes import size

CONTRADICTIONS = [
    "(declare-const n Int)(assert (< n 0))(assert (> n (* 2 n n)))",
    "(declare-const s String)(declare-const n Int)(assert (= n (str.len s)))(assert (< n 0))",
    "(declare-const v (_ BitVec 8))(assert (distinct v (bvnot (bvnot v))))",
    "(declare-const p Bool)(declare-fun f (Bool) Int)(assert (and p (= (f true) 1) (= (f p) 2)))",
    "(declare-const r Real)(assert (forall ((q Real)) (or (< q r) (< q (- r)))))",
    "(declare-const n Int)(assert (exists ((m Int)) (and (forall ((k Int)) (< k m)) (> m n))))",
    # cvc5 takes these only where its theories never see them.
    "(declare-const x (_ FloatingPoint 5 11))(assert (distinct x x))",
    "(declare-const a (Array (Array Int Int) Int))(assert (distinct a a))",
]


def answered_seeds(
    folder: Path, texts: list[str] | None = None, contradictions: list[str] = CONTRADICTIONS
) -> SeedSource:
    """The small corpus or these texts, and contradictions, with what z3 answers."""
    if texts is None:
        texts = [
            text for text in formulas() if is_shared(text) and "(kids " not in text and "-rec " not in text
        ]
    said = {}
    for number, script in enumerate([*texts, *contradictions]):
        text = script + "(check-sat)"
        (folder / f"{number:03}.smt2").write_text(text)
        said[text] = ask_z3(text, 500)
    return seeds_of_folder(folder, known_answers(said))


def bodies(folder: Path, text: str, *given: str, count: int = 60) -> list[str]:
    """Assertions of tests that are made of a seed and the first contradiction."""
    seeds = answered_seeds(folder, [text], CONTRADICTIONS[:1])
    made = make_strategy("theorems", None, StrategySettings(given=("chain=1", *given)), seeds).generate(
        0, count
    )
    own = [test.text for test in made if re.search(r"^; from 000", test.text, re.MULTILINE)]
    return [" ".join(re.findall(r"^\(assert .*", test, re.MULTILINE)) for test in own]


@pytest.mark.thorough
def test_a_test_has_the_answer_that_is_known(tmp_path: Path) -> None:
    count, agreed = size(80, 200), 0
    made = make_strategy("theorems", None, StrategySettings(seed=4), answered_seeds(tmp_path))
    tests = list(made.generate(0, count))
    for test in tests:
        (known,) = test.known
        said = ask_z3(test.text, 500)
        assert said in (known, "unknown"), test.text
        agreed += said == known
    assert agreed > 0.75 * count
    assert {test.known for test in tests} == {("sat",), ("unsat",)}


def test_contradictions_are_about_terms_of_the_place(tmp_path: Path) -> None:
    seed = "(declare-const a Int)(declare-const b Int)(declare-const p Bool)(assert (< (mod a 3) (* b b)))"
    found = bodies(tmp_path, seed, "unsat=0", count=300)
    assert {body.split()[1] for body in found} == {"(<", "(or", "(and", "(=>", "(=", "(xor", "(ite"}
    assert all(re.search(r"\(< (a|b|\(mod a 3\)|\(\* b b\)) 0\)", body) for body in found)


def test_a_variable_of_the_place_may_stand_in_a_contradiction(tmp_path: Path) -> None:
    seed = "(declare-const a Int)(assert (forall ((x Int) (y Int)) (or (< x (+ a y)) (> x y))))"
    assert any(re.search(r"\(< [xy] 0\)", body) for body in bodies(tmp_path, seed, "unsat=0", count=200))


def test_an_assertion_chooses_one_of_two_contradictions(tmp_path: Path) -> None:
    seed = "(declare-const a Int)(declare-const b Int)(assert (< a b))(assert (< b 9))"
    found = bodies(tmp_path, seed, "unsat=1")
    assert found
    assert all(re.search(r"\(assert \(ite \(< (a b|b 9)\) ", body) for body in found)


def test_no_name_is_bound_twice_on_a_way(tmp_path: Path) -> None:
    """A term of the place must mean there what it meant before: no binder below may catch its variables."""
    seeds = answered_seeds(tmp_path, ["(declare-const new_1_0 Int)(assert (forall ((q Int)) (< new_1_0 q)))"])
    made = make_strategy("theorems", None, StrategySettings(given=("chain=8", "mutations=3")), seeds)
    deepest = 0
    for test in made.generate(0, 300):
        waiting: list[tuple[Any, frozenset[str]]] = [(part, frozenset()) for part in read_sexps(test.text)]
        declared = {part[1] for part, _ in waiting if part[0].startswith("declare-")}
        while waiting:
            part, scope = waiting.pop()
            if isinstance(part, str):
                continue
            if part and part[0] in ("forall", "exists"):
                bound = {variable[0] for variable in part[1]}
                assert bound.isdisjoint(scope | declared), test.text
                scope = scope | bound
                deepest = max(deepest, len(scope))
                part = part[2:]
            waiting += [(below, scope) for below in part]
    assert deepest > 2


@pytest.mark.thorough
def test_a_seed_without_an_answer_becomes_unsatisfiable(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text("(declare-const a Int)(assert (= (* a a a) 1330))(check-sat)")
    (tmp_path / "b.smt2").write_text(CONTRADICTIONS[0] + "(check-sat)")
    answers = known_answers({CONTRADICTIONS[0] + "(check-sat)": "unsat"})
    strategy = make_strategy("theorems", None, StrategySettings(), seeds_of_folder(tmp_path, answers))
    own = [test for test in strategy.generate(0, 40) if "; from a.smt2" in test.text]
    assert own and {test.known for test in own} == {("unsat",)}
    assert {ask_z3(test.text, 2000) for test in own} == {"unsat"}


def test_about_as_many_formulas_become_unsatisfiable_as_was_set(tmp_path: Path) -> None:
    seeds = answered_seeds(tmp_path, ["(declare-const a Int)(declare-const b Int)(assert (< a b))"])
    given = StrategySettings(given=("chain=1", "unsat=0.3"))
    own = [
        test
        for test in make_strategy("theorems", None, given, seeds).generate(0, 900)
        if "from 000" in test.text
    ]
    assert len(own) > 80
    assert 0.15 < sum(test.known == ("unsat",) for test in own) / len(own) < 0.45


def test_seeds_without_a_known_contradiction_are_refused(tmp_path: Path) -> None:
    answered = answered_seeds(tmp_path, ["(assert true)"], [])
    with pytest.raises(GenerationError, match=r"known to be unsat, and .* has none: run 'exhume label'"):
        make_strategy("theorems", None, StrategySettings(), answered)


@pytest.mark.parametrize(
    "contradiction",
    [
        "(assert (< 1 0))",
        "(declare-sort S 0)(declare-const s S)(assert (distinct s s))",
        "(declare-sort Bag 0)(declare-const s Bag)(assert (distinct s s))",
        "(declare-const n Int)(define-fun f () Int n)(assert (distinct f n))",
        CONTRADICTIONS[-1],
    ],
)
def test_contradictions_that_cannot_stand_anywhere_are_refused(tmp_path: Path, contradiction: str) -> None:
    answered = answered_seeds(tmp_path, ["(assert true)"], [contradiction])
    with pytest.raises(GenerationError, match=r"no unsatisfiable seed of .* can stand in a formula"):
        make_strategy("theorems", None, StrategySettings(), answered)
