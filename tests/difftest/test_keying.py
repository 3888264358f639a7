"""One key per cause: mixed tests fold, distinct causes stay apart."""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from difftest.oracles.base import Candidate
from difftest.triage.key import FoundKey, Key, count_under, fold, needs_reduction, refined
from difftest.triage.keying import key_of
from difftest.triage.operators import essential_operators
from smtlib import check_script, read_script
from smtlib.mentions import theories_in
from tests.scripts import run_script
from tests.sizes import size

# Per theory: what declares its symbols, a planted fault's trigger, and harmless atoms of it.
THEORIES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "Ints": ("(declare-fun i{n} () Int)", "(= (div i{n} i{n}) 1)", ("(> i{n} 3)", "(= (+ i{n} 1) 2)")),
    "Reals": ("(declare-fun r{n} () Real)", "(= (/ r{n} 2.5) r{n})", ("(< r{n} 1.5)", "(= (- r{n}) 0.5)")),
    "FixedSizeBitVectors": (
        "(declare-fun b{n} () (_ BitVec 8))",
        "(= (bvurem b{n} #x07) b{n})",
        ("(bvult b{n} #x10)",),
    ),
    "UnicodeStrings": ("(declare-fun s{n} () String)", '(str.prefixof s{n} "ab")', ('(= s{n} "x")',)),
    "FloatingPoint": ("(declare-fun f{n} () Float32)", "(fp.isSubnormal f{n})", ("(fp.isZero f{n})",)),
    "UF": (
        "(declare-sort U{n} 0)(declare-fun u{n} () U{n})(declare-fun g{n} (U{n}) Bool)",
        "(g{n} u{n})",
        ("(= u{n} u{n})",),
    ),
    "ArraysEx": (
        "(declare-fun a{n} () (Array Bool Bool))",
        "(= (store a{n} true false) a{n})",
        ("(select a{n} true)",),
    ),
    "Sets": ("(declare-fun t{n} () (Set Bool))", "(set.subset t{n} t{n})", ("(set.member true t{n})",)),
    "Sequences": ("(declare-fun q{n} () (Seq Bool))", "(seq.contains q{n} q{n})", ("(= q{n} q{n})",)),
    "Datatypes": (
        "(declare-datatypes ((D{n} 0)) (((c{n}) (e{n} (h{n} Bool)))))(declare-fun d{n} () D{n})",
        "((_ is e{n}) d{n})",
        ("(= d{n} c{n})",),
    ),
}
MARKS = {
    "Ints": "(div ",
    "Reals": "(/ ",
    "FixedSizeBitVectors": "bvurem",
    "UnicodeStrings": "str.prefixof",
    "FloatingPoint": "fp.isSubnormal",
    "UF": "(g",
    "ArraysEx": "(store ",
    "Sets": "set.subset",
    "Sequences": "seq.contains",
    "Datatypes": "(_ is e",
}
CLASSES = ("soundness", "invalid-model")
CAUSES = [(finding_class, theory) for finding_class in CLASSES for theory in THEORIES]


def trigger(theory: str, seed: int) -> str:
    """A test that mixes theories at random and holds the trigger of one planted cause, deep in it."""
    random_ = random.Random(seed)
    declared: list[str] = []
    asserts: list[str] = []
    for number, other in enumerate(random_.sample(sorted(THEORIES), 4)):
        declare, _, atoms = THEORIES[other]
        declared.append(declare.format(n=f"x{number}"))
        picked = [random_.choice(atoms).format(n=f"x{number}") for _ in range(3)]
        asserts.append(f"(assert (or {' '.join(picked)}))")
        asserts.append(f"(assert (not (and {picked[0]} {picked[1]})))")
    declare, bad, atoms = THEORIES[theory]
    name = f"y{random_.randrange(100)}"
    declared.append(declare.format(n=name))
    other_atom = random_.choice(asserts)[8:-1]
    harmless, bad = random_.choice(atoms).format(n=name), bad.format(n=name)
    hidden = f"(assert (ite {harmless} (or {bad} {other_atom}) {other_atom}))"
    asserts.insert(random_.randrange(len(asserts)), hidden)
    return "(set-logic ALL)\n" + "\n".join([*declared, *asserts]) + "\n(check-sat)\n"


def shows(theory: str) -> Callable[[str], bool]:
    """A planted fault, as a check: the solver goes wrong wherever the operator stands in an assertion."""
    return lambda text: "(check-sat)" in text and MARKS[theory] in text.partition("(assert")[2]


def candidate(finding_class: str, text: str) -> Candidate:
    return Candidate(finding_class, ("bad",), f"{finding_class}|bad|{'+'.join(theories_in(text))}", "bad")


def fold_all(triggers: int) -> tuple[set[str], set[str]]:
    """Coarse and fine keys of this many triggers of the planted causes."""
    coarse: set[str] = set()
    fine: set[str] = set()
    for number in range(triggers):
        finding_class, theory = CAUSES[number % len(CAUSES)]
        text = trigger(theory, number)
        found = candidate(finding_class, text)
        coarse.add(found.key)
        fine.add(fold(key_of(found, text, shows(theory)), fine))
    return coarse, fine


@pytest.mark.parametrize(
    "triggers", [200, pytest.param(5_000, marks=[pytest.mark.slow, pytest.mark.thorough])]
)
def test_triggers_of_twenty_planted_causes_fold_into_twenty_findings(triggers: int) -> None:
    coarse, fine = fold_all(triggers)
    assert len(CAUSES) == 20
    assert len(coarse) > 60
    assert 19 <= len(fine) <= 21, sorted(fine)


def test_the_key_survives_renaming() -> None:
    text = trigger("FixedSizeBitVectors", 1)
    renamed = re.sub(r"y(?=\d)", "longer_name_", text)
    keys = {key_of(candidate(CLASSES[0], t), t, shows("FixedSizeBitVectors")).key for t in (text, renamed)}
    assert keys == {"soundness|bad|FixedSizeBitVectors|bvurem"}


def test_a_crash_with_a_place_keeps_its_key_and_is_not_reduced() -> None:
    def check(text: str) -> bool:
        raise AssertionError("nothing is run")

    found = Candidate("crash", ("a",), "crash|a|x.cpp:1", "a")
    assert not needs_reduction(found)
    assert key_of(found, "(check-sat)", check).key == "crash|a|x.cpp:1"


def test_a_crash_without_a_place_is_keyed_by_what_is_left() -> None:
    text = trigger("Ints", 3)
    found = Candidate("crash", ("a",), "crash|a|signal SIGSEGV|ArraysEx+Ints+Reals", "a")
    assert key_of(found, text, shows("Ints")).key == "crash|a|signal SIGSEGV|Ints|div"


def test_a_crash_of_a_tactic_is_keyed_by_the_tactic() -> None:
    keys = set()
    for theory in ("Ints", "Reals"):
        text = trigger(theory, 3).replace("(check-sat)", "(apply (then simplify  qe_rec))")
        found = Candidate("crash", ("a",), f"crash|a|signal SIGSEGV|ArraysEx+{theory}", "a")
        keys.add(key_of(found, text, lambda trial: "qe_rec" in trial))
    (key,) = {found.key for found in keys}
    assert key == "crash|a|signal SIGSEGV|apply (then simplify qe_rec)"
    assert all(found.complete for found in keys)
    assert str(Key.read(key)) == key
    odd = key_of(found, "(declare-const x Int)(apply |\udcff|)", lambda trial: "apply" in trial)
    assert odd.key == "crash|a|signal SIGSEGV|apply |\udcff|"
    wrong = Candidate("soundness", ("a",), "soundness|a|Ints", "a")
    text = "(declare-const x Int)(assert (= (div x x) 1))(apply qe)"
    assert key_of(wrong, text, lambda trial: "(div " in trial).key == "soundness|a|Ints|div"


def test_a_bug_of_optimisation_is_one_cause_whatever_the_operators() -> None:
    more = "(assert-soft (not (str.prefixof (str.at a 1) b)) :weight 2)"
    needs = trigger("Ints", 3).replace(
        "(check-sat)", f"(declare-const a String)(declare-const b String){more}(check-sat)"
    )
    found = Candidate("invalid-model", ("a",), "invalid-model|a|Ints+UnicodeStrings", "a")
    keys: set[str] = set()
    for word, other in (("str.at", "str.at"), ("str.at", "str.substr")):
        text = needs.replace(f"({word} a 1)", f"({other} a 1{' 1' * (other != word)})")
        keys.add(
            fold(key_of(found, text, lambda trial, o=other: "assert-soft" in trial and o in trial), keys)
        )
    assert keys == {"invalid-model|a|Ints+UnicodeStrings|objectives"}
    # Where nothing has to be optimised, the objectives are left out first.
    assert key_of(found, needs, shows("Ints")).key == "invalid-model|a|Ints|div"


def test_no_time_leaves_the_coarse_key_which_folds_into_a_smaller_known_one() -> None:
    text = trigger("Ints", 3)
    found = key_of(candidate(CLASSES[0], text), text, shows("Ints"), seconds=0.0)
    assert not found.complete
    assert found.key.startswith(candidate(CLASSES[0], text).key + "|")
    assert fold(found, ["soundness|bad|Ints", "soundness|bad|Ints|div"]) == "soundness|bad|Ints|div"
    assert fold(found, ["soundness|bad|Ints|mod"]) == found.key
    assert fold(found, ["soundness|bad|Ints", "invalid-model|bad|Ints"]) == "soundness|bad|Ints"
    assert fold(found, ["soundness|other|Ints"]) == found.key


def test_what_follows_from_another_formula_folds_into_the_nearest_finding() -> None:
    """No function can stand for an operator in one of two formulas, so its operators may say nothing."""
    text = "(declare-const x Int)(assert (> (mod (abs x) 3) 5))(check-sat)"
    key = "soundness|bad|implied|Ints"

    def shown(tried: str) -> bool:
        return "(abs " in tried and "(mod " in tried

    found = Candidate("soundness", ("bad",), key, "bad", oracle="implication")
    followed = key_of(found, text, shown)
    assert followed.key == "soundness|bad|implied|Ints|abs,mod"
    assert fold(followed, ["soundness|bad|implied|Ints|mod"]) == "soundness|bad|implied|Ints|mod"
    alone = key_of(replace(found, oracle="soundness"), text, shown)
    assert fold(alone, ["soundness|bad|implied|Ints|mod"]) == alone.key


def test_an_operator_that_only_makes_the_formula_unsatisfiable_is_left_out() -> None:
    """The solver lies about one operator; the other one matters because the right answer is unsat."""
    text = '(assert (str.in_re (str.replace_all "a" "b" "c") re.none))(check-sat)'
    found = Candidate("soundness", ("bad",), "soundness|bad|UnicodeStrings", "bad", oracle="soundness")

    def shows(trial: str) -> bool:
        unsat = "(assert false)" in trial or ("str.in_re" in trial and "re.none" in trial)
        return "(str.replace_all " in trial and unsat

    assert key_of(found, text, shows).key.endswith("|str.replace_all")
    # Of a fault that false hides, both operators are part.
    hidden = key_of(found, text, lambda trial: shows(trial) and "(assert false)" not in trial)
    assert hidden.key.endswith("|str.in_re,str.replace_all")


def test_an_operator_in_a_definition_is_left_out_too() -> None:
    text = "(define-fun a () (Array Int Int) (store ((as const (Array Int Int)) 0) 1 2))(check-sat)"
    found = Candidate("soundness", ("bad",), "soundness|bad|ArraysEx+Ints", "bad", oracle="soundness")
    assert key_of(found, text, lambda trial: "(store " in trial).key == "soundness|bad|ArraysEx+Ints|store"


def test_of_the_same_operators_one_theory_in_common_is_enough() -> None:
    known = "soundness|a|ArraysEx+FixedSizeBitVectors|select"
    assert fold(FoundKey("soundness|a|ArraysEx+Ints|select", "", True), [known]) == known
    assert fold(FoundKey("soundness|a|Core|select", "", True), [known]) == known
    for other in ("soundness|a|Ints+Quantifiers|+", "soundness|a|ArraysEx+Ints|store"):
        assert fold(FoundKey(other, "", True), [known, "soundness|a|Quantifiers+Reals|+"]) == other


def test_an_answer_that_is_missing_is_counted_by_theories() -> None:
    """Of operators a solver that gives up has any mixture, so they tell nothing."""
    text = "(declare-const x Int)(declare-const y Real)(assert (> (* x x) 5))(assert (> y 1.0))(check-sat)"
    key = "incompleteness|bad|implied|Ints+Nonlinear+Reals"
    found = Candidate("incompleteness", ("bad",), key, "bad", oracle="implication")
    left = key_of(found, text, lambda tried: "(* x x)" in tried)
    assert left.key == "incompleteness|bad|implied|Ints+Nonlinear"
    assert fold(left, ["incompleteness|bad|implied|Ints"]) == "incompleteness|bad|implied|Ints"
    assert (
        fold(left, ["incompleteness|bad|implied|Ints+UnicodeStrings", "soundness|bad|implied|Ints"])
        == left.key
    )


def test_a_complete_key_folds_into_nothing_else() -> None:
    found = FoundKey("soundness|a|Ints+Reals", "", True)
    assert fold(found, ["soundness|a|Ints"]) == found.key


@pytest.mark.parametrize(
    ("key", "known", "folds"),
    [
        ("invalid-model|z3|Ints+UF|tree-order", "invalid-model|z3|UF|tree-order", True),
        ("invalid-model|z3|UF|tree-order", "invalid-model|z3|Ints+UF|tree-order", True),
        ("invalid-model|z3|Ints+UF|tree-order", "invalid-model|z3|Reals+UF|tree-order", False),
        ("invalid-model|z3|Ints+UF|tree-order", "soundness|z3|Ints+UF|tree-order", False),
        ("invalid-model|z3[nnf.mode=full]|UF|tree-order", "invalid-model|z3|UF|tree-order", True),
        ("invalid-model|z3|UF|tree-order", "invalid-model|z3[nnf.mode=full]|UF|tree-order", False),
        ("invalid-model|z3[a=1,b=2]|UF|f", "invalid-model|z3[b=2]|UF|f", True),
        ("invalid-model|z3[a=1]|UF|f", "invalid-model|z3[b=2]|UF|f", False),
        ("invalid-model|z3|Ints+UF", "invalid-model|z3|UF", False),
        ("crash|z3[a=1]|signal SIGSEGV|Ints", "crash|z3[a=1]|signal SIGSEGV|UnicodeStrings|str.to_int", True),
        ("crash|z3[a=1]|signal SIGSEGV|Ints", "crash|z3[a=2]|signal SIGSEGV|Ints", False),
        ("crash|z3[a=1]|signal SIGABRT|Ints", "crash|z3[a=1]|signal SIGSEGV|Ints", False),
        ("crash|z3|signal SIGSEGV|Ints", "crash|z3|signal SIGSEGV|UnicodeStrings", False),
        ("crash|z3-4.8.5|signal SIGSEGV|Ints|div", "crash|z3|signal SIGSEGV|Ints|div", False),
        ("soundness|z3[check-sat-using=nnf]|Ints", "soundness|z3[tactic.default_tactic=nnf]|Ints", True),
        ("soundness|z3[check-sat-using=nnf]|Ints", "soundness|z3[tactic.default_tactic=nnf]|Reals", True),
        ("soundness|z3[a=1]|Ints", "soundness|z3[a=1]|Reals|abs", False),
        ("soundness|z3[a=1,b=2]|Ints", "soundness|z3[a=1]|Reals", False),
        ("soundness|z3|Ints", "soundness|z3|Reals", False),
        ("soundness|z3[check-sat-using=nnf]|Ints", "soundness|z3[tactic.default_tactic=qe2]|Ints", False),
    ],
)
def test_keys_that_differ_in_what_says_nothing_are_one_cause(key: str, known: str, folds: bool) -> None:
    assert fold(FoundKey(key, "", True), ["soundness|a|Ints", known]) == (known if folds else key)


def test_a_key_has_one_release_and_a_hunt_counts_under_keys_without_one() -> None:
    key = "soundness|z3|Ints|div"
    made = refined(refined(key, "fixed in 4.8.9"), "since 4.8.7")
    assert made == f"{key}|since 4.8.7"
    assert fold(FoundKey("soundness|z3|Ints+Reals|div", "", False), [made]) != made
    assert fold(FoundKey(key, "", True), [made]) == key
    assert fold(FoundKey(made, "", True), [key]) == made


def test_many_keys_are_compared_in_little_time() -> None:
    known: dict[str, None] = {}
    start = time.process_time()
    for number in range(800):
        solver = f"z3[opt{number % 50}=true]+cvc5"
        known[count_under(f"soundness|{solver}|Ints+Reals|abs,div,op{number}", known)] = None
    assert len(known) == 800
    # A quarter of a second; ten times as long where each comparison takes a key apart.
    assert time.process_time() - start < 1.2


CAUSES_MADE = size(3, 6)


@pytest.mark.slow
def test_structural_causes_of_one_class_and_theory_stay_apart(starter: Path) -> None:
    """Generated tests with planted structures, ten of each, judged and keyed by the hunt's own code."""
    options = ("--triggers", 10 * CAUSES_MADE, "--causes", CAUSES_MADE, "--seconds", 20, "--corpus", starter)
    ended = run_script("bench_keys", *options, "--json")
    assert ended.returncode == 0, ended.stderr
    results = json.loads(ended.stdout)
    assert results["before_reduction"] > 3 * CAUSES_MADE
    assert (results["findings"], results["mixed"], results["split"]) == (CAUSES_MADE, 0, 0), results["keys"]


def test_an_operator_that_a_function_can_stand_for_is_not_in_the_key() -> None:
    text = "(declare-fun x () Int)(declare-fun s () String)\n"
    text += "(assert (<= (str.len s) (+ (div x 3) (abs x))))\n(check-sat)\n"

    def check(trial: str) -> bool:
        return "(div " in trial and "check-sat" in trial

    found, reported = essential_operators(text, check, time.monotonic() + 60)
    assert (found, reported) == (("div",), True)
    assert essential_operators(text, check, 0.0) == (("+", "abs", "div", "str.len"), False)
    assert essential_operators("(((", check, 0.0) == ((), True)


def test_the_abstracted_script_is_well_sorted() -> None:
    text = trigger("Datatypes", 5)
    tried: list[str] = []

    def check(trial: str) -> bool:
        tried.append(trial)
        return True

    essential_operators(text, check, time.monotonic() + 60)
    assert tried
    assert all(check_script(read_script(trial)).is_well_sorted for trial in tried)
