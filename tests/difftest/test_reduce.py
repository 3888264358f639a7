"""Reduction: what is needed stays, the rest goes, and the original is never lost."""

from __future__ import annotations

import errno
import json
import re
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import difftest.campaign.worker as working
import difftest.triage.reduce as reduction_module
from difftest import Limits, Solver, Stage, find_solver
from difftest.campaign.tasks import Reduced, ReduceTask, TestName
from difftest.models.refuting import is_refuted
from difftest.oracles.base import Candidate
from difftest.reduction._passes import Passes
from difftest.reduction._pieces import Piece, levels
from difftest.reduction.ddsmt import is_installed, reduce_with_ddsmt
from difftest.triage.conclusions import reduced_key
from difftest.triage.confirm import Confirmer
from difftest.triage.expectation import Expectation, NotShown, expectation_of_finding
from difftest.triage.folder import FindingFolder
from difftest.triage.key import FoundKey
from difftest.triage.options import in_safe_mode
from difftest.triage.reduce import reduce
from difftest.triage.store import read_findings
from generator.strategy import GeneratedTest
from smtlib import check_script, read_script
from smtlib.scanner import lexemes
from solvers.errors import RunnerLost, SolverMissing
from solvers.running.runner import Runner
from solvers.running.script import Script
from tests.difftest.hunts import found_by
from tests.shell import shell_solver

TEXT = """; a comment
(set-info :source |somewhere|)
(set-option :produce-models true)
(set-logic ALL)
(declare-sort MySort 0)
(declare-fun variable_one () Int)
(declare-fun variable_two () Int)
(declare-fun other (MySort) Bool)
(declare-fun element () MySort)
(define-fun twice ((x Int)) Int (* 2 x))
(push 1)
(assert (and (> variable_one 1) (other element) (< (twice variable_two) (div variable_one variable_two))))
(assert (forall ((y Int) (z Int)) (=> (> y 0) (> (+ y 1) 0))))
(assert (or (= variable_one variable_two) (distinct 1 2 3)))
(pop 1)
(check-sat)
(get-model)
"""
TRIPLE = ("(+ 0 1) (- 7 6)", "20 (- 33)", "345 (+ 1 33)")
SMALL = "(declare-const x Int)\n(assert (> x 1))\n(assert (= 3 (div x 2)))\n(check-sat)\n"
CRASHER = 'case "$text" in *"(div "*) case "$text" in *"(check-sat"*) kill -ABRT $$;; esac;; esac; echo sat'
LIAR = 'case "$text" in *"(div "*) echo unsat;; *) echo sat;; esac'
Fake = Callable[..., Solver]
Make = Callable[..., GeneratedTest]


def passes(text: str, check: Callable[[str], bool], seconds: float = 20.0) -> Passes:
    made = Passes(text, check, time.monotonic() + seconds)
    assert check(text)
    made.run()
    return made


def has_div(text: str) -> bool:
    assert check_script(read_script(text)).is_well_sorted, text
    return "(div " in text and "(check-sat)" in text


def test_the_passes_leave_what_the_check_needs() -> None:
    assert passes(TEXT, has_div).text in (
        "(assert (< 0 (div 0 0)))\n(check-sat)\n",
        "(assert (= 0 (div 0 0)))\n(check-sat)\n",
    )


def test_what_two_commands_need_in_the_same_way_goes_from_both() -> None:
    stores = [f"(store (store (store x {a}) {b}) {c})" for a, b, c in (TRIPLE, TRIPLE[::-1])]
    text = (
        "(declare-const x (Array Int Int))(declare-const y (Array Int Int))"
        "(declare-fun g ((Array Int Int)) Bool)"
        f"(assert (= y {stores[0]}))(assert (distinct (g y) (g {stores[1]})))(check-sat)"
    )

    def check(text: str) -> bool:
        return is_refuted(Script.of(text), 0) and text.count("(store ") > 1 and "(= " in text

    assert passes(text, check).text.count("(store x 0 0)") == 2


def test_every_script_tried_is_well_sorted() -> None:
    tried: list[str] = []

    def check(text: str) -> bool:
        tried.append(text)
        return "twice" in text and "(check-sat)" in text

    passes(TEXT, check)
    wrong = [text for text in tried if not check_script(read_script(text)).is_well_sorted]
    # Dropping a declaration that is still used may be tried, rarely.
    assert len(wrong) * 5 < len(tried)


def test_a_tactic_in_the_text_goes_or_gets_shorter() -> None:
    text = (
        "(declare-const x Int)(assert (> x 0))(check-sat-using (then simplify (or-else solve-eqs smt) smt))"
    )
    assert passes(text, lambda t: "(check-sat" in t).text == "(check-sat)\n"
    short = passes(text, lambda t: "solve-eqs" in t and "(check-sat" in t).text
    assert short == "(check-sat-using solve-eqs)\n"


def test_levels_go_with_both_ends() -> None:
    text = "(push 1)(declare-const x Int)(assert (> x 0))(check-sat)(pop 1)(push 1)(check-sat)(pop 1)"

    def check(text: str) -> bool:
        assert text.count("(push") == text.count("(pop")
        return "(push" in text and "(assert" in text

    assert passes(text, check).text.count("push") == 1


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("(push 1)(push)(pop)(pop 1)", [(0, 3), (1, 2)]),
        ("(push 2)(pop 1)(pop 1)", []),
        ("(push 1)(push 1)(pop 2)", []),
        ("(push 1)(push 0)(pop 1)(pop 0)", []),
    ],
)
def test_levels_are_paired_one_by_one(text: str, pairs: list[tuple[int, int]]) -> None:
    script = Script.of(text)
    assert levels([Piece(command.name, script.text_of(command)) for command in script.commands]) == pairs


@pytest.mark.parametrize(("bound", "inlined"), [("y", False), ("z", True)])
def test_inlining_captures_no_variables(bound: str, inlined: bool) -> None:
    text = (
        f"(define-fun f ((x Int)) Bool (exists (({bound} Int)) (distinct {bound} x)))"
        "(assert (not (forall ((y Int)) (f y))))(check-sat)"
    )
    tried: list[str] = []

    def check(trial: str) -> bool:
        tried.append(trial)
        return f"(distinct {bound} x)" in trial and "(forall ((y Int)) (f y))" in trial

    passes(text, check)
    assert any(f"(exists (({bound} Int)) (distinct {bound} y))" in trial for trial in tried) == inlined


def test_names_get_short_and_strings_stay() -> None:
    text = '(declare-const |a long name| String)(assert (= |a long name| "|a long name|"))(check-sat)'
    made = passes(text, lambda t: re.search(r'\(= [a|].* "\|a long name\|"\)\)\n?\(check-sat', t) is not None)
    assert made.text == '(declare-const a String)\n(assert (= a "|a long name|"))\n(check-sat)\n'


def test_short_names_are_no_words_of_the_language() -> None:
    names = [f"name_{number}" for number in range(26 + 26 * 26)]
    text = "".join(f"(declare-const {name} Int)" for name in names) + "(check-sat)"
    made = Passes(text, lambda t: "(check-sat)" in t, time.monotonic() + 20)
    made._pieces = [Piece("declare-const", f"(declare-const {name} Int)") for name in names]
    made._shorten_names()
    assert "name_" not in made.text
    short = set(lexemes(made.text)) - {"(", ")"}
    assert {"a", "z", "aa", "zz"} < short
    assert short.isdisjoint({"as", "or", "fp", "pi", "not", "let"})


@pytest.mark.parametrize(
    "text", ["(assert (foo bar))(assert true)(check-sat)", "(assert (> 1 true))(assert true)(check-sat)"]
)
def test_what_is_not_well_sorted_loses_commands_only(text: str) -> None:
    first = text.split(")(assert true")[0]
    assert passes(text, lambda t: first in t).text.strip() == first + ")"


@pytest.mark.parametrize("text", ["", "(assert", "not smt", ")("])
def test_what_cannot_be_read_stays(text: str) -> None:
    assert passes(text, lambda t: t == text).text == text


def test_no_time_is_no_harm() -> None:
    made = Passes(TEXT, has_div, time.monotonic())
    assert not made.run()
    assert made.text == TEXT


def test_a_file_is_reduced_beside_itself(tmp_path: Path) -> None:
    file = tmp_path / "big.smt2"
    file.write_text(TEXT)
    report = reduce(file, [shell_solver(tmp_path, "fake", CRASHER)], seconds=60, ddsmt=False)
    assert file.read_text() == TEXT
    assert report.reduced == tmp_path / "big.reduced.smt2"
    assert report.reduced.read_text() == report.text
    assert (report.size_before, report.size_after) == (len(TEXT), len(report.text))
    assert report.size_after < 50
    assert report.complete and report.confirmed and not report.with_ddsmt
    json.dumps(report.to_json())
    assert not list(tmp_path.glob(".*"))


def test_a_reduction_resumes_from_what_the_key_of_a_hunt_left(make_test: Make, tmp_path: Path) -> None:
    crasher = shell_solver(tmp_path, "fake", CRASHER)
    folder = found_by(tmp_path, make_test(TEXT), crasher, reduction=30.0)
    quick = (folder / "reduced.smt2").read_text()
    assert "(div " in quick and len(quick) < len(TEXT) / 2
    # It was seen with forked solvers only, so reports show the original until a reduction has confirmed it.
    assert not FindingFolder.read(folder).is_reduced
    left = reduce(folder, seconds=0.0, ddsmt=False)
    assert len(left.text) <= len(quick) and left.confirmed


def test_a_trial_of_a_quick_reduction_gets_a_part_of_its_time(
    make_test: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One that does not end would else take half of it.
    given: list[tuple[float, float]] = []

    def key(candidate: Candidate, text: str, confirmer: Confirmer, seconds: float, most: int) -> FoundKey:
        given.append((confirmer.expected.seconds, seconds))
        return FoundKey(candidate.key, text, True)

    monkeypatch.setattr(working, "key_of", key)
    crasher = shell_solver(tmp_path, "fake", CRASHER)
    folder = found_by(tmp_path, make_test(TEXT), crasher, stages=(Stage(5.0, 1.0),), reduction=2.0)
    took = json.loads((folder / "finding.json").read_text())["solvers"][0]["seconds"]
    ((trial, whole),) = given
    assert whole == 2.0
    assert trial == pytest.approx(0.2 + 4 * took, abs=0.01)


@pytest.mark.parametrize("problem", [RunnerLost(""), SolverMissing(""), FileNotFoundError()])
def test_a_finding_that_cannot_be_reduced_in_a_hunt_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise raised

    raised = problem
    monkeypatch.setattr(working, "reduce", fail)
    worker = working.Worker([], Runner(), {})
    task = ReduceTask(TestName("s", "", 0), tmp_path, Limits(1.0))
    assert isinstance(worker.perform(task), Reduced)
    raised = OSError(errno.ENOSPC, "")
    with pytest.raises(OSError):
        worker.perform(task)


def test_a_finding_gets_its_reduced_formula_and_a_report_that_shows_it(
    make_test: Make, tmp_path: Path
) -> None:
    liar, honest = shell_solver(tmp_path, "liar", LIAR), shell_solver(tmp_path, "honest", "echo sat")
    folder = found_by(tmp_path, make_test(SMALL), honest, liar)
    for _ in range(2):  # the second one resumes from the first and changes nothing
        report = reduce(folder, seconds=60, ddsmt=False)
        assert (folder / "original.smt2").read_text() == SMALL
        assert (folder / "reduced.smt2").read_text() == report.text
        shown = (folder / "report.md").read_text()
        assert f"```smt2\n{report.text.rstrip()}\n```" in shown
        assert "$ " in shown and "input.smt2" in shown
        assert "(> x 1)" not in shown
        data = json.loads((folder / "finding.json").read_text())
        reduced = data["reduced"]
        assert (reduced["size_after"], reduced["confirmed"]) == (report.size_after, True)
        # By the first key the hunt knows the finding, by the second one people do.
        assert (data["key"], reduced["key"]) == ("soundness|liar|Ints", "soundness|liar|Ints|div")
        assert [record.key for record in read_findings(folder.parent)] == [data["key"]]
        assert FindingFolder.read(folder).key == reduced["key"]
        assert reduced["safe_mode"] is None
    assert report.steps[0].checks < 60


def test_the_key_takes_the_theories_and_options_that_are_left() -> None:
    z3 = find_solver("z3[smt.arith.solver=2,smt.case_split=3]")
    left = replace(z3, checks=("smt.case_split=3",))
    expected = Expectation("crash", (left,), left.name, shape="signal SIGSEGV")
    text = "(declare-const x Int)\n(assert (= 0 (mod 1 x)))\n(check-sat)\n"
    key = f"crash|{z3.name}|signal SIGSEGV|Ints+Sequences+UnicodeStrings|mod,seq.len"
    now = "crash|z3[smt.case_split=3]|signal SIGSEGV|Ints+Nonlinear|mod"
    assert reduced_key(key, expected, text) == now
    assert reduced_key(key.rpartition("|")[0], expected, text) == now
    assert reduced_key("crash|z3|a.cpp:7", expected, text) == "crash|z3|a.cpp:7"


@pytest.mark.thorough
def test_safe_mode_is_asked_about_the_reduced_formula(make_test: Make, tmp_path: Path) -> None:
    unsafe = "(declare-const b (Bag Int))\n(assert (= b (bag 1 1)))\n(check-sat)\n"
    folder = found_by(
        tmp_path, make_test(unsafe), find_solver("cvc5"), shell_solver(tmp_path, "liar", "echo unsat")
    )
    assert "; Safe mode: not affected\n" in (folder / "report.md").read_text()
    reduce(folder, seconds=60, ddsmt=False)
    data = json.loads((folder / "finding.json").read_text())
    assert (data["safe_mode"], data["reduced"]["safe_mode"]) == (False, True)
    assert "; Safe mode: affected\n" in (folder / "report.md").read_text()


def test_an_option_that_was_left_out_does_not_come_back_in_safe_mode() -> None:
    safe = in_safe_mode(replace(find_solver("cvc5[mbqi=true]"), checks=("--check-models",)))
    assert safe is not None
    assert safe.checks == ("--safe-mode=safe", "--check-models")


def test_an_interrupted_reduction_resumes_from_what_it_had(tmp_path: Path) -> None:
    file = tmp_path / "big.smt2"
    file.write_text(SMALL)
    short = "(assert (= 0 (div 0 0)))\n(check-sat)\n"
    (tmp_path / "big.reduced.smt2").write_text(short)
    assert reduce(file, [shell_solver(tmp_path, "fake", CRASHER)], seconds=60, ddsmt=False).text == short
    # What does not show it any more is not resumed from.
    (tmp_path / "big.reduced.smt2").write_text("(check-sat)\n")
    assert "(div " in reduce(file, [shell_solver(tmp_path, "fake", CRASHER)], seconds=60, ddsmt=False).text


def test_options_that_are_not_needed_are_found(tmp_path: Path) -> None:
    program = tmp_path / "solver"
    program.write_text(
        '#!/bin/sh\nneed=no\nfor a in "$@"; do [ "$a" = --bad ] && need=yes; file=$a; done\n'
        '[ "$file" = --version ] && exit\n'
        'if [ $need = yes ] && grep -q "(div " "$file"; then kill -SEGV $$; fi\necho sat\n'
    )
    program.chmod(0o755)
    file = tmp_path / "big.smt2"
    file.write_text(SMALL)
    solver = find_solver(f"s={program} --good --bad --other")
    report = reduce(file, [solver], seconds=60, ddsmt=False)
    assert report.options == {"s": ("--bad",)}


@pytest.mark.thorough
def test_what_is_flaky_takes_several_tries(make_test: Make, tmp_path: Path) -> None:
    """The solver crashes but in every third run; the hunt sees it."""
    count = tmp_path / "count"
    count.write_text("1\n")
    body = f"""
read -r runs < '{count}'
runs=$((runs + 1))
echo $runs > '{count}'
[ $((runs % 3)) -eq 1 ] && text=
{CRASHER}
"""
    folder = found_by(tmp_path / "out", make_test(SMALL), shell_solver(tmp_path, "fake", body))
    count.write_text("3\n")
    with pytest.raises(NotShown, match="try --tries 5"):
        reduce(folder, ddsmt=False)
    report = reduce(folder, seconds=20.0, ddsmt=False, tries=3)
    assert (report.confirmed, report.tries) == (True, 3)
    assert report.shown == 2
    assert report.size_after < report.size_before
    assert "It does not show in every run: in 2 of 3." in (folder / "report.md").read_text()
    data = json.loads((folder / "finding.json").read_text())
    assert "SIGABRT" in data["reduced"]["runs"]["fake"]["ending"]
    # Whoever looks again tries as often.
    assert expectation_of_finding(folder).tries == 3
    assert reduce(folder, seconds=20.0, ddsmt=False).tries == 3


def test_a_file_on_which_nothing_goes_wrong_is_reported(fake: Fake, tmp_path: Path) -> None:
    file = tmp_path / "good.smt2"
    file.write_text("(check-sat)")
    with pytest.raises(NotShown):
        reduce(file, [fake("say('sat')")])
    with pytest.raises(NotShown, match="overwrite the original"):
        reduce(file, [fake("os.abort()")], out=file)
    assert file.read_text() == "(check-sat)"


def test_without_ddsmt_our_own_passes_do_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction_module, "is_installed", lambda: False)
    file = tmp_path / "big.smt2"
    file.write_text(SMALL)
    report = reduction_module.reduce(file, [shell_solver(tmp_path, "fake", CRASHER)], seconds=60)
    assert [step.tool for step in report.steps] == ["passes"]
    assert not report.with_ddsmt


def test_where_no_socket_can_be_ddsmt_tries_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / ("a" * 100)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert reduce_with_ddsmt(TEXT, lambda text: True, 5.0, 5.0) == (TEXT, 0, False)


@pytest.mark.slow
@pytest.mark.skipif(not is_installed(), reason="ddSMT is not installed")
class TestDdsmt:
    def test_it_is_driven_by_our_check_and_its_result_is_well_sorted(self, tmp_path: Path) -> None:
        file = tmp_path / "big.smt2"
        file.write_text(SMALL)
        report = reduce(file, [shell_solver(tmp_path, "fake", CRASHER)], seconds=60)
        assert [step.tool for step in report.steps] == ["passes", "ddsmt", "passes"]
        assert report.steps[1].checks > 3
        assert check_script(read_script(report.text)).is_well_sorted
        assert report.with_ddsmt and report.confirmed

    @pytest.mark.thorough
    def test_it_is_ended_in_time_and_what_it_had_is_kept(self) -> None:
        def check(text: str) -> bool:
            time.sleep(0.5)  # every check, so that the time is up long before ddSMT is
            return "(div " in text

        started = time.monotonic()
        text, checks, finished = reduce_with_ddsmt(TEXT, check, 5.0, 5.0)
        assert not finished
        assert checks <= 11
        assert len(text) <= len(TEXT)
        assert "(div " in text
        assert time.monotonic() - started < 30

    @pytest.mark.parametrize("problem", [NotShown("broken"), OSError(errno.ENOSPC, "broken")])
    def test_an_error_in_the_check_is_raised_here(self, problem: Exception) -> None:
        def check(text: str) -> bool:
            raise problem

        with pytest.raises(type(problem), match="broken"):
            reduce_with_ddsmt(TEXT, check, 20.0, 5.0)
        assert not [t for t in threading.enumerate() if t.name == "exhume-reducer"]
