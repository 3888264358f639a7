"""The strategy congruence: its answers are right, and its tests are for those who know what they use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from generator import GeneratedTest, SeedSource, StrategySettings, make_strategy
from smtlib import check_script, read_script
from smtlib.horn import read_clauses
from tests.generator.small import seeds_of
from tests.generator.strategies.weaken.proving import ask_cvc5, ask_z3
from tests.sizes import size


def made_of(
    source: SeedSource, count: int, *given: str, seed: int = 1, solvers: tuple[str, ...] = ("z3", "cvc5")
) -> list[GeneratedTest]:
    settings = StrategySettings(seed=seed, given=given, solvers=solvers)
    return list(make_strategy("congruence", None, settings, source).generate(0, count))


def test_no_solver_says_otherwise(source: SeedSource) -> None:
    """The solvers have bugs that this strategy finds: the seed number is one by which they do not show."""
    decided = {"sat": 0, "unsat": 0}
    # In one process z3 knows the recursive functions of earlier scripts.
    for test in (test for test in made_of(source, size(60, 150), seed=11) if "-rec" not in test.text):
        (known,) = test.known
        assert known is not None
        for kind, ask in (("z3", ask_z3), ("cvc5", ask_cvc5)):
            if not test.only or kind in test.only:
                said = ask(test.text, 500)
                assert said not in {"sat": ("unsat",), "unsat": ("sat",)}[known], (kind, test.text)
                decided[known] += said == known
    assert decided["sat"] > size(4, 10)
    assert decided["unsat"] > size(24, 60)


@pytest.mark.thorough
def test_tests_for_one_solver_have_what_only_it_knows(source: SeedSource) -> None:
    tests = made_of(source, 200)
    of = {only: "".join(t.text for t in tests if t.only == only) for only in ((), ("z3",), ("cvc5",))}
    assert "(as const " in of["z3",]
    assert "(set.range " in of["z3",]
    assert "(bag " in of["cvc5",]
    assert "(set.insert " in of["cvc5",]
    assert "(store " in of[()]
    assert not any(word in of[()] for word in ("(set.", "(bag", "(as const "))
    assert all(test.only == () for test in made_of(source, 40, solvers=("z3",)))


def test_the_two_sides_are_one_term_with_two_forms(tmp_path: Path) -> None:
    source = seeds_of(["(declare-const k Int)(declare-const s String)(assert (< k (str.len s)))"], tmp_path)
    ways, answers = set(), set()
    for test in made_of(source, size(80, 200), "different=0"):
        (forms,) = re.findall(r"; forms (.*)", test.text)
        one, _, other = forms.partition(" and ")
        assert one != other
        checked = check_script(read_script(test.text))
        assert checked.errors == []
        if "(declare-fun newp0 (" in test.text:
            assert test.only == ("z3",)
            assert ("(set-logic HORN)" in test.text) == ("(check-sat)" in test.text)
            # Without a logic, z3 has sorts of its own, such as List.
            assert ("(set-logic ALL)" in test.text) == ("(check-sat-using horn)" in test.text)
            ways.add("horn")
            assert read_clauses(checked.assertions, {d for c in checked.commands for d in c.declarations})
        elif "exists" in test.text:
            ways.add("exists")
        elif "forall" in test.text:
            ways.add("forall")
        else:
            ways.add(f"{test.text.count('(declare-const new')} constants")
        answers |= {test.known}
    assert ways == {"horn", "exists", "forall", "0 constants", "1 constants", "2 constants"}
    assert answers == {("sat",), ("unsat",)}


def test_values_that_differ_are_said_to_differ(tmp_path: Path) -> None:
    source = seeds_of(["(declare-const k Int)(declare-const s (Seq Int))(assert (< k 3))"], tmp_path)
    tests = made_of(source, size(40, 80), "different=1")
    assert {test.known for test in tests} == {("sat",), ("unsat",)}
    for test in tests:
        answer = ask_z3(test.text, 500) if test.only != ("cvc5",) else ask_cvc5(test.text, 500)
        assert answer == test.known[0] or answer.startswith("unknown"), test.text
