"""report check, form, rerun and test on the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from difftest.triage.folder import FindingFolder
from tests.difftest.test_checking import GOOD, put
from tests.difftest.test_reports import write


def test_check_warns_and_says_so_by_its_exit_code(exhume: Any, tmp_path: Path) -> None:
    good = put(tmp_path / "good", GOOD)
    assert (exhume("report", "check", good).code, exhume("report", "check", good.parent).out) == (0, "")
    bad = put(tmp_path / "bad", GOOD.replace("Kind: crash", "Kind: bad luck"))
    ended = exhume("report", "check", good, bad)
    assert ended.code == 1
    assert ended.out.startswith(f"{bad}: fact line: Kind is one of crash, wrong answer")
    assert "2 reports, 1 with problems" in ended.err
    rows = exhume("report", "check", tmp_path, "--json").json
    assert [row["file"] for row in rows] == [str(bad), str(good)]
    assert rows[0]["complaints"][0]["rule"] == "fact line"
    assert {one["rule"] for one in rows[1]["complaints"]} == {"together"}
    ended = exhume("report", "check", tmp_path / "good" / "none.md")
    assert ended.code == 2
    (tmp_path / "empty").mkdir()
    ended = exhume("report", "check", tmp_path / "empty")
    assert (ended.code, "name a report, a finding or a campaign" in ended.err) == (2, True)


def test_hostile_reports_are_checked_as_they_are(exhume: Any, tmp_path: Path) -> None:
    text = GOOD.replace("```smt2", "````smt2\n" + "(" * 20_000).replace("Stack", "\x1b[31m" + "~" * 9)
    (tmp_path / "report.md").write_bytes(text.encode() + b"\xff\x00\n```")
    ended = exhume("report", "check", tmp_path)
    assert ended.code == 1 and "\x1b" not in ended.out
    (tmp_path / "report.md").write_bytes(b"x" * ((1 << 20) + 1))
    ended = exhume("report", "check", tmp_path)
    assert (ended.code, "longer than a report may be" in ended.err) == (2, True)


def test_form_prints_the_fields_of_the_tracker(exhume: Any, tmp_path: Path) -> None:
    ended = exhume("report", "form", put(tmp_path, GOOD))
    assert ended.code == 0
    assert "### Minimal Reproduction\n\n(declare-const s" in ended.out
    tabs = '(assert (= "a\tb" "a    b"))'
    ended = exhume("report", "form", put(tmp_path, GOOD.replace("(check-sat)", f"{tabs}\n(check-sat)", 1)))
    assert tabs in ended.out, "a tab of a formula is none of its spaces"


def test_rerun_shows_what_a_person_sees(exhume: Any, fake: Callable[[str, str], str], tmp_path: Path) -> None:
    spec = fake("liar", "print('unsat', len(text))")
    command = spec.partition("=")[2]
    entry = {"name": "liar", "spec": spec, "family": "other", "shown": f"{command} original.smt2"}
    folder = write(tmp_path / "found", entry=entry)
    rows = exhume("report", "rerun", folder, "--json").json
    assert rows == [{"path": str(folder), "command": f"{command} input.smt2"}]
    size = len((folder / "original.smt2").read_text())
    assert f"$ {command} input.smt2\nunsat {size}\n" in (folder / "report.md").read_text()
    # What is not there cannot be run; the report stays.
    entry["shown"] = f"{tmp_path / 'gone'} original.smt2"
    other = write(tmp_path / "other", entry=entry)
    put(other, GOOD)
    assert exhume("report", "rerun", other, "--json").json == [{"path": str(other), "command": None}]
    assert (other / "report.md").read_text() == GOOD
    (folder / "original.smt2").unlink()
    assert exhume("report", "rerun", folder, "--json").json == [{"path": str(folder), "command": None}]


def test_a_crash_is_run_with_gdb(exhume: Any, fake: Callable[[str, str], str], tmp_path: Path) -> None:
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    spec = fake("dies", "os.abort()")
    command = spec.partition("=")[2]
    entry = {"name": "dies", "spec": spec, "family": "other", "shown": f"{command} original.smt2"}
    folder = write(tmp_path / "found", entry=entry, **{"class": "crash"})
    assert exhume("report", "rerun", folder).code == 0
    kept = FindingFolder.read(folder).transcript
    assert kept is not None and (kept.code, kept.ending) == (134, "Exit status 134 (SIGABRT).")
    # Nothing of Python and of the C library is a place of a crash.
    assert kept.stack == ()


def test_the_result_of_a_finding_has_its_place_in_the_folder(exhume: Any, tmp_path: Path) -> None:
    folder = write(tmp_path / "found")
    ended = exhume("reduce", folder, "--out", tmp_path / "small.smt2")
    assert (ended.code, "--out is only for a FILE" in ended.err) == (2, True)


FORMULA = "(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n"


@pytest.mark.parametrize(
    ("family", "options", "files", "then"),
    [
        (
            "cvc5",
            ["--sub-cbqi", "--check-models"],
            {
                "test/regress/cli/regress0/arith/issue12-wrong-unsat-qf-lia.smt2": (
                    f"; COMMAND-LINE: --sub-cbqi\n; EXPECT: sat\n{FORMULA}"
                )
            },
            "regress_0_tests",
        ),
        (
            "z3",
            ["smt.arith.solver=2", "tactic.default_tactic=(then simplify smt)"],
            {
                "regressions/smt2/12.smt2": (
                    "(set-option :smt.arith.solver 2)\n"
                    f'(set-option :tactic.default_tactic "(then simplify smt)")\n{FORMULA}'
                ),
                "regressions/smt2/12.expected.out": "sat\n",
            },
            "",
        ),
        (
            "bitwuzla",
            [],
            {
                "test/regress/solver/misc/issue12.smt2": FORMULA.replace(
                    "(check-sat)", "(set-info :status sat)\n(check-sat)"
                )
            },
            "meson.build",
        ),
    ],
)
def test_a_regression_test_has_the_layout_of_the_project(
    exhume: Any, tmp_path: Path, family: str, options: list[str], files: dict[str, str], then: str
) -> None:
    entry = {"name": family, "spec": family, "family": family, "options": options, "answers": ["unsat"]}
    header = "; exhume 0.1.0 corpus 0123456789abcdef seed 1 index 2 strategy skeletons\n; issues z3#17\n"
    folder = write(tmp_path / "found", header + FORMULA, entry=entry, check=0, **{"class": "soundness"})
    made = exhume("report", "test", folder, "--issue", 12, "--out", tmp_path / "checkout", "--json").json
    assert (made["files"], made["answers"]) == (files, ["sat"])
    assert then in made["then"]
    for path, text in files.items():
        assert (tmp_path / "checkout" / path).read_text() == text
    assert "==> " in exhume("report", "test", folder).out
    assert exhume("report", "test", folder, "--issue", "../x").code == 2


@pytest.mark.parametrize(
    ("finding_class", "said", "more", "right"),
    [("invalid-model", "sat", "", "sat"), ("incompleteness", "unknown", "(assert (< x 1))", "unsat")],
)
def test_the_answer_of_the_accused_is_wrong_only_if_the_finding_is_about_it(
    exhume: Any, tmp_path: Path, finding_class: str, said: str, more: str, right: str
) -> None:
    text = FORMULA.replace("(check-sat)", f"{more}\n(check-sat)")
    entry = {"name": "cvc5", "spec": "cvc5", "family": "cvc5", "answers": [said]}
    folder = write(tmp_path / "found", text, entry=entry, check=0, **{"class": finding_class})
    assert exhume("report", "test", folder, "--json").json["answers"] == [right]


def test_several_questions_need_the_incremental_mode(exhume: Any, tmp_path: Path) -> None:
    entry = {"name": "cvc5", "spec": "cvc5", "family": "cvc5", "answers": ["sat", "sat"]}
    text = f"{FORMULA}(assert false)\n(check-sat)\n"
    folder = write(tmp_path / "found", text, entry=entry, check=1, **{"class": "soundness"})
    (made,) = exhume("report", "test", folder, "--json").json["files"].values()
    assert made == f"; COMMAND-LINE: --incremental\n; EXPECT: sat\n; EXPECT: unsat\n{text}"


@pytest.mark.parametrize("family", ["z3", "cvc5", "bitwuzla"])
def test_of_a_script_that_prints_a_model_no_output_is_expected(
    exhume: Any, tmp_path: Path, family: str
) -> None:
    entry = {"name": family, "spec": family, "family": family, "answers": ["unsat"]}
    folder = write(
        tmp_path / "found", f"{FORMULA}(get-model)\n", entry=entry, check=0, **{"class": "soundness"}
    )
    made = exhume("report", "test", folder, "--json").json
    (text,) = made["files"].values()
    assert "EXPECT" not in text
    assert made["answers"] == (["sat"] if family == "bitwuzla" else None)


def test_each_question_has_its_answer_before_it(exhume: Any, tmp_path: Path) -> None:
    text = "(push 1) (assert false) (check-sat) (pop 1)\n(check-sat)\n; a\u2028b\x85c\n"
    entry = {"name": "bitwuzla", "spec": "bitwuzla", "family": "bitwuzla", "answers": ["sat", "sat"]}
    folder = write(tmp_path / "found", text, entry=entry, check=0, **{"class": "soundness"})
    (made,) = exhume("report", "test", folder, "--json").json["files"].values()
    stated = "(set-info :status {})\n(check-sat)"
    first, second = (stated.format(answer) for answer in ("unsat", "sat"))
    assert made == f"(push 1) (assert false) {first} (pop 1)\n{second}\n; a\u2028b\x85c\n"


def test_what_has_no_layout_is_one_clear_line(exhume: Any, tmp_path: Path) -> None:
    folder = write(tmp_path / "found", entry={"family": "yices", "name": "yices", "spec": "yices"})
    ended = exhume("report", "test", folder)
    assert (ended.code, "the layout of yices's regression tests is not known" in ended.err) == (2, True)
    data = json.loads((folder / "finding.json").read_text())
    (folder / "finding.json").write_text(json.dumps({**data, "guilty": None}))
    ended = exhume("report", "test", folder)
    assert (ended.code, "it is not known which solver is wrong" in ended.err) == (2, True)
    own = write(tmp_path / "own", entry={"family": "other", "name": "mine", "command": ["mine"]})
    ended = exhume("report", "test", own)
    assert (ended.code, "the layout of mine's regression tests is not known" in ended.err) == (2, True)
