"""What counts as wrong, with whom, and under which key."""

from __future__ import annotations

import pytest

from difftest import Outcome, Solver, Verdict, parse_spec
from difftest.oracles import PLAIN, look
from difftest.oracles.base import Candidate, Observation, is_same
from difftest.triage.filing import Filing
from smtlib.mentions import theories_in

A, B, C = (Solver(name, name, "other", (name,)) for name in "abc")
TEXT = "(declare-const x Int)(assert (> x 1))(check-sat)"


def find_candidates(
    text: str, solvers: list[Solver], verdicts: dict[str, Verdict], known: tuple[str | None, ...] = ()
) -> list[Candidate]:
    """What the oracles that need no further runs see."""
    return look(Observation(text, solvers, verdicts, known), PLAIN)


def ok(*answers: str | None) -> Verdict:
    return Verdict(Outcome.OK, answers, 0.1)


def invalid(*answers: str | None) -> Verdict:
    return Verdict(Outcome.INVALID_MODEL, answers, 0.1, "an invalid model was generated")


def crash(location: str | None = "x.cpp:1", shape: str = "Assertion") -> Verdict:
    return Verdict(Outcome.CRASH, (None,), 0.1, "Assertion", location, shape)


def test_agreement_is_nothing() -> None:
    assert find_candidates(TEXT, [A, B], {"a": ok("sat"), "b": ok("sat")}) == []


@pytest.mark.parametrize("other", [ok("unknown"), ok(None), ok(), Verdict(Outcome.TIMEOUT, (None,), 1.0)])
def test_what_was_not_answered_contradicts_nothing(other: Verdict) -> None:
    assert find_candidates(TEXT, [A, B], {"a": ok("sat"), "b": other}) == []


def test_disagreement_on_any_question_is_soundness() -> None:
    (found,) = find_candidates(TEXT, [A, B], {"a": ok("sat", "sat"), "b": ok("sat", "unsat")})
    assert (found.finding_class, found.check, found.culprit) == ("soundness", 1, None)
    assert found.solvers == ("a", "b")
    assert found.key == "soundness|a+b|Ints"


def test_answers_are_compared_question_by_question() -> None:
    assert find_candidates(TEXT, [A, B], {"a": ok(None, "unsat"), "b": ok("sat", "unsat")}) == []


def test_a_partial_run_is_still_compared() -> None:
    late = Verdict(Outcome.TIMEOUT, ("unsat", None), 1.0)
    assert find_candidates(TEXT, [A, B], {"a": ok("sat", "sat"), "b": late})[0].check == 0


def test_two_against_one_names_the_one() -> None:
    (found,) = find_candidates(TEXT, [A, B, C], {"a": ok("sat"), "b": ok("unsat"), "c": ok("sat")})
    assert (found.culprit, found.reason) == ("b", "a and c say otherwise")


KIN = {
    "releases": ["z3==4.8.5", "z3==4.8.14"],
    "builds": ["cvc5", "cvc5-gpl==1.3.0"],
    "a build of one's own": ["cvc5", "mine=/opt/cvc5-debug {}"],
    "predecessors": ["cvc5", "cvc4-1.8=/opt/solver {}"],
}


@pytest.mark.parametrize("specs", KIN.values(), ids=KIN)
def test_releases_and_builds_of_one_solver_are_one_voice(specs: list[str]) -> None:
    parsed = map(parse_spec, specs)
    kin = [Solver(spec.text, spec.name, spec.family, spec.command or ("x",)) for spec in parsed]
    verdicts = {"a": ok("sat"), **{solver.name: ok("unsat") for solver in kin}}
    (found,) = find_candidates(TEXT, [A, *kin], verdicts)
    assert found.culprit is None
    (found,) = find_candidates(TEXT, [A, B, *kin], {**verdicts, "b": ok("unsat")})
    assert found.culprit == "a"


def test_a_known_answer_names_the_liar_even_alone() -> None:
    (found,) = find_candidates(TEXT, [A, B], {"a": ok("sat"), "b": ok("sat")}, ("unsat",))[:1]
    assert (found.culprit, found.solvers) == ("a", ("a",))
    assert len(find_candidates(TEXT, [A, B], {"a": ok("sat"), "b": ok("unsat")}, ("unsat",))) == 1


def test_a_refuted_model_behind_a_wrong_sat_is_one_finding_that_names_the_liar() -> None:
    (found,) = find_candidates(TEXT, [A, B], {"a": invalid("sat"), "b": ok("unsat")})
    assert (found.finding_class, found.culprit) == ("soundness", "a")


def test_an_invalid_model_is_a_finding_of_its_own() -> None:
    (found,) = find_candidates(TEXT, [A, B], {"a": invalid("sat"), "b": ok("sat")})
    assert (found.finding_class, found.key) == ("invalid-model", "invalid-model|a|Ints")


def test_a_crash_is_keyed_by_its_place_whatever_the_theory() -> None:
    one = find_candidates(TEXT, [A], {"a": crash()})
    two = find_candidates("(declare-const s String)(check-sat)", [A], {"a": crash()})
    assert one[0].key == two[0].key == "crash|a|x.cpp:1"
    assert find_candidates(TEXT, [A], {"a": crash("y.cpp:1")})[0].key != one[0].key


def test_a_crash_without_a_place_is_keyed_by_message_and_theory() -> None:
    one = find_candidates(TEXT, [A], {"a": crash(None)})[0].key
    assert one == "crash|a|Assertion|Ints"
    assert find_candidates(TEXT, [A], {"a": crash(None, "Other")})[0].key != one


def test_two_solvers_that_crash_are_two_findings() -> None:
    assert len(find_candidates(TEXT, [A, B], {"a": crash(), "b": crash()})) == 2


def test_a_refusal_is_no_finding() -> None:
    refused = Verdict(Outcome.REFUSED, (None,), 0.1, "no such thing")
    assert find_candidates(TEXT, [A, B], {"a": refused, "b": ok("sat")}) == []


def test_a_rerun_shows_the_same_only_if_class_and_place_agree() -> None:
    (first,) = find_candidates(TEXT, [A], {"a": crash()})
    assert is_same(first, find_candidates(TEXT, [A], {"a": crash()}))
    assert not is_same(first, find_candidates(TEXT, [A], {"a": crash("other.cpp:9")}))
    assert not is_same(first, find_candidates(TEXT, [A], {"a": invalid("sat")}))
    assert not is_same(first, [])


def test_the_id_depends_on_key_and_formula_alone() -> None:
    def name(key: str, text: str, document: dict[str, str]) -> str:
        return Filing("formula", "crash", "z3", key, text, document, {}).folder_name

    assert name("k", "t", {}) == name("k", "t", {"reason": "r"})
    assert len({name("k", "t", {}), name("k", "u", {}), name("l", "t", {})}) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(assert true)", ("Core",)),
        ("; (declare-const x Int) String\n(assert true)", ("Core",)),
        ("(declare-const x (_ BitVec 8))", ("FixedSizeBitVectors",)),
        ("(declare-const x Real)(assert (= (* x y) 1.5))", ("Nonlinear", "Reals")),
        ('(assert (= (str.len "a") 1))', ("Ints", "UnicodeStrings")),
        ("(declare-const a (Array Int Bool))", ("ArraysEx", "Ints")),
        ("(declare-fun f (U) U)", ("UF",)),
        ("(declare-fun f () Float32)(assert (forall ((x U)) true))", ("FloatingPoint", "Quantifiers")),
        ("(declare-datatypes ((T 0)) (((c))))", ("Datatypes",)),
        ("(assert (= (/ 0.0 a) b))", ("Nonlinear", "Reals")),
        ("(assert (= (/ a 2.0 (- 3.0)) (/ a (/ 1.0 0.0))))", ("Reals",)),
        ("(assert (= (div x 2) (mod 7 3)))", ("Ints",)),
        ("(assert (= 1 (mod (+ x 1) (f y))))", ("Ints", "Nonlinear")),
        ("(assert (= 1 (* 2 x (- 3))))", ("Core",)),
        ("(assert (= 1 (* (f x) 2 |y z|)))", ("Nonlinear",)),
        ('(assert (= "(* x y)" (div x 2)', ("Ints",)),
        (")(assert (div 2 x))", ("Ints", "Nonlinear")),
        ("(assert (= (sin x) 0.5))", ("Reals", "Transcendental")),
        ("(assert (< x (to_int y)))", ("Ints", "Reals")),
        ("(declare-const s (FiniteSet Bool))(assert (set.subset s s))", ("FiniteSets",)),
    ],
)
def test_theories_are_read_off_the_text(text: str, expected: tuple[str, ...]) -> None:
    assert theories_in(text) == expected
