"""Whether findings of cvc5's interface show in its safe mode: asked with their programs, else their text."""

from __future__ import annotations

from pathlib import Path

import pytest

from apifuzz.running import describing
from apifuzz.running.describing import describe
from apifuzz.running.faults import CRASH, Fault, reported
from apifuzz.running.safe_mode import ask_safe_mode
from apifuzz.running.setup import Setup
from apifuzz.trace import read_trace
from difftest.triage.evidence import Evidence
from tests.apifuzz.filing import Programmed, file_finding

DIES = Fault(CRASH, "check-sat", "SIGSEGV in check-sat", None, "SIGSEGV")
PROGRAM = """import os, signal, cvc5

manager = cvc5.TermManager()
solver = cvc5.Solver(manager)
solver.setOption("{option}", "true")
os.kill(os.getpid(), signal.SIGSEGV)
"""
REFUSES = "Fatal error in option parsing: expert option fp-exp cannot be set in safe mode."


@pytest.mark.parametrize(
    ("fault", "option", "stands", "refuses"),
    [
        (DIES, "produce-models", True, ""),
        (DIES, "fp-exp", False, REFUSES),
        (reported("rejected", "set-option", "no such option"), "fp-exp", False, REFUSES),
        (reported("crash", "check-sat", "Fatal failure at a.cpp:7"), "produce-models", False, ""),
    ],
)
def test_the_program_is_run_in_safe_mode(fault: Fault, option: str, stands: bool, refuses: str) -> None:
    safe = ask_safe_mode(fault, PROGRAM.format(option=option))
    assert safe == {"safe_mode": stands, "safe_mode_refuses": refuses}


@pytest.mark.parametrize(
    ("solvers", "program", "asked", "words"),
    [
        (
            ("cvc5", None),
            PROGRAM.format(option="fp-exp"),
            [],
            "refused",
        ),
        (("cvc5", None), None, ["cvc5[safe-mode=safe]"], "affected"),
        (("z3", "cvc5"), None, ["z3", "cvc5[safe-mode=safe]"], "affected"),
        (("z3", None), None, [], ""),
    ],
)
def test_what_is_known_of_safe_mode_stands_in_the_report(
    solvers: tuple[str, str | None],
    program: str | None,
    asked: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[list[str]] = []

    def text_shows(script: str, setup: Setup, fault: Fault) -> bool:
        tried.append([spec for spec in (setup.solver, setup.cross_check) if spec])
        return True

    monkeypatch.setattr(describing, "weigh", lambda *args: Evidence("cvc5" if words else "z3"))
    monkeypatch.setattr(describing, "text_shows", text_shows)
    setup = Setup(*solvers)
    trace = read_trace(f"exhume-trace 1 {setup.solver} 1\n1 new\n2 make-sort Bool\nreturn s1\n")
    with Programmed(setup, program) as runner:
        texts = describe(runner, trace, DIES, older=False)
    assert tried[1:] == [asked] * bool(asked)
    report = (file_finding(tmp_path, DIES, trace, setup, texts) / "report.md").read_text("utf-8")
    assert ("Safe mode: " in report) == bool(words)
    assert f"Safe mode: {words}\n" in report or not words
    assert ("safe_mode" in texts.facts) == ("cvc5" in solvers)
