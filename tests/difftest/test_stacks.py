"""Crashes by a signal are distinguished by the function in which the solver dies."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from difftest import HuntOptions, Stage, hunt
from difftest.campaign import worker
from difftest.oracles.base import Candidate
from difftest.triage import stacks
from difftest.triage.classes.base import Expectation
from difftest.triage.folder import FindingFolder
from difftest.triage.key import FoundKey, Key, fold
from difftest.triage.kinds import rewrite_report
from difftest.triage.ledger import Ledger
from difftest.triage.stacks import function_seen, function_that_dies, key_by_function
from generator.strategy import GeneratedTest
from solvers.lookup import find_solver
from solvers.running.process import Run
from solvers.running.runner import Runner
from tests.difftest.hunts import summary_of
from tests.difftest.test_reports import transcript, write
from tests.releases import find_or_skip
from tests.scripts import run_script

ARRAY = "(Array (_ BitVec 2) (_ BitVec 2))"
CRASH = f"""\
(declare-const a (Array (_ BitVec 2) {ARRAY}))
(assert (forall ((i (_ BitVec 2))) (= (select (select a i) i) #b01)))
(check-sat-using bvarray2uf)
"""
# The first argument is how much of the stack a turn takes.
RECURSION = """\
#include <stdlib.h>
int app(int size, int *p);
int down(int size, int *p) { char a[size]; a[p[0] % 9] = 1; return app(size / 2, (int *)a) + a[3]; }
int app(int size, int *p) { char a[size]; a[p[0] % 9] = 1; return down(size * 2, (int *)a) + a[3]; }
int main(int count, char **words) { int a[9] = {0}; return app(atoi(words[1]), a); }
"""
KEY = "crash|z3-4.8.5|signal SIGSEGV in bvarray2uf_tactic::imp::operator()"
debugger = pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")


@pytest.fixture
def no_debugger() -> None:
    """Here it is used."""


def found(finding_class: str, where: str) -> Candidate:
    name = "z3-4.8.5[x=1]"
    return Candidate(finding_class, (name,), f"{finding_class}|{name}|{where}", name)


@debugger
def test_a_signal_has_the_function_in_its_key_and_no_options(runner: Runner) -> None:
    solver = find_or_skip("z3==4.8.5")
    expected = Expectation("crash", (solver,), solver.name, None, "signal SIGSEGV")
    assert key_by_function(found("crash", "signal SIGSEGV|ArraysEx"), expected, CRASH, runner) == KEY
    # What does not die by a signal, and what does not die again.
    for other in (found("crash", "a.cpp:7"), found("soundness", "ArraysEx")):
        assert key_by_function(other, expected, CRASH, runner) is None
    assert key_by_function(found("crash", "signal SIGSEGV|Ints"), expected, "(check-sat)\n", runner) is None


@debugger
def test_tests_that_die_in_one_function_are_one_finding(
    tmp_path: Path, make_test: Callable[..., GeneratedTest]
) -> None:
    solver = find_or_skip("z3==4.8.5")
    tests = [make_test(CRASH, 0), make_test(f"(declare-const n Int)\n(assert (= (div n 2) 3))\n{CRASH}", 1)]
    done = summary_of(hunt(tests, [solver], HuntOptions(tmp_path, stages=(Stage(5.0, 1.0),))))
    (record,) = done.findings
    found = FindingFolder.read(record.path)
    assert (found.key, found.duplicates) == (KEY, 1)
    counted = json.loads(run_script("bench_stacks", tmp_path, "--json").stdout)["campaigns"][-1]
    assert counted == {
        **{"campaign": "all", "findings": 1, "by_operators": 1, "by_function": 1},
        "functions": {"bvarray2uf_tactic::imp::operator()": 1},
    }
    # Without gdb it would have another key; a ledger and earlier nights may have that.
    assert found.key_by_operators.startswith("crash|z3-4.8.5|signal SIGSEGV|")
    for known in found.keys:
        file = tmp_path / "ledger.toml"
        file.write_text(f"[[finding]]\nkey = {json.dumps(known)}\nstate = 'seen'\n")
        options = HuntOptions(tmp_path / str(len(known)), stages=(Stage(5.0, 1.0),), ledger=Ledger.read(file))
        assert summary_of(hunt(tests, [solver], options)).findings == ()


@debugger
@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_a_recursion_without_end_has_one_function_wherever_it_dies(tmp_path: Path, runner: Runner) -> None:
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(RECURSION)
    subprocess.run(["gcc", "-O0", "-o", program, source], check=True)
    solvers = [find_solver(f"mine={program} {size} {{}}") for size in (60, 100)]
    assert {function_that_dies(solver, CRASH, 5.0, runner) for solver in solvers} == {"app"}


def test_a_function_is_one_part_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "_under_gdb", lambda *_: ("gdb",))

    def frame(function: str) -> Callable[..., Run]:
        said = f"\nProgram received signal SIGSEGV.\n#0  0x77 in {function} ()\n"
        return lambda before, limits: Run("exit", 0, None, said, "", 0.1)

    for function in ("a::operator||(int)", "a::operator+(b)", "f(int)::{lambda(int)#1}::operator()", "Ints"):
        seen = function_seen(frame(function), 1.0)
        assert seen is not None
        key = f"crash|z3|SIGSEGV in {seen}"
        assert Key.read(key) == Key("crash", "z3", (f"SIGSEGV in {seen}",))
        assert fold(FoundKey(key, "", True, "crash|z3|SIGSEGV|+"), [key, f"{key}2"]) == key


@debugger
def test_a_closed_runner_ends_gdb_and_its_program(
    tmp_path: Path, runner: Runner, assert_gone: Callable[[str], None]
) -> None:
    (tmp_path / "endless").touch()
    solver = find_solver(f"mine=tail -f {tmp_path / 'endless'} {{}}")
    closing = threading.Timer(2.0, runner.close)
    closing.start()
    began = time.monotonic()
    assert function_that_dies(solver, CRASH, 60.0, runner) is None
    assert 2.0 <= time.monotonic() - began < 20.0
    closing.join()
    assert_gone(str(tmp_path / "endless"))


@debugger
def test_what_no_program_shows_once_it_is_reduced_has_the_function_of_the_whole_test(
    tmp_path: Path, make_test: Callable[..., GeneratedTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = find_or_skip("z3==4.8.5")
    monkeypatch.setattr(worker, "key_of", lambda found, *_: FoundKey(found.key, "(check-sat)\n", True))
    options = HuntOptions(tmp_path, stages=(Stage(5.0, 1.0),))
    (record,) = summary_of(hunt([make_test(CRASH)], [solver], options)).findings
    assert record.key == KEY


def test_without_gdb_the_function_is_not_known(monkeypatch: pytest.MonkeyPatch, runner: Runner) -> None:
    monkeypatch.setattr(stacks.shutil, "which", lambda name: None)
    assert stacks.function_that_dies(find_solver("z3"), CRASH, 1.0, runner) is None


def test_the_function_stands_in_the_title(tmp_path: Path) -> None:
    key = "crash|z3-4.8.5|signal SIGSEGV in smt::{anonymous}::context::check"
    entry = {"name": "z3-4.8.5", "outcome": "crash", "detail": "signal SIGSEGV", "ending": "signal SIGSEGV"}
    folder = write(tmp_path / "f", entry=entry, **{"class": "crash"}, key=key)
    assert "segmentation fault in smt::context::check on " in rewrite_report(folder).splitlines()[0]
    assert FindingFolder.read(folder).crash_place == "smt::{anonymous}::context::check"
    # The innermost function of a recursion is arbitrary.
    seen = ["mk at a.h:1", "smt::(anonymous namespace)::context::check at b.h:1"]
    transcript(folder, stack=seen)
    assert FindingFolder.read(folder).crash_place == "smt::{anonymous}::context::check"
    # A reduction may end with a formula that dies elsewhere: its title has the function of its stack.
    text = rewrite_report(transcript(folder, stack=["(anonymous namespace)::rewrite", "exec"]))
    assert text.startswith("# z3: segmentation fault in rewrite on ")
    assert FindingFolder.read(folder).crash_place == "{anonymous}::rewrite"
