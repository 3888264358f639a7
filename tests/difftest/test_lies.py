"""Relations of problem classes, and of what z3 alone has: each with a solver that lies there."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from difftest import Solver, find_solver
from difftest.oracles import ORACLES
from tests.difftest.hunts import looked_at
from tests.scripts import load_script

Fake = Callable[..., Solver]
PLAIN = "(set-logic ALL)(declare-const x Int)(assert (< x 5))(check-sat)"
GOALS = """(set-option :opt.priority {})(declare-const x Int)(declare-const r Real)(assert (< x 5))
(assert-soft (> x 2) :weight 0.5 :id a)(assert-soft (< x 0) :id b)(assert-soft (< x 1) :id a)
(maximize x)(minimize r)(check-sat)"""
HORN = """(set-logic HORN)(declare-fun p (Int) Bool)(assert (forall ((x Int)) (=> (= x 0) (p x))))
(assert (forall ((x Int)) (=> (and (p x) (< x {})) (p (+ x 1)))))
(assert (forall ((x Int)) (=> (p x) (< x 2))))(check-sat)"""
QUANTIFIED = (
    "(declare-const y Int)(assert (exists ((x Int)) (and (< y x) (< x 9))))(assert (< 0 y))(check-sat)"
)


def tried(solver: Solver, text: str, name: str) -> tuple[list[str], dict[str, int]]:
    """Why claims of a relation are violated, and what came of all of them."""
    _, seen = looked_at(solver, text, name, claims=9)
    return [found.why for found in seen.violations], dict(seen.tried.get(name, {}))


REAL = "\nos.execv({z3!r}, [{z3!r}, sys.argv[-1]])"
LIES = {
    # Group a costs 0.5 where x < 1, else 1; b costs nothing where x < 0. So x is -1 in the end, or 4 alone.
    "not attained": ("lex", ("(/ 1.0 2.0)", "0", "4", "(* (- 1) oo)"), "has the maximum|beyond -"),
    "exceeded": ("box", ("(/ 1.0 2.0)", "0", "3", "(* (- 1) oo)"), "beyond the maximum"),
    "cost": ("box", ("0", "0", "4", "(* (- 1) oo)"), "has the minimum"),
    "open": ("box", ("(/ 1.0 2.0)", "0", "4", "(+ 1.0 epsilon)"), "beyond the minimum"),
    "unbounded": ("box", ("(/ 1.0 2.0)", "0", "oo", "(* (- 1) oo)"), "no bound"),
    "later": ("lex", ("(/ 1.0 2.0)", "0", "(- 3)", "(* (- 1) oo)"), "those before"),
    "dominated": ("pareto", ("(/ 1.0 2.0)", "1", "0", "0"), "one is better"),
}


def liar_with_z3(fake: Fake, body: str, name: str = "z3-liar") -> Solver:
    """A solver that does what ``body`` says if it ends with ``sys.exit()``, else what z3 does."""
    return fake(f"{body}{REAL.format(z3=find_solver('z3').argv[0])}", name)


def liar_about_optima(fake: Fake, values: tuple[str, ...]) -> Solver:
    """A solver that gives these optima, else does what z3 does."""
    printed = f"(objectives {' '.join(f'(o {value})' for value in values)})"
    return liar_with_z3(fake, f"if 'maximize' in text:\n    say('sat', {printed!r}); sys.exit()")


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.few(4)
def test_a_wrong_optimum_is_seen(lie: str, fake: Fake) -> None:
    priority, values, part = LIES[lie]
    found, _ = tried(liar_about_optima(fake, values), GOALS.format(priority), "optimum")
    assert found, lie
    assert any(word in why for word in part.split("|") for why in found)


@pytest.mark.parametrize(
    ("lie", "where"), [("cost", "assert-soft"), ("exceeded", "Ints+Reals"), ("dominated", "assert-soft")]
)
def test_a_wrong_cost_of_soft_assertions_is_one_cause_in_all_theories(
    lie: str, where: str, fake: Fake
) -> None:
    priority, values, _ = LIES[lie]
    found, _ = looked_at(liar_about_optima(fake, values), GOALS.format(priority), "optimum", claims=9)
    assert f"contradiction|z3-liar|optimum|{where}" in {candidate.key for candidate in found}


@pytest.mark.parametrize("priority", ["lex", "box"])
def test_right_optima_hold(priority: str) -> None:
    text = GOALS.format(priority).replace("(< x 5)", "(and (< (- 9) x 5) (< (- 2.0) r))")
    found, held = tried(find_solver("z3"), text, "optimum")
    assert found == []
    assert held["held"] >= 5


def test_objectives_change_no_relation(fake: Fake) -> None:
    found, held = tried(find_solver("z3"), GOALS.format("box"), "cube")
    assert (found, set(held)) == ([], {"held"})
    found, _ = tried(fake("say('sat' if 'maximize' in text else 'unsat')"), GOALS.format("box"), "cube")
    assert found


@pytest.mark.parametrize(("limit", "lie"), [(1, "unsat"), (3, "sat")])
def test_a_wrong_answer_to_horn_clauses_is_seen(limit: int, lie: str, fake: Fake) -> None:
    text = HORN.format(limit)
    assert tried(find_solver("z3"), text, "horn")[0] == []
    liar = liar_with_z3(fake, f"if 'set-logic HORN' in text:\n    say({lie!r}); sys.exit()")
    found, _ = tried(liar, text, "horn")
    assert len(found) == 1
    assert "rounds" in found[0]


DERIVATION = """(let ((a!1 (forall ((A Int)) (! (=> (and (p A) {}) (p (+ 1 A))) :weight 0))))
(let ((a!2 ((_ hyper-res 0 0 0 1) (asserted a!1) ((_ hyper-res 0 0) (asserted (p 0)) (p 0)) (p 1))))
(let ((a!3 ((_ hyper-res 0 0 0 1) (asserted (forall ((A Int)) (=> (and (p A) (not (< A 2))) query!0)))
((_ hyper-res 0 0 0 1) (asserted a!1) a!2 (p {})) query!0)))
(mp a!3 (asserted (=> query!0 false)) false))))"""


@pytest.mark.parametrize(
    ("premise", "last", "part"),
    [("(< A 3)", 2, ""), ("(< A 3)", 3, "each step"), ("(< A 9)", 2, "rules"), ("(< A 3)", 1, "each step")],
)
def test_a_derivation_that_does_not_replay_is_seen(premise: str, last: int, part: str, fake: Fake) -> None:
    printed = DERIVATION.format(premise, last)
    body = f"if 'print-certificate' in text:\n    say('sat', {printed!r}); sys.exit()"
    found, held = tried(liar_with_z3(fake, body), HORN.format(3), "derivation")
    assert [part in why for why in found] == [True] * bool(part)
    assert part or held == {"held": 2}
    assert tried(find_solver("z3"), HORN.format(3), "derivation") == ([], {"held": 2})


@pytest.mark.parametrize(
    "printed", ["(mp a b c)", "(p 0)", "(mp ((_ trust) a b) (asserted (=> b false)) false)"]
)
def test_a_derivation_of_another_form_is_not_judged(printed: str, fake: Fake) -> None:
    body = f"if 'print-certificate' in text:\n    say('sat', {printed!r}); sys.exit()"
    found, held = tried(liar_with_z3(fake, body), HORN.format(3), "derivation")
    assert found == []
    assert "held" not in held
    assert len(held) == 1


RULES = """(declare-rel p (Int))(declare-rel goal (Int))(declare-var x Int)(declare-var y Int)
(rule (=> (= x 0) (p x)) start)(rule (=> (and (p x) (= y (+ x 1)) (< x {})) (p y)))
(rule (=> (and (p x) (not (< x 2))) (goal x)))(query goal :print-answer true)"""


@pytest.mark.parametrize(("limit", "lie"), [(1, "sat"), (3, "unsat")])
@pytest.mark.parametrize(
    ("relation", "where"), [("fixedpoint", "':fp.engine' not in text"), ("levels", "'(query' in text")]
)
def test_a_wrong_answer_to_a_query_is_seen(
    relation: str, where: str, limit: int, lie: str, fake: Fake
) -> None:
    text = RULES.format(limit)
    found, held = tried(find_solver("z3"), text, relation)
    assert found == []
    assert held["held"] >= 1
    liar = liar_with_z3(fake, f"if {where}:\n    say({lie!r}); sys.exit()")
    found, _ = tried(liar, text, relation)
    assert len(found) == 1


@pytest.mark.parametrize(
    "other",
    [
        "(assert (p 1))",
        "(push)",
        "(declare-rel r (Int) interval_relation)",
        "(declare-fun f (Int) Int)",
        "(rule (=> (not (p x)) (p y)))",
    ],
)
@pytest.mark.parametrize("relation", ["fixedpoint", "levels"])
def test_more_than_relations_and_rules_is_not_judged(other: str, relation: str) -> None:
    text = RULES.format(3).replace("(query", f"{other}(query")
    assert tried(find_solver("z3"), text, relation) == ([], {})


def test_settings_of_a_script_do_not_choose_the_engine(fake: Fake) -> None:
    text = "(set-option :fp.engine bmc)" + RULES.format(3)
    body = "if ':fp.engine bmc' in text:\n    say('unsat'); sys.exit()"
    found, held = tried(liar_with_z3(fake, body), text, "fixedpoint")
    assert (len(found), held) == (1, {"violated": 1})


def test_the_second_query_is_one_of_its_own(fake: Fake) -> None:
    text = RULES.format(1) + "(rule (p 7))(query goal)"
    body = "if ':fp.engine' not in text:\n    say('unknown', 'unsat'); sys.exit()"
    assert tried(find_solver("z3"), text, "own-model")[1] == {"held": 2}
    assert len(tried(liar_with_z3(fake, body), text, "fixedpoint")[0]) == 1


OPEN = """(declare-fun p () Bool)(assert (=> (> 0.0 (/ 1.0 0.0)) p))(assert (not p))(check-sat)"""


@pytest.mark.parametrize("relation", ["horn", "fixedpoint"])
def test_a_value_that_is_left_open_is_no_contradiction(relation: str, fake: Fake) -> None:
    assert tried(fake("say('sat')", "z3-liar"), OPEN, relation) == ([], {"values that are left open": 1})
    assert tried(fake("say('sat')", "z3-liar"), OPEN.replace("/ 1.0 0.0", "/ 1.0 4.0"), relation)[0]


@pytest.mark.parametrize("relation", ["horn", "fixedpoint"])
def test_a_definition_that_no_function_satisfies_is_no_contradiction(relation: str, fake: Fake) -> None:
    text = """(define-fun-rec g ((x Int)) Int (+ 1 (g x)))(declare-fun p (Int) Bool)
(assert (forall ((x Int)) (=> (= (g x) 0) (p x))))(assert (forall ((x Int)) (=> (p x) false)))(check-sat)"""
    assert tried(fake("say('unsat')", "z3-liar"), text, relation) == ([], {"recursive definitions": 1})
    plain = text.replace("(define-fun-rec g ((x Int)) Int (+ 1 (g x)))", "(define-fun g ((x Int)) Int x)")
    assert tried(fake("say('unsat')", "z3-liar"), plain, relation)[0]


@pytest.mark.parametrize("relation", ["horn", "fixedpoint"])
def test_overloaded_predicates_are_not_judged(relation: str) -> None:
    text = """(declare-fun p (Int) Bool)(declare-fun p (Real) Bool)
(assert (p 1))(assert (=> (p 1.0) false))(check-sat)"""
    assert tried(find_solver("z3"), text, relation) == ([], {"an overloaded function": 1})


def test_what_is_not_horn_is_not_judged() -> None:
    text = "(declare-fun p (Int) Bool)(assert (forall ((x Int)) (or (p x) (p (+ x 1)))))(check-sat)"
    assert tried(find_solver("z3"), text, "horn") == ([], {"no Horn clauses": 1})


def test_an_interpretation_that_breaks_a_clause_is_seen(fake: Fake) -> None:
    model = "((define-fun p ((x Int)) Bool (< 0 x 2)))"
    body = f"if 'get-model' in text:\n    say('sat', {model!r}); sys.exit()"
    found, _ = tried(liar_with_z3(fake, body), HORN.format(1), "own-model")
    assert len(found) == 1
    assert "an assertion is false" in found[0]
    assert tried(find_solver("z3"), HORN.format(1), "own-model")[0] == []


@pytest.mark.parametrize("result", ["(< y 9)", "(< y 7)"])
def test_a_wrong_elimination_is_seen(result: str, fake: Fake) -> None:
    body = f"if 'get-qe' in text:\n    say({result!r}); sys.exit()"
    liar = liar_with_z3(fake, body, "cvc5-liar")
    assert tried(liar, QUANTIFIED, "elimination")[0]
    right = liar_with_z3(fake, body.replace(result, "(< y 8)"), "cvc5-liar")
    found, held = tried(right, QUANTIFIED, "elimination")
    assert (found, held) == ([], {"held": 2})


# What a solver says, by the relation: a condition on the text, and what it prints there.
OF_Z3 = {
    "by-tactic": "say('unsat' if 'check-sat-using' in text else 'sat')",
    "goals": "say('(goals (goal false :precision precise :depth 1))') if '(apply' in text else "
    "say('unsat' if 'false' in text else 'sat')",
    "simplifier": "say('unsat' if 'set-simplifier' in text else 'sat')",
    "values": "say('sat', '((x 7) ((< x 5) true))') if 'get-value' in text else "
    "say('unsat' if text.count('assert') > 1 else 'sat')",
    "own-model": "say('sat', '((define-fun x () Int 7))') if 'get-model' in text else "
    "say('unsat' if 'define-fun' in text else 'sat')",
}


@pytest.mark.parametrize("name", OF_Z3)
def test_a_lie_of_what_z3_alone_has_is_seen(name: str, fake: Fake) -> None:
    found, _ = tried(fake(OF_Z3[name], "z3-liar"), PLAIN, name)
    assert len(found) == 1


# Of a planted lie: a script, what the solver prints (empty: the script), a part of it, and what that becomes.
PLANTED = {
    "optimum": ("(get-objectives)", "sat\n(objectives\n (x 9)\n)", "(x 9)", "(x 10)"),
    "core": ("(get-unsat-core)", "unsat\n(a b c)", " c)", ")"),
    "projection": ("(get-qe true)", "(and (< x 1) (< y 2))", "(and (< x 1) (< y 2))", "(< x 1)"),
    "proof": ("(get-proof)", "unsat\n(\n(step @p1 (= a a) :rule refl)\n)", "(= a a)", "(not (= a a))"),
    "value": ("(get-value (x))", "sat\n((x 3))", "3", "4"),
    "interpolant": ("(get-interpolant i p)", "(define-fun i () Bool (< x 1))", "(< x 1)", "(not (< x 1))"),
    "simplify": ("(simplify p)", "true", "true", "false"),
    "goal": (
        "(apply simplify)",
        "(goals\n(goal\n  (< x 1)\n  (< y 1)\n  :precision precise :depth 1)\n)",
        "\n  (< x 1)\n  (< y 1)\n  :precision precise :depth 1",
        " (< x 1) :precision precise :depth 1",
    ),
    "assumption": ("(check-sat-assuming (a b))", "", " b", ""),
    "derivation": (
        "(query p :print-certificate true)",
        "sat\n(mp (asserted (=> (q 1) p)) (asserted (=> p false)) false)",
        "(q 1)",
        "(not (q 1))",
    ),
    "query": ("(set-option :fp.engine bmc)(query p)", "sat", "sat", "unsat"),
    "interpretation": (
        "(set-logic HORN)(get-model)",
        "sat\n(\n(define-fun p ((x Int)) Bool (< x 1))\n)",
        "(< x 1)",
        "(not (< x 1))",
    ),
}


def test_planted_liars_change_what_they_should(tmp_path: Path) -> None:
    script = load_script("bench_planted")
    assert set(script.LIES) == set(PLANTED)
    for name, (text, printed, part, changed) in PLANTED.items():
        assert script.LIES[name].relation in ORACLES
        real = tmp_path / "real.py"
        real.write_text(f"import sys\nprint({printed!r} or open(sys.argv[-1]).read())")
        liar = script.write_liar(script.LIES[name], [sys.executable, "-I", "-S", str(real)], tmp_path)
        (tmp_path / "f.smt2").write_text(text)
        command = [sys.executable, "-I", "-S", str(liar), str(tmp_path / "f.smt2")]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert said.strip() == (printed or text).replace(part, changed), name
