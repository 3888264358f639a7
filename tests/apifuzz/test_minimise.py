"""The minimiser: what planted the error is left, whatever was around it, and nothing is lost on the way."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import pytest

from apifuzz import trace as traces
from apifuzz.driving import replay
from apifuzz.engines import make_engine
from apifuzz.minimise import files, session
from apifuzz.minimise.files import MinimisingOptions, TraceFile, _reduce_script, minimise_file
from apifuzz.minimise.passes import (
    Facts,
    collected,
    drop_levels,
    drop_members,
    drop_settings,
    measure,
    renumbered,
    sliced,
    without,
)
from apifuzz.minimise.session import NotShown, OutOfTime, Work, _earlier, _first_fresh, minimise
from apifuzz.run import Settings
from apifuzz.running.faults import Fault
from apifuzz.running.findings import Description
from apifuzz.running.question import at_once
from apifuzz.running.runs import RUN_LIMITS, Runner
from apifuzz.running.setup import Setup
from apifuzz.trace import Line, Trace, TraceError, print_trace, read_trace
from tests.apifuzz import kits
from tests.apifuzz.filing import file_finding
from tests.scripts import run_script

HERE = Path(__file__).resolve().parent
SMALL = """exhume-trace 1 smtlib 1
set theories (Core)
7 new
8 set-option produce-models true
9 make-sort Bool
return s1
10 make-constant s1 p
return t1
11 make-constant s1 q
return t2
12 make-term s1 and t1 t2 t1
return t3
13 push 2
14 assert t3
15 pop 1
16 make-term s1 not t3
return t4
17 assert t4
18 check-sat
"""


@pytest.fixture
def small() -> Trace:
    return read_trace(SMALL)


def drawn(seed: int, calls: int = 150) -> Trace:
    """The trace of a run of the engine that prints."""
    settings = Settings(("Core", "FixedSizeBitVectors"), False, False, calls=calls)
    return read_trace(kits.drawn(make_engine("smtlib"), seed, settings)[0])


def shows(wrong: Callable[[Trace], bool]) -> Callable[[Sequence[Trace]], int | None]:
    """Tries traces on the engine that prints: ``wrong`` of those that can be repeated to their end."""

    def show(traces: Sequence[Trace]) -> int | None:
        for place, trace in enumerate(traces):
            try:
                if not replay(make_engine("smtlib"), trace).refused and wrong(trace):
                    return place
            except TraceError:
                continue
        return None

    return show


def actions(trace: Trace) -> list[str]:
    return [line.action for line in trace.lines]


# What a trace says of itself


def test_the_lines_that_a_line_needs_stay(small: Trace) -> None:
    left = sliced(small, {0, 10})
    assert actions(left) == [
        "new",
        "make-sort",
        "make-constant",
        "make-constant",
        "make-term",
        "make-term",
        "assert",
    ]


def test_what_needs_a_dropped_line_goes_too(small: Trace) -> None:
    assert actions(without(small, [3])) == [
        "new",
        "set-option",
        "make-sort",
        "make-constant",
        "push",
        "pop",
        "check-sat",
    ]


def test_what_nothing_needs_is_collected(small: Trace) -> None:
    assert collected(small) == small
    assert actions(collected(without(small, [7, 10]))).count("make-term") == 0


def test_sorts_of_terms_are_read_off(small: Trace) -> None:
    assert Facts.of(small.lines).sorts == dict.fromkeys(("t1", "t2", "t3", "t4"), "s1")


def test_ids_are_numbered_again_and_mean_the_same(small: Trace) -> None:
    tidy = renumbered(without(small, [3]))
    assert [i for line in tidy.lines for i in line.returns] == ["s1", "t1"]
    script = make_engine("smtlib")
    replay(script, renumbered(small))
    other = make_engine("smtlib")
    replay(other, small)
    assert script.script() == other.script()  # type: ignore[attr-defined]


def test_what_a_run_is_made_on_is_no_setting_to_drop(small: Trace) -> None:
    said = (("cross-check", "z3"), ("theories", "Core"), ("check-witnesses", "true"), ("features", "()"))
    left = [trace.settings for _, trace in drop_settings(replace(small, settings=said), 0, 1)]
    assert left == [said[:3], (said[0], *said[2:])]


def test_odd_lines_that_no_replay_reaches_are_no_error() -> None:
    odd = read_trace(f"{SMALL}1 declare-datatypes (D () ())\n1 push {'9' * 5000}\n1 push\n1 pop -1\n")
    assert list(drop_members(odd, 0, 1)) and list(drop_levels(odd, 0, 1))
    assert actions(at_once(odd))[-1] == "check-sat"


# The loop


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_one_action_is_left_with_what_it_needs(seed: int) -> None:
    trace = drawn(seed)
    planted = next(a for a in ("pop", "check-sat", "assert") if a in actions(trace))
    work = Work(trace, shows(lambda t: planted in actions(t)))
    small = work.run()
    assert work.complete
    assert set(actions(small)) <= {"new", "push", "make-sort", "make-value", "make-constant", planted}
    assert len(small.lines) <= 4
    assert print_trace(small).count(" make-term ") == 0


def test_a_term_and_its_operands_are_left() -> None:
    operator = "bvadd"

    def wrong(trace: Trace) -> bool:
        return any(line.action == "make-term" and operator in line.args for line in trace.lines)

    trace = next(t for seed in range(100) if wrong(t := drawn(seed)))
    small = Work(trace, shows(wrong)).run()
    assert len(small.lines) == 4
    assert set(actions(small)) <= {"new", "make-sort", "make-value", "make-constant", "make-term"}
    assert measure(small) < measure(trace)


@pytest.mark.slow
def test_the_order_of_two_calls_is_kept() -> None:
    def wrong(trace: Trace) -> bool:
        there = actions(trace)
        return "pop" in there and "check-sat" in there[there.index("pop") :]

    trace = next(t for seed in range(100) if wrong(t := drawn(seed)))
    assert actions(Work(trace, shows(wrong)).run()) == ["new", "push", "pop", "check-sat"]


def test_the_result_does_not_depend_on_how_many_are_tried_at_once() -> None:
    trace = drawn(5)
    planted = actions(trace)[-2]

    def wrong(t: Trace) -> bool:
        return planted in actions(t)

    found = {print_trace(Work(trace, shows(wrong), width=width).run()) for width in (1, 2, 5)}
    assert len(found) == 1


def test_every_smaller_trace_is_saved_and_shows_it() -> None:
    trace = drawn(6)
    kept: list[Trace] = []
    Work(trace, shows(lambda t: "assert" in actions(t)), kept.append).run()
    sizes = [measure(t) for t in kept[:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert all("assert" in actions(t) for t in kept)


def test_out_of_time_keeps_what_is_reached() -> None:
    trace = drawn(7)
    chance, show = random.Random(1), shows(lambda t: "assert" in actions(t))

    def until(traces: Sequence[Trace]) -> int | None:
        if chance.random() < 0.2:
            raise OutOfTime
        return show(traces)

    work = Work(trace, until)
    work.run()
    assert not work.complete
    assert "assert" in actions(work.trace)


def test_a_flaky_error_ends_nevertheless() -> None:
    chance, show = random.Random(2), shows(lambda t: "assert" in actions(t))
    work = Work(drawn(8), lambda traces: show(traces) if chance.random() < 0.5 else None)
    work.run()
    assert work.complete


def test_what_is_needed_of_a_datatype_is_left() -> None:
    trace = read_trace(
        "exhume-trace 1 smtlib 1\n1 new\n2 make-sort Bool\nreturn s1\n"
        "3 declare-datatypes (D () (c (a s1) (b s1)) (d (e s1))) (E () (f (g s1)))\nreturn s2 s3\n"
        "4 make-value s1 true\nreturn t1\n5 make-term s2 (constructor c) t1 t1\nreturn t2\n"
        "6 make-term s3 (constructor f) t1\nreturn t3\n7 make-term s1 = t2 t2\nreturn t4\n8 assert t4\n"
    )
    small = Work(trace, shows(lambda t: any("(constructor c)" in line.args for line in t.lines))).run()
    assert print_trace(small).splitlines()[1:] == [
        "0 new",
        "0 declare-datatypes (D () (c))",
        "return s1",
        "0 make-term s1 (constructor c)",
        "return t1",
    ]


class Differing:
    """Stands for a Trial: processes show it where one of some sets of ids is asserted, fresh ones where one
    of others is, too.
    """

    fault = Fault("crash", "assert", "SIGSEGV")

    def __init__(self, seed: int) -> None:
        chance = random.Random(seed)
        self.trace = Trace("smtlib", 0, (), tuple(Line(0, "assert", (f"t{n}",)) for n in range(1, 9)))
        names = [line.args[0] for line in self.trace.lines]
        self._needs = [[set(chance.sample(names, most)) for _ in range(2)] for most in (2, 4)]

    def show(self, traces: Sequence[Trace], fresh: bool = False) -> int | None:
        for place, trace in enumerate(traces):
            there = {arg for line in trace.lines for arg in line.args}
            if all(any(need <= there for need in some) for some in self._needs[: 1 + fresh]):
                return place
        return None


@pytest.mark.parametrize("seed", range(20))
def test_what_forks_and_fresh_processes_show_may_differ(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = Differing(seed)
    monkeypatch.setattr(session, "trial", lambda *_: contextlib.nullcontext(tried))
    found = {
        print_trace(Work(tried.trace, partial(_first_fresh, tried, tried.show), width=width).run())
        for width in (1, 2, 3)
    }
    assert len(found) == 1
    # A second command does not begin again.
    result, later = tmp_path / "small.trace", []
    first = minimise(tried.trace, Setup("smtlib"), result=result)
    assert first.confirmed
    second = minimise(tried.trace, Setup("smtlib"), result=result, on_step=lambda t, _: later.append(t))
    assert all(measure(t) <= measure(first.trace) for t in later)
    assert second.confirmed


# In processes


def test_a_trace_without_an_error_is_reported(small: Trace) -> None:
    with pytest.raises(NotShown, match="does not show the error"):
        minimise(small, Setup("smtlib"))


def planted(tmp_path: Path) -> tuple[Path, Setup]:
    """A long trace that ends in a crash, in a file, and how to see it."""
    setup = Setup("smtlib", factory="doubles:crashes_at_first_pop", path=str(HERE))
    trace = next(t for seed in range(100) if "pop" in actions(t := drawn(seed, 300)))
    file = tmp_path / "long.trace"
    cut = Trace(trace.solver, trace.seed, trace.settings, trace.lines[: actions(trace).index("pop") + 1])
    file.write_text(print_trace(cut))
    return file, setup


@pytest.mark.thorough
def test_a_crash_is_minimised_in_processes(tmp_path: Path) -> None:
    file, setup = planted(tmp_path)
    before = file.read_text()
    trace = read_trace(before)
    result = tmp_path / "small.trace"
    report = minimise(trace, setup, jobs=2, result=result)
    assert actions(report.trace) == ["new", "push", "pop"]
    assert (report.fault.kind, report.complete, report.confirmed) == ("crash", True, True)
    assert read_trace(result.read_text()) == report.trace
    assert file.read_text() == before
    assert report.to_json()["lines_after"] == 3


def test_the_script_is_reduced_where_it_shows_the_error(tmp_path: Path) -> None:
    fake = tmp_path / "fake.py"
    fake.write_text(
        "import os, sys\ntext = open(sys.argv[-1]).read() if sys.argv[-1] != '--version' else ''\n"
        "if '(pop' in text:\n"
        "    print('Fatal failure within pop() at pop.cpp:7', file=sys.stderr, flush=True)\n"
        "    os.abort()\n"
        "print('sat')\n"
    )
    setup = Setup(f"fake={sys.executable} -I -S {fake}")
    formula, result = tmp_path / "a.smt2", tmp_path / "b.smt2"
    formula.write_text("(declare-const p Bool)\n(assert p)\n(push 1)\n(check-sat)\n(pop 1)\n(check-sat)\n")
    report = _reduce_script(formula, setup, 20.0, result)
    assert report is not None
    assert report.confirmed
    assert "(pop" in result.read_text()
    assert "assert" not in result.read_text()
    formula.write_text("(check-sat)\n")
    assert _reduce_script(formula, setup, 20.0, tmp_path / "c.smt2") is None


@pytest.fixture
def finding(tmp_path: Path) -> Path:
    """The folder of a finding that names an engine of a stranger's."""
    trace = read_trace("exhume-trace 1 smtlib 1\n1 new\n2 push 1\n3 pop 1\n")
    stranger = Setup("smtlib", factory="stranger:engine", path=str(tmp_path))
    return file_finding(tmp_path, Fault("crash", "pop", "SIGSEGV in pop"), trace, stranger)


def minimised(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Setup]:
    """Minimise the finding on a planted solver; the setups that it is then described on."""
    asked: list[Setup] = []

    def described(runner: Runner, *rest: object) -> Description:
        asked.append(runner.setup)
        return Description()

    monkeypatch.setattr(files, "describe", described)
    setup = Setup("smtlib", factory="doubles:crashes_at_first_pop", path=str(HERE))
    options = MinimisingOptions(20.0, RUN_LIMITS, older=False)
    minimise_file(TraceFile.read(folder), setup, options, lambda trace, checks: None)
    assert len(read_trace((folder / "minimised.trace").read_text()).lines) == 3
    return [setup for setup in asked if setup.factory != "doubles:crashes_at_first_pop"]


def test_a_finding_does_not_name_what_is_started(finding: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert minimised(finding, monkeypatch) == []


def test_a_script_is_not_written_through_a_link(
    finding: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept")
    (finding / "formula.smt2").symlink_to(outside)
    minimised(finding, monkeypatch)
    assert outside.read_text() == "kept"
    assert "(pop 1)" in (finding / "formula.smt2").read_text()


def test_a_trace_that_is_too_long_is_not_read_in_part(
    small: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    longer = drawn(1)
    monkeypatch.setattr(traces, "MAX_TEXT", len(SMALL) + 15)
    file = tmp_path / "a.trace"
    # Two bytes each: the characters are not too many, the bytes are.
    file.write_text(f";{'é' * 9}\n{SMALL}", "utf-8")
    with pytest.raises(TraceError, match="longer than"):
        TraceFile.read(file)
    assert _earlier(file, longer) is None
    file.write_text(SMALL)
    assert TraceFile.read(file).trace == _earlier(file, longer) == small


def test_a_leak_is_seen_in_the_folder_of_its_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "describe", lambda *_: Description())
    leaks = Setup("smtlib", factory="doubles:leaks", path=str(HERE))
    trace = read_trace(
        "exhume-trace 1 smtlib 1\n1 new\n2 make-sort Bool\nreturn s1\n3 make-value s1 true\nreturn t1\n"
        "4 assert t1\n"
    )
    folder = file_finding(tmp_path, Fault("leak", "delete", "grows"), trace, leaks)
    options = MinimisingOptions(0.0, RUN_LIMITS, older=False)
    report, _ = minimise_file(TraceFile.read(folder), leaks, options, lambda trace, checks: None)
    assert report.fault.kind == "leak"


@pytest.mark.slow
@pytest.mark.thorough
def test_a_killed_minimisation_resumes(tmp_path: Path) -> None:
    file, setup = planted(tmp_path)
    result = tmp_path / "small.trace"
    code = (
        "import json, sys; from pathlib import Path\n"
        "from apifuzz.minimise.session import minimise; from apifuzz.running.setup import Setup\n"
        "from apifuzz.trace import read_trace\n"
        "minimise(read_trace(Path(sys.argv[1]).read_text()), Setup(**json.loads(sys.argv[2])),"
        " result=Path(sys.argv[3]), on_step=lambda t, n: print(len(t.lines), flush=True))"
    )
    started = subprocess.Popen(
        [sys.executable, "-c", code, str(file), json.dumps(asdict(setup)), str(result)],
        cwd=HERE.parents[1],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    assert started.stdout.readline()
    started.send_signal(signal.SIGKILL)
    started.wait()
    started.stdout.close()
    reached = read_trace(result.read_text())
    first: list[Trace] = []
    report = minimise(
        read_trace(file.read_text()), setup, result=result, on_step=lambda t, n: first.append(t)
    )
    assert all(measure(t) <= measure(reached) for t in first)
    assert actions(report.trace) == ["new", "push", "pop"]


def test_time_that_is_over_leaves_a_whole_result(tmp_path: Path) -> None:
    file, setup = planted(tmp_path)
    result = tmp_path / "small.trace"
    started = time.monotonic()
    report = minimise(read_trace(file.read_text()), setup, seconds=0.0, result=result)
    assert not report.complete
    assert report.confirmed
    assert read_trace(result.read_text()) == report.trace
    assert time.monotonic() - started < 60


def test_the_benchmark_minimises_errors_that_are_planted() -> None:
    done = run_script("bench_apifuzz", "--minimise", "--planted", 1, "--time", 1, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["minimised"]
    assert (found["planted"], found["lost"], found["confirmed"]) == (1, 0, 1)
