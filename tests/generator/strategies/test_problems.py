"""The strategies ``optimise``, ``horn`` and ``eliminate``: what their tests ask for, and whom."""

from __future__ import annotations

import random
import re
import subprocess
import time
from pathlib import Path

import pytest

from difftest.oracles import ORACLES
from difftest.relations.fixedpoint import as_clauses
from generator import GenerationError, SeedSource, StrategySettings, make_strategy, seeds_of_folder
from generator.build import Sources, build_strategy
from generator.seeds.strategy import SeedStrategy
from generator.strategy import GeneratedTest
from smtlib import BOOL, CheckedScript, check_script, read_script
from smtlib.horn import read_clauses
from smtlib.shapes import OBJECTIVES
from solvers.lookup import find_solver
from solvers.running.script import Script
from tests.generator.small import formulas, seeds_of

NAMES = ("optimise", "horn", "eliminate")
OWN = """(declare-const x Int)(push)(minimize (* 3 x))(pop)(assert (< x 9))(maximize (* 7 x))
(assert-soft (< x 4) :weight 5)(check-sat)"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SeedSource:
    return seeds_of(formulas(), tmp_path_factory.mktemp("seeds"))


def made_by(source: SeedSource, name: str, count: int = 40) -> list[GeneratedTest]:
    made = make_strategy(name, None, StrategySettings(seed=3), source)
    return list(made.generate(0, count))


def checked(test: GeneratedTest) -> CheckedScript:
    found = check_script(read_script(test.text))
    assert found.errors == []
    return found


@pytest.mark.parametrize("name", NAMES)
def test_tests_are_well_sorted_and_name_an_oracle_in_turn(source: SeedSource, name: str) -> None:
    for test in made_by(source, name):
        assert checked(test).commands[-1].name in ("check-sat", "check-sat-using", "query")
        assert ORACLES[test.judged_by].in_turn


@pytest.mark.parametrize("name", NAMES)
def test_names_that_hold_line_ends_of_unicode_stay_whole(name: str, tmp_path: Path) -> None:
    text = "(declare-const |a\u0085b| Int)(declare-const c Int)(assert (< |a\u0085b| c 7))"
    assert all(checked(test) for test in made_by(seeds_of([text], tmp_path), name, 5))


def test_objectives_are_for_the_solvers_that_know_them(source: SeedSource) -> None:
    for test in made_by(source, "optimise"):
        assert test.only == ("z3",)
        assert any(command.name in OBJECTIVES for command in checked(test).commands)
    with pytest.raises(GenerationError, match="makes tests for z3 only"):
        build_strategy("optimise", Sources(seeds="corpus"), StrategySettings(solvers=("cvc5",)))


def test_objectives_of_a_seed_are_kept(tmp_path: Path) -> None:
    (tmp_path / "own.smt2").write_text(OWN)
    source = seeds_of_folder(tmp_path)
    texts = [test.text for test in made_by(source, "optimise")]
    assert 20 < sum("(maximize (* 7 x))" in text for text in texts) < 40
    assert any("(assert-soft (< x 4) :weight 5)" in text for text in texts)
    assert not any("(minimize (* 3 x))" in text for text in texts)
    assert all("7" not in test.text.split("(set-logic")[1] for test in made_by(source, "eliminate", 5))


def test_horn_clauses_are_horn_clauses(source: SeedSource) -> None:
    for test in made_by(source, "horn"):
        text = as_clauses(Script.of(test.text), 0).text if "(query " in test.text else test.text
        script = check_script(read_script(text))
        predicates = {d for c in script.commands if c.name == "declare-fun" for d in c.declarations}
        assert all(d.result is BOOL for d in predicates)
        heads = [clause.head for clause in read_clauses(script.assertions, predicates)]
        assert None in heads
        assert any(heads)


def test_rules_are_for_the_solvers_that_know_them(source: SeedSource) -> None:
    tests = made_by(source, "horn")
    assert 4 <= sum("(query " in test.text for test in tests) <= 20
    for test in tests:
        assert test.only == (("z3",) if re.search("[(](query|check-sat-using) ", test.text) else ())
    others = make_strategy("horn", None, StrategySettings(seed=3, solvers=("cvc5",)), source)
    assert not any("(query " in test.text or test.only for test in others.generate(0, 40))


def test_z3_takes_clauses_of_all_theories(source: SeedSource) -> None:
    ways = set()
    for test in made_by(source, "horn", 60):
        if "(query " not in test.text:
            asked = [*find_solver("z3").argv, "-in", "-T:1", "-memory:1000"]
            out = subprocess.run(asked, input=test.text, capture_output=True, text=True, timeout=20).stdout
            assert "(error" not in out, test.text
            ways.add((re.findall("set-logic (.*?)[)]", test.text)[0], test.text.splitlines()[-1]))
    assert ways == {("HORN", "(check-sat)"), ("ALL", "(check-sat-using horn)")}


@pytest.mark.parametrize(
    ("declared", "term", "logic"),
    [
        ("(declare-datatype D ((c (d Int))))", "(= (c x) (c 1))", "HORN"),
        ("(declare-datatype D ((c (d String))))", "(= x 1)", "ALL"),
        # cvc5 takes constant arrays only with an option.
        ("", "(select ((as const (Array Int Bool)) true) x)", "ALL"),
        ("", "(= (^ x 2) 4)", "ALL"),
        ("", "(exists ((s String)) (= x 1))", "ALL"),
    ],
)
def test_the_logic_has_what_is_declared_and_used(
    declared: str, term: str, logic: str, tmp_path: Path
) -> None:
    source = seeds_of([f"{declared}(declare-const x Int)(assert {term})"], tmp_path)
    for test in made_by(source, "horn", 10):
        assert f"(set-logic {logic})" in test.text or "(query " in test.text


def test_the_logic_of_horn_clauses_is_for_the_solvers_that_have_it(tmp_path: Path) -> None:
    pytest.importorskip("bitwuzla")
    source = seeds_of(["(declare-const a Bool)(declare-const b Bool)(assert (=> a b))"], tmp_path)

    def made_for(*solvers: str) -> set[tuple[str, tuple[str, ...]]]:
        strategy = make_strategy("horn", None, StrategySettings(seed=3, solvers=solvers), source)
        texts = [(test.text.partition("(set-logic ")[2], test.only) for test in strategy.generate(0, 9)]
        return {(text.partition(")")[0], only) for text, only in texts if text}

    assert made_for("z3", "cvc5", "bitwuzla") == {("HORN", ("z3", "cvc5"))}
    assert made_for("z3", "cvc5") == {("HORN", ())}
    assert made_for("bitwuzla") == {("ALL", ())}


def test_of_horn_clauses_some_are_kept(tmp_path: Path) -> None:
    clauses = [f"(assert (forall ((x Int)) (=> (and (p x) (< x {n})) (p (+ x {n})))))" for n in range(10, 30)]
    text = "\n".join(["(set-logic HORN)(declare-fun p (Int) Bool)", *clauses, "(check-sat)"])
    (tmp_path / "clauses.smt2").write_text(text)
    for test in made_by(seeds_of_folder(tmp_path), "horn", 10):
        kept = [line for line in test.text.splitlines() if line.startswith("(assert")]
        assert set(kept) <= set(clauses)
        assert len(kept) > 10


def test_one_constant_gives_each_test_once(tmp_path: Path) -> None:
    (tmp_path / "one.smt2").write_text("(declare-const x Int)(assert (< x 5))(check-sat)")
    strategy = make_strategy("eliminate", None, StrategySettings(seed=3), seeds_of_folder(tmp_path))
    assert isinstance(strategy, SeedStrategy)
    chance = random.Random(1)
    texts = [mutant.text() for mutant in strategy.mutants(strategy.draw(chance), chance)]
    assert len(set(texts)) == len(texts) == 4


def test_formulas_within_one_another_are_looked_through_once(tmp_path: Path) -> None:
    depth = 600
    nested = "".join(f"(or (> x {n}) (and (< y {n}) " for n in range(depth)) + "true" + "))" * depth
    source = seeds_of([f"(declare-const x Int)(declare-const y Int)(assert {nested})"], tmp_path)
    made = make_strategy("eliminate", None, StrategySettings(seed=3, given=("tests=20",)), source)
    next(iter(made.generate(0, 1)))
    start = time.process_time()
    assert len(list(made.generate(1, 20))) == 19
    assert time.process_time() - start < 3


def test_constants_become_variables(source: SeedSource) -> None:
    for test in made_by(source, "eliminate"):
        script = checked(test)
        assert any(term.variables for assertion in script.assertions for term in [assertion, *assertion.args])
