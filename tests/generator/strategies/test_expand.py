"""The strategy expand: the right side of a rewrite rule becomes its left side, so that answers stay."""

from __future__ import annotations

import random
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from generator import StrategyInputs, StrategySettings, make_strategy, seeds_of_folder
from generator.rewriting.instances import USUAL_WIDTH, draw_values, printed_rules
from generator.rewriting.rules import Rule, read_rules
from generator.strategies import expand, rewrites
from generator.strategies.expand import Expand
from generator.strategies.rewrites import Rewrites, RuleStrategy
from smtlib import postorder, print_term
from smtlib.commands import print_declaration
from tests.generator.small import formulas, is_shared, known_answers
from tests.generator.strategies.weaken.proving import ask_z3
from tests.sizes import size

RULES = read_rules("""
(declare-rule bv-not-idemp ((@n0 Int) (x1 (BitVec @n0)))
  :args (x1)
  :conclusion (= (bvnot (bvnot x1)) x1)
)
(declare-rule len-rev ((@T0 Type) (x1 (Seq @T0)) (y1 (Seq @T0)))
  :args (x1 y1)
  :conclusion (= (+ (seq.len x1) (seq.len y1)) (seq.len (seq.++ x1 y1)))
)
(declare-rule twice ((x1 Int))
  :args (x1)
  :conclusion (= (* 2 x1) (+ x1 x1))
)
(declare-rule with-premise ((x1 Bool) (y1 Bool))
  :premises ((= x1 y1))
  :args (x1 y1)
  :conclusion (= (and x1 y1) x1)
)
(declare-rule suffix ((@T0 Type) (s1 (Seq @T0)) (t1 (Seq @T0)))
  :args (s1 t1)
  :conclusion (= (seq.suffixof s1 t1) (let ((n (seq.len s1)))
    (= s1 (seq.extract t1 (- (seq.len t1) n) n))))
)
(declare-rule ite-same ((@T0 Type) (c1 Bool) (x1 @T0))
  :args (c1 x1)
  :conclusion (= (ite c1 x1 x1) x1)
)
""")


def from_one(folder: Path, text: str, rule: str) -> list[str]:
    """Thirty tests of one seed and the rules whose names begin so, without their headers."""
    (folder / "a.smt2").write_text(text + "(check-sat)")
    made = made_by([found for found in RULES if found.name.startswith(rule)], folder)
    return [test.text.partition("(set-logic ALL)\n")[2] for test in made.generate(0, 30)]


def made_by(rules: list[Rule], folder: Path) -> Expand:
    return Expand(inputs(folder), rules)


def inputs(folder: Path) -> StrategyInputs:
    values = {"chain": 1, "mutations": 1}
    return StrategyInputs(StrategySettings(), values, None, seeds_of_folder(folder))


@pytest.mark.thorough
def test_the_answer_of_a_seed_stays(tmp_path: Path) -> None:
    texts = {
        text + "(check-sat)": ask_z3(text + "(check-sat)", 500) for text in formulas() if is_shared(text)
    }
    for number, text in enumerate(texts):
        (tmp_path / f"{number:03}.smt2").write_text(text)
    seeds = seeds_of_folder(tmp_path, known_answers(texts))
    given, count = StrategySettings(seed=4), size(60, 150)
    tests = list(make_strategy("expand", None, given, seeds).generate(0, count))
    for test in tests:
        (known,) = test.known
        assert known is None or ask_z3(test.text, 500) in (known, "unknown"), test.text
    assert {test.known for test in tests} >= {("sat",), ("unsat",)}


@pytest.mark.parametrize(("module", "kind"), [(expand, Expand), (rewrites, Rewrites)])
def test_no_instance_is_drawn_before_the_first_test(
    module: ModuleType, kind: type[RuleStrategy], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of all rules take a second, and a hunt makes all its strategies before its first test."""
    drawn: list[Rule] = []

    def note(rule: Rule, width: int, chance: random.Random) -> Any:
        drawn.append(rule)
        return draw_values(rule, width, chance)

    monkeypatch.setattr(module, "draw_values", note)
    (tmp_path / "a.smt2").write_text("(declare-const a Int)(assert (< (+ a a) 4))(check-sat)")
    strategy = kind(inputs(tmp_path), RULES)
    assert strategy.fingerprint and not drawn
    assert list(strategy.generate(0, 1)) and drawn


@pytest.mark.slow
def test_the_sides_of_every_instance_are_equal(tmp_path: Path) -> None:
    """Proved by z3, where it decides it: a rule read backwards has to hold for all terms."""
    (tmp_path / "a.smt2").write_text("(declare-const a Int)(assert (< a 4))(check-sat)")
    rules = [*printed_rules(), *RULES]
    made, proved = made_by(rules, tmp_path), 0
    for rule in rules:
        sides = made.instances.get(rule, USUAL_WIDTH, 0)
        if sides is None:
            continue
        left, right = sides.left.root, sides.right
        symbols = dict.fromkeys(d for term in postorder([left, right]) if (d := term.op.declaration))
        lines = [
            *map(print_declaration, symbols),
            f"(assert (distinct {print_term(left)} {print_term(right)}))",
        ]
        answer = ask_z3("\n".join([*lines, "(check-sat)"]), 300)
        assert answer != "sat", (rule.name, lines)
        proved += answer == "unsat"
    assert proved > 200


def test_widths_are_those_of_the_formula(tmp_path: Path) -> None:
    seed = "(declare-const a (_ BitVec 11))(assert (= a (bvneg a)))"
    bodies = from_one(tmp_path, seed, "bv-not")
    assert all(re.search(r"\(bvnot \(bvnot (a|\(bvneg a\))\)\)", body) for body in bodies)


def test_the_right_side_matches_the_term_that_it_replaces(tmp_path: Path) -> None:
    seed = "(declare-const a String)(declare-const b String)(assert (< 4 (str.len (str.++ b a))))"
    assert set(from_one(tmp_path, seed, "len")) == {
        "(declare-const a String)\n(declare-const b String)\n"
        "(assert (< 4 (+ (str.len b) (str.len a))))\n(check-sat)\n"
    }
    # What occurs twice has to be the same term twice.
    seed = "(declare-const a Int)(declare-const b Int)(assert (< (+ a b) (+ b b)))"
    bodies = from_one(tmp_path, seed, "twice")
    assert all("(assert (< (+ a b) (* 2 b)))" in body for body in bodies)


def test_lets_of_numbers_keep_what_is_open(tmp_path: Path) -> None:
    seed = (
        "(declare-const a String)(declare-const b String)"
        "(assert (= (str.len (str.++ b b a b)) 9))"
        "(assert (or (= (str.len (str.++ a b a)) 7)"
        " (= a (str.substr b (- (str.len b) (str.len a)) (str.len a)))))"
    )
    bodies = from_one(tmp_path, seed, "suffix")
    assert {"(= (str.len (str.++ a b a)) 7) (str.suffixof a b))" in body for body in bodies} == {True}


def test_what_only_the_left_side_has_is_a_term_of_the_formula(tmp_path: Path) -> None:
    seed = "(declare-const a Int)(declare-const p Bool)(assert (or p (= (mod a 3) 1)))"
    bodies = "".join(from_one(tmp_path, seed, "ite"))
    assert re.search(r"\(ite p (\S+|\(mod a 3\)) \1\)", bodies)


def test_premises_about_terms_exclude_a_rule(tmp_path: Path) -> None:
    (tmp_path / "a.smt2").write_text("(declare-const p Bool)(assert p)(check-sat)")
    rules = [rule for rule in RULES if rule.name == "with-premise"]
    made = made_by(rules, tmp_path)
    assert {made.instances.get(rules[0], USUAL_WIDTH, number) for number in range(8)} == {None}
