"""Tests made by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from generator.strategy import GeneratedTest


@pytest.fixture
def make_test() -> Callable[..., GeneratedTest]:
    """Make a generated test out of a text."""

    def make(text: str, index: int = 0, known: tuple[str | None, ...] = ()) -> GeneratedTest:
        return GeneratedTest(index, text, "by-hand", (1,), (2, 3), (), ("z3#17",), known)

    return make
