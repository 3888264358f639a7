"""The commands bugs, on the small benchmark that comes with exhume and on planted releases."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import exhume.commands.bugs as commands
from corpus.importer import import_paths
from corpus.store import Corpus
from difftest.bugs.build import Store
from difftest.bugs.records import BUGS, BUNDLED, Benchmark
from solvers.lookup import find_solver
from solvers.running.script import Script
from tests.difftest.bugs.planted import TEXT, Planted
from tests.stored import Command


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Two formulas of z3's tracker."""
    folder = tmp_path / "formulas"
    folder.mkdir()
    for number in (1, 2):
        (folder / f"z3_{number}_0.smt2").write_text(TEXT + f"; {number}\n")
    with Corpus.open(tmp_path / "c.duckdb", write=True) as opened:
        import_paths(opened, [folder])
    return tmp_path / "c.duckdb"


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> Planted:
    """Releases of which those before 4.7 crash."""
    shelf = Planted(lambda n, _: ("crash", None) if n < 7 else ("ok", "sat"))
    monkeypatch.setattr(commands, "Shelf", lambda: shelf)
    return shelf


def test_build_list_show_export(exhume: Command, corpus: Path, planted: Planted, tmp_path: Path) -> None:
    bugs = tmp_path / "bugs"
    done = exhume("bugs", "build", "--corpus", corpus, "--out", bugs)
    assert (done.code, "2 bugs of 2 triggers" in done.out) == (0, True)
    ran = planted.ran.total()
    again = exhume("bugs", "build", "--corpus", corpus, "--out", bugs, "--json")
    assert again.json["bugs"] == [{"solver": "z3", "class": "crash", "bugs": 2}]
    assert planted.ran.total() == ran
    rows = exhume("bugs", "list", "--bugs", bugs, "--json").json
    assert list(rows[0])[:6] == ["id", "solver", "class", "last_bad", "first_good", "flaky"]
    assert {(row["last_bad"], row["first_good"]) for row in rows} == {("4.6", "4.7")}
    assert exhume("bugs", "list", "--bugs", bugs, "--class", "soundness").out.endswith("0 bugs\n")
    shown = exhume("bugs", "show", rows[0]["id"][:7], "--bugs", bugs)
    assert "last bad: z3==4.6" in shown.out and "(assert (> x 1))" in shown.out
    assert exhume("bugs", "list", "--bugs", bugs, "--unverified", "--json").json == []


def test_the_files_of_fixing_commits_are_kept(
    exhume: Command, corpus: Path, planted: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "Clones", lambda folders: Fixed())
    exhume("bugs", "build", "--corpus", corpus, "--out", tmp_path / "bugs", "--repository", tmp_path)
    rows = exhume("bugs", "list", "--bugs", tmp_path / "bugs", "--json").json
    assert [row["component"] for row in rows] == [["src/a.cpp"]] * 2


class Fixed:
    """Clones in which every bug was fixed in one file."""

    def files(self, tracker: str, solver: str, fixed_by: str | None) -> tuple[str, ...]:
        return ("src/a.cpp",)


def test_two_builds_into_one_folder(exhume: Command, corpus: Path, planted: Planted, tmp_path: Path) -> None:
    with Store(tmp_path / "bugs"):
        done = exhume("bugs", "build", "--corpus", corpus, "--out", tmp_path / "bugs")
    assert (done.code, "another build uses this folder" in done.said) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["list", "--bugs", "."], "holds no bugs.jsonl: build it with exhume bugs build"),
        (["show", "z3-nothing"], "has no bug 'z3-nothing'"),
        (["checkout", "z3-nothing", "x"], "has no bug 'z3-nothing'"),
        (["run", "z3-nothing"], "has no bug 'z3-nothing'"),
        (["build", "--corpus", "nothing.duckdb", "--out", "x"], "there is no corpus nothing.duckdb"),
    ],
)
def test_bad_input_is_one_line(
    exhume: Command, arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = exhume("bugs", *arguments)
    assert (done.code, said in done.said) == (2, True), done.err


@pytest.mark.parametrize(("option", "given"), [("--solver", "z4"), ("--class", "crsh")])
def test_a_list_says_which_name_no_bug_has(exhume: Command, option: str, given: str) -> None:
    done = exhume("bugs", "list", option, given)
    assert done.code == 0
    assert f"no bug has the {option[2:]} '{given}'; there are " in done.err


def test_triggers_without_a_pair_are_listed_by_solver(exhume: Command) -> None:
    rows = exhume("bugs", "list", "--unverified", "--json").json
    of_cvc5 = exhume("bugs", "list", "--unverified", "--solver", "cvc5", "--json").json
    assert 0 < len(of_cvc5) < len(rows)
    assert of_cvc5 == [row for row in rows if row["solver"] == "cvc5"]
    unknown = exhume("bugs", "list", "--unverified", "--solver", "z4")
    assert (unknown.code, "no trigger has the solver 'z4'; there are " in unknown.err) == (0, True)
    for option in (("--class", "crash"), ("--fixed-by", "z3==4.8.6"), ("--fixed-after", "z3==4.8.6")):
        done = exhume("bugs", "list", "--unverified", *option)
        assert (done.code, done.out, "--unverified takes only --solver" in done.err) == (2, "", True)


def test_a_list_of_no_bugs_names_no_others(exhume: Command, tmp_path: Path) -> None:
    (tmp_path / "bugs.jsonl").touch()
    done = exhume("bugs", "list", "--bugs", tmp_path, "--solver", "z3")
    assert (done.code, "there are" in done.err, "0 bugs" in done.out) == (0, False, True)


def test_a_family_without_releases_is_refused(exhume: Command, corpus: Path, tmp_path: Path) -> None:
    done = exhume("bugs", "build", "--corpus", corpus, "--out", tmp_path / "x", "--solver", "nothing")
    assert (done.code, "'nothing' has no releases" in done.err) == (2, True)


def test_the_bundled_benchmark_is_whole(exhume: Command) -> None:
    rows = exhume("bugs", "list", "--json").json
    assert len(rows) >= 60
    assert {"crash", "invalid-model", "soundness"} <= {row["class"] for row in rows}
    for bug in Benchmark(BUNDLED).bugs.values():
        assert bug.bytes == len(bug.text.encode()) and bug.licence == "MIT"
        assert {bug.last_bad, bug.first_good} <= {seen.release for seen in bug.strip}


def test_a_run_says_by_its_exit_code_whether_the_bug_shows(exhume: Command, fake: Callable[..., str]) -> None:
    bug = next(bug for bug in Benchmark(BUNDLED).bugs.values() if bug.finding_class == "soundness")
    answers = [bug.right or ""] * len(Script.of(bug.text).checks)
    right = fake("right", f"say({', '.join(map(repr, answers))})")
    answers[bug.check] = bug.wrong or ""
    wrong = fake("wrong", f"say({', '.join(map(repr, answers))})")
    nothing = fake("nothing", "say('(error \"no\")'); sys.exit(1)")
    codes = [exhume("bugs", "run", bug.id, "--solver", spec).code for spec in (wrong, right, nothing)]
    assert codes == [1, 0, 3]
    said = exhume("bugs", "run", bug.id, "--solver", wrong, "--json").json
    assert (said["id"], said["state"]) == (bug.id, "affected")


def test_verify_lists_and_marks_what_differs(
    exhume: Command, corpus: Path, planted: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bugs = tmp_path / "bugs"
    exhume("bugs", "build", "--corpus", corpus, "--out", bugs)
    monkeypatch.setattr(planted, "solver", lambda spec: find_solver("z3"))
    done = exhume("bugs", "verify", "--bugs", bugs, "--json")
    assert (done.code, done.json["verified"], len(done.json["wrong"])) == (1, 0, 2)
    marked = exhume("bugs", "verify", "--bugs", bugs, "--mark")
    assert "0 of 2 bugs verified" in marked.out
    for _ in range(2):
        assert all(json.loads(line)["flaky"] for line in (bugs / BUGS).read_text().splitlines())
        exhume("bugs", "build", "--corpus", corpus, "--out", bugs)


def test_a_checkout_runs_both_releases(
    exhume: Command, corpus: Path, planted: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bugs, folder = tmp_path / "bugs", tmp_path / "it's here"
    exhume("bugs", "build", "--corpus", corpus, "--out", bugs)
    identity = next(iter(Benchmark(bugs).bugs))
    monkeypatch.setattr(planted, "solver", lambda spec: find_solver("z3"))
    done = exhume("bugs", "checkout", identity, folder, "--bugs", bugs)
    assert sorted(file.name for file in folder.iterdir()) == ["bad", "bug.json", "formula.smt2", "good"]
    assert [Path(line).name for line in done.out.splitlines()] == sorted(
        file.name for file in folder.iterdir()
    )
    ended = subprocess.run([str(folder / "bad")], capture_output=True, text=True, check=False)
    assert ended.stdout.split() == ["sat"]
    again = exhume("bugs", "checkout", identity, folder, "--bugs", bugs)
    assert (again.code, "is not empty" in again.said) == (2, True)


def test_score_and_compare(
    exhume: Command, corpus: Path, planted: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bugs = tmp_path / "bugs"
    exhume("bugs", "build", "--corpus", corpus, "--out", bugs)
    monkeypatch.setattr(commands, "find_solver", lambda spec: find_solver("z3"))
    writes = f"open('a.smt2', 'w').write({TEXT!r})"
    for name in ("good", "bad"):
        score = ["score", "--against", "z3==4.2", "--bugs", bugs, "--time", "5s", "--out", tmp_path / name]
        done = exhume("bugs", *score, "--", sys.executable, "-I", "-S", "-c", writes)
        assert done.code == 0, done.err
        planted.did = lambda n, _: ("ok", "sat")  # the tests of the second fuzzer show nothing
    assert "0 of 2 known bugs found" in done.out
    figure = tmp_path / "plot.svg"
    compared = exhume("bugs", "compare", tmp_path / "good", tmp_path / "bad", "--svg", figure, "--json").json
    assert [row["bugs"] for row in compared["fuzzers"]] == [[2], [0]]
    assert compared["comparisons"][0]["a12"] == 1.0
    assert figure.read_text().startswith("<svg xmlns=")
    lost = exhume("bugs", "compare", tmp_path / "good", "--svg", tmp_path / "none" / "plot.svg")
    assert (lost.code, f"cannot write {tmp_path}/none/plot.svg" in lost.said) == (2, True)
    monkeypatch.chdir(tmp_path / "good")
    assert "good and bad: log-rank p " in exhume("bugs", "compare", ".", "../bad").out
    (tmp_path / "other").mkdir()
    second = shutil.copytree(tmp_path / "bad", tmp_path / "other" / "good")
    said = exhume("bugs", "compare", tmp_path / "good", second, "--json").json
    assert [row["name"] for row in said["fuzzers"]] == [str(tmp_path / "good"), str(second)]


def test_a_release_splits_the_bugs_of_its_solver(exhume: Command) -> None:
    split = [
        {row["id"] for row in exhume("bugs", "list", option, "z3==4.8.6", "--json").json}
        for option in ("--fixed-by", "--fixed-after")
    ]
    own = {row["id"] for row in exhume("bugs", "list", "--solver", "z3", "--json").json}
    assert split[0] and split[1] and not split[0] & split[1]
    assert split[0] | split[1] == own
    assert exhume("bugs", "list", "--fixed-by", "z3").code == 2
    mixed = exhume("bugs", "list", "--fixed-by", "z3==4.8.9", "--fixed-after", "cvc5==1.2.0")
    assert (mixed.code, "of the same solver" in mixed.err) == (2, True)


@pytest.mark.parametrize("spec", ["z3", "z3==4.8.5[a=1]", "mine=true"])
def test_a_score_needs_a_release(exhume: Command, spec: str, tmp_path: Path) -> None:
    done = exhume("bugs", "score", "--against", spec, "--out", tmp_path / "x", "--", "true")
    assert (done.code, "name a release" in done.said) == (2, True)


def test_an_export_is_checked_by_its_sums(exhume: Command, tmp_path: Path) -> None:
    done = exhume("bugs", "export", "--out", tmp_path / "out")
    assert (tmp_path / "out" / "SHA256SUMS").read_text() == done.out
    assert exhume("bugs", "export", "--out", tmp_path / "out").code == 2
