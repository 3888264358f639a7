"""A formula shows a finding again only if class, solvers, place and answers are the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from difftest import DifftestError, FoundFiles, HuntOptions, Solver, Stage, find_solver, hunt
from difftest.campaign.files import FileTests
from difftest.errors import NotShown
from difftest.triage.classes.base import Expectation
from difftest.triage.confirm import Confirmer, main
from difftest.triage.expectation import expectation_of_finding, observe
from difftest.triage.folder import DOCUMENT
from difftest.triage.reduce import reduce
from generator.strategy import GeneratedTest
from tests.difftest.hunts import found_by, summary_of

TEXT = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n"
Fake = Callable[..., Solver]
Make = Callable[..., GeneratedTest]

CRASHER = """
if 'boom' in text: say('ASSERTION VIOLATION', 'File: ../src/a.cpp', 'Line: 12', 'x'); sys.exit(114)
if 'bang' in text: say('ASSERTION VIOLATION', 'File: ../src/b.cpp', 'Line: 12', 'x'); sys.exit(114)
say('sat')
"""


def shows(expected: Expectation, text: str) -> bool:
    with Confirmer(expected) as confirmer:
        fast = confirmer(text)
        assert confirmer.fresh(text) == fast
        return fast


def test_a_crash_must_be_in_the_same_place(fake: Fake) -> None:
    expected = observe(TEXT + "; boom", [fake(CRASHER)])
    assert (expected.finding_class, expected.location) == ("crash", "a.cpp:12")
    assert shows(expected, "(check-sat); boom")
    assert not shows(expected, "(check-sat); bang")
    assert not shows(expected, "(check-sat)")
    assert not shows(expected, "; boom")


def test_a_disagreement_must_be_the_same_one(fake: Fake) -> None:
    one = fake("say('unsat' if 'swap' in text else 'sat')", "one")
    two = fake("say('unsat' if 'both' in text or not 'swap' in text else 'sat')", "two")
    expected = observe(TEXT, [one, two])
    assert dict(expected.answers) == {"one": "sat", "two": "unsat"}
    assert shows(expected, "(check-sat)")
    assert not shows(expected, "(check-sat); swap")
    assert not shows(expected, "(check-sat); swap both")


def test_what_a_refusal_brings_about_does_not_count(fake: Fake) -> None:
    honest = fake("say('sat')", "honest")
    picky = fake(
        "say('(error \"line 1 column 2: unknown constant x\")') if 'declare' not in text else None\n"
        "say('unsat')",
        "picky",
    )
    expected = observe(TEXT, [honest, picky])
    assert shows(expected, TEXT.replace("> x 1", "> x 2"))
    assert not shows(expected, "(assert (> x 1))(check-sat)")


def test_an_error_that_was_there_at_first_spoils_nothing(fake: Fake) -> None:
    body = "say('(error \"line 9 column 2: model is not available\")', '(error \"no z\")'); os.abort()"
    expected = observe(TEXT, [fake(body)])
    assert shows(expected, TEXT)


def test_an_answer_known_by_construction_is_confirmed_by_another_solver(fake: Fake) -> None:
    text = "(set-info :status sat)" + TEXT
    expected = observe(text, [fake("say('unsat')", "liar")])
    assert (expected.truth, [solver.name for solver in expected.references]) == ("sat", ["z3", "cvc5"])
    assert shows(expected, "(check-sat)")
    assert not shows(expected, "(assert false)(check-sat)")


def test_an_answer_that_follows_from_the_forms_of_values_needs_no_other_solver(fake: Fake) -> None:
    one, other = "(store (store x 0 1) 2 3)", "(store (store x 2 3) 0 1)"
    text = f"(declare-const x (Array Int Int))(assert (distinct {one} {other}))(check-sat)"
    expected = observe(f"(set-info :status unsat){text}", [fake("say('sat')", "liar")])
    expected = replace(expected, references=())
    assert shows(expected, text)
    assert not shows(expected, text.replace("2 3", "2 4", 1))


def test_nothing_wrong_is_said(fake: Fake) -> None:
    with pytest.raises(NotShown, match=r"nothing is wrong.*fake: sat"):
        observe(TEXT, [fake("say('sat')")])


def test_what_only_the_program_shows_is_filed_and_reduced(fake: Fake, tmp_path: Path) -> None:
    # A library may answer where the program crashes; other fuzzers run programs.
    program = fake("if '(> ' in text: os.abort()\nsay('sat')").argv
    solver = replace(find_solver("z3"), argv=program)
    assert solver.loadable is not None
    file = tmp_path / "in" / "a.smt2"
    file.parent.mkdir()
    file.write_text(TEXT.replace("(assert", "(assert (< x 5))\n(assert"))
    tests = FileTests(FoundFiles([file.parent]))
    options = HuntOptions(tmp_path / "out", stages=(Stage(5.0, 1.0),), warm=False, reduction=60.0)
    (record,) = summary_of(hunt(tests.generate(0, 1), [solver], options)).findings
    # What is left is (> 0 1), which has no theory of its own.
    assert record.key == "crash|z3|signal SIGABRT|Core"
    report = reduce(file, [solver], ddsmt=False)
    assert report.confirmed
    assert "(> " in report.text
    assert "(< " not in report.text


def test_a_text_that_names_files_is_not_run(fake: Fake, tmp_path: Path) -> None:
    expected = observe(TEXT + "; boom", [fake(CRASHER)])
    assert not shows(expected, f'(set-option :regular-output-channel "{tmp_path}/x") ; boom\n(check-sat)')
    assert not (tmp_path / "x").exists()


def test_the_command_says_it_by_its_exit_code(
    fake: Fake, make_test: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = found_by(tmp_path / "out", make_test(TEXT + "; boom"), fake(CRASHER))
    yes, no = tmp_path / "yes.smt2", tmp_path / "no.smt2"
    yes.write_text("(check-sat); boom")
    no.write_text("(check-sat)")
    assert main([str(folder), str(yes)]) == 0
    assert main([str(folder), str(no)]) == 1
    assert main(["--fresh", str(folder), str(yes)]) == 0
    assert main([str(no), str(yes)]) == 2
    assert "no finding can be read" in capsys.readouterr().err
    document = json.loads((folder / DOCUMENT).read_text())
    document["solvers"][0]["spec"] = "fake=/gone/fake"
    (folder / DOCUMENT).write_text(json.dumps(document))
    assert main([str(folder), str(yes)]) == 3
    assert "no program '/gone/fake' on this machine" in capsys.readouterr().err


def test_a_folder_that_holds_no_finding_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DifftestError, match="no finding can be read"):
        expectation_of_finding(tmp_path)


def test_a_damaged_finding_is_reported(fake: Fake, make_test: Make, tmp_path: Path) -> None:
    folder = found_by(tmp_path / "out", make_test(TEXT + "; boom"), fake(CRASHER))
    document = json.loads((folder / DOCUMENT).read_text())
    (entry,) = document["solvers"]
    for solvers, why in (
        ([], "length >= 1"),
        ([{name: value for name, value in entry.items() if name != "spec"}], "field `spec`"),
        ([{**entry, "outcome": "bang"}], "Invalid enum value 'bang'"),
        ([{**entry, "answers": None}], "Expected `array`, got `null`"),
        ([{**entry, "name": "../old"}], "matching regex"),
    ):
        (folder / DOCUMENT).write_text(json.dumps({**document, "solvers": solvers}))
        with pytest.raises(DifftestError, match=f"no finding can be read there: solvers: .*{why}"):
            expectation_of_finding(folder)
    # What another version calls otherwise is the same solver.
    renamed = {**document, "solvers": [{**entry, "name": "old"}], "guilty": "old"}
    (folder / DOCUMENT).write_text(json.dumps(renamed))
    expected = expectation_of_finding(folder)
    assert [solver.name for solver in expected.solvers] == [expected.culprit] == ["old"]


def test_the_line_may_differ_where_releases_are_compared(fake: Fake) -> None:
    body = "say('ASSERTION VIOLATION', 'File: a.cpp', 'Line: ' + str(len(text)), 'x'); sys.exit(114)"
    expected = observe(TEXT, [fake(body)])
    assert not shows(expected, "(check-sat)")
    with Confirmer(
        Expectation(expected.finding_class, expected.solvers, "fake", "a.cpp:1", exact=False)
    ) as loose:
        assert loose("(check-sat)")


def test_a_function_is_a_place_of_its_own_where_releases_are_compared(fake: Fake) -> None:
    body = "say('ERROR: AddressSanitizer: SEGV', '#0 0x1 in smt::check(int) (/z3+0x1)'); sys.exit(1)"
    expected = observe(TEXT, [fake(body)])
    assert expected.location == "smt::check"
    for location, same in (("smt::check", True), ("smt::other", False)):
        with Confirmer(
            Expectation(expected.finding_class, expected.solvers, "fake", location, exact=False)
        ) as loose:
            assert loose(TEXT) is same


def test_real_solvers_agree_so_there_is_nothing_to_confirm() -> None:
    with pytest.raises(NotShown):
        observe(TEXT, [find_solver("z3"), find_solver("cvc5")])
