"""Scripts that share a process: the verdicts are those of processes of their own, and nothing stays."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from difftest import Limits, Outcome, Solver, find_solver, find_solvers
from solvers.registry import PROFILES
from solvers.running import _supervisor
from solvers.running.runner import Runner
from solvers.running.screener import Screener
from solvers.running.script import Script
from tests.shell import fake_spec
from tests.solvers.test_fast_path import HARD, TABLE

SOLVERS = find_solvers(["z3", "cvc5"])
LIMITS = Limits(seconds=20)
PLAIN = "(set-logic ALL)(declare-const x Int)(assert (> x 1))(check-sat)"


@pytest.fixture
def screener(runner: Runner) -> Screener:
    return Screener(runner)


def script(text: str) -> Script:
    return Script(text.encode())


# A program that reads commands as z3 does, and does what it reads. The log gets a line for each process.
START = """import os, sys
if sys.argv[-1] == '--version': sys.exit('fake 1.0')
open({log}, 'a').write('start\\n')
"""
COMMANDS = """
def do(line):
    if "segfault" in line: os.kill(os.getpid(), 11)
    if "complain" in line: print('(error "line 1 column 1: complaint")')
    if "mutter" in line: print("warning", file=sys.stderr, flush=True)
    if "hang" in line: import time; time.sleep(60)
    if "much" in line: print("; " + "m" * 300_000)
    if "(check-sat)" in line: print("sat")
    if "(echo" in line: print(line.split('"')[1])
    sys.stdout.flush()
for line in sys.stdin if sys.argv[-1] == "-in" else open(sys.argv[-1]):
    do(line)
"""


class Counted:
    """A program that is named like z3, and how many processes it had."""

    def __init__(self, folder: Path, body: str = COMMANDS) -> None:
        self._log = folder / "log"
        program = folder / "z3.py"
        program.write_text(START.format(log=repr(str(self._log))) + body)
        self.solver = find_solver(f"z3-mine={sys.executable} -I -S {program}")

    @property
    def starts(self) -> int:
        return len(self._log.read_text().splitlines()) if self._log.exists() else 0


@pytest.fixture
def counted(tmp_path: Path) -> Counted:
    return Counted(tmp_path)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
@pytest.mark.few(1)
def test_verdicts_are_those_of_processes_of_their_own(
    solver: Solver, runner: Runner, screener: Screener
) -> None:
    for _ in range(2):
        for name, (text, *_) in TABLE.items():
            shared, own = (by.judge(solver, script(text), LIMITS) for by in (screener, runner))
            assert (shared.outcome, shared.answers) == (own.outcome, own.answers), name


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_one_script_leaves_nothing_to_the_next(solver: Solver, screener: Screener) -> None:
    texts = {
        "(set-logic QF_LIA)(declare-const x Int)(push 1)(assert (< x x))(check-sat)": ("unsat",),
        "(set-logic QF_LRA)(declare-const x Real)(assert (< 1.5 x 2.0))(check-sat)": ("sat",),
        "(set-logic ALL)(define-sort x () Bool)(declare-const b x)(assert b)(check-sat)": ("sat",),
        "(set-logic ALL)(assert x)(check-sat)": (None,),
    }
    for _ in range(2):
        for text, answers in texts.items():
            assert screener.judge(solver, script(text), LIMITS).answers == answers


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
@pytest.mark.few(1)
def test_a_script_that_takes_too_long_is_ended_and_the_next_one_runs(
    solver: Solver, screener: Screener
) -> None:
    assert screener.judge(solver, script(PLAIN), LIMITS).answers == ("sat",)
    got = screener.judge(solver, script(HARD), Limits(seconds=0.5))
    assert (got.outcome, got.answers) == (Outcome.TIMEOUT, ("sat", None))
    assert screener.judge(solver, script(PLAIN), LIMITS).answers == ("sat",)


def test_scripts_share_a_process_until_it_has_run_many(counted: Counted, screener: Screener) -> None:
    for _ in range(20):
        assert screener.judge(counted.solver, script(PLAIN), LIMITS).answers == ("sat",)
    assert counted.starts == 1
    for _ in range(_supervisor._SHARED_TESTS):
        screener.judge(counted.solver, script(PLAIN), LIMITS)
    assert counted.starts == 2


def test_a_program_may_write_a_line_in_parts(tmp_path: Path, screener: Screener) -> None:
    each = """('"', *line.split('"')[1], '"', '\\n')"""
    parts = f"sys.stdout.flush(); [(sleep(0.002), os.write(1, part.encode())) for part in {each}]"
    body = COMMANDS.replace("print(line.split('\"')[1])", parts)
    counted = Counted(tmp_path, "from time import sleep\n" + body)
    for _ in range(3):
        got = screener.judge(counted.solver, script(PLAIN), LIMITS)
        assert got.answers == ("sat",)
        assert got.seconds < LIMITS.seconds / 2
    assert counted.starts == 1


@pytest.mark.parametrize(
    ("text", "outcome"),
    [("segfault", Outcome.CRASH), ("complain", Outcome.REFUSED), ("mutter", Outcome.OK)],
)
def test_what_shows_anything_else_gets_a_process_of_its_own(
    text: str, outcome: Outcome, counted: Counted, screener: Screener
) -> None:
    screener.judge(counted.solver, script(PLAIN), LIMITS)
    odd = script(f"(assert {text})\n(check-sat)")
    assert screener.judge(counted.solver, odd, LIMITS).outcome is outcome
    assert screener.judge(counted.solver, script(PLAIN), LIMITS).answers == ("sat",)
    # The second one for the odd script; a third one only where the first had died of it.
    assert counted.starts == (3 if outcome is Outcome.CRASH else 2)


@pytest.mark.parametrize(
    "text",
    [
        "(set-option :produce-models true)\n(check-sat)",
        "(check-sat)\n(exit)",
        "(check-sat)\n(reset)",
        "(check-sat)\n(assert (and true",
        '(check-sat)\n(assert (= "a',
        "(check-sat)\n)",
        "(check-sat)\0",
    ],
)
def test_what_could_outlast_the_script_gets_a_process_of_its_own(
    text: str, counted: Counted, screener: Screener
) -> None:
    screener.judge(counted.solver, script(PLAIN), LIMITS)
    screener.judge(counted.solver, script(text), LIMITS)
    assert counted.starts == 2


def test_comments_at_the_end_do_not_hide_the_end(counted: Counted, screener: Screener) -> None:
    for text in (PLAIN, PLAIN + "\n; the end", PLAIN + " ; one\n\n;(\n"):
        assert screener.judge(counted.solver, script(text), LIMITS).answers == ("sat",)
    assert counted.starts == 1


def test_long_scripts_and_long_answers_pass(counted: Counted, screener: Screener) -> None:
    long = script("; much\n" + "(assert true)\n" * 40_000 + "(check-sat)")
    for _ in range(2):
        assert screener.judge(counted.solver, long, LIMITS).answers == ("sat",)
    assert counted.starts == 1
    z3 = SOLVERS[0]
    assert screener.judge(z3, script("(assert true)" * 40_000 + "(check-sat)"), LIMITS).answers == ("sat",)


def test_output_over_the_limit_counts_as_in_a_process_of_its_own(
    counted: Counted, runner: Runner, screener: Screener
) -> None:
    much, limits = script("; much\n(check-sat)"), Limits(output=1000)
    verdicts = [by.judge(counted.solver, much, limits) for by in (screener, runner)]
    assert [verdict.outcome for verdict in verdicts] == [Outcome.MEMOUT, Outcome.MEMOUT]


@pytest.mark.parametrize(
    "body",
    [
        "print('sat')",
        "import time; time.sleep(60)",
        "import sys; sys.exit('usage: z3 FILE')",
        "import sys\nfor line in sys.stdin: print('unsat' if 'check-sat' in line else line.split('\"')[1])",
    ],
)
@pytest.mark.few(2)
def test_a_program_that_does_not_read_on_is_not_shared(
    body: str, tmp_path: Path, runner: Runner, screener: Screener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solvers.running.screener._TRIAL_SECONDS", 0.4 if "sleep" in body else 2.0)
    counted = Counted(tmp_path, body)
    limits = Limits(seconds=0.4 if "sleep" in body else 2)
    assert screener.judge(counted.solver, script(PLAIN), limits).outcome is (
        runner.judge(counted.solver, script(PLAIN), limits).outcome
    )
    tried = counted.starts
    screener.judge(counted.solver, script(PLAIN), limits)
    assert counted.starts == tried + 1


def test_a_program_of_another_kind_is_not_shared(tmp_path: Path, screener: Screener) -> None:
    log = tmp_path / "log"
    body = f"open({str(log)!r}, 'a').write('start\\n'); print('sat')"
    solver = find_solver(fake_spec(tmp_path, "bragging", body))
    for number in range(3):
        assert screener.judge(solver, script(PLAIN), LIMITS).answers == ("sat",)
        assert len(log.read_text().splitlines()) == number + 1


def test_a_release_whose_answers_depend_on_earlier_scripts_is_not_shared(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    z3 = SOLVERS[0]
    for since, shares in (("0.1", True), ("999", False)):
        profile = msgspec.structs.replace(PROFILES["z3"], repeats_since=since)
        monkeypatch.setitem(PROFILES, "z3", profile)
        screener = Screener(runner)
        assert screener.judge(z3, script(PLAIN), LIMITS).answers == ("sat",)
        assert (screener._process(z3) is not None) is shares


def test_modes_apply_to_their_own_runs_only(screener: Screener) -> None:
    z3 = SOLVERS[0]
    text = script("(check-sat)(get-option :model_validate)")
    assert screener.run(z3, text, LIMITS).stdout == "sat\ntrue\n"
    assert screener.run(z3.with_options(["model_validate=false"]), text, LIMITS).stdout == "sat\nfalse\n"
    assert screener.run(z3, text, LIMITS).stdout == "sat\ntrue\n"
    by_tactic = z3.with_options(["check-sat-using=smt"])
    assert screener.judge(by_tactic, script(PLAIN), LIMITS).answers == ("sat",)


def test_a_cold_runner_is_not_shared(counted: Counted) -> None:
    with Runner(warm=False) as cold:
        screener = Screener(cold)
        for number in range(3):
            screener.judge(counted.solver, script(PLAIN), LIMITS)
            assert counted.starts == number + 1


def test_closing_the_runner_ends_a_run_in_a_shared_process(
    counted: Counted, runner: Runner, screener: Screener
) -> None:
    screener.judge(counted.solver, script(PLAIN), LIMITS)
    threading.Timer(0.5, runner.close).start()
    started = time.monotonic()
    assert screener.judge(counted.solver, script("; hang\n(check-sat)"), Limits(seconds=50)).answers == (
        None,
    )
    assert time.monotonic() - started < 20
