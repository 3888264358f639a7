"""Fake solvers of ours and tests made by hand."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from difftest import Solver, find_solver
from difftest.running.runner import Runner
from generator.strategy import GeneratedTest

FakeSolver = Callable[..., Solver]


@pytest.fixture
def fake(tmp_path: Path) -> FakeSolver:
    """Make a solver from the body of a Python script; ``text`` holds the formula it was given."""

    def make(body: str, name: str = "fake") -> Solver:
        script = tmp_path / f"{name}.py"
        head = "import os, sys, time, signal, subprocess\n"
        head += "say = lambda *lines: print(*lines, sep='\\n', flush=True)\n"
        head += "if sys.argv[-1] == '--version': say('fake 1.0'); sys.exit()\n"
        script.write_text(head + "text = open(sys.argv[-1]).read()\n" + body + "\n")
        return find_solver(f"{name}={sys.executable} -I -S {script}")

    return make


@pytest.fixture
def runner() -> Iterator[Runner]:
    with Runner() as made:
        yield made


@pytest.fixture
def make_test() -> Callable[..., GeneratedTest]:
    """Make a generated test out of a text."""

    def make(text: str, index: int = 0, known: tuple[str | None, ...] = ()) -> GeneratedTest:
        return GeneratedTest(index, text, "by-hand", (1,), (2, 3), (), ("z3#17",), known)

    return make
