"""The command apifuzz: campaigns, traces, the model; what is wrong is one line and the right exit code."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apifuzz.running.faults import Fault
from apifuzz.running.setup import Setup
from apifuzz.trace import read_trace
from difftest.campaign.stored import NoCampaign, read_campaign
from tests.apifuzz.filing import file_finding

TRACE = """exhume-trace 1 smtlib 1
1 new
2 make-sort Bool
return s1
3 make-constant s1 p
return t1
4 assert t1
5 push 1
6 check-sat
7 pop 1
8 delete
"""


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    file = tmp_path / "a.trace"
    file.write_text(TRACE)
    return file


@pytest.fixture
def pops_break(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine that prints crashes at a pop: its setups are those of the double."""
    from apifuzz.running.setup import Setup
    from exhume.commands import apifuzz, traces

    doubles = str(Path(__file__).resolve().parents[1] / "apifuzz")

    class Doubled(Setup):
        def __new__(cls, solver: str, *rest: Any, **named: Any) -> Any:
            return Setup(solver, factory="doubles:crashes_at_first_pop", path=doubles)

        @classmethod
        def of_trace(cls, trace: Any, *given: Any) -> Any:
            return Setup(trace.solver, factory="doubles:crashes_at_first_pop", path=doubles)

    monkeypatch.setattr(apifuzz, "Setup", Doubled)
    monkeypatch.setattr(traces, "Setup", Doubled)


def test_a_campaign_counts_and_finds_nothing_in_honest_runs(exhume: Any, tmp_path: Path) -> None:
    command = ("apifuzz", "run", "--solver", "smtlib", "--runs", 5, "--calls", 60, "--theories", "Core,Ints")
    ended = exhume(*command, "--out", tmp_path / "c", "--json", "--no-quantifiers", "--no-options")
    assert (ended.code, ended.err) == (0, "")
    assert (ended.json["tests"], ended.json["findings"], "errors" in ended.json["statistics"]) == (
        5,
        [],
        False,
    )
    theories = {name.split()[0] for name in ended.json["statistics"]["operators"]}
    assert theories <= {"Core", "Ints", "Functions", "Datatypes"}
    again = exhume(*command, "--out", tmp_path / "c", "--no-quantifiers", "--no-options", "--statistics")
    assert again.code == 0
    assert again.out.startswith("5 tests in ")
    assert "no findings" in again.out
    assert "make-term" in again.out
    other = exhume(*command, "--out", tmp_path / "c", "--quantifiers", "--no-options")
    assert other.code == 2
    assert "started with drawing" in other.said


def test_what_is_found_is_shown_replayed_and_minimised(exhume: Any, tmp_path: Path, pops_break: None) -> None:
    command = ("apifuzz", "run", "--solver", "smtlib", "--calls", 60, "--runs", 6, "--out", tmp_path / "c")
    ended = exhume(*command)
    assert ended.code == 1
    assert "1 finding\n" in ended.out
    (folder,) = (tmp_path / "c" / "findings").iterdir()
    assert folder.name in ended.out
    assert "pop: SIGSEGV" in ended.out
    replayed = exhume("apifuzz", "replay", folder / "minimised.trace", "--json")
    assert replayed.code == 1
    assert (replayed.json["outcome"], replayed.json["fault"]["kind"]) == ("fault", "crash")
    (folder / "minimised.trace").unlink()
    minimised = exhume("apifuzz", "minimise", folder, "--json")
    assert minimised.code == 0
    assert (minimised.json["kind"], minimised.json["confirmed"]) == ("crash", True)
    trace = read_trace((folder / "minimised.trace").read_text())
    assert [line.action for line in trace.lines] == ["new", "push", "pop"]
    assert json.loads((folder / "finding.json").read_text())["lines"][1] == 3
    known = exhume(*command[:-1], tmp_path / "k", "--earlier", tmp_path / "c", "--json")
    assert (known.code, known.json["findings"]) == (0, [])
    statistics = known.json["statistics"]
    assert sum(statistics["known"].values()) == statistics["errors"]["crash"] > 0


def test_a_trace_is_replayed(exhume: Any, trace: Path) -> None:
    ended = exhume("apifuzz", "replay", trace, "--solver", "bitwuzla")
    assert (ended.code, ended.out) == (0, "sat\ndone: 8 calls, no error\n")
    trace.write_text(TRACE.replace("\n", "\nset cross-check |a=b|\n", 1))
    assert "--cross-check" in exhume("apifuzz", "replay", trace, "--solver", "bitwuzla").err
    ended = exhume("apifuzz", "replay", trace, "--cross-check", "bitwuzla")
    assert (ended.code, ended.out) == (0, "sat\ndone: 8 calls, no error\n")
    trace.write_text(TRACE)
    document = exhume("apifuzz", "replay", trace, "--json").json
    assert (document["outcome"], document["answers"], document["fault"]) == ("done", ["unknown"], None)


def test_a_trace_is_minimised_beside_itself(exhume: Any, trace: Path, pops_break: None) -> None:
    ended = exhume("apifuzz", "minimise", trace)
    assert ended.code == 0
    assert ended.out.splitlines()[-1].startswith("crash: 8 to 3 calls")
    assert trace.read_text() == TRACE
    assert len(read_trace((trace.parent / "a.min.trace").read_text()).lines) == 3


def test_a_trace_without_an_error_is_not_minimised(exhume: Any, trace: Path) -> None:
    ended = exhume("apifuzz", "minimise", trace)
    assert ended.code == 2
    assert f"{trace}: the trace does not show the error when it is repeated: done" in ended.said


def test_a_trace_is_translated(exhume: Any, trace: Path) -> None:
    ended = exhume("apifuzz", "to-smtlib", trace)
    assert ended.code == 0
    commands = [line for line in ended.out.splitlines() if line]
    assert [c for c in commands if c.startswith(("(assert", "(push", "(check-sat", "(pop"))] == [
        "(assert p)",
        "(push 1)",
        "(check-sat)",
        "(pop 1)",
    ]


def test_the_model_is_printed(exhume: Any) -> None:
    table = exhume("apifuzz", "model", "--solver", "smtlib")
    assert table.code == 0
    assert table.out.startswith("state")
    assert "make-term" in table.out
    dot = exhume("apifuzz", "model", "--solver", "smtlib", "--format", "dot")
    assert dot.out.startswith("digraph")
    assert dot.out.rstrip().endswith("}")


BAD: dict[str, tuple[str, str]] = {
    "binary": ("\x00\xff", "line 1"),
    "empty": ("", "empty"),
    "version": ("exhume-trace 7 z3 1\n", "version 7"),
    "argument": ("exhume-trace 1 smtlib 1\n1 new\n2 push x\n", "line 3"),
    "solver": ("exhume-trace 1 |a=b| 1\n1 new\n", "--solver"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("mode", ["replay", "minimise"])
def test_bad_traces_get_line_and_reason(exhume: Any, tmp_path: Path, mode: str, name: str) -> None:
    text, reason = BAD[name]
    file = tmp_path / "bad.trace"
    file.write_bytes(text.encode("latin-1"))
    ended = exhume("apifuzz", mode, file)
    assert ended.code == 2
    assert reason in ended.err


@pytest.mark.parametrize("command", ["run", "replay", "minimise"])
@pytest.mark.parametrize(
    ("spec", "reason"), [("mine=./no", "No such file"), ("mine=true", "it does not answer SMT-LIB commands")]
)
def test_a_solver_that_is_missing_is_no_crash(
    exhume: Any, trace: Path, tmp_path: Path, command: str, spec: str, reason: str
) -> None:
    target = ("--out", tmp_path / "c") if command == "run" else (trace,)
    ended = exhume("apifuzz", command, *target, "--solver", spec)
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith(f"exhume: the solver {spec} cannot be used: {reason}")
    assert ended.err.count("\n") == 1


def test_no_trace_names_a_release(exhume: Any, trace: Path) -> None:
    ended = exhume("apifuzz", "replay", trace, "--solver", "z3==4.8.5")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("exhume: z3==4.8.5: API fuzzing supports no releases")


def test_a_finding_names_its_program_and_a_trace_does_not(exhume: Any, tmp_path: Path) -> None:
    little = Path(__file__).resolve().parents[1] / "apifuzz" / "little_solver.py"
    text = TRACE.replace("smtlib", "little").replace("constant s1 p", "constant s1 abort")
    fault = Fault("crash", "assert", "SIGSEGV in assert", None, "SIGSEGV in assert")
    (tmp_path / "findings").mkdir()
    setup = Setup(f"little={sys.executable} {little}")
    folder = file_finding(tmp_path / "findings", fault, read_trace(text), setup)
    replayed = exhume("apifuzz", "replay", folder, "--json")
    assert (replayed.code, replayed.json["solver"], replayed.json["fault"]["kind"]) == (1, "little", "crash")
    alone = exhume("apifuzz", "replay", folder / "trace.txt")
    assert alone.code == 2
    assert alone.err.startswith(f"exhume: {folder}/trace.txt: it was made with the program 'little'")
    assert alone.err.endswith("name it with --solver little=COMMAND\n")
    reduced = exhume("reduce", folder, "--time", "5s", "--json")
    assert (reduced.code, reduced.json["kind"], reduced.json["confirmed"]) == (0, "crash", True)


def test_a_trace_that_cannot_be_translated_is_named(exhume: Any, trace: Path) -> None:
    trace.write_text(TRACE.replace("assert t1", "assert t9"))
    ended = exhume("apifuzz", "to-smtlib", trace)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f"exhume: {trace}: line 7: assert: unknown term t9")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["run", "--out", "x"], "--solver"),
        (["run", "--solver", "z3"], "--out"),
        (["run", "--solver", "nothing", "--out", "x"], "no engine for 'nothing'"),
        (["run", "--solver", "z3", "--out", "x", "--cross-check", "z3=old -in"], "have the same name"),
        (["run", "--solver", "smtlib", "--out", "x", "--theories", "Intz"], "no theory Intz"),
        (["run", "--solver", "bitwuzla", "--out", "x", "--theories", "Ints"], "bitwuzla does not have Ints"),
        (["run", "--solver", "smtlib", "--out", "x", "--option", "produce"], "NAME=VALUE"),
        (["run", "--solver", "smtlib", "--out", "x", "--only-options", "a"], "no option with a in its name"),
        (["run", "--solver", "cvc5", "--out", "x", "--option", "bv-solver=x"], "does not take it"),
        (["run", "--solver", "bitwuzla", "--out", "x", "--option", "no=1"], "does not take it"),
        (["run", "--solver", "bitwuzla", "--out", "x", "--option", "a=1", "--option", "a=2"], "sets a=1"),
        (["run", "--solver", "z3==4.8.5", "--out", "x"], "z3==4.8.5: API fuzzing supports no releases"),
        (["run", "--solver", "smtlib", "--out", "x", "--corpus", "k"], "exhume: there is no corpus k"),
        (["run", "--solver", "smtlib", "--out", "x", "--time", "soon"], "not a duration"),
        (["replay", "nowhere"], "nowhere"),
        (["replay", "."], "no trace.txt there: name a trace, or the folder of a finding of API fuzzing"),
        (["run", "--solver", "smtlib", "--out", "x", "--known", "nowhere"], "not a list of known errors"),
    ],
)
def test_usage_errors_are_reported(
    exhume: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], reason: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = exhume("apifuzz", *arguments)
    assert ended.code == 2
    assert reason in " ".join(ended.err.split())
    assert "Traceback" not in ended.err


def has_counts(out: Path) -> bool:
    with contextlib.suppress(NoCampaign):
        return bool(read_campaign(out).buckets)
    return False


@pytest.mark.thorough
def test_ctrl_c_ends_a_campaign_with_its_summary(
    start: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    out = tmp_path / "c"
    process = start("apifuzz", "run", "--solver", "smtlib", "--time", "10m", "--out", out, "--json")
    try:
        while not has_counts(out):
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=100)
    finally:
        process.kill()
    assert process.returncode == 130
    assert json.loads(printed)["tests"] > 0
    assert "finishing the running tests" in said


def test_help_loads_no_solver() -> None:
    code = (
        "import sys; from exhume.cli import run\n"
        "assert run(['apifuzz', 'run', '--help']) == 0\n"
        "assert not {'z3', 'cvc5', 'bitwuzla'} & set(sys.modules), 'loaded'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--cross-check" in done.stdout


@pytest.mark.thorough
def test_terms_of_a_corpus_are_fed_in(
    exhume: Any, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(corpus.parent)
    (tmp_path / "one.smt2").write_text("(declare-const p Bool)(assert p)(check-sat)")
    command = (
        "apifuzz",
        "run",
        "--solver",
        "smtlib",
        "--runs",
        3,
        "--corpus",
        corpus.name,
        "--out",
        tmp_path / "c",
    )
    ended = exhume(*command, "--json", "--statistics")
    assert (ended.code, "errors" in ended.json["statistics"]) == (0, False)
    # Feeding is never a call of its own; that it was tried shows where nothing was drawn by it.
    assert ended.json["statistics"]["idle"]["feed-term"] > 0
    assert ended.json["statistics"]["fed"]["made"] > 0
    moved = corpus.rename(tmp_path / "moved.duckdb")
    command = tuple(moved if word == corpus.name else word for word in command)
    assert exhume(*command).code == 0
    assert exhume("import", tmp_path / "one.smt2", "--corpus", moved).code == 0
    changed = exhume(*command)
    assert (changed.code, "was started with corpus" in changed.said) == (2, True)


def test_a_hunt_makes_calls_beside_formulas(exhume: Any, corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "both"
    command = ("hunt", "--strategy", "skeletons,api", "--solver", "z3", "--tests", 6, "--bandit")
    ended = exhume(*command, "--corpus", corpus, "--out", out, "--modes", "default", "--json")
    assert ended.code in (0, 1)
    assert ended.json["tests"] == 6
    assert {arm.strategy for arm in read_campaign(out).arms} == {"skeletons", "api"}
    assert ended.json["statistics"]["calls"]["calls"] > 0
    assert exhume("hunt", "--resume", "--out", out, "--tests", 8, "--json").json["tests"] == 8
