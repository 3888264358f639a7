"""Builds from source, of a small program in the form of z3's source package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from base.errors import ExhumeError
from difftest import find_solver
from difftest.directed.coverage import formulas_running
from difftest.directed.gcov import RECORDED, counts_in
from exhume.cli import run as exhume
from solvers.builds import (
    BuildFailed,
    Flavour,
    build_checkout,
    build_release,
    find_built,
    make_flavour,
)
from solvers.errors import EnvironmentProblem, SolverMissing, UnknownSolver
from solvers.registry import PROFILES
from solvers.releases import unpack_source
from solvers.running.outcomes import Outcome, judge
from solvers.running.process import Limits, run
from solvers.running.script import Script
from solvers.sources import sources_of_program
from tests.solvers.packages import make_source_package

MISSING = [program for program in ("c++", "cc", "git") if shutil.which(program) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}")

Z3 = PROFILES["z3"]
CMAKE = """
cmake_minimum_required(VERSION 3.4)
project(small CXX)
add_executable(shell main.cpp)
set_target_properties(shell PROPERTIES OUTPUT_NAME z3)
"""
PROGRAM = """
#include <cassert>
#include <cstdio>
#include <cstring>
int main(int count, char **words) {
    if (count > 1 && !std::strcmp(words[1], "--version")) return std::puts("Z3 version 0.9.0") < 0;
    assert(count < 3);
    int *kept = new int[count];
    int behind = kept[count];
    delete[] kept;
    std::puts(behind == 42 ? "sat" : "unsat");
}
"""


def pack(folder: Path, program: str = PROGRAM, others: Mapping[str, str] | None = None) -> None:
    make_source_package(folder, {"core/CMakeLists.txt": CMAKE, "core/main.cpp": program, **(others or {})})


@pytest.fixture(autouse=True)
def package(index: Path) -> None:
    """The package is all that pip can see; the cache is empty."""
    pack(index)


@pytest.mark.thorough
def test_a_build_is_a_solver_like_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SolverMissing, match=r"exhume solvers build z3==0\.9\.0 --debug --sanitize address"):
        find_solver("z3==0.9.0+debug.address")
    assert exhume(["solvers", "build", "z3==0.9.0", "--debug", "--sanitize", "address", "--jobs", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "spec: z3==0.9.0+debug.address"
    solver = find_solver("z3==0.9.0+debug.address")
    assert (solver.family, solver.release, solver.name) == (
        "z3",
        "0.9.0+debug.address",
        "z3-0.9.0+debug.address",
    )
    # Its reports are findings, with the place in the source.
    ended = run([*solver.argv, "a.smt2"], Limits(10))
    verdict = judge(Script(b"(check-sat)\n"), ended, "z3")
    assert verdict.outcome is Outcome.CRASH and "AddressSanitizer" in verdict.detail
    assert verdict.location == "main.cpp:9", ended.stderr
    ended = run([*solver.argv, "a", "b"], Limits(10))
    assert "count < 3" in judge(Script(b"(check-sat)\n"), ended, "z3").detail
    # What is built is not built again, and leaves nothing else behind.
    (tmp_path / "index" / "z3-solver-0.9.0.tar.gz").unlink()
    build_release(Z3, "0.9.0", Flavour(debug=True, sanitizers=("address",)), 1)
    kept = {path.name for path in (tmp_path / "cache" / "builds").iterdir()}
    assert kept == {"z3-0.9.0+debug.address", ".z3-0.9.0+debug.address.lock"}


@pytest.mark.thorough
def test_an_interrupted_build_continues(tmp_path: Path, index: Path) -> None:
    pack(index, "#include <not_yet>\n")
    said = r"(?:.|\n)*The compiler has no <not_yet>: CXX names a newer one\.\nThe whole log: .*build\.log"
    with pytest.raises(BuildFailed, match=said):
        build_release(Z3, "0.9.0", Flavour(), 1)
    work = tmp_path / "cache" / "builds" / ".z3-0.9.0+source.work"
    (source,) = work.glob("source/*/core/main.cpp")
    source.write_text(PROGRAM)
    # The tools of the first time are gone, as those of another virtual environment may be.
    cache = work / "objects" / "CMakeCache.txt"
    cache.write_text(re.sub(r"(CMAKE_MAKE_PROGRAM:\w+=).*", r"\g<1>/gone/ninja", cache.read_text()))
    (index / "z3-solver-0.9.0.tar.gz").unlink()
    steps: list[tuple[int, int]] = []
    program = build_release(Z3, "0.9.0", Flavour(), 1, lambda done, total: steps.append((done, total)))
    assert steps and steps[-1][0] == steps[-1][1]
    assert subprocess.run([program, "--version"], capture_output=True, check=True).stdout.startswith(
        b"Z3 version"
    )


def test_a_checkout_is_built_as_it_is(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    (checkout / "CMakeLists.txt").write_text(CMAKE)
    (checkout / "main.cpp").write_text(PROGRAM)
    git = ["git", "-C", checkout, "-c", "user.name=a", "-c", "user.email=a@b"]
    with pytest.raises(EnvironmentProblem, match="not a git repository"):
        build_checkout(Z3, checkout, Flavour(), 1)
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"]):
        subprocess.run([*git, *words], check=True)
    commit, first = build_checkout(Z3, checkout, Flavour(coverage=True), 1)
    assert not commit.endswith("+changed")
    subprocess.run([first], check=True, capture_output=True)
    assert list(first.resolve().parents[1].rglob("*.gcda")), "the counts are written beside the object files"
    assert sources_of_program(find_solver(f"z3-{commit}={first}")) == checkout
    (checkout / "main.cpp").write_text(PROGRAM.replace("0.9.0", "0.9.1"))
    changed, second = build_checkout(Z3, checkout, Flavour(coverage=True), 1)
    assert changed == f"{commit}+changed"
    assert b"0.9.1" in subprocess.run([second, "--version"], capture_output=True, check=True).stdout
    # Built again, also where the last build was killed before its last step.
    second.parent.unlink()
    for version in ("0.9.2", "0.9.3"):
        (checkout / "main.cpp").write_text(PROGRAM.replace("0.9.0", version))
        again = build_checkout(Z3, checkout, Flavour(coverage=True), 1)
        printed = subprocess.run([again[1], "--version"], capture_output=True, check=True).stdout
        assert again == (changed, second) and version.encode() in printed
    assert {path.name for path in checkout.iterdir()} == {".git", "CMakeLists.txt", "main.cpp"}


def test_changed_checkouts_of_one_commit_are_builds_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"rev-parse": "abc", "status": " M main.cpp"}
    monkeypatch.setattr("solvers.builds._git", lambda checkout, word, *more: said[word])
    monkeypatch.setattr("solvers.builds._build", lambda profile, release, *more: Path(release))
    built = []
    for name in ("a", "b", "a"):
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "CMakeLists.txt").write_text("")
        built.append(build_checkout(Z3, tmp_path / name, Flavour(), 1)[1].name)
    assert built[0] == built[2] != built[1]
    assert built[1].startswith("git-abc-changed-") and built[1].endswith("+source")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["z3==0.9.9"], "has no z3-solver==0.9.9"),
        (["z3"], "name a release"),
        (["z3==0.9.0+debug"], "name a release"),
        (["z3[a=b]"], "name a release"),
        (["yices==2.6.4"], "cannot build it"),
        (["z3==0.9.0", "--sanitize", "thread"], "unknown sanitizer 'thread': use address or undefined"),
        (["z3@/nowhere"], "/nowhere has no CMakeLists.txt"),
    ],
)
def test_what_cannot_be_built_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exhume(["solvers", "build", *words]) not in (0, 1)
    lines = capsys.readouterr().err.splitlines()
    assert said in lines[-1]
    assert len(lines) <= 2


def test_an_unknown_kind_of_build_is_named() -> None:
    with pytest.raises(UnknownSolver, match="'fast' is not a kind of build"):
        find_built(Z3, "5.4.0+fast")
    with pytest.raises(ExhumeError, match="unknown sanitizer"):
        make_flavour(False, False, ["memory"])


def test_the_parts_of_a_label_may_stand_in_any_order(tmp_path: Path) -> None:
    program = tmp_path / "cache" / "builds" / "z3-5.4.0+debug.address" / "z3"
    program.parent.mkdir(parents=True)
    program.touch()
    assert find_built(Z3, "5.4.0+address.debug") == find_built(Z3, "5.4.0+debug.address") == program


@pytest.mark.thorough
def test_a_source_package_stays_in_its_folder(tmp_path: Path, index: Path) -> None:
    pack(index, others={"../../../outside": "x"})
    with pytest.raises(EnvironmentProblem, match="outside"):  # pip sees it first
        build_release(Z3, "0.9.0", Flavour(), 1)
    with pytest.raises(SolverMissing, match="refusing to unpack"):
        unpack_source(index / "z3-solver-0.9.0.tar.gz", tmp_path / "unpacked" / "deep")
    assert not list(tmp_path.rglob("outside"))
    (index / "z3-solver-0.9.0.tar.gz").write_bytes(b"not an archive")
    with pytest.raises(EnvironmentProblem):
        build_release(Z3, "0.9.0", Flavour(), 1)


def test_without_a_compiler_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match=r"needs cmake, which is not on the path \(pip install"):
        build_release(Z3, "0.9.0", Flavour(), 1)


def test_what_formulas_run_on_a_build_with_coverage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exhume(["solvers", "build", "z3==0.9.0", "--coverage", "--jobs", "1"]) == 0
    spec = capsys.readouterr().out.splitlines()[-1].removeprefix("spec: ")
    file, made = tmp_path / "a.smt2", tmp_path / "map"
    file.write_text("(check-sat)\n")
    command = ["solvers", "coverage", spec, "--formulas", str(file), "--out", str(made), "--json"]
    assert exhume(command) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["formulas"], found["functions_run"], found["functions"]) == (1, 1, 1)
    # With the options that each run gets its assertion fails, half-way; its counts are written all the same.
    assert 0 < found["lines_run"] < found["lines"] < PROGRAM.count("\n")
    (ran,) = formulas_running(made, [("main.cpp", "main")]).values()
    assert ran.functions == {("main.cpp", "main")} and ran.seconds > 0
    # Its options are those of any release: a limit of its own, and a check of its models.
    limited = find_solver(spec).with_time_limit(3)
    assert limited.options(Script(b"")) == ("timeout=3000", "model_validate=true")


def test_a_build_with_coverage_of_an_earlier_version_is_linked_again(tmp_path: Path) -> None:
    flavour = Flavour(coverage=True)
    program = build_release(Z3, "0.9.0", flavour, 1)
    work = program.resolve().parents[1]
    (linked := work / "linked.c").write_text("// earlier\n")
    program.resolve().write_bytes(b"earlier")
    assert build_release(Z3, "0.9.0", flavour, 1) == program
    assert linked.read_text() == flavour.linked_code
    written = tmp_path / RECORDED
    subprocess.run([program], env={"EXHUME_COUNTS": str(written)}, check=False, capture_output=True)
    assert [Path(name).name for name, _ in counts_in(tmp_path)] == ["main.cpp.gcda"]
    first = program.resolve().stat().st_mtime_ns
    build_release(Z3, "0.9.0", flavour, 1)
    assert program.resolve().stat().st_mtime_ns == first
