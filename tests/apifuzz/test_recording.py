"""Calls on a solver's own interface, recorded as a program that makes them again."""

from __future__ import annotations

import inspect
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from apifuzz.programs.ending import shows
from apifuzz.programs.lines import read_lines
from apifuzz.programs.programs import Program, programs, shorter
from apifuzz.programs.recording import NO_NAME, Recorder
from apifuzz.running.faults import Fault, reported
from apifuzz.running.runs import Runner
from apifuzz.running.setup import Setup
from difftest import find_solver

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


LOCKSTEP = Path(__file__).with_name("lockstep.trace").read_text("utf-8")
REJECTED = reported("rejected", "assert", "no")


def run_program(text: str, file: Path) -> subprocess.CompletedProcess[str]:
    file.write_text(text)
    return subprocess.run([sys.executable, "-I", str(file)], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("solver", ["bitwuzla", "cvc5", "z3"])
@pytest.mark.few(2)
def test_a_run_is_recorded_as_a_program_that_does_the_same(solver: str, tmp_path: Path) -> None:
    with Runner(Setup(solver)) as runner:
        made = [
            program
            for plain in (True, False)
            for program in programs([solver], runner.record(TRACE.format(solver=solver), plain)[1], REJECTED)
        ]
    for text in [way.text for program in made for way in (program, program.nested)]:
        assert text.startswith(("import ctypes\n", f"import {solver}\n"))
        assert len(re.findall(r"  # sat$", text, re.M)) == len(re.findall(r"  # unsat$", text, re.M)) == 1
        asking = re.sub(
            r"^(?:(\w+) = )?(.*)  # (?:un)?sat$",
            lambda found: f"{found[1] or 'answer'} = {found[2]}\nprint({found[1] or 'answer'})",
            text,
            flags=re.M,
        )
        done = run_program(asking, tmp_path / "script.py")
        answers = [line.rpartition(".")[2].lower() for line in done.stdout.split()]
        assert (done.returncode, done.stderr, answers) == (0, "", ["sat", "unsat"])
    # What was asked only to compare it is not there.
    assert ".getSort()" not in made[0].text


def test_calls_are_written_as_people_write_them() -> None:
    with Runner(Setup("z3")) as runner:
        recorded = [runner.record(TRACE.format(solver="z3"), way)[1] for way in (True, False)]
    plain, exact = (next(programs(["z3"], text, REJECTED)).text for text in recorded)
    assert "z3core" not in plain and "Context" not in plain
    assert re.search(r"^a = z3.BitVec\('a', 4\)$", plain, re.M)
    assert re.search(r"^solver = z3\.", plain, re.M)
    assert "z3.Context(" in exact


def test_a_proxy_is_used_as_the_module_it_stands_for() -> None:
    import bitwuzla as real_bitwuzla
    import z3 as real_z3

    lines: list[str] = []
    recorder = Recorder(lines.append)
    z3, bitwuzla = recorder.proxy(real_z3, "z3"), recorder.proxy(real_bitwuzla, "bitwuzla")
    recorder.is_on = True
    context = z3.Context()
    a, b = z3.Bools("a b", context)
    both = z3.And(a, b)
    numbers = [z3.IntVal(1, context) + 2, 3 - z3.IntVal(4, context)]
    pointers = (z3.Ast * 1)(a.as_ast())
    z3.z3core.Z3_mk_or(context.ref(), 1, pointers)
    bitwuzla.TermManager().mk_bool_sort()
    assert isinstance(both, z3.BoolRef) and not isinstance(numbers[0], z3.BoolRef)
    assert str(both) == "And(a, b)" and both.num_args() == 2 and {both: 1}[both] == 1
    # The engine hands a context to the functions that take one.
    assert list(inspect.signature(z3.fpIsInf).parameters) == ["a", "ctx"]
    with pytest.raises(z3.Z3Exception):
        z3.And(a, z3.Bool("c", z3.Context()))
    recorded = "".join(lines).splitlines()
    assert [line.partition("\t")[0] for line in recorded] == [
        "v1 = z3.Context()",
        "v2 = z3.Bools('a b', v1)",
        "v3 = z3.And(v2[0], v2[1])",
        "v4 = z3.IntVal(1, v1)",
        "v5 = (v4) + (2)",
        "v6 = z3.IntVal(4, v1)",
        "v7 = (3) - (v6)",
        "v8 = z3.z3core.Z3_mk_or(v1.ref(), 1, (z3.Ast * 1)(v2[0].as_ast()))",
        "v9 = bitwuzla.TermManager()",
        "v10 = v9.mk_bool_sort()",
        "v11 = str(v3)",
        "v12 = v3.num_args()",
        "v13 = z3.Context()",
        "v14 = z3.Bool('c', v13)",
        "v15 = z3.And(v2[0], v14)",
    ]
    assert recorded[-1].split("\t")[1] == "raises"


def test_what_callbacks_call_is_no_line_of_the_program() -> None:
    import z3 as real_z3

    lines: list[str] = []
    recorder = Recorder(lines.append)
    z3 = recorder.proxy(real_z3, "z3")
    recorder.is_on = True
    seen = []

    class Watching(z3.UserPropagateBase):  # type: ignore[misc, name-defined]
        def __init__(self, solver: object, literals: list[object]) -> None:
            super().__init__(solver)
            self.add_fixed(lambda literal, value: seen.append(z3.is_true(value)))
            for literal in literals:
                self.add(literal)

        def push(self) -> None:
            pass

        def pop(self, num_scopes: int) -> None:
            pass

    solver, a = z3.Solver(), z3.Bool("a")
    watching = Watching(solver, [a])
    solver.add(a)
    assert solver.check() == z3.sat and seen and watching is not None
    assert not any("is_true" in line for line in lines)


@pytest.mark.thorough
def test_other_interfaces_are_not_recorded() -> None:
    for setup in (Setup("smtlib"), Setup("bitwuzla", "smtlib"), Setup("other=cat")):
        with Runner(setup) as runner:
            assert runner.program(TRACE.format(solver="bitwuzla"), REJECTED) is None


@pytest.mark.parametrize("kind", ["rejected", "crash", "model", "core", "value", "print"])
@pytest.mark.few(2)
def test_a_program_that_does_not_end_in_the_error_is_none(kind: str) -> None:
    fault = Fault(kind, "assert", "no, it answers sat", None, "no")
    with Runner(Setup("bitwuzla")) as runner:
        assert runner.program(TRACE.format(solver="bitwuzla"), fault) is None


def test_z3s_own_log_makes_the_calls_again(tmp_path: Path) -> None:
    folder = Path(__file__).parents[2] / "docs" / "findings" / "z3-finite-set-size-segfault"
    with Runner(Setup("z3")) as runner:
        seen = runner.replay((folder / "minimised.trace").read_text("ascii"), fresh=True)
        if seen.fault is None:
            pytest.skip("this release of z3 does not crash of it")
        log = runner.log((folder / "script.py").read_text("ascii"), seen.fault)
    (tmp_path / "calls.log").write_text(log)
    done = subprocess.run([*find_solver("z3").argv, tmp_path / "calls.log"], capture_output=True, timeout=60)
    assert done.returncode == -signal.SIGSEGV


def test_other_solvers_keep_no_log() -> None:
    with Runner(Setup("bitwuzla")) as runner:
        assert runner.log("import bitwuzla\n", REJECTED) == ""


def test_a_program_needs_names_for_what_it_uses() -> None:
    recorded = f"v1 = cvc5.Solver()\tSolver\t\nv2 = {NO_NAME}.make()\tTerm\t\nv3 = v1.check()\tResult\tsat\n"
    made = [program.text for program in programs(["cvc5"], recorded, REJECTED)]
    assert made == ["import cvc5\n\nsolver = cvc5.Solver()\nsolver.check()  # sat\n"]
    assert list(programs(["cvc5"], recorded + "v4 = v1.ask(v2)\n", REJECTED)) == []


def test_a_program_has_what_its_end_depends_on() -> None:
    recorded = "\n".join(
        (
            "v1 = cvc5.Solver()\tSolver\t",
            "v2 = cvc5.Solver()\tSolver\t",
            "v3 = cvc5.mkConst('p')\tTerm\t",
            "v4 = cvc5.mkConst('q')\tTerm\t",
            "v5 = v2.assertFormula(v4)\tNoneType\t",
            "v6 = v1.assertFormula(v3)\tNoneType\t",
            "v7 = v3.getSort()\tSort\t",
            "v8 = v1.isModelOn()\tbool\tTrue",
            "v9 = v1.checkSat()",
        )
    )
    crash = Fault("crash", "check-sat", "SIGSEGV in check-sat")
    found = next(programs(["cvc5"], recorded, crash))
    assert found.text.splitlines()[2:] == [
        "solver = cvc5.Solver()",
        "p = cvc5.mkConst('p')",
        "solver.assertFormula(p)",
        "solver.checkSat()",
    ]
    everything = list(programs(["cvc5"], recorded, crash))[-1]
    assert len(everything.lines) == 9


@pytest.mark.thorough
def test_a_disagreement_is_a_program_of_both_interfaces(tmp_path: Path) -> None:
    with Runner(Setup("cvc5", "z3")) as runner:
        seen = runner.replay(LOCKSTEP, fresh=True)
        if seen.fault is None:
            pytest.skip("this release of cvc5 has no fault in fp.roundToIntegral")
        text = runner.program(LOCKSTEP, seen.fault)
    assert text is not None
    assert text.startswith("import cvc5\nimport z3\n")
    assert text.splitlines()[-1].endswith("'cvc5 answers unsat, z3 sat'")
    done = run_program(text, tmp_path / "script.py")
    assert (done.returncode, done.stdout) == (1, "unsat sat\n")
    assert "AssertionError: cvc5 answers unsat, z3 sat" in done.stderr


ASKED = "v1 = cvc5.Solver()\tSolver\t\nv2 = v1.assertFormula(True)\tNoneType\t\n"


@pytest.mark.parametrize(
    ("kind", "detail", "recorded", "ending"),
    [
        (
            "core",
            "a second instance answers sat to the unsat core t1",
            "v3 = v1.checkSat()\tResult\tsat\nv4 = v3.isNull()\tbool\tFalse\n",
            [
                "print(answer)",
                "assert str(answer) != 'sat', 'a second instance answers sat to the unsat core t1'",
            ],
        ),
        (
            "sort",
            "arity of S: 2 instead of 1",
            "v3 = v1.arity()\tint\t2\n",
            ["print(number)", "assert str(number) == '1', 'arity of S: 2 instead of 1'"],
        ),
        (
            "value",
            "t3 has the value 7 of another sort",
            "v3 = v1.eq(v1)\tbool\tFalse\nv4 = v1.text()\tstr\t7\n",
            ["assert holds, 't3 has the value 7 of another sort'"],
        ),
        (
            "value",
            "the next one is the same: True instead of False",
            "v3 = v1 == v1\tbool\tTrue\n",
            ["assert not holds, 'the next one is the same: True instead of False'"],
        ),
        (
            "model",
            "a second instance of it refutes 7",
            "v3 = v1.checkSat()\tResult\tunsat\nv4 = v3.isSat()\tbool\tFalse\nv5 = v1.text()\tstr\t7\n",
            ["print(answer)", "assert str(answer) != 'unsat', 'a second instance of it refutes 7'"],
        ),
        # Which result is wrong is not seen from the calls.
        (
            "value",
            "it is so: True instead of False",
            "v3 = v1.isSat()\tbool\tTrue\nv4 = v1.next()\tTerm\t\n",
            [],
        ),
        ("rejected", "no such thing", "v3 = v1.ask()\traises\tRuntimeError: no\n", []),
    ],
)
def test_a_program_ends_by_saying_what_is_wrong(
    kind: str, detail: str, recorded: str, ending: list[str]
) -> None:
    text = next(programs(["cvc5"], ASKED + recorded, Fault(kind, "get-value", detail))).text
    assert text.splitlines()[len(text.splitlines()) - len(ending) :] == ending
    assert text.count("assert ") == len([line for line in ending if line.startswith("assert")])


def test_what_shows_an_error() -> None:
    stack = 'Traceback (most recent call last):\n  File "x", line 3\n    v1.check()\n'
    rejected = reported("rejected", "assert", "no sort 5")
    assert shows(rejected, "v1.check()\n", 1, stack + "z3.z3types.Z3Exception: b'no sort 7'\n")
    assert not shows(rejected, "v1.check()\n", 1, stack + "z3.z3types.Z3Exception: b'no such thing'\n")
    assert not shows(rejected, "v1.check()\n", 0, "")
    quoted = reported("rejected", "z3:print", '(error "line 5: no map")')
    said = "z3.z3types.Z3Exception: b'(error \"line {}: no map\")\\n'\n"
    assert shows(quoted, "v1.check()\n", 1, stack + said.format(5))
    assert not shows(quoted, "v1.check()\n", 1, stack + said.format(6))
    in_lockstep = reported("rejected", "assert", "cvc5: no sort 5")
    assert shows(in_lockstep, "v1.check()\n", 1, stack + "RuntimeError: no sort 7\nmore\n")
    wrong = Fault("core", "unsat-core", "it answers sat")
    assert shows(wrong, "assert v1 != 'sat', 'x'\n", 1, stack + "AssertionError: x\n")
    assert not shows(wrong, "assert v1 != 'sat', 'x'\n", 1, stack + "RuntimeError: x\n")
    raising = "v1.parse()  # raises ParserError: bad text here\n"
    assert shows(Fault("print", "read-back", "x"), raising, 1, stack + "cvc5.ParserError: bad text here\n")
    assert not shows(Fault("print", "read-back", "x"), raising, 1, stack + "cvc5.ParserError: other\n")


def test_what_a_solver_printed_before_is_read_in_one_pass() -> None:
    printed = "a warning\n" * 20_000 + "  v1.check()\nRuntimeError: no sort 7\nmore\n"
    began = time.process_time()
    assert shows(reported("rejected", "assert", "no sort 5"), "v1.check()\n", 1, printed)
    assert time.process_time() - began < 2


def program(*code: str, ending: tuple[str, ...] = ()) -> Program:
    lines = read_lines("".join(f"{line}\tNoneType\t\n" for line in code))
    return Program(tuple(lines), ending, ("z3",))


def calls(program: Program) -> list[str]:
    return [line.text for line in program.lines]


def test_a_program_gets_shorter_while_it_shows_it() -> None:
    made = program("v1 = z3.a()", "v2 = z3.b()", "v3 = v1.c(v2)", "v4 = v1.d()", "v5 = v1.e()")
    tried: list[Program] = []

    def is_shown(less: Program) -> bool:
        tried.append(less)
        return {"v1.d()", "v1.e()"} <= set(calls(less))

    # What is still used stays, so no try is wasted on it.
    assert calls(shorter(made, is_shown)) == ["z3.a()", "v1.d()", "v1.e()"]
    assert len(tried) == 4
    assert shorter(made, is_shown, tries=0) == made
    # Without the check, the solver refuses to give a model for another reason.
    asked = program(
        "v1 = z3.Solver()", "v2 = v1.push()", "v3 = v1.check()", "v4 = v1.pop()", "v5 = v1.model()"
    )
    left = shorter(asked, lambda less: "v1.model()" in calls(less))
    assert calls(left) == ["z3.Solver()", "v1.check()", "v1.model()"]
    # What a wrong answer is about stays, though it would be given without that, too.
    wrong = program("v1 = z3.Solver()", "v2 = v1.set('a', 1)", "v3 = v1.add(True)", "v4 = v1.check()")
    wrong = Program(wrong.lines, ("assert str(v4) != 'sat', 'x'",), ("z3",))
    assert calls(shorter(wrong, lambda less: True)) == ["z3.Solver()", "v1.add(True)", "v1.check()"]


def test_a_check_without_an_answer_leaves_something_in_the_solver() -> None:
    recorded = (
        "v1 = bitwuzla.Bitwuzla()\tBitwuzla\t\nv2 = v1.check_sat()\tenum\tunknown\n"
        "v3 = v1.check_sat()\tenum\tunsat\nv4 = v1.get_interpolants([])"
    )
    crash = Fault("crash", "bitwuzla:interpolants", "SIGSEGV in bitwuzla:interpolants")
    assert next(programs(["bitwuzla"], recorded, crash)).text.count("check_sat()") == 2


def test_a_check_whose_result_is_a_number_is_one() -> None:
    recorded = (
        "v1 = z3.Context()\tContext\t\nv2 = z3.Solver(None, v1)\tSolver\t\n"
        "v3 = (ctypes.c_uint * 1)(0)\tc_uint_Array_1\t\n"
        "v4 = z3.z3core.Z3_get_implied_equalities(v1.ref(), v2.solver, 1, v3)\tint\t-1\n"
        "v5 = z3.Solver(None, v1)\tSolver\t\nv6 = v5.check()\tCheckSatResult\tsat\n"
    )
    fault = Fault("answer", "z3:equalities", "unsat, a plain solver in sat")
    text = next(programs(["z3"], recorded, fault)).text
    assert "answer = z3.CheckSatResult(z3.z3core.Z3_get_implied_equalities(" in text
    assert text.endswith("assert str(answer) == str(answer2), 'unsat, a plain solver in sat'\n")


def test_variables_are_named_for_what_they_hold() -> None:
    recorded = (
        "v1 = cvc5.TermManager()\tTermManager\t\nv2 = v1.getBooleanSort()\tSort\t\n"
        "v3 = v1.mkConst(v2, 'x')\tTerm\t\nv4 = v1.mkConst(v2, 'print')\tTerm\t\n"
        "v5 = v1.mkTerm(cvc5.Kind.AND, v3, v4, v3)\tTerm\t\nv6 = cvc5.Solver(v1)\tSolver\t\n"
        "v7 = v6.assertFormula(v5)\tNoneType\t\nv8 = v6.checkSat()"
    )
    found = next(programs(["cvc5"], recorded, Fault("crash", "check-sat", "SIGSEGV in check-sat")))
    assert found.text.splitlines()[2:] == [
        "tm = cvc5.TermManager()",
        "s1 = tm.getBooleanSort()",
        "x = tm.mkConst(s1, 'x')",
        "t1 = tm.mkConst(s1, 'print')",
        "t2 = tm.mkTerm(cvc5.Kind.AND, x, t1, x)",
        "solver = cvc5.Solver(tm)",
        "solver.assertFormula(t2)",
        "solver.checkSat()",
    ]
    # What is used in one place only is written there.
    assert found.nested.text.splitlines()[5:] == [
        "solver = cvc5.Solver(tm)",
        "solver.assertFormula(tm.mkTerm(cvc5.Kind.AND, x, tm.mkConst(s1, 'print'), x))",
        "solver.checkSat()",
    ]


def test_types_that_a_solver_gives_are_those_of_python() -> None:
    lines: list[str] = []
    recorder = Recorder(lines.append)
    asked = recorder.proxy({"type": bool, "other": Path}, "info")
    assert asked["type"] is bool and asked["other"] is not Path
