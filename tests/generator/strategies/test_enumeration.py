"""The strategy ``enumerate``: complete, without repeats, resumable, within its bound."""

from __future__ import annotations

import itertools
import pickle
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus.acceptance import probe
from generator import EnumerationStrategy, Library
from smtlib import check_script, read_script
from tests.generator.small import library_of
from tests.sizes import size

INT = "(declare-const x Int)(declare-const y Int)"
ATOMS = [(INT, "(> x y)", -1), ("(declare-const r Real)(declare-const i Int)", "(= r (to_real i))", -1)]


def enumeration(
    skeleton: str, atoms: int = 4, symbols: int = 3, library: Library | None = None
) -> EnumerationStrategy:
    library = library or library_of([skeleton], ATOMS)
    return EnumerationStrategy(library, library.skeletons[0], atoms=atoms, symbols=symbols)


def renamed(text: str) -> str:
    """The assertion with its symbols numbered by first occurrence, per kind: equal up to renaming."""
    line = text[text.index("(assert ") :].splitlines()[0]
    numbers: dict[str, str] = {}
    return re.sub(r"\b[xfz]\d+_\d+\b", lambda m: numbers.setdefault(m[0], f"n{len(numbers)}"), line)


def test_every_filling_of_a_tiny_skeleton_comes_once() -> None:
    """Brute force: all ways to name the slots of both atoms over three names per sort, up to renaming."""
    ints, reals = ("a", "b", "c"), ("q", "r", "s")
    expected = set()
    instances = [f"(> {x} {y})" for x, y in itertools.product(ints, ints)]
    instances += [f"(= {r} (to_real {i}))" for r, i in itertools.product(reals, ints)]
    for first, second in itertools.product(instances, instances):
        numbers: dict[str, str] = {}
        body = re.sub(
            r"\b[abcqrs]\b",
            lambda m, known=numbers: known.setdefault(m[0], f"n{len(known)}"),
            f"(and {first} {second})",
        )
        expected.add(f"(assert {body})")
    found = [renamed(t.text) for t in enumeration("(and (hole 0) (hole 1))").generate()]
    assert len(found) == len(set(found))
    assert set(found) == expected


def test_binders_range_over_the_variables_below_them_in_every_order_and_one_that_is_not_there() -> None:
    found = [renamed(t.text) for t in enumeration("(forall 1 (hole 0))", atoms=1).generate()]
    assert found == [
        "(assert (forall ((n0 Int)) (> n0 n0)))",
        "(assert (forall ((n0 Int)) (> n1 n1)))",
        "(assert (forall ((n0 Int)) (> n0 n1)))",
        "(assert (forall ((n0 Int)) (> n1 n0)))",
        "(assert (forall ((n0 Int)) (> n1 n2)))",
    ]


def test_an_inner_binder_leaves_alone_what_an_outer_one_binds() -> None:
    for test in enumeration("(forall 1 (exists 1 (and (hole 0) (hole 1))))").generate():
        names = re.findall(r"\((\w+) (?:Int|Real|Bool)\)", test.text[test.text.index("(assert") :])
        assert len(set(names)) == 2
        assert not check_script(read_script(test.text)).errors


@pytest.mark.parametrize("skeleton", ["(or (hole 0) (not (hole 1)))", "(exists 2 (hole 0))"])
def test_nothing_comes_twice(skeleton: str) -> None:
    strategy = enumeration(skeleton)
    bodies = [renamed(t.text) for t in strategy.generate()]
    assert len(bodies) > 10
    if "exists" not in skeleton:
        assert len(bodies) == len(set(bodies))
    texts = [t.text.split("(set-logic")[1] for t in strategy.generate()]
    assert len(texts) == len(set(texts))


@settings(max_examples=size(20, 40))
@given(cuts=st.lists(st.integers(0, 130), max_size=4))
def test_pieces_together_are_the_whole(cuts: list[int]) -> None:
    strategy = enumeration("(and (hole 0) (hole 1))")
    whole = [t.text for t in strategy.generate()]
    borders = [0, *sorted(cuts), len(whole)]
    pieces = [t.text for a, b in itertools.pairwise(borders) for t in strategy.generate(a, b)]
    assert pieces == whole
    assert [t.index for t in strategy.generate(5, 9)] == [5, 6, 7, 8]


def test_ranges_one_after_the_other_go_through_the_fillings_once(monkeypatch: pytest.MonkeyPatch) -> None:
    strategy = enumeration("(and (hole 0) (hole 1))")
    whole = [t.text for t in strategy.generate()]
    plans = strategy._plans
    begun = []
    monkeypatch.setattr(strategy, "_plans", lambda: begun.append(1) or plans())
    pieces = [list(strategy.generate(start, start + 3)) for start in (0, 3, 20, 100)]
    assert [t.text for piece in pieces for t in piece] == [*whole[:6], *whole[20:23]]
    assert len(begun) == 1
    # A range that is left early, or one that begins before, goes from the start.
    next(strategy.generate(10, 20))
    assert [t.text for t in strategy.generate(15, 17)] == whole[15:17]
    assert [t.text for t in strategy.generate(3, 4)] == whole[3:4]
    sent: EnumerationStrategy = pickle.loads(pickle.dumps(enumeration("(hole 0)")))
    assert list(sent.generate()) == list(enumeration("(hole 0)").generate())


def test_the_bound_is_respected() -> None:
    for test in enumeration("(and (hole 0) (hole 1))", atoms=1, symbols=2).generate():
        assert set(test.atoms) == {1}
        assert len(re.findall(r"declare-fun", test.text)) <= 2
    assert len(list(enumeration("(hole 0)", atoms=1, symbols=1).generate())) == 1
    assert list(enumeration("(hole 0)", atoms=0).generate()) == []


def test_past_the_end_there_is_nothing() -> None:
    strategy = enumeration("(hole 0)")
    assert list(strategy.generate(len(list(strategy.generate())))) == []
    assert list(strategy.generate(10**6, 10**6 + 3)) == []


@pytest.mark.parametrize("holes", [30, 1200])
def test_the_first_fillings_of_a_large_skeleton_come_at_once(holes: int) -> None:
    skeleton = f"(and {' '.join(f'(hole {number})' for number in range(holes))})"
    first, second, third = enumeration(skeleton, atoms=1).generate(0, 3)
    assert first.text.count("(> x0_0 x0_0)") == second.text.count("(> x0_0 x0_0)") + 1 == holes
    assert "(> x0_0 x0_1)))\n" in second.text
    assert "(> x0_1 x0_0)))\n" in third.text


def test_there_may_be_more_binders_than_calls_can_be_nested() -> None:
    skeleton = f"(and {' '.join(f'(forall 1 (hole {number}))' for number in range(1200))})"
    (first,) = enumeration(skeleton, atoms=1).generate(0, 1)
    assert first.text.count("(forall ((x0_0 Int)) (> x0_0 x0_0))") == 1200


def test_functions_and_uninterpreted_sorts_are_enumerated_too() -> None:
    unary = "(declare-sort U 0)(declare-fun f (U) U)(declare-fun g (U) U)(declare-const u U)"
    library = library_of(["(hole 0)"], [(unary, "(= (f u) (g u))", -1)])
    found = [renamed(t.text) for t in enumeration("", library=library).generate()]
    assert found == ["(assert (= (n0 n1) (n0 n1)))", "(assert (= (n0 n1) (n2 n1)))"]


@pytest.mark.slow
@pytest.mark.thorough
def test_fillings_of_the_small_corpus_are_well_sorted_and_accepted(library: Library) -> None:
    texts = []
    for skeleton in library.skeletons:
        strategy = EnumerationStrategy(library, skeleton)
        assert strategy.fingerprint == library.fingerprint
        texts += [t.text for t in strategy.generate(0, size(10, 25))]
    for text in texts:
        assert not check_script(read_script(text)).errors, text
    for solver in ("z3", "cvc5"):
        refused = [
            (a.message, t)
            for t, a in zip(texts, probe(texts, solver), strict=True)  # type: ignore[arg-type]
            if not a.accepted
        ]
        assert refused == []
