"""Modes: which tests run under which options, the same everywhere; and that the options reach the solver."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from difftest import (
    DifftestError,
    Limits,
    Outcome,
    Solver,
    UnknownSolver,
    find_solver,
    find_solvers,
    parse_spec,
)
from difftest.campaign.modes import ModeKind, Modes, base_name, for_test, mode_list
from solvers.option_file import OptionClass, split_option
from solvers.options import option_table
from solvers.running.runner import Runner
from solvers.running.screener import Screener
from solvers.running.script import Script

SOLVERS = find_solvers(["z3", "cvc5"])
LIMITS = Limits(seconds=30)
# Enough of each theory for an option to leave its mark on z3's count of steps.
MIXED = Script(
    b"""(declare-const s String)(declare-const x Int)(declare-const y Int)(declare-const m (Array Int Int))
(declare-const a (_ BitVec 8))(declare-const b (_ BitVec 8))(declare-fun f (Int) Int)(declare-const p Bool)
(assert (= (str.len s) x))(assert (and (> x 3) (<= (+ x y) 12) (distinct (f x) (f y) 7)))
(assert (or p (= (bvmul a b) (bvadd a #x03)) (bvult (bvudiv a b) #x10)))
(assert (= (select (store m x y) 4) (f (select m y))))
(assert (=> p (= (ite (> x 5) (+ x y) (div x 2)) (mod y 5))))
(check-sat)(get-info :all-statistics)"""
)


@pytest.fixture(scope="module")
def runners() -> Iterator[tuple[Runner, Runner]]:
    with Runner(warm=True) as warm, Runner(warm=False) as fresh:
        yield warm, fresh


def chosen(modes: Modes, index: int) -> tuple[Solver, ...]:
    return for_test(modes.solvers, modes.choose("s", "", index), ())


def test_the_default_kind_changes_nothing() -> None:
    modes = Modes(SOLVERS)
    assert all(modes.choose("s", "", index) == () for index in range(100))
    assert for_test(SOLVERS, (), ()) == tuple(SOLVERS)


def test_the_share_of_tests_under_options_is_as_asked_and_the_first_is_not() -> None:
    modes = Modes(SOLVERS, ModeKind.ALL, seed=1, share=0.25)
    changed = [modes.choose("s", "", index) != () for index in range(400)]
    assert sum(changed) == 100
    assert not changed[0]


def test_one_solver_at_a_time_and_in_turn() -> None:
    modes = Modes(SOLVERS, ModeKind.ALL, seed=1, share=1.0)
    counts: Counter[str] = Counter()
    for index in range(200):
        under = [solver for solver in chosen(modes, index) if solver.mode]
        assert len(under) == 1
        counts[under[0].base_name] += 1
    assert counts == {"z3": 100, "cvc5": 100}


def test_a_test_has_the_same_modes_whoever_asks_and_another_seed_has_others() -> None:
    def names(seed: int, order: list[int]) -> dict[int, list[str]]:
        modes = Modes(SOLVERS, ModeKind.ALL, seed, share=0.5)
        return {i: [s.name for s in for_test(SOLVERS, modes.choose("s", "Int", i), ())] for i in order}

    assert names(1, list(range(300))) == names(1, list(reversed(range(300))))
    assert names(1, list(range(300))) != names(2, list(range(300)))


def without_young(modes: Modes, turns: range) -> list[tuple[str, ...]]:
    """The options of these turns of the first solver, but for those under options of young engines."""
    made = (modes.options_for(modes.solvers[0], "s/", turn) for turn in turns)
    return [options for options in made if options[0] not in mode_list(modes.solvers[0]).young]


def test_each_setting_is_tried_alone_before_any_two_are_together() -> None:
    modes = Modes(SOLVERS[:1], ModeKind.OPTIONS, seed=3, share=1.0)
    settings = mode_list(SOLVERS[0]).settings
    every = without_young(modes, range(2 * len(settings)))
    alone, later = every[: len(settings)], every[len(settings) :]
    assert sorted(option for options in alone for option in options) == sorted(settings)
    assert {len(options) for options in later} == {2, 3}
    assert all(len({split_option(o)[0] for o in options}) == len(options) for options in later)


def test_settings_of_given_options_come_first() -> None:
    solver = SOLVERS[0]
    every = mode_list(solver).settings
    name = split_option(every[-1])[0]
    count = sum(split_option(setting)[0] == name for setting in every)
    modes = Modes([solver], ModeKind.OPTIONS, seed=3, share=1.0, first=[name])
    alone = [options[0] for options in without_young(modes, range(2 * len(every)))][: len(every)]
    assert {split_option(setting)[0] for setting in alone[:count]} == {name}
    assert sorted(alone) == sorted(every)


def test_one_of_eight_tests_under_options_is_of_a_young_engine() -> None:
    modes = Modes(SOLVERS[:1], ModeKind.OPTIONS, seed=3, share=1.0)
    under = Counter(modes.options_for(SOLVERS[0], "s/", turn) for turn in range(800))
    young = {options: count for options, count in under.items() if options[0] in mode_list(SOLVERS[0]).young}
    assert set(young) == {("parallel.enable=true",), ("sat.smt=true",), ("smt.bv.solver=2",)}
    assert sum(young.values()) == 100


def test_tactics_are_for_z3_only_and_mixed_in() -> None:
    modes = Modes(SOLVERS, ModeKind.ALL, seed=3, share=1.0)
    names = [split_option(modes.options_for(SOLVERS[0], "s/", turn)[0])[0] for turn in range(80)]
    rows = Counter(name for name in names if name in ("tactic.default_tactic", "check-sat-using"))
    assert rows.total() == 20
    assert min(rows.values()) >= 5
    alone = Modes(SOLVERS, ModeKind.TACTICS, seed=3, share=1.0)
    under = [s.base_name for i in range(50) for s in chosen(alone, i) if s.mode]
    assert set(under) == {"z3"}


def test_unfinished_options_are_tried_only_when_requested() -> None:
    def classes(kinds: ModeKind) -> set[OptionClass | None]:
        modes = Modes([SOLVERS[1]], kinds, seed=3, share=1.0)
        return {
            option_table("cvc5").class_of(option)
            for turn in range(400)
            for option in modes.options_for(SOLVERS[1], "s/", turn)
        }

    assert classes(ModeKind.ALL) == {OptionClass.SOUND, OptionClass.WEAKER}
    assert OptionClass.EXPERIMENTAL in classes(ModeKind.EXPERIMENTAL)


def test_what_a_hunt_tries_by_default_keeps_answers_that_count() -> None:
    modes = Modes(SOLVERS, ModeKind.ALL, seed=5, share=1.0)
    tried = [solver for i in range(600) for solver in chosen(modes, i)]
    assert all(solver.answers_count for solver in tried)
    assert any(not solver.answers_are_trusted for solver in tried)


def test_where_work_is_limited_no_option_lets_time_decide() -> None:
    def tried(by_work: bool) -> set[str]:
        modes = Modes(SOLVERS[:1], ModeKind.OPTIONS, seed=5, share=1.0, by_work=by_work)
        return {split_option(o)[0] for turn in range(600) for o in modes.options_for(SOLVERS[0], "s/", turn)}

    assert tried(False) - tried(True) == {"parallel.enable"}


def test_a_release_that_cannot_list_its_options_runs_under_its_defaults() -> None:
    silent = replace(find_solver("z3"), argv=("/bin/false",))
    modes = Modes([silent], ModeKind.ALL, share=1.0)
    assert all(modes.choose("s", "", index) == () for index in range(9))
    assert list(modes.refused) == ["z3"]
    assert for_test([silent], (), ["smt.arith.solver=2"]) == (silent,)


def test_a_solver_of_the_users_own_keeps_its_command_line() -> None:
    own = find_solver("mine=cat")
    modes = Modes([own, SOLVERS[0]], ModeKind.ALL, seed=1, share=1.0)
    assert all(chosen(modes, index)[0] == own for index in range(50))
    with pytest.raises(UnknownSolver, match="only be added to solvers known by name"):
        own.with_options(["a=b"])


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_that_is_none_is_reported(share: float) -> None:
    with pytest.raises(DifftestError, match="from 0 to 1"):
        Modes(SOLVERS, ModeKind.ALL, share=share)


def test_a_solver_in_a_mode_can_be_found_again_by_its_spec() -> None:
    modes = Modes(SOLVERS, ModeKind.ALL, seed=5, share=1.0)
    for index in range(200):
        for solver in chosen(modes, index):
            spec = parse_spec(solver.spec)
            assert (spec.name, spec.options) == (solver.name, solver.spec_options)
            assert len(solver.name) <= 120
            assert not set(solver.name) & set("/|+\0\n")
    row = SOLVERS[0].with_options(["tactic.default_tactic=(then simplify (or-else nlsat smt))"])
    found = find_solver(row.spec)
    assert (found.name, found.checks) == (row.name, row.checks)
    asked = SOLVERS[0].with_options(["check-sat-using=(then simplify (using-params simplify :som true) smt)"])
    found = find_solver(asked.spec)
    assert (found.name, found.checks, found.tactic) == (asked.name, asked.checks, asked.tactic)


def test_options_are_added_replaced_and_taken_away() -> None:
    z3 = find_solver("z3[smt.relevancy=0]")
    two = z3.with_options(["smt.arith.solver=2"])
    assert two.spec == "z3[smt.relevancy=0,smt.arith.solver=2]"
    assert two.checks == ("smt.relevancy=0", "smt.arith.solver=2", "model_validate=true")
    assert (two.mode, two.base_name) == (("smt.arith.solver=2",), "z3[smt.relevancy=0]")
    other = two.with_options(["smt.relevancy=1"])
    assert other.spec_options == ("smt.arith.solver=2", "smt.relevancy=1")
    assert two.without_option("smt.relevancy=0").without_option("smt.arith.solver=2").spec == "z3"
    assert z3.with_options([]) is z3


def test_a_test_replaces_no_option_of_the_users_own_spec() -> None:
    solver = find_solver("z3[smt.relevancy=0,check-sat-using=(then simplify smt)]")
    modes = Modes([solver], ModeKind.ALL, seed=3, share=1.0)
    tried = {split_option(o)[0] for turn in range(400) for o in modes.options_for(solver, "s/", turn)}
    assert "tactic.default_tactic" in tried
    assert tried.isdisjoint({"smt.relevancy", "check-sat-using"})
    (made,) = for_test([solver], (), ["smt.relevancy=1", "smt.arith.solver=2"])
    assert made.mode == ("smt.arith.solver=2",)
    modes = Modes([replace(solver, is_base=True), SOLVERS[0]], ModeKind.OPTIONS, seed=3, share=1.0)
    tried = {split_option(o)[0] for turn in range(400) for o in modes.options_for(SOLVERS[0], "s/", turn)}
    assert tried and "smt.relevancy" not in tried


def test_a_long_list_of_options_gets_a_name_that_a_file_can_have() -> None:
    options = [f"smt.arith.nl.horner_frequency={n}" for n in range(1, 9)]
    one = parse_spec(f"z3[{','.join(options)}]")
    other = parse_spec(f"z3[{','.join(reversed(options))}]")
    assert len(one.name) <= 120
    assert one.name != other.name


@pytest.mark.parametrize("value", ["a+b", "a|b", "a/b", "a b,", "(then a", 'a"b', "a'b", "a;b", "a\nb", " "])
def test_a_value_that_a_key_or_a_file_name_cannot_hold_is_refused(value: str) -> None:
    if value == "(then a":
        assert parse_spec(f"z3[o={value}]").options == ("o=(then a",)
        return
    with pytest.raises(UnknownSolver, match="is not an option"):
        parse_spec(f"z3[o={value}]")


@pytest.mark.parametrize(
    "setting",
    [
        "auto_config=false",
        "proof=true",
        "rewriter.eq2ineq=true",
        "rewriter.blast_select_store=true",
        "smt.relevancy=0",
        "smt.arith.solver=2",
        "smt.restart_strategy=2",
        "smt.phase_selection=0",
        "combined_solver.ignore_solver1=true",
        "tactic.default_tactic=(then simplify solve-eqs smt)",
    ],
)
def test_an_option_does_the_same_in_a_fork_as_on_a_command_line(
    setting: str, runners: tuple[Runner, Runner]
) -> None:
    def steps(runner: Runner, options: list[str]) -> int:
        run = runner.run(SOLVERS[0].with_options(options), MIXED, LIMITS)
        found = re.search(r":rlimit-count\s+(\d+)", run.stdout)
        assert found, run
        return int(found[1])

    warm, fresh = runners
    # The forked context has taken one step before: the empty text that made it ready.
    assert steps(warm, [setting]) - steps(warm, []) == steps(fresh, [setting]) - steps(fresh, [])


def test_options_of_one_test_do_not_stay_for_the_next(runners: tuple[Runner, Runner]) -> None:
    warm, _ = runners
    text = Script(b"(declare-const x Int)(assert (< x x))(check-sat)(get-option :smt.relevancy)")
    assert warm.run(SOLVERS[0].with_options(["smt.relevancy=0"]), text, LIMITS).stdout == "unsat\n0\n"
    assert warm.run(SOLVERS[0], text, LIMITS).stdout == "unsat\n2\n"


@pytest.mark.parametrize("shares", [False, True])
def test_a_variant_that_runs_first_does_not_change_its_solver(shares: bool) -> None:
    """It lacks an option of the spec."""
    solver = find_solver("z3[smt.relevancy=0]")
    text = Script(b"(declare-const x Int)(assert (< x x))(check-sat)(get-option :smt.relevancy)")
    with Runner() as own:
        runner = Screener(own) if shares else own
        for variant in (solver.without_option("smt.relevancy=0"), solver.with_options(["smt.relevancy=1"])):
            runner.run(variant, text, LIMITS)
        assert runner.run(solver, text, LIMITS).stdout == "unsat\n0\n"


def test_a_tactic_asks_where_z3s_own_setting_is_skipped(runners: tuple[Runner, Runner]) -> None:
    """z3 leaves its default tactic aside once there is a push; ``skip`` decides nothing."""
    text = Script(
        b"(declare-const x Int)(push 1)(assert (> x 3))(check-sat)(pop 1)\n(assert (< x x)) (check-sat)"
    )
    for runner in runners:
        by_setting = runner.judge(SOLVERS[0].with_options(["tactic.default_tactic=skip"]), text, LIMITS)
        assert by_setting.answers == ("sat", "unsat")
        asked = runner.judge(SOLVERS[0].with_options(["check-sat-using=skip"]), text, LIMITS)
        assert asked.answers == ("unknown", "unknown")
        assert runner.judge(SOLVERS[0], text, LIMITS).answers == ("sat", "unsat")
        two = SOLVERS[0].with_options(["smt.relevancy=0", "check-sat-using=(then simplify smt)"])
        assert runner.judge(two, text, LIMITS).answers == ("sat", "unsat")


def test_an_error_is_laid_to_the_command_that_it_is_about_in_what_was_given(
    runners: tuple[Runner, Runner],
) -> None:
    """The question in front of it is longer than in the test, so its column is another one."""
    text = Script(b"(declare-const x Int)(check-sat)(get-value (y))(check-sat)")
    _, fresh = runners
    verdict = fresh.judge(SOLVERS[0].with_options(["check-sat-using=(then simplify smt)"]), text, LIMITS)
    assert verdict.answers == ("sat", "sat")


@pytest.mark.parametrize("spec", ["z3[check-sat-using=(then a]", "cvc5[check-sat-using=smt]"])
def test_what_is_no_tactic_is_refused(spec: str) -> None:
    with pytest.raises(UnknownSolver):
        parse_spec(spec)


def test_a_tactic_that_z3_does_not_have_is_refused() -> None:
    with pytest.raises(UnknownSolver, match="does not accept"):
        find_solver("z3[check-sat-using=(then no-such-tactic smt)]")
    assert find_solver("z3[check-sat-using=skip]").tactic == "skip"


def test_cvc5_gets_the_options_of_a_mode(runners: tuple[Runner, Runner]) -> None:
    text = Script(b"(set-logic QF_LIA)(check-sat)(get-option :sat-solver)")
    solver = SOLVERS[1].with_options(["sat-solver=minisat"])
    for runner in runners:
        assert runner.run(solver, text, LIMITS).stdout == "sat\nminisat\n"
        assert runner.judge(solver, text, LIMITS).outcome is Outcome.OK


def test_a_solver_under_options_is_counted_under_its_own_name() -> None:
    names = ["z3", "z3-4.8.5", "z3[smt.relevancy=0]", "cvc5"]
    assert base_name("z3", names) == "z3"
    assert base_name("z3[smt.arith.solver=2]", names) == "z3"
    assert base_name("z3-4.8.5[smt.arith.solver=2]", names) == "z3-4.8.5"
    assert base_name("z3[smt.relevancy=0,smt.arith.solver=2]", names) == "z3[smt.relevancy=0]"
    assert base_name("stranger", names) == "stranger"
    for solver in map(find_solver, ["z3", "z3[smt.relevancy=0]"]):
        longer = solver.with_options([f"smt.arith.nl.horner_frequency={'9' * 100}"])
        assert base_name(longer.name, names) == solver.name
