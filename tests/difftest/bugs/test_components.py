"""The files of fixing commits, from clones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from difftest.bugs.components import MOST, Clones
from difftest.errors import DifftestError


def git(folder: Path, *words: str) -> str:
    own = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *own, "-C", str(folder), *words], check=True, capture_output=True, text=True
    ).stdout.strip()


def commit(folder: Path, subject: str, *files: str) -> str:
    """A commit that writes these files; its hash."""
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(subject)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", subject)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of a tracker's repository."""
    folder = tmp_path / "here"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", "https://example.org/solvers/Toy.git")
    commit(folder, "first", "README")
    return folder


def test_the_files_of_a_commit_and_of_a_merged_request(clone: Path) -> None:
    fix = commit(clone, "fix it", "src/b.cpp", 'src/é "a".cpp')
    commit(clone, "Repair rewriter (#12)", "src/r.cpp")
    git(clone, "checkout", "-q", "-b", "side", "HEAD~1")
    commit(clone, "side", "src/side.cpp")
    git(clone, "checkout", "-q", "main")
    git(clone, "merge", "-q", "--no-ff", "-m", "Merge (#13)", "side")
    clones = Clones([clone])
    names = ("solvers/toy", "z3")
    for fixed_by in (fix, fix[:9], f"solvers/toy@{fix[:12]}"):
        assert clones.files(*names, fixed_by) == ("src/b.cpp", 'src/é "a".cpp')
    commit(clone, 'Revert "Repair rewriter (#12)" (#14)', "src/r.cpp")
    assert clones.files(*names, "#12") == clones.files(*names, "12") == ("src/r.cpp",)
    # A request of the tracker of another repository is not that of the solver's.
    assert clones.files("solvers/toy-projects", "toy", "#12") == ()
    assert clones.files("solvers/toy-projects", "toy", fix) != ()
    assert clones.files(*names, "#13") == ("src/side.cpp",)


@pytest.mark.parametrize("fixed_by", [None, "", "0123456789", "#99", "--output=x", "HEAD", "main", "1.2.3"])
def test_what_is_no_commit_of_the_clone_has_no_files(clone: Path, fixed_by: str | None) -> None:
    assert Clones([clone]).files("toy", "toy", fixed_by) == ()
    assert not list(clone.parent.rglob("x"))


def test_other_solvers_have_no_files(clone: Path) -> None:
    fix = commit(clone, "fix", *(f"src/{number:03}.cpp" for number in range(MOST + 1)))
    assert Clones([clone]).files("z3", "z3", fix) == Clones(()).files("toy", "toy", fix) == ()
    assert len(Clones([clone]).files("toy", "toy", fix)) == MOST


def test_a_folder_that_is_no_clone_is_named(tmp_path: Path) -> None:
    with pytest.raises(DifftestError, match="is not a clone of a git repository"):
        Clones([tmp_path / "none"])
