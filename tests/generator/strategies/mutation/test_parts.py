"""The parts that mutations are made of: places, pools, literals, operators, kept texts."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from corpus.acceptance import probe
from generator import Seed
from generator.refusals import is_value
from generator.strategies.mutation.chain import Chain
from generator.strategies.mutation.literals import has_literals, new_literal
from generator.strategies.mutation.operators import SeedFunctions, operators_for
from generator.strategies.mutation.places import find_place
from generator.strategies.mutation.pool import GrowingPool, Pool
from generator.strategies.mutation.printing import Fragments
from smtlib import BOOL, INT, REAL, STRING, Sort, TermTable, check_script, make_sort, print_term, read_script
from smtlib.sorts import REGLAN, ROUNDING_MODE, array, bit_vector, floating_point
from tests.generator.small import formulas
from tests.sizes import size

QUANTIFIED = (
    "(declare-fun p (Int) Bool)(declare-fun c () Int)"
    "(assert (and (> c 0) (forall ((x Int)) (and (p x) (exists ((y Int)) (p (+ x y)))))))(check-sat)"
)
BOTH = operators_for(("z3", "cvc5"))


def pool_of(text: str) -> GrowingPool:
    return GrowingPool(Pool(Seed("seed", text).script()))


# Places


def test_every_occurrence_is_found_about_equally_often() -> None:
    script = Seed("seed", "(declare-fun x () Int)(assert (> (+ x x x) (* 2 x)))(check-sat)").script()
    pool = GrowingPool(Pool(script))
    chance = random.Random(1)
    found: Counter[str] = Counter()
    for _ in range(8000):
        place = find_place(script.assertions[0], pool.size, chance)
        assert place is not None
        found[place.term.op.text] += 1
    assert set(found) == {">", "+", "*", "2", "x"}
    assert 3.4 < found["x"] / found["2"] < 4.7


def test_a_place_knows_what_is_bound_there_and_is_replaced_alone() -> None:
    script = Seed("seed", QUANTIFIED).script()
    pool = GrowingPool(Pool(script))
    table = pool.base.table.copy()
    chance = random.Random(2)
    seen = set()
    for _ in range(300):
        place = find_place(script.assertions[0], pool.size, chance)
        if place is None or place.term.sort is not INT:
            continue
        new = place.replace(table, table.literal("7", INT), lambda term: None)
        text = print_term(new)
        seen.add((place.term.op.text, tuple(place.scope)))
        assert text.count("7") == 1
        assert not check_script(read_script(f"{script.prelude_text}(assert {text})")).errors
    assert seen == {
        ("c", ()),
        ("0", ()),
        ("x", ("x",)),
        ("x", ("x", "y")),
        ("y", ("x", "y")),
        ("+", ("x", "y")),
    }


def test_patterns_and_required_values_stay() -> None:
    text = (
        "(declare-fun f (Int) Int)(declare-fun s () String)"
        "(assert (forall ((x Int)) (! (> (^ x 2) 0) :pattern ((f x)))))"
        '(assert (str.in_re s (re.range "a" "b")))(check-sat)'
    )
    script = Seed("seed", text).script()
    pool = GrowingPool(Pool(script))
    chance = random.Random(3)
    found = set()
    for _ in range(400):
        place = find_place(script.assertions[int(chance.random() * 2)], pool.size, chance)
        if place is not None:
            found.add(place.term.op.text)
    assert found == {"forall", ">", "^", "x", "0", "str.in_re", "s", "re.range"}


def test_what_a_variable_is_bound_for_fits_there_only() -> None:
    pool = pool_of(QUANTIFIED)
    (root,) = (t for t in pool.base.by_sort[BOOL] if t.op.text == "and" and t.args[0].op.text == ">")
    places = [find_place(root, pool.size, random.Random(n)) for n in range(300)]
    (inner,) = {t for t in pool.base.by_sort[INT] if t.op.text == "+"}
    (quantified,) = {t for t in pool.base.by_sort[BOOL] if t.op.text == "exists"}
    for place in places:
        if place is None:
            continue
        assert pool.fits(inner, place) == ({"x", "y"} <= set(place.scope))
        # It has x free and binds y: neither without the one nor below the other.
        assert pool.fits(quantified, place) == ("x" in place.scope and "y" not in place.scope)


# Literals


SORTS = [
    BOOL,
    INT,
    REAL,
    STRING,
    REGLAN,
    ROUNDING_MODE,
    bit_vector(1),
    bit_vector(8),
    bit_vector(13),
    floating_point(8, 24),
    floating_point(3, 5),
    array(INT, BOOL),
    make_sort("Seq", (), (INT,)),
    make_sort("FiniteField", (7,)),
]


@hypothesis_settings(max_examples=size(25, 60))
@given(st.sampled_from(SORTS), st.randoms(use_true_random=False))
def test_new_literals_have_their_sort_also_near_others(sort: Sort, chance: random.Random) -> None:
    table = TermTable()
    known = None
    for _ in range(12):
        made = new_literal(table, sort, [known] if known is not None else [], chance)
        assert made is not None
        assert made.sort is sort
        text = f"(set-logic ALL)(assert (= {print_term(made)} {print_term(made)}))"
        if sort is not REGLAN:
            (assertion,) = check_script(read_script(text)).assertions
            assert assertion.args[0].sort is sort
        known = made


def test_solvers_take_the_literals() -> None:
    chance = random.Random(9)
    table = TermTable()
    texts = []
    for sort in SORTS:
        # cvc5 takes neither constant arrays nor small floating-point formats without an option, and
        # prime fields only when it was built with another library.
        if sort is REGLAN or sort.name in ("Array", "FiniteField") or sort.indices == (3, 5):
            continue
        known = None
        for _ in range(12):
            known = new_literal(table, sort, [known] if known is not None else [], chance)
            assert known is not None
            texts.append(f"(declare-fun x () {sort})(assert (distinct x {print_term(known)}))(check-sat)")
    texts = [f"(set-logic ALL){text}" for text in texts]
    for solver in ("z3", "cvc5"):
        assert [a.message for a in probe(texts, solver) if not a.accepted] == []


def test_some_sorts_have_no_literals() -> None:
    assert new_literal(TermTable(), make_sort("U"), (), random.Random(1)) is None
    assert not has_literals(make_sort("U"), has_constant_arrays=True)


# Operators


@pytest.mark.parametrize(
    ("result", "sorts", "expected", "excluded"),
    [
        (INT, (INT,), {"+", "-", "div", "abs"}, {"str.len", "to_int", "rem"}),
        (BOOL, (INT, REAL), {"<", "=", "is_int"}, {"and", "fp.lt"}),
        (bit_vector(4), (bit_vector(8),), {"extract"}, {"bvadd", "concat", "zero_extend"}),
        (bit_vector(8), (bit_vector(4), bit_vector(8)), {"concat", "sign_extend", "bvadd", "repeat"}, set()),
        (bit_vector(3), (bit_vector(4),), {"extract"}, {"repeat", "concat"}),
        (floating_point(5, 11), (ROUNDING_MODE, REAL), {"to_fp", "NaN", "+oo"}, {"fp.add", "fp"}),
        (floating_point(5, 11), (bit_vector(1), bit_vector(5), bit_vector(10)), {"fp", "NaN"}, {"to_fp"}),
        (STRING, (STRING, INT), {"str.++", "str.at", "char"}, {"seq.++", "str.rev"}),
        (REGLAN, (REGLAN,), {"re.loop", "re.^", "re.comp"}, {"re.range", "str.to_re"}),
        (array(INT, BOOL), (array(INT, BOOL), INT, BOOL), {"store", "ite"}, {"const", "union"}),
        (make_sort("Seq", (), (INT,)), (INT,), {"seq.empty", "seq.unit"}, {"seq.++"}),
        (REAL, (REAL,), {"+", "/"}, {"sin", "exp"}),
    ],
)
def test_operators_are_found_by_result_and_arguments(
    result: Sort, sorts: tuple[Sort, ...], expected: set[str], excluded: set[str]
) -> None:
    names = {group[0].name for group in BOTH.shapes(result, frozenset(sorts))}
    assert expected <= names
    assert not excluded & names


def test_connectives_take_two_formulas() -> None:
    script = Seed("seed", "(declare-fun p () Bool)(assert (not (xor p p)))(check-sat)").script()
    one, two = script.assertions[0], script.assertions[0].args[0]
    assert {head.name for head in BOTH.heads(one)} == {"not"}
    assert {head.name for head in BOTH.heads(two)} >= {"and", "or", "xor", "=>", "="}


def test_transcendental_functions_are_for_seeds_that_have_some() -> None:
    guarded = BOTH.guarded_theories({"exp", "+"})
    names = {group[0].name for group in BOTH.shapes(REAL, frozenset((REAL,)), guarded)}
    assert {"sin", "cos"} <= names


DATATYPES = (
    "(declare-datatypes ((L 1)) ((par (T) ((nil) (cons (hd T) (tl (L T)))))))"
    "(declare-datatypes ((E 0)) (((red) (green) (dyed (by Int)))))"
    "(declare-fun l () (L Int))(declare-fun e () E)(declare-fun g (Int E) Int)"
    "(assert (= (hd l) (g 1 e)))(check-sat)"
)


def test_functions_and_datatypes_of_the_seed_are_operators() -> None:
    script = Seed("seed", DATATYPES).script()
    lists = next(d.result for d in script.declarations if d.name == "l")
    colours = next(d.result for d in script.declarations if d.name == "e")
    functions = SeedFunctions(script)
    sorts = frozenset((INT, BOOL, lists, colours))

    def names(result: Sort) -> set[str]:
        return {group[0].name for group in functions.shapes(result, sorts)}

    assert names(INT) == {"hd", "by", "g"}
    assert names(lists) == {"nil", "cons", "tl"}
    assert names(colours) == {"red", "green", "dyed"}
    assert names(BOOL) == {"is nil", "is cons", "is red", "is green", "is dyed"}


# Kept texts


@pytest.mark.parametrize("number", range(len(formulas())))
def test_kept_texts_read_back_to_the_same_terms(number: int) -> None:
    seed = Seed("seed", formulas()[number] + "(check-sat)")
    script = seed.script()
    pool = GrowingPool(Pool(script))
    for term in script.assertions:
        text = Fragments(pool.size).text(term)
        checked = check_script(read_script(f"{script.prelude_text}(assert {text})"))
        assert not checked.errors
        assert print_term(checked.assertions[0]) == print_term(term)


def test_a_pattern_stays_directly_below_its_quantifier() -> None:
    shared = "(+ (* c 3) (* c 5) (* c 7) 1234567890)"
    body = f"(! (and (p (+ x {shared})) (p {shared})) :pattern ((p x)))"
    declared = "(declare-fun p (Int) Bool)(declare-fun c () Int)"
    script = Seed("seed", f"{declared}(assert (or (p c) (forall ((x Int)) {body})))(check-sat)").script()
    text = Fragments(GrowingPool(Pool(script)).size).text(script.assertions[0])
    assert "((x Int)) (! (and " in text
    (answer,) = probe([f"{script.prelude_text}(assert {text})"], "z3")
    assert answer.accepted


def test_large_assertions_are_printed_with_their_sharing() -> None:
    lets = "".join(f"(let ((a{i + 1} (+ a{i} a{i})))" for i in range(30))
    text = f"(declare-fun a0 () Int)(assert {lets}(> a30 0){')' * 30})(check-sat)"
    chain = Chain(Seed("seed", text), BOTH)
    assert "(let ((" in chain.text()
    assert len(chain.text()) < 2000


def test_a_chain_leaves_the_shared_seed_alone() -> None:
    seed = Seed("seed", QUANTIFIED)
    before = len(seed.script().table), seed.script().text()
    chain = Chain(seed, BOTH)
    chance = random.Random(5)
    for _ in range(20):
        found = chain.place(chance)
        if found is not None and found[1].term.sort is INT:
            chain.replace(*found, chain.table.literal(str(chain.log.mutations + 50), INT), "literal")
    assert chain.log.mutations > 0
    assert chain.text() != before[1]
    assert (len(seed.script().table), seed.script().text()) == before


def test_values_are_literals_and_negated_numbers() -> None:
    texts = {
        "5": True,
        "(- 5)": True,
        "true": True,
        "RNE": True,
        '"a"': True,
        "(+ 1 2)": False,
        "(abs 5)": False,
    }
    for text, expected in texts.items():
        (assertion,) = check_script(read_script(f"(assert (= {text} {text}))")).assertions
        assert is_value(assertion.args[0]) == expected
