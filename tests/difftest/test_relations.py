"""Relations: each with a solver that lies where it looks, and real solvers of which it says nothing."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from itertools import islice, pairwise, product
from pathlib import Path

import pytest

from difftest import (
    HuntOptions,
    Solver,
    Stage,
    find_solver,
    hunt,
    oracles,
    relations,
)
from difftest.campaign.turns import SHARE, Turns
from difftest.models.model_reader import NotCheckable
from difftest.models.state import State
from difftest.oracles import ORACLES, default_oracles, oracles_in_turn, select
from difftest.oracles.base import Observation
from difftest.oracles.related import RELATED
from difftest.relations import base, cube, find_relations, inline, levels
from difftest.relations import values as relation_values
from difftest.relations.base import Case, Relation, Rule
from difftest.triage.classes.contradiction import CLASS
from difftest.triage.confirm import Confirmer
from difftest.triage.examine import examine
from difftest.triage.expectation import expectation_of_finding
from difftest.triage.folder import FindingFolder
from difftest.triage.reduce import reduce
from exhume.screens.summary import relations_line
from generator.strategy import GeneratedTest
from smtlib.printer import print_term
from smtlib.terms import Term
from solvers.running.script import Script
from tests.difftest.hunts import found_by, looked_at, summary_of

Fake = Callable[..., Solver]
SAT = """(set-logic ALL)(declare-const x Int)(declare-const y Int)
(define-fun twice ((a Int)) Int (* 2 a))
(assert (< 1 (twice x) 20))(assert (or (= y 3) (> y x)))(assert (exists ((z Int)) (< x z y)))(check-sat)
"""
UNSAT = SAT.replace("(check-sat)", "(assert (< y 0))(assert (> x 5))(check-sat)")
# What a solver that lies says: where, as a Python condition on the text, and the answers; for sat and unsat.
LIES = {
    "cube": (SAT, "say('sat' if text.count('assert') == 3 else 'unsat')"),
    "weaker": (SAT, "say('sat' if 'twice' in text and text.count('assert') == 3 else 'unsat')"),
    "optional": (UNSAT, "say('sat' if text.count('assert') == 4 and 'other!' not in text else 'unsat')"),
    "core": (
        UNSAT,
        "say('unsat', '(core!0 core!2)') if 'get-unsat-core' in text else "
        "say('unsat' if text.count('assert') == 5 else 'sat')",
    ),
    "assumptions": (SAT, "say('unsat' if 'assuming' in text else 'sat')"),
    "entailed": (
        SAT,
        "say('sat', '((> y 7))') if 'get-learned' in text else say('sat')",
    ),
    "printed": (
        SAT,
        "say('((= x 3) (= x 4))') if 'get-asser' in text else say('unsat' if '4' in text else 'sat')",
    ),
    "levels": (SAT, "say('sat', 'unsat') if 'push' in text else say('sat')"),
    "shuffle": (SAT, "say('sat' if 'declare-const x' in text else 'unsat')"),
    "inline": (SAT, "say('sat' if '(twice x)' in text and 'named!' not in text else 'unsat')"),
    "simplify": (SAT, "say('(+ 1 7)') if '(simplify' in text else say('sat')"),
    "elimination": (SAT, "say('false') if 'get-qe' in text else say('sat')"),
    "optimum": (
        SAT,
        "say('sat', '(objectives (x 3))') if 'imize' in text else say('unsat' if '(= ' in text "
        "and ' 3)' in text and text.count('assert') == 4 else 'sat')",
    ),
    "interpolant": (
        UNSAT,
        "say('(define-fun interpolant! () Bool true)') if 'get-inter' in text else "
        "say('sat' if 'interpolant!' in text else 'unsat')",
    ),
    "abduct": (
        SAT,
        "say('(define-fun abduct! () Bool false)') if 'get-abduct' in text else "
        "say('sat' if 'not ' in text or 'abduct!' not in text else 'unsat')",
    ),
}


def violations(solver: Solver, text: str, name: str) -> Observation:
    """What is seen of the claims of a relation."""
    return looked_at(solver, text, name)[1]


def test_rules_exclude_answers() -> None:
    assert Rule.SAME.is_broken("sat", ["unsat", "unsat"])
    assert Rule.SAME.is_broken("unsat", ["unsat", "sat"])
    assert not Rule.SAME.is_broken("sat", ["unsat", None])
    assert not Rule.SAME.is_broken("sat", ["unsat", "sat"])
    assert not Rule.SAME.is_broken("unknown", ["sat"])
    assert Rule.SAT.is_broken("sat", ["unsat"])
    assert not Rule.SAT.is_broken("sat", [None])
    assert Rule.UNSAT.is_broken("sat", ["sat"])
    assert not Rule.UNSAT.is_broken("sat", ["unsat"])


@pytest.mark.parametrize("name", LIES)
@pytest.mark.few(8)
def test_a_lie_that_a_relation_sees_is_a_violation(name: str, fake: Fake) -> None:
    text, body = LIES[name]
    liar = fake(body, "cvc5-liar" if name != "optimum" else "z3-liar")
    seen = violations(liar, text, name)
    assert [found.relation for found in seen.violations] == [name], seen.tried
    (candidate,) = ORACLES[name].look(seen)
    assert (candidate.finding_class, candidate.culprit) == ("contradiction", liar.name)


@pytest.mark.parametrize(
    ("oracle", "kind", "headline"),
    [
        ("core", "wrong result", "an unsatisfiable core is satisfiable"),
        ("own-model", "invalid model", "the solver refutes its own model"),
        ("printed", "printing", "printed assertions are answered differently"),
        ("fixedpoint", "wrong answer", "contradicts itself"),
        ("shuffle", "wrong answer", "contradicts itself"),
        ("of a later version", "wrong answer", "contradicts itself"),
    ],
)
def test_a_report_says_what_is_at_fault(oracle: str, kind: str, headline: str) -> None:
    found = FindingFolder(Path("unused"), {"oracle": oracle})
    assert (CLASS.kind_in_report(found), CLASS.headline(found)) == (kind, headline)


def test_a_core_is_asked_with_the_names_of_the_script(fake: Fake) -> None:
    text = UNSAT.replace("(assert (< y 0))", "(assert (! (< y 0) :named |a b|))")
    body = (
        "say('unsat', '(|a b|)') if 'get-unsat-core' in text else "
        "say('unsat' if text.count('assert') == 5 else 'sat')"
    )
    (found,) = violations(fake(body, "liar"), text, "core").violations
    assert found.relation == "core"
    # A report shows how to get that core.
    assert "(get-unsat-core)" in found.asked and found.asked not in found.texts


@pytest.mark.parametrize("spec", ["z3", "cvc5"])
@pytest.mark.parametrize("text", [SAT, UNSAT])
@pytest.mark.few(2)
def test_nothing_is_wrong_with_real_solvers(spec: str, text: str) -> None:
    solver = find_solver(spec)
    _, seen = looked_at(solver, text, *oracles_in_turn((), [solver]), claims=1, warm=True)
    assert seen.verdicts[spec].is_decided
    assert seen.violations == ()
    assert {name for name, tried in seen.tried.items() if tried.get("held")} >= {
        "cube",
        "shuffle",
        "simplify",
    }


@pytest.mark.parametrize("spec", ["z3", "cvc5"])
@pytest.mark.parametrize("name", ["entailed", "printed"])
def test_what_real_solvers_list_and_print_holds(spec: str, name: str) -> None:
    text = """(set-logic ALL)(declare-const x Int)(declare-const s String)(declare-const p Bool)
        (assert (or p (> x 3)))(assert (=> (> x 3) p))
        (assert (= s (str.++ "a" (str.from_int x))))(check-sat)"""
    assert violations(find_solver(spec), text, name).tried == {name: {"held": 1}}


def test_what_cannot_be_read_or_is_not_decided_is_no_violation(fake: Fake) -> None:
    bodies = [
        "say('sat', '))) |')",
        "say('sat')\nif text.count('assert') > 3: time.sleep(9)",
        "say('unknown')",
    ]
    for body in bodies:
        names = ("cube", "values", "own-model", "simplify")
        _, seen = looked_at(fake(body, "z3-odd"), SAT, *names, claims=1, seconds=1)
        assert seen.violations == ()


HORN = """(set-logic HORN)(declare-fun P (Int) Bool)(assert (forall ((a Int)) (=> (= a 0) (P a))))
(assert (forall ((a Int)) (=> (and (P a) (> a 7)) false)))(check-sat)"""
OPTIMISING = "(declare-const x Int)(assert (> x 2))(minimize x)(assert-soft (> x 5) :id g)(check-sat)"
STEP = "((_ hyper-res 0) (asserted {}) (P 0))"
ODD = (
    *(
        "((and x y) core!0)",
        "()",
        "((x))",
        "((mp))",
        "(objectives)",
        "(objectives ())",
        "(objectives (x ()) ())",
    ),
    *("(let (a) b)", "(let ((a)) b)", "(let (((a) b)) c)", "(let a b)"),
    *(
        f"(mp {STEP.format(rule)} (asserted (=> (P 0) false)) false)"
        for rule in ("(forall)", "(forall a b)", "(!)")
    ),
    "(goals)",
    "(goals ())",
    "(goals (goal))",
)


@pytest.mark.parametrize("relation", find_relations(), ids=lambda relation: str(relation.name))
def test_no_output_of_a_solver_is_an_error_of_exhume(relation: Relation) -> None:
    asked: list[str] = []

    def ask(text: str) -> str:
        asked.append(text)
        return printed

    answer = "sat" if "sat" in relation.answers else "unsat"
    solvers = filter(relation.is_for, map(find_solver, ("z3", "cvc5")))
    for solver, text in product(solvers, (SAT, UNSAT, HORN, OPTIMISING)):
        script = Script.of(text)
        state = State.at(script, 0)
        asked.clear()
        for head, odd in product(("", "sat\n", "unsat\n"), ODD):
            printed = head + odd
            with suppress(NotCheckable):
                list(islice(relation.make(Case(solver, script, 0, answer, state, ask)), 3))
            if not asked:
                break  # it makes all its claims from the test alone


@pytest.mark.thorough
def test_a_contradiction_is_confirmed_and_reduced_with_its_scripts(fake: Fake, tmp_path: Path) -> None:
    liar = fake("say('unsat' if 'assuming' in text and '* 2' in text else 'sat')", "liar")
    options = HuntOptions(tmp_path, stages=(Stage(5.0, 1.0),), reduction=0.0, oracles=("assumptions",))
    (found,) = summary_of(hunt([GeneratedTest(0, SAT, "by-hand")], [liar], options)).findings
    assert (found.finding_class, found.key) == ("contradiction", "contradiction|liar|Ints+Quantifiers")
    assert "check-sat-assuming" in (found.path / RELATED[0]).read_text()
    reduce(found.path, ddsmt=False, seconds=20)
    data = json.loads((found.path / "finding.json").read_text())
    assert data["reduced"]["confirmed"]
    reduced = (found.path / "reduced.smt2").read_text()
    assert reduced.count("assert") == 1
    assert "check-sat-assuming" in (found.path / f"reduced-{RELATED[0]}").read_text()
    report = (found.path / "report.md").read_text()
    assert "liar says sat to the formula, unsat to script 1 made from it" in report
    assert "both ask the same question" in report
    with Confirmer(expectation_of_finding(found.path)) as confirmer:
        assert confirmer(reduced)
        assert not confirmer(reduced.replace("* 2", "+ 2"))


def test_relations_take_turns_in_a_share_of_the_time() -> None:
    turns = Turns(["a", "b"], 0)
    assert Turns([], 0).draw(100) == ""
    drawn = []
    total = 0.0
    for _ in range(2000):
        total += 0.1
        if name := turns.draw(total):
            drawn.append(name)
            turns.pay(name, 0.1, 1)
            if name == "b" and len(drawn) % 10 == 0:
                turns.found("b")
    assert len(drawn) == pytest.approx(SHARE * 2000, rel=0.05)
    assert drawn.count("b") > 1.5 * drawn.count("a")
    assert drawn.count("a") > 20


def test_relations_are_drawn_in_hunts_and_named_in_replays(fake: Fake, tmp_path: Path) -> None:
    z3, cvc5 = find_solver("z3"), find_solver("cvc5")
    names = {relation.name for relation in find_relations()}
    assert names | {"proofs", "model-cross-check"} == set(oracles_in_turn((), [z3, cvc5]))
    assert "get-qe" not in oracles_in_turn((), [z3])
    assert {"optimum", "simplifier"} & set(oracles_in_turn((), [cvc5])) == set()
    assert not names & set(default_oracles([z3, cvc5]))
    assert oracles_in_turn(("crash",), [z3]) == ()
    assert "cube" not in oracles_in_turn(select(["-cube"]), [z3])
    tests = [GeneratedTest(number, SAT, "by-hand") for number in range(30)]
    summary = summary_of(hunt(tests, [z3], HuntOptions(tmp_path, stages=(Stage(5.0, 1.0),), in_turn=True)))
    judged = {kind: found["held"] for kind, found in summary.statistics.items() if "relation" in kind}
    assert judged
    assert summary.findings == ()


DOUBT = """
from difftest.relations.base import Claim, Relation, Rule


def _claims(case):
    yield Claim((case.text(["false"]),), Rule.UNSAT, "False is false.")


RELATION = Relation("doubt", "false is satisfiable", _claims)
"""


def test_a_relation_is_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake: Fake) -> None:
    (tmp_path / "doubt.py").write_text(DOUBT)
    monkeypatch.setattr(relations, "__path__", [*relations.__path__, str(tmp_path)])
    monkeypatch.setattr(oracles, "ORACLES", oracles.find_oracles())
    monkeypatch.setattr(f"{examine.__module__}.ORACLES", oracles.ORACLES)
    seen = violations(fake("say('sat')"), SAT, "doubt")
    assert [found.why for found in seen.violations] == ["False is false."]
    monkeypatch.undo()
    sys.modules.pop("difftest.relations.doubt", None)


def test_a_crash_on_a_script_made_from_a_test_is_a_finding_on_that_script(fake: Fake, tmp_path: Path) -> None:
    solver = fake("os.abort() if 'assuming' in text else say('sat')")
    test = GeneratedTest(0, SAT, "by-hand", known=("sat",))
    folder = found_by(tmp_path, test, solver, oracles=("assumptions", "crash"), stages=(Stage(5.0, 1.0),))
    assert FindingFolder.read(folder).data["class"] == "crash"
    assert "check-sat-assuming" in (folder / "original.smt2").read_text()


def test_the_summary_counts_the_claims() -> None:
    counts = {
        "relation cube": {"held": 3, "not decided": 1},
        "relation core": {"violated": 1},
        "calls": {"a": 1},
    }
    assert relations_line(counts) == "claims of relations: 3 held, 1 violated, 1 not judged"
    assert relations_line({"calls": {"a": 1}}) == ""


@pytest.mark.parametrize("name", ["optimum", "values"])
def test_what_solvers_approximate_violates_nothing(name: str) -> None:
    text = "(declare-fun a () Real)(assert (> (+ 1 (exp a)) 0))(check-sat)"
    seen = violations(find_solver("z3"), text, name)
    assert seen.tried == {name: {"not defined everywhere: exp": 1}}


def test_a_status_is_not_repeated(fake: Fake) -> None:
    text = "(set-info :status unsat)" + SAT
    (found,) = violations(
        fake("say('unsat' if 'assuming' in text else 'sat')"), text, "assumptions"
    ).violations
    assert not any(":status" in script for script in found.texts)


def test_a_recursive_definition_is_not_negated(fake: Fake) -> None:
    # Any function is a solution of the definition: with some the assertion holds, with others it does not.
    asserted = "(assert (forall ((x Int)) (=> (= x 0) (> (f x) 0))))(check-sat)"
    solver = fake("say('sat', '()')", "z3-odd")
    rec = f"(define-fun-rec f ((x Int)) Int (f x)){asserted}"
    assert violations(solver, rec, "own-model").tried == {"own-model": {"held": 1}}
    plain = rec.replace("-rec", "").replace("(f x))(", "x)(")
    assert len(violations(solver, plain, "own-model").violations) == 1


def test_a_term_about_a_part_of_a_heap_is_named_by_a_definition() -> None:
    heap = "(declare-heap (Int Int))(declare-const a Int)(declare-const c Int)"
    for text, is_declared in ((f"{heap}(assert (sep (pto a 1) (pto c 2)))(check-sat)", False), (SAT, True)):
        named = [text for claim in inline._claims(case_of(text)) for text in claim.texts if "named!" in text]
        assert named and {"(declare-const named!" in text for text in named} == {is_declared}


def case_of(text: str, ask: Callable[[str], str] = lambda _: "") -> Case:
    script = Script.of(text)
    return Case(find_solver("z3"), script, 0, "sat", State.at(script, 0), ask, 7)


def nested_case(depth: int, more: str = "") -> Case:
    """A case whose assertion has terms in each other, which print as long as they are deep."""
    names = ["x", *(f"a{i}" for i in range(depth))]
    opened = "".join(f"(let (({new} (+ {old} {i}))) " for i, (old, new) in enumerate(pairwise(names)))
    return case_of(f"(declare-const x Int){more}(assert {opened}(> {names[-1]} 5){')' * depth})(check-sat)")


def test_the_first_claim_of_deep_terms_prints_few_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[Term] = []

    def counting(term: Term) -> str:
        printed.append(term)
        return print_term(term)

    monkeypatch.setattr(base, "print_term", counting)
    monkeypatch.setattr(cube, "print_term", counting)
    assert next(cube._claims(nested_case(200))).texts
    assert len(printed) == 2


def test_the_order_of_terms_depends_on_each_alone() -> None:
    first = [print_term(term) for term in nested_case(9).subterms]
    more = "(declare-const p Bool)(assert (exists ((x Bool)) (=> p x)))"
    second = [print_term(term) for term in nested_case(9, more).subterms]
    assert [text for text in second if text in first] == first
    assert len(second) == len(first) + 2


def test_names_are_given_once() -> None:
    text = "(declare-const p Bool)(assert (! (or p (! (not p) :named inside)) :named |a b|))(check-sat)"
    claims = list(levels._claims(case_of(text)))
    assert claims
    for claim in claims:
        assert [script.count(":named") for script in claim.texts] == [2]
        assert "(assert (not (or p (not p))))" in claim.texts[0]


def test_a_named_assertion_is_no_condition() -> None:
    text = "(declare-const x Int)(assert (! (> x 1) :named a))(assert (or (> x 2) (> x 1)))(check-sat)"
    assert {print_term(term) for term, relation, _ in cube._conditions(case_of(text)) if not relation} == {
        "(> x 2)"
    }


OPAQUE = """(declare-sort U 0)(declare-sort |a b| 0)(declare-datatype D ((mk (part U))))
(declare-fun f (U) U)(declare-const x U)(declare-const y |a b|)(declare-const z |a b|)(declare-const d D)
(declare-const a (Array U Int))(assert (distinct x (f x) (f (f x))))(assert (= (f (f (f x))) x))
(assert (= (part d) x))(assert (distinct y z))(assert (= 1 (select a x)))(check-sat)"""


@pytest.mark.parametrize("spec", ["z3", "cvc5"])
def test_values_of_declared_sorts_say_which_terms_are_equal(spec: str) -> None:
    assert violations(find_solver(spec), OPAQUE, "values").tried == {"values": {"held": 1}}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ("((x U!val!0) (y U!val!0))", "(= x y)"),
        ("((x (as @U_0 U)) (y (as @U_0 U)))", "(= x y)"),
        ("((x U!val!0) (y U!val!1))", "(distinct x y)"),
    ],
)
def test_values_of_a_declared_sort_are_asserted_as_equations(values: str, said: str) -> None:
    text = "(declare-sort U 0)(declare-const x U)(declare-const y U)(assert (exists ((z U)) (= z x y)))"
    text += "(check-sat)"
    (claim,) = relation_values._claims(case_of(text, lambda _: f"sat\n{values}"))
    assert claim.texts[0].splitlines()[-2] in (f"(assert {said})", f"(assert {said.replace('x y', 'y x')})")


def test_values_with_escapes_of_old_releases_are_not_asserted() -> None:
    # z3 before 4.8.9 prints one character so; by the standard these are four.
    text = "(declare-const s String)(assert (= (str.len s) 1))(check-sat)"
    values = r'((s "\x00") ((str.len s) 1) ((= (str.len s) 1) true))'
    with pytest.raises(NotCheckable, match="escapes that mean different things"):
        list(relation_values._claims(case_of(text, lambda _: f"sat\n{values}")))
    (claim,) = relation_values._claims(case_of(text, lambda _: f"sat\n{values.replace('x00', 'u{0}')}"))
    assert r'"\u{0}"' in claim.texts[0]


SILENT = (
    "(get-consequences (p) ())(get-qe-disjunct (exists ((z Int)) (> z x)))(get-interpolant-next)"
    "(get-abduct-next)(get-interpolants)(get-unsat-core-lemmas)(get-timeout-core-assuming (p))"
    "(get-model-domain-elements Int)(get-proof-graph)"
)


def test_commands_that_print_leave_a_test_to_relations(fake: Fake) -> None:
    text = f"(declare-const p Bool)(declare-const x Int){SILENT}(assert (> x 1))(check-sat)"
    liar = fake("say('unsat' if 'get-' not in text else 'sat')")
    assert len(violations(liar, text, "cube").violations) == 1


@pytest.mark.parametrize("other", ["(apply simplify)", "(block-model :literals)"])
def test_tests_with_other_commands_are_counted(fake: Fake, other: str) -> None:
    # A blocked model is one that later checks may not give.
    text = f"(declare-const x Int)(assert (> x 1)){other}(check-sat)"
    assert violations(fake("say('sat')"), text, "cube").tried == {"cube": {"other commands": 1}}
