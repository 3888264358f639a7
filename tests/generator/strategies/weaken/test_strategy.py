"""The strategy: known answers, parents, settings, the same tests from any start."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from generator import GeneratedTest, GenerationError, StrategySettings, make_strategy, seeds_of_folder
from generator.seeds.source import SeedSource
from generator.strategies.weaken.ruleset import default_rules
from generator.strategies.weaken.strategy import SETTINGS, WeakenStrategy
from generator.strategies.weaken.walk import Walker
from smtlib import check_script, read_script
from tests.generator.small import known_answers
from tests.generator.strategies.weaken.proving import ask_z3
from tests.generator.strategies.weaken.test_walk import SEEDS

# The seeds of the walks' tests are sat, these are not.
UNSAT = """(declare-fun x () Int)(declare-fun p () Bool)
(assert (and (< x 3) (or p (> x 5))))(assert (not p))(check-sat)"""
STRING_UNSAT = """(declare-fun s () String)
(assert (str.in_re s (re.+ (str.to_re "a"))))(assert (= (str.at s 0) "b"))(check-sat)"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("weaken-seeds")
    for number, text in enumerate(SEEDS):
        (made / f"sat-{number}.smt2").write_text(text)
    (made / "unsat-0.smt2").write_text(UNSAT)
    (made / "unsat-1.smt2").write_text(STRING_UNSAT)
    (made / "unknown.smt2").write_text("(declare-fun q () Bool)(assert q)(check-sat)")
    return made


def source(folder: Path, answers: bool = True) -> SeedSource:
    said = {file.read_text(): file.stem.partition("-")[0] for file in folder.iterdir() if answers}
    return seeds_of_folder(folder, known_answers(said))


def strategy(folder: Path, *given: str, answers: bool = True, seed: int = 1) -> WeakenStrategy:
    made = make_strategy("weaken", None, StrategySettings(seed=seed, given=given), source(folder, answers))
    assert isinstance(made, WeakenStrategy)
    return made


def below_header(test: GeneratedTest) -> str:
    return re.sub(r"(?m)\A(;.*\n)+", "", test.text)


@pytest.fixture(scope="module")
def tests(folder: Path) -> list[GeneratedTest]:
    return list(strategy(folder, "iterations=20", "walk=10").generate(0, 160))


@pytest.mark.thorough
def test_the_answer_is_the_seeds_own(tests: list[GeneratedTest]) -> None:
    for test in tests:
        assert test.known == ("sat",) if "from sat" in test.text else ("unsat",)
        said = ask_z3(below_header(test), 100)
        assert said in (*test.known, "unknown"), test.text
    assert {test.known for test in tests} == {("sat",), ("unsat",)}


def test_each_mutant_names_the_one_before_it(tests: list[GeneratedTest], folder: Path) -> None:
    seeds = source(folder)
    texts = {s.origin: s.script().text() for s in seeds}
    for test in tests:
        assert (test.implied_by is None) is (test.known == ("unsat",))
        assert (test.implies is None) is (test.known == ("sat",))
        parent = test.implied_by or test.implies
        if test.index % 10:
            assert parent == below_header(tests[test.index - 1])
        else:
            (origin,) = re.findall(r"; from (\S+)", test.text)
            assert parent == texts[origin]


def test_the_header_holds_the_whole_chain(tests: list[GeneratedTest]) -> None:
    for test in tests:
        lines = re.findall(r"; (?:weakened|strengthened) by (.*)", test.text)
        assert len(", ".join(lines).split(", ")) == test.index % 10 + 1
        assert "..." not in test.text.split("(set-logic")[0]


def test_mutants_are_well_sorted_and_differ(tests: list[GeneratedTest]) -> None:
    assert all(check_script(read_script(test.text)).is_well_sorted for test in tests)
    assert len({below_header(test) for test in tests}) > 150


def test_tests_are_the_same_from_any_start(tests: list[GeneratedTest], folder: Path) -> None:
    again = list(strategy(folder, "iterations=20", "walk=10").generate(33, 58))
    assert again == tests[33:58]
    other = list(strategy(folder, "iterations=20", "walk=10", seed=2).generate(0, 20))
    assert [t.text for t in other] != [t.text for t in tests[:20]]


@pytest.mark.parametrize(("direction", "known"), [("weaken", ("sat",)), ("strengthen", ("unsat",))])
def test_a_direction_takes_the_seeds_that_fit(folder: Path, direction: str, known: tuple[str]) -> None:
    made = strategy(folder, f"direction={direction}").generate(0, 60)
    assert {test.known for test in made} == {known}


@pytest.mark.thorough
def test_walks_that_keep_answers_take_all_seeds(folder: Path) -> None:
    tests = list(strategy(folder, "direction=keep", "iterations=5").generate(0, 100))
    assert {test.known for test in tests} == {("sat",), ("unsat",), (None,)}
    assert all(bool(test.implies) is (test.known == ("unsat",)) for test in tests)
    assert all(bool(test.implied_by) is not bool(test.implies) for test in tests)
    for test in tests:
        assert test.known[0] is None or ask_z3(test.text, 500) in (test.known[0], "unknown")


def test_what_walks_count_is_kept_of_every_seed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Walker.step

    def counted(self: Walker, *given: Any) -> Any:
        self.counts["steps"] += 1
        return step(self, *given)

    monkeypatch.setattr(Walker, "step", counted)
    made = strategy(folder, "iterations=5")
    assert len(list(made.generate(0, 20))) == made.counts["steps"] == 20


def test_seeds_without_answer_are_skipped_with_a_count(folder: Path) -> None:
    made = strategy(folder)
    assert made.counts["seeds without a known answer"] == 1
    with pytest.raises(GenerationError, match="exhume label"):
        strategy(folder, answers=False)


def test_without_answers_there_are_chains(folder: Path) -> None:
    tests = list(strategy(folder, "unlabelled=chain", "iterations=10", answers=False).generate(0, 40))
    assert {test.known for test in tests} == {(None,)}
    assert all(bool(test.implied_by) is not bool(test.implies) for test in tests)
    assert any(test.implied_by for test in tests) and any(test.implies for test in tests)


def test_rewriting_what_is_ambiguous_forgets_the_answer(folder: Path) -> None:
    tests = list(strategy(folder, "ambiguous=rewrite", "walk=1", "iterations=5").generate(0, 60))
    assert {test.known for test in tests} == {(None,)}
    parents = [t.implied_by or t.implies or "" for t in tests if "from sat-0" in t.text]
    assert parents and not any("xor" in p or "(= a c)" in p for p in parents)


def test_a_direction_without_seeds_is_reported(tmp_path: Path) -> None:
    (tmp_path / "unsat.smt2").write_text(UNSAT)
    with pytest.raises(GenerationError, match=r"known to be sat, and .* has none"):
        strategy(tmp_path, "direction=weaken")


def test_statistics_are_kept(folder: Path) -> None:
    made = strategy(folder, "walk=5")
    list(made.generate(0, 50))
    assert sum(made.applied.values()) == 50
    assert set(made.applicable) == {1, 2, 3, 4, 5}
    assert sum(n for _, n in made.applicable.values()) == 50
    assert all(total > 10 * n for total, n in made.applicable.values())


# The page


PAGE = (Path(__file__).resolve().parents[4] / "docs" / "weaken.md").read_text("utf-8")


def test_the_pages_example_is_what_the_strategy_makes(tmp_path: Path) -> None:
    seed, made = re.findall(r"^```smt2\n(.*?)^```", PAGE, re.M | re.S)
    (tmp_path / "one.smt2").write_text(seed)
    given = ("walk=4", "direction=weaken", "unlabelled=chain")
    (test,) = make_strategy(
        "weaken", None, StrategySettings(seed=2, given=given), seeds_of_folder(tmp_path)
    ).generate(3, 4)
    assert test.text.split("\n", 1)[1] == made


def test_the_page_tells_the_settings_and_counts_the_rules() -> None:
    for setting in SETTINGS:
        default = f"`{setting.default}`" if isinstance(setting.default, str) else setting.default
        assert f"| `{setting.name}` | {default} |" in PAGE
    rules = default_rules()
    laws = sum(len(rule.laws) for rule in rules.rules)
    assert f"{len(rules.rules)} entries give {laws} laws and {len(rules.rewrites)} uses" in PAGE
    for theory, count in Counter(rule.theory for rule in rules.rules).items():
        assert f"| {theory} | {count} |" in PAGE
