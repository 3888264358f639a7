"""Forked children of warm processes give what fresh processes give; the real solvers' known answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from difftest import Limits, Outcome, Solver, find_solvers, parse_spec
from solvers import releases
from solvers.cvc5 import driver as cvc5_driver
from solvers.running.runner import Runner
from solvers.running.script import Script
from solvers.z3 import engine as z3_engine
from tests.releases import find_or_skip

SOLVERS = find_solvers(["z3", "cvc5"])
LIMITS = Limits(seconds=20)
HARD = (
    "(set-logic QF_NIA)(declare-const x Int)(declare-const y Int)(declare-const z Int)"
    "(assert (and (> x 2) (> y 2) (> z 2)))(check-sat)"
    "(assert (= (+ (* x x x) (* y y y)) (* z z z)))(check-sat)"
)

# (text, the outcome and answers of both solvers)
TABLE = {
    "sat": ("(set-logic QF_LIA)(declare-const x Int)(assert (> x 3))(check-sat)", "ok", ("sat",)),
    "unsat": ("(set-logic QF_LRA)(declare-const x Real)(assert (< x x))(check-sat)", "ok", ("unsat",)),
    "bit-vectors": (
        "(set-logic QF_BV)(declare-const a (_ BitVec 8))(assert (bvult a #x01))(check-sat)",
        "ok",
        ("sat",),
    ),
    "strings": (
        '(set-logic ALL)(declare-const s String)(assert (= (str.len s) 2))(assert (= s "a"))(check-sat)',
        "ok",
        ("unsat",),
    ),
    "floating-point": (
        "(set-logic QF_FP)(declare-const f Float32)(assert (fp.isNaN f))(assert (fp.eq f f))(check-sat)",
        "ok",
        ("unsat",),
    ),
    "arrays": (
        "(set-logic ALL)(declare-const a (Array Int Int))(assert (= (select (store a 1 2) 1) 3))(check-sat)",
        "ok",
        ("unsat",),
    ),
    "incremental": (
        "(set-logic QF_LIA)\n(declare-const x Int)\n(check-sat)\n(push 1)\n(assert (< x x))\n(check-sat)\n"
        "(pop 1)\n(check-sat)\n(get-model)\n",
        "ok",
        ("sat", "unsat", "sat"),
    ),
    "with models": (
        "(set-option :produce-models true)(set-logic QF_LIA)(declare-const x Int)(check-sat)(get-model)"
        "(get-value (x))(check-sat)",
        "ok",
        ("sat", "sat"),
    ),
    "query out of place": (
        "(set-logic QF_UF)(declare-const a Bool)(assert (and a (not a)))(check-sat)\n"
        "(get-value (a))\n(check-sat)",
        "ok",
        ("unsat", "unsat"),
    ),
    "echo": (
        '(set-logic QF_UF)(echo "sat")(check-sat)(push 1)(assert false)(check-sat)(echo "unsat")',
        "ok",
        ("sat", "unsat"),
    ),
    "undeclared": ("(set-logic QF_LIA)\n(assert (> x 1))\n(check-sat)", "refused", (None,)),
    "ill-sorted": ('(set-logic ALL)(check-sat)\n(assert (= 1 "a"))\n(check-sat)', "refused", ("sat", None)),
    "unbalanced": ("(set-logic ALL)(check-sat)(assert (and true", "", ("sat",)),
    "unknown command": ("(set-logic ALL)(check-sat)\n(frobnicate)\n(check-sat)", "refused", ("sat", None)),
    "exit": ("(set-logic ALL)(check-sat)(exit)(assert false)(check-sat)", "ok", ("sat",)),
    "no question": ("(set-logic ALL)(assert true)", "ok", ()),
    "empty": ("", "ok", ()),
    "not text": ("\x01\x02\u00ff(((", "", ()),
    "NUL": ("(set-logic ALL)\x00(check-sat)", "", (None,)),
}


@pytest.fixture(scope="module")
def fresh() -> Iterator[Runner]:
    with Runner(warm=False) as made:
        yield made


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
@pytest.mark.few(19)
def test_the_warm_verdict_is_the_fresh_one_and_right(
    name: str, solver: Solver, warm: Runner, fresh: Runner
) -> None:
    text, outcome, answers = TABLE[name]
    script = Script(text.encode())
    quick, slow = warm.judge(solver, script, LIMITS), fresh.judge(solver, script, LIMITS)
    assert (quick.outcome, quick.answers) == (slow.outcome, slow.answers)
    if outcome:
        assert (str(quick.outcome), quick.answers) == (outcome, answers)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
@pytest.mark.few(1)
def test_a_hard_second_question_does_not_take_the_first_answer_along(
    solver: Solver, warm: Runner, fresh: Runner
) -> None:
    for runner in (warm, fresh):
        got = runner.judge(solver, Script(HARD.encode()), Limits(seconds=0.7))
        assert (got.outcome, got.answers) == (Outcome.TIMEOUT, ("sat", None))


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_one_test_leaves_nothing_to_the_next(solver: Solver, warm: Runner) -> None:
    declared = Script(b"(set-logic QF_LIA)(declare-const x Int)(assert false)(check-sat)")
    assert warm.judge(solver, declared, LIMITS).answers == ("unsat",)
    assert warm.judge(solver, declared, LIMITS).answers == ("unsat",)
    assert warm.judge(solver, Script(b"(set-logic QF_LIA)(check-sat)"), LIMITS).answers == ("sat",)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_the_solvers_check_their_models(solver: Solver, warm: Runner, fresh: Runner) -> None:
    option = "model_validate" if solver.family == "z3" else "check-models"
    script = Script(f"(set-logic ALL)(check-sat)(get-option :{option})".encode())
    for runner in (warm, fresh):
        assert runner.run(solver, script, LIMITS).stdout == "sat\ntrue\n"


def test_positions_are_those_of_the_whole_text(warm: Runner) -> None:
    script = Script(b"(check-sat)\n(check-sat)\n\n  (assert x)\n(check-sat)\n")
    assert "line 4 column" in warm.run(SOLVERS[0], script, LIMITS).stdout


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_a_text_that_names_a_file_is_not_run(solver: Solver, warm: Runner, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    script = Script(f'(set-option :regular-output-channel "{precious}")(check-sat)'.encode())
    got = warm.judge(solver, script, LIMITS)
    assert (got.outcome, got.answers) == (Outcome.REFUSED, (None,))
    assert precious.read_text() == "kept"


@pytest.mark.parametrize("spec", ["bitwuzla", "cvc5==1.3.0", "bitwuzla==0.9.0"])
def test_other_libraries_and_releases_are_forked_too(spec: str, warm: Runner, fresh: Runner) -> None:
    asked = parse_spec(spec)
    if asked.release and not releases.is_fetched(asked.family, asked.release):
        pytest.skip(f"{spec} is not in the cache")
    solver = find_or_skip(spec)
    assert solver.loadable is not None
    for name in ("bit-vectors", "undeclared", "exit", "no question", "not text"):
        script = Script(TABLE[name][0].encode())
        quick, slow = warm.run(solver, script, LIMITS), fresh.run(solver, script, LIMITS)
        assert (quick.stdout, quick.stderr, quick.code) == (slow.stdout, slow.stderr, slow.code)


def test_what_an_old_library_does_not_know_its_program_is_asked(warm: Runner) -> None:
    old = find_or_skip("z3==4.8.5")
    text = "(declare-const x Int)(assert (< 2 x 9))(minimize x)(check-sat)(get-value (x))"
    verdict = warm.judge(old, Script(text.encode()), Limits(seconds=20.0))
    assert (verdict.outcome, verdict.answers) == (Outcome.OK, ("sat",)), verdict.detail


def test_z3_runs_in_this_process_too() -> None:
    said: list[bytes] = []
    assert SOLVERS[0].loadable is not None
    state = z3_engine.load(SOLVERS[0].loadable, ["model_validate=true"])
    data = b"(assert x)\n(check-sat)\n(assert false)\n(check-sat)"
    assert z3_engine.run(state, data, Script(data).chunks(), said.append) == 1
    assert b"".join(said).split(b"\n")[1:] == [b"sat", b"unsat", b""]


def driver(text: str, *options: str) -> tuple[int, str]:
    said: list[str] = []
    code = cvc5_driver.run(text.encode(), options, said.append)
    return code, "".join(said)


def test_the_cvc5_driver_prints_what_the_program_would() -> None:
    text = "(set-logic QF_LIA)(declare-const x Int)(assert (= x 1))(check-sat)(get-model)"
    assert driver(text, "--produce-models") == (0, "sat\n(\n(define-fun x () Int 1)\n)\n")


def test_the_cvc5_driver_stops_at_an_error_but_continues_after_a_query() -> None:
    head = "(set-logic QF_LIA)(check-sat)"
    code, said = driver(head + "(get-value (1))(check-sat)", "-i")
    assert (code, said.count("sat\n"), said.count("(error")) == (1, 2, 1)
    code, said = driver(head + "(push 1)(assert y)(check-sat)", "-i")
    assert (code, said.count("sat\n"), said.count("(error")) == (1, 1, 1)


def test_the_cvc5_driver_wants_incremental_mode_for_two_questions() -> None:
    code, said = driver("(set-logic QF_LIA)(check-sat)(check-sat)")
    assert code == 1
    assert said.startswith("sat\n(error")
    assert "incremental" in said


def test_the_cvc5_driver_refuses_options_that_cvc5_does_not_have() -> None:
    code, said = driver("(check-sat)", "--no-such-thing-at-all")
    assert code == 1
    assert said.startswith('(error "')


def test_the_cvc5_driver_reads_options_as_cvc5_does() -> None:
    assert cvc5_driver.parse_options(["--a", "--b=c", "--no-d", "-i"]) == [
        ("a", "true"),
        ("b", "c"),
        ("d", "false"),
        ("incremental", "true"),
    ]
    with pytest.raises(ValueError, match="not an option"):
        cvc5_driver.parse_options(["a"])


def test_the_cvc5_driver_is_a_program(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a.smt2"
    file.write_text("(set-logic ALL)(check-sat)")
    assert cvc5_driver.main([str(file)]) == 0
    assert capfd.readouterr().out == "sat\n"
    assert cvc5_driver.main([]) == 1
    assert cvc5_driver.main(["/nowhere.smt2"]) == 1
    assert "Couldn't open file: /nowhere.smt2" in capfd.readouterr().out
    assert cvc5_driver.main(["--version"]) == 0
    assert capfd.readouterr().out.startswith("This is cvc5 version")
