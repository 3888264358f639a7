"""The strategy theorems: contradictions over a formula's terms, where they change nothing."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest

from generator import GenerationError, SeedSource, StrategySettings, make_strategy, seeds_of_folder
from generator.seeds.source import Answer
from smtlib import check_script, read_script
from tests.generator.small import formulas
from tests.generator.strategies.test_typefuzz import is_shared
from tests.generator.strategies.weaken.proving import ask_z3

CONTRADICTIONS = [
    "(declare-const n Int)(assert (< n 0))(assert (> n (* 2 n n)))",
    "(declare-const s String)(declare-const n Int)(assert (= n (str.len s)))(assert (< n 0))",
    "(declare-const v (_ BitVec 8))(assert (distinct v (bvnot (bvnot v))))",
    "(declare-const p Bool)(declare-fun f (Bool) Int)(assert (and p (= (f true) 1) (= (f p) 2)))",
    "(declare-const r Real)(assert (forall ((q Real)) (or (< q r) (< q (- r)))))",
    "(declare-const n Int)(assert (exists ((m Int)) (and (forall ((k Int)) (< k m)) (> m n))))",
]


def answered_seeds(
    folder: Path, texts: list[str] | None = None, contradictions: list[str] = CONTRADICTIONS
) -> SeedSource:
    """The small corpus or these texts, and contradictions, with what z3 answers."""
    if texts is None:
        texts = [
            text for text in formulas() if is_shared(text) and "(kids " not in text and "-rec " not in text
        ]
    answers: dict[str, Answer] = {}
    for number, script in enumerate([*texts, *contradictions]):
        text = script + "(check-sat)"
        (folder / f"{number:03}.smt2").write_text(text)
        said = ask_z3(text, 500)
        if said != "unknown":
            answers[sha256(text.encode()).hexdigest()] = "sat" if said == "sat" else "unsat"
    return seeds_of_folder(folder, answers)


def bodies(folder: Path, text: str, *given: str, count: int = 60) -> list[str]:
    """Assertions of tests that are made of a seed and the first contradiction."""
    seeds = answered_seeds(folder, [text], CONTRADICTIONS[:1])
    made = make_strategy("theorems", None, StrategySettings(given=("chain=1", *given)), seeds).generate(
        0, count
    )
    own = [test.text for test in made if re.search(r"^; from 000", test.text, re.MULTILINE)]
    return [" ".join(re.findall(r"^\(assert .*", test, re.MULTILINE)) for test in own]


def test_a_test_has_the_answer_that_is_known(tmp_path: Path) -> None:
    tests = list(
        make_strategy("theorems", None, StrategySettings(seed=4), answered_seeds(tmp_path)).generate(0, 200)
    )
    agreed = 0
    for test in tests:
        (known,) = test.known
        said = ask_z3(test.text, 500)
        assert said in (known, "unknown"), test.text
        agreed += said == known
    assert agreed > 150
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


def test_variables_that_contradictions_bind_have_names_of_their_own(tmp_path: Path) -> None:
    seeds = answered_seeds(tmp_path, ["(declare-const new_1_0 Int)(assert (< new_1_0 4))"])
    made = make_strategy("theorems", None, StrategySettings(given=("chain=8", "mutations=3")), seeds)
    for test in made.generate(0, 200):
        checked = check_script(read_script(test.text))
        bound = re.findall(r"\((?:forall|exists) \(\((\S+)", test.text)
        declared = {d.name for command in checked.commands for d in command.declarations}
        assert checked.errors == []
        assert declared.isdisjoint(bound)


def test_seeds_without_a_known_contradiction_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GenerationError, match=r"known to be unsat, and .* has none: run 'exhume label'"):
        answered = answered_seeds(tmp_path, ["(assert true)"], [])
        make_strategy("theorems", None, StrategySettings(), answered)


def test_contradictions_without_constants_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GenerationError, match=r"no unsatisfiable seed of .* can stand in a formula"):
        answered = answered_seeds(
            tmp_path,
            ["(assert true)"],
            ["(assert (< 1 0))", "(declare-sort S 0)(declare-const s S)(assert (distinct s s))"],
        )
        make_strategy("theorems", None, StrategySettings(), answered)
