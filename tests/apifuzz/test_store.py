"""The store: ids, names, seldom-used terms first, and no variable that escapes its binder."""

from __future__ import annotations

import pytest

from apifuzz.chance import Chance
from apifuzz.interface import ApiTerm, TermKind, Unsupported
from apifuzz.store import Store, rarely_used
from apifuzz.trace import TraceError
from smtlib import BOOL, INT, make_sort


def constant(store: Store) -> ApiTerm:
    sort = store.sorts.get(INT) or store.add_sort(INT, "Int")
    return store.add_term(sort, "c", TermKind.CONSTANT)


def test_ids_count_up_in_order_of_making() -> None:
    store = Store()
    assert str(store.add_sort(INT, None)) == "s1"
    assert [str(constant(store)) for _ in range(3)] == ["t1", "t2", "t3"]
    assert store.term("t2").id == 2 and store.sort("s1").sort is INT


def test_expected_ids_are_given_and_counted_on_from() -> None:
    store = Store()
    store.add_sort(INT, None)
    store.expect(["t7"])
    assert [str(constant(store)), str(constant(store))] == ["t7", "t8"]


def test_ids_are_not_given_twice() -> None:
    store = Store()
    constant(store)
    store.expect(["t1"])
    with pytest.raises(TraceError, match="t1 is returned twice"):
        constant(store)
    store.expect(["s5"])
    with pytest.raises(TraceError, match="the call returns a term, not s5"):
        constant(store)


def test_unknown_ids_and_lost_ones_are_distinguished() -> None:
    store = Store()
    constant(store)
    with pytest.raises(TraceError, match="unknown term t9"):
        store.term("t9")
    with pytest.raises(TraceError, match="unknown term s1"):
        store.term("s1")
    with pytest.raises(TraceError, match="x is not a sort's id"):
        store.sort("x")
    store.lose(["t9"])
    with pytest.raises(Unsupported, match="t9 could not be made"):
        store.term("t9")


def test_ids_count_on_after_clearing() -> None:
    store = Store()
    constant(store)
    store.clear()
    assert store.is_empty and str(store.add_sort(INT, None)) == "s2"
    assert str(constant(store)) == "t2"


def test_rarely_used_terms_are_preferred() -> None:
    store = Store()
    terms = [constant(store) for _ in range(4)]
    for term in terms[:3]:
        term.uses = 50
    chance = Chance(1)
    drawn = [rarely_used(terms, chance) for _ in range(400)]
    # Drawn in more than one of two samples of three, instead of one in four.
    assert 200 < drawn.count(terms[3]) < 400
    assert all(term in drawn for term in terms)


def test_arguments_count_as_used() -> None:
    store = Store()
    one = constant(store)
    store.add_term(one.sort, None, TermKind.TERM, None, (one, one))
    assert one.uses == 2


def test_a_bound_variable_takes_its_terms_along() -> None:
    store = Store()
    sort = store.add_sort(INT, None)
    x = store.add_term(sort, None, TermKind.VARIABLE)
    y = store.add_term(sort, None, TermKind.VARIABLE)
    of_x = store.add_term(sort, None, TermKind.TERM, None, (x,), x.free)
    of_both = store.add_term(sort, None, TermKind.TERM, None, (x, y), x.free | y.free)
    of_y = store.add_term(sort, None, TermKind.TERM, None, (y,), y.free)
    store.bind([x])
    pool = store.pools[INT]
    assert pool.open == [y, of_y] and store.open_variables == [y]
    assert store.is_bound(of_x) and store.is_bound(of_both) and not store.is_bound(of_y)
    assert pool.closed == [] and store.pick_closed(INT, Chance(1)) is None


def test_open_terms_are_preferred_while_there_are_some() -> None:
    store = Store()
    constant(store)
    variable = store.add_term(store.sorts[INT], None, TermKind.VARIABLE)
    chance = Chance(1)
    drawn = [store.pick(INT, chance) for _ in range(100)]
    assert 40 < drawn.count(variable) < 80
    assert store.pick(BOOL, chance) is None


def test_functions_are_no_terms_to_ask_about() -> None:
    store = Store()
    sort = store.add_sort(make_sort("->", (), (INT, INT)), None)
    function = store.add_term(sort, None, TermKind.FUNCTION)
    assert store.functions == [function] and store.closed_terms == [] and store.populated == []
    assert store.plain_sorts == []


def test_a_name_is_taken_once_and_no_operator_s() -> None:
    store = Store()
    store.take_name("a")
    for name in ("a", "bvadd"):
        with pytest.raises(TraceError, match=f"the name {name} is already used"):
            store.take_name(name)
