"""Solvers behind a command line: conversations, what is found out about a solver, and runs with it."""

from __future__ import annotations

import contextlib
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from apifuzz import calls
from apifuzz.driving import replay
from apifuzz.engines import EngineMissing, make_engine
from apifuzz.engines.abilities import Abilities, abilities_of
from apifuzz.engines.around import Witness
from apifuzz.engines.pipe import PipeEngine
from apifuzz.interface import (
    Answer,
    ApiSort,
    ApiTerm,
    Feature,
    LimitReached,
    Misbehaviour,
    Rejected,
    TermKind,
    Unsupported,
)
from apifuzz.run import Ending, Settings
from apifuzz.running.runs import Runner
from apifuzz.running.setup import Setup
from apifuzz.trace import read_trace
from base.documents import from_document, to_document
from smtlib import BOOL, Kind
from solvers.errors import EnvironmentProblem
from solvers.running.conversation import Conversation
from tests.apifuzz.kits import drawn
from tests.sizes import size
from tests.solvers.test_conversation import talk

pytestmark = pytest.mark.usefixtures("kept_abilities")

SOLVER = Path(__file__).with_name("little_solver.py")


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> str:
    # In a folder whose name has to be quoted.
    script = tmp_path_factory.mktemp("a solver") / SOLVER.name
    script.symlink_to(SOLVER)
    return f"{shlex.quote(sys.executable)} -I {shlex.quote(str(script))}"


# What is found out


@pytest.mark.thorough
def test_what_a_solver_knows_is_found_by_asking_it(command: str) -> None:
    engine = PipeEngine("little", command)
    known = engine.capabilities()
    assert known.theories == {"Core"}
    assert {"xor", "distinct"} <= known.without and {"and", "ite", "="}.isdisjoint(known.without)
    assert {Feature.INCREMENTAL, Feature.MODELS, Feature.UNSAT_CORES, Feature.ASSUMPTIONS} <= known.features
    assert known.features.isdisjoint({Feature.DATATYPES, Feature.RESET, Feature.SORTS, Feature.RECURSION})
    assert ("produce-models", "true") in known.required_options
    assert "incremental" not in dict(known.required_options)
    assert engine.version == "1.2"


def test_what_was_found_is_kept_until_the_program_or_its_script_changes(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = abilities_of(tuple(shlex.split(command)), ("little",))
    assert from_document(to_document(found), Abilities) == found
    monkeypatch.setenv("EXHUME_CACHE", str(tmp_path / "cache"))
    asked = []

    def ask(argv: tuple[str, ...], families: tuple[str, ...]) -> Abilities:
        asked.append(argv)
        return found

    monkeypatch.setattr("apifuzz.engines.abilities.ask_abilities", ask)
    program = tmp_path / "solver"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for expected in (1, 1):
        assert abilities_of.__wrapped__((str(program),), ("little",)) == found
        assert len(asked) == expected
    program.write_text("#!/bin/sh\nexit 1\n")
    assert abilities_of.__wrapped__((str(program),), ("little",)) == found
    assert abilities_of.__wrapped__((str(program), "-x"), ("little",)) == found
    assert len(asked) == 3
    for file in (tmp_path / "cache" / "solvers").iterdir():
        file.write_text('{"theories": 3}')
    assert abilities_of.__wrapped__((str(program),), ("little",)) == found
    assert len(asked) == 4
    for text in ("exit 1\n", "exit 2; \n"):
        (tmp_path / "script").write_text(text)
        assert abilities_of.__wrapped__(("sh", str(tmp_path / "script")), ("little",)) == found
    assert len(asked) == 6


def test_a_path_with_spaces_needs_no_quotes(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "a solver"
    program.write_text(f"#!/bin/sh\nexec {command}\n")
    program.chmod(0o755)
    found = abilities_of(tuple(shlex.split(command)), ("little",))
    monkeypatch.setattr("apifuzz.engines.pipe.abilities_of", lambda argv, families: found)
    assert make_engine(f"little={program}").version == "1.2"


@pytest.mark.parametrize("bad", ["", "'", "=4.8.5", "/nonexistent/solver -x"])
def test_programs_that_cannot_be_used_are_missing(bad: str) -> None:
    with pytest.raises(EngineMissing):
        PipeEngine("bad", bad)


def test_paths_that_the_user_names_are_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("solver", "its file"):
        Path(name).write_text("")
        Path(name).chmod(0o755)
    first = Setup("mine=./solver 'its file' -x")
    assert first.absolute == Setup(f"mine={tmp_path}/solver '{tmp_path}/its file' -x")
    assert replace(first, solver="z3", cross_check=first.solver).absolute.cross_check == first.absolute.solver
    with Runner(first) as runner, pytest.raises(EnvironmentProblem, match="Exec format error"):
        runner.version()


def test_a_name_of_several_words_is_refused() -> None:
    with pytest.raises(EngineMissing, match="may contain only"):
        PipeEngine("b a d", "true")


def test_a_program_that_does_not_talk_smtlib_is_missing() -> None:
    with pytest.raises(EngineMissing, match="does not answer"):
        make_engine(f"echo={shutil.which('true')}")


def test_no_shell_reads_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(EngineMissing):
        PipeEngine(
            "sly", f"/nonexistent/solver; touch {tmp_path / 'touched'} $(touch {tmp_path / 'touched'})"
        )
    assert not (tmp_path / "touched").exists()


# Runs

HEADER = """exhume-trace 1 little 1
1 new
2 set-option produce-models true
3 set-option produce-unsat-cores true
4 set-option produce-unsat-assumptions true
5 make-sort Bool
return s1
6 make-constant s1 p
return t1
"""


def repeat(command: str, *lines: str) -> tuple[Ending, PipeEngine]:
    engine = PipeEngine("little", command)
    return replay(engine, read_trace(HEADER + "\n".join(lines) + "\n")), engine


def test_a_run_is_said_command_by_command(command: str) -> None:
    ending, engine = repeat(
        command,
        "7 make-term s1 not t1",
        "return t2",
        "8 assert t1",
        "9 push 1",
        "10 assert t2",
        "11 check-sat",
        "12 get-value t1",
        "13 print-model",
    )
    assert (ending.kind, ending.detail, ending.refused, ending.answers) == ("done", "", (), ("sat",))
    said = list(engine.commands)
    assert said[:2] == ["(set-option :print-success true)", "(set-option :global-declarations true)"]
    assert said[5:] == [
        "(set-logic ALL)",
        "(declare-const p Bool)",
        "(assert (! p :named |asserted 1|))",
        "(push 1)",
        "(assert (! (not p) :named |asserted 2|))",
        "(check-sat)",
        "(get-value (p))",
        "(get-model)",
    ]


def test_cores_are_assertions_and_strange_assumptions_are_noticed(command: str) -> None:
    ending, _ = repeat(
        command,
        "7 make-term s1 and t1 t1",
        "return t2",
        "8 assert t1",
        "9 check-sat-assuming t2",
        "10 unsat-core",
        "11 unsat-assumptions",
    )
    assert ending.answers == ("unsat",)
    assert (ending.kind, ending.error) == ("misbehaviour", "assumptions")
    assert "|assumed 99| in it was not given" in ending.detail


@pytest.mark.parametrize(
    ("name", "kind", "detail"),
    [
        ("abort", "misbehaviour", "the solver ended (SIGSEGV)"),
        ("Integer", "rejected", 'what is ""this""?'),
        ("flood", "done", "an answer of more than"),
    ],
)
def test_crashes_errors_and_floods(command: str, name: str, kind: str, detail: str) -> None:
    ending, _ = repeat(
        command,
        f"7 make-function {name} (s1) s1",
        "return t2",
        "8 make-term s1 apply t2 t1",
        "return t3",
        "9 assert t3",
        "10 check-sat",
    )
    assert ending.kind == kind
    reported = ending.detail or "".join(why for _, why in ending.refused)
    assert detail in reported
    assert ending.error == ("crash" if kind == "misbehaviour" else "")


def test_a_model_is_a_list(command: str) -> None:
    ending, engine = repeat(command, "7 assert t1", "8 check-sat", "9 print-model")
    assert ending.kind == "done"
    engine._talk = talk("input(); print('no model', flush=True); input()")
    with pytest.raises(Misbehaviour, match="a list expected, the answer is no") as caught:
        engine.perform(calls.PrintModel())
    assert caught.value.kind == "print"


def test_what_a_solver_refuses_is_not_repeated_in_a_sibling(command: str) -> None:
    _, engine = repeat(command)
    assert isinstance(engine, PipeEngine)
    with pytest.raises((Unsupported, Rejected, Misbehaviour)):
        engine.declare("(declare-nonsense x)")
    other = engine.sibling()
    assert isinstance(other, PipeEngine)
    assert "(declare-const p Bool)" in other.commands and not any("nonsense" in c for c in other.commands)
    other.perform(calls.Delete())


@pytest.mark.thorough
def test_a_hanging_solver_is_stopped_and_the_run_continues_without_it(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apifuzz.engines.pipe.Conversation", lambda argv: Conversation(argv, 2.0))
    ending, engine = repeat(command, "7 make-constant s1 hang", "return t2", "8 assert t2", "9 check-sat")
    assert ending.kind == "done"
    assert [why for _, why in ending.refused] == [
        "assert: no answer within 2 seconds",
        "check-sat: no answer within 2 seconds",
    ]
    with pytest.raises(Unsupported):
        engine.perform(calls.Push(1))


def test_a_sibling_knows_what_was_declared(command: str) -> None:
    _, engine = repeat(command, "7 make-constant s1 q", "return t2", "8 assert t2")
    other = engine.sibling()
    assert isinstance(other, PipeEngine)
    assert "(declare-const q Bool)" in other.commands and not any("assert" in c for c in other.commands)
    assert other.perform(calls.CheckSat()) is Answer.SAT
    other.perform(calls.Delete())
    with pytest.raises(Unsupported):
        other.perform(calls.Push(1))
    assert engine.perform(calls.CheckSat()) is Answer.SAT


def test_what_is_assumed_gets_a_constant_of_its_own_in_a_sibling_too(command: str) -> None:
    _, engine = repeat(command, "7 make-term s1 and t1 t1", "return t2", "8 check-sat-assuming t1 t2")
    assert list(engine.commands)[-3:] == [
        "(declare-const |assumed 1| Bool)",
        "(assert (= |assumed 1| (and p p)))",
        "(check-sat-assuming (p |assumed 1|))",
    ]
    other = engine.sibling()
    assert isinstance(other, PipeEngine)
    value = other.perform(calls.MakeValue(ApiSort(9, BOOL, BOOL), "true"))
    both = other.table.make(other.table.op(Kind.OPERATOR, "and"), (value, value), BOOL)
    formula = ApiTerm(9, ApiSort(9, BOOL, BOOL), both, TermKind.TERM)
    assert other.perform(calls.CheckSatAssuming([formula])) is Answer.UNSAT
    declared = [c for c in other.commands if c.startswith("(declare-const |assumed")]
    assert declared == ["(declare-const |assumed 1| Bool)", "(declare-const |assumed 2| Bool)"]
    other.perform(calls.Delete())


def test_a_solver_of_booleans_alone_is_given_terms(command: str) -> None:
    text, ending = drawn(PipeEngine("little", command), 1, Settings(calls=100))
    assert ending.statistics.states["terms"] > 10
    assert " assert t" in text


def conversing(program: str) -> PipeEngine:
    """An engine in the middle of a run, whose solver is a Python program."""
    engine = PipeEngine.__new__(PipeEngine)
    engine._started, engine.commands, engine._talk = True, [], talk(program)
    return engine


def test_other_answers_than_success_are_noticed() -> None:
    engine = conversing(
        """
        for answer in ('sat', '(error "Fatal failure within x")'):
            input()
            print(answer, flush=True)
        input()
        """
    )
    with pytest.raises(Misbehaviour, match="is answered by sat"):
        engine.emit("(push 1)")
    with pytest.raises(Misbehaviour, match="Fatal failure"):
        engine.emit("(push 1)")
    with pytest.raises(Rejected, match="exit status 0"):
        engine.emit("(push 1)")


def test_a_list_of_parameters_is_no_limit() -> None:
    engine = conversing(
        """
        input()
        print("(error \\"unknown parameter 'x'")
        print("Legal parameters are:")
        print("  timeout (unsigned int)\\")", flush=True)
        """
    )
    with pytest.raises(Rejected, match="unknown parameter 'x'"):
        engine.emit("(set-option :x 1)")


@pytest.mark.parametrize(
    ("answers", "end", "kind", "said"),
    [
        (["std::bad_alloc"], "sys.exit(1)", Unsupported, "memory: std::bad_alloc"),
        ([], "os.kill(os.getpid(), 9)", LimitReached, "memory .*SIGKILL"),
        ([], "signal.signal(25, signal.SIG_DFL); os.kill(os.getpid(), 25)", LimitReached, "SIGXFSZ"),
        ([], "os.write(2, b'terminate called: std::bad_alloc'); os.abort()", LimitReached, "SIGABRT"),
        (["timeout"], "sys.exit(1)", Unsupported, "a time limit"),
        (["timeout", ""], "sys.exit(1)", Rejected, "exit status 1"),
        (["timeout"], "sys.exit('Fatal failure within x')", Misbehaviour, "Fatal failure"),
        (["out of memory"], "os.abort()", Misbehaviour, "SIGABRT"),
    ],
)
def test_a_solver_may_end_at_a_limit(answers: list[str], end: str, kind: type[Exception], said: str) -> None:
    engine = conversing(
        f"""
        import os, signal, sys
        for answer in {answers}:
            input()
            print(f'(error "{{answer}}")' if answer else 'success', flush=True)
        input()
        {end}
        """
    )
    for answer in answers:
        with pytest.raises(Unsupported) if answer else contextlib.nullcontext():
            engine.emit("(push 1)")
    with pytest.raises(kind, match=said):
        engine.emit("(push 1)")
    with pytest.raises(Unsupported, match="the solver ended"):
        engine.emit("(push 1)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("z3", "-in"),
        pytest.param("cvc5", "", marks=pytest.mark.thorough),
        pytest.param("cvc4", "--lang smt2", marks=pytest.mark.thorough),
        pytest.param("yices-smt2", "--incremental", marks=pytest.mark.thorough),
    ],
)
def test_runs_with_real_solvers(program: str, arguments: str) -> None:
    path = shutil.which(program) or shutil.which(program, path=str(Path(sys.executable).parent))
    if path is None:
        pytest.skip(f"there is no {program} on this machine")
    spec = f"{program}={path} {arguments}"
    answers = []
    settings = Settings(theories=("Core", "FixedSizeBitVectors"), calls=80)
    for seed in range(size(1, 2)):
        text, ending = drawn(Witness(make_engine(spec)), seed, settings)
        assert ending.kind == "done", f"seed {seed}: {ending.detail}"
        answers += ending.answers
        assert drawn(Witness(make_engine(spec)), seed, settings)[0] == text
    assert {"sat", "unsat"} & set(answers)
