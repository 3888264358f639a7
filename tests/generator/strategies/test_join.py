"""The strategy join: two formulas in one, with constants of the first in the places of the second's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from generator import GeneratedTest, GenerationError, SeedSource, StrategySettings, make_strategy
from generator.seeds.source import seeds_of_folder
from generator.strategies.join import Join
from smtlib import check_script, read_script
from tests.generator.small import known_answers, script_of
from tests.generator.strategies.weaken.proving import ask_z3

SAT = "(declare-fun x () Int)(declare-fun s () String)(assert (> x 3))(assert (= (str.len s) x))(check-sat)"
UNSAT = "(declare-fun x () Int)(declare-fun y () Int)(assert (< (* x x) 0))(assert (> y x))(check-sat)"
OTHER = "(declare-fun x () Int)(declare-fun s () String)(assert (str.prefixof s (str.from_int x)))(check-sat)"


def made_of(source: SeedSource, start: int, stop: int, *given: str, seed: int = 1) -> list[GeneratedTest]:
    made = make_strategy("join", None, StrategySettings(seed=seed, given=given), source)
    return list(made.generate(start, stop))


def seeds_with(folder: Path, answers: Mapping[str, str | None]) -> SeedSource:
    folder.mkdir()
    for number, text in enumerate(answers):
        (folder / f"{number}.smt2").write_text(text)
    return seeds_of_folder(folder, known_answers(answers))


def test_the_second_formula_speaks_of_constants_of_the_first(source: SeedSource) -> None:
    for test in made_of(source, 0, 100):
        header, _, body = test.text.partition("(set-logic ALL)\n")
        first, second = re.findall(r"; from (\S+) and (\S+)", header)[0]
        assert first != second
        (way,) = re.findall(r"; joined by (\S+)", header)
        assert way == "and" or f"(assert ({way} " in body
        shared = re.findall(r"; (\S+) is (\S+)\n", header)
        asserted = re.findall(r"[^\s()]+", body.partition("(assert")[2])
        for old, new in shared:
            assert f" {new} () " in body or f"(declare-const {new} " in body
            assert new in asserted
            assert old not in asserted


@pytest.mark.parametrize("solver", ["cvc5", "cvc5==1.2.0", "old=/usr/bin/cvc4"])
def test_what_a_target_may_refuse_is_not_joined_whatever_its_release(tmp_path: Path, solver: str) -> None:
    source = seeds_with(tmp_path / "seeds", {SAT: None})
    join = make_strategy("join", None, StrategySettings(solvers=(solver,)), source)
    assert isinstance(join, Join)
    nested = "(declare-fun a () (Array (Array Int Int) Int))(assert (= a a))(check-sat)"
    assert [join.why_not(script_of(text)) for text in (nested, SAT)] == ["arrays indexed by arrays", ""]


def test_answers_are_known_where_they_follow(tmp_path: Path) -> None:
    source = seeds_with(tmp_path / "seeds", {SAT: "sat", UNSAT: "unsat", OTHER: None})
    found = set()
    for test in made_of(source, 0, 300):
        way, first = re.findall(r"joined by (\S+)", test.text)[0], "0.smt2" if "from 0" in test.text else ""
        expected = "unsat" if way == "and" and "1.smt2" in test.text else None
        expected = "sat" if way == "or" and first else expected
        assert test.known == (expected,)
        if expected:
            assert ask_z3(test.text, 500) in (expected, "unknown"), test.text
        found.add((way, expected))
    assert {("and", "unsat"), ("or", "sat"), ("and", None), ("or", None), ("=", None)} <= found


def test_a_formula_in_two_files_is_named_by_the_file_that_was_drawn(tmp_path: Path) -> None:
    seeds_with(tmp_path / "seeds", {SAT: None, OTHER: None})
    (tmp_path / "seeds" / "again.smt2").write_text(SAT)
    source = seeds_of_folder(tmp_path / "seeds")
    firsts = {re.findall(r"; from (\S+) and ", test.text)[0] for test in made_of(source, 0, 60)}
    assert firsts == {"0.smt2", "1.smt2", "again.smt2"}


def test_sorts_of_a_formulas_own_are_not_shared(tmp_path: Path) -> None:
    own = "(declare-sort {0} 0)(declare-fun {1} () {0})(declare-fun n () Int)(assert (distinct {1} {1}))"
    texts = [own.format("S", "a") + "(assert (> n 1))(check-sat)"]
    texts.append(own.format("S", "b") + "(assert (< n 2))(check-sat)")
    texts += [own.format("List", name) + "(assert (= n 3))(check-sat)" for name in ("c", "d")]
    source = seeds_with(tmp_path / "seeds", dict.fromkeys(texts))
    for test in made_of(source, 0, 40):
        assert re.findall(r"; (\S+) is (\S+)\n", test.text) == [("n_2", "n")]
        assert check_script(read_script(test.text)).is_well_sorted


@pytest.mark.parametrize(
    "rest",
    [
        "(define-fun p () Bool (> c 0))(assert (and p (< c 0)))",
        "(declare-fun f (Int) Bool)(assert (< c 0))(assert (forall ((i Int)) (! (> c i) :pattern ((f c)))))",
    ],
    ids=["in a definition", "in a pattern"],
)
def test_a_constant_that_stays_somewhere_is_not_replaced(tmp_path: Path, rest: str) -> None:
    second = f"(declare-fun c () Int)(declare-fun d () Int){rest}(assert (> d 2))(check-sat)"
    first = "(declare-fun x () Int)(assert (< x 5))(check-sat)"
    replaced = set()
    for test in made_of(seeds_with(tmp_path / "seeds", {first: None, second: "unsat"}), 0, 40):
        replaced.update(re.findall(r"; (\S+) is (\S+)\n", test.text))
        if test.known == ("unsat",):
            assert ask_z3(test.text, 500) in ("unsat", "unknown"), test.text
    assert ("d_2", "x") in replaced
    assert not [old for old, _ in replaced if old == "c_2"]


def test_a_recursive_definition_may_have_no_solution(tmp_path: Path) -> None:
    second = (
        "(declare-fun y () Int)(define-fun-rec f ((n Int)) Int (+ 1 (f n)))(assert (= y (f y)))(check-sat)"
    )
    source = seeds_with(tmp_path / "seeds", {SAT: "sat", second: None})
    known = {}
    for test in made_of(source, 0, 100):
        way, first = re.findall(r"; joined by (\S+)", test.text)[0], re.findall("; from (.)", test.text)[0]
        known[way, first] = test.known
    assert known["or", "0"] == (None,)


def test_no_constant_has_the_name_of_a_shared_term(tmp_path: Path) -> None:
    first = "(declare-fun $0 () Int)(declare-fun $heap () Int)(assert (< $0 $heap))(check-sat)"
    product = "(* x y (+ x y) (- x y) (+ x 1000))"
    second = f"(declare-fun x () Int)(declare-fun y () Int)(assert (= {product} (* {product} 2)))(check-sat)"
    plain = first.replace("$0", "c")
    made = made_of(seeds_with(tmp_path / "seeds", dict.fromkeys((first, second, plain))), 0, 60)
    assert any("(let (($" in test.text for test in made)
    assert {name for test in made for name in re.findall(r"\d\.smt2", test.text)} == {"1.smt2", "2.smt2"}


@pytest.mark.parametrize(
    "texts",
    [
        (SAT,),
        (
            "(declare-fun p () Bool)(assert p)(check-sat)",
            "(declare-fun q () Bool)(assert (not q))(check-sat)",
        ),
        (SAT, "(declare-fun r () Real)(assert (> r 0.0))(check-sat)"),
        (SAT, "(assert (= 1 2))(check-sat)"),
    ],
    ids=["one formula", "truth values only", "no common sort", "no constants"],
)
def test_without_a_partner_there_is_one_error(tmp_path: Path, texts: tuple[str, ...]) -> None:
    source = seeds_with(tmp_path / "seeds", dict.fromkeys(texts))
    with pytest.raises(GenerationError, match="join makes no test from 100 seeds in a row"):
        made_of(source, 0, 1)
