"""Skeletons read back, and fill by joining."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules import Skeleton, SkeletonError

SHAPES = st.recursive(
    st.just("(hole)"),
    lambda inner: st.one_of(
        st.builds(lambda t: f"(not {t})", inner),
        st.builds(
            lambda op, args: f"({op} {' '.join(args)})",
            st.sampled_from(["and", "or", "xor", "=>"]),
            st.lists(inner, min_size=1, max_size=4),
        ),
        st.builds(
            lambda q, n, t: f"({q} {n} {t})", st.sampled_from(["forall", "exists"]), st.integers(1, 4), inner
        ),
    ),
    max_leaves=20,
)


def numbered(shape: str) -> str:
    pieces = shape.split("(hole)")
    return "".join(p + (f"(hole {i})" if i < len(pieces) - 1 else "") for i, p in enumerate(pieces))


@given(SHAPES)
def test_filling_with_holes_and_counts_gives_the_text_back(shape: str) -> None:
    text = numbered(shape)
    skeleton = Skeleton.parse(text)
    holes = [f"(hole {i})" for i in range(skeleton.holes)]
    counts = [f"#{b.variables}#" for b in skeleton.binders]
    assert skeleton.fill(holes, counts).replace("(#", "").replace("#)", "") == text
    assert skeleton.text == text == str(skeleton)
    assert skeleton.variables == sum(b.variables for b in skeleton.binders)


@given(SHAPES)
def test_a_binder_covers_the_holes_below_it(shape: str) -> None:
    skeleton = Skeleton.parse(numbered(shape))
    for number, binder in enumerate(skeleton.binders):
        assert 0 <= binder.first_hole < binder.end_hole <= skeleton.holes
        assert binder.parent < number
        if binder.parent >= 0:
            outer = skeleton.binders[binder.parent]
            assert outer.first_hole <= binder.first_hole and binder.end_hole <= outer.end_hole


def test_known_skeleton() -> None:
    skeleton = Skeleton.parse("(forall 2 (or (hole 0) (not (exists 1 (hole 1)))))")
    assert skeleton.segments == ("(forall (", ") (or ", " (not (exists (", ") ", "))))")
    assert skeleton.items == (~0, 0, ~1, 1)
    assert [(b.quantifier, b.variables, b.first_hole, b.end_hole, b.parent) for b in skeleton.binders] == [
        ("forall", 2, 0, 2, -1),
        ("exists", 1, 1, 2, 0),
    ]
    assert skeleton.fill(["p", "q"], ["(x Int) (y Int)", "(z Real)"]) == (
        "(forall ((x Int) (y Int)) (or p (not (exists ((z Real)) q))))"
    )


def test_deep_skeletons_parse() -> None:
    depth = 50_000
    skeleton = Skeleton.parse("(not " * depth + "(hole 0)" + ")" * depth)
    assert skeleton.holes == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(hole 1)",
        "(hole 0) (hole 1)",
        "(and)",
        "(and (hole 0)",
        "(and (hole 0)))",
        "(iff (hole 0) (hole 1))",
        "(forall (hole 0))",
        "(forall 1 (hole 0) (hole 1))",
        "(forall 1)",
        "hole",
        "(hole 0",
        "(and x (hole 0))",
    ],
)
def test_what_is_no_skeleton_is_refused(text: str) -> None:
    with pytest.raises(SkeletonError):
        Skeleton.parse(text)
