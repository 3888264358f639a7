"""Scores: which known bugs a fuzzer's tests show, when, and what a fuzzer may not do."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from base.steps import nothing
from difftest.bugs.pairing import Case
from difftest.bugs.records import Bug
from difftest.bugs.scoring import FuzzerLimits, Judge, known_in, read_score, run_fuzzer, score
from difftest.bugs.statistics import Fuzzer, compare
from difftest.errors import BadOutput, DifftestError
from solvers.running.runner import Runner
from tests.difftest.bugs.planted import TEXT, Planted, trigger


def python(body: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", f"import os, sys, time\n{body}"]


WRITES = f"open('a.smt2', 'w').write({TEXT!r})\n"


def planted() -> tuple[Planted, list[Bug]]:
    """Releases of which those before 4.7 crash, and that bug."""
    shelf = Planted(lambda n, _: ("crash", None) if n < 7 else ("ok", "sat"))
    with Runner(warm=False) as runner:
        found = Case(trigger(), shelf, runner).examine()
    return shelf, [bug for bug in found if isinstance(bug, Bug)]


def test_a_test_belongs_to_the_bug_with_its_class_release_and_key(tmp_path: Path) -> None:
    shelf, bugs = planted()
    judge = Judge("z3", "4.2", known_in(bugs, "z3", "4.2"), shelf)
    documents = list(score(python(WRITES), judge, tmp_path / "s", FuzzerLimits(5.0), repeats=2))
    assert [len(document["runs"]) for document in documents] == [1, 2]
    run = read_score(tmp_path / "s")["runs"][1]
    assert list(run["found"]) == [bugs[0].id]
    assert 0 <= run["found"][bugs[0].id] < 5
    assert run["hits"][0]["first_good"] == "4.7"


def test_a_bug_counts_for_the_releases_that_have_it() -> None:
    _, bugs = planted()
    assert [len(known_in(bugs, "z3", release)) for release in ("4.0", "4.6.0", "4.7.0")] == [1, 1, 0]
    assert known_in(bugs, "cvc5", "4.0") == []
    # A release that ran, but that no list of this machine has.
    bad, good = bugs[0].strip[0], bugs[0].strip[-1]
    strip = (structs.replace(bad, release="3.1"), *bugs[0].strip, structs.replace(good, release="4.90"))
    assert len(known_in([structs.replace(bugs[0], strip=strip)], "z3", "3.2")) == 1


def test_what_has_another_first_good_release_is_another_bug(tmp_path: Path) -> None:
    _, bugs = planted()
    shelf = Planted(lambda n, _: ("crash", None) if n < 9 else ("ok", "sat"))
    judge = Judge("z3", "4.2", bugs, shelf)
    (document,) = score(python(WRITES), judge, tmp_path / "s", FuzzerLimits(5.0))
    assert document["runs"][0]["found"] == {}
    assert document["runs"][0]["hits"][0]["bugs"] == ()


def test_tests_count_as_long_as_one_process_could_run_them(tmp_path: Path) -> None:
    shelf = Planted(lambda n, _: ("timeout", None))  # 9 seconds each
    body = "for n in range(9): open(f'{n}.smt2', 'w').write('(check-sat)')"
    judge = Judge("z3", "4.2", [], shelf)
    run = run_fuzzer(python(body), tmp_path / "s", FuzzerLimits(5.0))
    assert len(run.tests) == 9
    assert len(list(judge.hits(run, 20.0, threading.Event()))) == 2


def test_a_stop_ends_the_search_of_releases(tmp_path: Path) -> None:
    stop = threading.Event()

    def did(number: int, _: int) -> tuple[str, str | None]:
        stop.set()
        return ("crash", None) if number < 7 else ("ok", "sat")

    run = run_fuzzer(python(WRITES), tmp_path / "s", FuzzerLimits(5.0))
    shelf = Planted(did)
    assert list(Judge("z3", "4.2", [], shelf).hits(run, 5.0, stop)) == []
    assert shelf.ran.total() == 1


def test_a_fuzzer_that_never_ends_is_ended_with_all_its_children(tmp_path: Path, assert_gone: object) -> None:
    body = "import subprocess; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(77.5)'])\n"
    run = run_fuzzer(python(WRITES + body + "time.sleep(60)"), tmp_path / "s", FuzzerLimits(2.0))
    assert (run.ended, len(run.tests)) == ("stopped by its timeout limit", 1)
    assert callable(assert_gone)
    assert_gone("time.sleep(77.5)")


def test_a_fuzzer_that_writes_too_many_files_is_ended(tmp_path: Path) -> None:
    body = "n = 0\nwhile True:\n open(f'{n}.smt2', 'w').write('x'); n += 1"
    run = run_fuzzer(python(body), tmp_path / "s", FuzzerLimits(20.0, files=50))
    assert run.ended == "it wrote more than 50 files"
    # The last one may still be empty when the process is killed.
    assert len(run.tests) + run.skipped["empty"] == 50
    assert run.skipped["more files than the limit"] == 1


def test_a_fuzzer_that_fills_the_disk_is_ended(tmp_path: Path) -> None:
    body = "file = open('a.smt2', 'w')\nwhile True: file.write('x' * 65536); file.flush(); time.sleep(0.01)"
    run = run_fuzzer(python(body), tmp_path / "s", FuzzerLimits(20.0, bytes=1 << 20))
    assert run.ended == "it wrote more than 1 MB"


def test_what_a_fuzzer_prints_is_not_kept_and_counts_as_written(tmp_path: Path) -> None:
    body = "for _ in range(6): print('x' * (1 << 20), file=sys.stderr)\nprint('y' * (6 << 20))\n"
    run = run_fuzzer(python(f"{body}sys.exit('the end')"), tmp_path / "s", FuzzerLimits(20.0))
    assert run.ended == "exit status 1: the end"
    assert [file.name for file in (tmp_path / "s").iterdir()] == ["tests"]
    run = run_fuzzer(python(f"{body}time.sleep(20)"), tmp_path / "t", FuzzerLimits(20.0, bytes=1 << 20))
    assert run.ended == "it wrote more than 1 MB"


def test_a_fuzzers_file_may_be_larger_than_a_solvers(tmp_path: Path) -> None:
    body = "with open('large', 'w') as file: file.truncate((256 << 20) + 1)"
    run = run_fuzzer(python(body), tmp_path / "s", FuzzerLimits(20.0))
    assert (run.ended, (tmp_path / "s" / "tests" / "large").exists()) == ("exit status 0", True)


def test_links_binary_files_and_others_are_counted_not_read(tmp_path: Path) -> None:
    body = (
        "os.symlink('/etc/passwd', 'link.smt2'); os.symlink('/', 'loop'); os.mkfifo('pipe.smt2')\n"
        "open('b.smt2', 'wb').write(bytes(9)); open('e.smt2', 'w'); open('note.txt', 'w').write('x')\n"
        "os.mkdir('in'); open('in/good.smt2', 'w').write('(check-sat)')"
    )
    run = run_fuzzer(python(body), tmp_path / "s", FuzzerLimits(20.0))
    assert [file.name for file, _ in run.tests] == ["good.smt2"]
    reasons = {"symbolic link": 1, "binary": 1, "empty": 1, "no regular file": 1, "not .smt2": 2}
    assert dict(run.skipped) == reasons


def test_a_fuzzer_that_does_not_start_and_a_folder_in_use_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(DifftestError, match="cannot be started"):
        run_fuzzer(["no-such-fuzzer"], tmp_path / "s", FuzzerLimits(5.0))
    with pytest.raises(BadOutput, match="exists already"):
        run_fuzzer(python(""), tmp_path / "s", FuzzerLimits(5.0))
    with pytest.raises(DifftestError, match="holds no score"):
        read_score(tmp_path)
    for text in ("{", "[]", '{"schema": 1}'):
        (tmp_path / "score.json").write_text(text)
        with pytest.raises(DifftestError, match="is damaged"):
            read_score(tmp_path)


def test_a_fuzzer_that_writes_no_test_has_no_score(tmp_path: Path) -> None:
    judge = Judge("z3", "4.2", [], Planted(lambda n, _: ("ok", "sat")))
    for body, why in (
        ("sys.exit('there is no corpus c.duckdb')", "exit status 1: there is no corpus c.duckdb"),
        ("print('(check-sat)')", "exit status 0"),
        ("open('a.txt', 'w').write('x')", "exit status 0, not .smt2 1"),
        ("os.kill(os.getpid(), 9)", "signal 9"),
    ):
        with pytest.raises(DifftestError, match=f"wrote no .smt2 file.*ended: {why}.*must be absolute"):
            list(score(python(body), judge, tmp_path / why, FuzzerLimits(5.0)))
        assert not (tmp_path / why).exists()


def test_a_score_that_was_stopped_resumes(tmp_path: Path) -> None:
    stop, folder = threading.Event(), tmp_path / "s"
    judge = Judge("z3", "4.2", [], Planted(lambda n, _: ("ok", "sat")))
    log = tmp_path / "log"
    body = f"open({str(log)!r}, 'a').write('{{seed}}'); open('note', 'w').close()\n{WRITES}"

    def stopping(number: int, _: int) -> tuple[str, str]:
        if log.read_text() == "12":
            stop.set()
        return "ok", "sat"

    stopped = replace(judge, shelf=Planted(stopping))
    steps = []

    @contextmanager
    def bar(step: str) -> Iterator[Callable[[int, int], None]]:
        steps.append(step)
        yield nothing

    limits = FuzzerLimits(5.0)
    assert len(list(score(python(body), stopped, folder, limits, 3, stop, bar))) == 1
    assert steps[-1] == "run 2 of 3: tests run on releases"
    (folder / "run-3").mkdir()  # as of a killed process
    documents = list(score(python(body), judge, folder, limits, 3))
    assert log.read_text() == "123"
    assert [(run["tests"], run["skipped"]) for run in documents[-1]["runs"]] == [(1, {"not .smt2": 1})] * 3
    assert list(score(python(body), judge, folder, limits, 3)) == documents[-1:]
    with pytest.raises(BadOutput, match="another command"):
        list(score(python(WRITES), judge, folder, limits, 3))


def test_a_score_deletes_no_runs_of_others(tmp_path: Path) -> None:
    (tmp_path / "run-1").mkdir()
    judge = Judge("z3", "4.2", [], Planted(lambda n, _: ("ok", "sat")))
    with pytest.raises(BadOutput, match="name a new folder"):
        list(score(python(WRITES), judge, tmp_path, FuzzerLimits(5.0)))
    assert [file.name for file in tmp_path.iterdir()] == ["run-1"]


def test_the_path_of_a_program_may_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fuzz").write_text("#!/bin/sh\necho '(check-sat)' > a.smt2\n")
    (tmp_path / "fuzz").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert len(run_fuzzer(["./fuzz"], Path("s"), FuzzerLimits(5.0)).tests) == 1
    with pytest.raises(
        DifftestError, match=f"{tmp_path}/gone: cannot be started: No such file or directory$"
    ):
        run_fuzzer(["./gone"], Path("t"), FuzzerLimits(5.0))


def fuzzer(name: str, *runs: dict[str, float]) -> Fuzzer:
    return Fuzzer(name, ("a", "b", "c", "d"), 100.0, runs)


def test_bugs_that_were_not_found_are_censored() -> None:
    good = fuzzer("good", *({"a": 1.0, "b": 2.0, "c": 3.0},) * 5)
    bad = fuzzer("bad", *({"a": 90.0},) * 5)
    assert (good.median, bad.median) == (2.0, None)
    (pair,) = compare([good, bad])
    assert pair.log_rank is not None and pair.log_rank < 0.001
    assert pair.mann_whitney is not None and pair.mann_whitney < 0.01
    assert pair.a12 == 1.0
    assert compare([bad, good])[0].a12 == 0.0


def test_equal_and_empty_scores_compare() -> None:
    (pair,) = compare([fuzzer("one", {"a": 5.0}, {}), fuzzer("two", {"a": 5.0}, {})])
    assert (pair.a12, pair.log_rank) == (0.5, pytest.approx(1.0))
    (pair,) = compare([fuzzer("one", {}), fuzzer("two", {})])
    assert (pair.a12, pair.log_rank, pair.mann_whitney) == (0.5, None, None)


def test_scores_of_other_bugs_do_not_compare() -> None:
    with pytest.raises(DifftestError, match="other bugs or times"):
        compare([fuzzer("one", {}), Fuzzer("two", ("a",), 100.0, ({},))])


def test_the_curve_is_the_mean_of_the_runs() -> None:
    assert fuzzer("one", {"a": 5.0, "b": 9.0}, {"a": 7.0}).curve() == [(5.0, 0.5), (7.0, 1.0), (9.0, 1.5)]
