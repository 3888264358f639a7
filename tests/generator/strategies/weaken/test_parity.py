"""Parity against brute force: whatever stands at a position, weakening it does what parity says."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from generator.strategies.weaken.parity import steps, without_ambiguity
from smtlib import BOOL, Declaration, Kind, Term, TermTable, check_script, print_term, read_script

TABLE = TermTable()
NAMES = "abc"
CONNECTIVES = ["and", "or", "=>", "xor", "=", "distinct"]
ATOMS = [TABLE.symbol(Declaration(name, (), BOOL)) for name in NAMES]
BOUND = TABLE.variable("v", BOOL)


def apply(name: str, *args: Term) -> Term:
    return TABLE.make(TABLE.op(Kind.OPERATOR, name), args, BOOL)


def quantify(name: str, body: Term) -> Term:
    return TABLE.make(TABLE.op(Kind.BINDER, name), (body,), BOOL, (BOUND,))


def extend(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Term]:
    several = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        st.builds(lambda x: apply("not", x), inner),
        st.builds(
            lambda n, a: apply(n, *a), st.sampled_from(["and", "or", "=>", "xor", "=", "distinct"]), several
        ),
        st.builds(lambda x, y, z: apply("ite", x, y, z), inner, inner, inner),
        st.builds(quantify, st.sampled_from(["forall", "exists"]), inner),
    )


formulas = st.recursive(st.sampled_from([*ATOMS, BOUND]), extend, max_leaves=10)


def value(term: Term, env: Mapping[Term, bool]) -> bool:
    """The term's value, by the standard's semantics."""
    if term.kind is Kind.BINDER:
        results = [value(term.args[0], {**env, BOUND: b}) for b in (False, True)]
        return all(results) if term.name == "forall" else any(results)
    if not term.args:
        return env[term]
    args = [value(a, env) for a in term.args]
    if term.name == "=>":
        return args[-1] or not all(args[:-1])
    if term.name == "xor":
        return sum(args) % 2 == 1
    return {
        "not": lambda: not args[0],
        "and": lambda: all(args),
        "or": lambda: any(args),
        "=": lambda: len(set(args)) == 1,
        "distinct": lambda: len(set(args)) == len(args),
        "ite": lambda: args[1] if args[0] else args[2],
    }[term.name]()


# The way to the term above, and the index in that term; empty at the root.
Way: TypeAlias = "tuple[()] | tuple[Way, int]"


def positions(root: Term) -> Iterator[tuple[Term, int, Way]]:
    """Every position: its term, its parity and the way to it."""
    waiting: list[tuple[Term, int, Way]] = [(root, 1, ())]
    while waiting:
        term, parity, way = waiting.pop()
        yield term, parity, way
        waiting.extend((term.args[i], parity * factor, (way, i)) for i, factor in steps(term))


def indices(way: Way) -> tuple[int, ...]:
    """The indices of a way from the root on."""
    return (*indices(way[0]), way[1]) if way else ()


def put(root: Term, way: tuple[int, ...], change: str) -> Term:
    """``root`` with ``(change t a)`` for the term t at ``way``."""
    if not way:
        return apply(change, root, ATOMS[0])
    args = list(root.args)
    args[way[0]] = put(args[way[0]], way[1:], change)
    return TABLE.rebuild(root, tuple(args))


def implies(left: Term, right: Term) -> bool:
    for values in itertools.product((False, True), repeat=len(NAMES) + 1):
        env = dict(zip([*ATOMS, BOUND], values, strict=True))
        if value(left, env) and not value(right, env):
            return False
    return True


@given(formulas)
def test_weakening_at_a_position_does_what_its_parity_says(root: Term) -> None:
    for _, parity, way in positions(root):
        weaker, stronger = put(root, indices(way), "or"), put(root, indices(way), "and")
        if parity == 1:
            assert implies(root, weaker) and implies(stronger, root)
        elif parity == -1:
            assert implies(weaker, root) and implies(root, stronger)


def parities(root: Term) -> dict[Term, set[int]]:
    """The parities of every term below ``root``: those of all its occurrences."""
    found: dict[Term, set[int]] = {}
    for term, parity, _ in positions(root):
        found.setdefault(term, set()).add(parity)
    return found


def assertion(text: str) -> tuple[TermTable, Term]:
    checked = check_script(read_script(text))
    assert not checked.errors
    return checked.table, checked.assertions[0]


def parities_by_text(text: str) -> dict[str, set[int]]:
    _, root = assertion(text)
    return {print_term(t): found for t, found in parities(root).items()}


def test_a_let_has_the_parities_of_its_uses() -> None:
    """The source's example (let ((x a)) (and (not x) x)): every use is a position of its own."""
    found = parities_by_text(
        "(declare-fun a () Bool)(declare-fun p (Bool) Bool)(assert (let ((x (p a))) (and (not x) x)))"
    )
    assert found["(p a)"] == {-1, 1}
    assert found["a"] == {0}


@pytest.mark.parametrize(
    ("inside", "of", "expected"),
    [
        ("(re.++ R (re.* Q))", "R", {1}),
        ("(re.comp (re.union Q R))", "R", {-1}),
        ("(re.diff Q (re.comp R))", "R", {1}),
        ("(re.diff Q R)", "R", {-1}),
        ("((_ re.loop 1 2) (re.inter R Q))", "R", {1}),
        ("(re.opt (re.+ ((_ re.^ 2) R)))", "R", {1}),
    ],
)
def test_regular_expressions_have_parities(inside: str, of: str, expected: set[int]) -> None:
    texts = {"R": '(str.to_re "r")', "Q": '(str.to_re "q")'}
    for name, text in texts.items():
        inside = inside.replace(name, text)
    found = parities_by_text(f"(declare-fun s () String)(assert (not (str.in_re s {inside})))")
    assert found[texts[of]] == {-p for p in expected}
    assert found["s"] == {0}


def test_what_solvers_want_as_values_is_no_position() -> None:
    found = parities_by_text(
        "(declare-fun s () String)(declare-fun a () (Array Int Int))"
        '(assert (and (str.in_re s (re.range "a" "b"))'
        " (= a ((as const (Array Int Int)) 17)) (forall ((x Int)) (! (> x 1) :pattern ((select a x))))))"
    )
    assert found['(re.range "a" "b")'] == {1}
    assert not {'"a"', "17", "(select a x)"} & found.keys()
    assert found["(> x 1)"] == {1}


def test_branches_of_match_count_as_the_match() -> None:
    found = parities_by_text(
        "(declare-datatype L ((nil) (cons (head Int) (tail L))))(declare-fun l () L)"
        "(assert (not (match l ((nil (= 1 2)) ((cons h t) (< h 3))))))"
    )
    assert found["(= 1 2)"] == {-1} and found["(< h 3)"] == {-1} and found["l"] == {0}


@given(formulas, st.randoms(use_true_random=False))
def test_without_ambiguity_every_connective_has_parities(root: Term, chance: object) -> None:
    changed = without_ambiguity(TABLE, root, chance.choice)  # type: ignore[attr-defined]
    names = {t.name for t in parities(changed)}
    assert not names & {"xor", "=", "distinct"}


@pytest.mark.thorough
def test_deep_formulas_are_walked() -> None:
    term = ATOMS[0]
    for _ in range(50_000):
        term = apply("not", term)
    assert parities(term)[ATOMS[0]] == {1}
