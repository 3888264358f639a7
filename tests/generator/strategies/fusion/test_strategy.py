"""Semantic fusion: the answer is the seeds' own; names never clash and no binder catches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import generator.seeds.pairs as pairs_module
from generator import GeneratedTest, GenerationError, StrategySettings, make_strategy, seeds_of_folder
from generator.scopes import Endings, Prelude, free_ending, names_of
from generator.seeds.halves import Half
from generator.seeds.source import Seed, SeedSource, _CheckedSeeds
from generator.strategies.fusion.functions import Template
from generator.strategies.fusion.strategy import FusionStrategy
from smtlib import check_script, free_variables, print_term, read_script
from solvers.registry import REFERENCES
from tests.generator.small import known_answers, script_of
from tests.generator.strategies.weaken.proving import answer, ask_z3

# Both of each pair use the same names for other things.
SEEDS: dict[str, tuple[str, str]] = {
    "sat-int.smt2": (
        "sat",
        """(declare-fun x () Int)(declare-fun y () Int)(define-fun big ((n Int)) Bool (> n y))
        (assert (and (big x) (> y 3)))(assert (forall ((z Int)) (=> (> z x) (> z y))))(check-sat)""",
    ),
    "sat-sorts.smt2": (
        "sat",
        """(declare-sort S 0)(declare-fun x () S)(declare-fun y () S)
        (declare-fun big (S) Int)(declare-fun v () Int)
        (declare-datatypes ((T 1)) ((par (X) ((none) (some (get X))))))(declare-fun o () (T S))
        (assert (distinct x y))(assert (= (big x) v))(assert (= o ((as some (T S)) x)))
        (assert (not (= o (as none (T S)))))(assert ((_ is some) o))(check-sat)""",
    ),
    "sat-strings.smt2": (
        "sat",
        """(declare-fun |x y| () String)(declare-fun p () Bool)(declare-fun n () Int)
        (assert (or p (= |x y| "ab")))(assert (> (str.len |x y|) n 1))
        (assert (! (exists ((y String)) (= (str.++ y "b") |x y|)) :named hint))(check-sat)""",
    ),
    "sat-zero.smt2": (
        "sat",
        "(declare-fun x () Int)(assert (= (div 1 x) 1))(assert (= x 0))(check-sat)",
    ),
    "sat-zero-too.smt2": (
        "sat",
        "(declare-fun x () Int)(assert (= (div 1 x) 2))(assert (= x 0))(check-sat)",
    ),
    "unsat-int.smt2": (
        "unsat",
        "(declare-fun x () Int)(declare-fun z0 () Int)(assert (> x z0))(assert (< x z0))(check-sat)",
    ),
    "unsat-bv.smt2": (
        "unsat",
        """(declare-fun x () (_ BitVec 8))(declare-fun y () (_ BitVec 8))
        (assert (bvult x y))(assert (bvugt x y))(check-sat)""",
    ),
    "unsat-bv-too.smt2": (
        "unsat",
        """(declare-fun x () (_ BitVec 8))(declare-fun y () (_ BitVec 4))(declare-fun b () Bool)
        (assert (and b (= x #x01)))(assert (= x (concat y #x2)))(check-sat)""",
    ),
    "unsat-real.smt2": (
        "unsat",
        "(declare-fun r () Real)(declare-fun k () Int)(assert (< (* r r) 0.0))(assert (> k 0))(check-sat)",
    ),
    "sat-plain.smt2": ("sat", "(declare-fun f (Int) Bool)(assert (f 1))(check-sat)"),
}


def write_seeds(folder: Path, names: list[str]) -> SeedSource:
    said: dict[str, str | None] = {}
    for name in names:
        answer, text = SEEDS[name]
        (folder / name).write_text(text, "utf-8")
        said[text] = answer
    return seeds_of_folder(folder, known_answers(said))


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> SeedSource:
    return write_seeds(tmp_path_factory.mktemp("seeds"), list(SEEDS))


def fusion(
    seeds: SeedSource, *given: str, seed: int = 1, solvers: tuple[str, ...] = REFERENCES
) -> FusionStrategy:
    made = make_strategy("fusion", None, StrategySettings(seed=seed, given=given, solvers=solvers), seeds)
    assert isinstance(made, FusionStrategy)
    return made


@pytest.fixture(scope="module")
def made(seeds: SeedSource) -> list[GeneratedTest]:
    return list(fusion(seeds, "pairs=3").generate(0, 150))


def test_no_known_answer_is_wrong(made: list[GeneratedTest]) -> None:
    decided = 0
    for test in made:
        said = ask_z3(test.text, 2000)
        assert said in (test.known[0], "unknown"), test.text
        decided += said != "unknown"
    assert decided > 0.8 * len(made)


def test_both_answers_occur(made: list[GeneratedTest]) -> None:
    known = [t.known for t in made]
    assert known.count(("sat",)) > 30 and known.count(("unsat",)) > 30


def test_every_test_is_well_sorted(made: list[GeneratedTest]) -> None:
    for test in made:
        checked = check_script(read_script(test.text))
        assert checked.is_well_sorted, (checked.errors[0], test.text)


def test_no_binder_has_the_name_of_a_symbol(made: list[GeneratedTest]) -> None:
    """So none can catch a variable of the other formula."""
    bound = 0
    for test in made:
        script = script_of(test.text)
        symbols = {d.name for d in script.declarations}
        names = set(re.findall(r"\((?:forall|exists) \(\((\S+) ", test.text))
        assert names.isdisjoint(symbols)
        assert not any(free_variables(a) for a in script.assertions)
        bound += bool(names)
    assert bound > 10


def test_the_new_variable_ties_the_two_formulas(made: list[GeneratedTest]) -> None:
    for test in made:
        commands = test.text.split("(set-logic ALL)\n")[1]
        assert "(declare-fun z0" in commands
        assert re.search(r"[( ]z0_*[) ]", commands.split("(assert ", 1)[1])
    functions = {f for t in made for f in re.findall(r"is ([a-z]+-[a-z-]+) of", t.text)}
    assert len(functions) > 12, functions


def test_unsatisfiable_ones_are_one_disjunction_with_its_ties(made: list[GeneratedTest]) -> None:
    for test in made:
        asserted = [line for line in test.text.splitlines() if line.startswith("(assert ")]
        if test.known == ("unsat",):
            assert asserted[0].startswith("(assert (or ")
            assert all(line.startswith("(assert (= ") for line in asserted[1:]) and asserted[1:]
        else:
            assert not any(line.startswith("(assert (= z0 ") for line in asserted)


def test_the_header_tells_seeds_functions_and_answer(made: list[GeneratedTest]) -> None:
    head = [line for line in made[0].text.splitlines() if line.startswith(";")]
    assert head[0].endswith("index 0 strategy fusion") and "pairs=3" in head[1]
    first, second = re.fullmatch(r"; from (\S+) and (\S+)", head[2]).groups()  # type: ignore[union-attr]
    assert SEEDS[first][0] == SEEDS[second][0] == made[0].known[0]
    assert re.match(r"; (sat|unsat): z0_* is [a-z-]+ of ", head[4])


def test_the_same_seed_gives_the_same_tests_wherever_one_begins(
    seeds: SeedSource, made: list[GeneratedTest]
) -> None:
    again = fusion(seeds, "pairs=3")
    assert [t for i in (149, 3, 77) for t in again.generate(i, i + 1)] == [made[i] for i in (149, 3, 77)]
    assert made != list(fusion(seeds, "pairs=3", seed=2).generate(0, 150))
    assert len({t.text.split("(set-logic ALL)")[1] for t in made}) > 0.9 * len(made)


def test_satisfiable_seeds_that_want_zero_divided_differently_are_not_joined(tmp_path: Path) -> None:
    seeds = write_seeds(tmp_path, ["sat-zero.smt2", "sat-zero-too.smt2"])
    strategy = fusion(seeds)
    with pytest.raises(GenerationError, match="makes no test from"):
        list(strategy.generate(0, 1))
    assert set(strategy.counts) == {"pair: both may want what the standard leaves open"}


def test_seeds_without_variables_are_counted(tmp_path: Path) -> None:
    strategy = fusion(write_seeds(tmp_path, ["sat-plain.smt2"]))
    with pytest.raises(GenerationError, match="makes no test from"):
        list(strategy.generate(0, 1))
    assert set(strategy.counts) == {"seed: no variables"}


def test_one_answer_can_be_requested(seeds: SeedSource) -> None:
    for requested in ("sat", "unsat"):
        settings = StrategySettings(seed=2, given=(f"answer={requested}", "pairs=1"))
        strategy = make_strategy("fusion", None, settings, seeds)
        assert {t.known for t in strategy.generate(0, 20)} == {(requested,)}


def test_an_answer_that_no_seed_has_is_refused(tmp_path: Path) -> None:
    seeds = write_seeds(tmp_path, ["sat-int.smt2"])
    with pytest.raises(GenerationError, match=r"known to be unsat, and .* has none: run 'exhume label'"):
        fusion(seeds, "answer=unsat")


def test_seeds_without_answers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text(SEEDS["sat-int.smt2"][1], "utf-8")
    with pytest.raises(GenerationError, match="exhume label"):
        make_strategy("fusion", None, StrategySettings(), seeds_of_folder(tmp_path))


# Names


def test_an_ending_changes_every_name_and_no_meaning() -> None:
    for said, text in SEEDS.values():
        script = script_of(text)
        naming = Endings(script, "_2")
        prelude = Prelude(script, naming)
        shown = [f"(assert {print_term(a, naming)})" for a in script.assertions]
        renamed = f"(set-logic ALL)\n{prelude.text(prelude.everything)}{''.join(shown)}(check-sat)"
        again = script_of(renamed)
        assert names_of(again) == {naming.symbol(n) for n in names_of(script)}
        assert all(n.rstrip("|").endswith("_2") for n in names_of(again))
        assert answer(renamed) == said, renamed


@pytest.mark.parametrize(
    "text",
    [
        "(declare-fun f (Int) Int)(assert (forall ((x Int)) (! (> (f x) x) :no-pattern (f x) :qid q)))",
        "(declare-sort U 0)(assert (_ fmf.card U 3))",
    ],
)
def test_an_ending_changes_names_in_attributes_and_indices(text: str) -> None:
    script = script_of(text + "(check-sat)")
    (term,) = script.assertions
    naming = Endings(script, "_2")
    prelude = Prelude(script, naming)
    renamed = f"{prelude.text(prelude.needs([term])[term])}(assert {print_term(term, naming)})(check-sat)"
    again = script_of(renamed)
    assert print_term(again.assertions[0]) == print_term(term, naming) != print_term(term)


def test_a_free_ending_is_one_that_no_name_has() -> None:
    assert free_ending(["x", "y"]) == "_2"
    assert free_ending(["x_2", "|a b_22|"]) == "_222"


def test_declarations_are_had_in_part() -> None:
    script = script_of(SEEDS["sat-sorts.smt2"][1])
    prelude = Prelude(script)
    for root, needs in prelude.needs(script.assertions).items():
        if root in script.assertions:
            text = f"{prelude.text(needs)}(assert {print_term(root)})"
            checked = check_script(read_script(text))
            assert checked.is_well_sorted, text
            assert len(checked.commands) <= 5


def test_a_template_takes_other_names() -> None:
    text = "(declare-fun x () Int)(declare-fun y () Int)(assert (= (mod (+ x 1) 3) ((_ iand 4) x y)))"
    template = Template(check_script(read_script(text)).assertions[0])
    shown = template.text({"x": "|a b|", "y": "y_2"})
    assert shown == "(= (mod (+ |a b| 1) 3) ((_ iand 4) |a b| y_2))"


def test_variables_are_found_in_the_text_and_patterns_stay() -> None:
    text = """(declare-fun $ () Int)(declare-fun c () Int)(declare-fun f (Int Int) Int)
    (assert (forall ((y Int)) (! (= (f y c) (+ $ (f y c) y)) :pattern ((f y c)))))
    (assert (> (+ $ $ c) (* $ (+ $ $ c) (+ $ $ c))))(check-sat)"""
    half = Half.of(Seed("a", text, "sat"), "_2")
    assert {d.name: len(places) for d, places in half.occurrences.items()} == {"$": 8, "c": 3}
    assert half.names == {"$_2", "c_2", "f_2", "y_2"}
    for variable, places in half.occurrences.items():
        for place in places:
            new = half.replaced({place: "77"})
            assert "".join(new).count("77") == 1
            checked = check_script(read_script(half.declared + "".join(f"(assert {line})" for line in new)))
            assert checked.is_well_sorted, (variable, new)
    assert ":pattern ((f_2 y_2 c_2))" in half.replaced(dict.fromkeys(half.occurrences[variable], "5"))[0]


def test_every_pair_has_its_turn_before_one_comes_again(seeds: SeedSource) -> None:
    strategy = fusion(seeds, "answer=unsat", seed=3)
    count = seeds.count("unsat")
    pairs = [tuple(s.origin for s in strategy._pair("unsat", turn)) for turn in range(count * count)]
    assert len(set(pairs)) == count * count


def test_large_formulas_are_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "MAX_TERMS", 8)
    # Of a seed that was checked before it is known already.
    monkeypatch.setattr("generator.seeds.source._checked", _CheckedSeeds())
    strategy = fusion(write_seeds(tmp_path, ["unsat-int.smt2", "unsat-bv-too.smt2"]))
    assert {t.text.count("unsat-bv-too") for t in strategy.generate(0, 20)} == {0}
    assert strategy.counts["seed: too large to join"] > 0


def test_what_a_target_solver_refuses_is_skipped(tmp_path: Path) -> None:
    text = """(declare-fun s () String)(declare-fun p () Bool)
    (assert (str.in_re s (re.range (str.at s 0) "z")))(assert p)(check-sat)"""
    (tmp_path / "a.smt2").write_text(text, "utf-8")
    seeds = seeds_of_folder(tmp_path, known_answers({text: "sat"}))
    with pytest.raises(GenerationError, match="makes no test from"):
        list(fusion(seeds).generate(0, 1))
    assert len(list(fusion(seeds, solvers=("z3",)).generate(0, 5))) == 5
