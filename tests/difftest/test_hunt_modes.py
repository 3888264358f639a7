"""Hunts under options: faults that only options bring out, and what is kept of the options."""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from difftest import FindingConfirmed, HuntFinished, HuntOptions, Solver, Stage, find_solver, hunt
from difftest.campaign.campaign import blamed_options
from difftest.campaign.modes import ModeKind
from difftest.oracles import PLAIN, look
from difftest.oracles.base import Candidate, Observation
from difftest.triage.evidence import third_solvers
from difftest.triage.options import drop_options, in_safe_mode, leaner, stands_in_safe_mode
from difftest.triage.reduce import reduce
from generator.strategy import GeneratedTest
from solvers.running.outcomes import Outcome, Verdict
from tests.shell import READ, shell_solver

TEXT = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 3))\n(check-sat)\n"

# A program that takes z3's options and has three faults: options bring out two, and one always shows.
FAKE_Z3 = f"""#!/bin/sh
[ "$*" = --version ] && echo Z3 version 1.2.3 && exit
if [ "$1" = -pd ]; then
  echo "[module] smt, description"
  for name in relevancy case_split restart_strategy; do
    echo "    $name (unsigned int) what it does (default: 9)"
  done
  echo "[module] tactic, description"
  echo "    default_tactic (symbol) overwrite"
  exit
fi
{READ}
case "$text" in
*"(help-tactic)"*) for name in simplify solve-eqs smt nnf; do echo "- $name what"; done; exit;;
*crash*) printf 'ASSERTION VIOLATION\\nFile: smt.cpp\\nLine: 17\\n' >&2; exit 114;;
esac
wrong=
for given; do
  [ "$given" = smt.relevancy=0 ] && wrong=yes
  [ "$given" = "$file" ] && given=$text
  case "$given" in *nnf*) wrong=yes;; esac
done
case "$wrong$text" in yes*lie*) echo unsat;; *) echo sat;; esac
"""


@pytest.fixture
def solvers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Solver]:
    """The release z3==1.2.3, which lies under options, and an honest solver."""
    cache = tmp_path / "cache"
    program = cache / "wheels" / "z3-solver-1.2.3" / "bin" / "z3"
    program.parent.mkdir(parents=True)
    program.write_text(FAKE_Z3)
    program.chmod(0o755)
    monkeypatch.setenv("EXHUME_CACHE", str(cache))
    return [find_solver("z3==1.2.3"), shell_solver(tmp_path, "honest", "echo sat")]


def run_hunt(
    solvers: list[Solver], out: Path, text: str, kinds: ModeKind = ModeKind.ALL, tests: int = 12
) -> tuple[HuntFinished, list[dict[str, Any]]]:
    """A hunt with every test under options; its end and the findings as written."""
    made = (GeneratedTest(index, text, "by-hand") for index in range(tests))
    options = HuntOptions(
        out=out, seed=1, stages=(Stage(20.0, 1.0),), reduction=0, modes=kinds, mode_share=1.0
    )
    end = None
    found = []
    for event in hunt(made, solvers, options):
        if isinstance(event, FindingConfirmed):
            found.append(json.loads((event.record.path / "finding.json").read_text()))
        elif isinstance(event, HuntFinished):
            end = event
    assert end is not None
    return end, found


def test_a_fault_that_an_option_brings_out_is_found_with_no_more_than_that(
    solvers: list[Solver], tmp_path: Path
) -> None:
    end, found = run_hunt(solvers, tmp_path / "out", TEXT + "; lie", ModeKind.OPTIONS)
    entries = {entry["solvers"][0]["spec"]: entry for entry in found}
    assert set(entries) == {"z3==1.2.3[smt.relevancy=0]"}
    entry = entries["z3==1.2.3[smt.relevancy=0]"]
    assert entry["class"] == "soundness"
    assert "z3-1.2.3[smt.relevancy=0]" in entry["key"]
    folder = end.summary.findings[0].path
    assert "smt.relevancy=0" in (folder / "command.txt").read_text()
    assert (folder / "z3-1.2.3[smt.relevancy=0].stdout").read_text() == "unsat\n"
    # Pairs that hold the option fold into the same finding, and are not confirmed under a key of their own.
    assert end.summary.tests == 12
    assert set(end.summary.outcomes) == {"z3-1.2.3", "honest"}
    assert sum(end.summary.outcomes["z3-1.2.3"].values()) == 12


@pytest.mark.thorough
def test_a_tactic_is_found_among_those_of_a_row(solvers: list[Solver], tmp_path: Path) -> None:
    end, found = run_hunt(solvers, tmp_path / "out", TEXT + "; lie", ModeKind.TACTICS, tests=24)
    by_spec = {entry["solvers"][0]["spec"]: entry["solvers"][0] for entry in found}
    asked = by_spec["z3==1.2.3[check-sat-using=nnf]"]
    assert set(by_spec) == {"z3==1.2.3[tactic.default_tactic=nnf]", "z3==1.2.3[check-sat-using=nnf]"}
    # What the solver was given is beside the test that all were given, and the command line names it.
    folder = next(r.path for r in end.summary.findings if "check-sat-using" in r.key)
    assert "(check-sat-using nnf)" in (folder / asked["file"]).read_text()
    assert "check-sat-using" not in (folder / "original.smt2").read_text()
    assert asked["command"][-1] == asked["file"] != "original.smt2"
    assert asked["options"] == ["check-sat-using=nnf"]
    report = (folder / "report.md").read_text()
    assert asked["file"] in report
    assert "(check-sat-using nnf)" in report


def test_a_fault_that_is_always_there_is_one_finding_without_options(
    solvers: list[Solver], tmp_path: Path
) -> None:
    end, found = run_hunt(solvers, tmp_path / "out", TEXT + "; crash")
    assert [entry["key"] for entry in found] == ["crash|z3-1.2.3|smt.cpp:17"]
    assert found[0]["solvers"][0]["spec"] == "z3==1.2.3"
    assert end.summary.duplicates == 11


@pytest.mark.thorough
def test_a_finding_under_options_is_reduced_under_them(solvers: list[Solver], tmp_path: Path) -> None:
    text = TEXT.replace("(check-sat)", "(declare-const lie Bool)\n(assert lie)\n(check-sat)")
    end, _ = run_hunt(solvers, tmp_path / "out", text, ModeKind.OPTIONS)
    report = reduce(end.summary.findings[0].path, seconds=20, ddsmt=False)
    assert report.confirmed
    assert "lie" in report.text
    assert report.options["z3-1.2.3[smt.relevancy=0]"] == ("smt.relevancy=0",)


@pytest.mark.parametrize("setting", ["tactic.default_tactic", "check-sat-using"])
@pytest.mark.few(1)
def test_a_row_of_tactics_gets_shorter_with_its_formula(
    setting: str, solvers: list[Solver], tmp_path: Path
) -> None:
    """The whole row may take the whole formula; the reduced one takes less."""
    text = TEXT.replace("(check-sat)", "(declare-const lie Bool)\n(assert lie)\n(check-sat)")
    file = tmp_path / "test.smt2"
    file.write_text(text)
    row = "(then simplify (using-params nnf :mode full) (or-else solve-eqs smt))"
    report = reduce(file, [find_solver(f"z3==1.2.3[{setting}={row}]"), solvers[1]], seconds=20, ddsmt=False)
    assert report.confirmed
    (needed,) = (options for name, options in report.options.items() if name.startswith("z3"))
    assert needed == (f"{setting}=nnf",)


def test_a_solver_with_a_long_spec_is_counted_under_its_name(solvers: list[Solver], tmp_path: Path) -> None:
    """Its tests have names that are cut, and its tactic is not replaced."""
    own = find_solver(f"z3==1.2.3[check-sat-using=(then {'simplify ' * 20}smt)]")
    end, found = run_hunt([own, solvers[1]], tmp_path / "out", TEXT)
    assert found == []
    assert {name: sum(counts.values()) for name, counts in end.summary.outcomes.items()} == {
        own.name: 12,
        "honest": 12,
    }


def test_no_option_is_needed_that_is_left_out() -> None:
    z3 = find_solver("z3").with_options(["smt.relevancy=0", "smt.case_split=2", "nlsat.lazy=1"])

    def shows(trial: object) -> bool:
        assert isinstance(trial, list)
        return "smt.case_split=2" in trial[0].spec_options

    assert drop_options([z3], shows)[0].spec == "z3[smt.case_split=2]"
    assert drop_options([z3], lambda trial: True)[0].spec == "z3"
    assert drop_options([z3], lambda trial: False) == (z3,)


def test_options_of_the_users_own_spec_are_not_taken_away() -> None:
    z3 = find_solver("z3[smt.relevancy=0]").with_options(["smt.case_split=2"])
    assert drop_options([z3], lambda trial: True)[0].spec == "z3[smt.relevancy=0]"
    assert list(leaner(find_solver("z3[smt.relevancy=0]"))) == []


def test_a_candidate_takes_the_names_of_its_solvers_along() -> None:
    z3, cvc5 = find_solver("z3"), find_solver("cvc5")
    moded = z3.with_options(["smt.arith.solver=2"])
    verdicts = {
        moded.name: Verdict(Outcome.OK, ("sat",), 0.1),
        cvc5.name: Verdict(Outcome.OK, ("unsat",), 0.1),
    }
    (candidate,) = look(Observation(TEXT, [moded, cvc5], verdicts), PLAIN)
    changed = candidate.renamed({moded.name: z3.name})
    assert candidate.key == "soundness|z3[smt.arith.solver=2]+cvc5|Ints"
    assert (changed.key, changed.solvers) == ("soundness|z3+cvc5|Ints", ("z3", "cvc5"))


def test_a_candidate_against_a_build_from_source_takes_its_name_along() -> None:
    build, moded = "z3-5.4.0+address", "z3-5.4.0+address[a=b]"
    candidate = Candidate("soundness", (moded, "cvc5"), f"soundness|{moded}+cvc5|Ints")
    assert candidate.renamed({moded: build}).key == f"soundness|{build}+cvc5|Ints"


def test_under_options_that_are_not_trusted_only_crashes_count() -> None:
    z3, cvc5 = find_solver("z3").with_options(["sat.euf=true"]), find_solver("cvc5")
    answers = {z3.name: Verdict(Outcome.OK, ("sat",), 0.1), cvc5.name: Verdict(Outcome.OK, ("unsat",), 0.1)}
    assert look(Observation(TEXT, [z3, cvc5], answers), PLAIN) == []
    crash = {**answers, z3.name: Verdict(Outcome.CRASH, (None,), 0.1, "signal SIGSEGV")}
    assert [str(c.finding_class) for c in look(Observation(TEXT, [z3, cvc5], crash), PLAIN)] == ["crash"]


def test_under_young_options_answers_count_and_prove_nothing_about_others() -> None:
    z3, young, cvc5 = find_solver("z3"), find_solver("z3").with_options(["sat.smt=true"]), find_solver("cvc5")
    answers = {
        young.name: Verdict(Outcome.OK, ("sat",), 0.1),
        cvc5.name: Verdict(Outcome.OK, ("unsat",), 0.1),
    }
    seen = Observation(TEXT, [young, cvc5], answers)
    (candidate,) = look(seen, PLAIN)
    assert (candidate.key, candidate.culprit) == ("soundness|z3[sat.smt=true]+cvc5|Ints", None)
    assert young not in third_solvers(seen, ["cvc5"], [young]) and z3 in third_solvers(seen, ["cvc5"], [z3])
    missing = {**answers, young.name: Verdict(Outcome.OK, ("unknown",), 0.1)}
    assert look(Observation(TEXT, [young, cvc5], missing), PLAIN) == []


def test_a_hunt_tries_first_what_the_corpus_blames(
    solvers: list[Solver], starter: Path, exhume: Any, tmp_path: Path
) -> None:
    assert {"smt.relevancy", "fp-exp"} <= blamed_options(starter)
    assert "smt.case_split" not in blamed_options(starter)
    log = tmp_path / "log"
    program = Path(solvers[0].argv[0])
    program.write_text(FAKE_Z3.replace("wrong=\n", f'wrong=\necho "$*" >> {log}\n'))
    corpus = shutil.copy(starter, tmp_path / "corpus.duckdb")
    exhume(
        *("hunt", "--corpus", corpus, "--solver", "z3==1.2.3", "--strategy", "skeletons", "--tests", 2),
        *("--modes", "options", "--mode-share", 1, "--no-bandit", "--out", tmp_path / "out"),
    )
    tried = re.findall(r"smt\.\w+=\w+", log.read_text())
    assert set(tried) == {"smt.relevancy=0", "smt.relevancy=1"}


def test_safe_mode_is_cvc5s_and_comes_before_the_other_options() -> None:
    cvc5 = find_solver("cvc5")
    safe = in_safe_mode(cvc5.with_options(["mbqi=true"]))
    assert safe is not None
    assert safe.checks[0] == "--safe-mode=safe"
    assert "--mbqi=true" in safe.checks
    assert in_safe_mode(find_solver("z3")) is None


@pytest.mark.parametrize("answer", [True, False])
def test_what_stands_in_safe_mode_is_asked_of_cvc5_only(answer: bool) -> None:
    z3, cvc5 = find_solver("z3"), find_solver("cvc5")
    asked: list[list[str]] = []

    def shows(trial: object) -> bool:
        assert isinstance(trial, list)
        asked.append([solver.name for solver in trial])
        return answer

    assert stands_in_safe_mode([z3], shows) is None
    assert stands_in_safe_mode([z3, cvc5], shows) is answer
    assert asked == [["z3", "cvc5[safe-mode=safe]"]]


def test_a_finding_of_another_solver_says_nothing_of_safe_mode(solvers: list[Solver], tmp_path: Path) -> None:
    _, found = run_hunt(solvers, tmp_path / "out", TEXT + "; crash", ModeKind.DEFAULT, tests=1)
    assert found[0]["safe_mode"] is None


@pytest.mark.thorough
def test_each_finding_of_cvc5_says_whether_safe_mode_has_it(tmp_path: Path) -> None:
    liar = tmp_path / "liar.py"
    liar.write_text("print('unsat')")
    solvers = [find_solver("cvc5"), find_solver(f"liar={sys.executable} -I -S {liar}")]
    _, found = run_hunt(solvers, tmp_path / "safe", TEXT, ModeKind.DEFAULT, tests=1)
    assert found[0]["safe_mode"] is True
    unsafe = TEXT.replace("QF_LIA", "ALL").replace(
        "(check-sat)", "(declare-const b (Bag Int))(assert (= b (bag 1 x)))(check-sat)"
    )
    _, found = run_hunt(solvers, tmp_path / "unsafe", unsafe, ModeKind.DEFAULT, tests=1)
    assert found[0]["safe_mode"] is False


@pytest.mark.thorough
def test_a_replay_under_options_finds_what_files_show_with_them(
    exhume: Any, solvers: list[Solver], tmp_path: Path
) -> None:
    folder = tmp_path / "formulas"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number:02}.smt2").write_text(f"{TEXT}; lie {number}\n")
    command = ("replay", folder, *(w for s in solvers for w in ("--solver", s.spec)))
    lost = exhume(*command, "--modes", "options")
    assert (lost.code, lost.out) == (2, "")
    assert "add --out DIR" in lost.err
    kept = ("--modes", "options", "--out", tmp_path / "out", "--json")
    done = exhume(*command, *kept)
    assert done.code == 1, done.err
    (found,) = done.json["findings"]
    entry = json.loads((tmp_path / "out" / found["path"] / "finding.json").read_text())
    assert entry["solvers"][0]["spec"] == "z3==1.2.3[smt.relevancy=0]"
    # Another seed draws other options, so it is another run.
    other = exhume(*command, *kept, "--seed", "2")
    assert other.code == 2
    assert "seed" in other.err
