"""Shapes of printed lines."""

from __future__ import annotations

import pytest

from tests.shapes import shapes


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (["157 tests in 176.5 s, 72 decided"], ["2 tests in 0.1 s, 1 decided"]),
        (["10 findings"], ["1 finding"]),
        (["in found/findings/crash-0af4576310b1"], ["in found/findings/soundness-31abb77a165e"]),
        (["fixed in 4.8.6.0"], ["fixed in 4.8.14"]),
        (
            ["solver  ok  timeout", "z3       1        2", "cvc5     3        4"],
            ["solver  ok  invalid-model", "z3-4.8.5  3  1"],
        ),
        (["class  bytes", "crash  943 to 147"], ["class  bytes", "crash  91"]),
        (["a", "...", "b"], ["a", "...", "b"]),
    ],
)
def test_same_shapes(shown: list[str], printed: list[str]) -> None:
    assert shapes(shown) == shapes(printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        (["2 tests in 0.1 s"], ["2 tests after 0.1 s"]),
        (["class  solver", "crash  z3"], ["class  where", "crash  z3"]),
        (["class  bytes", "crash  9"], ["class  bytes", "9  crash"]),
        (["next: exhume reduce"], ["next: exhume bisect"]),
        (["a", "b"], ["b", "a"]),
    ],
)
def test_other_shapes(shown: list[str], printed: list[str]) -> None:
    assert shapes(shown) != shapes(printed)
