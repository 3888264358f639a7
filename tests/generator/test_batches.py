"""Batches: the same bytes whatever the processes, folders that are refused, disks that are full."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from generator import (
    STRATEGIES,
    EnumerationStrategy,
    GeneratedTest,
    GenerationError,
    Library,
    OutputFolderError,
    SkeletonStrategy,
    write_batch,
)
from generator.batches import MANIFEST
from tests.difftest.hunts import no_room

ROOT = Path(__file__).resolve().parents[2]

# What another Python process does; its arguments: corpus, folder, count, jobs.
SCRIPT = """
import sys
from pathlib import Path
from corpus.store import Corpus
from generator import SkeletonStrategy, load_library, write_batch
corpus, folder, count, jobs = sys.argv[1:]
with Corpus.open(corpus) as opened:
    library = load_library(opened)
write_batch(SkeletonStrategy(library, 5), int(count), Path(folder), {"seed": 5}, int(jobs))
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def start_process(
    corpus: Path, folder: Path, count: int, jobs: int, hash_seed: int = 0
) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SCRIPT, str(corpus), str(folder), str(count), str(jobs)]
    return subprocess.Popen(command, env=environment, cwd=folder.parent)


@pytest.fixture
def strategy(library: Library) -> SkeletonStrategy:
    return SkeletonStrategy(library, 5)


def test_a_batch_is_one_file_a_test_and_a_manifest(strategy: SkeletonStrategy, tmp_path: Path) -> None:
    seen: list[int] = []
    report = write_batch(strategy, 600, tmp_path / "new" / "out", {"seed": 5}, progress=seen.append)
    files = contents(tmp_path / "new" / "out")
    assert set(files) == {MANIFEST, *(f"test-{n:06d}.smt2" for n in range(600))}
    assert files["test-000017.smt2"].decode() == strategy.test(17).text
    assert report.written == 600
    assert 590 <= report.distinct <= 600
    assert report.seconds > 0
    assert seen == [250, 500, 600]


@pytest.mark.thorough
def test_the_bytes_do_not_depend_on_jobs(strategy: SkeletonStrategy, tmp_path: Path) -> None:
    reports = [write_batch(strategy, 700, tmp_path / f"{jobs}", {"a": 1}, jobs) for jobs in (1, 2, 3)]
    assert contents(tmp_path / "1") == contents(tmp_path / "2") == contents(tmp_path / "3")
    assert len({(r.written, r.distinct) for r in reports}) == 1


@pytest.mark.thorough
def test_the_bytes_do_not_depend_on_the_process_or_its_hash_seed(
    corpus_path: Path, strategy: SkeletonStrategy, tmp_path: Path
) -> None:
    write_batch(strategy, 400, tmp_path / "here", {"seed": 5})
    processes = [start_process(corpus_path, tmp_path / f"{n}", 400, n, hash_seed=n * 77) for n in (1, 2)]
    assert [p.wait(60) for p in processes] == [0, 0]
    assert contents(tmp_path / "here") == contents(tmp_path / "1") == contents(tmp_path / "2")


FROM_FORMULAS = """
import sys
from pathlib import Path
from corpus.store import Corpus
from generator import STRATEGIES, StrategySettings, load_library, make_strategy, seeds_of_folder, write_batch
from tests.generator.small import formulas, make_corpus
folder = Path(sys.argv[1])
path = make_corpus(folder / "formulas", folder / "corpus.duckdb", formulas(), probe=False)
with Corpus.open(path) as corpus:
    library = load_library(corpus, ())
for name, entry in STRATEGIES.items():
    if "answers" not in entry.needs:
        given = ("unlabelled=chain",) if name == "weaken" else ()
        seeds = seeds_of_folder(folder / "formulas")
        made = make_strategy(name, library, StrategySettings(5, given=given), seeds)
        count = 60 if name == "skeletons" else 15
        write_batch(made, count, folder / "out" / name, {"from": made.fingerprint})
"""


def test_all_the_way_from_formulas_to_tests_the_hash_seed_changes_nothing(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", FROM_FORMULAS, str(tmp_path / seed)]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True)
    names = [name for name, entry in STRATEGIES.items() if "answers" not in entry.needs]
    for name in names:
        first, second = (contents(tmp_path / seed / "out" / name) for seed in "12")
        assert first == second, name


def test_a_batch_can_start_anywhere(strategy: SkeletonStrategy, tmp_path: Path) -> None:
    write_batch(strategy, 40, tmp_path / "whole", {})
    write_batch(strategy, 15, tmp_path / "part", {}, first=25)
    whole, part = contents(tmp_path / "whole"), contents(tmp_path / "part")
    del part[MANIFEST]
    assert len(part) == 15
    assert part.items() <= whole.items()


def test_an_enumeration_that_ends_early_gives_what_there_is(library: Library, tmp_path: Path) -> None:
    skeleton = next(s for s in library.skeletons if s.skeleton.holes == 1 and not s.skeleton.binders)
    strategy = EnumerationStrategy(library, skeleton, atoms=2, symbols=2)
    report = write_batch(strategy, 5000, tmp_path / "out", {}, jobs=2)
    assert report.written == report.distinct == len(list(strategy.generate())) < 5000


def test_the_same_batch_is_written_again(strategy: SkeletonStrategy, tmp_path: Path) -> None:
    write_batch(strategy, 30, tmp_path, {"seed": 5})
    before = contents(tmp_path)
    (tmp_path / "test-000003.smt2").write_text("broken")
    (tmp_path / "test-000004.smt2").unlink()
    write_batch(strategy, 30, tmp_path, {"seed": 5})
    assert contents(tmp_path) == before


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_folder_with_something_else_is_refused_and_left_alone(
    strategy: SkeletonStrategy, tmp_path: Path, jobs: int
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(OutputFolderError, match="holds something else"):
        write_batch(strategy, 3, tmp_path, {"seed": 5}, jobs)
    assert contents(tmp_path) == {"notes.txt": b"mine"}


def test_a_folder_with_another_batch_is_refused(strategy: SkeletonStrategy, tmp_path: Path) -> None:
    write_batch(strategy, 3, tmp_path, {"seed": 5})
    for count, seed in ((4, 5), (3, 6)):
        with pytest.raises(OutputFolderError, match=str(tmp_path)):
            write_batch(strategy, count, tmp_path, {"seed": seed})
    (tmp_path / MANIFEST).write_bytes(b"\xff\xfe")
    with pytest.raises(OutputFolderError, match="holds something else"):
        write_batch(strategy, 3, tmp_path, {"seed": 5})


def test_a_file_in_the_folder_s_place_is_refused(strategy: SkeletonStrategy, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(OutputFolderError):
        write_batch(strategy, 3, tmp_path / "out", {})
    with pytest.raises(OutputFolderError, match="cannot write to"):
        write_batch(strategy, 3, tmp_path / "out" / "below", {})


def test_a_folder_that_cannot_be_written_is_refused(
    strategy: SkeletonStrategy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may write everywhere, so the refusal is played where the test runs as root."""

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    if os.geteuid() == 0:
        monkeypatch.setattr(Path, "mkdir", refuse)
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputFolderError, match=r"cannot write to .*: Permission denied"):
            write_batch(strategy, 3, tmp_path / "out", {})
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.few(1)
def test_a_disk_that_fills_up_ends_the_batch_and_room_lets_it_continue(
    strategy: SkeletonStrategy, small_disk: Path, tmp_path: Path, jobs: int
) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(small_disk).free - 110_000))
    with pytest.raises(OutputFolderError, match="No space left on device"):
        write_batch(strategy, 60, small_disk / "out", {"seed": 5}, jobs)
    ballast.unlink()
    write_batch(strategy, 60, small_disk / "out", {"seed": 5}, jobs)
    write_batch(strategy, 60, tmp_path / "out", {"seed": 5})
    assert contents(small_disk / "out") == contents(tmp_path / "out")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_is_reported_in_one_line(
    strategy: SkeletonStrategy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    monkeypatch.setattr("generator.batches.os.write", no_room)
    with pytest.raises(OutputFolderError, match="No space left on device"):
        write_batch(strategy, 300, tmp_path / "out", {}, jobs)


def test_a_write_that_takes_part_of_a_test_is_completed(
    strategy: SkeletonStrategy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write
    monkeypatch.setattr("generator.batches.os.write", lambda handle, data: write(handle, data[:100]))
    write_batch(strategy, 5, tmp_path / "out", {})
    assert (tmp_path / "out" / "test-000002.smt2").read_text() == strategy.test(2).text


@pytest.mark.thorough
def test_a_run_that_was_killed_can_be_made_again(
    corpus_path: Path, strategy: SkeletonStrategy, tmp_path: Path
) -> None:
    folder = tmp_path / "killed"
    process = start_process(corpus_path, folder, 5_000, 1)
    deadline = time.monotonic() + 60
    while not (folder / "test-000200.smt2").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait(60) == -signal.SIGKILL
    written = len(contents(folder))
    assert 200 < written < 5_001
    again = start_process(corpus_path, folder, 5_000, 2)
    assert again.wait(120) == 0
    assert len(contents(folder)) == 5_001
    for index in (0, 299, written - 2, written - 1, written, 4_999):
        assert (folder / f"test-{index:06d}.smt2").read_text() == strategy.test(index).text


def test_a_manifest_cut_short_by_a_kill_does_not_spoil_the_folder(
    strategy: SkeletonStrategy, tmp_path: Path
) -> None:
    """The manifest comes into being whole: nothing but an unfinished one is ever left beside it."""
    write_batch(strategy, 3, tmp_path / "out", {"seed": 5})
    assert not [name for name in contents(tmp_path / "out") if name.startswith(".")]
    (tmp_path / "out2").mkdir()
    (tmp_path / "out2" / f".{MANIFEST}").write_text("{")
    write_batch(strategy, 3, tmp_path / "out2", {"seed": 5})
    assert contents(tmp_path / "out2") == contents(tmp_path / "out")


class _Killed:
    """A strategy in a process that is killed."""

    name = "killed"
    fingerprint = "none"

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield from ()


def test_a_process_that_is_killed_is_no_bug_in_exhume(tmp_path: Path) -> None:
    with pytest.raises(GenerationError, match=r"was killed.*run the same command again"):
        write_batch(_Killed(), 3, tmp_path / "out", {}, jobs=2)


class _Failing:
    """Our own strategy that breaks."""

    name = "failing"
    fingerprint = "none"

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        raise RuntimeError("our own bug")
        yield


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bug_in_a_strategy_looks_like_one(tmp_path: Path, jobs: int) -> None:
    with pytest.raises(RuntimeError, match="our own bug"):
        write_batch(_Failing(), 3, tmp_path / "out", {}, jobs)
