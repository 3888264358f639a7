"""The command line in a process of its own, a small corpus, solvers that misbehave."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import HUNT
from tests.shell import quick_spec, shell_spec
from tests.stored import Command, Ended

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def start() -> Callable[..., subprocess.Popen[str]]:
    """Start a command line as a process of its own, with pipes, as a shell would."""

    def call(*arguments: object, **options: Any) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
        return subprocess.Popen(
            [sys.executable, "-m", "exhume", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            **options,
        )

    return call


@pytest.fixture
def shell(start: Callable[..., subprocess.Popen[str]]) -> Command:
    """Run a command line as a process of its own."""

    def call(*arguments: object, **options: Any) -> Ended:
        with start(*arguments, **options) as process:
            out, err = process.communicate(timeout=120)
        return Ended(process.returncode, out, err)

    return call


@pytest.fixture
def corpus(starter: Path, tmp_path: Path) -> Path:
    """A copy of the starter's corpus."""
    return Path(shutil.copy(starter, tmp_path / "corpus.duckdb"))


@pytest.fixture
def fake(tmp_path: Path) -> Callable[..., str]:
    """Make the spec of a solver from the body of a Python script; ``text`` holds the formula it is given."""

    def make(name: str, body: str) -> str:
        return quick_spec(tmp_path, name, body)

    return make


@pytest.fixture
def yes(tmp_path: Path) -> str:
    """A solver that always says sat."""
    return always(tmp_path, "yes", "sat")


@pytest.fixture
def no(tmp_path: Path) -> str:
    """A solver that always says unsat."""
    return always(tmp_path, "no", "unsat")


def hunting(corpus: Path, out: Path, *solvers: str) -> tuple[object, ...]:
    """The command of a hunt with these solvers, whose campaign is in ``out``."""
    given = (word for solver in solvers for word in ("--solver", solver))
    return (*HUNT, "--corpus", corpus, *given, "--out", out)


def always(folder: Path, name: str, answer: str) -> str:
    """The spec of a solver with one answer: for the shell, which starts in a tenth of Python's time."""
    script = folder / f"{name}.sh"
    script.write_text(f'case "$*" in *--version) echo fake 1.0;; *) echo {answer};; esac\n')
    return f"{name}=/bin/sh {script}"


@pytest.fixture
def breaks(tmp_path: Path) -> str:
    """A solver that crashes in another place for every other formula."""
    return shell_spec(
        tmp_path,
        "breaks",
        """set -- $(printf %s "${text#*(set-logic}" | cksum)
echo ASSERTION VIOLATION
echo File: ../src/ast/ast.cpp
echo Line: $(($1 % 100000))
kill -ABRT $$""",
    )


@pytest.fixture
def formulas(tmp_path: Path) -> Path:
    """A folder of three formulas, laid out by tracker and issue."""
    folder = tmp_path / "z3" / "1014"
    folder.mkdir(parents=True)
    (folder / "a.smt2").write_text("(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n")
    (folder / "b.smt2").write_text("(declare-const y Int)\n(assert (and (> y 4) (< y 4)))\n(check-sat)\n")
    (folder / "c.smt2").write_text("(declare-const z Int)\n(assert (or (> z 5) (= z 2)))\n(check-sat)\n")
    return tmp_path / "z3"
