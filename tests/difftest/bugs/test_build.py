"""Builds: resumed, cached, one at a time per folder; triggers of a corpus; the files of a benchmark."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from corpus.importer import import_paths
from corpus.store import Corpus
from difftest.bugs.build import BuildReport, BuildSettings, Store, build
from difftest.bugs.records import BUGS, UNVERIFIED, Benchmark, Trigger
from difftest.bugs.triggers import triggers_of
from difftest.bugs.verifying import verify
from difftest.errors import BadOutput, DifftestError
from tests.difftest.bugs.planted import TEXT, Planted, trigger

SETTINGS = BuildSettings(1.0, 5)
CRASH = ("crash", None)
OK = ("ok", "sat")


def triggers(count: int) -> list[Trigger]:
    return [trigger(text=TEXT + f"; {number}\n") for number in range(count)]


def run(folder: Path, shelf: Planted, given: Sequence[Trigger], jobs: int = 1) -> BuildReport:
    with Store(folder) as store:
        *_, report = build(store, given, SETTINGS, shelf, jobs)
    return report


def test_a_build_continues_and_runs_nothing_twice(tmp_path: Path) -> None:
    shelf = Planted(lambda n, _: CRASH if n < 7 else OK)
    given = triggers(4)
    with Store(tmp_path) as store:
        for report in build(store, given, SETTINGS, shelf):
            if report.done == 2:
                break
    assert len(Benchmark(tmp_path).bugs) == 2
    report = run(tmp_path, shelf, given, jobs=2)
    assert (report.done, len(report.bugs)) == (2, 4)
    before = shelf.ran.total()
    assert run(tmp_path, shelf, given).done == 0
    assert shelf.ran.total() == before


def test_other_settings_reuse_the_runs(tmp_path: Path) -> None:
    shelf = Planted(lambda n, _: CRASH if n < 7 else OK)
    run(tmp_path, shelf, triggers(1))
    ran = shelf.ran.total()
    with Store(tmp_path) as store:
        *_, report = build(store, triggers(1), BuildSettings(1.0, 6), shelf)
    assert report.done == 1
    # The probe more, and both ends twice more.
    assert shelf.ran.total() <= ran + 5


def test_a_run_out_of_less_time_is_no_answer(tmp_path: Path) -> None:
    shelf = Planted(lambda n, _: ("timeout", None))
    run(tmp_path, shelf, triggers(1))
    with Store(tmp_path) as store:
        assert len(store.runs(triggers(1)[0], 1.0)) == 3
        assert store.runs(triggers(1)[0], 2.0) == {}


def test_two_builds_into_one_folder_are_one_too_many(tmp_path: Path) -> None:
    with Store(tmp_path), pytest.raises(BadOutput, match="another build uses this folder"):
        Store(tmp_path)
    Store(tmp_path).__exit__()


def test_a_build_that_is_stopped_keeps_what_is_done(tmp_path: Path) -> None:
    stop = threading.Event()
    with Store(tmp_path) as store:
        reports = build(store, triggers(5), SETTINGS, Planted(lambda n, _: OK), stop=stop)
        done = next(reports).done
        stop.set()
        *_, report = reports
    assert 1 <= done <= report.done < 5
    assert len(Benchmark(tmp_path).unverified) == report.done


def test_the_same_records_are_the_same_bytes(tmp_path: Path) -> None:
    for name, jobs in (("one", 1), ("two", 3)):
        run(tmp_path / name, Planted(lambda n, _: CRASH if n < 7 else OK), triggers(6), jobs)
    for file in (BUGS, UNVERIFIED):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / BUGS).write_text('{"id": 1}\n')
    with pytest.raises(DifftestError, match="line 1 is damaged"):
        Benchmark(tmp_path)
    with pytest.raises(DifftestError, match="build it with exhume bugs build"):
        Benchmark(tmp_path / "nothing")


def test_a_bug_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    run(tmp_path, Planted(lambda n, _: CRASH if n < 7 else OK), triggers(2))
    benchmark = Benchmark(tmp_path)
    first, second = benchmark.bugs
    assert benchmark.bug(first[:-1]).id == first
    with pytest.raises(DifftestError, match="any of 2"):
        benchmark.bug("z3-")
    with pytest.raises(DifftestError, match=r"has no bug .*did you mean"):
        benchmark.bug(second[:-1] + "x")


def test_verifying_tells_which_pairs_hold(tmp_path: Path) -> None:
    run(tmp_path, Planted(lambda n, _: CRASH if n < 7 else OK), triggers(1))
    bugs = list(Benchmark(tmp_path).bugs.values())
    gone = Planted(lambda n, _: None)
    gone.problems[bugs[0].spec(bugs[0].last_bad)] = "not there"
    gone._solvers[bugs[0].spec(bugs[0].last_bad)] = None
    (checked,) = verify(bugs, gone)
    assert (checked.holds, checked.problem) == (False, "not there")


def test_triggers_have_the_options_of_the_failing_run(starter: Path) -> None:
    with Corpus.open(starter) as corpus:
        found = triggers_of(corpus, licence="MIT")
    options = {option for one in found for option in one.options}
    assert "smt.string_solver=z3str3" in options
    assert not {one for one in options if one.startswith(("model_validate", "-T", "timeout"))}
    assert {one.solver for one in found} >= {"z3", "cvc5"}
    issue = next(one for one in found if one.issue == "exhume/starter#1")
    assert (issue.reported, issue.days_to_fix, issue.licence) == ("2019-06-13", 492, "MIT")
    assert len({one.key for one in found}) == len(found)


def test_equal_formulas_are_one_trigger_with_all_sources(tmp_path: Path) -> None:
    for name in ("z3_1_0.smt2", "z3_2_0.smt2", "cvc5_3_0.smt2"):
        (tmp_path / name).write_text(TEXT)
    with Corpus.open(tmp_path / "c.duckdb", write=True) as corpus:
        import_paths(corpus, [tmp_path])
        own = triggers_of(corpus)
        more = triggers_of(corpus, ["z3"])
    assert [(one.solver, len(one.sources)) for one in sorted(own, key=lambda t: t.solver)] == [
        ("cvc5", 1),
        ("z3", 2),
    ]
    assert [len(one.sources) for one in more if one.solver == "z3"] == [3]
