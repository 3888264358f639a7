"""Reports: the form of docs/triage.md, made from the folder alone, and nothing in it can break out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from difftest import DifftestError, HuntOptions, Solver, Stage, hunt
from difftest.triage.checking import complaints_about
from difftest.triage.facts import logic_name
from difftest.triage.folder import FindingFolder
from difftest.triage.kinds import rewrite_report, title_of
from difftest.triage.markdown import plain
from difftest.triage.reduce import reduce
from difftest.triage.written import Written, blocks_of
from generator.strategy import GeneratedTest
from smtlib.mentions import theories_in
from solvers.registry import PROFILES, form_of
from solvers.report_form import PLAIN, Part, Row, Section
from tests.difftest.hunts import summary_of

TEXT = "(declare-const x Int)\n(assert (> x 1))\n(assert (= 3 (div x 2)))\n(check-sat)\n"


def _title(folder: Path) -> str:
    return title_of(FindingFolder.read(folder))


Fake = Callable[..., Solver]
Make = Callable[..., GeneratedTest]


def write(folder: Path, formula: str = TEXT, stdout: str = "sat\n", **changes: Any) -> Path:
    """A finding's folder, an invalid model of z3 4.8.5 if nothing else is said."""
    folder.mkdir(parents=True, exist_ok=True)
    entry = {
        "name": "z3-4.8.5",
        "spec": "z3==4.8.5",
        "family": "z3",
        "version": "Z3 version 4.8.5 - 64 bit",
        "package": "z3-solver",
        "release": "4.8.5",
        "options": [],
        "command": ["/x/z3", "model_validate=true", "original.smt2"],
        "shown": "z3 model_validate=true original.smt2",
        "ending": "exit status 1",
        "outcome": "invalid-model",
        "answers": ["sat"],
        "location": None,
        "detail": '(error "line 4 column 10: an invalid model was generated")',
        "seconds": 0.1,
    }
    entry.update(changes.pop("entry", {}))
    data = {
        "schema": 1,
        "id": "0123456789ab",
        "class": "invalid-model",
        "solver": entry["name"],
        "guilty": entry["name"],
        "reason": entry["detail"],
        "check": None,
        "key": "invalid-model|z3-4.8.5|Ints",
        "theories": list(theories_in(formula)),
        "platform": "Linux x86_64",
        "solvers": [entry],
        "test": {"seed": 1, "index": 7, "strategy": "skeletons", "issues": ["z3#17"], "known": []},
        **changes,
    }
    (folder / "finding.json").write_text(json.dumps(data))
    (folder / "original.smt2").write_bytes(formula.encode("utf-8", "surrogatepass"))
    (folder / f"{entry['name']}.stdout").write_bytes(stdout.encode("utf-8", "surrogatepass"))
    (folder / f"{entry['name']}.stderr").write_text("")
    return folder


def bisect(folder: Path, first: str, fixed: str | None, tried: Mapping[str, str], **more: object) -> None:
    """Store that a finding shows from the release ``first`` on and not in ``fixed``, and what those say that
    were ``tried``.
    """
    states = [{"release": release, "state": state} for release, state in tried.items()]
    report = {"first_affected": first, "first_fixed": fixed, "tried": states, **more}
    (folder / "bisect.json").write_text(json.dumps({"complete": True, "report": report}))


TRIED = {"4.8.4": "free", "4.8.5": "affected", "4.8.6": "skipped", "4.8.7": "free"}


def section(text: str, name: str) -> str:
    """What stands in a section."""
    return Written.of(text).sections.get(name, "")


def test_a_disagreement_with_the_base_names_both_builds(tmp_path: Path) -> None:
    changes = {"class": "soundness", "oracle": "soundness", "check": 0, "guilty": None, "reason": ""}
    folder = write(
        tmp_path / "f", stdout="unsat\n", entry={**OWN, "answers": ["unsat"]}, base="z3 4.8.5", **changes
    )
    report = Written.of(rewrite_report(add_solver(folder, **OLDER, base=True)))
    assert report.rows[Row.FIRST_AFFECTED] == "Z3 version 5.4.0 - 64 bit, if the base is right"
    assert report.rows[Row.LAST_GOOD] == "z3 4.8.5 (the base, if it is right)"
    assert "4.8.5" in report.rows[Row.INSTALLED]


def test_answers_are_grouped(tmp_path: Path) -> None:
    evidence = [
        "z3-4.8.5 says sat to the formula with the model of cvc5 inserted",
        "cvc5 says unsat to the formula with the model of cvc5 inserted",
        "yices says unsat to the formula with the model of cvc5 inserted",
        "yices says unsat",
        "against z3-4.8.5: cvc5 and yices say otherwise",
    ]
    changes = {"class": "soundness", "oracle": "soundness", "check": 0, "reason": "yices refutes its model"}
    text = rewrite_report(write(tmp_path / "f", evidence=evidence, **changes))
    assert section(text, "Expected").split("\n\n")[1].split("\n") == [
        "- yices answers `unsat`",
        "- with the model of cvc5 inserted, z3 4.8.5 answers `sat`, cvc5 and yices answer `unsat`",
    ]


def facts(text: str) -> dict[str, str]:
    return dict(Written.of(text).facts)


def test_a_report_has_the_form(tmp_path: Path) -> None:
    text = rewrite_report(write(tmp_path / "f"))
    assert (tmp_path / "f" / "report.md").read_text() == text
    report = Written.of(text)
    assert report.title == "z3: invalid model on QF_LIA"
    assert report.line == "Kind: invalid model; Options: default; Theories: Ints; Language: standard"
    assert report.headings == tuple(name for name in Section if name not in (Section.STACK, Section.NOTES))
    assert report.section(Section.COMMAND) == "`z3 model_validate=true original.smt2`"
    assert "```console\n$ z3 model_validate=true original.smt2\nsat\n```\n\nExit status 1." in text
    assert report.rows[Row.INSTALLED].endswith("`pip install z3-solver==4.8.5`")
    assert report.last == "Found by exhume (skeletons)."
    # All that is left to do is to look for the releases.
    assert [one.rule for one in complaints_about(report)] == ["versions"]


def test_the_safe_mode_and_the_class_of_options_are_facts(tmp_path: Path) -> None:
    entry = {
        "name": "cvc5[fp-exp,sub-cbqi]", "spec": "cvc5[fp-exp,sub-cbqi]", "family": "cvc5", "package": "cvc5",
        "release": "1.4.2", "version": "This is cvc5 version 1.4.2", "shown": "cvc5 --fp-exp original.smt2",
        "options": ["--fp-exp", "--sub-cbqi", "--rlimit-per=9", "--check-models"], "answers": ["unsat"],
        "outcome": "ok", "ending": "exit status 0",
    }  # fmt: skip
    folder = write(
        tmp_path / "f", entry=entry, **{"class": "soundness"}, check=0, reason="a third one says so"
    )
    other = {"name": "z3", "spec": "z3", "family": "z3", "answers": ["sat"], "version": "Z3 version 5.4.0"}
    text = rewrite_report(add_solver(folder, **other))
    assert "# cvc5: wrong unsat on QF_LIA with --fp-exp --sub-cbqi\n" in text
    assert facts(text)["Options"] == "`--fp-exp` (expert), `--sub-cbqi` (regular)"
    assert facts(text)["Safe mode"] == "not known"
    assert section(text, "Expected") == "`sat`. A third one says so.\n\n- z3 5.4.0 answers `sat`"


def test_an_outvoted_answer_lists_who_answers_what(tmp_path: Path) -> None:
    changes = {"class": "soundness", "check": 0, "reason": "yices and z3-4.8.5 say otherwise"}
    entry = {**OWN, "answers": ["unsat"]}
    folder = write(tmp_path / "f", stdout="unsat\n", evidence=["yices says sat"], entry=entry, **changes)
    text = rewrite_report(add_solver(folder, **OLDER))
    assert section(text, "Expected") == "`sat`.\n\n- z3 4.8.5 and yices answer `sat`"


@pytest.mark.parametrize(
    ("formula", "options", "language"),
    [
        (TEXT, "default", "standard"),
        (
            "(check-sat-using (then simplify smt))\n",
            "tactic `(then simplify smt)` (regular)",
            "extension of z3",
        ),
        (
            "(check-sat-using ; (a\n (then simplify (or-else (try-for smt 100) qfnra)))\n"
            "(check-sat-using\n  smt :print_statistics true)\n",
            "tactic `(then simplify (or-else (try-for smt 100) qfnra))` (regular), tactic `smt` (regular)",
            "extension of z3",
        ),
        ('; (set-option :smt.arith.solver 2)\n(echo "(apply smt)")\n(check-sat)', "default", "standard"),
        ("(apply euf-completion)\n", "tactic `euf-completion` (experimental)", "extension of z3"),
        (
            f"(set-option :smt.arith.solver 2)\n(set-option :produce-models true)\n{TEXT}",
            "`(set-option :smt.arith.solver 2)` (regular)",
            "standard",
        ),
        ("(declare-const s (FiniteSet Int))\n(check-sat)\n", "default", "extension of z3"),
        ("(declare-fun set.size (Int) Int)\n(check-sat)\n", "default", "standard"),
        ("(declare-const x Int)\n(assert (= (^ x 2) 4))\n(check-sat)\n", "default", "extension of z3"),
        ("(assert (= #b1 (bvredor #b11)))\n(check-sat)\n", "default", "extension of z3"),
        ("(assert (= 0 (select ((as const (Array Int Int)) 0) 1)))\n", "default", "extension of z3"),
        ("(declare-codatatype S ((c (hd Int) (tl S))))\n(check-sat)\n", "default", "extension of z3"),
        ("(declare-const x Int)\n(assert ((_ divisible 3) x))\n(check-sat)\n", "default", "standard"),
        (
            "(declare-datatype L ((nil) (insert (head Int) (tail L))))\n"
            "(declare-const l L)\n(assert (= 1 (head (tail l))))\n(check-sat)\n",
            "default",
            "standard",
        ),
    ],
)
def test_options_in_the_formula_and_its_language_are_facts(
    tmp_path: Path, formula: str, options: str, language: str
) -> None:
    found = facts(rewrite_report(write(tmp_path / "f", formula)))
    assert (found["Options"], found["Language"]) == (options, language)


@pytest.mark.parametrize(
    ("reported", "words"),
    [
        ({}, "Z3 version 4.8.5 - 64 bit"),
        ({"commit": None}, "Z3 version 4.8.5 - 64 bit (release build, no commit printed)"),
        ({"commit": None, "release": None}, "Z3 version 4.8.5 - 64 bit (no commit printed)"),
        ({"commit": "tag 4.8.5"}, "Z3 version 4.8.5 - 64 bit, git tag 4.8.5"),
        ({"commit": "0fd2fdf", "version": "Z3 4 - build hashcode 0fd2fdf"}, "Z3 4 - build hashcode 0fd2fdf"),
    ],
)
def test_the_version_comes_with_the_commit_or_with_that_there_is_none(
    reported: dict[str, Any], words: str, tmp_path: Path
) -> None:
    assert Written.of(rewrite_report(write(tmp_path / "f", entry=reported))).rows[Row.VERSION] == words


def test_a_build_of_our_own_is_no_wheel(tmp_path: Path) -> None:
    entry = {"commit": None, "release": "4.8.5+debug.address"}
    rows = Written.of(rewrite_report(write(tmp_path / "f", entry=entry))).rows
    assert rows[Row.INSTALLED] == "built from the source package of z3-solver 4.8.5 (debug.address)"
    assert rows[Row.VERSION] == "Z3 version 4.8.5 - 64 bit (no commit printed)"


CRASH = {"class": "crash", "reason": "ASSERTION VIOLATION"}


@pytest.mark.parametrize(
    ("family", "changes", "title"),
    [
        ("z3", {**CRASH, "entry": {"location": "a.cpp:7"}}, "z3: failed assertion at a.cpp:7 on QF_LIA"),
        ("z3", {**CRASH, "entry": {"location": "smt::f"}}, "z3: crash in smt::f on QF_LIA"),
        ("z3", {**CRASH, "entry": {"detail": "signal SIGSEGV"}}, "z3: segmentation fault on QF_LIA"),
        ("yices", {"class": "invalid-model"}, "yices: invalid model on QF_LIA"),
        ("z3", {"class": "soundness", "check": 0}, "z3: wrong sat on QF_LIA"),
        ("other", {"class": "invalid-model"}, "z3: invalid model on QF_LIA"),
        (
            "other",
            {"class": "invalid-model", "entry": {"command": ["/x/z3-noodler", "original.smt2"]}},
            "z3-4.8.5: invalid model on QF_LIA",
        ),
        ("z3", {"class": "soundness", "check": 0, "guilty": None}, "z3-4.8.5: different answers on QF_LIA"),
        (
            "z3",
            {"class": "soundness", "guilty": None, "solver": "z3-5.4.0+debug+cvc5"},
            "z3-5.4.0+debug and cvc5: different answers on QF_LIA",
        ),
        ("z3", {"class": "something-new"}, "z3: something new on QF_LIA"),
        ("z3", {"key": "invalid-model|z3|Ints|div,mod"}, "z3: invalid model on QF_LIA (div, mod)"),
    ],
)
def test_titles_say_what_goes_wrong_and_where(
    tmp_path: Path, family: str, changes: dict[str, Any], title: str
) -> None:
    entry = {"family": family, **changes.get("entry", {})}
    assert _title(write(tmp_path / "f", **{**changes, "entry": entry})) == title


def test_a_title_names_the_tactic_that_the_formula_asks_for(tmp_path: Path) -> None:
    formula = TEXT.replace("(check-sat)", "(check-sat-using (then simplify nnf))")
    assert formula != TEXT
    folder = write(tmp_path / "f", formula, **CRASH, entry={"detail": "signal SIGSEGV"})
    assert _title(folder) == "z3: segmentation fault on QF_LIA with tactic (then simplify nnf)"


def transcript(folder: Path, **changes: Any) -> Path:
    """A run as a person types it, in a finding's folder."""
    kept = {"file": "original.smt2", "command": "z3 input.smt2", "printed": "", "code": 139, **changes}
    data = json.loads((folder / "finding.json").read_text())
    (folder / "finding.json").write_text(json.dumps({**data, "transcript": kept}))
    return folder


def test_a_crash_is_reported_with_its_stack(tmp_path: Path) -> None:
    folder = write(tmp_path / "f", **CRASH, entry={"detail": "signal SIGSEGV"})
    stack = ["(anonymous namespace)::tactic::reduce at t.cpp:3", "exec"]
    text = rewrite_report(transcript(folder, stack=stack))
    report = Written.of(text)
    assert report.title == "z3: segmentation fault in tactic::reduce on QF_LIA"
    assert report.section(Section.ACTUAL) == (
        "```console\n$ z3 input.smt2\n```\n\nExit status 139 (SIGSEGV)."
    )
    (block,) = blocks_of(report.section(Section.STACK))
    assert block.text == f"#0  {stack[0]}\n#1  exec"
    assert [one.rule for one in complaints_about(report)] == ["versions"]
    # One of another input is not shown.
    assert "input.smt2" not in rewrite_report(transcript(folder, file="reduced.smt2"))


def test_a_program_that_reads_the_input_is_shown(tmp_path: Path) -> None:
    reader = {"command": "python read.py input.smt2", "reader": "import cvc5\n", "instead": "cvc5 input.smt2"}
    text = rewrite_report(transcript(write(tmp_path / "f"), code=0, printed="sat", **reader))
    command = section(text, "Command")
    assert command.startswith("`python read.py input.smt2`\n\n") and "`cvc5 input.smt2`" in command
    assert [block.text for block in blocks_of(command)] == ["import cvc5"]
    assert section(text, "Actual") == "```console\n$ python read.py input.smt2\nsat\n```"


def test_evidence_and_what_it_is_about_are_reported(tmp_path: Path) -> None:
    reason = "cvc5 refutes the model"
    entry = {"name": "cvc5", "spec": "cvc5", "family": "cvc5", "version": "cvc5 1.4.2"}
    reported = {
        "oracle": "model-cross-check",
        "reason": reason,
        "evidence": [f"against cvc5: {reason}", "z3 says `unsat` to it", "cvc5 says sat to related.smt2"],
    }
    folder = write(tmp_path / "f", entry=entry, safe_mode=False, **reported)
    (folder / "with-model.smt2").write_text("(assert (= x 7))\n")
    (folder / "related.smt2").write_text("(assert false)\n")
    expected = section(rewrite_report(folder), "Expected")
    assert expected.startswith(
        "A model that satisfies the assertions. cvc5 1.4.2 refutes the model.\n\n- z3 says `unsat` to it\n"
        "- cvc5 1.4.2 says sat to script 1 made from it\n"
    )
    assert "The formula with the model inserted:\n\n```smt2\n(assert (= x 7))" in expected
    assert "Script 1 made from it:\n\n```smt2\n(assert false)" in expected


def add_solver(folder: Path, **entry: Any) -> Path:
    """One more solver in a finding's folder, the first one's entry but for ``entry``."""
    data = json.loads((folder / "finding.json").read_text())
    data["solvers"].append({**data["solvers"][0], **entry})
    (folder / "finding.json").write_text(json.dumps(data))
    (folder / f"{entry['name']}.stdout").write_text(f"{entry['answers'][0]}\n")
    return folder


OWN = {
    "name": "z3", "spec": "z3", "version": "Z3 version 5.4.0 - 64 bit", "shown": "z3 original.smt2",
    "ending": "exit status 0", "outcome": "ok", "detail": "", "seconds": 6.6,
}  # fmt: skip
OLDER = {
    "name": "z3-4.8.5", "spec": "z3==4.8.5", "version": "Z3 version 4.8.5 - 64 bit", "answers": ["sat"],
    "seconds": 0.12,
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "own", "kind", "expected"),
    [
        (
            {"class": "slowdown", "reason": "6.6 s (ok); z3-4.8.5 takes 0.12 s"},
            "sat",
            "performance",
            "`sat`, in about the time that `z3-4.8.5` takes: 0.12 s instead of 6.60 s.",
        ),
        (
            {"class": "incompleteness", "oracle": "incompleteness", "check": 0, "reason": "old said sat"},
            "unknown",
            "incompleteness",
            "`sat`, as `z3-4.8.5` answers.\n\n- z3 4.8.5 answers `sat`",
        ),
        (
            {"class": "soundness", "oracle": "soundness", "check": 0, "reason": "cvc5 says otherwise"},
            "unsat",
            "wrong answer",
            "`sat`. cvc5 says otherwise.\n\n- z3 4.8.5 answers `sat`",
        ),
        (
            {"class": "soundness", "oracle": "soundness", "check": 0, "guilty": None, "reason": ""},
            "unsat",
            "wrong answer",
            "One answer; which one is right is not known (z3 5.4.0 `unsat`, z3 4.8.5 `sat`).",
        ),
    ],
)
def test_two_releases_of_one_solver_are_distinguished(
    tmp_path: Path, changes: dict[str, Any], own: str, kind: str, expected: str
) -> None:
    folder = write(tmp_path / "f", stdout=f"{own}\n", entry={**OWN, "answers": [own]}, **changes)
    text = rewrite_report(add_solver(folder, **OLDER))
    assert facts(text)["Kind"] == kind
    assert section(text, "Expected").startswith(expected)
    (block,) = blocks_of(section(text, "Actual"))
    both = changes.get("guilty", "z3") is None
    command = "$ z3 original.smt2"
    of_both = f"{command}  # z3 5.4.0\n{own}\n{command}  # z3 4.8.5\nsat"
    assert block.text == (of_both if both else f"{command}\n{own}")


@pytest.mark.parametrize(
    ("follows", "kind", "expected"),
    [
        (
            "sat",
            "weakened",
            "`sat`: the formula that it was weakened from is satisfiable, and a model of that one is one of"
            " this.",
        ),
        (
            "unsat",
            "strengthened",
            "`unsat`: the formula that it was strengthened from is unsatisfiable, and a model of this would"
            " be one of that.",
        ),
    ],
)
def test_an_answer_that_follows_is_expected(tmp_path: Path, follows: str, kind: str, expected: str) -> None:
    reason = f"it says {follows} to the formula that this one was {kind} from, and unknown to this one"
    reported = {"class": "incompleteness", "oracle": "implication", "reason": reason, "evidence": [reason]}
    folder = write(tmp_path / "f", check=0, entry={**OWN, "answers": ["unknown"]}, **reported)
    (folder / "parent.smt2").write_text("(check-sat)\n")
    beside = "The formula that it was made from:\n\n```smt2\n(check-sat)\n```"
    assert section(rewrite_report(folder), "Expected") == f"{expected}\n\n{beside}"
    # What a reduction left that was not confirmed does not belong to the formula that is shown.
    (folder / "reduced-parent.smt2").write_text("(exit)\n")
    assert section(rewrite_report(folder), "Expected") == f"{expected}\n\n{beside}"


@pytest.mark.parametrize(
    ("family", "culprit", "reported", "words"),
    [
        ("cvc5", "s", {"safe_mode": True}, "affected"),
        ("cvc5", "s", {"safe_mode": False}, "not affected"),
        ("cvc5", "s", {"safe_mode": False, "safe_mode_refuses": "no sets"}, "refused"),
        ("cvc5", "s", {"safe_mode": None}, "not known"),
        ("cvc5", None, {"safe_mode": True}, "affected"),
        # What is said of the original is not said of the formula that is shown.
        (
            "cvc5",
            "s",
            {"safe_mode": True, "reduced": {"safe_mode": False, "confirmed": True, "size_before": 9}},
            "not affected",
        ),
        ("cvc5", "s", {"safe_mode": True, "reduced": {"confirmed": True, "size_before": 9}}, "not known"),
        ("z3", "s", {"safe_mode": True}, None),
    ],
)
def test_each_finding_of_cvc5_says_what_is_known_of_its_safe_mode(
    tmp_path: Path, family: str, culprit: str | None, reported: dict[str, Any], words: str | None
) -> None:
    if "reduced" in reported:
        reported["reduced"]["size_after"] = 5
    folder = write(tmp_path / "f", entry={"name": "s", "family": family}, **{**reported, "guilty": culprit})
    (folder / "reduced.smt2").write_text("(check-sat)\n")
    assert facts(rewrite_report(folder)).get("Safe mode") == words


def test_only_issues_that_are_like_the_shown_formula_are_named(tmp_path: Path) -> None:
    def like(number: int, likeness: str, *operators: str) -> dict[str, Any]:
        both = f", both with {', '.join(f'`{one}`' for one in operators)}" if operators else ""
        why = f"a formula like it, crash (likeness {likeness}{both})"
        return {"issue": f"z3#{number}", "why": why, "score": 0.5, "title": "T", "url": ""}

    near = [like(1, "0.56", "div"), like(2, "0.56", "str.substr"), like(3, "0.25", "div"), like(4, "0.90")]
    near.append({**like(5, "0.30", "mod"), "why": f"crash in the same file; {near[1]['why']}"})
    text = rewrite_report(write(tmp_path / "f", resembles=near))
    assert [n for n in range(1, 6) if f"z3#{n}" in section(text, Section.NOTES)] == [1, 4, 5]


def test_a_title_names_a_tactic_once(tmp_path: Path) -> None:
    formula = "(declare-const x Int)\n(assert (> x 1))\n(apply qe_rec)\n"
    folder = write(tmp_path / "f", formula, key="invalid-model|z3|Ints|apply qe_rec")
    assert _title(folder) == "z3: invalid model on QF_LIA (apply qe_rec)"


def test_a_reduced_and_bisected_finding_says_so(tmp_path: Path) -> None:
    near = {"why": "crash in the same file", "score": 0.6, "title": "A title"}
    resembles = [
        {"issue": "z3#9", "url": "https://github.com/Z3Prover/z3/issues/9", **near},
        # Nobody else can open this one.
        {"issue": "exhume/starter#3", "url": "https://example.invalid/exhume/starter/issues/3", **near},
    ]
    reduced = {
        "confirmed": True, "size_before": 90, "size_after": 30, "theories": ["Reals"],
        "options": {"z3-4.8.5": ["model_validate=true"]},
        "runs": {"z3-4.8.5": {"shown": "z3 model_validate=true reduced.smt2", "ending": "exit status 1"}},
    }  # fmt: skip
    folder = write(tmp_path / "f", reduced=reduced, resembles=resembles)
    (folder / "reduced.smt2").write_text("(assert (= 1.0 (/ 1.0 0.0)))\n(check-sat)\n")
    (folder / "z3-4.8.5.reduced.stdout").write_text("sat\nshort\n")
    bisect(folder, "4.8.5", "4.8.7", TRIED, since_the_oldest=False, last_affected="4.8.5")
    text = rewrite_report(folder)
    assert "QF_LRA" in _title(folder)
    assert "(/ 1.0 0.0)" in text and "(div x 2)" not in text
    assert "$ z3 model_validate=true reduced.smt2\nsat\nshort" in text
    rows = Written.of(text).rows
    assert [rows.get(row) for row in (Row.FIRST_AFFECTED, Row.LAST_GOOD, Row.FIXED, Row.NEWEST)] == [
        *("4.8.5", "4.8.4", "4.8.7"), None,
    ]  # fmt: skip
    assert section(text, "Notes") == "- Z3Prover/z3#9: crash in the same file"


def test_it_stands_on_what_is_there(tmp_path: Path) -> None:
    """A folder of an older exhume, with files missing and others broken, still gives a report."""
    folder = write(tmp_path / "f")
    data = json.loads((folder / "finding.json").read_text())
    for key in ("family", "shown", "ending", "options", "package", "release", "version"):
        del data["solvers"][0][key]
    for key in ("platform", "test", "theories"):
        del data[key]
    data["transcript"] = {"file": 7}
    (folder / "finding.json").write_text(json.dumps(data))
    (folder / "bisect.json").write_text("{")
    (folder / "z3-4.8.5.stdout").unlink()
    text = rewrite_report(folder)
    assert "# z3: invalid model on QF_UF" in text
    assert "$ /x/z3 model_validate=true original.smt2" in text
    with pytest.raises(DifftestError, match="no finding can be read"):
        rewrite_report(tmp_path)


HOSTILE = (
    "```\n<script>alert(1)</script>\n````\n# Not a heading\n",
    "<!-- -->\n--> <img src=x onerror=alert(1)>\n",
    "~~~\n\x1b[31m\x00\r@everyone ](http://example.invalid)\n",
)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_gets_out_of_its_code_block(tmp_path: Path, hostile: str) -> None:
    entry = {
        "detail": hostile,
        "location": hostile,
        "version": hostile,
        "ending": hostile,
        "release": hostile,
        "options": [hostile],
    }
    folder = write(
        tmp_path / "f",
        formula=hostile,
        stdout=hostile,
        entry=entry,
        **{"class": "crash"},
        reason=hostile,
        platform=hostile,
        resembles=[{"issue": hostile, "why": hostile, "score": 1, "title": hostile}],
        evidence=[hostile],
    )
    kept = {"command": hostile, "printed": hostile, "reader": hostile, "instead": hostile, "stack": [hostile]}
    for text in (rewrite_report(folder), rewrite_report(transcript(folder, **kept))):
        tokens = MarkdownIt("commonmark").parse(text)
        assert [token.tag for token in tokens if token.type == "heading_open"].count("h1") == 1
        assert [token.content for token in tokens if token.type == "html_block"] == []
        inline = [child for token in tokens for child in token.children or () if child.type == "html_inline"]
        assert inline == []
        assert not re.search(r"[\x00\x1b\r]", text)


@given(said=st.text("`\\<a>! -", max_size=20))
@example("\\`<a>`")
@example("`` ```<a>` ")
@example("a`b")
def test_prose_holds_no_tag_whatever_code_follows(said: str) -> None:
    (_, inline, _) = MarkdownIt("commonmark").parse(f"Said: {plain(said)} `<a>`")
    assert [child.content for child in inline.children or () if child.type == "html_inline"] == []


@given(formula=st.text(max_size=60), printed=st.text(max_size=60))
def test_any_text_is_printed_whole(
    tmp_path_factory: pytest.TempPathFactory, formula: str, printed: str
) -> None:
    folder = write(tmp_path_factory.mktemp("f"), formula=formula, stdout=printed)
    text = rewrite_report(folder)
    tokens = MarkdownIt("commonmark").parse(text)
    fences = {token.info: token.content for token in tokens if token.type == "fence"}
    assert set(fences) == {"smt2", "console"}
    # What is read back is what Markdown shows.
    assert Written.of(text).input.text == fences["smt2"].removesuffix("\n")


def test_long_texts_are_cut_and_said_to_be(tmp_path: Path) -> None:
    long = "(assert true)\n" * 3_000
    text = rewrite_report(write(tmp_path / "f", formula=long, stdout="x" * 9_000 + "\nline\n" * 500))
    assert len(text) < 40_000
    assert "attach `original.smt2`" in text
    assert re.search(r"\.\.\. \(\d+ more lines\)", text)


def test_the_header_of_a_test_is_not_reported(tmp_path: Path) -> None:
    text = rewrite_report(write(tmp_path / "f", f"; exhume 0.1.0 seed 1\n; issues z3#17\n{TEXT}; kept\n"))
    assert Written.of(text).input.text == f"{TEXT}; kept"


def test_every_field_of_a_form_is_filled_from_a_report() -> None:
    for profile in PROFILES.values():
        parts = {part for group in profile.tracker.fields.values() for part in group}
        if parts:
            assert {*Section} - {Section.VERSIONS, Section.COMMAND, Section.EXPECTED} <= parts, profile.family
            assert {Row.VERSION, Row.PLATFORM, Row.INSTALLED, Row.FIRST_AFFECTED} <= parts, profile.family
    assert form_of("z3").repository == "Z3Prover/z3"
    assert Part.CATEGORY in form_of("z3").fields["Bug Category"]
    assert form_of("mine") is PLAIN and form_of(None) is PLAIN


@pytest.mark.parametrize(
    ("found", "name"),
    [
        (["Core"], "QF_UF"),
        (["ArraysEx", "FixedSizeBitVectors", "UF"], "QF_AUFBV"),
        (["Ints", "Reals", "Nonlinear"], "QF_NIRA"),
        (["Ints", "UnicodeStrings"], "QF_SLIA"),
        (["Quantifiers", "UF", "Datatypes", "Ints"], "UFDTLIA"),
        (["Quantifiers"], "UF"),
        (["Sets"], "sets"),
        (["Reals", "Transcendental"], "QF_NRA"),
        (["Sequences", "Ints"], "QF_LIA with sequences"),
        (["FloatingPoint", "FixedSizeBitVectors"], "QF_BVFP"),
    ],
)
def test_logics_are_called_by_the_names_that_people_use(found: list[str], name: str) -> None:
    assert logic_name(found) == name


@pytest.mark.thorough
def test_a_hunt_and_a_reduction_write_it(tmp_path: Path, fake: Fake, make_test: Make) -> None:
    honest = fake("say('sat')", "honest")
    liar = fake("say('unsat' if '(div ' in text else 'sat')", "liar")
    options = HuntOptions(out=tmp_path / "out", stages=(Stage(10.0, 1.0),), reduction=0)
    known = make_test(TEXT, known=("sat",))
    (record,) = summary_of(hunt([known], [honest, liar], options)).findings
    assert record.finding_class == "soundness"
    first = (record.path / "report.md").read_text()
    assert "# liar: wrong unsat on QF_LIA" in first
    assert "(> x 1)" in first
    reduce(record.path, seconds=60, ddsmt=False)
    again = (record.path / "report.md").read_text()
    assert "(> x 1)" not in again and "(div " in again
    assert "input.smt2\nunsat" in again
