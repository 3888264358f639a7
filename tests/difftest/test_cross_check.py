"""Models of one solver in another: read and carried over exactly, no false alarm where SMT-LIB leaves things
open.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from difftest import Limits, Solver, find_solvers
from difftest.models.algebraic import (
    NotAlgebraic,
    from_interval,
    from_root_object,
    isolate,
    rational,
)
from difftest.models.cross_check import (
    CrossCheck,
    ambiguous_operators,
    ask_for_model,
    asking,
    check_model,
    put_in,
)
from difftest.models.model_reader import NotCheckable, read_model
from difftest.models.totalise import not_total
from smtlib.reader import read_sexps
from solvers.running.runner import Runner
from solvers.running.script import Script

Fake = Callable[..., Solver]
LIMITS = Limits(seconds=20)
Z3, CVC5 = find_solvers(["z3", "cvc5"])
HEAD = "(set-logic ALL)"

# What a model has to hold, and the solvers that print one.
BOTH = ("z3", "cvc5")
KINDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "numbers": (
        "(declare-const i Int)(declare-const r Real)(assert (< i (- 5)))(assert (= (* 3.0 r) (- 7.0)))",
        BOTH,
    ),
    "functions": (
        "(declare-fun f (Int Int) Bool)(assert (f 1 2))(assert (not (f 2 1)))(assert (f (- 3) 0))",
        BOTH,
    ),
    "functions of functions": (
        "(declare-fun f (Int) Int)(declare-fun g (Int) Int)(assert (= (f (g 1)) (+ (g (f 1)) 1)))",
        BOTH,
    ),
    "bit vectors": ("(declare-const b (_ BitVec 9))(assert (= (bvmul b #b000000011) #b000000111))", BOTH),
    "floating point": (
        "(declare-const x Float32)(declare-const y Float64)(declare-const m RoundingMode)"
        "(assert (fp.isNaN x))(assert (fp.isSubnormal y))(assert (not (= m RNE)))",
        BOTH,
    ),
    "strings": (
        '(declare-const s String)(declare-const t String)(assert (= s (str.++ "\\u{5c}" "u{41}" t)))'
        '(assert (= t "a""b\\u{1f600}"))',
        BOTH,
    ),
    "sequences": (
        "(declare-const s (Seq Int))(assert (= (seq.len s) 3))(assert (= (seq.nth s 1) (- 5)))",
        BOTH,
    ),
    "arrays": (
        "(declare-const a (Array Int Bool))(declare-const b (Array Int Int))"
        "(assert (distinct (select a 3) (select a 4)))(assert (= (select b (select b 0)) 7))",
        BOTH,
    ),
    "constant arrays": (
        "(declare-const a (Array Int Int))(declare-const i Int)"
        "(assert (forall ((j Int)) (< (select a j) (- 3))))(assert (< i (select a 5)))",
        ("z3",),
    ),
    "nested arrays": (
        "(declare-const a (Array Int (Array Int Real)))(assert (> (select (select a 1) 2) 3.5))",
        ("z3",),
    ),
    "datatypes": (
        "(declare-datatypes ((L 0) (P 2)) (((nil) (cons (hd Int) (tl L)))"
        " (par (X Y) ((mk (fst X) (snd Y))))))"
        "(declare-const l L)(declare-const p (P Int Bool))(assert ((_ is cons) (tl l)))"
        "(assert (= (hd (tl l)) 7))(assert (snd p))",
        BOTH,
    ),
    "uninterpreted sorts": (
        "(declare-sort S 0)(declare-fun f (S) S)(declare-const a S)(declare-const b S)"
        "(assert (distinct a b (f a) (f b)))",
        BOTH,
    ),
    "quantified uninterpreted sorts": (
        "(declare-sort S 0)(declare-fun f (S) S)(declare-const a S)(assert (distinct a (f a)))"
        "(assert (forall ((x S)) (= (f (f x)) x)))",
        ("z3",),
    ),
    "arrays of uninterpreted sorts": (
        "(declare-sort S 0)(declare-const a (Array S S))(declare-const s S)(declare-const t S)"
        "(assert (distinct s t))(assert (= (select a s) t))",
        BOTH,
    ),
    "algebraic numbers": (
        "(declare-const r Real)(declare-const q Real)(assert (= (* r r) 2.0))(assert (< r 0.0))"
        "(assert (= (* q q q) (+ q 7.5)))",
        BOTH,
    ),
    "named terms and definitions": (
        "(declare-const x Int)(define-fun d ((y Int)) Int (+ y 1))(assert (! (> (d x) 3) :named n))"
        "(assert (or n (= x 0)))",
        BOTH,
    ),
}


def cross_check(
    owner: Solver, text: str, runner: Runner, judges: list[Solver] | None = None, check: int = 0
) -> CrossCheck:
    return check_model(runner, owner, Script(text.encode()), check, judges or [Z3, CVC5], LIMITS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.few(8)
def test_models_of_all_kinds_are_confirmed_by_both_solvers(kind: str, runner: Runner) -> None:
    text, owners = KINDS[kind]
    logic = "(set-logic QF_NRA)" if kind == "algebraic numbers" else HEAD
    for owner in (Z3, CVC5):
        if owner.name in owners:
            found = cross_check(owner, f"{logic}{text}(check-sat)", runner)
            assert (found.cause, dict(found.answers)) == ("", {"z3": "sat", "cvc5": "sat"}), found.formula


# Formulas with a model only by the owner's own choice of what SMT-LIB leaves open.
OPEN = {
    "integer division": "(declare-const x Int)(assert (= (div x 0) 17))(assert (= (mod x 0) 5))",
    "real division": "(declare-const x Real)(assert (= (/ x 0.0) 17.0))(assert (> x 2.0))",
    "chained division": "(declare-const x Int)(declare-const y Int)"
    "(assert (= (div 9 x y) 17))(assert (= x y 0))",
    "zeros": "(declare-const x Float32)(declare-const y Float32)(assert (fp.isZero x))(assert (fp.isZero y))"
    "(assert (fp.isNegative x))(assert (fp.isPositive y))(assert (fp.isNegative (fp.max x y)))",
    "out of range": "(declare-const x Float32)(assert (fp.isNaN x))(assert (= ((_ fp.to_ubv 8) RNE x) #x2a))",
    "infinity": "(declare-const x Float32)(assert (fp.isInfinite x))(assert (= (fp.to_real x) 42.0))",
    "selectors": "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))(declare-const l L)"
    "(assert (= l nil))(assert (= (hd l) 42))",
    "sequences": "(declare-const s (Seq Int))(assert (= (seq.len s) 0))(assert (= (seq.nth s 3) 42))",
}


@pytest.mark.parametrize("kind", OPEN)
@pytest.mark.few(4)
def test_what_smtlib_leaves_open_refutes_no_model(kind: str, runner: Runner) -> None:
    answered = 0
    for owner in (Z3, CVC5):
        found = cross_check(owner, f"{HEAD}{OPEN[kind]}(check-sat)", runner)
        assert found.refuted_by == (), found.formula
        answered += "sat" in found.answers.values()
    assert answered


def test_where_an_operator_is_defined_its_meaning_is_kept(fake: Fake, runner: Runner) -> None:
    text = f"{HEAD}(declare-const x Int)(assert (= (div 7 x) 3))(check-sat)"
    liar = fake("say('sat', '((define-fun x () Int 3))')")
    assert cross_check(liar, text, runner).refuted_by == ("z3", "cvc5")
    text = f"{HEAD}(declare-const x Float32)(assert (= ((_ fp.to_ubv 8) RNE x) #x2a))(check-sat)"
    liar = fake("say('sat', '((define-fun x () Float32 (fp #b0 #x80 #b00000000000000000000000)))')")
    assert cross_check(liar, text, runner).refuted_by == ("z3", "cvc5")


def test_an_operator_of_one_argument_is_left_open(fake: Fake, runner: Runner) -> None:
    text = f"{HEAD}(declare-const x Int)(assert (= (div x) 5))(check-sat)"
    found = cross_check(fake("say('sat', '((define-fun x () Int 2))')"), text, runner, [Z3])
    assert found.refuted_by == ()


def test_an_operator_that_cannot_be_made_total_is_no_ground_to_refute(fake: Fake, runner: Runner) -> None:
    text = f"{HEAD}(declare-const x Int)(assert (= (^ x 2) 5))(check-sat)"
    found = cross_check(fake("say('sat', '((define-fun x () Int 2))')"), text, runner, [Z3])
    assert found.answers["z3"] == "not defined everywhere: ^"


@pytest.mark.parametrize(
    ("text", "model", "solver", "operator"),
    [
        (
            "(declare-const n (Nullable Int))(assert (= (nullable.val n) 5))",
            "((define-fun n () (Nullable Int) (as nullable.null (Nullable Int))))",
            CVC5,
            "nullable.val",
        ),
        (
            "(declare-const l (List Int))(assert (= (head l) 5))",
            "((define-fun l () (List Int) (as nil (List Int))))",
            Z3,
            "head",
        ),
    ],
)
def test_operators_of_one_solver_without_a_value_for_all_arguments_are_left_open(
    text: str, model: str, solver: Solver, operator: str, fake: Fake, runner: Runner
) -> None:
    script = f"{HEAD}{text}(check-sat)"
    owner = fake(f"say('sat', {model!r})")
    assert put_in(Script.of(script), 0, model).open_operators == (operator,)
    assert cross_check(owner, script, runner, [solver]).refuted_by == ()
    assert ambiguous_operators(Script.of(script), 0) == (operator,)


def test_what_depends_on_an_order_that_nothing_states_is_not_total() -> None:
    assert {"rel.aggr", "table.aggr", "set.fold"} <= not_total()


def test_a_declared_symbol_may_have_the_name_of_an_open_operator() -> None:
    text = (
        f"{HEAD}(declare-datatypes ((L 0)) (((none) (cons (head Int) (tail L)))))"
        "(declare-const l L)(assert (= (head l) 5))(check-sat)"
    )
    assert ambiguous_operators(Script.of(text), 0) == ()


@pytest.mark.parametrize(
    ("model", "answer"),
    [
        ("((define-fun x () Int 3))", "unsat"),
        ("(model (define-fun x () Int 4))", "sat"),
        ("((define-fun x () Int 4) (define-fun other () Int 9))", "sat"),
        ("((define-fun x () Int (k 1)) (define-fun k ((y Int)) Int (+ y 3)))", "sat"),
        ("()", "sat"),
    ],
)
def test_what_a_model_says_is_what_is_checked(model: str, answer: str, fake: Fake, runner: Runner) -> None:
    text = f"{HEAD}(declare-const x Int)(assert (= x 4))(check-sat)"
    assert cross_check(fake(f"say('sat', {model!r})"), text, runner).answers == {"z3": answer, "cvc5": answer}


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("say('unsat')", "no sat when the model is requested"),
        ("say('sat')", "no model was printed"),
        ("say('sat', '(error \"no\")')", "an error instead of a model"),
        ("say('sat', '((define-fun x () Int')", "the model cannot be read"),
        ("say('sat', '(= x 4)')", "the model is not in SMT-LIB\\'s form"),
        ("say('sat', '((define-fun x () Int y))')", "the model is not well sorted for us"),
        ("say('sat', '((define-fun x () Real 1.0))')", "a value of another sort than is declared"),
        (
            "say('sat', '((define-fun x () Int (k 1)) (define-fun k ((y Int)) Int (h y))"
            " (define-fun h ((y Int)) Int (k y)))')",
            "definitions of the model depend on each other",
        ),
        ("say('sat', '(' * 3000)", "the model cannot be read"),
        ("say('sat', '(' + 'x ' * 600000 + ')')", "the model is too long"),
        ("os.abort()", "no answer when the model is requested"),
        ("say('sat', '((define-fun x () Int (_ as-array q)))')", "as-array of an unknown function"),
        ("say('sat', '((define-fun x () Int (root-obj x 9)))')", "an algebraic number that cannot be read"),
    ],
)
def test_what_cannot_be_carried_over_has_a_cause(body: str, cause: str, fake: Fake, runner: Runner) -> None:
    text = f"{HEAD}(declare-const x Int)(declare-fun f (Int) Int)(assert (= (f x) 4))(check-sat)"
    found = cross_check(fake(body), text, runner, [Z3])
    assert (found.cause, found.answers) == (cause.replace("\\", ""), {})


def test_models_of_overloaded_functions_are_not_carried_over(runner: Runner) -> None:
    text = (
        f"{HEAD}(declare-fun f (Int) Int)(declare-fun f (Real) Real)"
        "(assert (= (f 1) 2))(assert (= (f 1.0) 3.0))(check-sat)"
    )
    assert cross_check(Z3, text, runner, [Z3]).cause == "an overloaded function"


def test_functions_for_arrays_become_stores_or_a_quantifier() -> None:
    chain = "(define-fun k ((x Int)) Int (ite (= x 3) 1 (ite (= x 3) 2 7)))"
    text = f"({chain} (define-fun a () (Array Int Int) (_ as-array k)))"
    (unit,) = [u for n, u in read_model(text, ["a"], []).units.items() if n.startswith("array")]
    assert unit.commands[0].endswith("(store (store ((as const (Array Int Int)) 7) 3 2) 3 1))")
    text = "((define-fun a () (Array Int Int) (lambda ((x Int)) (+ x 1))))"
    (unit,) = [u for n, u in read_model(text, ["a"], []).units.items() if n.startswith("array")]
    assert unit.commands[1].startswith("(assert (forall ((x Int)) (= (select ")


def test_the_order_of_a_model_does_not_depend_on_that_of_a_set() -> None:
    names = [f"f{number}" for number in range(10)]
    functions = "".join(f"(define-fun {name} ((x Int)) Int x)" for name in names)
    value = f"(+ {' '.join(f'({name} 0)' for name in names)})"
    model = read_model(f"({functions} (define-fun c () Int {value}))", ["c"], [])
    assert list(model.units) == ["c", *reversed(names)]
    array = f"(lambda ((x Int)) {value})"
    model = read_model(f"({functions} (define-fun c () (Array Int Int) {array}))", ["c"], [])
    assert list(model.units) == ["array!!1", *names, "c"]


def test_the_first_condition_decides_in_a_store_chain_too(fake: Fake, runner: Runner) -> None:
    text = f"{HEAD}(declare-const a (Array Int Int))(assert (= (select a 3) 1))(check-sat)"
    chain = "(lambda ((x Int)) (ite (= x 3) 1 (ite (= x 3) 2 7)))"
    owner = fake(f"say('sat', '((define-fun a () (Array Int Int) {chain}))')")
    assert cross_check(owner, text, runner, [Z3]).answers == {"z3": "sat"}


@pytest.mark.parametrize("printed", ['"a\\x41"', '"\\n"'])
def test_escapes_of_old_releases_are_not_guessed(printed: str) -> None:
    with pytest.raises(NotCheckable) as caught:
        read_model(f"((define-fun s () String {printed}))", ["s"], [])
    assert "escapes" in caught.value.cause


def test_elements_are_read_however_they_are_printed() -> None:
    cvc5 = "(\n; rep: (as @S_0 S)\n; rep: (as @S_1 S)\n(define-fun a () S (as @S_1 S)))"
    assert read_model(cvc5, ["a"], ["S"]).elements == {"S": ["|S!@S_0|", "|S!@S_1|"]}
    z3 = "((declare-fun S!val!1 () S) (forall ((x S)) (= x S!val!1)) (define-fun a () S S!val!0))"
    assert read_model(z3, ["a"], ["S"]).elements == {"S": ["S!val!1", "S!val!0"]}
    old = "((define-fun a () S @uc_S_3))"
    assert read_model(old, ["a"], ["S"]).elements == {"S": ["|S!@uc_S_3|"]}
    with pytest.raises(NotCheckable):
        read_model("((define-fun a () Int (as @T_0 T)))", ["a"], ["S"])


def test_a_larger_domain_saves_a_model(fake: Fake, runner: Runner) -> None:
    # With the one element that is named it is false, with more it may be true: no claim is made.
    text = f"{HEAD}(declare-sort S 0)(declare-const a S)(assert (exists ((x S)) (distinct x a)))(check-sat)"
    owner = fake("say('sat', '((define-fun a () S (as @S_0 S)))')")
    assert cross_check(owner, text, runner).refuted_by == ()
    text = f"{HEAD}(declare-sort S 0)(declare-const a S)(declare-const b S)(assert (= a b))(check-sat)"
    owner = fake("say('sat', '((define-fun a () S (as @S_0 S)) (define-fun b () S (as @S_1 S)))')")
    assert cross_check(owner, text, runner).refuted_by == ("z3", "cvc5")


def test_levels_and_assumptions_are_those_of_the_question(runner: Runner) -> None:
    text = (
        f"{HEAD}(declare-const x Int)(push 1)(assert (= x 1))(check-sat)(get-value (x))(pop 1)"
        '(declare-const p Bool)(assert (=> p (= x 2)))(check-sat-assuming (p))(echo "sat")(check-sat)'
    )
    for check, value in ((0, "1"), (1, "2")):
        script = Script(text.encode())
        printed, _ = ask_for_model(runner, Z3, script, check, LIMITS)
        formula = put_in(script, check, printed).formula
        assert f"(define-fun x () Int {value})" in formula
        assert cross_check(Z3, text, runner, check=check).answers == {"z3": "sat", "cvc5": "sat"}
    assert b"get-value" not in asking(Script(text.encode()), 1)
    assert b":status" not in asking(Script(f"(set-info :status unsat){text}".encode()), 1)


def test_an_experimental_options_word_alone_refutes_nothing(fake: Fake, runner: Runner) -> None:
    text = f"{HEAD}(declare-const a (Array Int Int))(assert (= (select a 1) 5))(check-sat)"
    model = "((define-fun a () (Array Int Int) ((as const (Array Int Int)) (- 4))))"
    stubborn = fake(f"say('sat', {model!r})")
    assert cross_check(stubborn, text, runner, [CVC5]).answers == {
        "cvc5": "unsat by an experimental option alone"
    }
    contrite = fake(f"say('unsat') if 'as const' in text else say('sat', {model!r})", "contrite")
    assert cross_check(contrite, text, runner, [CVC5]).refuted_by == ("cvc5",)


# Algebraic numbers

ROOTS = st.lists(st.fractions(-20, 20, max_denominator=7), min_size=1, max_size=5, unique=True)


def expanded(roots: list[Fraction]) -> tuple[Fraction, ...]:
    polynomial = [Fraction(1)]
    for root in roots:
        times_x = [Fraction(0), *polynomial]
        polynomial = [a - root * b for a, b in zip(times_x, [*polynomial, Fraction(0)], strict=True)]
    return tuple(polynomial)


@given(ROOTS, st.data())
def test_the_interval_of_a_root_holds_it_alone(roots: list[Fraction], data: st.DataObject) -> None:
    number = data.draw(st.integers(1, len(roots)))
    low, high = isolate(expanded(roots), number)
    assert [root for root in roots if low < root <= high] == [sorted(roots)[number - 1]]


@given(ROOTS)
def test_double_roots_count_once_and_there_are_no_more(roots: list[Fraction]) -> None:
    polynomial = expanded([*roots, roots[0]])
    low, high = isolate(polynomial, len(roots))
    assert low < max(roots) <= high
    with pytest.raises(NotAlgebraic):
        isolate(polynomial, len(roots) + 1)


def test_both_solvers_spellings_are_the_same_number() -> None:
    z3 = from_root_object(read_sexps("(root-obj (+ (* 2 (^ x 3)) (* (- 2) x) (- 15)) 1)")[0])
    cvc5 = from_interval("<2*x^3 + (-2*x) + (-15), (2, 9/4)>")
    assert z3.polynomial == cvc5.polynomial == tuple(map(Fraction, (-15, -2, 0, 2)))
    assert (cvc5.low, cvc5.high) == (Fraction(2), Fraction(9, 4))
    assert rational(Fraction(-9, 4)) == "(- (/ 9.0 4.0))"
    assert from_interval("<-1*x^2 + x + 1, (1, 2)>").polynomial == tuple(map(Fraction, (1, 1, -1)))


@pytest.mark.parametrize(
    "text", ["(root-obj (sin x) 1)", "(root-obj 5 1)", "(root-obj x)", "(root-obj (^ x 99) 1)"]
)
def test_what_is_no_algebraic_number_is_reported(text: str) -> None:
    with pytest.raises(NotAlgebraic):
        from_root_object(read_sexps(text)[0])


@pytest.mark.parametrize("number", [f"{'9' * 5000}*x + 1, (1, 2)", "x + 1, (1/0, 2)"])
def test_a_number_that_cannot_be_read_is_not_checked(number: str) -> None:
    text = f"((define-fun r () Real (_ real_algebraic_number <{number}>)))"
    with pytest.raises(NotCheckable, match="an algebraic number that cannot be read"):
        read_model(text, ["r"], [])
