"""Tests made by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from difftest.triage import stacks
from generator.strategy import GeneratedTest


@pytest.fixture(autouse=True)
def no_debugger(monkeypatch: pytest.MonkeyPatch) -> None:
    """gdb takes a second for a stack, and here they are of fake solvers: test_stacks.py and
    tests/exhume/test_report_commands.py are about stacks.
    """
    monkeypatch.setattr(stacks, "_under_gdb", lambda *_: ())


@pytest.fixture
def make_test() -> Callable[..., GeneratedTest]:
    """Make a generated test out of a text."""

    def make(text: str, index: int = 0, known: tuple[str | None, ...] = ()) -> GeneratedTest:
        return GeneratedTest(index, text, "by-hand", (1,), (2, 3), (), ("z3#17",), known)

    return make
