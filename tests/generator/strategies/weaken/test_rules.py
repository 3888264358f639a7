"""Every rule is proved, and the proof can fail: printed rules that are wrong are refuted."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import z3

from apifuzz.engines.z3.session import set_up_process
from generator.errors import GenerationError
from generator.strategies.weaken.binders import CHANGES
from generator.strategies.weaken.patterns import variables_of
from generator.strategies.weaken.ruleset import Rule, common_theories, default_rules, read_rules, rewrites_of
from smtlib import check_script, read_script
from tests.generator.strategies.weaken.obligations import obligations, premises
from tests.generator.strategies.weaken.proving import answer, ask_z3

RULES = default_rules().rules
THEORIES = list(dict.fromkeys(rule.theory for rule in RULES))

# As the source prints them, and why they do not hold; README.md beside the rules has the form that is used.
WRONG = {
    "30 for =": "(rule w (=> (= x y) (= x (+ y c))) :vars ((x Int) (y Int) (c Int)))",
    "30 for <": "(rule w (=> (< x y) (< x (+ y c))) :vars ((x Int) (y Int) (c Int)))",
    "31 for >=": "(rule w (=> (>= x y) (>= (+ x c) y)) :vars ((x Real) (y Real) (c Real)))",
    "31 for distinct": "(rule w (=> (distinct x y) (distinct (+ x c) y)) :vars ((x Int) (y Int) (c Int)))",
    "32": "(rule w (=> (= x y) (distinct x (str.++ x z))) :vars ((x String) (y String) (z String)))",
    "36-37 one way": "(rule w (=> (str.prefixof x y) (= x y)) :vars ((x String) (y String)))",
    "46 with n = 0": "(rule w (=> r ((_ re.loop 1 0) r)) :vars ((r RegLan)))",
    "47": "(rule w (<=> r (re.opt r)) :vars ((r RegLan)))",
    "48 with another power": "(rule w (=> (re.++ r q) ((_ re.^ 3) (re.union r q)))"
    " :vars ((r RegLan) (q RegLan)))",
    "50 unchecked": "(rule w (=> (re.range a b) (re.range c d)) :vars ((a String const) (b String const)"
    ' (c String const) (d String const)) :bounded ((a "a") (b "c") (c "b") (d "c")))',
    "EQUAL[STRTOINT]": "(rule w (<=> (= x y) (= (str.to_int x) (str.to_int y)))"
    " :vars ((x String) (y String)))",
    "Fig. 5 with <": "(rule w (=> (< x y) (=> (and (>= x 0) (>= y 0)) (str.suffixof"
    " (str.substr s x (str.len s)) (str.substr s y (str.len s))))) :vars ((x Int) (y Int) (s String)))",
    "bv shift": "(rule w (=> (bvult x y) (bvult (bvadd x z) (bvadd y z)))"
    " :vars ((x (_ BitVec n)) (y (_ BitVec n)) (z (_ BitVec n))) :prove ((n 3)))",
    "fp negation": "(rule w (<=> (not (fp.lt x y)) (fp.geq x y))"
    " :vars ((x (_ FloatingPoint e s)) (y (_ FloatingPoint e s))))",
    "condition": "(rule w (=> (< x y) (< x (+ y c))) :if (>= c (- 1)) :vars ((x Int) (y Int) (c Int const)))",
}


def one_rule(text: str) -> Rule:
    (rule,) = read_rules(f"(rules Test {text})", "test", common_theories())
    return rule


@pytest.fixture(autouse=True)
def default_parameters() -> Iterator[None]:
    """API fuzzing sets parameters of z3 for the whole process, and its tests may have run in this one."""
    z3.reset_params()
    yield
    set_up_process.cache_clear()


# Two theories are proved in every run, the others in a thorough one.
PROVED = [
    pytest.param(theory, marks=() if theory in ("Core", "Arithmetic") else pytest.mark.thorough)
    for theory in THEORIES
]


@pytest.mark.parametrize("theory", PROVED)
def test_every_rule_is_proved_for_every_instance(theory: str) -> None:
    failed = []
    for rule in RULES:
        if rule.theory == theory:
            found = [(o.label, answer(o.text)) for o in obligations(rule)]
            assert found, f"{rule.name} has nothing to prove"
            failed += [(label, said) for label, said in found if said != "unsat"]
    assert failed == []


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_a_wrong_rule_is_refuted(text: str) -> None:
    assert "sat" in {answer(o.text) for o in obligations(one_rule(text))}


@pytest.mark.parametrize("theory", THEORIES)
@pytest.mark.few(4)
def test_what_a_law_starts_from_can_be_the_case(theory: str) -> None:
    """An implication from what can never be would be proved, and mean nothing."""
    empty = [
        rule.name
        for rule in RULES
        if rule.theory == theory and rule.laws and rule.name != "nothing"
        if not any(ask_z3(p.text, 2000) == "sat" for p in premises(rule))
    ]
    assert set(empty) <= {"re-none-below"}


def test_there_are_enough_rules_and_each_paper_rule_is_there() -> None:
    assert len(RULES) >= 120
    cited: set[int] = set()
    for rule in RULES:
        for part in re.split(r"[,;]", rule.paper):
            numbers = [int(n) for n in re.findall(r"\d+", part.split("with")[0].split("for")[0])]
            if numbers and "Fig" not in part:
                cited.update(range(numbers[0], numbers[-1] + 1))
    assert set(range(8, 55)) <= cited
    assert {"Core", "Quantifiers", "Arithmetic", "Strings", "RegularExpressions"} < set(THEORIES)
    assert {"BitVectors", "Arrays", "FloatingPoint", "Sequences"} < set(THEORIES)


def test_names_and_functions_of_rules_fit() -> None:
    assert {rule.by for rule in RULES if rule.by} == set(CHANGES)
    assert all(rule.obligation for rule in RULES if rule.by)
    assert all(list(rewrites_of(rule)) for rule in RULES if not rule.by)
    assert all(0 < rule.weight <= 1 for rule in RULES)


def test_obligations_are_well_sorted_and_say_when_they_are_bounded() -> None:
    for rule in RULES[::7]:
        for obligation in obligations(rule):
            checked = check_script(read_script(obligation.text))
            assert checked.is_well_sorted, (obligation.label, checked.errors)
            regular = any("RegLan" in str(v.sort) for law in rule.laws for v in variables_of(law.left))
            assert obligation.is_bounded is bool(rule.bounded or regular), obligation.label


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(rule w (=> (and x) (or y ys)) :vars ((x Bool) (y Bool) (ys Bool *)))", "nothing binds ys"),
        ("(rule w (=> x unknown) :vars ((x Bool)))", "unknown is neither a variable"),
        ("(rule w (= x x) :vars ((x Bool)))", "expected (=> LEFT RIGHT)"),
        ("(rule w (=> x x) :colour red)", "unknown attribute :colour"),
    ],
)
def test_a_mistake_in_a_rule_is_reported(text: str, message: str) -> None:
    with pytest.raises(GenerationError, match=re.escape(message)):
        list(rewrites_of(one_rule(text)))
