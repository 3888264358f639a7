"""What holds of every strategy that makes its tests from seed formulas, a term at a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from corpus.acceptance import probe
from generator import Library, SeedSource, StrategySettings, make_strategy, write_batch
from generator.strategies.mutation.strategy import MUTATIONS
from generator.strategy import GeneratedTest, Strategy
from smtlib import check_script, free_variables, read_script
from smtlib.scanner import CHECKS
from tests.generator.small import seeds_of
from tests.generator.strategies.test_theorems import answered_seeds
from tests.generator.test_loading import REFUSED_LATE
from tests.sizes import size

TestsOf = Callable[..., list[GeneratedTest]]

# Strategies, the settings to try and the most seed numbers: rules are drawn for each.
CASES: list[tuple[str, tuple[str, ...], int]] = [
    ("congruence", (), 100_000),
    ("typefuzz", (), 100_000),
    ("opfuzz", (), 100_000),
    ("join", (), 100_000),
    ("transplant", ("foreign=0", "chain=40"), 100_000),
    ("transplant", ("foreign=1", "chain=40"), 100_000),
    ("rewrites", ("chain=40",), size(1, 2)),
    ("expand", ("chain=40",), size(1, 2)),
    ("theorems", ("chain=40",), 100_000),
]


@pytest.fixture(scope="module")
def sources(source: SeedSource, tmp_path_factory: pytest.TempPathFactory) -> dict[str, SeedSource]:
    """The seed formulas of each strategy."""
    answered = answered_seeds(tmp_path_factory.mktemp("seeds"))
    return dict.fromkeys([name for name, *_ in CASES], source) | {"theorems": answered}


@pytest.fixture(scope="module")
def tests_of(library: Library, sources: dict[str, SeedSource]) -> TestsOf:
    """Tests of a strategy, which is made once: some draw an instance of each of hundreds of rules first."""

    @lru_cache(maxsize=8)
    def strategy(name: str, seed: int, *given: str) -> Strategy:
        settings = StrategySettings(seed=seed, given=given)
        return make_strategy(name, library if name == "transplant" else None, settings, sources[name])

    def made(name: str, start: int, stop: int, *given: str, seed: int = 1) -> list[GeneratedTest]:
        return list(strategy(name, seed, *given).generate(start, stop))

    return made


@pytest.mark.parametrize(("name", "given_settings", "most"), CASES)
@hypothesis_settings(max_examples=size(25, 60))
@given(st.integers(0, 100_000), st.integers(0, 2000))
# With expand, a changed term with a variable was put where nothing binds it.
@example(1, 1998)
@pytest.mark.few(4)
def test_a_test_reads_back_and_is_well_sorted(
    tests_of: TestsOf, name: str, given_settings: tuple[str, ...], most: int, seed: int, index: int
) -> None:
    (test,) = tests_of(name, index, index + 1, *given_settings, seed=seed % (most + 1))
    checked = check_script(read_script(test.text))
    assert checked.errors == []
    assert all(free_variables(term) == [] for term in checked.assertions)
    assert checked.commands[-1].name in CHECKS


@pytest.mark.parametrize(
    ("name", "given_settings"),
    [
        ("congruence", ()),
        ("typefuzz", ()),
        ("opfuzz", ()),
        ("join", ()),
        ("transplant", ("foreign=0.1",)),
        ("transplant", ("foreign=1",)),
        ("rewrites", ()),
        ("expand", ()),
        ("theorems", ()),
    ],
)
@pytest.mark.few(4)
def test_both_solvers_take_the_tests(tests_of: TestsOf, name: str, given_settings: tuple[str, ...]) -> None:
    tests = tests_of(name, 0, size(30, 150), *given_settings, seed=5)
    for solver in ("z3", "cvc5"):
        texts = [test.text for test in tests if not test.only or solver in test.only]
        answers = zip(probe(texts, solver), texts, strict=True)
        assert [(a.message, text) for a, text in answers if a.outcome == "refused"] == [], solver


@pytest.mark.parametrize(
    ("name", "given_settings"),
    [
        *[(name, ()) for name in ("eliminate", "horn", "join", "opfuzz", "storm", "typefuzz")],
        ("weaken", ("unlabelled=chain",)),
    ],
)
@pytest.mark.few(5)
def test_what_cvc5_refuses_late_comes_into_no_test(
    name: str, given_settings: tuple[str, ...], tmp_path: Path
) -> None:
    hidden = [
        f"{declarations}(declare-const n Int)(assert (or (> n 3) (not (> n 3)) {term}))"
        for declarations, term, refusing in REFUSED_LATE
        if "cvc5" in refusing
    ]
    plain = "(declare-const n Int)(declare-const k Int)(assert (or (> n 3) (= n k)))(assert (< k 7))"
    seeds = seeds_of([*hidden, plain, plain.replace("7", "9")], tmp_path)
    made = make_strategy(name, None, StrategySettings(seed=1, given=given_settings), seeds)
    texts = [t.text for t in made.generate(0, 40) if not t.only]
    answers = zip(probe(texts, "cvc5"), texts, strict=True)
    assert [(a.message, text) for a, text in answers if a.outcome == "refused"] == []


@pytest.mark.parametrize(("name", "said", "least"), [("rewrites", "left side of", 60), ("expand", "by", 35)])
def test_many_rules_are_used(tests_of: TestsOf, name: str, said: str, least: int) -> None:
    texts = [test.text for test in tests_of(name, 0, 150, seed=5)]
    assert len({rule for text in texts for rule in re.findall(rf"\({said} ([\w-]+)", text)}) > least


@pytest.mark.parametrize("name", ["typefuzz", "opfuzz", "transplant", "rewrites", "expand", "theorems"])
@pytest.mark.few(3)
def test_a_test_alone_is_the_same_as_in_a_range(tests_of: TestsOf, name: str) -> None:
    numbers = range(32, 32 + size(15, 45))  # a chain ends at 40
    together = tests_of(name, numbers.start, numbers.stop, "chain=20")
    assert [tests_of(name, index, index + 1, "chain=20")[0] for index in numbers] == together


def test_a_joined_test_alone_is_the_same_as_in_a_range(tests_of: TestsOf) -> None:
    together = tests_of("join", 12, 30)
    assert [tests_of("join", index, index + 1)[0] for index in range(12, 30)] == together
    assert len({test.text.partition("(set-logic")[2] for test in together}) == len(together)


@pytest.mark.parametrize(
    ("name", "count", "least"),
    [("typefuzz", 600, 500), ("opfuzz", 600, 500), ("transplant", 300, 250), ("theorems", 300, 250)],
)
@pytest.mark.few(1)
def test_processes_make_the_same_files_and_count_together(
    library: Library, sources: dict[str, SeedSource], name: str, count: int, least: int, tmp_path: Path
) -> None:
    reports = []
    for jobs in (1, 2):
        given = StrategySettings()
        made = make_strategy(name, library if name == "transplant" else None, given, sources[name])
        reports.append(write_batch(made, count, tmp_path / str(jobs), {}, jobs))
    files = [sorted((tmp_path / jobs).glob("*.smt2")) for jobs in "12"]
    assert [f.read_bytes() for f in files[0]] == [f.read_bytes() for f in files[1]]
    assert reports[0].distinct == reports[1].distinct > least
    assert all(report.counts[MUTATIONS] >= count for report in reports)
