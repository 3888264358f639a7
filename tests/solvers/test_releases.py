"""Releases fetched into the cache, from our own folder of wheels in place of an index."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from difftest import EnvironmentProblem, ReleaseNotFound, SolverMissing, find_solver
from difftest.reduction.ddsmt import is_installed, reduce_with_ddsmt
from difftest.triage.release_search import list_releases
from solvers import releases
from tests.solvers.packages import make_wheel

FAKE_Z3 = f"""#!{sys.executable}
import sys
print("Z3 version 1.2.3 - 64 bit" if sys.argv[1:] == ["--version"] else "unsat")
"""


def fake_release(index: Path, version: str = "1.2.3") -> None:
    make_wheel(index, version, {f"z3_solver-{version}.data/data/bin/z3": FAKE_Z3})


def test_a_release_is_fetched_unpacked_and_run(index: Path) -> None:
    fake_release(index)
    solver = find_solver("z3==1.2.3")
    assert solver.version() == "Z3 version 1.2.3 - 64 bit"
    assert solver.name == "z3-1.2.3"


def test_a_release_is_fetched_once(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_release(index)
    first = releases.fetch_release("z3-solver", "1.2.3")
    monkeypatch.setenv("PIP_FIND_LINKS", "/nowhere")
    assert releases.fetch_release("z3-solver", "1.2.3") == first


def test_files_of_the_current_folder_are_not_run(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_release(index)
    strange = tmp_path / "strange"
    strange.mkdir()
    for name in ("pip.py", "enum.py"):
        (strange / name).write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(strange)
    assert releases.fetch_release("z3-solver", "1.2.3").is_dir()
    assert list_releases("z3") == ["1.2.3"]
    if is_installed():
        _, checks, _ = reduce_with_ddsmt("(assert true)\n(check-sat)\n", lambda text: True, 20.0, 5.0)
        assert checks > 0
    assert not (tmp_path / "ran").exists()


def test_a_release_that_is_not_there_is_reported_with_those_that_are(index: Path) -> None:
    fake_release(index, "1.2.3")
    with pytest.raises(ReleaseNotFound, match=r"no z3-solver==9\.9.* Available: 1\.2\.3") as caught:
        find_solver("z3==9.9")
    assert caught.value.exit_code == 3
    assert caught.value.offered == ("1.2.3",)
    assert not list((releases.cache_folder() / "wheels").glob("z3*"))


def test_of_many_releases_the_newest_are_named() -> None:
    said = str(ReleaseNotFound("z3-solver", "9.9", tuple(f"4.{minor}.0" for minor in range(20))))
    assert "The newest 12 of 20 that it has: 4.8.0, 4.9.0" in said and said.endswith("4.19.0.")


def test_pip_that_fails_otherwise_is_reported_with_its_last_words(
    index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "ERROR: Connection timed out: no route")

    monkeypatch.setattr(releases.subprocess, "run", fails)
    with pytest.raises(EnvironmentProblem, match="no route"):
        releases.fetch_release("z3-solver", "1.2.3")


def test_a_python_without_pip_is_reported(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "python: No module named pip")

    monkeypatch.setattr(releases.subprocess, "run", fails)
    with pytest.raises(EnvironmentProblem, match="needs pip"):
        releases.fetch_release("z3-solver", "1.2.3")


@pytest.mark.parametrize("name", ["../escaped", "/tmp/../escaped", "a/../../escaped", "..\\escaped"])
def test_a_wheel_that_writes_outside_its_folder_is_refused(index: Path, tmp_path: Path, name: str) -> None:
    wheel = make_wheel(index, "1.2.3", {name: "evil"})
    with pytest.raises(SolverMissing, match="outside its folder"):
        releases.unpack_wheel(wheel, tmp_path / "deep" / "out")
    assert not list(tmp_path.rglob("*escaped*"))


def test_a_link_in_a_wheel_is_not_made(index: Path, tmp_path: Path) -> None:
    wheel = index / "x.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        link = zipfile.ZipInfo("bin/link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    releases.unpack_wheel(wheel, tmp_path / "out")
    assert (tmp_path / "out" / "bin" / "link").read_text() == "/etc/passwd"
    assert not (tmp_path / "out" / "bin" / "link").is_symlink()


def test_a_refused_wheel_leaves_nothing_in_the_cache(index: Path) -> None:
    make_wheel(index, "1.2.3", {"../escaped": "evil"})
    with pytest.raises(SolverMissing):
        find_solver("z3==1.2.3")
    left = [
        path.name
        for path in (releases.cache_folder() / "wheels").iterdir()
        if path.name != ".z3-solver-1.2.3.lock"
    ]
    assert left == []


def test_a_wheel_that_is_no_archive_is_reported(tmp_path: Path) -> None:
    wheel = tmp_path / "x.whl"
    wheel.write_text("no zip")
    with pytest.raises(SolverMissing, match="not a wheel"):
        releases.unpack_wheel(wheel, tmp_path / "out")


@pytest.mark.parametrize(
    ("place", "byte"),
    [(31, 0xFF), (8, 99), (6, 1)],
    ids=["damaged", "another compression", "encrypted"],
)
def test_a_broken_wheel_is_reported(tmp_path: Path, place: int, byte: int) -> None:
    wheel = tmp_path / "x.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", "text")
    data = bytearray(wheel.read_bytes())
    data[place] = byte
    if place < 30:
        # The directory at the end repeats the entry's header, two bytes further.
        data[data.index(b"PK\x01\x02") + place + 2] = byte
    wheel.write_bytes(data)
    with pytest.raises(SolverMissing, match="not a wheel"):
        releases.unpack_wheel(wheel, tmp_path / "out")


def test_a_damaged_source_package_is_reported(tmp_path: Path) -> None:
    package, text = tmp_path / "x.tar.gz", tmp_path / "text"
    text.write_text(" ".join(map(str, range(50000))))
    with tarfile.open(package, "w:gz") as archive:
        archive.add(text, "text")
    data = package.read_bytes()
    half = len(data) // 2
    package.write_bytes(data[:half] + b"\xff" * half)
    with pytest.raises(SolverMissing, match="not a source package"):
        releases.unpack_source(package, tmp_path / "out")


def test_a_wheel_that_claims_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "_MAX_UNPACKED", 10)
    with pytest.raises(SolverMissing, match="unpacks to more"):
        releases.unpack_wheel(make_wheel(tmp_path, "1", {"a": "x" * 100}), tmp_path / "out")


def test_a_wheel_without_the_program_is_reported(index: Path) -> None:
    make_wheel(index, "1.2.3", {"z3/__init__.py": ""})
    with pytest.raises(SolverMissing, match="not contain the program z3"):
        find_solver("z3==1.2.3")


def test_a_cache_that_cannot_be_written_is_reported(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("EXHUME_CACHE", str(blocked))
    with pytest.raises(EnvironmentProblem, match="cannot write the cache"):
        releases.fetch_release("z3-solver", "1.2.3")


def test_two_at_once_fetch_one_release(index: Path) -> None:
    fake_release(index)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        jobs = [pool.apply_async(releases.fetch_release, ("z3-solver", "1.2.3")) for _ in range(2)]
        assert len({job.get(60) for job in jobs}) == 1
    names = [path.name for path in (releases.cache_folder() / "wheels").iterdir()]
    assert sorted(names) == [".z3-solver-1.2.3.lock", "z3-solver-1.2.3"]
