"""Tests for one solver alone: what they are made from, which tests of a strategy, who runs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from corpus.store import Corpus
from difftest import HuntOptions, Stage, find_solver, hunt
from difftest.campaign.turns import SHARE, Turns
from generator import GeneratedTest, Strategy, StrategySettings, seeds_of_folder
from generator.alone import BLOCK, EVERY, WithAlone, with_alone
from generator.build import Sources, build_strategy
from generator.errors import GenerationError
from generator.strategy import ClassedStrategy
from tests.difftest.hunts import summary_of
from tests.generator.small import make_corpus

FORMULAS = (
    "(declare-const x Int)(declare-const y Int)(assert (< x (* 2 y)))",
    "(declare-const x Int)(assert (or (> x 3) (= (mod x 2) 0)))",
    "(declare-const b (Bag Int))(declare-const c (Bag Int))(assert (= b (bag.union_max c (bag 1 2))))",
    "(declare-const x Int)(declare-const y Int)(assert ((_ partial-order 0) x y))",
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    return make_corpus(folder / "formulas", folder / "corpus.duckdb", FORMULAS)


def built(corpus: Path, name: str, solvers: Sequence[str] = ("z3", "cvc5"), alone: bool = True) -> Strategy:
    return build_strategy(name, Sources(corpus), StrategySettings(solvers=tuple(solvers), alone=alone))


@pytest.mark.thorough
def test_strategies_over_the_same_sources_share_what_is_read_of_the_corpus(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("skeletons", "opfuzz", "transplant", "typefuzz")
    settings = StrategySettings(solvers=("z3", "cvc5"), alone=True)
    apart = [list(built(corpus, name).generate(0, BLOCK)) for name in names]
    opened = []
    monkeypatch.setattr(Corpus, "open", partial(note_and_open, Corpus.open, opened))
    sources = Sources(corpus)
    together = [build_strategy(name, sources, settings) for name in names]
    # Seeds and library, for both solvers, and for each of them alone.
    assert len(opened) == 6
    assert [list(strategy.generate(0, BLOCK)) for strategy in together] == apart
    assert (
        build_strategy("opfuzz", replace(sources, prefer=len), settings).fingerprint
        != together[1].fingerprint
    )


def note_and_open(opening: Any, opened: list[Path], path: Path, **named: Any) -> Any:
    opened.append(path)
    return opening(path, **named)


@pytest.mark.parametrize("name", ["congruence", "expand", "join", "opfuzz", "rewrites", "typefuzz"])
@pytest.mark.few(2)
def test_operators_without_arguments_are_no_obstacle(name: str, tmp_path: Path) -> None:
    """z3 takes them."""
    texts = [
        f"(declare-const p Bool)(assert (or p {op}))(assert {op})(check-sat)"
        for op in ("distinct", "and", "xor", "(distinct)")
    ]
    corpus = make_corpus(tmp_path / "formulas", tmp_path / "corpus.duckdb", (*FORMULAS, *texts))
    strategy = built(corpus, name)
    assert isinstance(strategy, WithAlone)
    places = [n for n in range(0, 40 * BLOCK * EVERY, BLOCK) if strategy.kind_of(n) == "z3"][:4]
    tests = [test for place in places for test in strategy.generate(place, place + BLOCK)]
    assert any("distinct" in test.text or "xor" in test.text for test in tests)


def test_an_error_of_shared_sources_is_raised_for_each_strategy(tmp_path: Path) -> None:
    sources = Sources(seeds=str(tmp_path))
    for name in ("opfuzz", "typefuzz"):
        with pytest.raises(GenerationError, match="no seeds"):
            build_strategy(name, sources, StrategySettings())


def test_copied_seeds_note_for_themselves_what_they_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text("(assert true)(check-sat)")
    seeds = seeds_of_folder(tmp_path)
    copied = seeds.copy()
    copied.skipped["a"] = "no reason"
    assert (seeds.skipped, copied.fingerprint) == ({}, seeds.fingerprint)


@pytest.mark.parametrize("name", ["skeletons", "opfuzz"])
def test_what_one_solver_knows_is_in_tests_for_it_alone(corpus: Path, name: str) -> None:
    made = built(corpus, name)
    tests = list(made.generate(0, 2 * BLOCK * EVERY))
    assert [test.index for test in tests] == list(range(2 * BLOCK * EVERY))
    words = {("cvc5",): "bag", ("z3",): "-order"}
    for only, word in words.items():
        some = [test.text for test in tests if test.only == only]
        assert len(some) == BLOCK
        assert any(word in text for text in some)
    shared = [test.text for test in tests if not test.only]
    assert not any("bag" in text for text in shared)
    plain = list(built(corpus, name, alone=False).generate(0, BLOCK))
    assert plain == tests[:BLOCK]
    assert list(made.generate(60, 66)) == tests[60:66]


def test_one_kind_of_solver_has_no_tests_for_it_alone(corpus: Path) -> None:
    assert not isinstance(built(corpus, "skeletons", ["z3", "z3[smt.arith.solver=2]"]), WithAlone)
    assert not isinstance(built(corpus, "enumerate"), WithAlone)


def test_where_a_solver_alone_gives_nothing_the_tests_are_for_all() -> None:
    """It shows only when a test is made: that must not end a hunt."""

    class Plain:
        name, fingerprint = "plain", "none"

        def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
            return (GeneratedTest(index, "(check-sat)", self.name) for index in range(start, stop))

    class Nothing(Plain):
        def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
            for test in super().generate(start, stop):
                if test.index % BLOCK == BLOCK - 1:
                    raise GenerationError("nothing can be used")
                yield test

    made = with_alone(Plain(), {"z3": Nothing(), "cvc5": Plain()})
    tests = list(made.generate(0, 2 * BLOCK * EVERY))
    assert [test.index for test in tests] == list(range(2 * BLOCK * EVERY))
    assert [test.index for test in tests if test.only] == list(range(len(tests) - BLOCK, len(tests)))
    assert {test.only for test in tests} == {(), ("cvc5",)}
    # The same whichever part of a block is requested.
    assert [test for index in range(len(tests)) for test in made.generate(index, index + 1)] == tests


def test_tests_for_a_solver_alone_are_a_class(corpus: Path) -> None:
    made = built(corpus, "skeletons")
    assert isinstance(made, ClassedStrategy)
    assert set(made.classes) >= {"only z3", "only cvc5", "Ints"}
    for test in made.generate(0, 2 * BLOCK * EVERY):
        assert made.class_of(test.index).startswith("only ") == bool(test.only)
    assert isinstance(with_alone(made, {}), ClassedStrategy)


def test_only_this_solver_runs_it_and_a_relation_looks(tmp_path: Path) -> None:
    text = "(declare-const x Int)(assert (< x 3))(check-sat)"
    test = GeneratedTest(0, text, "by-hand", only=("z3",))
    solvers = [find_solver("z3"), find_solver("cvc5")]
    options = HuntOptions(tmp_path, stages=(Stage(5.0, 1.0),), in_turn=True, oracles=("-proofs",))
    summary = summary_of(hunt([test], solvers, options))
    assert set(summary.outcomes) == {"z3"} or not summary.outcomes["cvc5"]
    assert any(kind.startswith("relation ") for kind in summary.statistics)


def test_a_test_that_needs_an_oracle_gets_it_besides_the_share() -> None:
    turns = Turns(["cube", "optimum"], 0, {"z3": ["optimum"]})
    choose = turns.needs().choose
    assert choose(GeneratedTest(0, "", "", judged_by="optimum")) == "optimum"
    assert choose(GeneratedTest(0, "", "", judged_by="other")) == ""
    assert choose(GeneratedTest(0, "", "", only=("z3",))) == "optimum"
    assert choose(GeneratedTest(0, "", "", only=("cvc5",))) == ""
    assert choose(GeneratedTest(0, "", "")) == ""
    turns.pay("optimum", 5.0, 0, is_needed=True)
    assert turns.draw(0.0) == "cube"
    turns.pay("cube", 5.0, 0)
    assert turns.draw(4.9 / SHARE) == ""
    assert turns.draw(5.1 / SHARE)
