"""Programs of solvers behind a command line and of leaks: they run alone and end in what they are about."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from apifuzz.engines import make_engine
from apifuzz.programs.ending import leak_of
from apifuzz.programs.programs import dressed, programs
from apifuzz.programs.talking import is_whole
from apifuzz.running.faults import Fault, reported
from apifuzz.running.findings import Description
from apifuzz.running.runs import Runner, RunResult
from apifuzz.running.setup import Setup
from apifuzz.trace import read_trace
from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import title_of
from tests.apifuzz.filing import file_finding, without_versions

SOLVER = Path(__file__).with_name("little_solver.py")
COMMAND = shlex.join([sys.executable, "-I", str(SOLVER)])
LITTLE = Setup(f"little={COMMAND}")

TRACE = """exhume-trace 1 {solver} 1
1 new
2 set-option produce-unsat-cores true
3 make-sort Bool
return s1
4 make-constant s1 p
return t1
5 make-function {name} (s1) s1
return t2
6 make-term s1 apply t2 t1
return t3
7 push 1
8 assert t3
9 check-sat-assuming t3
10 unsat-assumptions
"""


@pytest.fixture(autouse=True)
def _asked(kept_abilities: None) -> None:
    # Once; the processes of runs find it kept.
    make_engine(LITTLE.solver)


def run_program(text: str, folder: Path, *path: Path) -> subprocess.CompletedProcess[str]:
    """Run a program alone; modules may come from ``path``."""
    (folder / "script.py").write_text(text)
    start = f"import runpy, sys; sys.path[:0] = {list(map(str, path))}; "
    start += "runpy.run_path('script.py', run_name='__main__')"
    command = [sys.executable, "-I", "-c", start]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)


def program_of(setup: Setup, trace: str) -> tuple[RunResult, str]:
    with Runner(setup) as runner:
        seen = runner.replay(trace, fresh=True)
        assert seen.fault is not None, seen
        text = runner.program(trace, seen.fault)
    assert text is not None
    assert "import apifuzz" not in text and "from apifuzz" not in text
    return seen, text


def calls_of(text: str) -> list[str]:
    return text[text.index("Solver((") :].splitlines()[1:]


@pytest.mark.parametrize(
    ("name", "kind", "last"),
    [
        ("abort", "crash", "Ended: the solver ended (SIGSEGV)"),
        ("complain", "crash", "Ended: the solver ended (exit status 3): Fatal failure within solver.c:7"),
        ("Integer", "rejected", 'AssertionError: what is ""this""?'),
        ("invalid", "model", "AssertionError: line 7 column 9: an invalid model was generated"),
        ("f", "assumptions", "AssertionError: |assumed 99| in it was not given"),
    ],
)
@pytest.mark.few(2)
def test_a_program_talks_to_a_solver_until_it_goes_wrong(
    name: str, kind: str, last: str, tmp_path: Path
) -> None:
    seen, text = program_of(LITTLE, TRACE.format(solver="little", name=name))
    assert seen.fault is not None and seen.fault.kind == kind
    done = run_program(text, tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, last)
    # What was said and answered can be read, and what does not matter to a crash is gone.
    assert calls_of(text)[-1].split("'")[1] in done.stdout or kind in ("rejected", "model", "assumptions")
    assert ("(push 1)" in text) == (kind != "crash")
    assert ("(error" in done.stdout) == (kind in ("rejected", "model"))
    assert ("Fatal failure" in done.stdout) == (name == "complain")


def test_a_disagreement_with_a_solver_that_is_called_is_one_program(tmp_path: Path) -> None:
    trace = (
        TRACE.format(solver="little", name="f")
        .replace("9 check-sat-assuming t3\n10 unsat-assumptions\n", "")
        .replace("7 push 1\n", "7 make-term s1 not t3\nreturn t4\n7 assert t4\n")
    )
    _, text = program_of(Setup(LITTLE.solver, "bitwuzla"), f"{trace}9 check-sat\n")
    assert "\nimport bitwuzla\n" in text
    assert calls_of(text)[-1].endswith("'little answers sat, bitwuzla unsat'")
    done = run_program(text, tmp_path)
    assert done.stdout.splitlines()[-1] == "sat unsat"
    assert "AssertionError: little answers sat, bitwuzla unsat" in done.stderr


def test_a_solver_that_went_right_ends_the_program_well(tmp_path: Path) -> None:
    _, text = program_of(LITTLE, TRACE.format(solver="little", name="f"))
    better = tmp_path / "better.py"
    better.write_text(SOLVER.read_text().replace("|assumed 99|", "|assumed 1|"))
    done = run_program(text.replace(str(SOLVER), str(better)), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_solver_that_does_not_answer_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    recorded = (
        f"v1 = Solver({shlex.split(COMMAND)})\tSolver\t\nv2 = v1.ask('(assert hang)')\traises\tEnded: x\n"
    )
    crash = Fault("crash", "assert", "the solver ended (SIGSEGV)", None, "the solver ended")
    text = dressed(next(programs(["Solver"], recorded, crash)).text, crash)
    done = run_program(text.replace("SECONDS = 60.0", "SECONDS = 0.5"), tmp_path)
    assert "Ended: the solver ended (no answer within 0.5 seconds)" in done.stderr


def test_where_an_answer_ends() -> None:
    whole = ["sat\n", '(error "a ( b")\n', '(|)| "(" ; (\n)\n', "; (\nsat\n", '("a ""(""")\n']
    assert all(map(is_whole, whole))
    half = ["", " \n", "; sat\n", '(error "a\n', "((a)\n", "(a |b\n"]
    assert not any(map(is_whole, half))


def test_a_report_names_the_command_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_versions(monkeypatch)
    trace = read_trace(TRACE.format(solver="little", name="f"))
    calls = "v1 = Solver(['x'])\nv1.ask('(check-sat-assuming (p))')  # raises Ended: x\n"
    fault = reported("crash", "check-sat-assuming", "the solver ended (SIGSEGV)")
    files = {"script.py": dressed(calls, fault)}
    assert files["script.py"].startswith('"""') and files["script.py"].endswith(calls)
    path = file_finding(tmp_path, fault, trace, LITTLE, Description({}, files))
    text = (path / "report.md").read_text()
    # It can be run as it is.
    assert f"```python\n{files['script.py']}```" in text
    assert title_of(FindingFolder.read(path)) == "little: segmentation fault in check-sat-assuming"


# Leaks

LEAK = Fault("leak", "delete", "each repetition of the run takes 1024 KiB more memory")
RECORDED = """v1 = cvc5.Solver()\tSolver\t
v2 = v1.push(1)\tNoneType\t
v3 = v1.pop(9)\traises\tRuntimeError: no
v4 = v1.checkSat()\tResult\tsat
"""
KEEPS = """
kept = []

class Solver:
    def push(self, levels): pass
    def checkSat(self): {}
"""


@pytest.mark.parametrize(
    ("does", "code"),
    [("kept.append(b'x' * (1 << 20))", 1), ("kept[:] = [b'x' * (1 << 20)]", 0), ("kept.append(b'x' * 9)", 0)],
)
def test_a_program_repeats_what_leaks(does: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "cvc5.py").write_text(KEEPS.format(does))
    text = dressed(next(programs(["cvc5"], RECORDED, LEAK)).text, LEAK)
    assert "    solver.push(1)\n    solver.checkSat()  # sat\n" in text
    done = run_program(text, tmp_path, tmp_path)
    assert done.returncode == code
    assert ("KiB more are not given back" in done.stderr) == bool(code)
    assert len(done.stdout.split(",")) == 8


def test_memory_has_to_grow_each_time_once_it_has_settled() -> None:
    step = 300 << 10
    assert leak_of([0, 10 * step, 20 * step, *(step * n for n in range(21, 26))]) is not None
    assert leak_of([step * n for n in (1, 2, 3, 4, 5, 5, 6, 7)]) is None
    assert leak_of([]) is None
