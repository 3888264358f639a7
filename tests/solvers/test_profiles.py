"""Solvers known by name: their profiles, and options in a spec."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

import smtlib
from difftest import Limits, Outcome, SolverMissing, UnknownSolver, find_solver, find_solvers, parse_spec
from solvers.abilities import QUESTIONS, probe_abilities
from solvers.registry import PROFILES, REFERENCES
from solvers.running.runner import Runner
from solvers.running.script import Script
from tests.releases import find_or_skip

SAT = b"(set-logic QF_BV)(declare-const x (_ BitVec 8))(assert (bvult x #x05))(check-sat)"
TWICE = SAT + b"(push 1)(assert (= x #xff))(check-sat)(pop 1)"


def test_options_are_part_of_the_spec_the_name_and_the_command_line() -> None:
    spec = parse_spec("z3[smt.arith.solver=2, smt.mbqi=false]")
    assert (spec.family, spec.release) == ("z3", None)
    assert spec.options == ("smt.arith.solver=2", "smt.mbqi=false")
    solver = find_solver(spec)
    assert solver.name == "z3[smt.arith.solver=2,smt.mbqi=false]"
    shown = solver.shown(Script(SAT), "f.smt2")
    assert shown == "z3 smt.arith.solver=2 smt.mbqi=false model_validate=true f.smt2"
    assert parse_spec("z3==4.8.5[a=b]").release == "4.8.5"
    assert find_solver("cvc5[arrays-exp]").checks == ("--arrays-exp", "--check-models")


@pytest.mark.parametrize("spec", ["z3[]", "z3[a b]", "cvc5[--x]", "z3[a=b,,c=d]"])
def test_what_is_no_option_is_refused(spec: str) -> None:
    with pytest.raises(UnknownSolver, match="is not an option"):
        parse_spec(spec)


@pytest.mark.parametrize("spec", ["z3[smt.no_such=1]", "z3[smt.arith.solver=x]", "cvc5[no-such-thing]"])
def test_options_that_the_solver_does_not_take_are_refused(spec: str) -> None:
    with pytest.raises(UnknownSolver, match="does not accept these options"):
        find_solver(spec)


def test_one_solver_in_two_configurations_answers_on_both_paths() -> None:
    solvers = find_solvers(["z3", "z3[sat.euf=true,tactic.default_tactic=smt]", "cvc5[arrays-exp]"])
    script = Script(TWICE)
    with Runner() as runner:
        for solver in solvers:
            warm = runner.judge(solver, script, Limits())
            fresh, _ = runner.judge_file(solver, script, "f.smt2", Limits())
            assert warm.answers == fresh.answers == ("sat", "unsat")


@pytest.mark.parametrize("family", ["bitwuzla", "yices", "boolector"])
def test_solvers_that_are_extras_answer_or_say_what_to_install(family: str, runner: Runner) -> None:
    try:
        solver = find_solver(family)
    except SolverMissing as missing:
        assert f"exhume[{family}]" in str(missing)
        return
    # Only a line feed ends a comment.
    script = Script(b"; a\r(assert false)\n" + TWICE)
    for verdict in (
        runner.judge(solver, script, Limits()),
        runner.judge_file(solver, script, "f", Limits())[0],
    ):
        assert (verdict.outcome, verdict.answers) == (Outcome.OK, ("sat", "unsat"))
    wrong = runner.judge(solver, Script(b"(set-logic QF_BV)(assert x)(check-sat)"), Limits())
    assert wrong.outcome is Outcome.REFUSED


@pytest.mark.skipif(importlib.util.find_spec("bitwuzla") is None, reason="bitwuzla is an extra")
def test_bitwuzla_takes_options() -> None:
    assert find_solver("bitwuzla[rewrite-level=0]").checks[0] == "--rewrite-level=0"
    with pytest.raises(UnknownSolver, match="does not accept"):
        find_solver("bitwuzla[nope]")


def test_every_profile_is_registered_under_its_family() -> None:
    assert list(PROFILES) == ["z3", "cvc5", "bitwuzla", "yices", "boolector", "cvc5-gpl", "oxiz"]
    assert REFERENCES == ("z3", "cvc5")
    assert all(profile.extra in ("", family) for family, profile in PROFILES.items())


@pytest.mark.parametrize("family", PROFILES)
def test_a_solver_can_do_what_its_profile_declares(family: str) -> None:
    seen = probe_abilities(find_or_skip(family))
    assert set(seen.theories) == PROFILES[family].theories & set(QUESTIONS)
    reads = family != "oxiz"  # its wheel has no reader of scripts
    assert (seen.incremental, seen.models) == (reads, reads)


def test_the_theories_of_the_profiles_are_those_of_the_language() -> None:
    folder = Path(smtlib.__file__).parent / "theories"
    texts = [file.read_text("utf-8") for file in folder.glob("*.smt2")]
    known = {name for text in texts for name in re.findall(r"^\(theory (\w+)", text, re.M)}
    for profile in PROFILES.values():
        # These are in the language itself.
        assert profile.theories - known <= {"UF", "Datatypes", "Quantifiers"}
