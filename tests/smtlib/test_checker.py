"""The sort checker beyond the table of known answers: recovery, scopes, conversions, growth."""

from __future__ import annotations

from pathlib import Path

import pytest

from smtlib import BOOL, INT, REAL, CheckedScript, Kind, check_script, print_script, read_script
from smtlib.errors import TheoryError
from smtlib.theory import Theories, load_theories


def check(text: str, theories: Theories | None = None) -> CheckedScript:
    return check_script(read_script(text), theories)


def messages(text: str) -> list[str]:
    return [str(e) for e in check(text).errors]


# Errors


def test_an_error_says_term_sorts_and_signature() -> None:
    (error,) = check("(declare-const x Int)\n(assert (= 1\n   (str.len (+ x 1))))").errors
    assert "no rank of str.len for (+ x 1) : Int" in error.message
    assert "(str.len String Int)" in error.message.split("expected")[1]
    assert (error.line, error.column) == (3, 4)


def test_long_arguments_are_cut_in_messages() -> None:
    (error,) = check(f"(assert (not {'(and true ' * 500}true{')' * 500} 1))").errors
    assert len(error.message) < 200


def test_the_rest_of_a_script_is_checked_after_an_error() -> None:
    checked = check("(declare-const x Int)(assert (= x y))(assert (> x 0))(frob)(assert (< x z))")
    assert [c.name for c in checked.commands] == ["declare-const", "assert"]
    assert [c.index for c in checked.commands] == [0, 2]
    assert len(checked.errors) == 3
    assert not checked.is_well_sorted
    assert print_script(checked) == "(declare-const x Int)\n(assert (> x 0))\n"


def test_the_first_unknown_symbol_has_a_hint() -> None:
    first, second = messages("(declare-const count Int)(assert (= cuont 1))(assert (= coumt 1))")
    assert first.endswith("unknown symbol cuont; did you mean count?")
    assert second.endswith("unknown symbol coumt")


def test_a_script_may_declare_choice() -> None:
    assert check("(declare-fun choice (Int) Int)(assert (= (choice 1) 2))").errors == []
    assert check("(assert (= (choice ((x Int)) (> x 0)) 1))").errors == []


def test_datatypes_with_arities_may_have_constructors_of_bare_names() -> None:
    assert messages("(declare-datatypes ((E 0)) ((red green)))(assert (distinct red green))") == []
    assert (
        messages("(declare-datatypes (T) ((L nil (cons (head T) (tail L)))))(declare-const l (L Int))") == []
    )


def test_a_constructor_is_known_again_after_an_inner_one_of_its_name() -> None:
    inner = "(push 1)(declare-datatype B ((c (x Int))))(assert ((_ is c) (c 1)))(pop 1)"
    text = f"(declare-datatype A ((c)))(declare-const a A){inner}(assert ((_ is c) a))"
    assert messages(f"{text}(assert (match a ((c true))))(assert (is-c a))") == []


def test_an_error_inside_binders_leaves_no_names_behind() -> None:
    first, second = messages("(assert (exists ((x Int)) (let ((y 1)) (and x))))\n(assert (= x y))")
    assert first.startswith("1:40: no rank of and")
    assert second.startswith("2:9: unknown symbol")


def test_an_error_in_a_definition_leaves_no_parameters_behind() -> None:
    assert len(messages("(define-fun f ((x Int)) Int true)(assert (= x 1))(assert (f 1))")) == 3


def test_a_failed_datatype_leaves_the_script_usable() -> None:
    checked = check("(declare-datatypes ((D 0)) (((c (s D)))))(declare-const x Int)(assert (= x 1))")
    assert len(checked.errors) == 1
    assert len(checked.assertions) == 1


@pytest.mark.parametrize(
    "text",
    [
        "(declare-const l Int)(assert (match l (((cons (a) b) true))))",
        "(declare-datatype L ((nil) (cons (h Int))))(declare-const l L)(assert (match l ((() true))))",
        "(declare-datatype L ((nil) (c (h Int))))(declare-const l L)(assert (match l (((c (a)) true))))",
        "(declare-const a (Array Int Int))(assert ((_ map ()) a))",
        "(declare-const a (Array Int Int))(assert ((_ map ((f))) a))",
        "(define-sort A (((x))) Int)",
        "(define-sort A abc Int)",
        "(push \u00b2)",
        "(push 99999999999999999999)",
        "(declare-sort S \u0663)",
        f"(assert (= (_ bv1 {'9' * 5000}) #b1))",
        f"(assert (= (_ bv{'9' * 5000} 4) #b1))",
        f"(assert (= #f1m{'9' * 5000} #b1))",
        f"(declare-const x (_ BitVec {'9' * 5000}))",
        f"(assert ((_ extract {'9' * 5000} 0) #b1))",
        "(assert ((_ (f) 1) true))",
        "(assert ((as) true))",
        "(assert (as x))",
        "(assert (_ x))",
        "(assert (_ bv1))",
        "(assert (let true true))",
        "(assert (let ((x)) true))",
        "(assert (let (x) true))",
        "(assert (forall x true))",
        "(assert (forall (x) true))",
        "(assert (forall ((x)) true))",
        "(assert (forall (((x) Int)) true))",
        "(assert (! true))",
        "(assert (! true named))",
        "(assert (! true :named (a b)))",
        "(assert (! true :named))",
        "(assert (! true (x)))",
        "(assert (match true))",
        "(assert (match true true))",
        "(assert (match true ()))",
        "(assert ((f) true))",
        "(assert (() true))",
        "(assert)",
        "(set-logic)",
        "(set-logic (QF_LIA))",
        "(declare-fun f Int Int)",
        "(declare-fun f (Int))",
        "(declare-const x ())",
        "(declare-const x ((Array) Int Int))",
        "(declare-const x (_ BitVec))",
        "(declare-const x (_ BitVec x))",
        "(declare-const x (_))",
        "(declare-const x (-> Int))",
        "(define-fun f (x) Int 1)",
        "(define-fun f x Int 1)",
        "(define-funs-rec ((f () Int)) ())",
        "(define-funs-rec (f) (1))",
        "(define-funs-rec f f)",
        "(declare-datatypes)",
        "(declare-datatypes x y)",
        "(declare-datatypes (x) (y))",
        "(declare-datatypes (x) (((y) a)))",
        "(declare-datatypes () ((x)))",
        "(declare-datatypes ((x)) (()))",
        "(declare-datatypes ((x 0)) ((())))",
        "(declare-datatypes ((x 0)) ((((a)))))",
        "(declare-datatypes ((x 0)) (((a b))))",
        "(declare-datatypes ((x 0)) ((par)))",
        "(declare-datatypes ((x 0)) ((par (T))))",
        "(declare-datatypes (((a) 0)) (((b))))",
        "(declare-datatype x)",
        "(declare-datatype x (((y))))",
        "(get-value x)",
        "(check-sat-assuming true)",
        "(minimize)",
        "(pop 1 2)",
        "(assert (|| 1))",
    ],
)
def test_malformed_commands_are_errors_with_a_place(text: str) -> None:
    errors = check(text).errors
    assert errors
    assert all(e.line >= 1 and e.column >= 1 and e.message for e in errors)


# Scopes


def test_reset_assertions_closes_levels_and_keeps_what_stands_outside() -> None:
    text = "(declare-const x Int)(push)(declare-const y Int)(reset-assertions)(assert (= x 1))"
    assert messages(text) == []
    assert len(messages(text + "(assert (= y 1))")) == 1


def test_names_go_with_their_level() -> None:
    assert messages("(push)(assert (! true :named n))(pop)(assert (! false :named n))(assert n)") == []


def test_reset_forgets_a_higher_order_logic_and_keeps_global_declarations() -> None:
    functions = "(declare-const f (-> Int (-> Int Bool)))(declare-const g (-> Int Int Bool))(assert (= f g))"
    assert messages(f"(set-logic HO_ALL){functions}") == []
    assert "no rank of =" in messages(f"(set-logic HO_ALL)(reset){functions}")[0]
    used = "(push)(declare-const x Int)(pop)(assert (= x 1))"
    assert messages(f"(set-option :global-declarations true)(reset){used}") == []


def test_a_map_goes_with_its_level() -> None:
    text = "(declare-const a (Array Int Bool))(push)(declare-map m (Int) not)(assert (= (m a) a))(pop)"
    (message,) = messages(f"{text}(assert (= (m a) a))")
    assert message.endswith("unknown function m")


def test_a_named_term_in_a_definition_is_not_captured() -> None:
    checked = check(
        "(declare-const x Int)(assert (! (> x 0) :named a))(define-fun f ((x Int)) Bool (and a (> x 1)))"
    )
    assert print_script(checked).endswith("(define-fun f ((x!1 Int)) Bool (and (> x 0) (> x!1 1)))\n")


def test_overloaded_functions_are_distinguished_by_their_arguments() -> None:
    checked = check("(declare-fun f (Int) Int)(declare-fun f (Bool) Bool)(assert (f (= (f 1) 2)))")
    root = checked.assertions[0]
    assert root.sort is BOOL
    assert root.args[0].args[0].sort is INT
    assert len({t.op.declaration for t in (root, root.args[0].args[0])}) == 2


# Conversions


@pytest.mark.parametrize(
    ("logic", "sort"),
    [
        ("QF_LRA", REAL),
        ("LRA", REAL),
        ("QF_NRA", REAL),
        ("QF_UFLRA", REAL),
        ("QF_RDL", REAL),
        ("QF_LIA", INT),
        ("QF_LIRA", INT),
        ("AUFLIRA", INT),
        ("ALL", INT),
    ],
)
def test_numerals_of_a_logic(logic: str, sort: object) -> None:
    assert check(f"(set-logic {logic})(assert (= 1 1))").assertions[0].args[0].sort is sort


@pytest.mark.parametrize(
    ("term", "printed"),
    [
        ("(= r 1)", "(= r 1.0)"),
        ("(= r (- 1))", "(= r (- 1.0))"),
        ("(= x r)", "(= (to_real x) r)"),
        ("(= (/ x 2) r)", "(= (/ (to_real x) 2.0) r)"),
        ("(< 1 r x)", "(< 1.0 r (to_real x))"),
        ("(= (ite b x r) 1)", "(= (ite b (to_real x) r) 1.0)"),
        ("(= (+ b 1) 1)", "(= (+ (ite b 1 0) 1) 1)"),
        ("(distinct b 1)", "(distinct (ite b 1 0) 1)"),
        ("(= (f x) 2)", "(= (f (to_real x)) 2)"),
        ("(= (f r) (g r))", "(= (f r) (g (to_int r)))"),
        ("(is_int x)", "(is_int (to_real x))"),
        ("(= (select a r) 1)", "(= (select a (to_int r)) 1)"),
    ],
)
def test_conversions_become_explicit(term: str, printed: str) -> None:
    checked = check(
        "(declare-const x Int)(declare-const r Real)(declare-const b Bool)(declare-fun f (Real) Int)"
        f"(declare-fun g (Int) Int)(declare-const a (Array Int Int))(assert {term})"
    )
    assert checked.errors == []
    assert print_script(checked).splitlines()[-1] == f"(assert {printed})"


@pytest.mark.parametrize("term", ["(= (g b) 1)", "(select c b)", "(= (h 1) 1)"])
def test_a_bool_is_no_number_for_functions_and_arrays(term: str) -> None:
    assert messages(
        "(declare-const b Bool)(declare-fun g (Int) Int)(declare-fun h (Bool) Int)"
        f"(declare-const c (Array Int Bool))(assert {term})"
    )


@pytest.mark.parametrize(
    ("cases", "printed"),
    [
        ("((nil 0) ((cons _ t) 1))", "((nil 0) ((cons _!1 t) 1))"),
        ("((nil 0) ((cons _ _) 1))", "((nil 0) ((cons _!1 _!2) 1))"),
        ("((nil 0) (_ 1))", "((nil 0) (_!1 1))"),
    ],
)
def test_a_pattern_without_a_name_has_one_of_its_own(cases: str, printed: str) -> None:
    text = "(declare-datatype L ((nil) (cons (hd Int) (tl L))))(declare-const l L)"
    text += f"(assert (= 1 (match l {cases})))"
    checked = check_script(read_script(text))
    assert checked.errors == []
    assert f"(match l {printed})" in print_script(checked)
    assert messages(text.replace(" 1)", " _)"))


# Growth


def test_definitions_of_sorts_that_double_are_refused() -> None:
    text = "(define-sort A0 () Int)" + "".join(
        f"(define-sort A{i + 1} () (Array A{i} A{i}))" for i in range(60)
    )
    assert "sort longer than" in messages(text)[0]


def test_parametric_definitions_that_double_are_refused() -> None:
    text = "(define-sort A0 (T) (Array T T))" + "".join(
        f"(define-sort A{i + 1} (T) (A{i} (A{i} T)))" for i in range(20)
    )
    assert "sort" in messages(text + "(declare-const x (A20 Int))")[0]


def test_definitions_that_read_each_other_twice_are_read_once() -> None:
    text = "(define-sort A0 (T) T)" + "".join(
        f"(define-sort A{i + 1} (T) (A{i} (A{i} T)))" for i in range(60)
    )
    assert messages(text + "(declare-const x (A60 Int))(assert (= x 1))") == []


def test_a_sort_defined_again_stands_for_something_else() -> None:
    use = "(declare-const {0} (P Int))(assert (= {0} {1}))"
    text = (
        f"(push 1)(define-sort P (T) T){use.format('x', '1')}(pop 1)"
        f"(push 1)(define-sort P (T) (Array T T)){use.format('y', '((as const (P Int)) 1)')}(pop 1)"
        f"(define-sort P (T) T){use.format('x', '1')}"
        f"(reset)(define-sort P (T) Bool){use.format('z', 'true')}"
    )
    assert messages(text) == []


def test_chains_of_definitions_nest_no_deeper_than_sorts_may() -> None:
    nested = "(Array Int " * 150
    text = "".join(
        f"(define-sort A{i} () {nested}{f'A{i - 1}' if i else 'Int'}{')' * 150})" for i in range(9)
    )
    assert "nested deeper" in messages(text + "(declare-const a A8)(assert (= a a))")[0]


def test_terms_whose_sort_grows_with_their_depth_are_refused() -> None:
    text = "(assert (= 1 (seq.len " + "(seq.unit " * 1000 + "1" + ")" * 1000 + ")))"
    assert "sort nested deeper" in messages(text)[0]


def test_selectors_whose_sort_doubles_are_refused() -> None:
    text = (
        "(declare-datatypes ((P 2)) ((par (X Y) ((mk (fst X) (snd Y))))))"
        "(declare-datatypes ((D 1)) ((par (T) ((none) (some (s (D (P T T))))))))(declare-const d (D Int))"
        "(declare-const none3 Int)(assert (= none3 " + "(s " * 50 + "d" + ")" * 50 + "))"
    )
    assert "sort longer than" in messages(text)[0]


@pytest.mark.parametrize(
    "term",
    [
        "(let ((t0 leaf)) "
        + "".join(f"(let ((t{i + 1} (node t{i} t{i}))) " for i in range(60))
        + "(= t t60)"
        + ")" * 61,
        "(= t " + "(node leaf " * 2000 + "leaf" + ")" * 2001,
    ],
    ids=["doublings", "nested"],
)
def test_constructors_without_a_sort_may_double_and_nest(term: str) -> None:
    text = "(declare-datatypes ((Tree 1)) ((par (X) ((leaf) (node (l (Tree X)) (r (Tree X)))))))"
    assert messages(f"{text}(declare-const t (Tree Int))(assert {term})") == []


@pytest.mark.slow
def test_many_errors_are_placed_in_linear_time() -> None:
    count = 20_000
    errors = check("(assert x)\n" * count).errors
    assert [(error.line, error.column) for error in errors] == [(line + 1, 1) for line in range(count)]


def test_patterns_that_double_are_refused() -> None:
    for depth, count in ((11, 0), (2000, 1)):
        lets = "".join(f"(let ((a{i + 1} (f a{i} a{i}))) " for i in range(depth))
        text = f"(assert (forall ((a0 Int)) {lets}(! (P a{depth}) :pattern ((P a{depth}))){')' * depth}))"
        found = messages(f"(declare-fun f (Int Int) Int)(declare-fun P (Int) Bool){text}")
        assert len(found) == sum("patterns of more than 10000 terms" in message for message in found) == count


def test_levels_and_indices_have_limits() -> None:
    assert "more than 100000 levels" in messages("(push 999999)" * 40)[0]
    assert "indices must be numerals" in messages("(declare-const x (_ BitVec ²))")[0]
    repeated = "((_ repeat 999999999) " * 500 + "x" + ")" * 500
    assert "more than 1000 digits" in messages(f"(declare-const x (_ BitVec 8))(assert {repeated})")[0]


def test_an_index_may_begin_with_zeros_and_a_prime_be_large() -> None:
    prime = "52435875175126190479447740508185965837690552500527637822603658699938581184513"
    field = f"(_ FiniteField {prime})"
    text = f"(declare-const x {field})(assert (= x (as ff3 {field}) #f4m{prime}))"
    text += "(declare-const b (_ BitVec 000000000008))"
    text += f"(assert (= ((_ extract {'0' * 5000}7 00000000000) b) (_ bv5 0000000000008)))"
    assert messages(text) == []
    assert messages(f"(declare-const x (_ FiniteField {'1' * 1001}))") != []
    assert messages(f"(declare-const x (as ff{'1' * 5000} (_ FiniteField 7)))") != []


@pytest.mark.slow
def test_many_binders_of_one_name_are_renamed_in_linear_time() -> None:
    depth = 20_000
    checked = check("(assert " + "(exists ((x Int)) " * depth + "(= x 0)" + ")" * depth + ")")
    assert checked.errors == []
    assert checked.assertions[0].kind is Kind.BINDER


# Theories


def test_a_user_file_adds_and_narrows(tmp_path: Path) -> None:
    file = tmp_path / "mine.smt2"
    file.write_text("(theory Mine :funs ((twice Int Int)))\n(narrow Core :without (xor))\n")
    theories = load_theories([file])
    assert check("(assert (= (twice 1) 2))", theories).errors == []
    assert "unknown function xor" in check("(assert (xor true false))", theories).errors[0].message
    assert check("(assert (xor true false))").errors == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(theory", "mine.smt2: 1:1: '(' is never closed"),
        ("(logic A)", "mine.smt2: expected (theory NAME ...), found (logic A)"),
        ("(theory (A))", "mine.smt2: cannot be read: (theory (A))"),
        ("(theory A :functions ())", "unknown attribute :functions"),
        ("(theory A :funs)", ":funs needs a value"),
        ("(theory A :funs f)", ":funs: expected a list, found f"),
        ("(theory A :weight x)", ":weight x: expected a number such as 0.5"),
        ("(theory A :sorts ((S)))", "cannot be read: (S)"),
        ("(theory A :sorts ((S x)))", "cannot be read: (S x)"),
        ("(theory A :funs (()))", "expected (NAME SORT ... SORT), found ()"),
        ("(theory A :funs ((par (B))))", "cannot be read: (par (B))"),
        ("(theory A :funs ((f Int :min x)))", "cannot be read: (f Int :min x)"),
        ("(theory A :funs ((f Int :values (x))))", "cannot be read: (f Int :values (x))"),
        ("(theory A :funs ((f Int :left-assoc)))", ":left-assoc needs two parameters in (f Int"),
        ("(theory A :funs ((f :open)))", "no result sort in (f :open)"),
        ("(theory A :funs ((f Int :loud)))", "unknown attribute :loud"),
    ],
)
def test_a_bad_theory_file_gets_one_line_that_names_it(text: str, message: str) -> None:
    with pytest.raises(TheoryError) as caught:
        Theories().add_file(text, "mine.smt2")
    assert str(caught.value).startswith("mine.smt2: ")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "failed",
    [
        "(define-fun-rec f ((n Int)) Int true)",
        "(define-funs-rec ((f ((n Int)) Int) (g () Int)) (1 true))",
        "(declare-datatypes ((D 0)) (((f (s D)))))",
        "(declare-datatypes ((D 0) (E 0)) (((f)) ((f))))",
        "(assert (and (! true :named f) 1))",
    ],
)
def test_a_failed_command_leaves_nothing_behind(failed: str) -> None:
    sorts = "(declare-sort D 0)(declare-sort E 0)"
    text = f"(push){failed}{sorts}(declare-const f D)(assert (= f f))(pop)(assert f)"
    _, last = messages(text)
    assert last.endswith("unknown symbol f")


# Higher order and z3's ways with arrays


@pytest.mark.parametrize(
    ("term", "printed"),
    [
        ("(g 1 2)", "(g 1 2)"),
        ("(= (g 1) h)", "(= (g 1) h)"),
        ("(@ h 1)", "(h 1)"),
        ("(@ (g 1) 2)", "(@ (g 1) 2)"),
        ("(= h (lambda ((i Int)) (> i 0)))", "(= h (lambda ((i Int)) (> i 0)))"),
        ("(= f h)", "(= f h)"),
        ("(a 1)", "(select a 1)"),
        ("(select ((_ map not) a) 1)", "(select ((_ map not) a) 1)"),
        ("(select ((_ map f) b) 1)", "(select ((_ map f) b) 1)"),
        (
            "(select ((_ map (and (Bool Bool) Bool)) a a) 1)",
            "(select ((_ map (and (Bool Bool) Bool)) a a) 1)",
        ),
    ],
)
def test_functions_as_values_and_arrays_as_functions(term: str, printed: str) -> None:
    checked = check(
        "(declare-fun g () (-> Int Int Bool))(declare-fun h () (-> Int Bool))(declare-fun f (Int) Bool)"
        f"(declare-const a (Array Int Bool))(declare-const b (Array Int Int))(assert {term})"
    )
    assert [str(e) for e in checked.errors] == []
    text = print_script(checked)
    assert text.splitlines()[-1] == f"(assert {printed})"
    assert print_script(check(text)) == text


@pytest.mark.parametrize(
    ("term", "message"),
    [
        ("(h true)", "h takes Int, got true : Bool"),
        ("(h 1 2)", "is not a function"),
        ("(select ((_ map not) b) 1)", "(_ map not): no rank for Int"),
        ("((_ map not) 1)", "does not accept 1 : Int"),
        ("(x 1)", "x takes no arguments"),
    ],
)
def test_misused_functions_are_errors(term: str, message: str) -> None:
    (error,) = check(
        "(declare-fun h () (-> Int Bool))(declare-const b (Array Int Int))(declare-const x Int)"
        f"(assert {term})"
    ).errors
    assert message in error.message
