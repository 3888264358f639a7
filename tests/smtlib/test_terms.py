"""Terms and sorts: hash-consing, walks, rewriting, interning."""

from __future__ import annotations

import pickle

import pytest

from smtlib import (
    BOOL,
    INT,
    Declaration,
    Kind,
    SortError,
    Term,
    TermTable,
    check_script,
    declarations_in,
    free_variables,
    make_sort,
    postorder,
    print_term,
    read_script,
    rewrite,
)
from smtlib.sorts import MAX_DEPTH, MAX_TEXT, array, bit_vector, floating_point, subsorts

DEPTH = 100_000


def term(
    text: str, declarations: str = "(declare-const x Int)(declare-const y Int)(declare-const b Bool)"
) -> Term:
    checked = check_script(read_script(f"{declarations}(assert {text})"))
    assert checked.errors == []
    return checked.assertions[0]


# Terms


def test_equal_terms_of_a_table_are_one_object() -> None:
    table = TermTable()
    plus = table.op(Kind.OPERATOR, "+")
    one = table.literal("1", INT)
    assert table.make(plus, (one, one), INT) is table.make(table.op(Kind.OPERATOR, "+"), (one, one), INT)
    assert table.literal("1", INT) is one
    assert table.literal("1", make_sort("Real")) is not one
    assert len(table) == 3


def test_equal_terms_of_a_script_are_one_object() -> None:
    equal = term("(= (+ x (* y 2)) (let ((z (* y 2))) (+ x z)))")
    assert equal.args[0] is equal.args[1]


def test_a_name_declared_again_is_another_declaration() -> None:
    checked = check_script(
        read_script("(push)(declare-const x Int)(assert (= x 1))(pop)(declare-const x Int)(assert (= x 1))")
    )
    first, second = checked.assertions
    assert first is not second
    assert declarations_in([first])[0] != declarations_in([second])[0]


def test_different_indices_are_different_heads() -> None:
    both = term("(= ((_ extract 3 0) #xff) ((_ extract 4 1) #xff))", "")
    assert both.args[0] is not both.args[1]


def test_postorder_gives_every_term_once_arguments_first() -> None:
    root = term("(and (> (+ x 1) 0) (< (+ x 1) (ite b (+ x 1) y)))")
    order = list(postorder([root, root.args[0]]))
    assert len(order) == len(set(order))
    places = {t: i for i, t in enumerate(order)}
    assert all(places[a] < places[t] for t in order for a in t.args)
    assert order[-1] is root


def test_rewrite_replaces_bottom_up_and_keeps_what_does_not_change() -> None:
    checked = check_script(read_script("(declare-const x Int)(assert (and (> x 1) (> (+ x 1) 1)))"))
    table, root = checked.table, checked.assertions[0]
    two = table.literal("2", INT)

    def change(old: Term, args: tuple[Term, ...]) -> Term | None:
        return two if old.name == "1" else None

    assert print_term(rewrite(table, root, change)) == "(and (> x 2) (> (+ x 2) 2))"
    assert rewrite(table, root, lambda old, args: None) is root


def test_rewrite_keeps_binders_and_attributes() -> None:
    checked = check_script(
        read_script("(declare-fun p (Int) Bool)(assert (forall ((x Int)) (! (p x) :pattern ((p x)))))")
    )
    negation = checked.table.op(Kind.OPERATOR, "not")

    def negate(old: Term, args: tuple[Term, ...]) -> Term | None:
        return (
            checked.table.make(negation, (checked.table.rebuild(old, args),), BOOL)
            if old.name == "p"
            else None
        )

    changed = rewrite(checked.table, checked.assertions[0], negate)
    assert print_term(changed) == "(forall ((x Int)) (! (not (p x)) :pattern ((not (p x)))))"


def test_free_variables_of_a_body() -> None:
    root = term("(forall ((i Int) (j Int)) (=> (< i j) (exists ((k Int)) (= k i))))")
    assert free_variables(root) == []
    assert [v.name for v in free_variables(root.args[0])] == ["i", "j"]
    assert [v.name for v in free_variables(root.args[0].args[1])] == ["i"]


def test_free_variables_of_match_cases() -> None:
    root = term(
        "(match l ((nil true) ((cons h t) (> h 0))))",
        "(declare-datatypes ((L 0)) (((nil) (cons (hd Int) (tl L)))))(declare-const l L)",
    )
    assert free_variables(root) == []
    assert [v.name for v in free_variables(root.args[2])] == ["h"]


def test_declarations_in_order_of_first_occurrence() -> None:
    assert [d.name for d in declarations_in([term("(and b (> y x) (= x y))")])] == ["b", "y", "x"]


@pytest.mark.slow
def test_walks_do_not_recurse() -> None:
    table = TermTable()
    negation = table.op(Kind.OPERATOR, "not")
    root = table.symbol(Declaration("b", (), BOOL))
    for _ in range(DEPTH):
        root = table.make(negation, (root,), BOOL)
    assert sum(1 for _ in postorder([root])) == DEPTH + 1
    assert free_variables(root) == []
    assert rewrite(table, root, lambda old, args: None) is root
    assert len(print_term(root)) == 6 * DEPTH + 1


# Sorts


def test_equal_sorts_are_one_object() -> None:
    assert make_sort("Array", (), (INT, bit_vector(8))) is array(INT, bit_vector(8))
    assert bit_vector(8) is not bit_vector(9)


@pytest.mark.parametrize(
    ("sort", "text"),
    [
        (bit_vector(8), "(_ BitVec 8)"),
        (floating_point(8, 24), "(_ FloatingPoint 8 24)"),
        (array(INT, array(INT, BOOL)), "(Array Int (Array Int Bool))"),
        (make_sort("->", (), (INT, BOOL)), "(-> Int Bool)"),
    ],
)
def test_sorts_as_text(sort: object, text: str) -> None:
    assert str(sort) == text


def test_a_pickled_sort_comes_back_as_the_same_object() -> None:
    sort = array(bit_vector(8), make_sort("Seq", (), (INT,)))
    assert pickle.loads(pickle.dumps(sort)) is sort


def test_subsorts() -> None:
    assert [str(s) for s in subsorts(array(INT, array(INT, BOOL)))] == [
        "(Array Int (Array Int Bool))",
        "Int",
        "(Array Int Bool)",
        "Bool",
    ]


def test_sorts_are_bounded_in_depth() -> None:
    sort = INT
    with pytest.raises(SortError, match="deeper than 200"):
        for _ in range(MAX_DEPTH + 1):
            sort = make_sort("Seq", (), (sort,))
    assert sort.depth == MAX_DEPTH


def test_sorts_are_bounded_in_length() -> None:
    sort = INT
    with pytest.raises(SortError, match="longer than"):
        for _ in range(60):
            sort = array(sort, sort)
    assert len(str(sort)) < 2 * MAX_TEXT + 20
