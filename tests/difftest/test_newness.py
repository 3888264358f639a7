"""What is new: candidates against the base, options of tests for both, the base as the older release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from difftest import Solver, find_solver
from difftest.campaign.modes import ModeKind, Modes, for_test
from difftest.campaign.tasks import ConfirmTask, RunTask, TestName
from difftest.campaign.worker import perform
from difftest.oracles.base import Candidate, Observation
from difftest.oracles.incompleteness import look
from difftest.oracles.releases import older_pairs
from difftest.triage.newness import NOT_NEW, ONLY_BASE, only_new
from generator.strategy import GeneratedTest
from solvers.running.outcomes import Outcome, Verdict
from solvers.running.process import Limits
from solvers.running.runner import Runner

NEW = Solver("z3==4.8.6", "z3-4.8.6", "z3", ("z3",))
BASE = replace(Solver("z3==4.8.9", "z3-4.8.9", "z3", ("z3",)), is_base=True)
NAME = TestName("by-hand", "", 0)


def crash(solver: Solver, place: str) -> Candidate:
    return Candidate("crash", (solver.name,), f"crash|{solver.name}|{place}", solver.name, oracle="crash")


def test_what_the_base_shows_is_not_new() -> None:
    both = Candidate("soundness", (NEW.name, BASE.name), f"soundness|{NEW.name}+{BASE.name}|Ints")
    found = [crash(NEW, "a"), crash(BASE, "a"), crash(NEW, "b"), crash(BASE, "c"), both]
    new, counts = only_new(found, [NEW, BASE])
    assert [candidate.key for candidate in new] == ["crash|z3-4.8.6|b", both.key]
    assert counts == {NOT_NEW: {"crash": 1}, ONLY_BASE: {"crash": 1}}
    assert only_new(found, [NEW, replace(BASE, is_base=False)]) == (found, {})
    # What the base shows in a forked process only is looked at again.
    new, counts = only_new(found, [NEW, BASE], lambda: False)
    assert [candidate.key for candidate in new][:2] == ["crash|z3-4.8.6|a", "crash|z3-4.8.6|b"]
    assert NOT_NEW not in counts


def test_the_base_is_the_older_one_whatever_its_release() -> None:
    assert list(older_pairs([NEW, BASE])) == [(NEW, BASE)]
    assert list(older_pairs([NEW, replace(BASE, checks=("a=b",))])) == []
    verdicts = {
        NEW.name: Verdict(Outcome.UNKNOWN, ("unknown",), 0.1),
        BASE.name: Verdict(Outcome.OK, ("sat",), 0.1),
    }
    (candidate,) = look(Observation("(check-sat)", [NEW, BASE], verdicts))
    assert (candidate.culprit, set(candidate.solvers)) == (NEW.name, {NEW.name, BASE.name})


def test_modes_give_both_the_same_options() -> None:
    z3 = find_solver("z3")
    base = replace(z3, spec="z3==1", name="z3-1", base_name="z3-1", is_base=True)
    modes = Modes([z3, base], ModeKind.ALL, seed=1, share=1.0)
    chosen = [modes.choose("s", "", index) for index in range(20)]
    assert all(of_new and of_new == of_base for of_new, of_base in chosen)


def test_a_tests_own_options_are_those_that_all_known_solvers_have(fake: Callable[..., Solver]) -> None:
    z3, program = find_solver("z3"), fake("say('sat')")
    own = ("smt.arith.solver=2", "no.such=1", "smt.arith.solver=,")
    under = for_test([z3, program], (), own)
    assert [solver.spec_options for solver in under] == [("smt.arith.solver=2",), ()]
    assert for_test([z3, program], (("proof=true",), ()), own)[0].spec_options == ("proof=true",)


def test_what_was_confirmed_is_given_to_the_base(
    fake: Callable[..., Solver], make_test: Callable[..., GeneratedTest], tmp_path: Path
) -> None:
    """The base is slow at first: its own run did not show it."""
    dies = "say('ASSERTION VIOLATION', 'File: ../src/a.cpp', 'Line: 7'); os.kill(os.getpid(), 6)"
    marker = tmp_path / "seen"
    slow = f"if not os.path.exists('{marker}'): open('{marker}', 'w').close(); time.sleep(9)\n{dies}"
    test = make_test("(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n")
    results: dict[str, Any] = {}
    for name, body in {"same": slow, "other": "say('sat')"}.items():
        solvers = [fake(dies, "after"), replace(fake(body, name), is_base=True)]
        with Runner(warm=False) as runner:
            ran: Any = perform(RunTask(NAME, 0, Limits(seconds=1.0), test), solvers, runner)
            (candidate,) = ran.candidates
            task = ConfirmTask(NAME, test, candidate, Limits(seconds=5.0))
            results[name] = perform(task, solvers, runner)
    assert {name: result.not_new for name, result in results.items()} == {"same": NOT_NEW, "other": ""}
    assert results["other"].is_shown
