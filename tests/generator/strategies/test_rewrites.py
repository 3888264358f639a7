"""The strategy rewrites: left sides of rewrite rules in formulas, with the formula's own terms in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from generator import SeedSource, StrategyInputs, StrategySettings, make_strategy, seeds_of_folder
from generator.errors import GenerationError
from generator.rewriting.instances import printed_rules
from generator.rewriting.rules import read_rules
from generator.rewriting.script import value_text
from generator.strategies.rewrites import Rewrites
from smtlib.semantics import ArrayValue

RULES = read_rules("""
(declare-rule bv-ult-self ((@n0 Int) (x1 (BitVec @n0)))
  :args (x1)
  :conclusion (= (bvult x1 x1) false)
)
(declare-rule bv-shift ((@n0 Int) (x1 (BitVec @n0)) (k1 Int) (n1 Int))
  :premises ((= n1 (@bvsize x1)) (= (< 0 k1) true) (= (< k1 n1) true))
  :args (x1 k1 n1)
  :conclusion (= (bvlshr x1 (@bv k1 n1)) (concat (@bv 0 k1) (extract (- n1 1) k1 x1)))
)
(declare-rule str-len-twice ((@T0 Type) (x1 (Seq @T0)) (ys1 (Seq @T0) :list))
  :args (x1 ys1)
  :conclusion (= (seq.len (seq.++ x1 ys1 x1)) (seq.len (seq.++ x1 x1 ys1)))
)
(declare-rule sets-member ((@T0 Type) (x1 @T0))
  :args (x1)
  :conclusion (= (set.member x1 (set.singleton x1)) true)
)
""")


def from_one(folder: Path, text: str, rule: str, *solvers: str) -> list[str]:
    """Thirty tests of one seed and the rules whose names begin so, without their headers."""
    (folder / "a.smt2").write_text(text + "(check-sat)")
    rules = [found for found in RULES if found.name.startswith(rule)]
    values = {"chain": 1, "mutations": 1}
    given = StrategySettings(solvers=solvers or ("z3", "cvc5"))
    made = Rewrites(StrategyInputs(given, values, None, seeds_of_folder(folder)), rules)
    return [test.text.partition("(set-logic ALL)\n")[2] for test in made.generate(0, 30)]


def test_widths_are_those_of_the_formula(tmp_path: Path) -> None:
    seed = "(declare-const a (_ BitVec 11))(declare-const b (_ BitVec 11))(assert (= a (bvadd b a)))"
    bodies = from_one(tmp_path, seed, "bv-ult")
    assert all(re.search(r"\(bvult (a|b|\(bvadd b a\)) \1\)", body) for body in bodies)


def test_numbers_meet_the_premises(tmp_path: Path) -> None:
    seed = "(declare-const a (_ BitVec 11))(declare-const b (_ BitVec 11))(assert (= a (bvadd b a)))"
    bodies = from_one(tmp_path, seed, "bv-shift")
    shifts = [int(found, 2) for body in bodies for found in re.findall(r"\(bvlshr \S+ #b([01]{11})\)", body)]
    assert len(shifts) > 20
    assert {0 < shift < 11 for shift in shifts} == {True}


def test_lists_hold_terms_of_the_formula_or_values(tmp_path: Path) -> None:
    seed = "(declare-const a String)(declare-const b String)(assert (< (str.len a) (str.len b)))"
    bodies = from_one(tmp_path, seed, "str-len")
    assert any(re.search(r"\(str\.\+\+ (a|b) (a|b) ((a|b) )*\1\)", body) for body in bodies)
    assert any(re.search(r"\(str\.\+\+ (a|b) .*\".*\1\)", body) for body in bodies)


def test_operators_that_a_target_lacks_are_left_out(tmp_path: Path) -> None:
    seed = "(declare-const a Int)(declare-const p Bool)(assert (or p (< a 4)))"
    assert all("set.member" in body for body in from_one(tmp_path, seed, "sets", "cvc5"))
    with pytest.raises(GenerationError, match="rewrites makes no test"):
        from_one(tmp_path, seed, "sets", "z3", "cvc5")


def test_a_solver_that_prints_no_rules_is_one_clear_line(
    monkeypatch: pytest.MonkeyPatch, source: SeedSource
) -> None:
    monkeypatch.setattr("solvers.solver.Solver.printed_rules", lambda self: "no rules")
    printed_rules.cache_clear()
    with pytest.raises(GenerationError, match="prints no rewrite rules"):
        make_strategy("rewrites", None, StrategySettings(), source)
    printed_rules.cache_clear()


def test_the_text_of_a_set_follows_its_elements_alone() -> None:
    one, other = frozenset((0, 8)), frozenset((8, 0))
    assert [*one] != [*other]
    text = "(set.union (set.singleton 0) (set.singleton 8))"
    assert value_text(one, "(Set Int)") == value_text(other, "(Set Int)") == text
    texts = {
        value_text(ArrayValue(0, frozenset(((a, 1), (b, 2)))), "(Array (Set Int) Int)")
        for a, b in ((one, frozenset((5,))), (other, frozenset((5,))))
    }
    assert len(texts) == 1
