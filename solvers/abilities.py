"""Finds out what a solver supports: theories, incremental scripts, models.

A profile (``solvers.registry``) declares this; one question per theory checks it, also for solvers given by a
command line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from solvers.registry import PROFILES
from solvers.running.outcomes import Verdict
from solvers.running.process import Limits
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.solver import Solver

_LIMITS = Limits(seconds=20.0)
QUESTIONS = {
    "Core": ("QF_BV", "(declare-const p Bool)(assert (xor p true))"),
    "UF": ("QF_UFBV", "(declare-fun f (Bool) Bool)(declare-const p Bool)(assert (distinct (f p) p))"),
    "Ints": ("QF_LIA", "(declare-const x Int)(assert (> x 3))"),
    "Reals": ("QF_LRA", "(declare-const x Real)(assert (> x 3.5))"),
    "Reals_Ints": (
        "QF_LIRA",
        "(declare-const x Int)(declare-const r Real)(assert (and (> (to_real x) r) (> r 0.5)))",
    ),
    "FixedSizeBitVectors": ("QF_BV", "(declare-const a (_ BitVec 8))(assert (bvult a #x03))"),
    "FloatingPoint": ("QF_FP", "(declare-const f Float32)(assert (fp.isNaN f))"),
    "ArraysEx": (
        "QF_ABV",
        "(declare-const a (Array (_ BitVec 8) (_ BitVec 8)))(assert (= (select a #x01) #x02))",
    ),
    "UnicodeStrings": ("QF_S", '(declare-const s String)(assert (= (str.++ s "b") "ab"))'),
    "Datatypes": ("QF_DT", "(declare-datatype D ((a) (b)))(declare-const d D)(assert ((_ is b) d))"),
    "Quantifiers": (
        "BV",
        "(declare-const a (_ BitVec 4))(assert (exists ((x (_ BitVec 4))) (bvult x a)))",
    ),
    "Sequences": ("ALL", "(declare-const s (Seq Int))(assert (= (seq.len s) 2))"),
    "Sets": ("ALL", "(declare-const s (Set Int))(assert (set.member 1 s))"),
    "Bags": ("ALL", "(declare-const b (Bag Int))(assert (= (bag.count 1 b) 2))"),
    "FiniteFields": ("QF_FF", "(declare-const f (_ FiniteField 7))(assert (= f (as ff3 (_ FiniteField 7))))"),
}
"""By theory (names as in smtlib/theories): the logic, and a formula that is satisfiable."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a solver supports: theories, a second question in one script, and models."""

    theories: tuple[str, ...]
    incremental: bool
    models: bool


def probe_abilities(solver: Solver) -> Abilities:
    """Ask ``solver`` one question per theory, a second question in one script, and for a model."""
    if solver.family in PROFILES:
        solver = replace(solver, checks=(*solver.checks, *PROFILES[solver.family].models))
    with Runner() as runner:
        theories = [
            theory
            for theory, (logic, text) in QUESTIONS.items()
            if _ask(runner, solver, f"(set-logic {logic}){text}(check-sat)").answers == ("sat",)
        ]
        twice = "(set-logic QF_BV)(declare-const p Bool)(push 1)(assert (and p (not p)))(check-sat)(pop 1)"
        second = _ask(runner, solver, f"{twice}(assert p)(check-sat)")
        asked = "(set-logic QF_BV)(declare-const p Bool)(assert p)(check-sat)(get-model)"
        script = Script(f"(set-option :produce-models true){asked}".encode())
        run = runner.run(solver, script, _LIMITS)
    has_model = "sat" in run.stdout and "define-fun p" in run.stdout
    return Abilities(tuple(theories), second.answers == ("unsat", "sat"), has_model)


def _ask(runner: Runner, solver: Solver, text: str) -> Verdict:
    return runner.judge(solver, Script(text.encode()), _LIMITS)
