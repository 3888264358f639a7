"""The audit of rewrite rules: wrong ones are refuted by a small instance, right ones are not."""

from __future__ import annotations

import time
from random import Random

import pytest

from difftest import find_solver
from difftest.audit import RuleAudit, Settings, audit
from generator.errors import GenerationError
from generator.rewriting.draw import Drawing
from generator.rewriting.rules import read_rules, select_rules
from generator.rewriting.script import instance_text
from smtlib.semantics import Bits
from solvers.errors import UnknownSolver
from solvers.running.runner import Runner

SETTINGS = Settings(instances=100, solver_seconds=10.0)

RULES = """
a line before the rules
(declare-rule bv-right ((@n0 Int) (@n1 Int) (x1 (BitVec @n0)) (y1 (BitVec @n1)))
  :args (x1 y1)
  :conclusion (= (bvsub x1 y1) (bvadd x1 (bvneg y1)))
)
(declare-rule bv-conditional ((@n0 Int) (x1 (BitVec @n0)) (k1 Int) (n1 Int))
  :premises ((= (< k1 n1) true) (= n1 (@bvsize x1)))
  :args (x1 k1 n1)
  :conclusion (= (bvlshr x1 (@bv k1 n1)) (concat (@bv 0 k1) (extract (- n1 1) k1 x1)))
)
(declare-rule str-wrong ((@T0 Type) (@T1 Type) (s1 (Seq @T0)) (t1 (Seq @T1) :list))
  :args (s1 t1)
  :conclusion (= (seq.indexof (seq.++ s1 t1) s1 1) 0)
)
(declare-rule bool-list ((xs1 Bool :list) (w1 Bool))
  :args (xs1 w1)
  :conclusion (= (or xs1 w1 (not w1)) true)
)
(declare-rule bv-never ((@n0 Int) (x1 (BitVec @n0)))
  :args (x1)
  :conclusion (= (concat x1 x1) x1)
)
(declare-rule bv-unknown ((@n0 Int) (x1 (BitVec @n0)))
  :args (x1)
  :conclusion (= (bvfrobnicate x1) x1)
)
(declare-rule re-right ((x1 RegLan))
  :args (x1)
  :conclusion (= (re.* (re.* x1)) (re.* x1))
)
(declare-rule re-wrong ((x1 RegLan) (y1 RegLan))
  :args (x1 y1)
  :conclusion (= (re.++ x1 y1) (re.++ y1 x1))
)
unsat
"""


@pytest.fixture(scope="module")
def audited() -> dict[str, RuleAudit]:
    own, others = find_solver("cvc5"), [find_solver("z3")]
    with Runner() as runner:
        rows = list(audit(read_rules(RULES), own, others, runner, SETTINGS))
    return {row.rule: row for row in rows}


def test_right_rules_are_not_refuted(audited: dict[str, RuleAudit]) -> None:
    for name in ("bv-right", "bool-list", "re-right"):
        assert (audited[name].instances, audited[name].refuted, audited[name].unjudged) == (100, 0, "")
    assert audited["bv-right"].proved > 0


def test_wrong_rules_are_refuted_with_an_instance_that_another_solver_confirms(
    audited: dict[str, RuleAudit],
) -> None:
    for name in ("str-wrong", "re-wrong"):
        assert audited[name].refuted > 0
        assert audited[name].instance.startswith("(set-logic ALL)\n")
    assert audited["str-wrong"].confirmed_by == ["z3"]
    # The solver itself does not use this rule.
    assert audited["str-wrong"].own_answer == "sat"


def test_a_premise_that_is_not_met_is_no_instance(audited: dict[str, RuleAudit]) -> None:
    # For k1 = 0 the conclusion is not well sorted, for k1 >= n1 the premise does not hold.
    assert audited["bv-conditional"].refuted == 0
    assert audited["bv-conditional"].instances == 100


def test_what_cannot_be_judged_is_said(audited: dict[str, RuleAudit]) -> None:
    assert audited["bv-never"].unjudged == "no drawn instance is well sorted"
    assert audited["bv-unknown"].unjudged == "bvfrobnicate has no meaning here"


def test_the_same_seed_gives_the_same_audit(audited: dict[str, RuleAudit]) -> None:
    rule = select_rules(read_rules(RULES), ["re-wrong"])
    with Runner() as runner:
        (again,) = audit(rule, find_solver("cvc5"), [], runner, SETTINGS)
    assert (again.refuted, again.instance) == (audited["re-wrong"].refuted, audited["re-wrong"].instance)


def test_no_rule_is_evaluated_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ends: list[float] = []
    monkeypatch.setattr("difftest.audit._RuleAuditor.run", lambda self, deadline: ends.append(deadline))
    with Runner() as runner:
        audited = audit(read_rules(RULES), find_solver("cvc5"), [], runner, Settings(seconds=0.5))
        next(audited)
        latest = time.monotonic() + 0.5
        list(audited)
    assert len(ends) == 8
    assert max(ends) <= latest


def test_a_rule_without_time_is_said_to_have_none() -> None:
    with Runner() as runner:
        rows = list(audit(read_rules(RULES), find_solver("cvc5"), [], runner, Settings(seconds=0)))
    assert {(row.instances, row.unjudged) for row in rows} == {(0, "no instance in the time")}


def test_instances_are_written_as_scripts() -> None:
    (rule,) = select_rules(read_rules(RULES), ["bv-conditional"])
    values = {"@n0": 3, "x1": Bits(5, 3), "k1": 1, "n1": 3}
    assert instance_text(rule, values, free=False).splitlines() == [
        "(set-logic ALL)",
        "(declare-const x1 (_ BitVec 3))",
        "(assert (= x1 #b101))",
        "(assert (= (< 1 3) true))",
        "(assert (= 3 3))",
        "(assert (not (= (bvlshr x1 #b001) (concat #b0 ((_ extract 2 1) x1)))))",
        "(check-sat)",
    ]


def test_defined_parameters_get_their_values() -> None:
    (rule,) = select_rules(read_rules(RULES), ["bv-conditional"])
    chance = Random(1)
    drawn = [values for _ in range(20) if (values := Drawing(chance).draw(rule)) is not None]
    assert drawn
    assert all(values["n1"] == values["x1"].width for values in drawn)


@pytest.mark.parametrize("text", ["", "unsat\n", "(declare-rule a\n)", "(declare-rule a () :args ()\n)"])
def test_text_that_is_no_rules(text: str) -> None:
    with pytest.raises(GenerationError):
        read_rules(text)


def test_the_rules_of_the_installed_release_are_read() -> None:
    rules = read_rules(find_solver("cvc5").printed_rules())
    assert len(rules) > 400
    assert {"bv", "str", "arith", "bool", "re", "sets"} <= {rule.theory for rule in rules}
    with pytest.raises(UnknownSolver, match="does not print its rewrite rules"):
        find_solver("z3").printed_rules()
