"""regress: what the base shows, too, is not reported; what is new is, and everything is counted."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from difftest.campaign.stored import read_campaign
from difftest.directed.direction import Direction
from difftest.triage.folder import FindingFolder
from difftest.triage.written import Written
from solvers.report_form import Row
from tests.once import made_once

CRASH = (
    "if '{}' in text:\n"
    "    print('ASSERTION VIOLATION\\nFile: ../src/ast/{}.cpp\\nLine: 7')\n"
    "    sys.stdout.flush()\n"
    "    os.kill(os.getpid(), signal.SIGABRT)\n"
)
SAT = "say(*['sat'] * text.count('(check-sat)'))"


ONE = ("--strategy", "opfuzz")
"""A single strategy: to make all takes seconds, and only known formulas are looked at."""


@pytest.fixture
def small(exhume: Any, formulas: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A learned corpus of three formulas."""

    def make(folder: Path) -> None:
        corpus = folder / "small.duckdb"
        assert exhume("import", formulas, "--corpus", corpus).code == 0
        assert exhume("learn", "--corpus", corpus, "--min-support", 1).code == 0

    made = made_once(tmp_path_factory, "small-regress", make)
    return Path(shutil.copy(made / "small.duckdb", tmp_path / "small.duckdb"))


def test_only_what_the_base_does_not_show_is_reported(
    exhume: Any, fake: Callable[[str, str], str], small: Path, formulas: Path, tmp_path: Path
) -> None:
    # In the three formulas: x > 3 is new, y > 4 old, z > 5 fixed.
    base = fake("before", CRASH.format("> y 4", "old") + CRASH.format("> z 5", "gone") + SAT)
    new = fake("after", CRASH.format("> y 4", "old") + CRASH.format("> x 3", "new") + SAT)
    command = ("regress", "--base", base, "--new", new, "--corpus", small, "--out", tmp_path / "out", *ONE)
    ended = exhume(*command, "--tests", 3, "--json")
    assert ended.code == 1, ended.err
    document = ended.json
    assert (document["base"], document["new"], document["tests"]) == (base, new, 3)
    assert document["not_new"] == {"crash": 1}
    assert document["only_in_base"] == {"crash": 1}
    (gone,) = document["only_in_base_tests"]
    assert gone.startswith("z3#1014 (test ")
    (finding,) = document["findings"]
    assert (finding["class"], finding["solver"], finding["key"]) == (
        "crash",
        "after",
        "crash|after|new.cpp:7",
    )
    found = FindingFolder.read(Path(finding["path"]))
    assert found.strategy == "replay"
    # What regress measured stands in the report.
    rows = Written.of((found.path / "report.md").read_text("utf-8")).rows
    versions = {entry["name"]: entry["version"] for entry in found.solvers} | {"before": found.data["base"]}
    assert rows[Row.LAST_GOOD] == f"{versions['before']} (does not show it)"
    assert rows[Row.FIRST_AFFECTED].startswith(versions["after"])
    assert [arm.strategy for arm in read_campaign(tmp_path / "out").arms if arm.tests] == ["replay"]
    resumed = exhume("hunt", "--resume", "--out", tmp_path / "out")
    assert resumed.code == 2 and "repeat its own command to resume it" in resumed.err
    # Once more with the same folder: nothing is done twice.
    again = exhume(*command, "--tests", 3)
    assert again.code == 1
    assert "1 finding" in again.out
    assert "also in before: 1; only in before (fixed, or hidden): 1\n" in again.out


@pytest.mark.thorough
def test_the_files_of_a_folder_come_first_and_answers_count(
    exhume: Any, yes: str, fake: Callable[[str, str], str], small: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "regressions"
    folder.mkdir()
    (folder / "one.smt2").write_text("(declare-const w Int)\n(assert (> w 9))\n(check-sat)\n")
    new = fake("after", "say('unsat' if '> w 9' in text else 'sat')")
    command = ("regress", "--base", yes, "--new", new, "--corpus", small, "--regressions", folder, *ONE)
    ended = exhume(*command, "--tests", 1, "--out", tmp_path / "out", "--json")
    assert ended.code == 1
    (finding,) = ended.json["findings"]
    assert finding["class"] == "soundness"
    found = FindingFolder.read(Path(finding["path"]))
    assert Path(found.data["test"]["origin"]).name == "one.smt2"
    assert [bool(entry.get("base")) for entry in found.solvers] == [False, True]


def test_files_that_only_the_new_build_refuses_are_a_regression(
    exhume: Any, yes: str, fake: Callable[[str, str], str], small: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "regressions"
    folder.mkdir()
    (folder / "one.smt2").write_text("(declare-const w Int)\n(assert (> w 9))\n(check-sat)\n")
    (folder / "two.smt2").write_text("(declare-const w Int)\n(assert (< w 9))\n(check-sat)\n")
    strict = "print('(error \"unknown symbol\")' if {} in text else 'sat')"
    new = fake("after", strict.format("'> w 9'"))
    command = ("regress", "--base", yes, "--corpus", small, "--regressions", folder, *ONE)
    ended = exhume(*command, "--new", new, "--tests", 3, "--out", tmp_path / "out")
    assert ended.code == 1
    refused = f"refuses: {folder / 'one.smt2'}\n"
    assert re.search(rf"^1 file that \w+ accepts and after {refused}", ended.out, re.MULTILINE)
    assert "no findings" in ended.out
    assert "not run yet: 2 known formulas; repeat the command with more --tests to run them" in ended.out
    again = exhume(*command, "--new", new, "--tests", 3, "--out", tmp_path / "out", "--json").json
    assert again["only_new_refuses_files"] == [str(folder / "one.smt2")]
    assert again["only_new_refuses_tests"] == []
    # The files for continuous integration and the page say why the job failed.
    files = {kind: tmp_path / f"found.{kind}" for kind in ("sarif", "junit", "summary")}
    options = [word for kind, file in files.items() for word in (f"--{kind}", file)]
    assert exhume("report", tmp_path / "out", "--out", tmp_path / "page.html", *options).code == 0
    (result,) = json.loads(files["sarif"].read_text())["runs"][0]["results"]
    assert result["ruleId"] == "refused" and result["message"]["text"].endswith("/one.smt2")
    suite = ElementTree.parse(files["junit"]).find("testsuite")
    assert suite is not None and suite.get("failures") == "1"
    for file in (files["summary"], tmp_path / "page.html"):
        text = file.read_text()
        assert "1 file that only the new build refuses" in text and "one.smt2" in text
    # Other formulas are named and do not fail a run; what the base refuses, too, is no news.
    new = fake("after", strict.format("'y 4'"))
    ended = exhume(*command, "--new", new, "--tests", 5, "--out", tmp_path / "other", "--json")
    assert ended.code == 0
    (refused,) = ended.json["only_new_refuses_tests"]
    assert refused.startswith("z3#1014 (test ")
    both = fake("before", strict.format("'> w 9'"))
    command = ("regress", "--base", both, *command[3:], "--new", fake("after", strict.format("'> w 9'")))
    ended = exhume(*command, "--tests", 1, "--out", tmp_path / "both")
    assert "not run yet: 1 file; repeat the command with more --tests to run it" in ended.out
    ended = exhume(*command, "--tests", 2, "--out", tmp_path / "both")
    assert (ended.code, "refuses:" in ended.out) == (0, False)
    ended = exhume(*command, "--tests", 5, "--out", tmp_path / "both", "--json")
    assert ended.json["left"] == {"files": 0, "known_formulas": 0}


@pytest.mark.thorough
def test_generated_tests_follow_and_nothing_new_is_code_0(
    exhume: Any, yes: str, fake: Callable[[str, str], str], small: Path, tmp_path: Path
) -> None:
    same = fake("after", SAT)
    command = ("regress", "--base", yes, "--new", same, "--corpus", small, "--out", tmp_path / "out")
    ended = exhume(*command, "--tests", 6, "--json")
    assert ended.code == 0
    counts = {row["name"]: row["tests"] for row in ended.json["strategies"]}
    assert counts.pop("replay") == 3
    assert sum(counts.values()) == 3
    assert counts.keys() > {"skeletons", "opfuzz"}
    assert "strategy optimise is left out: its tests are for z3 only" in ended.err


@pytest.mark.thorough
def test_formulas_that_the_difference_of_the_sources_can_touch_come_first(
    exhume: Any,
    fake: Callable[[str, str], str],
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scored = []
    plain = Direction.score

    def score(self: Direction, text: str) -> float:
        scored.append(text)
        return plain(self, text)

    monkeypatch.setattr(Direction, "score", score)
    base, new = fake("z3-before", SAT), fake("z3-after", CRASH.format("(select", "touched") + SAT)
    for name, text in (("before", "x"), ("after", "y")):
        inner = tmp_path / name / "src" / "smt"
        inner.mkdir(parents=True)
        (inner / "theory_array.cpp").write_text(f"void mk_select() {{ {text}(); }}\n")
    folder = tmp_path / "regressions"
    folder.mkdir()
    (folder / "a.smt2").write_text("(declare-const b Bool)\n(assert b)\n(check-sat)\n")
    array = "(declare-const m (Array Int Int))\n(assert (= (select m 1) 2))\n(check-sat)\n"
    (folder / "b.smt2").write_text(array)
    several = ("--strategy", "skeletons,opfuzz,typefuzz")
    command = ("regress", "--base", base, "--new", new, "--corpus", small, "--regressions", folder, *several)
    sources = ("--base-sources", tmp_path / "before", "--new-sources", tmp_path / "after")
    ended = exhume(*command, *sources, "--tests", 1, "--out", tmp_path / "out", "--json")
    assert ended.code == 1, ended.err
    assert [finding["key"] for finding in ended.json["findings"]] == ["crash|z3-after|touched.cpp:7"]
    found = ended.json["directed"]
    assert (found["functions"], found["files"]) == (1, 1)
    assert (found["operators"], found["theories"]) == (["select"], ["ArraysEx"])
    assert 0 < found["formulas_first"] < found["formulas"]
    # Many strategies draw from the same seeds, each of which has its score once.
    assert len(scored) == len(set(scored)) > 0
    assert "directed: 1 function changed in 1 file (smt/theory_array.cpp 1); they name" in ended.err
    # Without sources of both, or with --undirected.
    for name, given, why in (
        ("one", sources[:2], f"nothing says where the sources of {new} are"),
        ("both", (*sources, "--undirected"), "--undirected is given"),
        ("none", (), "no sources are named; --directed fetches those of releases"),
    ):
        ended = exhume(*command, *given, "--tests", 1, "--out", tmp_path / name, "--json")
        assert ended.code == 0 and ended.json["directed"] is None
        assert f"undirected: {why}" in ended.err


def test_a_folder_without_sources_directs_nothing(
    exhume: Any, yes: str, fake: Callable[[str, str], str], small: Path, tmp_path: Path
) -> None:
    (tmp_path / "old" / "src").mkdir(parents=True)
    (tmp_path / "old" / "src" / "a.cpp").write_text("void f() {}\n")
    (tmp_path / "wrong").mkdir()
    solvers = ("--base", yes, "--new", fake("after", SAT))
    sources = ("--base-sources", tmp_path / "old", "--new-sources", tmp_path / "wrong")
    ended = exhume(
        "regress", *solvers, *sources, *ONE, "--corpus", small, "--tests", 1, "--out", tmp_path / "o"
    )
    assert ended.code == 0
    assert f"undirected: {tmp_path}/wrong: no C++ file there; name the checkout" in ended.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--base", "z3", "--new", "cvc5"), "--base z3 and --new cvc5 are different solvers"),
        (("--base", "z3==nine", "--new", "z3"), "'nine' is not a version"),
        (
            ("--base", "{yes}", "--new", "{yes}"),
            "--base and --new are both called 'yes': name two builds with different names",
        ),
        (("--base", "z3", "--new", "{yes}", "--rlimit", "9"), "it has no option that limits work"),
        (("--base", "z3", "--new", "{yes}", "--strategy", "api"), "it has no strategy 'api'"),
        (("--base", "z3", "--new", "{yes}", "--regressions", "none-here"), "does not exist"),
        (
            ("--base", "z3", "--new", "{yes}", "--regressions", "{empty}"),
            "no .smt2 file found in {empty} (skipped: not named .smt2 1)",
        ),
    ],
)
def test_bad_input_is_one_line(
    exhume: Any, yes: str, small: Path, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    (empty / "notes.txt").write_text("no formula")
    given = [option.replace("{yes}", yes).replace("{empty}", str(empty)) for option in options]
    ended = exhume("regress", *given, "--corpus", small, "--out", tmp_path / "out")
    assert ended.code == 2
    assert said.replace("{empty}", str(empty)) in ended.err
    assert not (tmp_path / "out" / "findings").exists()
