"""reduce and bisect on the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from difftest import EnvironmentProblem
from difftest.triage import release_search as bisecting
from difftest.triage.folder import FindingFolder
from difftest.triage.written import Written
from solvers.report_form import Section
from tests.difftest.test_merges import finding as finding_of
from tests.exhume.test_report import finding

TEXT = "(set-logic ALL)\n(declare-const x Int)\n(assert (> x 1))\n(assert (= 3 (div x 2)))\n(check-sat)\n"


@pytest.fixture
def crasher(tmp_path: Path) -> str:
    script = tmp_path / "crasher.py"
    script.write_text(
        "import os, sys\ntext = sys.argv[-1] != '--version' and open(sys.argv[-1]).read()\n"
        "print('v1') if not text else os.abort() if '(div ' in text else print('sat')\n"
    )
    return f"crasher={sys.executable} -I -S {script}"


@pytest.fixture
def formula(tmp_path: Path) -> Path:
    file = tmp_path / "f.smt2"
    file.write_text(TEXT)
    return file


def test_a_file_is_reduced(exhume: Any, formula: Path, crasher: str) -> None:
    ended = exhume("reduce", formula, "--solver", crasher, "--no-ddsmt", "--json")
    assert ended.code == 0
    assert ended.err == ""
    document = ended.json
    assert document["class"] == "crash"
    assert document["size_before"] == len(TEXT)
    assert document["size_after"] < document["size_before"]
    assert document["confirmed"] and document["complete"] and not document["ddsmt"]
    assert formula.read_text() == TEXT
    people = exhume("reduce", formula, "--solver", crasher, "--no-ddsmt")
    assert people.code == 0
    assert "(div " in people.out
    assert f"{len(TEXT)} to {document['size_after']} bytes" in people.out


def test_a_reduction_that_was_cut_short_is_still_to_do(exhume: Any, tmp_path: Path) -> None:
    key = "invalid-model|z3|Ints|div"
    whole = finding_of(tmp_path, "a", key, key)
    cut = finding_of(tmp_path, "b", f"{key},mod", f"{key},mod")
    data = json.loads((cut / "finding.json").read_text())
    data["reduced"]["complete"] = False
    (cut / "finding.json").write_text(json.dumps(data))
    assert [FindingFolder.read(path).is_small for path in (whole, cut)] == [True, False]
    ended = exhume("triage", tmp_path)
    assert f"1 of 2 findings not fully reduced: exhume reduce --all {tmp_path}" in ended.err


def test_a_finding_says_its_solvers_itself(exhume: Any, tmp_path: Path, crasher: str) -> None:
    assert exhume("reduce", tmp_path, "--solver", crasher).code == 2
    ended = exhume("reduce", tmp_path)
    assert ended.code == 2
    assert f"{tmp_path}: no finding can be read there: it has no finding.json; name the folder" in ended.said


def test_a_file_needs_solvers_and_something_wrong(exhume: Any, formula: Path) -> None:
    assert exhume("reduce", formula).code == 2
    ended = exhume("reduce", formula, "--solver", "z3")
    assert (ended.code, f"{formula}: nothing is wrong" in ended.said) == (2, True)


def test_bisect_wants_a_finding_of_a_release(exhume: Any, tmp_path: Path) -> None:
    ended = exhume("bisect", tmp_path)
    assert (ended.code, "no finding can be read" in ended.said) == (2, True)


def test_bisect_shows_what_it_found(exhume: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = bisecting.BisectReport(
        "z3-2.0", "2.0", "original.smt2", "1.0", True, "2.0", "3.0",
        (("1.0", bisecting.State.AFFECTED), ("2.0", bisecting.State.AFFECTED), ("3.0", bisecting.State.FREE)),
    )  # fmt: skip
    monkeypatch.setattr("exhume.commands.reduce.bisect", lambda *_, **__: report)
    assert exhume("bisect", tmp_path, "--json").json["first_fixed"] == "3.0"
    shown = exhume("bisect", tmp_path).out
    assert "first affected release: 1.0 or earlier (the oldest release that runs here)" in shown
    assert "first fixed release: 3.0" in shown


def test_no_network_is_exit_code_3(exhume: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise EnvironmentProblem("no network")

    monkeypatch.setattr("exhume.commands.reduce.bisect", fails)
    ended = exhume("bisect", tmp_path)
    assert (ended.code, ended.said) == (3, "exhume: no network")


def test_a_finding_without_a_known_culprit_is_not_bisected(exhume: Any, tmp_path: Path) -> None:
    z3 = {"name": "z3", "spec": "z3", "family": "z3"}
    mine = {"name": "mine", "spec": "mine=x", "family": "other"}
    finding(tmp_path, 1, solvers=[z3, mine], guilty=None)
    ended = exhume("bisect", "--all", tmp_path)
    assert (ended.code, "1 not: which solver is wrong is not known" in ended.err) == (0, True)
    assert "not bisected" not in exhume("triage", tmp_path).err
    finding(tmp_path, 1, solvers=[z3 | {"spec": "z3==4.8.5"}, mine], guilty=None)
    assert "1 of 1 findings not bisected" in exhume("triage", tmp_path).err


def test_a_build_of_ones_own_is_reported_as_its_solver_and_has_no_releases(
    exhume: Any, formulas: Path, tmp_path: Path
) -> None:
    build = tmp_path / "build"
    build.mkdir()
    program = build / "z3"
    program.write_text(
        "#!/bin/sh\ncase $1 in --version) echo Z3 version 9.9.9;; esac\n"
        "case $(cat $2) in *'> x'*) kill -SEGV $$;; esac\necho sat\n"
    )
    program.chmod(0o755)
    out = tmp_path / "out"
    spec = f"nightly={program} smt.arith.solver=2"
    assert exhume("replay", formulas / "1014" / "a.smt2", "--solver", spec, "--out", out).code == 1
    ended = exhume("bisect", "--all", out)
    assert "worked on 0 of 1 finding; 1 not: a command line has no releases" in ended.err
    ended = exhume("triage", out)
    assert "not bisected" not in ended.err
    (folder,) = (out / "findings").iterdir()
    report = Written.of((folder / "report.md").read_text("utf-8"))
    assert report.title.startswith("z3: ")
    assert report.section(Section.COMMAND) == "`z3 smt.arith.solver=2 original.smt2`"
    assert dict(report.facts)["Options"] == "`smt.arith.solver=2` (regular)"
    said = exhume("report", "check", out).out
    assert not any(words in said for words in ("begin the title", "a path of this machine", "exhume bisect"))
    assert exhume("report", "form", folder).out != (folder / "report.md").read_text("utf-8")
    # It is the user's program that is run again, not one on the path.
    assert exhume("report", "rerun", folder).code == 0
    transcript = FindingFolder.read(folder).transcript
    assert transcript is not None and (transcript.command, transcript.code) == (
        "z3 smt.arith.solver=2 input.smt2",
        139,
    )
    assert exhume("report", "test", folder).code == 0
