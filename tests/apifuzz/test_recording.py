"""Calls on a solver's own interface, recorded as a program that makes them again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from apifuzz.running.faults import told
from apifuzz.running.recording import NO_NAME, programs
from apifuzz.running.runs import Runner
from apifuzz.running.setup import Setup

TRACE = """exhume-trace 1 {solver} 1
1 new
2 set-option produce-models true
3 make-sort Bool
return s1
4 make-sort (_ BitVec 4)
return s2
5 make-constant s2 a
return t1
6 make-value s2 #b0011
return t2
7 make-term s1 bvult t1 t2
return t3
8 make-term s1 not t3
return t4
9 assert t3
10 check-sat
11 get-value t1
12 push 1
13 assert t4
14 check-sat
"""


@pytest.mark.parametrize("solver", ["bitwuzla", "cvc5"])
def test_a_run_is_recorded_as_a_program_that_does_the_same(solver: str, tmp_path: Path) -> None:
    with Runner(Setup(solver)) as runner:
        recorded = runner.record(TRACE.format(solver=solver))
    short, whole = programs(solver, recorded)
    assert short.startswith(f"import {solver}\n")
    assert len(short) <= len(whole) <= len(recorded)
    assert short.count("  # sat") == short.count("  # unsat") == 1
    # What was asked only to compare it is not there.
    assert ".sort()" not in short
    assert ".getSort()" not in short
    script = tmp_path / "script.py"
    for text in (short, whole):
        script.write_text(text + f"print({[line for line in text.splitlines() if '# ' in line]!r})\n")
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_other_interfaces_are_not_recorded() -> None:
    for setup in (Setup("smtlib"), Setup("bitwuzla", "cvc5"), Setup("bitwuzla", None, True)):
        with Runner(setup) as runner:
            assert runner.program(TRACE.format(solver="bitwuzla"), told("rejected", "assert", "no")) is None


def test_a_program_that_does_not_end_in_the_error_is_none() -> None:
    with Runner(Setup("bitwuzla")) as runner:
        assert runner.program(TRACE.format(solver="bitwuzla"), told("rejected", "assert", "no")) is None


def test_a_program_needs_names_for_what_it_uses() -> None:
    recorded = f"v1 = m.Solver()\nv2 = {NO_NAME}.make()\nv3 = v1.check()  # sat\n"
    assert list(programs("m", recorded)) == ["import m\n\nv1 = m.Solver()\nv1.check()  # sat\n"] * 2
    assert list(programs("m", recorded + "v4 = v1.ask(v2)\n")) == []
