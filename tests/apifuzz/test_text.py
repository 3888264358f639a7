"""Runs as SMT-LIB: our own checker takes them, and so do z3 and cvc5; translations tell what they miss."""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from apifuzz.driving import replay
from apifuzz.engines import make_engine
from apifuzz.engines.around import Witness
from apifuzz.engines.crosscheck import CrossCheck
from apifuzz.engines.text import TextEngine, translate
from apifuzz.interface import Capabilities, Feature, Unsupported
from apifuzz.run import Settings
from apifuzz.trace import TraceError, read_trace
from difftest import Limits, Solver, find_solver
from smtlib import check_script, read_script
from solvers.running.process import Supervisor
from tests.apifuzz.kits import drawn
from tests.smtlib.solving import cvc5_lines

MILLISECONDS = 200
CVC5_OPTIONS = {
    **dict.fromkeys(("strings-exp", "fp-exp", "arrays-exp", "sets-exp", "incremental"), "true"),
    "rlimit-per": "20000",
}


@pytest.mark.slow
@pytest.mark.parametrize("families", [("z3",), ("cvc5",), ("z3", "cvc5"), ("bitwuzla",)])
@pytest.mark.few(2)
def test_our_own_checker_takes_every_run(families: tuple[str, ...]) -> None:
    for seed in range(30):
        engine = TextEngine(families)
        assert drawn(engine, seed, Settings())[1].kind == "done"
        script = check_script(read_script(engine.script()))
        assert [(seed, str(error)) for error in script.errors] == []


@cache
def z3() -> Solver:
    return find_solver("z3")


@cache
def supervisor() -> Supervisor:
    return Supervisor()


def ask_z3(text: str) -> str:
    """z3's output. Its own process, for it takes some options only before anything else."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "run.smt2"
        file.write_text(text, "utf-8")
        done = supervisor().execute((*z3().argv, f"-t:{MILLISECONDS}", str(file)), Limits(seconds=20))
    return done.stdout


def ask_cvc5(text: str) -> str:
    return "\n".join(cvc5_lines(text, MILLISECONDS, CVC5_OPTIONS))


# What the solvers say of well-sorted text that their build or their arithmetic leaves out.
LIMITS = (
    "not configured with --cocoa",
    "exponent of the POW(^) operator",
    "coverings-based solver",
    "only supports",
    "not supported",
    "Cannot handle",
    "timeout",
    "canceled",
    "interrupted",
)


class Plain(TextEngine):
    """Without ``reset``, which takes cvc5's options away, and with a check or two only."""

    def capabilities(self) -> Capabilities:
        known = super().capabilities()
        gone = {Feature.RESET, Feature.INCREMENTAL}
        return replace(known, features=known.features - gone)


def understood(engine: TextEngine) -> str:
    """The script of the first instance without its checks, and what is asked after these: what matters is
    whether the text is understood.

    Of z3's own operators, its parser knows fewer in a logic.
    """
    left_out = ("(check-sat)", "(get-", *(("(set-logic",) if engine.families == ("z3",) else ()))
    first = itertools.takewhile(lambda command: command != "(reset)", engine.commands)
    return "".join(f"{command}\n" for command in first if not command.startswith(left_out))


@pytest.mark.parametrize(("solver", "ask"), [("z3", ask_z3), ("cvc5", ask_cvc5)])
@pytest.mark.parametrize("other", [False, True], ids=["alone", "for both"])
@pytest.mark.few(2)
def test_real_solvers_take_the_runs(solver: str, ask: Callable[[str], str], other: bool) -> None:
    refused = []
    for seed in range(25):
        engine = Plain(("z3", "cvc5") if other else (solver,))
        drawn(engine, seed, Settings(calls=120))
        errors = [
            line for line in ask(understood(engine)).splitlines() if "error" in line or "unsupported" in line
        ]
        refused += [(seed, line) for line in errors if not any(limit in line for limit in LIMITS)]
    assert refused == []


@pytest.mark.slow
def test_what_is_asked_after_an_answer_is_printed_as_if_there_were_one() -> None:
    tried: Counter[str] = Counter()
    for seed in range(30):
        engine = TextEngine()
        text, ending = drawn(engine, seed, Settings(calls=150))
        tried.update(ending.statistics.tried)
        # Nobody answered.
        assert set(ending.statistics.answers) <= {"unknown"}
        assert "(set-option :produce-unsat-cores true)" in engine.commands[:5]
        again: list[str] = []
        replay(TextEngine(), read_trace(text), again.append)
        assert read_trace("".join(again)) == read_trace(text)
    assert min(tried[name] for name in ("get-value", "print-model", "unsat-core", "unsat-assumptions")) > 3


def test_beside_a_printer_the_solver_is_asked_what_it_can_be_asked() -> None:
    for engines in (("smtlib", "bitwuzla"), ("bitwuzla", "smtlib")):
        tried: Counter[str] = Counter()
        for seed in range(4):
            both = Witness(CrossCheck(*map(make_engine, engines)))
            settings = Settings(("Core", "FixedSizeBitVectors"), quantifiers=False, options=False, calls=150)
            ending = drawn(both, seed, settings)[1]
            assert (ending.kind, ending.detail) == ("done", "")
            assert ending.statistics.answers["sat"] + ending.statistics.answers["unsat"]
            tried.update(ending.statistics.tried)
        assert tried["get-value"] and tried["unsat-core"]


TRACE = """exhume-trace 1 z3 5
1 new
2 set-option produce-unsat-cores true
3 set-logic ALL
4 make-sort Int
return s1
5 make-sort Bool
return s2
6 declare-datatypes (L () (empty) (add (first s1) (rest L)))
return s3
7 make-constant s3 |a list|
return t1
8 make-value s1 (- 3)
return t2
9 make-term s3 (constructor add) t2 t1
return t3
10 make-term s2 (tester empty) t3
return t4
11 make-function f (s3 s1) s2
return t5
12 make-term s2 apply t5 t3 t2
return t6
13 make-variable s1 x
return t7
14 make-term s2 < t7 t2
return t8
15 define-function g (t7) s2 t8
return t9
16 make-term s2 apply t9 t2
return t10
17 push 2
18 assert t4
19 z3:tactic simplify
20 check-sat-assuming t6 t10
21 unsat-core
22 pop 1
23 inspect-term t3
24 get-value t1 t2
25 reset
26 assert t6
27 check-sat
28 delete
"""

SCRIPT = """(set-option :global-declarations true)
(set-option :produce-unsat-cores true)
(set-logic ALL)
(declare-datatypes ((L 0)) (((empty) (add (first Int) (rest L)))))
(declare-const |a list| L)
(define-fun g ((x Int)) Bool (< x (- 3)))
(push 2)
(assert (! ((_ is empty) (add (- 3) |a list|)) :named |asserted 1|))
(declare-fun f (L Int) Bool)
(define-fun |assumed 1| () Bool (f (add (- 3) |a list|) (- 3)))
(define-fun |assumed 2| () Bool (g (- 3)))
(check-sat-assuming (|assumed 1| |assumed 2|))
(get-unsat-core)
(pop 1)
(get-value (|a list| (- 3)))
(reset)
(set-option :global-declarations true)
(set-option :produce-unsat-cores true)
(set-logic ALL)
(declare-datatypes ((L 0)) (((empty) (add (first Int) (rest L)))))
(declare-const |a list| L)
(define-fun g ((x Int)) Bool (< x (- 3)))
(declare-fun f (L Int) Bool)
(define-fun |assumed 1| () Bool (f (add (- 3) |a list|) (- 3)))
(define-fun |assumed 2| () Bool (g (- 3)))
(assert (! (f (add (- 3) |a list|) (- 3)) :named |asserted 2|))
(check-sat)
"""


def test_a_translation_says_what_smtlib_can_say() -> None:
    translation = translate(read_trace(TRACE))
    assert translation.script == SCRIPT
    assert translation.refused == ((33, "z3:tactic: only z3 has it"),)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [(["2 push 1000"] * 3, "line 5: push: more than 2500 levels"), (["2 reset"] * 50, "more than 0 Mi")],
)
def test_a_short_trace_is_no_endless_translation(
    lines: list[str], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("apifuzz.actions.life.MAX_LEVELS", 2500)
    monkeypatch.setattr("apifuzz.engines.text.MAX_TEXT", 1000)
    with pytest.raises(TraceError, match=reason):
        translate(read_trace("\n".join(["exhume-trace 1 smtlib 1", "1 new", *lines])))


@pytest.mark.parametrize("ask", [ask_z3, ask_cvc5])
def test_the_translation_runs(ask: Callable[[str], str]) -> None:
    text = "".join(line + "\n" for line in SCRIPT.splitlines() if not line.startswith("(get-"))
    assert [line for line in ask(text).splitlines() if line] == ["unsat", "sat"]


RECURSION = """exhume-trace 1 smtlib 1
1 new
2 make-sort Int
return s1
3 make-function f (s1) s1
return t1
4 make-variable s1 x
return t2
5 make-term s1 apply t1 t2
return t3
6 define-recursive t1 (t2) s1 t3
"""


def test_a_function_is_declared_late_so_that_it_can_be_defined() -> None:
    engine = TextEngine()
    replay(engine, read_trace(RECURSION))
    assert engine.commands[1:] == ["(define-fun-rec f ((x Int)) Int (f x))"]


class Tired(TextEngine):
    """Refuses the first command that starts with ``refuses``."""

    refuses = ""

    def emit(self, command: str) -> None:
        if self.refuses and command.startswith(self.refuses):
            self.refuses = ""
            raise Unsupported("a limit")
        super().emit(command)


@pytest.mark.parametrize("refuses", ["(define-fun-rec", "(declare-fun"])
def test_a_function_that_the_solver_refused_is_declared_at_its_next_use(refuses: str) -> None:
    made = "7 make-value s1 1\nreturn t4\n8 make-term s1 apply t1 t4\nreturn t5\n"
    use = "9 get-value t5\n"
    declared = RECURSION[: RECURSION.index("6 define")]
    calls = RECURSION + made + use if refuses == "(define-fun-rec" else declared + made + use + use
    engine = Tired()
    engine.refuses = refuses
    ending = replay(engine, read_trace(calls))
    assert len(ending.refused) == 1
    assert engine.commands[1:] == ["(declare-fun f (Int) Int)", "(get-value ((f 1)))"]
