"""Walks: every step is what it claims, by a solver's word; what comes out reads back."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from generator.seeds.script import SeedScript
from generator.seeds.source import Seed
from generator.strategies.weaken.actions import Actions
from generator.strategies.weaken.ruleset import RuleSet, default_rules
from generator.strategies.weaken.walk import KEEP, STRENGTHEN, WEAKEN, Walker
from smtlib import Term, check_script, print_term, read_script
from tests.generator.strategies.weaken.proving import ask_z3
from tests.sizes import size

SEEDS = [
    text.strip() + "\n"
    for text in Path(__file__).with_name("seeds.smt2").read_text("utf-8").split(";---\n")
    if text.strip()
]


def script(number: int) -> SeedScript:
    return Seed(f"seed {number}", SEEDS[number]).script()


def walk(walker: Walker, steps: int, direction: int, chance: random.Random) -> list[tuple[str, list[Term]]]:
    assertions = list(walker.script.assertions)
    made = []
    for _ in range(steps):
        step = walker.step(assertions, direction, chance)
        assert step is not None
        assertions, applied = step
        assert applied.applicable > 5
        made.append((applied.rule, assertions))
    return made


def implication(seed: SeedScript, left: list[Term], right: list[Term]) -> str:
    """A script that is unsatisfiable if ``left`` implies ``right``."""
    premises = "".join(f"(assert {print_term(t)})\n" for t in left)
    claim = " ".join(print_term(t) for t in right)
    return f"{seed.prelude_text}{premises}(assert (not (and true {claim})))\n(check-sat)\n"


@pytest.mark.parametrize("direction", [WEAKEN, KEEP, STRENGTHEN])
@pytest.mark.parametrize("number", range(size(4, len(SEEDS))))
@pytest.mark.few(4)
def test_every_step_implies_the_next_or_follows_from_it(number: int, direction: int) -> None:
    seed = script(number)
    walker = Walker(seed)
    chance = random.Random(f"{number}/{direction}")
    undecided = 0
    for _ in range(3):
        before = list(seed.assertions)
        for rule, after in walk(walker, 7, direction, chance):
            ways = [(before, after)] if direction != STRENGTHEN else []
            ways += [(after, before)] if direction != WEAKEN else []
            for left, right in ways:
                said = ask_z3(implication(seed, left, right), 100)
                assert said != "sat", f"{rule}\n{implication(seed, left, right)}"
                undecided += said == "unknown"
            before = after
    assert undecided < 21 * len(ways)


@settings(max_examples=size(20, 40), suppress_health_check=list(HealthCheck))
@given(st.integers(0, len(SEEDS) - 1), st.integers(0, 1 << 30), st.sampled_from([WEAKEN, KEEP, STRENGTHEN]))
def test_a_mutant_reads_back_and_checks(number: int, luck: int, direction: int) -> None:
    seed = script(number)
    walker = Walker(seed)
    for _, assertions in walk(walker, 12, direction, random.Random(luck)):
        text = seed.text(assertions)
    checked = check_script(read_script(text))
    assert not checked.errors
    assert [print_term(t) for t in checked.assertions] == [print_term(t) for t in assertions]


def test_walks_repeat() -> None:
    def made() -> list[str]:
        seed = script(0)
        return [seed.text(a) for _, a in walk(Walker(seed), 15, WEAKEN, random.Random(5))]

    assert made() == made()


def test_mutants_stay_small() -> None:
    seed = script(1)
    walker = Walker(seed)
    last = walk(walker, 80, WEAKEN, random.Random(1))[-1][1]
    assert len(seed.text(last)) < 60_000


def test_of_a_conjunction_of_two_without_one_the_other_stays() -> None:
    text = "(declare-const p Bool)(declare-const q Bool)(assert (and p q))(check-sat)"
    seed = Seed("seed", text).script()
    rewrites = tuple(r for r in default_rules().rewrites if r.rule.name == "drop-conjunct")
    walker = Walker(seed, Actions(RuleSet((), rewrites)))
    step = walker.step(seed.assertions, WEAKEN, random.Random(1))
    assert step is not None
    assert print_term(step[0][0]) in ("p", "q")


def test_no_format_is_made_that_the_formula_lacks() -> None:
    """cvc5 knows Float32 and Float64 only; (fp #b0 u v) of two bytes is neither."""
    seed = script(3)
    assert "FloatingPoint" not in seed.text()
    congruence = tuple(rule for rule in default_rules().rules if rule.name == "congruence")
    walker = Walker(seed, Actions(RuleSet(congruence, ())))
    chance = random.Random(3)
    for _ in range(400):
        step = walker.step(seed.assertions, WEAKEN, chance)
        assert step is not None
        assert "(fp " not in seed.text(step[0])
