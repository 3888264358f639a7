"""STORM: tests are satisfiable by construction, within their bounds, the same on every machine."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator import (
    GeneratedTest,
    GenerationError,
    StrategySettings,
    make_strategy,
    seeds_of_folder,
    write_batch,
)
from generator.scopes import Prelude
from generator.strategies.storm.pools import Bounds, Formula, Fragments, construct, draw, fragment
from generator.strategies.storm.solving import SolvingProcess
from generator.strategies.storm.strategy import StormStrategy
from generator.strategies.storm.valuation import value_terms
from smtlib import check_script, read_script
from tests.generator.small import script_of
from tests.generator.strategies.storm.reading import answers

SEEDS = {
    "ints.smt2": """(declare-fun x () Int) (declare-fun y () Int)
        (assert (and (> x 5) (or (< y x) (= y 0)))) (assert (not (= x y))) (check-sat)""",
    "unsat.smt2": """(declare-fun p () Bool) (declare-fun v () (_ BitVec 4))
        (assert (and p (bvult v #x3))) (assert (not (and p (bvult v #x3)))) (check-sat)""",
    "quantified.smt2": """(declare-sort S 0) (declare-fun a () S) (declare-fun f (S) Int)
        (assert (forall ((z S)) (> (f z) 0))) (assert (=> (= (f a) 3) (exists ((i Int)) (= i (f a)))))
        (check-sat)""",
    "sub/datatypes.smt2": """(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
        (declare-fun l () L) (define-fun long ((m L)) Bool ((_ is cons) m))
        (assert (or (long l) (= l nil))) (assert (=> (long l) (> (head l) 2))) (check-sat)""",
    "broken.smt2": "(assert (> x 5",
    "nothing.smt2": "(declare-fun r () Real)(assert (> (^ r r) 2.0))(check-sat)",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("seeds")
    for name, text in SEEDS.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_text(text, "utf-8")
    return made


def storm(folder: Path, *values: str, seed: int = 1) -> StormStrategy:
    settings = StrategySettings(seed=seed, given=values)
    made = make_strategy("storm", None, settings, seeds_of_folder(folder))
    assert isinstance(made, StormStrategy)
    return made


def made_of(folder: Path, count: int, *values: str, seed: int = 1) -> list[GeneratedTest]:
    return list(storm(folder, *values, seed=seed).generate(0, count))


def test_every_test_is_satisfiable_and_says_so(folder: Path) -> None:
    for test in made_of(folder, 110):
        assert test.known == ("sat",)
        assert answers(test.text) == ["sat"], test.text
        assert check_script(read_script(test.text)).is_well_sorted


def test_every_level_of_an_incremental_test_is_satisfiable(folder: Path) -> None:
    made = made_of(folder, 60, "incremental=1")
    for test in made:
        found = answers(test.text)
        assert found == ["sat"] * test.text.count("(check-sat)") == list(test.known), test.text
    assert sum("(push 1)" in t.text for t in made) > 20 and sum("(pop " in t.text for t in made) > 20


def test_the_same_seed_gives_the_same_tests_wherever_one_begins(folder: Path) -> None:
    made = made_of(folder, 130)
    assert made == made_of(folder, 130)
    again = storm(folder)
    assert [t for i in (129, 3, 77) for t in again.generate(i, i + 1)] == [made[i] for i in (129, 3, 77)]
    assert made != made_of(folder, 130, seed=2)


@pytest.mark.thorough
def test_several_processes_write_the_same_batch(folder: Path, tmp_path: Path) -> None:
    for jobs in (1, 2):
        write_batch(storm(folder), 300, tmp_path / str(jobs), {}, jobs)
    one, two = ({f.name: f.read_bytes() for f in (tmp_path / n).glob("*.smt2")} for n in "12")
    assert one == two and len(one) == 300


def test_the_header_tells_seed_formula_settings_and_model(folder: Path) -> None:
    strategy = storm(folder, "amax=4", "dmax=3", seed=3)
    head = [line for line in next(strategy.generate(0, 1)).text.splitlines() if line.startswith(";")]
    assert head[0].endswith("seed 3 index 0 strategy storm")
    assert "amax=4" in head[1] and "dmax=3" in head[1]
    assert head[2].split()[2] in SEEDS
    assert re.search(r"instance 0 of pool 0, model \d of (assertions|negation|part|any); pools of", head[4])


def test_seeds_that_give_nothing_are_skipped_and_counted(folder: Path) -> None:
    strategy = storm(folder)
    list(strategy.generate(0, 200))
    assert strategy.counts["seed: cannot be read"] >= 1
    assert strategy.counts["seed: no Boolean subterm with a value"] >= 1
    assert strategy.counts["left out: open or not standard: ^"] >= 1


def test_seeds_none_of_which_gives_anything_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text(SEEDS["nothing.smt2"], "utf-8")
    with pytest.raises(GenerationError, match="storm finds no Boolean subterm"):
        made_of(tmp_path, 1)


def test_it_is_registered_with_its_settings(folder: Path) -> None:
    settings = StrategySettings(seed=5, given=("amax=2", "nc=9", "nm=4", "incremental=0.5"))
    strategy = make_strategy("storm", None, settings, seeds_of_folder(folder))
    assert isinstance(strategy, StormStrategy)
    assert strategy.bounds == Bounds(2, 64, 9, 4)
    texts = [test.text for test in strategy.generate(0, 30)]
    assert all(text.count("(assert ") <= 2 for text in texts)
    assert 5 <= sum("(push " in text or text.count("(check-sat)") > 1 for text in texts) <= 25


def test_nm_tests_come_from_one_construction_pool(folder: Path) -> None:
    texts = [t.text for t in made_of(folder, 25, "nm=10")]
    assert [re.search(r"instance (\d+) of pool (\d+)", t).groups() for t in texts] == [
        (str(i % 10), str(i // 10)) for i in range(25)
    ]


# Pools


def test_the_ranges_go_by_the_size_of_the_initial_pool() -> None:
    bounds = Bounds()
    assert [bounds.constructed(n) for n in (1, 50, 100, 5000)] == [213, 850, 1500, 1500]
    assert [bounds.instances(n) for n in (1, 50, 100, 5000)] == [307, 650, 1000, 1000]
    assert Bounds(nc=7, nm=8).constructed(5000) == 7 and Bounds(nc=7, nm=8).instances(1) == 8


def test_the_initial_pool_holds_subterms_up_to_dmax(process: SolvingProcess) -> None:
    script = script_of(
        """(declare-fun p () Bool)(declare-fun q () Bool)(declare-fun i () Int)
        (assert (and p (or q (not (> i 0))) (> (ite (and p q) 1 i) 0) true))(check-sat)"""
    )
    valuation = value_terms(script, process, cross_check=False)
    depths = {1: {"p", "q", "(> i 0)"}, 2: {"(not (> i 0))", "(and p q)"}}
    depths[3] = {"(or q (not (> i 0)))", "(> (ite (and p q) 1 i) 0)"}
    allowed: set[str] = set()
    for dmax, more in depths.items():
        allowed |= more
        fragments = fragment(script, valuation, dmax, random.Random(1))
        assert {f.text for f in fragments.initial} == allowed
        assert all(f.depth <= dmax for f in fragments.initial)
        assert fragments.left_out["deeper than Dmax"] == 8 - len(allowed)


ATOMS = tuple(Formula(name, value, 1, 1 << i) for i, (name, value) in enumerate([("p", True), ("q", False)]))


@given(st.integers(1, 50), st.integers(1, 12), st.integers(0, 10_000))
def test_constructed_formulas_have_the_value_and_depth_they_say(count: int, dmax: int, seed: int) -> None:
    pool = construct(ATOMS, Bounds(nc=count, dmax=dmax), random.Random(seed).random)
    assert len(pool) == (count if dmax > 1 else 0)
    for formula in pool:
        value, depth, needs = evaluated(formula.text)
        assert (formula.value, formula.depth, formula.needs) == (value, depth, needs)
        assert depth <= dmax


def evaluated(text: str) -> tuple[bool, int, int]:
    """Value, depth and symbols of a formula over ``not``, ``and``, p (true) and q (false), by a stack."""
    stack: list[list[tuple[bool, int, int]]] = [[]]
    heads: list[str] = []
    for token in re.findall(r"[()]|\w+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            args, head = stack.pop(), heads.pop()
            value = not args[0][0] if head == "not" else all(a[0] for a in args)
            needs = 0
            for a in args:
                needs |= a[2]
            stack[-1].append((value, 1 + max(a[1] for a in args), needs))
        elif token in ("not", "and"):
            heads.append(token)
        else:
            stack[-1].append((token == "p", 1, 1 if token == "p" else 2))
    return stack[0][0]


def test_pools_are_drawn_from_three_to_seven() -> None:
    chance = random.Random(1).random
    made = [Formula("c", True, 2, 0)]
    drawn = [draw(ATOMS, made, chance).text for _ in range(4000)]
    assert 0.66 < drawn.count("c") / 4000 < 0.74
    assert {draw(ATOMS, [], chance).text for _ in range(50)} == {"p", "q"}


@given(st.integers(1, 80), st.integers(0, 10_000), st.booleans())
def test_an_instance_declares_what_it_needs_and_keeps_to_amax(
    amax: int, seed: int, incremental: bool
) -> None:
    script = script_of("(declare-fun p () Bool)(declare-fun q () Bool)(assert (or p q))(check-sat)")
    fragments = Fragments(Prelude(script), ATOMS, "any", Counter())
    text, checks = fragments.instance([], amax, incremental, random.Random(seed).random)
    checked = check_script(read_script(text))
    assert checked.is_well_sorted
    assert 1 <= len(checked.assertions) <= amax
    assert checks == text.count("(check-sat)")
    names = {d.name for c in checked.commands for d in c.declarations}
    used = {n for n in "pq" if re.search(rf"\b{n}\b", "".join(text.split("(assert ")[1:]))}
    assert names == used
