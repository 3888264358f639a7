"""Values of Boolean subterms: right, consistent, and left out where the standard leaves them open."""

from __future__ import annotations

import importlib.metadata
import json
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from base.cache import cache_folder
from generator.strategies.storm.openness import open_functions
from generator.strategies.storm.solving import SolvingProcess
from generator.strategies.storm.valuation import NoValuation, Valuation, _connective, value_terms
from smtlib import print_term
from tests.generator.small import script_of


def values_of(text: str, process: SolvingProcess) -> tuple[dict[str, bool], Valuation]:
    valuation = value_terms(script_of(text), process, cross_check=False)
    return {print_term(t): v for t, v in valuation.values.items()}, valuation


def test_a_model_of_the_assertions_values_every_subterm(process: SolvingProcess) -> None:
    values, valuation = values_of(
        """(declare-fun x () Int) (declare-fun p () Bool)
        (assert (and (or (> x 5) p) (=> p (= x 7)) (not (< x 3)))) (assert p) (check-sat)""",
        process,
    )
    assert valuation.how == "assertions"
    assert values["(> x 5)"] and values["(= x 7)"] and values["p"]
    assert values["(< x 3)"] is False and values["(not (< x 3))"]
    assert values["(and (or (> x 5) p) (=> p (= x 7)) (not (< x 3)))"]
    assert not valuation.left_out


def test_an_unsatisfiable_seed_is_valued_by_a_model_of_its_negation(process: SolvingProcess) -> None:
    values, valuation = values_of(
        "(declare-fun x () Int)(assert (> x 5))(assert (< x 5))(check-sat)", process
    )
    assert valuation.how == "negation"
    assert not (values["(> x 5)"] and values["(< x 5)"])


@pytest.mark.parametrize("op", ["distinct", "and", "xor"])
def test_an_operator_without_arguments_which_z3_takes_is_no_obstacle(
    op: str, process: SolvingProcess
) -> None:
    values, _ = values_of(f"(declare-fun p () Bool)(assert (or p {op}))(assert p)(check-sat)", process)
    assert values["p"]


def test_a_tautology_has_values_by_any_model(process: SolvingProcess) -> None:
    values, valuation = values_of("(declare-fun p () Bool)(assert (and p (not p)))(check-sat)", process)
    assert valuation.how == "negation"
    assert values["(and p (not p))"] is False and values["p"] is not values["(not p)"]


QUANTIFIED = """
(declare-fun f (Int) Int) (declare-fun a () Int) (declare-fun p () Bool)
(assert (or p (forall ((x Int)) (> (* x x) (- 1)))))
(assert (or p (exists ((x Int)) (and (= (* 2 x) a) (= a 5)))))
(assert (or p (forall ((x Int)) (= (f x) (f (+ x 1))))))
(assert (or p (> (f a) 0))) (assert (= a 5)) (check-sat)
"""


def test_a_quantified_term_has_a_value_where_one_is_proved(process: SolvingProcess) -> None:
    values, _ = values_of(QUANTIFIED, process)
    assert values["(forall ((x Int)) (> (* x x) (- 1)))"]
    assert values["(exists ((x Int)) (and (= (* 2 x) a) (= a 5)))"] is False
    assert values["(> (f a) 0)"] in (True, False)


def test_a_quantified_term_without_a_proof_is_left_out_and_counted(process: SolvingProcess) -> None:
    # Whether a universe with one member is meant follows from nothing.
    values, valuation = values_of(
        """(declare-sort S 0) (declare-fun a () S) (declare-fun p () Bool)
        (assert (and p (or p (forall ((x S)) (= x a))))) (check-sat)""",
        process,
    )
    assert "(forall ((x S)) (= x a))" not in values
    assert values["(or p (forall ((x S)) (= x a)))"], "p alone decides it"
    assert valuation.left_out["quantified, no proof either way"] == 1


def test_an_atom_around_a_quantified_term_without_a_value_is_left_out(process: SolvingProcess) -> None:
    values, valuation = values_of(
        """(declare-sort S 0) (declare-fun a () S) (declare-fun i () Int)
        (assert (> (ite (forall ((x S)) (= x a)) 1 2) i)) (check-sat)""",
        process,
    )
    assert not values
    assert valuation.left_out["holds a quantified term without a value"] == 1


@pytest.mark.parametrize(
    ("declared", "term", "cause"),
    [
        ("(declare-fun x () Float32)(declare-fun y () Float32)", "(fp.eq (fp.min x y) x)", "fp.min"),
        ("(declare-fun x () Float32)", "(= ((_ fp.to_ubv 8) RNE x) #x00)", "fp.to_ubv"),
        ("(declare-fun x () Float32)", "(> (fp.to_real x) 1.0)", "fp.to_real"),
        ("(declare-fun x () Float32)(declare-fun y () Float32)", "(fp.lt (fp.rem x y) y)", "fp.rem"),
        ("(declare-fun s () (Seq Int))", "(= (seq.nth s 7) 3)", "seq.nth"),
        ("(declare-fun i () Int)(declare-fun j () Int)", "(> (^ i j) 2)", "^"),
        (
            "(declare-fun a () (Array Bool Int))(declare-fun b () (Array Bool Int))",
            "(= a b)",
            "compares arrays",
        ),
        (
            "(declare-fun a () (Array (_ BitVec 2) Int))(declare-fun f ((Array (_ BitVec 2) Int)) Int)",
            "(= (f a) 3)",
            "compares arrays",
        ),
        (
            "(define-fun-rec f ((n Int)) Int (ite (<= n 0) 0 (+ 1 (f (- n 1)))))(declare-fun i () Int)",
            "(= (f i) 3)",
            "a recursive function",
        ),
        (
            "(define-fun half ((n Int) (m Int)) Int (div n m))(declare-fun i () Int)",
            "(= (half i i) 3)",
            "partial",
        ),
    ],
)
def test_what_is_open_or_unsure_is_left_out(
    declared: str, term: str, cause: str, process: SolvingProcess
) -> None:
    values, valuation = values_of(
        f"{declared}(declare-fun p () Bool)(assert (or p (not {term})))(assert p)(check-sat)", process
    )
    assert term not in values and values["p"], values
    assert [c for c in valuation.left_out if cause in c], valuation.left_out


def test_a_choice_between_arrays_compares_none(process: SolvingProcess) -> None:
    values, valuation = values_of(
        """(declare-fun a () (Array Bool Int))(declare-fun b () (Array Bool Int))(declare-fun p () Bool)
        (assert (> (select (ite p a b) true) 5)) (assert (< (select b true) 5)) (check-sat)""",
        process,
    )
    assert values["(> (select (ite p a b) true) 5)"] and values["p"]
    assert not valuation.left_out


def test_division_by_zero_is_valued_as_one_function(process: SolvingProcess) -> None:
    values, _ = values_of(
        """(declare-fun x () Int)(declare-fun y () Int)
        (assert (= y 0)) (assert (> (div x y) 3)) (assert (= x (+ y 2)))
        (assert (or (= (div 2 0) 7) (= (div 2 y) (div x 0)) (> (div 5 y) 0))) (check-sat)""",
        process,
    )
    assert values["(= (div 2 y) (div x 0))"], "equal arguments, equal values"
    assert values["(> (div x y) 3)"]


def test_a_selector_of_another_constructor_is_valued_as_one_function(process: SolvingProcess) -> None:
    values, _ = values_of(
        """(declare-datatypes ((L 0)) (((nil) (cons (head Int) (tail L)))))
        (declare-fun l () L) (assert (= l nil)) (assert (> (head l) 4))
        (assert (or (= (head l) (head nil)) (= (head nil) 1))) (check-sat)""",
        process,
    )
    assert values["(= (head l) (head nil))"] and values["(> (head l) 4)"]
    assert values["(= (head nil) 1)"] is False


def test_values_hold_together_for_cvc5_in_many_theories(process: SolvingProcess) -> None:
    text = Path(__file__).with_name("theories.smt2").read_text("utf-8")
    valuation = value_terms(script_of(text), process, cross_check=True)
    assert valuation.checked == "sat"
    assert len(valuation.values) >= 12 and not valuation.left_out["valued otherwise by cvc5"]


def test_a_value_that_cvc5_rejects_is_taken_out_and_reported(process: SolvingProcess) -> None:
    class Liar(SolvingProcess):
        def ask(self, request: dict[str, object]) -> dict[str, object]:
            reply = process.ask(request)
            if request["task"] == "z3":
                reply = {**reply, "atoms": [not v for v in reply["atoms"][:1]] + reply["atoms"][1:]}
            return reply

    script = script_of("(declare-fun x () Int)(assert (> x 5))(assert (< x 9))(check-sat)")
    valuation = value_terms(script, Liar(), cross_check=True)
    assert valuation.left_out["valued otherwise by cvc5"] == 1
    assert {print_term(t): v for t, v in valuation.values.items()} == {"(< x 9)": True}


def test_a_seed_that_z3_refuses_or_that_is_of_higher_order_is_reported(process: SolvingProcess) -> None:
    with pytest.raises(NoValuation, match="higher order"):
        values_of("(declare-fun f () (-> Int Int))(assert (= (f 1) 2))(check-sat)", process)


def test_answers_are_kept_by_the_hash_of_the_question(process: SolvingProcess) -> None:
    script = script_of("(declare-fun x () Int)(assert (> x 5501))(check-sat)")
    first = value_terms(script, process)
    kept = sorted((cache_folder() / "valuations").rglob("*.json"))

    class Silent(SolvingProcess):
        def _ask(self, request: dict[str, object]) -> dict[str, object]:
            raise AssertionError("asked again")

    assert value_terms(script, Silent()) == first
    assert sorted((cache_folder() / "valuations").rglob("*.json")) == kept


def test_answers_kept_by_earlier_versions_are_still_found(process: SolvingProcess) -> None:
    script = script_of("(declare-const x Int)(assert (> x 5503))(check-sat)")
    asked: list[dict[str, object]] = []

    class Noting(SolvingProcess):
        def _ask(self, request: dict[str, object]) -> dict[str, object]:
            asked.append(request)
            return process._ask(request)

    value_terms(script, Noting(), cross_check=False)
    wheels = " ".join(importlib.metadata.version(name) for name in ("z3-solver", "cvc5"))
    of_the_file = "15c11827cbfd7d4399731133d5d35af5d40fdd02cbb6971734ed1cde1bf6f4bb"
    question = json.dumps(asked[0], sort_keys=True)
    digest = sha256(f"1 {wheels} {of_the_file} {question}".encode()).hexdigest()
    assert (cache_folder() / "valuations" / digest[:2] / f"{digest[2:]}.json").is_file()


def test_a_spoiled_answer_is_requested_again(process: SolvingProcess) -> None:
    script = script_of("(declare-fun x () Int)(assert (> x 5502))(check-sat)")
    first = value_terms(script, process, cross_check=False)
    newest = max((cache_folder() / "valuations").rglob("*.json"), key=lambda p: p.stat().st_mtime_ns)
    newest.write_text("{", "utf-8")
    assert value_terms(script, process, cross_check=False) == first
    newest.write_text('["no", "object"]', "utf-8")
    assert value_terms(script, process, cross_check=False) == first


def test_a_deep_seed_is_valued(process: SolvingProcess) -> None:
    deep = "(and p " * 3000 + "q" + ")" * 3000
    declared = "(declare-fun p () Bool)(declare-fun q () Bool)"
    script = script_of(f"{declared}(assert {deep})(check-sat)")
    values = value_terms(script, process, cross_check=False).values
    assert len(values) == 3002 and all(values.values())


@given(st.sampled_from(("not", "and", "or", "=>", "xor", "=", "distinct", "ite")), st.data())
def test_connectives_of_unknown_values_are_right_for_every_completion(name: str, data: st.DataObject) -> None:
    count = {"not": 1, "ite": 3, "distinct": 2}.get(name) or data.draw(st.integers(2, 4))
    values = data.draw(st.lists(st.sampled_from((True, False, None)), min_size=count, max_size=count))
    completions = [[]]
    for value in values:
        choices = (True, False) if value is None else (value,)
        completions = [[*c, choice] for c in completions for choice in choices]
    results = {truth(name, c) for c in completions}
    found = _connective(name, values)
    assert found is None or results == {found}
    if None not in values:
        assert found is not None


def truth(name: str, v: list[bool]) -> bool:
    """The standard's definitions, chained and associative forms included."""
    if name == "not":
        return not v[0]
    if name == "and":
        return all(v)
    if name == "or":
        return any(v)
    if name == "=>":
        return v[0] if len(v) == 1 else (not v[0] or truth(name, v[1:]))
    if name == "xor":
        return v[0] if len(v) == 1 else truth(name, [v[0] != v[1], *v[2:]])
    if name == "=":
        return all(a == b for a, b in pairwise(v))
    if name == "distinct":
        return len(set(v)) == len(v)
    return v[1] if v[0] else v[2]


def test_open_functions_are_those_that_two_formulas_may_want_differently() -> None:
    text = """(declare-fun x () Int)(declare-fun r () Real)(declare-fun s () (Seq Int))
    (define-fun f ((a Int)) Int (mod a x))
    (assert (= (f 2) (div x 3) (div x 0) (seq.nth s 0)))(assert (= r (/ r 2.0)))(check-sat)"""
    assert open_functions(script_of(text)) == {"mod", "div", "seq.nth"}


# Random formulas over Booleans and small bit-vectors are valued as an evaluation by hand says.

ATOMS = ("p", "q", "(bvult v w)", "(= v #b01)", "(bvsle w v)", "(= w (bvadd v #b11))")


def formulas() -> st.SearchStrategy[str]:
    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        pair = st.tuples(st.sampled_from(("and", "or", "=>", "xor", "=")), inner, inner)
        return st.one_of(
            inner.map(lambda a: f"(not {a})"),
            pair.map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
            st.tuples(inner, inner, inner).map(lambda t: f"(ite {t[0]} {t[1]} {t[2]})"),
        )

    return st.recursive(st.sampled_from(ATOMS), extend, max_leaves=8)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(formulas(), min_size=1, max_size=3))
def test_all_values_hold_in_one_interpretation(process: SolvingProcess, asserted: list[str]) -> None:
    import z3

    declared = (
        "(declare-fun p () Bool)(declare-fun q () Bool)"
        "(declare-fun v () (_ BitVec 2))(declare-fun w () (_ BitVec 2))"
    )
    script = script_of(declared + "".join(f"(assert {a})" for a in asserted) + "(check-sat)")
    valuation = value_terms(script, process, cross_check=False)
    claims = [t if v else None for t, v in valuation.values.items()]
    text = declared + "".join(
        f"(assert {print_term(t)})" if v else f"(assert (not {print_term(t)}))"
        for t, v in valuation.values.items()
    )
    solver = z3.Solver()
    solver.from_string(text)
    assert solver.check() == z3.sat
    assert len(claims) >= 1 and not valuation.left_out
