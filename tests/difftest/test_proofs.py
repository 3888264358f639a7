"""Proofs: right ones hold, and each way of being wrong is seen; real ones are checked."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from difftest import HuntOptions, Limits, Solver, Stage, find_solver, hunt
from difftest.oracles import ORACLES, default_oracles, oracles_in_turn
from difftest.oracles.base import Observation
from difftest.oracles.related import RELATED
from difftest.proofs.check import ProofCheck, StepChecker
from difftest.proofs.cpc import LONGEST, BadProof, Proof, read_proof
from difftest.proofs.objects import read_proof_object
from difftest.triage.confirm import Confirmer
from difftest.triage.expectation import expectation_of_finding
from generator.strategy import GeneratedTest
from smtlib.reader import read_sexps
from solvers.running.runner import Runner
from tests.difftest.hunts import looked_at, summary_of

Fake = Callable[..., Solver]
FORMULA = """(set-logic ALL)
(declare-sort U 0)(declare-const u U)(declare-fun f (U) Int)(declare-const x Int)
(declare-const b (_ BitVec 8))(declare-const r Real)
(assert (> x 3))(assert (< x 2))(assert (= (f u) x))(assert (= r 0.5))(assert (exists ((y Int)) (> y x)))
(check-sat)
"""
ASSERTIONS = ["(> x 3)", "(< x 2)", "(= (f u) x)", "(= r 0.5)", "(exists ((y Int)) (> y x))"]
HEAD = """unsat
(
(declare-sort U 0)
(declare-const u U)
(declare-const f (-> U Int))
(declare-const x Int)
(declare-const r Real)
(declare-const b (_ BitVec 8))
(define @t1 () (> x 3))
(define @t2 () (@var "y" Int))
(define @t3 () (@list @t2))
(assume @p1 @t1)
(assume @p2 (< x 2))
(assume @p3 (= (f u) x))
(assume @p4 (= r 1/2))
(assume @p5 (exists @t3 (> @t2 x)))
"""
END = "(step @p90 false :rule contra :premises (@p1 @p2))\n)\n"
RIGHT = {
    "symm": "(step @p10 (= x (f u)) :rule symm :premises (@p3))",
    "cong": "(step @p10 (= (+ (f u) 1) (+ x 1)) :rule cong :premises (@p3) :args ((+ (f u) 1)))",
    "purify": "(step @p10 (= (@purify (f u)) x) :rule trans :premises (@p3))",
    "indices": "(step @p10 (= (extract 3 0 b) (extract 3 0 (concat b (extract 3 0 b)))) :rule bv-x)",
    "bits": "(step @p10 (= b (@from_bools (@bit 0 b) (@bit 1 b) (@bit 2 b) (@bit 3 b) (@bit 4 b) (@bit 5 b)"
    " (@bit 6 b) (@bit 7 b))) :rule bv_bitblast_step)",
    "width": "(step @p10 (= (extract (- (@bvsize b) 1) (- (@bvsize b) 8) b) b) :rule bv-extract-whole)",
    "qualified": "(step @p10 (= (seq.len (as seq.empty (Seq U))) 0) :rule seq-len-empty)",
    "value": "(step @p10 (= (@bv 3 8) #b00000011) :rule evaluate)",
    "total": "(step @p10 (= (div_total x 0) 0) :rule arith-div-total-zero)",
    "by zero": "(step @p10 (= (div x 0) (@int_div_by_zero x)) :rule arith_reduction)",
    "instantiate": "(step @p10 (or (not (forall @t3 (> @t2 x))) (> 7 x)) :rule instantiate)",
    "skolem": "(step @p10 (> (+ 1 (@quantifiers_skolemize (forall @t3 (> @t2 x)) 0))"
    " (@quantifiers_skolemize (forall @t3 (> @t2 x)) 0)) :rule arith)",
    "below a binder": "(step @p9 (= (> @t2 x) (< x @t2)) :rule arith-elim)"
    "(step @p10 (= (exists @t3 (> @t2 x)) (exists @t3 (< x @t2))) :rule cong :premises (@p9))",
    "scope": "(assume-push @p8 (> x 9))(step @p9 false :rule contra :premises (@p8 @p2))"
    "(step-pop @p10 :rule scope :premises (@p9))"
    "(step @p11 (not (> x 9)) :rule process_scope :premises (@p10))",
    "names used again": "(assume-push @p8 (> x 9))(step @p9 (> x 8) :rule a :premises (@p8))"
    "(step-pop @p10 :rule scope :premises (@p9))(step @p9 (= x x) :rule refl)",
}
WRONG = {
    "symm": "(step @p10 (= x (f (ite (= x 1) u u)) 7) :rule symm :premises (@p3))",
    "arith_poly_norm": "(step @p10 (= (* 2 x) (+ x x 1)) :rule arith_poly_norm)",
    "cong": "(step @p9 (= (> @t2 0) true) :rule assume_nothing)",
    "scope": "(assume-push @p8 (> x 9))(step @p9 false :rule contra :premises (@p8 @p2))"
    "(step-pop @p10 (> x 5) :rule scope :premises (@p9))",
    "sort": "(step @p10 (+ x 1) :rule sort)",
    "assume": "(assume @p10 (> x 100))",
    "cycle": "(step @p10 (= x x) :rule refl :premises (@p11))(step @p11 (= x x) :rule refl :premises (@p10))",
    "open-assumption": "(assume-push @p8 (> x 9))(step @p1 (> x 8) :rule arith :premises (@p8))",
    "last-step": "(step @p10 (= x x) :rule refl))",
}
RULES = {"cong": "assume_nothing"}


def checked(
    proof: Proof, prover: str, others: Sequence[str], assertions: Sequence[str] = ASSERTIONS
) -> ProofCheck:
    with Runner() as runner:
        checker = StepChecker(find_solver(prover), list(map(find_solver, others)), runner, Limits(5))
        return checker.check(proof, assertions)


def check(text: str) -> ProofCheck:
    return checked(read_proof(text), "cvc5", ["z3", "bitwuzla"])


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.few(8)
def test_right_steps_hold(name: str) -> None:
    found = check(HEAD + RIGHT[name] + END)
    assert found.faults == []
    assert set(found.outcomes) == {"held"}, (found.rules, found.causes)


def test_open_assumptions_take_little_memory() -> None:
    count = 250
    lines = [f"(assume @a{n} p)" for n in range(count)] + [f"(assume-push @h{n} p)" for n in range(count)]
    lines += [f"(step @s{n} p :rule r :premises (@h{n}))" for n in range(count)]
    proof = read_proof("\n".join(["unsat", "(declare-const p Bool)", *lines]))
    tracemalloc.start()
    with Runner() as runner:
        StepChecker(find_solver("z3"), (), runner, Limits(), 0.0).check(proof, [])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A copy of what is known for each assumption takes six megabytes.
    assert peak < 2 << 20


def test_sorts_of_older_releases_are_read() -> None:
    found = check((HEAD + RIGHT["symm"] + END).replace("(declare-sort U 0)", "(declare-type U ())"))
    assert set(found.outcomes) == {"held"}


def test_an_assertion_is_known_whatever_its_variables_are_called() -> None:
    proof = read_proof(
        """unsat
((declare-const a Real)
(define @l () (@list (@var "p" Real) (@var "q" Int)))
(define @k () (@list (@var "q" Int) (@var "p" Real)))
(assume @p1 (forall @l (=> (> (@var "p" Real) -3/1) (exists @k (= (@var "p" Real) a)))))
(assume @p2 false))"""
    )
    text = "(forall ((q Real) (x Int)) (=> (> q (- 3.0)) (exists ((y Int) (p Real)) (= p a))))"
    right = checked(proof, "cvc5", [], [text, "false"])
    assert (set(right.outcomes), right.asked) == ({"held"}, 0)
    captured = checked(proof, "cvc5", [], [text.replace("(= p a)", "(= q a)"), "false"])
    assert set(captured.outcomes) == {"held", "undecided"}


def test_an_assertion_may_be_false() -> None:
    # As cvc5 1.3.0 prints it.
    proof = read_proof("unsat\n((assume @p1 false)(assume @p2 true))")
    assert checked(proof, "cvc5", ["z3"], ["false", "true"]).faults == []


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.few(4)
def test_wrong_steps_are_found_by_their_rule(name: str) -> None:
    (fault, *_) = check(HEAD + WRONG[name] + ("" if name == "last-step" else END)).faults
    assert fault.rule == RULES.get(name, name)
    if fault.answers:
        assert set(fault.answers.values()) == {"sat"}
        assert len(fault.answers) > 1
        assert fault.script.endswith("(check-sat)\n")


@pytest.mark.parametrize(
    ("step", "cause"),
    [
        ("(step @p10 (> (@quantifiers_skolemize 1 0) 3) :rule skolemize)", "@quantifiers_skolemize"),
        (
            "(step @p10 (> (@quantifiers_skolemize (forall @t3 (> @t2 x)) 0) 3) :rule skolemize)",
            "a skolem",
        ),
        ("(step @p10 (= x 5) :rule trust :args ((= x 5)))", "trust"),
        ("(step @p10 :rule refl)", "a conclusion that is not printed"),
        ("(step @p10 (= (frobnicate x) x) :rule refl)", "not well sorted here"),
        (f"(step @p10 (= {'(- ' * 500}x{')' * 500} x) :rule refl)", "nested deeply"),
        # Right if the premise holds for all values of the variable, which is not asked.
        (
            "(step @p9 (= @t2 x) :rule trust)(step @p10 (= @t2 (+ x 1)) :rule odd :premises (@p9))",
            "a premise about variables",
        ),
    ],
)
def test_what_cannot_be_judged_is_no_fault(step: str, cause: str) -> None:
    found = check(HEAD + step + END)
    assert found.faults == []
    assert found.causes[cause] == 1


@pytest.mark.parametrize(
    "text",
    [
        "sat\n",
        "unsat\n",
        HEAD[:-30],
        'unsat\n(error "no proofs")',
        "unsat\n((step))",
        "unsat\n((step @p1 false :rule (a) :premises b))",
        f"unsat\n{'(' * 100_000}",
        "unsat\n" + "x" * LONGEST,
    ],
)
def test_what_is_no_proof_is_refused(text: str) -> None:
    with pytest.raises(BadProof):
        read_proof(text)


def observed(solver: Solver) -> Observation:
    return looked_at(solver, FORMULA, "proofs", seconds=10.0, warm=True)[1]


def liar(fake: Fake, proof: str) -> Solver:
    return fake(f"say({proof!r}) if 'get-proof' in text else say('unsat')", "cvc5-liar")


def test_a_wrong_step_becomes_a_finding_with_its_rule(fake: Fake, tmp_path: Path) -> None:
    solver = liar(fake, HEAD + WRONG["arith_poly_norm"] + END)
    options = HuntOptions(tmp_path, stages=(Stage(5.0, 1.0),), reduction=0.0, oracles=("proofs",))
    (record,) = summary_of(hunt([GeneratedTest(0, FORMULA, "by-hand")], [solver], options)).findings
    assert (record.finding_class, record.key) == ("proof", "proof|cvc5-liar|arith_poly_norm")
    script = (record.path / RELATED[0]).read_text()
    assert "(* 2 t!0)" in script
    data = json.loads((record.path / "finding.json").read_text())
    assert "rule arith_poly_norm" in data["reason"]
    assert "z3" in data["evidence"][0]
    assert "arith_poly_norm" in (record.path / "report.md").read_text()
    with Confirmer(expectation_of_finding(record.path)) as confirmer:
        assert confirmer(FORMULA)
    # A smaller formula must show a wrong step by the same rule.
    (record.path / "finding.json").write_text(json.dumps(data | {"key": record.key.replace("poly", "other")}))
    with Confirmer(expectation_of_finding(record.path)) as confirmer:
        assert not confirmer(FORMULA)


@pytest.mark.parametrize("proof", [HEAD[:-30], "unsat", "sat"])
def test_output_that_is_no_proof_is_no_finding(fake: Fake, proof: str) -> None:
    assert observed(liar(fake, proof)).violations == ()


@pytest.mark.parametrize("name", ["cvc5", "z3"])
def test_the_proof_of_a_real_solver_holds(name: str) -> None:
    seen = observed(find_solver(name))
    assert seen.violations == ()
    assert seen.tried["proofs"]["held"] > 4
    assert ORACLES["proofs"].look(seen) == []


OBJECTS = """unsat
((declare-fun sk!0 () Int)
(proof
(let (($x1 (> x 3)))
(let (($x2 (exists ((y Int) )(! (let ((?x9 (+ y 0))) (> ?x9 x)) :qid k!2))))
(let ((@x3 (asserted $x1)))
{steps})))))
"""
RIGHT_OBJECTS = {
    "let": "(let (($x4 (< x 2))) (unit-resolution (asserted $x4) @x3 false))",
    "theory": "((_ th-lemma arith farkas 1 1) @x3 (asserted (< x 2)) false)",
    "indices": "(trans (rewrite (= ((_ extract 3 0) b) ((_ extract 3 0) ((_ zero_extend 2) b)))) @x3"
    " (monotonicity (rewrite (= (_ bv3 8) #x03)) @x3 (asserted (< x 2)) false) false)",
    "lemma": "(unit-resolution (lemma (th-lemma (hypothesis (> x 5)) (hypothesis (< x 4)) false)"
    " (or (not (< x 4)) (not (> x 5)))) @x3 (asserted (< x 2)) false)",
    "binder": "(unit-resolution (mp (asserted $x2) (trans (quant-intro (proof-bind (lambda ((y Int))"
    " (let (($x8 (> y x))) (rewrite (= (> (+ y 0) x) $x8))))) (= $x2 (exists ((z Int)) (> z x))))"
    " (rewrite (= (exists ((z Int)) (> z x)) true)) (~ $x2 true)) true) @x3 (asserted (< x 2)) false)",
}
WRONG_OBJECTS = {
    "rewrite": "(unit-resolution (rewrite (= (> x 3) (< x 3))) @x3 (asserted (< x 2)) false)",
    "quant-intro": "(unit-resolution (quant-intro (proof-bind (lambda ((y Int)) (refl (= (> y x) (> y x)))))"
    " (= $x2 (exists ((y Int)) (and (> y x) (< y 9))))) @x3 (asserted (< x 2)) false)",
    "lemma": "(unit-resolution (lemma (th-lemma (hypothesis (> x 5)) (hypothesis (< x 4)) false)"
    " (not (> x 5))) @x3 (asserted (< x 2)) false)",
    "assume": "(unit-resolution (asserted (> x 100)) @x3 (asserted (< x 2)) false)",
    "open-assumption": "(th-lemma @x3 (hypothesis (< x 2)) false)",
    "last-step": "(refl (= x x))",
}


def check_objects(steps: str) -> ProofCheck:
    declared = [line for line in read_sexps(FORMULA) if line[0].startswith("declare-")]
    return checked(read_proof_object(OBJECTS.format(steps=steps), declared), "z3", ["cvc5", "yices"])


@pytest.mark.parametrize("name", RIGHT_OBJECTS)
def test_right_proof_objects_hold(name: str) -> None:
    found = check_objects(RIGHT_OBJECTS[name])
    assert found.faults == []
    assert set(found.outcomes) == {"held"}, (found.rules, found.causes)


@pytest.mark.parametrize("name", WRONG_OBJECTS)
def test_wrong_proof_objects_are_found_by_their_rule(name: str) -> None:
    assert [fault.rule for fault in check_objects(WRONG_OBJECTS[name]).faults] == [name]


def test_a_new_symbol_is_no_fault() -> None:
    steps = "(unit-resolution (sk (~ $x2 (> sk!0 x))) (asserted (< x 2)) @x3 false)"
    found = check_objects(steps)
    assert (found.faults, found.causes["sk"]) == ([], 1)


def test_an_open_assumption_that_cannot_be_expressed_is_no_fault() -> None:
    found = check_objects("(th-lemma @x3 (hypothesis ((_ char.bit char.bit 6) (_ Char 52))) false)")
    assert (found.faults, found.causes["an assumption that stays open"]) == ([], 1)


def test_a_value_that_is_left_open_is_no_fault() -> None:
    # Both other solvers may choose another value.
    steps = "(unit-resolution (rewrite (= (fp.to_real (_ +oo 8 24)) 7.0)) (asserted (< x 2)) @x3 false)"
    assert check_objects(steps).faults == []


@pytest.mark.parametrize(
    "text",
    [
        "sat\n",
        "unsat\n",
        "unsat\n()",
        'unsat\n(error "no proofs")',
        "unsat\n(proof)",
        "unsat\n((proof @x1))",
        "unsat\n((proof ()))",
        "unsat\n((proof (let x y)))",
        "unsat\n((proof (proof-bind ?x1)))",
        "unsat\n((proof (proof-bind (lambda x (refl true)))))",
        "unsat\n((proof (mp ((_ ) true) false)))",
        "unsat\n((define-fun f () Int 1) (proof (refl true)))",
        f"unsat\n((proof {'(mp ' * 5_000}true{' true)' * 5_000}))",
    ],
)
def test_what_is_no_proof_object_is_refused(text: str) -> None:
    with pytest.raises(BadProof):
        read_proof_object(text, [])


def test_names_of_a_let_end_with_it() -> None:
    inner = "(let ((@x4 (asserted true))) (refl (= x x)))"
    with pytest.raises(BadProof, match="not known"):
        read_proof_object(f"unsat\n((proof (mp {inner} @x4 false)))", [])


def test_it_takes_turns_where_a_solver_gives_proofs() -> None:
    for name in ("cvc5", "z3"):
        assert "proofs" in oracles_in_turn((), [find_solver(name)])
    assert "proofs" not in oracles_in_turn((), [find_solver("bitwuzla")])
    assert "proofs" not in default_oracles([find_solver("cvc5")])
