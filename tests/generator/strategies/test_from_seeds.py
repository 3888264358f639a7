"""What holds of every strategy that makes its tests from seed formulas, a term at a time."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
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
from tests.generator.small import formulas, seeds_of
from tests.generator.strategies.test_typefuzz import is_shared

TestsOf = Callable[..., list[GeneratedTest]]

# Settings with which a test shows much of what its strategy does.
SETTINGS: dict[str, tuple[str, ...]] = {
    "typefuzz": (),
    "opfuzz": (),
    "join": (),
    "transplant": ("foreign=1", "chain=40"),
    "rewrites": ("chain=40",),
    "expand": ("chain=40",),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SeedSource:
    # cvc5 takes the datatype that holds lists of itself only where simplifying takes it away.
    texts = [text for text in formulas() if is_shared(text) and "(kids " not in text]
    return seeds_of(texts, tmp_path_factory.mktemp("seeds"))


@pytest.fixture(scope="module")
def tests_of(library: Library, source: SeedSource) -> TestsOf:
    """Tests of a strategy, which is made once: some draw an instance of each of hundreds of rules first."""

    @cache
    def strategy(name: str, seed: int, *given: str) -> Strategy:
        settings = StrategySettings(seed=seed, given=given)
        return make_strategy(name, library if name == "transplant" else None, settings, source)

    def made(name: str, start: int, stop: int, *given: str, seed: int = 1) -> list[GeneratedTest]:
        return list(strategy(name, seed, *given).generate(start, stop))

    return made


@hypothesis_settings(max_examples=200)
@given(st.sampled_from(sorted(SETTINGS)), st.integers(0, 2), st.integers(0, 2000))
# A term with a variable, itself changed before, that a rule would have put where nothing binds it.
@example("expand", 1, 1998)
def test_a_test_reads_back_and_is_well_sorted(tests_of: TestsOf, name: str, seed: int, index: int) -> None:
    (test,) = tests_of(name, index, index + 1, *SETTINGS[name], seed=seed)
    checked = check_script(read_script(test.text))
    assert checked.errors == []
    assert all(free_variables(term) == [] for term in checked.assertions)
    assert checked.commands[-1].name == "check-sat"


@pytest.mark.parametrize("name", SETTINGS)
def test_both_solvers_take_the_tests(tests_of: TestsOf, name: str) -> None:
    given = ("foreign=1",) if name == "transplant" else ()
    texts = [test.text for test in tests_of(name, 0, 150, *given, seed=5)]
    for solver in ("z3", "cvc5"):
        answers = zip(probe(texts, solver), texts, strict=True)
        assert [(a.message, text) for a, text in answers if a.outcome == "refused"] == [], solver


@pytest.mark.parametrize(("name", "said", "least"), [("rewrites", "left side of", 60), ("expand", "by", 35)])
def test_many_rules_are_used(tests_of: TestsOf, name: str, said: str, least: int) -> None:
    texts = [test.text for test in tests_of(name, 0, 150, seed=5)]
    assert len({rule for text in texts for rule in re.findall(rf"\({said} ([\w-]+)", text)}) > least


@pytest.mark.parametrize("name", SETTINGS)
def test_a_test_alone_is_the_same_as_in_a_range(tests_of: TestsOf, name: str) -> None:
    given = () if name == "join" else ("chain=20",)
    together = tests_of(name, 25, 60, *given)
    assert [tests_of(name, index, index + 1, *given)[0] for index in range(25, 60)] == together
    assert len({test.text.partition("(set-logic")[2] for test in together}) > 25


@pytest.mark.parametrize("name", ["typefuzz", "opfuzz", "transplant"])
def test_processes_make_the_same_files_and_count_together(
    library: Library, source: SeedSource, name: str, tmp_path: Path
) -> None:
    reports = []
    for jobs in (1, 2):
        given = StrategySettings()
        made = make_strategy(name, library if name == "transplant" else None, given, source)
        reports.append(write_batch(made, 600, tmp_path / str(jobs), {}, jobs))
    files = [sorted((tmp_path / jobs).glob("*.smt2")) for jobs in "12"]
    assert [f.read_bytes() for f in files[0]] == [f.read_bytes() for f in files[1]]
    assert reports[0].distinct == reports[1].distinct > 450
    assert all(report.counts[MUTATIONS] >= 600 for report in reports)
