"""The findings of docs/findings that come with a program: the pinned releases do what the reports say.

All ways to show one are tried: the program, the SMT-LIB text, and the trace of calls, where they are there.
"""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace

import pytest

from apifuzz.running.faults import LEAK
from apifuzz.running.runs import Runner
from apifuzz.running.safe_mode import run_in_safe_mode
from apifuzz.running.setup import Setup
from apifuzz.trace import print_trace, read_trace
from difftest import Limits, find_solver
from solvers.bitwuzla import driver as bitwuzla_driver
from solvers.cvc5 import driver as cvc5_driver
from solvers.running.process import Run
from solvers.running.runner import Runner as TextRunner
from solvers.running.script import Script
from tests.findings import (
    FOLDER,
    RELEASES,
    WITH_PROGRAM,
    assert_safe_mode,
    report_of,
    skip_unless_installed,
)

SEGV, ABRT, FPE = signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE
CORRUPTED = (SEGV, ABRT, FPE)
"""What a program dies of whose memory is not what it was: by chance."""

# Folder to the signal that ends the program, or to a text that it prints.
PROGRAMS: dict[str, signal.Signals | tuple[signal.Signals, ...] | str] = {
    "bitwuzla-array-equality-value": "((as const (Array Bool Bool)) true)\nfalse",
    "bitwuzla-distinct-uninterpreted-abort": ABRT,
    "bitwuzla-gc-cycle-segfault": CORRUPTED,
    "bitwuzla-interpolants-after-unknown-segfault": SEGV,
    "bitwuzla-interpolants-simp-segfault": SEGV,
    "bitwuzla-options-shrt-segfault": SEGV,
    "bitwuzla-print-formula-after-check": "asserted: unsat printed: sat",
    "bitwuzla-print-formula-unreadable": "(set-logic QF_A)",
    "bitwuzla-print-let-scope": "undefined symbol '_let1'",
    "bitwuzla-zero-denominator-sigfpe": FPE,
    "cvc5-bag-partition-value-abort": ABRT,
    "cvc5-check-after-limit-corruption": CORRUPTED,
    "cvc5-define-fun-rec-not-global": "sat\nunsat",
    "cvc5-division-total-wrong-sat": "sat\n0 0\nunsat",
    "cvc5-finite-model-find-incremental-segfault": SEGV,
    "cvc5-interpolant-next-same": "false false",
    "cvc5-join-image-segfault": SEGV,
    "cvc5-match-let-scope": "(let ((_let_1 (match d ((x (not _let_3))))))",
    "cvc5-mbqi-enum-sequence-segfault": SEGV,
    "cvc5-nth-values-contradict": "sat\n0 true true",
    "cvc5-piand-proof-abort": ABRT,
    "cvc5-plugin-leak": "never freed",
    "cvc5-pow2-piand-segfault": SEGV,
    "cvc5-python-get-difficulty": "TypeError: Cannot convert",
    "cvc5-python-make-integer": "OverflowError",
    "cvc5-python-make-string": "refused",
    "cvc5-qe-string-recursion-segfault": SEGV,
    "cvc5-sygus-constant-illegal-argument": "bad kind",
    "cvc5-timeout-core-assuming-wrong-sat": "sat []\nunsat",
    "cvc5-timeout-core-wrong-core": "unsat [(< x y)]",
    "cvc5-value-after-simplify": SEGV,
    "oxiz-bit-vector-value-not-reduced": "-8 = 8: unsat {}\nx = 300: sat {'x': 300}",
    "oxiz-optimizer-pop-ignored": "optimal 5\nunsat",
    "oxiz-real-denominator-abort": ABRT,
    "oxiz-false-atom-empty-core": "unsat []",
    "z3-bit-blast-simplifier-invalid-model": "sat\nsat [x = 0]",
    "z3-bit2int-simplifier-segfault": SEGV,
    "z3-convert-model-elim-uncnstr": "[a = -1, b = 0] False",
    "z3-core-minimize-second-core": "unsat 2 0",
    "z3-cube-empty-segfault": SEGV,
    "z3-default-tactic-empty-core": "default unsat [] sat",
    "z3-elim-predicates-simplifier-unsat": "sat\nunsat",
    "z3-finite-set-function-sat": "sat True unsat",
    "z3-finite-set-size-clause-segfault": SEGV,
    "z3-finite-set-size-segfault": SEGV,
    "z3-finite-set-sizes-unsat": "sat\nunsat",
    "z3-fold-unfold-simplifier-sat": "sat\nsat [x = 0]",
    "z3-map-flattened-unreadable": "map expects to take as many arguments as the function being mapped",
    "z3-optimize-as-array": "sat [0, 3]",
    "z3-optimize-char-to-bv": "sat 130044\nsat 195582",
    "z3-optimize-initial-value": "sat [c = 7] False",
    "z3-partial-order-model-list-segfault": SEGV,
    "z3-partial-order-unsat": "['sat', 'unsat']",
    "z3-project-mod-false": "sat\nTrue False",
    "z3-python-print-loop": "b'index out of bounds'",
    "z3-recursive-consequences": "(sat, [Implies(True, c)]) sat",
    "z3-rounding-mode-function-segfault": SEGV,
    "z3-special-relation-get-model-segfault": SEGV,
    "z3-str-from-ubv-unsat": "3 unsat\n4 sat",
}

# The same for formula.smt2, where text shows the fault; or the exit status.
TEXTS: dict[str, int | tuple[signal.Signals, ...] | str] = {
    "bitwuzla-array-equality-value": "(((= (store a true true) ((as const (Array Bool Bool)) true)) false))",
    "bitwuzla-distinct-uninterpreted-abort": ABRT,
    "bitwuzla-interpolants-after-unknown-segfault": SEGV,
    "bitwuzla-interpolants-simp-segfault": SEGV,
    "bitwuzla-zero-denominator-sigfpe": FPE,
    "cvc5-bag-partition-value-abort": ABRT,
    "cvc5-check-after-limit-corruption": CORRUPTED,
    "cvc5-division-total-wrong-sat": "sat",
    "cvc5-finite-model-find-incremental-segfault": SEGV,
    "cvc5-interpolant-next-same": "(define-fun A () Bool false)\n(define-fun A () Bool false)",
    "cvc5-join-image-segfault": SEGV,
    "cvc5-match-let-scope": "(let ((_let_1 (match d ((x (not _let_3))))))",
    "cvc5-mbqi-enum-sequence-segfault": SEGV,
    "cvc5-nth-values-contradict": "((seq.nth s 1) 0) ((= (seq.nth s 1) 0) true) ((= (seq.nth s 1) 1) true)",
    "cvc5-piand-proof-abort": ABRT,
    "cvc5-pow2-piand-segfault": SEGV,
    "cvc5-qe-string-recursion-segfault": SEGV,
    "cvc5-timeout-core-assuming-wrong-sat": "sat",
    "cvc5-timeout-core-wrong-core": "sat\nunsat\n(\nfirst\n)",
    "cvc5-value-after-simplify": "((p true))\nq\n((p false))",
    "z3-bit-blast-simplifier-invalid-model": "((x #b000))",
    "z3-bit2int-simplifier-segfault": 114,
    "z3-core-minimize-second-core": "unsat\n(b a)\n()",
    "z3-default-tactic-empty-core": "unsat\n()",
    "z3-elim-predicates-simplifier-unsat": "sat\nunsat",
    "z3-finite-set-function-sat": "sat",
    "z3-finite-set-size-clause-segfault": SEGV,
    "z3-finite-set-size-segfault": SEGV,
    "z3-finite-set-sizes-unsat": "unsat",
    "z3-fold-unfold-simplifier-sat": "sat\nsat\n((x 0))",
    "z3-map-flattened-unreadable": "((_ map and) a ((_ map not) b) ((_ map not) c))",
    "z3-optimize-as-array": "((select (store (_ as-array f) c d) d) 0)",
    "z3-optimize-char-to-bv": "((char.to_bv c) 130044)",
    "z3-optimize-initial-value": "((c 7)\n ((< c 5) false))",
    "z3-partial-order-model-list-segfault": SEGV,
    "z3-partial-order-unsat": "unsat",
    "z3-recursive-consequences": "(=> true c)\nsat",
    "z3-rounding-mode-function-segfault": SEGV,
    "z3-special-relation-get-model-segfault": SEGV,
    "z3-str-from-ubv-unsat": "unsat",
}

# The same for minimised.trace: the kind of error, and its place, or the action where no place is known.
TRACES: dict[str, tuple[str, str]] = {
    "bitwuzla-array-equality-value": ("model", "get-value"),
    "bitwuzla-interpolants-after-unknown-segfault": ("crash", "bitwuzla:interpolants"),
    "bitwuzla-interpolants-simp-segfault": ("crash", "bitwuzla:interpolants"),
    "bitwuzla-print-let-scope": ("print", "read-back"),
    "cvc5-bag-partition-value-abort": ("crash", "bags_utils.cpp:148"),
    "cvc5-check-after-limit-corruption": ("crash", "check-sat"),
    "cvc5-division-total-wrong-sat": ("crash", "check_models.cpp:251"),
    "cvc5-finite-model-find-incremental-segfault": ("crash", "check-sat"),
    "cvc5-interpolant-next-same": ("value", "cvc5:get-interpolant"),
    "cvc5-join-image-segfault": ("crash", "cvc5:simplify"),
    "cvc5-match-let-scope": ("print", "read-back"),
    "cvc5-mbqi-enum-sequence-segfault": ("crash", "check-sat"),
    "cvc5-nth-values-contradict": ("model", "get-value"),
    "cvc5-piand-proof-abort": ("crash", "conv_proof_generator.cpp:234"),
    "cvc5-plugin-leak": ("leak", "delete"),
    "cvc5-pow2-piand-segfault": ("crash", "check-sat"),
    "cvc5-qe-string-recursion-segfault": ("crash", "cvc5:get-interpolant"),
    "cvc5-sygus-constant-illegal-argument": ("crash", "cvc5:synthesize"),
    "cvc5-timeout-core-assuming-wrong-sat": ("answer", "cvc5:timeout-core"),
    "cvc5-timeout-core-wrong-core": ("core", "cvc5:timeout-core"),
    "cvc5-value-after-simplify": ("crash", "get-value"),
    "oxiz-optimizer-pop-ignored": ("optimum", "oxiz:optimiser-levels"),
    "oxiz-false-atom-empty-core": ("core", "unsat-core"),
    "oxiz-real-denominator-abort": ("crash", "make-value"),
    "z3-bit2int-simplifier-segfault": ("crash", "z3:simplifiers"),
    "z3-convert-model-elim-uncnstr": ("model", "z3:tactic"),
    "z3-cube-empty-segfault": ("crash", "z3:cube"),
    "z3-finite-set-function-sat": ("answer", "z3:tactic"),
    "z3-finite-set-size-clause-segfault": ("crash", "check-sat"),
    "z3-finite-set-size-segfault": ("crash", "check-sat"),
    "z3-finite-set-sizes-unsat": ("answer", "z3:equalities"),
    "z3-map-flattened-unreadable": ("print", "read-back"),
    "z3-optimize-as-array": ("answer", "z3:optimise"),
    "z3-optimize-char-to-bv": ("answer", "z3:optimise"),
    "z3-optimize-initial-value": ("model", "z3:optimise"),
    "z3-partial-order-model-list-segfault": ("crash", "z3:equalities"),
    "z3-partial-order-unsat": ("answer", "z3:equalities"),
    "z3-project-mod-false": ("model", "z3:eliminate"),
    "z3-python-print-loop": ("print", "inspect-term"),
    "z3-recursive-consequences": ("answer", "z3:consequences"),
    "z3-rounding-mode-function-segfault": ("crash", "check-sat"),
    "z3-special-relation-get-model-segfault": ("crash", "get-value"),
    "z3-str-from-ubv-unsat": ("answer", "z3:equalities"),
    "z3-tree-order-wrong-sat": ("crash", "theory_special_relations.cpp:747"),
}


def reader(solver: str) -> tuple[str, ...]:
    """The command that reads a file of SMT-LIB."""
    if solver == "z3":
        return tuple(find_solver("z3").argv)
    if solver == "cvc5":
        return (sys.executable, "-I", str(cvc5_driver.__file__), "--incremental")
    return (sys.executable, "-I", str(bitwuzla_driver.__file__))


def skip_unless_shown(folder: str) -> None:
    """Skip where the report is about other releases than the installed one."""
    skip_unless_installed(folder.partition("-")[0], report_of(folder))


def check(command: tuple[str, ...], folder: str, expected: int | tuple[int, ...] | str) -> None:
    """Run ``command`` in the finding's folder; it must end by the signal (of several: by one of them), or by
    the status, or print the text.
    """
    done = subprocess.run(
        command, cwd=FOLDER / folder, capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    if isinstance(expected, tuple):
        assert -done.returncode in expected, done.stdout + done.stderr
    elif isinstance(expected, signal.Signals):
        assert done.returncode == -expected, done.stdout + done.stderr
    elif isinstance(expected, int):
        assert done.returncode == expected, done.stdout + done.stderr
    else:
        assert done.returncode >= 0
        assert re.search(rf"(?:^|\W){re.escape(expected)}(?:\W|$)", done.stdout), done.stdout + done.stderr


@pytest.mark.parametrize("folder", PROGRAMS)
@pytest.mark.few(20)
def test_a_program_shows_what_its_report_says(folder: str) -> None:
    skip_unless_shown(folder)
    check((sys.executable, "-I", "-u", "script.py"), folder, PROGRAMS[folder])


@pytest.mark.parametrize("folder", TEXTS)
@pytest.mark.few(14)
def test_text_shows_it_too(folder: str) -> None:
    skip_unless_shown(folder)
    check((*reader(folder.partition("-")[0]), "formula.smt2"), folder, TEXTS[folder])


@pytest.fixture(scope="module")
def safely() -> Iterator[Callable[[str], Run]]:
    """Runs the formula of a folder in cvc5's safe mode: it is loaded once, each formula gets a fork."""
    with TextRunner() as loaded:
        cvc5 = replace(find_solver("cvc5"), checks=("--safe-mode=safe", "--incremental"))
        limits = Limits(60.0)
        yield lambda folder: loaded.run(cvc5, Script((FOLDER / folder / "formula.smt2").read_bytes()), limits)


@pytest.mark.parametrize("folder", [folder for folder in PROGRAMS if folder.startswith("cvc5-")])
def test_a_report_on_cvc5_says_what_its_safe_mode_does(folder: str, safely: Callable[[str], Run]) -> None:
    skip_unless_shown(folder)
    if folder in TEXTS:
        done, expected = safely(folder), TEXTS[folder]
    else:
        done = run_in_safe_mode(FOLDER / folder / "script.py", Limits(60.0))
        expected = PROGRAMS[folder]
    ended = expected if isinstance(expected, tuple) else (expected,)
    shows = expected in done.stdout if isinstance(expected, str) else done.signal in ended
    assert_safe_mode(folder, shows, done.stdout + done.stderr)


@pytest.fixture(scope="module")
def runner() -> Iterator[Callable[[Setup], Runner]]:
    """The runner of a setup: its solver is loaded once, each trace gets a fork of that process."""
    with ExitStack() as stack:
        made: dict[Setup, Runner] = {}

        def runner_of(setup: Setup) -> Runner:
            if setup not in made:
                made[setup] = stack.enter_context(Runner(setup))
            return made[setup]

        yield runner_of


@pytest.mark.parametrize(
    "folder",
    [pytest.param(name, marks=[pytest.mark.slow] * (kind == LEAK)) for name, (kind, _) in TRACES.items()],
)
@pytest.mark.few(15)
def test_a_trace_ends_in_the_error(folder: str, runner: Callable[[Setup], Runner]) -> None:
    skip_unless_shown(folder)
    text = (FOLDER / folder / "minimised.trace").read_text("ascii")
    trace = read_trace(text)
    assert print_trace(trace) == text
    made = runner(Setup.of_trace(trace))
    result = (made.repeat if TRACES[folder][0] == LEAK else made.replay)(text, Limits(60.0))
    assert not result.refused
    fault = result.fault
    assert fault is not None, (result.outcome, result.detail)
    assert (fault.kind, fault.place or fault.action) == TRACES[folder]


@pytest.mark.parametrize("folder", PROGRAMS)
def test_a_report_has_its_input(folder: str) -> None:
    formula = FOLDER / folder / "formula.smt2"
    assert formula.exists() == (folder in TEXTS)
    given = formula if formula.exists() else FOLDER / folder / "script.py"
    report = report_of(folder)
    assert given.read_text("ascii").strip() in report.partition("\n## Command\n")[0]
    solver = folder.partition("-")[0]
    assert re.search(rf"^- Version: \w+ (?:version )?{re.escape(RELEASES[solver][1])}\b", report, re.M)


def test_every_finding_with_a_program_is_run() -> None:
    assert set(WITH_PROGRAM) == set(PROGRAMS)
    assert {path.parent.name for path in FOLDER.glob("*/minimised.trace")} == set(TRACES)
