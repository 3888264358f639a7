"""Hunts with our own solvers that lie, crash and hang, each bug planted and found."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from base.errors import Exit
from difftest import (
    BadOutput,
    CandidateDropped,
    DuplicateSeen,
    Event,
    FindingConfirmed,
    HuntFinished,
    HuntOptions,
    HuntSummary,
    Limits,
    Outcome,
    Progress,
    Solver,
    Stage,
    TestDone,
    WorkerNotice,
    find_solver,
    hunt,
)
from difftest.campaign.events import INTERNAL_ERRORS
from difftest.campaign.executor import LocalExecutor
from difftest.campaign.schedule import Schedule
from difftest.campaign.state import CampaignState
from difftest.campaign.stored import SPENT, Changes, read_campaign
from difftest.campaign.tally import Tally
from difftest.campaign.tasks import Result, RunResult
from difftest.errors import InternalErrors
from generator.strategy import GeneratedTest
from solvers.running.runner import Runner
from tests.difftest.hunts import fail_on, no_room, of, summary_of

TEXT = "(set-logic QF_LIA)\n(declare-const x Int)\n(assert (> x 1))\n(check-sat)\n"
QUICK = (Stage(2.0, 1.0),)
Make = Callable[..., GeneratedTest]
Fake = Callable[..., Solver]


def run(
    tests: Iterable[GeneratedTest], solvers: Sequence[Solver], out: Path, **options: object
) -> tuple[list[Event], HuntSummary]:
    settings = HuntOptions(out, **{"stages": QUICK, **options})  # type: ignore[arg-type]
    events = list(hunt(tests, solvers, settings))
    return events, summary_of(events)


@pytest.fixture
def honest(fake: Fake) -> Solver:
    return fake("say('sat')", "honest")


def test_tests_on_which_all_agree_are_decided_and_nothing_is_written(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path
) -> None:
    tests = [make_test(TEXT, index) for index in range(5)]
    events, summary = run(tests, [honest, fake("say('sat')", "twin")], tmp_path / "out")
    assert (summary.tests, summary.decided, summary.findings) == (5, 5, ())
    assert sorted(event.index for event in of(TestDone, events)) == [0, 1, 2, 3, 4]  # type: ignore[union-attr]
    assert list((tmp_path / "out" / "findings").iterdir()) == []
    assert summary.seconds > 0
    assert 0 < summary.solver_seconds <= summary.seconds
    assert summary.cpu_seconds > 0


def test_a_liar_is_found_confirmed_and_written_up(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path
) -> None:
    events, summary = run([make_test(TEXT, 7)], [honest, fake("say('unsat')", "liar")], tmp_path, seed=42)
    (record,) = summary.findings
    assert record.finding_class == "soundness"
    assert [type(event) for event in events if not isinstance(event, Progress)] == [
        TestDone,
        FindingConfirmed,
        HuntFinished,
    ]
    data = json.loads((record.path / "finding.json").read_text())
    assert (data["format"], data["kind"]) == (2, "formula")
    assert data["test"] == {
        "seed": 42,
        "index": 7,
        "strategy": "by-hand",
        "skeletons": [1],
        "atoms": [2, 3],
        "rules": [],
        "issues": ["z3#17"],
        "known": [],
    }
    assert [solver["answers"] for solver in data["solvers"]] == [["sat"], ["unsat"]]
    assert (record.path / "original.smt2").read_text() == TEXT
    assert (record.path / "liar.stdout").read_text() == "unsat\n"
    report = (record.path / "report.md").read_text()
    assert TEXT in report
    assert "fake 1.0" in report
    assert "Found by exhume (by-hand)." in report


def test_the_printed_command_shows_the_finding_again(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path
) -> None:
    _, summary = run([make_test(TEXT)], [honest, fake("say('unsat')", "liar")], tmp_path / "a b")
    command = summary.findings[0].path / "command.txt"
    said = subprocess.run(["sh", str(command)], capture_output=True, text=True, check=True, cwd="/")
    assert said.stdout == "sat\nunsat\n"


@pytest.mark.parametrize(
    ("body", "finding_class", "key"),
    [
        ("os.kill(os.getpid(), 11)", "crash", "crash|bad|signal SIGSEGV|Core"),
        ("say('sat'); os.abort()", "crash", "crash|bad|signal SIGABRT|Core"),
        (
            "say('ASSERTION VIOLATION', 'File: ../src/a.cpp', 'Line: 12', 'x'); sys.exit(114)",
            "crash",
            "crash|bad|a.cpp:12",
        ),
        (
            "print('Fatal failure within f() at /b/y.cpp:3', file=sys.stderr); sys.exit(1)",
            "crash",
            "crash|bad|y.cpp:3",
        ),
        (
            "say('sat'); print('ast_manager LEAKED: 17', file=sys.stderr)",
            "crash",
            "crash|bad|ast_manager LEAKED: N|Core",
        ),
        (
            "print('==7==ERROR: LeakSanitizer: detected memory leaks', file=sys.stderr); sys.exit(1)",
            "crash",
            "crash|bad|ERROR: LeakSanitizer: detected memory leaks|Core",
        ),
        (
            "say('sat', '(error \"line 4 column 10: an invalid model was generated\")')",
            "invalid-model",
            "invalid-model|bad|Core",
        ),
    ],
)
def test_each_planted_fault_is_found_under_its_key(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path, body: str, finding_class: str, key: str
) -> None:
    _, summary = run([make_test(TEXT)], [honest, fake(body, "bad")], tmp_path)
    assert [(str(f.finding_class), f.key, f.solver) for f in summary.findings] == [
        (finding_class, key, "bad")
    ]


def test_an_answer_in_the_wrong_order_is_found(make_test: Make, fake: Fake, tmp_path: Path) -> None:
    text = TEXT + "(assert (< x 0))\n(check-sat)\n"
    right, swapped = fake("say('sat', 'unsat')", "right"), fake("say('unsat', 'sat')", "swapped")
    _, summary = run([make_test(text)], [right, swapped], tmp_path)
    assert len(summary.findings) == 1


def test_warnings_between_answers_make_no_finding(make_test: Make, fake: Fake, tmp_path: Path) -> None:
    text = TEXT + "(assert (< x 0))\n(check-sat)\n"
    noisy = fake("say('warning: unsat?', 'sat', 'WARNING', '', 'unsat')", "noisy")
    _, summary = run([make_test(text)], [fake("say('sat', 'unsat')", "plain"), noisy], tmp_path)
    assert (summary.decided, summary.findings) == (1, ())


def test_a_known_answer_that_all_contradict_is_found(make_test: Make, honest: Solver, tmp_path: Path) -> None:
    _, summary = run([make_test(TEXT, known=("unsat",))], [honest], tmp_path)
    assert [finding.solver for finding in summary.findings] == ["honest"]


def test_what_does_not_show_again_is_dropped_and_counted(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path
) -> None:
    once = tmp_path / "once"
    flaky = fake(
        f"say('sat' if os.path.exists({str(once)!r}) else 'unsat'); open({str(once)!r}, 'w')", "flaky"
    )
    events, summary = run([make_test(TEXT)], [honest, flaky], tmp_path / "out")
    # It also contradicts itself, where a relation is in turn.
    dropped = len(of(CandidateDropped, events))
    assert (summary.findings, summary.unconfirmed) == ((), dropped)
    assert dropped in (1, 2)
    assert list((tmp_path / "out" / "findings").iterdir()) == []


def test_when_the_first_trigger_does_not_show_again_the_next_one_may(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    body = f"""
if 'first' in text and os.path.exists({str(mark)!r}): say('sat')
else: say('unsat')
if 'first' in text: open({str(mark)!r}, 'w'); time.sleep(0.3)
"""
    tests = [make_test("; first\n" + TEXT, 0), *(make_test(f"; {i}\n" + TEXT, i) for i in (1, 2))]
    _, summary = run(tests, [honest, fake(body, "liar")], tmp_path / "out", jobs=2)
    assert len(summary.findings) == 1
    assert "; first" not in (summary.findings[0].path / "original.smt2").read_text()


def test_one_cause_gets_one_folder_and_its_triggers_are_listed(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path
) -> None:
    tests = [make_test(f"; {index}\n{TEXT}", index) for index in range(6)]
    events, summary = run(tests, [honest, fake("say('unsat')", "liar")], tmp_path)
    (record,) = summary.findings
    assert summary.duplicates == len(of(DuplicateSeen, events)) == 5
    found = json.loads((record.path / "finding.json").read_text())["test"]["index"]
    listed = [int(line) for line in (record.path / "duplicates.txt").read_text().split()]
    assert sorted([found, *listed]) == [0, 1, 2, 3, 4, 5]
    assert len(list((tmp_path / "findings").iterdir())) == 1


def test_a_finding_whose_folder_is_deleted_meanwhile_is_found_again(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path
) -> None:
    tests = (make_test(f"; {index}\n{TEXT}", index) for index in range(9))
    found = []
    settings = HuntOptions(tmp_path, stages=QUICK)
    for event in hunt(tests, [honest, fake("say('unsat')", "liar")], settings):
        if isinstance(event, FindingConfirmed):
            found.append(event.index)
            if len(found) == 1:
                shutil.rmtree(event.record.path)
    assert len(found) == 2
    assert len(list((tmp_path / "findings").iterdir())) == 1


def test_a_second_hunt_into_the_folder_knows_what_is_there(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path
) -> None:
    liar = fake("say('unsat')", "liar")
    _, first = run([make_test(TEXT)], [honest, liar], tmp_path)
    (tmp_path / "findings" / "junk").mkdir()
    (tmp_path / "findings" / "junk" / "finding.json").write_text("{")
    _, second = run([make_test("; other\n" + TEXT)], [honest, liar], tmp_path)
    assert [finding.known for finding in first.findings] == [False]
    assert [(finding.known, finding.id) for finding in second.findings] == [(True, first.findings[0].id)]


def test_a_hanging_solver_is_a_timeout_and_the_rest_continues(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path, assert_gone: Callable[[str], None]
) -> None:
    marker = uuid.uuid4().hex
    body = f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if 'hang' in text:
    subprocess.Popen(['sh', '-c', 'sleep 60 # {marker}; true'], start_new_session=True)
    time.sleep(60)
say('sat')
"""
    tests = [make_test("; hang\n" + TEXT, 0), make_test(TEXT, 1)]
    _, summary = run(tests, [honest, fake(body, "hangs")], tmp_path, stages=(Stage(2.0, 1.0),))
    assert (summary.tests, summary.decided) == (2, 1)
    assert summary.outcomes["hangs"] == {Outcome.TIMEOUT: 1, Outcome.OK: 1}
    assert_gone(marker)


def test_floods_and_memory_eaters_are_memouts(
    make_test: Make, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flood = fake("say('sat')\nwhile True: say('x' * 1000)", "flood")
    eater = fake("x = []\nwhile True: x.append(bytearray(b'y' * (4 << 20))); time.sleep(0.003)", "eater")
    monkeypatch.setattr("difftest.campaign.stages.Limits", partial(Limits, memory=150 << 20, output=50_000))
    _, summary = run([make_test(TEXT)], [flood, eater], tmp_path, stages=(Stage(20.0, 1.0),))
    assert {name: list(counts) for name, counts in summary.outcomes.items()} == {
        "flood": [Outcome.MEMOUT],
        "eater": [Outcome.MEMOUT],
    }


def test_refusals_are_counted_and_never_findings(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path
) -> None:
    refuses = fake("say('(error \"Parse Error: what is that\")', 'unsat'); sys.exit(1)", "refuses")
    _, summary = run([make_test(TEXT)], [honest, refuses], tmp_path)
    assert (summary.findings, summary.decided) == ((), 0)
    assert summary.outcomes["refuses"] == {Outcome.REFUSED: 1}


SLOW = "time.sleep(2.5 if 'slow' in text else 0); say('sat')"


@pytest.mark.thorough
def test_undecided_tests_get_more_time_and_are_counted_once(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path
) -> None:
    tests = [make_test("; slow\n" + TEXT, 0), make_test(TEXT, 1)]
    stages = (Stage(2.0, 1.0), Stage(60.0, 1.0))
    events, summary = run(tests, [honest, fake(SLOW, "slow")], tmp_path, stages=stages)
    assert (summary.tests, summary.decided) == (2, 2)
    assert summary.outcomes["slow"][Outcome.OK] == 2
    assert summary.outcomes["slow"][Outcome.TIMEOUT] == 0
    assert [event.stage for event in of(TestDone, events)] == [0, 0, 1]  # type: ignore[union-attr]


@pytest.mark.thorough
def test_which_tests_get_more_time_depends_on_the_seed_alone(
    make_test: Make, fake: Fake, tmp_path: Path
) -> None:
    tests = [make_test(TEXT, index) for index in range(8)]
    slow = fake("time.sleep(9)", "slow")
    stages = (Stage(0.02, 1.0), Stage(0.03, 0.5))

    def retried(seed: int, jobs: int) -> list[int]:
        events, _ = run(tests, [slow], tmp_path, stages=stages, seed=seed, jobs=jobs)
        return sorted(e.index for e in of(TestDone, events) if e.stage == 1)  # type: ignore[union-attr]

    assert retried(1, 1) == retried(1, 2)
    assert 0 < len(retried(1, 1)) < 8
    assert any(retried(1, 1) != retried(seed, 1) for seed in (2, 3, 4))


def test_models_carried_over_are_counted_with_why_others_are_not(
    make_test: Make, fake: Fake, tmp_path: Path
) -> None:
    """Our models go into z3 and z3's into ours, which is at a loss about some of either."""
    wrong, right = "((define-fun x () Int 0))", "((define-fun x () Int 5))"
    body = (
        f"model = {wrong!r} if 'wrong' in text else '(' if 'lost' in text else {right!r}\n"
        "if 'define-fun' in text: say('unknown' if 'lost' in text else 'sat')\n"
        "else: say('sat', *([model] if 'get-model' in text else []))"
    )
    ours, z3 = fake(body, "ours"), find_solver("z3")
    named = [f"(declare-const {name} Int)\n{TEXT}" for name in ("right", "wrong", "lost", "right2")]
    tests = [make_test(text, number) for number, text in enumerate(named)]
    out = tmp_path / "out"
    with CampaignState.open(out, {"seed": 1}) as state:
        options = HuntOptions(out, stages=(Stage(20.0, 1.0),), oracles=("model-cross-check",), reduction=0)
        events = list(hunt(tests, [ours, z3], options, state=state))
    summary = summary_of(events)
    assert summary.cross_checks == {
        ("ours", "z3", "confirmed"): 2,
        ("ours", "z3", "refuted"): 1,
        ("ours", "", "the model cannot be read"): 1,
        ("z3", "ours", "confirmed"): 3,
        ("z3", "ours", "unknown"): 1,
    }
    reported = {"owner": "ours", "judge": None, "result": "the model cannot be read", "count": 1}
    assert reported in summary.to_json()["models_crossed"]
    # Who resumes the campaign continues its counts.
    assert Tally(["ours", "z3"], read_campaign(out)).cross_checks == summary.cross_checks


@pytest.mark.thorough
def test_the_first_limit_follows_the_tests_and_changes_no_test(
    make_test: Make, fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most are decided at once, so a few that take longer are not waited for, at first."""
    monkeypatch.setattr("difftest.campaign.pace._STEP", 5)
    solver = fake("time.sleep(0.8 if 'hard' in text else 0); say('sat')", "solver")
    stages = (Stage(20.0, 1.0), Stage(21.0, 1.0))

    def stages_of(name: str, paced: bool) -> list[int]:
        tests = [make_test(("; hard\n" if number % 8 == 7 else "") + TEXT, number) for number in range(16)]
        events, summary = run(tests, [solver], tmp_path / name, stages=stages, paced=paced)
        assert (summary.tests, summary.decided) == (16, 16)
        done = {event.index: event.stage for event in of(TestDone, events)}
        return [done[number] for number in range(16)]

    assert stages_of("fixed", False) == [0] * 16
    monkeypatch.setattr("difftest.campaign.pace._FACTOR", 0.0)
    monkeypatch.setattr("difftest.campaign.pace._SHORTEST", 0.5)
    # The first five show the pace; what is handed out by then has the old limit.
    paced = stages_of("paced", True)
    assert paced[:7] == [0] * 7
    assert paced[15] == 1


def test_as_many_tests_are_taken_as_requested(make_test: Make, honest: Solver, tmp_path: Path) -> None:
    taken = []

    def endless() -> Iterator[GeneratedTest]:
        for index in range(10**9):
            taken.append(index)
            yield make_test(TEXT, index)

    assert summary_of(hunt(endless(), [honest], HuntOptions(tmp_path, tests=4, stages=QUICK))).tests == 4
    assert len(taken) == 4


def test_a_time_limit_ends_an_endless_hunt(make_test: Make, honest: Solver, tmp_path: Path) -> None:
    endless = (make_test(TEXT, index) for index in range(10**9))
    started = time.monotonic()
    events, summary = run(endless, [honest], tmp_path, seconds=1.0, progress_seconds=0.1)
    assert time.monotonic() - started < 20
    assert summary.tests >= 1
    assert not summary.interrupted
    assert of(Progress, events)


def test_a_stopped_hunt_reports_what_was_done(make_test: Make, honest: Solver, tmp_path: Path) -> None:
    stop = threading.Event()
    endless = (make_test(TEXT, index) for index in range(10**9))
    done = 0
    for event in hunt(endless, [honest], HuntOptions(tmp_path, stages=QUICK), stop):
        if isinstance(event, TestDone):
            done += 1
            if done == 3:
                stop.set()
        last = event
    assert isinstance(last, HuntFinished)
    assert last.summary.interrupted
    assert 3 <= last.summary.tests == done <= 6


@pytest.mark.parametrize("by_work", [False, True])
def test_a_result_that_ctrl_c_loses_is_not_waited_for(
    make_test: Make, honest: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_work: bool
) -> None:
    def lose_one(executor: LocalExecutor, seconds: float) -> Result | None:
        result = next_result(executor, seconds)
        if isinstance(result, RunResult) and result.task.name.index == 3:
            raise KeyboardInterrupt
        return result

    next_result = LocalExecutor.next_result
    monkeypatch.setattr(LocalExecutor, "next_result", lose_one)
    endless = (make_test(TEXT, index) for index in range(10**9))
    _, summary = run(endless, [honest], tmp_path, by_work=by_work, progress_seconds=0.1)
    assert summary.interrupted
    assert summary.tests >= 3


def test_ctrl_c_ends_a_hunt_with_its_summary_and_no_process(
    tmp_path: Path, fake: Fake, assert_gone: Callable[[str], None]
) -> None:
    solver = fake("time.sleep(0.05); say('sat')", "slow" + uuid.uuid4().hex)
    # Started in the background by a shell, the tests have SIGINT ignored, and what they start has, too.
    code = f"""
    import signal
    from pathlib import Path
    from difftest import *
    from generator.strategy import GeneratedTest
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tests = (GeneratedTest(i, "(check-sat)", "s") for i in range(10**9))
    for event in hunt(tests, find_solvers([{solver.spec!r}]), HuntOptions(Path({str(tmp_path)!r}))):
        if isinstance(event, TestDone) and event.index == 0:
            print("up", flush=True)
    print("interrupted", event.summary.interrupted, event.summary.tests > 0)
    """
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=root, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted True True\n"
    process.stdout.close()
    assert process.wait() == 0
    assert_gone(solver.name)


def test_ctrl_c_while_a_hunt_is_closed_leaves_no_process(
    make_test: Make,
    fake: Fake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    assert_gone: Callable[[str], None],
) -> None:
    def interrupted(runner: Runner) -> None:
        if threading.current_thread() is threading.main_thread() and interrupts:
            raise interrupts.pop()
        close(runner)

    close, interrupts = Runner.close, [KeyboardInterrupt()]
    monkeypatch.setattr(Runner, "close", interrupted)
    solver = fake("time.sleep(30)", "sleeps" + uuid.uuid4().hex)
    options = HuntOptions(tmp_path, stages=(Stage(30.0, 1.0),), progress_seconds=0.1)
    events = hunt([make_test(TEXT)], [solver], options)
    assert isinstance(next(events), Progress)
    events.close()  # type: ignore[attr-defined]
    assert not interrupts
    assert_gone(solver.name)


def test_a_hunt_that_is_left_early_leaves_no_process(
    make_test: Make, fake: Fake, tmp_path: Path, assert_gone: Callable[[str], None]
) -> None:
    solver = fake("time.sleep(30)", "sleeps" + uuid.uuid4().hex)
    options = HuntOptions(tmp_path, stages=(Stage(30.0, 1.0),), progress_seconds=0.1)
    events = hunt([make_test(TEXT)], [solver], options)
    assert isinstance(next(events), Progress)
    events.close()  # type: ignore[attr-defined]
    assert_gone(solver.name)


def test_an_output_folder_that_cannot_be_made_is_reported_before_anything_runs(
    make_test: Make, honest: Solver, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadOutput, match="cannot write findings") as caught:
        run([make_test(TEXT)], [honest], tmp_path / "file")
    assert caught.value.exit_code == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_output_folder_without_write_permission_is_reported(
    make_test: Make, honest: Solver, tmp_path: Path
) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(BadOutput):
        run([make_test(TEXT)], [honest], tmp_path / "out")


def test_what_a_killed_hunt_left_half_done_is_cleared_and_what_a_living_one_has_is_not(
    make_test: Make, honest: Solver, tmp_path: Path
) -> None:
    folder = tmp_path / "findings"
    dead = subprocess.Popen(["true"])
    dead.wait()
    for pid in (dead.pid, os.getppid()):
        (folder / f".tmp-{pid}-0").mkdir(parents=True)
    run([make_test(TEXT)], [honest], tmp_path)
    assert [path.name for path in folder.iterdir()] == [f".tmp-{os.getppid()}-0"]


def test_a_finding_appears_whole_or_not_at_all(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[str]] = []
    rename = Path.rename

    def watch(self: Path, target: Path) -> Path:
        assert not target.exists()
        seen.append({path.name for path in self.iterdir()})
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", watch)
    run([make_test(TEXT)], [honest, fake("say('unsat')", "liar")], tmp_path)
    (files,) = seen
    assert files == {
        "original.smt2",
        "reduced.smt2",
        "command.txt",
        "finding.json",
        "report.md",
        "honest.stdout",
        "honest.stderr",
        "liar.stdout",
        "liar.stderr",
    }


def test_a_finding_is_reported_though_a_full_disk_keeps_it_from_being_committed(
    make_test: Make, fake: Fake, honest: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = CampaignState.commit

    def commit_until_a_finding(self: CampaignState, changes: Changes, *rest: Any, **named: Any) -> None:
        if changes.findings:
            no_room()
        commit(self, changes, *rest, **named)

    monkeypatch.setattr(CampaignState, "commit", commit_until_a_finding)
    solvers = [honest, fake("say('unsat')", "liar")]
    events: list[Event] = []
    with CampaignState.open(tmp_path, {}) as state, pytest.raises(OSError, match="No space left"):
        for event in hunt([make_test(TEXT)], solvers, HuntOptions(tmp_path, stages=QUICK), state=state):
            events.append(event)  # noqa: PERF402 - what came before the error stays
    (reported,) = of(FindingConfirmed, events)
    (ended,) = of(HuntFinished, events)
    assert [reported.record] == list(ended.summary.findings)  # type: ignore[union-attr]
    assert [reported.record.path] == list((tmp_path / "findings").iterdir())  # type: ignore[union-attr]


class Numbered:
    name, fingerprint = "numbered", ""

    def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
        for index in range(start, stop):
            yield GeneratedTest(index, f"; number {index}\n{TEXT}", self.name)


def run_to_the_end(
    count: int, solvers: Sequence[Solver], out: Path, **options: Any
) -> tuple[list[Event], Exception | None]:
    """The events of a campaign's run, and the error after them."""
    events: list[Event] = []
    with CampaignState.open(out, {}) as state:
        schedule = Schedule([Numbered()], 1, False, count, state.loaded)
        settings = HuntOptions(out, stages=QUICK, **options)
        try:
            for event in hunt(schedule, solvers, settings, state=state):
                events.append(event)  # noqa: PERF402 - what came before the error stays
        except Exception as error:  # noqa: BLE001 (it is what is looked at)
            return events, error
    return events, None


@pytest.mark.parametrize("by_work", [False, True])
def test_a_bug_in_exhume_costs_one_test_once_and_is_reported(
    honest: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_work: bool
) -> None:
    fail_on(monkeypatch, lambda text: "number 3\n" in text, RecursionError("an oracle"))
    events, error = run_to_the_end(6, [honest], tmp_path, by_work=by_work)
    assert len(of(TestDone, events)) == 5
    (notice,) = of(WorkerNotice, events)
    assert "Traceback" in notice.text and "RecursionError: an oracle" in notice.text  # type: ignore[union-attr]
    assert summary_of(events).statistics[INTERNAL_ERRORS] == {"RecursionError": 1}
    assert isinstance(error, InternalErrors) and error.exit_code == Exit.USAGE
    assert str(error).startswith("1 task was left out because of bugs in exhume (the first: RecursionError)")
    assert read_campaign(tmp_path).runs[-1].ending == "finished"

    events, error = run_to_the_end(8, [honest], tmp_path, by_work=by_work)
    assert {event.index for event in of(TestDone, events)} == {6, 7, 8}  # type: ignore[union-attr]
    assert error is None


def test_a_test_for_none_of_the_solvers_is_not_the_last_one(honest: Solver, tmp_path: Path) -> None:
    class ForOthers(Numbered):
        def generate(self, start: int, stop: int) -> Iterator[GeneratedTest]:
            for test in super().generate(start, stop):
                yield replace(test, only=("other",)) if test.index == 1 else test

    schedule = Schedule([ForOthers()], 1, False, 4)
    events = list(hunt(schedule, [honest], HuntOptions(tmp_path, stages=QUICK)))
    summary = summary_of(events)
    assert (summary.tests, summary.decided) == (4, 3)
    assert not any(arm.exhausted for arm in schedule.arms())


@pytest.mark.parametrize("place", ["worker.settle", "book.write_finding"])
def test_a_bug_while_a_candidate_is_confirmed_or_stored_costs_it_alone(
    fake: Fake, honest: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    def fail(*_: Any) -> Any:
        raise IndexError("a bug")

    monkeypatch.setattr(f"difftest.campaign.{place}", fail)
    liar = fake("say('unsat' if 'number 2' in text else 'sat')", "liar")
    events, error = run_to_the_end(5, [honest, liar], tmp_path)
    assert len(of(TestDone, events)) == 5
    assert len(of(WorkerNotice, events)) == 1
    assert isinstance(error, InternalErrors)
    assert not read_campaign(tmp_path).again


def test_many_bugs_in_exhume_end_the_hunt(
    honest: Solver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_on(monkeypatch, lambda text: "number 0\n" not in text, IndexError("a bug"))
    events, error = run_to_the_end(99, [honest], tmp_path)
    assert len(of(WorkerNotice, events)) == 20
    assert isinstance(of(HuntFinished, events)[-1], HuntFinished)
    assert isinstance(error, IndexError)
    stored = read_campaign(tmp_path)
    assert stored.statistics[INTERNAL_ERRORS] == {"IndexError": 20}
    assert min(start for _, _, start, _ in stored.open) >= 20


def test_what_a_strategy_takes_and_gives_is_stored(make_test: Make, fake: Fake, tmp_path: Path) -> None:
    solvers = [fake("say('sat')", "honest"), fake("say('unsat' if 'bad' in text else 'sat')", "liar")]
    tests = [make_test(f"(declare-const {name} Int)\n{TEXT}", n) for n, name in enumerate(("ok", "bad"))]
    options = HuntOptions(tmp_path, stages=(Stage(20.0, 1.0),), reduction=0)
    with CampaignState.open(tmp_path, {}) as state:
        *_, _ = hunt(tests, solvers, options, state=state)
    spent: Counter[str] = Counter()
    for row in read_campaign(tmp_path).outcomes:
        if row.kind == SPENT:
            assert row.name == tests[0].strategy
            spent[row.outcome] += row.count
    assert (spent["tests"], spent["decided"]) == (2, 2)
    assert all(0 < spent[what] < 60e6 for what in ("making", "running", "confirming"))


@pytest.mark.parametrize(
    "place", ["difftest.campaign.book.write_finding", "difftest.campaign.worker.perform"]
)
def test_a_full_disk_is_reported_with_where_it_is(
    make_test: Make,
    fake: Fake,
    honest: Solver,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
) -> None:
    monkeypatch.setattr(place, no_room)
    with pytest.raises(OSError, match="No space left") as caught:
        run([make_test(TEXT)], [honest, fake("say('unsat')", "liar")], tmp_path)
    expected = tmp_path / "findings" if "book" in place else tempfile.gettempdir()
    assert caught.value.filename == str(expected)


def test_a_test_that_kills_its_supervisor_is_a_refusal_and_no_end(
    make_test: Make, fake: Fake, tmp_path: Path
) -> None:
    killer = fake("if 'kill' in text: os.kill(os.getppid(), 9); time.sleep(5)\nsay('sat')", "killer")
    _, summary = run([make_test("; kill\n" + TEXT, 0), make_test(TEXT, 1)], [killer], tmp_path)
    assert summary.outcomes["killer"] == {Outcome.REFUSED: 1, Outcome.OK: 1}


def test_the_summary_has_the_keys_that_machines_read(make_test: Make, honest: Solver, tmp_path: Path) -> None:
    _, summary = run([make_test(TEXT, known=("unsat",))], [honest], tmp_path)
    document = json.loads(json.dumps(summary.to_json()))
    counts = ["tests", "decided", "seconds", "cpu_seconds", "solver_seconds", "outcomes", "models_crossed"]
    counts += ["duplicates", "unconfirmed", "refusals", "findings", "strategies", "statistics"]
    assert list(document) == counts
    assert list(document["findings"][0]) == ["id", "class", "solver", "key", "known", "young", "path"]
    assert set(document["outcomes"]["honest"]) == {str(outcome) for outcome in Outcome}


def test_the_real_solvers_agree_on_easy_tests_by_every_way(make_test: Make, tmp_path: Path) -> None:
    solvers = [find_solver("z3"), find_solver("cvc5")]
    texts = [
        TEXT,
        TEXT.replace("(> x 1)", "(and (> x 1) (< x 1))"),
        TEXT + "(push 1)(check-sat)(pop 1)(check-sat)",
    ]
    tests = [make_test(text, index) for index, text in enumerate(texts)]
    for warm in (True, False):
        out = tmp_path / str(warm)
        _, summary = run(tests, solvers, out, warm=warm, jobs=2, stages=(Stage(20.0, 1.0),))
        assert (summary.tests, summary.decided, summary.findings) == (3, 3, ())
        shutil.rmtree(out)
