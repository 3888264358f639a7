"""The option files: what they say of an option, and whether the installed solvers take what they list."""

from __future__ import annotations

import cvc5
import pytest

from difftest import Limits, Outcome, find_solver
from difftest.campaign.modes import mode_list
from solvers.option_file import OptionClass, split_option
from solvers.options import option_table, why_refused
from solvers.registry import PROFILES
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.yices import parse_help
from solvers.z3 import parse_parameters
from tests.releases import find_or_skip
from tests.sizes import size

# Words of each kind that z3 checks when the first symbol is declared.
TRIVIAL = Script(b"(declare-const s String)(declare-const x Int)(assert (= (str.len s) x))(check-sat)")
PURE = Script(b"(declare-const x Int)(assert (> x 3))(check-sat)")


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [("a=b", "a", "b"), ("a", "a", "true"), ("no-a", "a", "false"), ("a=b=c", "a", "b=c")],
)
def test_an_option_is_a_name_and_a_value(text: str, name: str, value: str) -> None:
    assert split_option(text) == (name, value)


@pytest.mark.parametrize(
    ("family", "option", "expected"),
    [
        ("z3", "smt.arith.solver=2", "sound"),
        ("z3", "smt.arith.solver=3", "unsound"),
        ("z3", "smt.arith.solver=6", "sound"),
        ("z3", "smt.arith.ignore_int=true", "changes-meaning"),
        ("z3", "smt.arith.ignore_int=false", "sound"),
        ("z3", "smt.mbqi=false", "weaker"),
        # z3 says unknown where a tactic only approximates.
        ("z3", "tactic.default_tactic=(then nnf smt)", "weaker"),
        ("z3", "check-sat-using=(then nnf smt)", "weaker"),
        ("z3", "smt.bv.solver=2", "young"),
        ("z3", "smt.bv.solver=1", "unsound"),
        ("z3", "sat.smt=true", "young"),
        ("z3", "sat.euf=true", "experimental"),
        ("z3", "algebraic.factor=false", "unsound"),
        ("z3", "smt.max_conflicts=3", "weaker"),
        ("z3", "no.such.module=1", None),
        ("cvc5", "solve-real-as-int", "changes-meaning"),
        ("cvc5", "no-solve-real-as-int", "sound"),
        ("cvc5", "nl-ext=none", "weaker"),
        ("cvc5", "ackermann", "experimental"),
        ("cvc5", "what-a-later-release-brings", "experimental"),
        ("bitwuzla", "rewrite-level=0", "sound"),
        ("yices", "no-such=1", None),
        ("boolector", "engine=sls", "weaker"),
        ("boolector", "no-var-subst", "sound"),
        ("boolector", "declsort-bv-width=4", "changes-meaning"),
        ("cvc5-gpl", "nl-ext=none", "weaker"),
        ("other", "a=b", None),
    ],
)
def test_what_is_said_most_precisely_counts(family: str, option: str, expected: str | None) -> None:
    assert option_table(family).class_of(option) == expected


@pytest.mark.parametrize(
    ("spec", "trusted", "telling"),
    [
        ("z3", True, True),
        ("z3[smt.arith.solver=2]", True, True),
        ("z3[smt.mbqi=false]", True, False),
        ("z3[smt.relevancy=0,smt.arith.ignore_int=true]", False, False),
        ("z3[smt.relevancy=0,sat.smt=true]", False, False),
        ("z3[sat.euf=true]", False, False),
        ("cvc5[ackermann]", False, False),
        ("mine=cat --solve-real-as-int", False, False),
        ("mine=cat smt.arith.ignore_int=true", False, False),
        ("mine=cat --whatever --ackermann=no", True, True),
    ],
)
def test_a_solver_is_trusted_as_far_as_its_options_allow(spec: str, trusted: bool, telling: bool) -> None:
    solver = find_solver(spec)
    assert (solver.answers_are_trusted, solver.unknown_is_telling) == (trusted, telling)


@pytest.mark.parametrize("family", [name for name, p in PROFILES.items() if p.file("options.toml")])
def test_every_file_reads_and_repeats_nothing(family: str) -> None:
    table = option_table(family)
    tried = table.tried()
    assert table.checked_against
    assert len(tried) == len(set(tried)) > 0
    assert len(set(table.first_tactics)) == len(table.first_tactics)
    for option_class in (OptionClass.UNSOUND, OptionClass.CHANGES_MEANING):
        reported = [known for known in table.options if known.option_class is option_class]
        assert all(known.why for known in reported), f"{option_class} options want a reason"


@pytest.mark.parametrize("family", PROFILES)
def test_the_installed_solver_knows_every_name_and_value_of_its_file(family: str) -> None:
    assert mode_list(find_or_skip(family)).refused == ()


@pytest.mark.parametrize("family", ["z3", "bitwuzla", "yices", "boolector"])
def test_no_listed_option_is_its_default(family: str) -> None:
    solver = find_or_skip(family)
    asked = PROFILES[family].ask_options(solver.argv)
    same = [
        s for s in option_table(family).tried() if split_option(s)[1] == asked[split_option(s)[0]].default
    ]
    assert same == []


def test_z3_takes_every_setting_and_tactic_and_they_are_right(warm: Runner) -> None:
    """Run for run, for z3 checks the values of symbols and numbers only when it solves."""
    z3, table = find_solver("z3"), option_table("z3")
    rows = [f"(then {tactic} smt)" for tactic in table.first_tactics] + list(table.last_tactics)
    by = table.tactic_settings
    assert by == ("tactic.default_tactic", "check-sat-using")
    settings = (table.tried() + [f"{name}={row}" for name in by for row in rows])[:: size(3, 1)]
    wrong = {}
    for setting in settings:
        solver = z3.with_options([setting])
        verdict = warm.judge(solver, PURE, Limits(seconds=30))
        if verdict.outcome not in (Outcome.OK, Outcome.UNKNOWN) or "unsat" in verdict.answers:
            wrong[setting] = verdict
        if "string" in setting or "seq" in setting:
            assert warm.judge(solver, TRIVIAL, Limits(seconds=30)).outcome is Outcome.OK
    assert wrong == {}


def test_cvc5_takes_every_value() -> None:
    for setting in option_table("cvc5").tried():
        cvc5.Solver(cvc5.TermManager()).setOption(*split_option(setting))


def test_cvc5_calls_common_or_regular_what_is_trusted_here() -> None:
    table = option_table("cvc5")
    exceptions = []
    for option in PROFILES["cvc5"].ask_options(find_solver("cvc5").argv).values():
        for value in option.values or ("true", "false"):
            option_class = table.class_of(f"{option.name}={value}")
            regular = option.category in ("COMMON", "REGULAR")
            if option_class is None or option_class.is_trusted != regular:
                exceptions.append((option.name, option_class))
    worse = {OptionClass.UNSOUND, OptionClass.CHANGES_MEANING}
    assert {name for name, option_class in exceptions if option_class not in worse} == {"safe-mode"}


@pytest.mark.parametrize("family", ["bitwuzla", "boolector"])
def test_solvers_of_bit_vectors_take_every_setting(warm: Runner, family: str) -> None:
    script = Script(b"(set-logic QF_BV)(declare-const a (_ BitVec 4))(assert (bvult a #x3))(check-sat)")
    solver = find_or_skip(family)
    for setting in option_table(family).tried():
        verdict = warm.judge(solver.with_options([setting]), script, Limits(seconds=30))
        assert verdict.answers in (("sat",), ("unknown",)), setting


def test_yices_takes_every_setting(warm: Runner) -> None:
    solver = find_or_skip("yices")
    script = Script(b"(set-logic QF_LRA)(declare-const x Real)(assert (> x 3))(check-sat)")
    for setting in option_table("yices").tried():
        assert warm.judge(solver.with_options([setting]), script, Limits(seconds=30)).answers == ("sat",)


def test_an_option_that_is_a_flag_is_written_without_a_value() -> None:
    assert option_table("yices").tried() == ["mcsat"]
    assert option_table("yices").class_of("mcsat") is OptionClass.SOUND
    assert {"ucopt", "no-var-subst"} <= set(option_table("boolector").tried())


def test_what_a_solver_does_not_take_is_reported_with_the_reason() -> None:
    asked = PROFILES["cvc5"].ask_options(find_solver("cvc5").argv)
    assert why_refused("nope=1", asked) == "no such option"
    assert why_refused("sat-solver=nope", asked) == "does not accept 'nope'"
    assert why_refused("cbqi=maybe", asked) == "does not accept 'maybe'"
    assert why_refused("seed=x", asked) == "does not accept 'x'"
    assert why_refused("sat-solver=minisat", asked) is None


def test_the_parameters_z3_describes_are_read() -> None:
    reported = """Global parameters
    auto_config (bool) use heuristics (default: true)

[module] smt, description: smt solver based on lazy smt
    arith.solver (unsigned int) arithmetic solver: 0 - no solver (default: 6)
    string_solver (symbol) options are: 'seq', 'auto' (default: seq)
    logic (symbol) logic used to setup the SMT solver
"""
    asked = parse_parameters(reported)
    assert [(o.name, o.kind, o.default) for o in asked.values()] == [
        ("auto_config", "bool", "true"),
        ("smt.arith.solver", "int", "6"),
        ("smt.string_solver", "text", "seq"),
        ("smt.logic", "text", ""),
    ]


def test_the_options_yices_describes_are_read() -> None:
    asked = parse_help("Option summary:\n    --mcsat      Use it\n    --timeout=<seconds>   Set\n")
    assert {(o.name, o.kind) for o in asked.values()} == {("mcsat", "bool"), ("timeout", "text")}
